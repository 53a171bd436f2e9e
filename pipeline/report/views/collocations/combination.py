"""Views of combinations of measures, and of delivered lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl
from pydantic import Field

from pipeline.findings.base import StageOptions, StageView
from pipeline.kernels.measure import measure_title
from pipeline.report import charts
from pipeline.report.view import (
    NULL_TEXT,
    Block,
    Column,
    Figure,
    Listing,
    StyleOptions,
    Text,
    ViewOptions,
    count_of,
    figure,
    format_cell,
    format_decimals,
    format_estimate,
    format_percent,
    limits,
    listing,
    view,
)
from pipeline.report.views.collocations.graphs import of_sample
from schemas.errors import count_text

# The model of a combination


class CombinationView(StyleOptions):
    """Options of the section on a combination of measures."""

    measures: int = Field(default=30, ge=1)
    """Draw this many measures, those with the largest coefficients."""
    words: int = Field(default=10, ge=0)
    """Show this many words with the largest positive, and with the largest negative effects."""


class Folds(StageOptions):
    """How the labels were divided."""

    folds: int


@view(
    "score.combination", options=CombinationView, title="Combination of measures", of=of_sample,
    place=24,
)  # fmt: skip
def show_combination(stage: StageView, options: CombinationView) -> Sequence[Block]:
    """Show average precision, the coefficients of measures, and the words with most effect."""
    fit = stage.table("fit").collect()
    if fit.is_empty():
        return [Text("No candidate is judged, so no model was fitted.")]
    terms, folds = stage.table("coefficients").collect(), stage.options_as(Folds).folds
    return [
        _fit_listing(fit, folds),
        *_coefficient_figure(terms, folds, options),
        *_word_listing(terms, options.words),
    ]


def _fit_listing(fit: pl.DataFrame, folds: int) -> Listing:
    row = fit.row(0, named=True)
    single = pl.col("measure") != ""
    ordered = fit.sort(pl.col("word") != "", single, "word")
    caption = (
        f"Average precision (%) in {row['category']}, from {row['n_judged']:,} judged candidates "
        f"with {count_text(row['positives'], 'true positive')}. All rankings are cross-fitted with "
        f"{folds} folds: a candidate's own label affects neither the model nor the measure that "
        "ranks it. Single measure: the one with the highest average precision in the other folds; "
        "the measure of most folds is named. Without labels of the same word: the model treats "
        "each word as if nobody had judged it. Gain: mean log-likelihood of a label, minus that by "
        "the mean of the labels; not above 0 if nothing was learned."
    )
    columns = [
        Column(("word", "measure"), "ranking", _ranking, right=False),
        Column("average_precision", "average precision (%)", format_percent),
        Column("ridge", "median penalty"),
        Column("gain", "gain (nats per label)", partial(format_decimals, digits=3)),
    ]
    return listing("fit", caption, ordered, columns)


def _ranking(word: str, measure: str) -> str:
    if measure:
        return f"single measure ({measure_title(measure)})"
    return f"combination without labels of the same {word}" if word else "combination"


def _coefficient_figure(
    terms: pl.DataFrame, folds: int, options: CombinationView
) -> Iterator[Figure]:
    numeric = terms.filter(pl.col("kind").is_in(["measure", "frequency"]))
    size = pl.col("coefficient").abs()
    drawn = numeric.sort(size, "feature", descending=[True, False]).head(options.measures)
    if drawn.is_empty():
        return
    drawn = drawn.sort("coefficient", "feature", descending=[True, False])
    titles = {
        name: measure_title(name) if kind == "measure" else f"{name} (frequency)"
        for kind, name in drawn.select("kind", "feature").rows()
    }
    frame = drawn.select(
        group=pl.lit(""), label=pl.col("feature").replace(titles), kind=pl.lit(""),
        estimate="coefficient", lower="lowest", upper="highest",
    )  # fmt: skip
    is_partial = drawn.height < numeric.height
    largest = f" Drawn: the {drawn.height:,} largest of {numeric.height:,}." if is_partial else ""
    caption = (
        "Coefficients of the measures in the model of all labels: change of the log-odds of a true "
        "positive per unit of the normal score of the rank, other things equal. Lines: range over "
        f"the {folds} models without a fold. Measures are correlated, so a negative coefficient "
        f"does not make a measure a bad one.{largest}"
    )
    draw = partial(charts.whisker_chart, frame, x_title="coefficient", to_one=False)
    yield figure("coefficients", caption, draw, options.look)


def _word_listing(terms: pl.DataFrame, most: int) -> Iterator[Listing]:
    words = terms.filter(kind="word").sort("coefficient", "value", descending=[True, False])
    more = words.filter(pl.col("coefficient") > 0).head(most)
    fewer = words.filter(pl.col("coefficient") < 0).tail(most)
    rows = pl.concat([more, fewer])
    if rows.is_empty():
        return
    caption = (
        f"Words with the largest effects, of {words.height:,} in judged candidates. A positive "
        "effect: more true positives than the ranks of its candidates suggest; a negative one: "
        "fewer. The effect is the change of the log-odds, shrunk towards 0 if few candidates with "
        "the word are judged; range: over the models without a fold."
    )
    columns = [
        Column("value", "word", lambda word: word or NULL_TEXT, right=False),
        Column("feature", "template"),
        Column("n_judged", "judged candidates"),
        Column("coefficient", "effect", partial(format_decimals, digits=2)),
        Column(("lowest", "highest"), "range", partial(limits, digits=2)),
    ]
    yield listing("words", caption, rows, columns)


# Delivered lists


@view("sheet.list", title="Delivered list", place=4)
def show_list(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show the size of a delivered list, and the precision of its parts."""
    rows = stage.table("list").select("verdict").collect()["verdict"]
    names = stage.table("about").select("measure").collect()["measure"]
    if not len(names):
        return [Text("No candidate is judged, so no list was delivered.")]
    parts = stage.table("parts").collect()
    true, false = (int((rows == sign).sum() or 0) for sign in "+-")
    both = f"{count_text(true, 'true positive')} and {count_text(false, 'false positive')}"
    text = (
        f"{count_text(len(rows), 'candidate')} by {measure_title(names[0])}, {true + false:,} of "
        f"them judged: {both}."
    )
    text += f" The file is {stage.delivered}." if stage.delivered else ""
    return [Text(text), *([] if parts.is_empty() else [_parts_listing(parts)])]


