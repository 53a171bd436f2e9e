"""What a sample of any design says: leading measures, differences, what labels are worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.collocations.evidence import categories, n_candidates, row_of, said_of
from pipeline.findings.collocations.worth import equivalent_labels
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageOptions, StageView
from pipeline.findings.verdicts import Band, of_two, over_range
from pipeline.kernels.measure_titles import measure_title


class Designed(StageOptions):
    """How the stage estimates and tests."""

    confidence: float
    margin: float

    @property
    def alpha(self) -> float:
        """Level of the tests."""
        return 1.0 - self.confidence


@dataclass(frozen=True)
class _Place:
    """The lists of one size and category, and their tests."""

    lists: pl.DataFrame
    tests: pl.DataFrame
    best: pl.DataFrame
    told: Designed
    facts: dict[str, Any]

    def finding(self, about: str, text: str, **numbers: Any) -> Finding:
        """Return a finding about these lists."""
        return Finding(about=about, text=words.sentence(text), **numbers, **self.facts)


@finder(stages=("evaluate.designed",), place=10)
def designed_lists(stage: StageView) -> Iterator[Finding]:
    """Say at each cut which measure leads, what cannot be told apart from it, what is worse."""
    cuts = stage.table("cuts").collect()
    tests, best = (stage.table(name).collect() for name in ("differences", "best"))
    known, told = cuts.drop_nulls("precision"), stage.options_as(Designed)
    among = categories(cuts)
    for (category, n), lists in known.sort("category", "n").group_by(
        "category", "n", maintain_order=True
    ):
        mine, leading = (table.filter(category=category, n=n) for table in (tests, best))
        tested = "best" if leading.height else "highest estimate"
        question = f"{tested} for {n:,} candidates{said_of(str(category), among)}"
        facts = {"question": question, "category": category, "n": n, "figure": "precision"}
        yield from _at(_Place(lists, mine, leading, told, facts))


def _at(place: _Place) -> Iterator[Finding]:
    ordered = place.lists.sort(["precision", "measure"], descending=[True, False])
    first = ordered.row(0, named=True)
    said = words.estimate(first["precision"], first["lower"], first["upper"])
    led = f"{measure_title(first['measure'])}, {said}".replace(" %", " % true positives", 1)
    about = "highest" if place.best.is_empty() else "best"
    yield place.finding(
        about, f"{place.facts['question']}: {led}", name=first["measure"],
        value=first["precision"], lower=first["lower"], upper=first["upper"],
    )  # fmt: skip
    if place.best.is_empty():
        yield from _pairs(place)
        return
    yield from _together(place, first["measure"])
    yield from _worse(place, first["measure"])


def _together(place: _Place, leader: str) -> Iterator[Finding]:
    rivals = place.best.filter(~pl.col("best")).sort("precision", "measure", descending=True)
    if rivals.is_empty():
        return
    names, second = rivals["measure"].to_list(), rivals.row(0, named=True)
    shares = zip(map(measure_title, names), rivals["precision"], strict=True)
    yield place.finding(
        "together", words.not_told_apart(list(shares)), name=second["measure"], other=leader,
        value=second["precision"], p_adjusted=second["p_adjusted"], names=tuple(names),
    )  # fmt: skip


def _worse(place: _Place, leader: str) -> Iterator[Finding]:
    rows = place.tests.filter("significant").drop_nulls(["difference", "p_adjusted"])
    sure = []
    for row in rows.iter_rows(named=True):
        one, other, gap = row["measure_1"], row["measure_2"], row["difference"]
        if leader in (one, other):
            rival, gap = (other, -gap) if one == leader else (one, gap)
            sure.append(words.Difference(rival, gap, row["p_adjusted"]))
    sure = [each for each in sure if each.difference < 0]
    if sure:
        titled = [each._replace(name=measure_title(each.name)) for each in sure]
        most = min(sure, key=lambda each: each.difference)
        yield place.finding(
            "worse", words.worse(titled, alpha=place.told.alpha), name=most.name, other=leader,
            value=most.difference, p_adjusted=most.p_adjusted,
        )  # fmt: skip


def _pairs(place: _Place) -> Iterator[Finding]:
    """Say of each declared pair which of the two its test finds to be better."""
    known = place.tests.drop_nulls(["difference", "p_adjusted"])
    for row in known.sort(pl.col("difference").abs(), descending=True).iter_rows(named=True):
        one, other = (measure_title(row[side]) for side in ("measure_1", "measure_2"))
        test = words.Difference(other, row["difference"], row["p_adjusted"])
        said = of_two(one, test, alpha=place.told.alpha, margin=place.told.margin)
        limits = words.interval(row["lower"], row["upper"])
        yield place.finding(
            "pair", f"{said}; limits of the difference {limits}", name=row["measure_1"],
            other=row["measure_2"], value=row["difference"], lower=row["lower"],
            upper=row["upper"], p_adjusted=row["p_adjusted"],
        )  # fmt: skip


@finder(stages=("evaluate.designed",), place=11)
def designed_ranges(stage: StageView) -> Iterator[Finding]:
    """Say over which ranges of n one measure is better than another, by simultaneous bands."""
    bands, told = stage.table("difference_bands").collect(), stage.options_as(Designed)
    among = categories(bands)
    key = ("category", "measure_1", "measure_2")
    for names, rows in bands.sort(*key, "n").group_by(*key, maintain_order=True):
        category, one, other = (str(each) for each in names)
        band = Band(*(rows[name].to_list() for name in ("n", "lower_band", "upper_band")))
        titles = measure_title(one), measure_title(other)
        said = over_range(*titles, band, confidence=told.confidence)
        yield Finding(
            about="range", text=words.sentence(f"{said}{said_of(category, among)}"),
            question="differences over a range of list sizes", category=category, name=one,
            other=other, figure="difference-bands",
        )  # fmt: skip


@finder(stages=("evaluate.designed",), place=12)
def designed_worth(stage: StageView) -> Iterator[Finding]:
    """Say the baseline, and how many labels of a simple sample would have known as much."""
    lists, baselines = stage.table("cuts").collect(), stage.table("baseline").collect()
    drawn = stage.table(stage.inputs["sample"]).select(pl.len()).collect().item()
    every = n_candidates(stage)
    among = categories(lists)
    for category in among:
        of, known = said_of(category, among), row_of(baselines, category=category)
        if known and known["precision"] is not None:
            said = words.estimate(known["precision"], known["lower"], known["upper"])
            yield Finding(
                about="baseline", text=words.sentence(f"baseline{of} {said}"),
                question=f"baseline{of}", category=category, value=known["precision"],
                lower=known["lower"], upper=known["upper"], n=every,
            )  # fmt: skip
        worth = equivalent_labels(lists.filter(category=category), candidates=every)
        if worth is not None:
            text = (
                f"{words.counted(drawn, 'label')} of {every:,} candidates{of}: half of the lists "
                f"at the declared sizes are known at least as well as from a simple sample of "
                f"{worth:,.0f}"
            )
            yield Finding(
                about="labels", text=words.sentence(text), question=f"labels{of}",
                category=category, value=worth, n=drawn,
            )  # fmt: skip
