"""Which measure is best at each declared size, by the tests of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.collocations import more_labels
from pipeline.findings.collocations.difference_rows import limits_of
from pipeline.findings.collocations.evidence import (
    beside,
    categories,
    n_candidates,
    row_of,
    said_of,
)
from pipeline.findings.collocations.looks import Looked, look_of
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageOptions, StageView
from pipeline.kernels.measure_titles import measure_title
from pipeline.kernels.statistics.exact_tests import Alternative
from pipeline.kernels.statistics.intervals import INTERVALS

FIGURE = "best"
"""The figure of a comparison that shows the best measures."""


class Tested(StageOptions):
    """How the stage tests."""

    test: str
    alternative: Alternative
    alpha: float
    margin: float


@dataclass(frozen=True)
class _Tables:
    """The tables of a comparison, of one category."""

    best: pl.DataFrame
    cuts: pl.DataFrame
    differences: pl.DataFrame
    lists: pl.DataFrame
    estimates: pl.DataFrame | None
    baseline: dict[str, Any] | None


@dataclass(frozen=True)
class _Place:
    """One size and category of a comparison."""

    stage: StageView
    tested: Tested
    tables: _Tables
    category: str
    of: str
    n: int

    @property
    def question(self) -> str:
        """What is answered here."""
        return f"best for {self.n:,} candidates{self.of}"

    def facts(self, about: str) -> dict[str, Any]:
        """Return what all findings here have in common."""
        return {
            "about": about, "question": self.question, "category": self.category, "n": self.n,
            "figure": FIGURE,
        }  # fmt: skip


@finder(stages=("evaluate.comparison",), place=10)
def best_measures(stage: StageView) -> Iterator[Finding]:
    """Say at each size which is best, what cannot be told apart from it, and what is worse."""
    best = stage.table("best").collect()
    among = categories(best)
    tested = stage.options_as(Tested)
    for category in among:
        tables = _tables(stage, best, category)
        of = said_of(category, among)
        yield from _throughout(tables.best, category, of)
        for n in tables.best["n"].unique().sort():
            yield from _at(_Place(stage, tested, tables, category, of, n))


def _tables(stage: StageView, best: pl.DataFrame, category: str) -> _Tables:
    def mine(table: pl.LazyFrame) -> pl.DataFrame:
        return table.filter(category=category).collect()

    estimating = next(iter(beside(stage, "evaluate.precision")), None)
    asked = pl.col("n").is_in(best["n"].unique().implode())  # of millions of lists a few
    baseline = None if estimating is None else mine(estimating.table("baseline"))
    return _Tables(
        best.filter(category=category),
        mine(stage.table("cuts")),
        mine(stage.table("differences")),
        mine(stage.table("baseline_cuts")),
        None if estimating is None else mine(estimating.table("precision").filter(asked)),
        None if baseline is None or baseline.is_empty() else baseline.row(0, named=True),
    )


def _throughout(best: pl.DataFrame, category: str, of: str) -> Iterator[Finding]:
    """Say which measures are among the best at every size."""
    sizes = sorted(set(best["n"]))
    if len(sizes) < 2:
        return
    counted = best.group_by("measure").agg(held=pl.len(), won=pl.col("best").sum())
    always = counted.filter(pl.col("held") == len(sizes)).sort(
        "won", "measure", descending=[True, False]
    )
    names = [measure_title(name) for name in always["measure"]]
    span = f"{len(sizes)} sizes from {sizes[0]:,} to {sizes[-1]:,}"
    said = (
        f"{words.listed(names)}: the best measure, or not told apart from it, at all {span}"
        if names
        else f"no measure is the best, or not told apart from it, at all {span}"
    )
    yield Finding(
        about="throughout", text=words.sentence(said + of), value=float(len(names)),
        question=f"at every size{of}", category=category,
        name=always["measure"][0] if names else None, figure=FIGURE,
        names=tuple(always["measure"]),
    )  # fmt: skip


def _at(place: _Place) -> Iterator[Finding]:
    rows = place.tables.best.filter(n=place.n).sort(
        ["best", "precision", "measure"], descending=[True, True, False], nulls_last=True
    )
    first = rows.row(0, named=True)
    if first["precision"] is None:
        return
    yield _leading(place, first)
    others = rows.slice(1)
    if others.height:
        yield _together(place, first, others)
    yield from _worse(place, first["measure"], set(rows["measure"]))
    yield from _baseline(place, first["measure"])
    if others.height:
        yield from _needed(place, first["measure"], others["measure"][0])


def _leading(place: _Place, first: dict[str, Any]) -> Finding:
    lower, upper = _limits(place, first["measure"])
    said = words.estimate(first["precision"], lower, upper).replace(" %", " % true positives", 1)
    text = f"{place.question}: {measure_title(first['measure'])}, {said}"
    return Finding(
        **place.facts("best"), text=words.sentence(text), name=first["measure"],
        value=first["precision"], lower=lower, upper=upper,
    )  # fmt: skip


def _limits(place: _Place, measure: str) -> tuple[float | None, float | None]:
    """Return the limits of a list's precision: those of the run, else Clopper and Pearson's."""
    if place.tables.estimates is not None:
        row = row_of(place.tables.estimates, measure=measure, n=place.n)
        if row and row["n_sampled"]:
            return row["lower"], row["upper"]
    counts = row_of(place.tables.lists, measure=measure, n=place.n)
    if counts is None or not counts["n_1"] or place.stage.options_as(Looked).anytime:
        return None, None
    look = look_of(place.stage)
    level = look["level"] if look else None
    return _exact(counts["k_1"], counts["n_1"], confidence=1.0 - level if level else 0.95)


def _exact(positives: int, draws: int, *, confidence: float) -> tuple[float, float]:
    lower, upper = INTERVALS.get("clopper_pearson")([positives], [draws], confidence=confidence)
    return float(lower[0]), float(upper[0])


def _together(place: _Place, first: dict[str, Any], others: pl.DataFrame) -> Finding:
    pairs = [
        (measure_title(name), precision)
        for name, precision in others.select("measure", "precision").rows()
    ]
    second = others.row(0, named=True)
    return Finding(
        **place.facts("together"), text=words.sentence(words.not_told_apart(pairs)),
        name=second["measure"], other=first["measure"], value=second["precision"],
        p_adjusted=second["p_adjusted"], names=tuple(others["measure"]),
    )  # fmt: skip


def _worse(place: _Place, best: str, together: set[str]) -> Iterator[Finding]:
    found = [each for each in _against(place, best) if each.name not in together]
    sure = [each for each in found if each.difference < 0 and each.p_adjusted < place.tested.alpha]
    if sure:
        titled = [each._replace(name=measure_title(each.name)) for each in sure]
        most = min(sure, key=lambda each: each.difference)
        yield Finding(
            **place.facts("worse"), name=most.name, other=best, value=most.difference,
            lower=most.lower, upper=most.upper,
            text=words.sentence(words.worse(titled, alpha=place.tested.alpha)),
            p_adjusted=most.p_adjusted,
        )  # fmt: skip


def _against(place: _Place, best: str) -> Iterator[words.Difference]:
    """Yield the tests of the best measure against each other one: the other less the best."""
    columns = ("measure_1", "measure_2", "difference", "p_adjusted")
    rows = place.tables.cuts.filter(n=place.n).select(columns).drop_nulls()
    for one, other, difference, p in rows.rows():
        if best in (one, other):
            name, sign = (other, -1) if best == one else (one, 1)
            ends = limits_of(place.tables.differences, n=place.n, of=name, less=best)
            yield words.Difference(name, sign * difference, p, *ends)


def _baseline(place: _Place, best: str) -> Iterator[Finding]:
    row = row_of(place.tables.lists, measure=best, n=place.n)
    known = place.tables.baseline
    if row is None:
        return
    judged, positives = row["n_1"] + row["n_2"], row["k_1"] + row["k_2"]
    if not judged:
        return
    value = (
        positives / judged if known is None or known["precision"] is None else known["precision"]
    )
    lower, upper = (None, None) if known is None else (known["lower"], known["upper"])
    text = f"baseline {words.estimate(value, lower, upper)}"
    p = row["p_adjusted"]
    if p is not None and row["difference"] is not None:
        test = words.Difference("the list", row["difference"], p)
        text += f"; {words.held_against(test, alpha=place.tested.alpha)}"
    yield Finding(
        **place.facts("baseline"), text=words.sentence(text), name=best, value=value, lower=lower,
        upper=upper, p_adjusted=p,
    )  # fmt: skip


def _again(stage: StageView) -> bool:
    """Tell whether tests allow for several looks: how many labels they need is another question."""
    return stage.options_as(Looked).anytime or look_of(stage) is not None


def _needed(place: _Place, best: str, second: str) -> Iterator[Finding]:
    pair = _pair(place.tables.cuts, place.n, best, second)
    counts = row_of(place.tables.lists, measure=best, n=place.n)
    if pair is None or counts is None or _replaced(place.stage) or _again(place.stage):
        return
    judged, candidates = counts["n_1"] + counts["n_2"], n_candidates(place.stage)
    if not 0 < judged < candidates or not 0 < pair["size"] <= candidates // 2:
        return
    tested = place.tested
    further = more_labels.further_judgements(
        pair, candidates=candidates, judged=judged, test=tested.test,
        alternative=tested.alternative, alpha=tested.alpha, margin=tested.margin,
    )  # fmt: skip
    yield Finding(
        **place.facts("needed"), name=best, other=second,
        value=None if further is None else float(further),
        text=words.sentence(more_labels.said(further, candidates=candidates)),
    )  # fmt: skip


def _pair(cuts: pl.DataFrame, n: int, one: str, other: str) -> dict[str, Any] | None:
    return row_of(cuts, n=n, measure_1=one, measure_2=other) or row_of(
        cuts, n=n, measure_1=other, measure_2=one
    )


def _replaced(stage: StageView) -> bool:
    """Return whether the sample was drawn with replacement: its power is another one."""
    sample = stage.given("sample")
    return sample is not None and bool(sample.config.get("replacement"))
