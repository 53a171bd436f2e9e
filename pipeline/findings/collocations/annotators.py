"""How far the annotators agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.collocations.evidence import row_of
from pipeline.findings.finding import Finding, Kind, finder
from pipeline.findings.names import called
from pipeline.findings.stage import StageView

EVERY = "*"
"""Stands for all annotators, and for the labels as they are."""
COEFFICIENTS = {
    "cohen_kappa": "Cohen's kappa", "krippendorff_alpha": "Krippendorff's alpha",
    "fleiss_kappa": "Fleiss' kappa",
}  # fmt: skip
"""The coefficients that are told, the first that the table has."""
TENTATIVE = 0.667
"""Krippendorff's lowest alpha for tentative conclusions (Content Analysis, 2004, p. 241)."""


@finder(stages=("evaluate.agreement",), place=40)
def agreement(stage: StageView) -> Iterator[Finding]:
    """Say how often annotators agree, and how much of it is beyond chance."""
    table = stage.table("agreement").filter(category=EVERY).drop_nulls("estimate").collect()
    all_of_them = table.filter(annotator_1=EVERY)
    people = sorted({*table["annotator_1"], *table["annotator_2"]} - {EVERY})
    observed = row_of(all_of_them, coefficient="observed")
    chance = _beyond_chance(table if len(people) == 2 else all_of_them)
    if observed is None:
        return
    who = f"annotators {words.listed(list(map(called, people)))}" if people else "annotators"
    yield _observed(who, observed, chance, "answer", stage)
    if chance is not None and chance["estimate"] < TENTATIVE:
        yield _low(chance)


def _beyond_chance(table: pl.DataFrame) -> dict[str, Any] | None:
    rows = (row_of(table, coefficient=name) for name in COEFFICIENTS)
    return next((row for row in rows if row is not None), None)


def _observed(
    who: str, observed: dict[str, Any], chance: dict[str, Any] | None, kind: Kind, stage: StageView
) -> Finding:
    items = words.counted(observed["items"], "candidate")
    said = words.estimate(observed["estimate"], observed["lower"], observed["upper"])
    text = f"{who} agree on {said} of {items} that several judged"
    if chance is not None:
        text += f" ({_coefficient(chance)})"
    return Finding(
        kind=kind, about="agreement", text=words.sentence(text), question="agreement",
        value=observed["estimate"], lower=observed["lower"], upper=observed["upper"],
        n=observed["items"], figure=stage.name,
    )  # fmt: skip


def _coefficient(row: dict[str, Any]) -> str:
    said = words.coefficient(row["estimate"], row["lower"], row["upper"])
    return f"{COEFFICIENTS[row['coefficient']]} {said}"


def _low(row: dict[str, Any]) -> Finding:
    text = (
        f"agreement beyond chance is low ({_coefficient(row)}): under .667"
        " even tentative conclusions are doubtful (Krippendorff 2004)"
    )
    return Finding(
        kind="caution", about="agreement", text=words.sentence(text), value=row["estimate"],
        lower=row["lower"], upper=row["upper"], n=row["items"],
    )  # fmt: skip
