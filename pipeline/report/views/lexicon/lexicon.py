"""The view of a lexicon's quality: statistics, how sure they are, figures, lemmas, forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.report import charts
from pipeline.report.blocks import figure
from pipeline.report.charts import Look
from pipeline.report.charts.parts.prepare import thinned
from pipeline.report.page.cells import limits
from pipeline.report.view import (
    Block,
    Figure,
    Listing,
    StageOptions,
    StageView,
    Styled,
    Text,
    view,
)
from pipeline.report.views.lexicon.lexicon_tables import (
    alignment_listing,
    costliest,
    lemma_listing,
    statistics_listing,
)

FEW = 50
"""From fewer lemmas the limits hold much less often than they say in simulations."""
METHODS = {"bootstrap_t": "bootstrap-t", "percentile": "percentile bootstrap"}


class LexiconView(Styled):
    """What the quality of a lexicon shows."""

    aligned: tuple[str, ...] = ()
    """Lemmas whose forms are shown side by side; the three that cost most if empty."""
    figures: bool = True
    """Whether the figures are drawn."""
    most_points: int = 1500
    """Lemmas that the figures draw; of more, evenly spaced ones. The averages are over all."""


class Trend(StageOptions):
    """In which order the stage takes the lemmas, and whether they are a sample."""

    order: str
    sample: str | None


@view("evaluate.lexicon", options=LexiconView)
def show_lexicon(stage: StageView, options: LexiconView) -> Sequence[Block]:
    """Show L* and the statistics, then the figures, then the lemmas and their forms."""
    scores = stage.table("lemmas").collect()
    blocks: list[Block] = [statistics_listing(stage.table("quality").collect())]
    if scores.is_empty():
        return [Text("The gold and the lexicon have no sampled lemma in common."), *blocks]
    intervals = stage.table("intervals").collect()
    widths = stage.table("widths").collect()
    return [
        Text(_summary(scores, intervals.filter("chosen").row(0, named=True))),
        *blocks,
        *_how_sure(intervals, widths),
        *(_figures(stage, options, scores) if options.figures else ()),
        lemma_listing(scores),
        *_alignments(stage, options, scores),
    ]


def _summary(scores: pl.DataFrame, row: dict[str, Any]) -> str:
    size, whole = scores.height, int(scores["population"][0])
    star = "not defined" if row["estimate"] is None else f"{row['estimate']:.4f}"
    said = f"L* = {star}, from {size:,} lemmas"
    said += (
        f" of {whole:,} ({100 * size / whole:.1f} %)." if whole > size else ": all that both have."
    )
    if not scores["drawn"].all():
        return f"{said} They were not drawn at random, so nothing is known of the others."
    if row["lower"] is None:
        return f"{said} The sample does not say how sure that is."
    if whole == size:
        return said
    method = METHODS.get(row["used"], row["used"])
    interval = limits(row["lower"], row["upper"])
    said += f" {100 * row['confidence']:g} % confidence limits ({method}): {interval}."
    few = f" From fewer than {FEW} lemmas they may hold much less often than they say."
    return said + few if size < FEW else said


def _how_sure(intervals: pl.DataFrame, widths: pl.DataFrame) -> Iterator[Block]:
    if intervals["lower"].drop_nulls().is_empty() or not intervals["standard_error"].max():
        return
    caption = "Confidence limits for L* by each method; the table of statistics has the chosen one."
    yield Listing("intervals", caption, intervals.sort("method"))
    caption = (
        "How sure L* would be for other sampling rates, judged by the spread of this sample: "
        "lemmas, standard error, and width of the normal interval."
    )
    yield Listing("widths", caption, widths.sort("rate"))


def _figures(stage: StageView, options: LexiconView, scores: pl.DataFrame) -> Iterator[Block]:
    trends = stage.table("trends").sort("n").collect()
    kept = thinned(range(1, trends.height + 1), points=options.most_points)
    drawn = trends.filter(pl.col("n").is_in(kept))
    order, look = _order(stage), replace(options.look, height=300)
    for names in (("precision", "recall"), ("L",)):
        yield from (_lemmas(drawn, scores, name, order, look) for name in names)
        yield _trends(drawn, names, order, replace(look, height=260))
    places = scores.group_by("precision", "recall").agg(lemmas=pl.len().cast(pl.Int64))
    caption = (
        "Precision and recall of the sampled lemmas; the larger a circle, the more share its place."
    )
    square = replace(look, width=460, height=420)
    yield figure("scatter", caption, partial(charts.scatter_chart, places), square, live=True)


def _order(stage: StageView) -> str:
    trend = stage.options_as(Trend)
    if trend.order == "size":
        return "lemmas, those with fewest gold forms first"
    drawn = trend.sample is not None
    return "lemmas, in the order of the sample" if drawn else "lemmas, in alphabetical order"


def _lemmas(drawn: pl.DataFrame, scores: pl.DataFrame, name: str, order: str, look: Look) -> Figure:
    mean = float(scores.sort("lemma")[name].to_numpy().mean())
    some = "" if drawn.height == scores.height else f" {drawn.height:,} of them are drawn."
    caption = (
        f"{name.capitalize()} of each sampled lemma; line: moving average over "
        f"{drawn['span'][0]} lemmas.{some}"
    )
    draw = partial(charts.lemma_chart, drawn, name, mean=mean, order=order)
    return figure(name, caption, draw, look, live=True)


def _trends(drawn: pl.DataFrame, names: Sequence[str], order: str, look: Look) -> Figure:
    caption = f"Trend of {' and '.join(names)}: moving average over {drawn['span'][0]} lemmas."
    draw = partial(charts.trend_chart, drawn, names, order=order)
    return figure(f"{'-'.join(names)}-trend", caption, draw, look)


def _alignments(stage: StageView, options: LexiconView, scores: pl.DataFrame) -> Iterator[Block]:
    sampled = set(scores["lemma"])
    problems = [
        Problem(
            f"views.{stage.name}.aligned", f"{lemma!r} was not sampled",
            did_you_mean(lemma, sampled),
        )
        for lemma in options.aligned
        if lemma not in sampled
    ]  # fmt: skip
    if problems:
        raise ConfigError("report", problems)
    lemmas = options.aligned or tuple(costliest(scores)["lemma"].head(3))
    rows = {row["lemma"]: row for row in scores.filter(pl.col("lemma").is_in(lemmas)).to_dicts()}
    forms = stage.table("forms").filter(pl.col("lemma").is_in(lemmas)).collect()
    for number, lemma in enumerate(lemmas, 1):
        yield alignment_listing(forms.filter(lemma=lemma), rows[lemma], number=number)
