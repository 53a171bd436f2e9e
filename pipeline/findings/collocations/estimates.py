"""The highest estimates of precision, where no test between measures was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.collocations.evidence import beside, categories, row_of, said_of
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageView
from pipeline.kernels.measure_titles import measure_title


@finder(stages=("evaluate.precision", "evaluate.stratified"), place=20)
def highest_estimates(stage: StageView) -> Iterator[Finding]:
    """Say which measure has the highest estimate at each size, unless a test says more."""
    tests = list(beside(stage, "evaluate.comparison"))
    if any(not other.table("best").collect().is_empty() for other in tests):
        return
    lists, baselines = _tables(stage)
    among = categories(lists)
    untested = not any(other.table("cuts").collect().height for other in tests)
    for category in among:
        mine = lists.filter(pl.col("category") == category, pl.col("precision").is_not_null())
        of = said_of(category, among)
        for place, n in enumerate(mine["n"].unique().sort()):
            yield from _highest(mine.filter(n=n), stage, of, untested=untested and not place)
        known = row_of(baselines, category=category)
        if known and known["precision"] is not None:
            yield _baseline(known, of)


def _tables(stage: StageView) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the estimates at the declared sizes, and the baselines."""
    cuts = stage.table("cuts").collect()
    if stage.use == "evaluate.stratified":
        return cuts, pl.DataFrame(schema={"category": pl.String, "precision": pl.Float64})
    return cuts, stage.table("baseline").collect()


def _highest(
    lists: pl.DataFrame, stage: StageView, of: str, *, untested: bool
) -> Iterator[Finding]:
    """Name the highest of the lists of one size, and how far the others reach."""
    ordered = lists.sort(["precision", "measure"], descending=[True, False])
    first, others = ordered.row(0, named=True), ordered.slice(1)
    question = f"highest estimate for {first['n']:,} candidates{of}"
    facts: dict[str, Any] = {
        "question": question, "category": first["category"], "n": first["n"],
        "figure": stage.name,
    }  # fmt: skip
    said = words.estimate(first["precision"], first["lower"], first["upper"])
    text = f"{question}: {measure_title(first['measure'])}, {said} true positives"
    yield Finding(
        about="highest", text=words.sentence(text), name=first["measure"],
        value=first["precision"], lower=first["lower"], upper=first["upper"], **facts,
    )  # fmt: skip
    if others.height:
        second = others.row(0, named=True)
        text = _others(others) + ("; no test between measures was made" if untested else "")
        yield Finding(
            about="next", text=words.sentence(text), name=second["measure"],
            other=first["measure"], value=second["precision"], lower=second["lower"],
            upper=second["upper"], **facts,
        )  # fmt: skip


def _others(lists: pl.DataFrame) -> str:
    names = [
        f"{measure_title(name)} {words.per_cent(precision)}"
        for name, precision in lists.select("measure", "precision").rows()
    ]
    return f"then {words.listed(names)}"


def _baseline(known: dict[str, Any], of: str) -> Finding:
    said = words.estimate(known["precision"], known["lower"], known["upper"])
    return Finding(
        about="baseline", text=words.sentence(f"baseline{of} {said}"),
        question=f"baseline{of}", category=known["category"], value=known["precision"],
        lower=known["lower"], upper=known["upper"], n=known["n_candidates"],
    )  # fmt: skip
