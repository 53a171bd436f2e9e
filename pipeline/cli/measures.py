"""``measures``: the association measures by family."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from shutil import get_terminal_size
from typing import Annotated

import polars as pl
import typer

from pipeline.api.score import measures as list_measures
from pipeline.cli import output
from pipeline.errors import ConfigError, Problem, did_you_mean

FORMATS = ("table", "csv", "tsv", "json", "markdown")
HEAD = (
    "measure", "also called", "formula", "range", "sided", "symmetric", "conventions", "reference",
)  # fmt: skip


def measures(
    format_: Annotated[str, typer.Option("--format", help=" | ".join(FORMATS))] = "table",
) -> int:
    """List the association measures by family."""
    frame = list_measures()
    if format_ == "table":
        print_families(frame)
    elif format_ == "markdown":
        print(markdown(frame), end="")
    elif format_ in output.FORMATS:
        typer.get_binary_stream("stdout").write(output.serialise(frame, format_))
    else:
        what, remedy = f"unknown format {format_!r}", did_you_mean(format_, FORMATS)
        raise ConfigError("measures", [Problem("--format", what, remedy)])
    return 0


def by_family(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each family with its measures, in the order of the list.

    Parameters
    ----------
    rows : DataFrame
        As `pipeline.api.score.measures` gives them.
    """
    for (family,), part in rows.group_by("family", maintain_order=True):
        yield str(family), part


def print_families(rows: pl.DataFrame) -> None:
    """Print a table per family, followed by its conventions."""
    for family, part in by_family(rows):
        names = pl.concat_list("ucs", "aliases").list.eval(pl.element().filter(pl.element() != ""))
        table = part.select(
            "name", names.list.unique(maintain_order=True).list.join(", ").alias("also called"),
            "formula", "range", "sided",
        )  # fmt: skip
        output.print_table(table, rows=part.height, title=f"{family}: {part.height}")
        print(_conventions(part), end="\n\n")


def _conventions(part: pl.DataFrame) -> str:
    """Return a paragraph per convention, with its measures."""
    notes = part.filter(pl.col("note") != "").group_by("note", maintain_order=True).agg("name")
    width = min(get_terminal_size().columns, output.READABLE)
    return "\n".join(
        textwrap.fill(
            f"{', '.join(names)}: {note}", width, initial_indent="  ", subsequent_indent="    ",
            break_long_words=False, break_on_hyphens=False,
        )
        for note, names in notes.rows()
    )  # fmt: skip


def markdown(rows: pl.DataFrame) -> str:
    r"""Return a Markdown table per family, each under a heading.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "name": ["t_score"], "ucs": ["t.score"], "aliases": ["t"], "family": ["test"],
    ...     "formula": ["|O - E|"], "range": ["[0, inf)"], "sided": ["signed"],
    ...     "symmetric": [True], "note": ["-inf where O = 0"], "reference": ["Church et al. 1991"],
    ... })
    >>> print(markdown(table).splitlines()[-1].partition(" [0")[0])
    | `t_score` | t.score, t | `\|O - E\|` |
    """
    blocks = [f"### {family}\n\n{_table(part)}" for family, part in by_family(rows)]
    return "\n\n".join(blocks) + "\n"


def _table(part: pl.DataFrame) -> str:
    rows = [_row(row) for row in part.rows(named=True)]
    return "\n".join([f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD), *rows])


def _row(row: dict[str, str | bool]) -> str:
    names = ", ".join(str(row[n]) for n in ("ucs", "aliases") if row[n] not in ("", row["name"]))
    symmetric = "yes" if row["symmetric"] else "no"
    cells = (
        f"`{row['name']}`", names, f"`{row['formula']}`", row["range"], row["sided"], symmetric,
        row["note"], row["reference"],
    )  # fmt: skip
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
