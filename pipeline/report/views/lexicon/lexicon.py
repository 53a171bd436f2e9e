"""The view of a lexicon's quality: statistics, how sure they are, figures, lemmas, forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.findings.lexicon.evidence import drawn_by
from pipeline.findings.stage import StageOptions, StageView
from pipeline.report import charts
from pipeline.report.blocks import figure
from pipeline.report.charts import Look
from pipeline.report.charts.parts.prepare import thinned
from pipeline.report.page.cells import share, share_limits
from pipeline.report.view import Block, Explored, Figure, Fold, Styled, Text, view
from pipeline.report.views.lexicon.explored import lemma_explorer
from pipeline.report.views.lexicon.lexicon_tables import (
    alignment_listing,
    costliest,
    intervals_listing,
    lemma_listing,
    statistics_listing,
    widths_listing,
)
from pipeline.report.views.naming import named

FEW, FEW_BY_SIZE = 50, 30
"""From fewer lemmas the limits hold much less often than they say in simulations; from fewer than
the second these were not made, where lemmas are drawn by size."""
METHODS = {
    "bootstrap_t": "bootstrap-t", "percentile": "percentile bootstrap", "t": "Student's t",
    "beta": "Korn and Graubard's beta",
}  # fmt: skip


class LexiconView(Styled, Explored):
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


@view("evaluate.lexicon", options=LexiconView, title="Quality of the lexicon", of=named, place=20)
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
        *_explorer(stage, options, scores),
        *_lemma_tables(stage, options, scores),
    ]


def _lemma_tables(stage: StageView, options: LexiconView, scores: pl.DataFrame) -> Iterator[Block]:
    """Yield the lemmas as a table, folded away where one to search has them; and some aligned."""
    table = lemma_listing(scores)
    yield (
        Fold("The lemmas that cost most, with all their forms", [table])
        if options.explorer
        else table
    )
    yield Fold("The forms of some lemmas side by side", [*_alignments(stage, options, scores)])


def _explorer(stage: StageView, options: LexiconView, scores: pl.DataFrame) -> Iterator[Block]:
    if options.explorer:
        yield lemma_explorer(stage, scores, most_rows=options.explorer_rows)


def _summary(scores: pl.DataFrame, row: dict[str, Any]) -> str:
    size, whole = scores.height, int(scores["population"][0])
    star = "not defined" if row["estimate"] is None else f"{share(row['estimate'])} %"
    said = f"L* = {star}, from {size:,} lemmas"
    said += (
        f" of {whole:,} ({100 * size / whole:.1f} %){drawn_by(scores)}."
        if whole > size
        else ": all that both have."
    )
    if not scores["drawn"].all():
        return f"{said} They were not drawn at random, so nothing is known of the others."
    if row["lower"] is None:
        return f"{said} The sample does not say how sure that is."
    if whole == size:
        return said
    method = METHODS.get(row["used"], row["used"])
    interval = share_limits(row["lower"], row["upper"])
    said += f" {100 * row['confidence']:g} % confidence limits ({method}): {interval}."
    enough = FEW_BY_SIZE if drawn_by(scores) else FEW
    few = f" From fewer than {enough} lemmas they may hold much less often than they say."
    return said + few if size < enough else said


def _how_sure(intervals: pl.DataFrame, widths: pl.DataFrame) -> Iterator[Block]:
    if intervals["lower"].drop_nulls().is_empty() or not intervals["standard_error"].max():
        return
    both = [intervals_listing(intervals), widths_listing(widths)]
    yield Fold("Limits by other methods, and for other sampling rates", both)


def _figures(stage: StageView, options: LexiconView, scores: pl.DataFrame) -> Iterator[Block]:
    trends = stage.table("trends").sort("n").collect()
    kept = thinned(range(1, trends.height + 1), points=options.most_points)
    drawn = trends.filter(pl.col("n").is_in(kept))
    order, look = _order(stage), replace(options.look, height=300)
    low = replace(look, height=260)
    means = dict(stage.table("quality").select("statistic", "value").collect().rows())
    yield _lemmas(drawn, means, "L", order, look)
    places = scores.group_by("precision", "recall").agg(lemmas=pl.len().cast(pl.Int64))
    caption = (
        "Precision and recall of the sampled lemmas; the larger a circle, the more share its place."
    )
    square = replace(look, width=460, height=420)
    yield figure("scatter", caption, partial(charts.scatter_chart, places), square)
    both = ("precision", "recall")
    further = [_lemmas(drawn, means, name, order, look) for name in both]
    trends_of = [_trends(drawn, names, order, low) for names in (both, ("L",))]
    yield Fold("Precision and recall of each lemma, and trends", [*further, *trends_of])


def _order(stage: StageView) -> str:
    trend = stage.options_as(Trend)
    if trend.order == "size":
        return "lemmas, those with fewest gold forms first"
    drawn = trend.sample is not None
    return "lemmas, in the order of the sample" if drawn else "lemmas, in alphabetical order"


def _lemmas(
    drawn: pl.DataFrame, means: Mapping[str, float], name: str, order: str, look: Look
) -> Figure:
    mean = float(means[f"mean {name}"])
    some = (
        "" if drawn.height == means["sampled lemmas"] else f" {drawn.height:,} of them are drawn."
    )
    caption = (
        f"{name.capitalize()} of each sampled lemma; line: moving average over "
        f"{drawn['span'][0]} lemmas.{some}"
    )
    draw = partial(charts.lemma_chart, drawn, name, mean=mean, order=order)
    return figure(name, caption, draw, look)


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
