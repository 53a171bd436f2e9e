"""``measures``: the association measures as people read them, family by family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import polars as pl
import typer

from pipeline.api.score import measures as list_measures
from pipeline.cli import output
from pipeline.errors import ConfigError, Problem

SHOWN = ("name", "ucs", "aliases", "formula", "range", "sided", "symmetric", "reference")


def measures(
    format_: Annotated[
        str, typer.Option("--format", help=" | ".join((*output.FORMATS[:4], "markdown")))
    ] = "table",
) -> int:
    """List the association measures, family by family."""
    frame = list_measures()
    if format_ == "table":
        print_families(frame)
    elif format_ == "markdown":
        print(markdown(frame), end="")
    elif format_ in output.FORMATS:
        typer.get_binary_stream("stdout").write(output.serialise(frame, format_))
    else:
        raise ConfigError("measures", [Problem("--format", f"unknown format {format_!r}")])
    return 0


def by_family(found: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each family with its measures, in the order of the list.

    Parameters
    ----------
    found : DataFrame
        As `pipeline.api.score.measures` gives them.
    """
    for (family,), part in found.group_by("family", maintain_order=True):
        yield str(family), part.select(SHOWN)


def print_families(found: pl.DataFrame) -> None:
    """Print a table per family."""
    for family, part in by_family(found):
        output.print_table(part, rows=part.height, title=f"{family}: {part.height}")


def markdown(found: pl.DataFrame) -> str:
    r"""Return a Markdown table per family, each under a heading.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "name": ["t_score"], "ucs": ["t.score"], "aliases": ["t"], "family": ["test"],
    ...     "formula": ["|O - E|"], "range": ["[0, inf)"], "sided": ["signed"],
    ...     "symmetric": [True], "reference": ["Church et al. 1991"],
    ... })
    >>> print(markdown(table).splitlines()[-1])
    | `t_score` | t.score, t | `\|O - E\|` | [0, inf) | signed | yes | Church et al. 1991 |
    """
    blocks = [f"### {family}\n\n{_table(part)}" for family, part in by_family(found)]
    return "\n\n".join(blocks) + "\n"


def _table(part: pl.DataFrame) -> str:
    head = "| measure | also called | formula | range | sided | symmetric | reference |"
    rows = [_row(row) for row in part.rows(named=True)]
    return "\n".join([head, "|" + "---|" * 7, *rows])


def _row(row: dict[str, str | bool]) -> str:
    names = ", ".join(str(row[n]) for n in ("ucs", "aliases") if row[n] not in ("", row["name"]))
    symmetric = "yes" if row["symmetric"] else "no"
    cells = (
        f"`{row['name']}`", names, f"`{row['formula']}`", row["range"], row["sided"], symmetric,
        row["reference"],
    )  # fmt: skip
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
