"""What the tests of declared pairs say, where not all pairs were asked for and none leads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.collocations.difference_rows import Ends, limits_of
from pipeline.findings.collocations.evidence import categories, said_of
from pipeline.findings.collocations.measures import Tested
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageView
from pipeline.findings.verdicts import of_two
from pipeline.kernels.measure_titles import measure_title


@finder(stages=("evaluate.comparison",), place=11)
def declared_pairs(stage: StageView) -> Iterator[Finding]:
    """Say of each declared pair, at each size, which of the two the test finds to be better."""
    led = stage.table("best").select("category", "n").unique()
    tests = stage.table("cuts").join(led, on=["category", "n"], how="anti").collect()
    among = categories(tests)
    tested = stage.options_as(Tested)
    differences = stage.table("differences").collect()
    known = tests.drop_nulls(["difference", "p_adjusted"])
    for (category, n), rows in known.group_by("category", "n", maintain_order=True):
        of = said_of(str(category), among)
        question = f"the declared pairs for {n:,} candidates{of}"
        for place, row in enumerate(_ordered(rows)):
            lower, upper = limits_of(
                differences.filter(category=category), n=row["n"], of=row["measure_1"],
                less=row["measure_2"],
            )  # fmt: skip
            said = _said(row, tested, (lower, upper))
            text = said if place else f"for {n:,} candidates{of}: {said}"
            yield Finding(
                about="pair", text=words.sentence(text), question=question, category=str(category),
                name=row["measure_1"], other=row["measure_2"], value=row["difference"],
                p_adjusted=row["p_adjusted"], n=row["n"], lower=lower, upper=upper,
            )  # fmt: skip


def _ordered(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the pairs, those that differ most first."""
    order = rows.sort(pl.col("difference").abs(), "measure_1", "measure_2",
                      descending=[True, False, False])  # fmt: skip
    return order.iter_rows(named=True)


def _said(row: dict[str, Any], tested: Tested, ends: Ends) -> str:
    titles = [measure_title(row[name]) for name in ("measure_1", "measure_2")]
    test = words.Difference(titles[1], row["difference"], row["p_adjusted"], *ends)
    return of_two(titles[0], test, alpha=tested.alpha, margin=tested.margin)