_PARTS = {
    "list": "whole list",
    "judged": "judged true positives, first",
    "unjudged": "unjudged candidates, by the model of all labels",
}


def _parts_listing(parts: pl.DataFrame) -> Listing:
    row = parts.row(0, named=True)
    order = pl.col("part").replace_strict({"judged": 0, "unjudged": 1, "list": 2})
    caption = (
        "Precision (%) of the list. That of the unjudged candidates is estimated from the judged "
        "draws in the cross-fitted list with as many unjudged candidates: the models that ranked "
        "these draws did not see their labels. Limits (Clopper-Pearson, "
        f"{100 * row['confidence']:g} %) account for the choice among "
        f"{count_text(row['considered'], 'list')}; those in the last column do not."
    )
    columns = [
        Column("part", text=lambda part: _PARTS[part]),
        Column("n", "candidates"),
        Column(("precision", "lower_simultaneous", "upper_simultaneous"), "precision (%)", _exact),
        Column(("k_sampled", "n_sampled"), "TP of judged draws", _draws),
        Column("depth", text=lambda depth: format_cell(depth or None)),
        Column(("precision", "lower", "upper"), "this list alone (%)", _exact),
    ]
    return listing("parts", caption, parts.sort(order), columns)


def _exact(precision: float | None, lower: float, upper: float) -> str:
    """Return an estimate with its limits; without limits if all candidates are judged."""
    if precision is not None and lower == upper:
        return format_percent(precision, digits=1)
    return format_estimate(precision, lower, upper)


def _draws(k: int, n: int) -> str:
    return count_of(k, n) if n else NULL_TEXT
