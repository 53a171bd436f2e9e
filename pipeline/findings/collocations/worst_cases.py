"""What the draws that nobody judged could make of the lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.collocations.evidence import categories, said_of
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageView
from pipeline.kernels.measure_titles import measure_title


@finder(stages=("evaluate.precision",), place=63)
def worst_cases(stage: StageView) -> Iterator[Finding]:
    """Say of the list that unjudged draws leave most open what its precision could be."""
    lists = stage.table("worst_case").collect()
    among = categories(lists)
    span = pl.col("precision_if_true") - pl.col("precision_if_false")
    for category in among:
        mine = lists.filter(category=category)
        mine = mine.sort(span, "n", "measure", descending=[True, False, False])
        yield _widest(mine.row(0, named=True), mine.height - 1, said_of(category, among))


def _widest(row: dict[str, Any], others: int, of: str) -> Finding:
    """Say it of one list, and of how many others it is less."""
    least, most = (words.per_cent(row[f"precision_if_{each}"]) for each in ("false", "true"))
    limits = words.interval(row["lower_if_false"], row["upper_if_true"])
    known = row["precision"] is not None
    estimate = f", estimated at {words.per_cent(row['precision'])}," if known else ""
    have = "has" if others == 1 else "have"
    more = f"; {words.counted(others, 'other list')} at the cuts {have} less open" if others else ""
    text = (
        f"unjudged draws in the lists{of}: of the {row['n']:,} best by "
        f"{measure_title(row['measure'])}, {row['n_unjudged']:,} of "
        f"{words.counted(row['n_drawn'], 'draw')} count for nothing; the precision{estimate} "
        f"would be {least} or {most} were they all false or all true, and {limits} "
        f"holds whatever they are{more}"
    )
    return Finding(
        kind="caution", about="worst_case", text=words.sentence(text), category=row["category"],
        name=row["measure"], n=row["n"], value=row["precision"], lower=row["lower_if_false"],
        upper=row["upper_if_true"],
    )  # fmt: skip
