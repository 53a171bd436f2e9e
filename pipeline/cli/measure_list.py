"""The list of association measures as people read it: family by family."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.cli import output

SHOWN = ("name", "ucs", "aliases", "formula", "range", "sided", "symmetric", "reference")


def by_family(measures: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each family with its measures, in the order of the list.

    Parameters
    ----------
    measures : DataFrame
        As `pipeline.api.score.measures` gives them.
    """
    for (family,), part in measures.group_by("family", maintain_order=True):
        yield str(family), part.select(SHOWN)


def print_families(measures: pl.DataFrame) -> None:
    """Print a table per family."""
    for family, part in by_family(measures):
        output.print_table(part, rows=part.height, title=f"{family}: {part.height}")


def markdown(measures: pl.DataFrame) -> str:
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
    blocks = [f"### {family}\n\n{_table(part)}" for family, part in by_family(measures)]
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
