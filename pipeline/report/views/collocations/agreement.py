"""The view of agreement: coefficients with their intervals, and what to discuss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report import charts
from pipeline.report.blocks import figure
from pipeline.report.view import Block, Figure, Styled, Text, view
from pipeline.report.views.collocations.agreement_tables import (
    EVERY,
    agreement_listing,
    disagreement_listing,
    labelled,
)

MOST_PAIRS = 3
"""With more pairs of annotators than these, the figure shows all annotators together only."""


class AgreementView(Styled):
    """What is shown of the agreement between annotators."""

    k: int = 50
    """How many of the candidates with different labels the page shows."""
    candidates: str | None = None
    """A stage or table with id, l1 and l2, for the names of those candidates."""


@view("evaluate.agreement", options=AgreementView, title="Agreement of the annotators", place=40)
def show_agreement(stage: StageView, options: AgreementView) -> Sequence[Block]:
    """Show coefficients as a figure and a table, and the candidates with different labels."""
    agreement = stage.table("agreement").collect()
    if agreement["estimate"].drop_nulls().is_empty():
        return [Text("No candidate has labels of two annotators, so there is no agreement.")]
    return [_figure(agreement, options), agreement_listing(agreement), *_discuss(stage, options)]


def _figure(agreement: pl.DataFrame, options: AgreementView) -> Figure:
    every = pl.col("annotator_1") == EVERY
    pairs = agreement.filter(~every).select("annotator_1", "annotator_2").n_unique()
    # Of two annotators the figure has what it does not have of all: Cohen's kappa.
    kappa = (pl.col("coefficient") == "cohen_kappa") & (pairs <= MOST_PAIRS)
    drawn = agreement.filter(every | kappa)
    frame = labelled(drawn).select("group", "label", "kind", "estimate", "lower", "upper")
    caption = (
        "Agreement between annotators, over the labels as they are and for each category, with "
        "confidence limits. 1 is perfect agreement; for kappa and alpha 0 is what chance gives. "
        "A cross: not defined, e.g. where all labels are the same."
    )
    if pairs:
        caption += " The table has more of each two annotators."
    draw = partial(charts.whisker_chart, frame, x_title="agreement")
    return figure("agreement", caption, draw, options.look)


def _discuss(stage: StageView, options: AgreementView) -> Iterator[Block]:
    disagreements = stage.table("disagreements").collect()
    if disagreements.is_empty():
        yield Text("No candidate has different labels.")
        return
    names = None
    if options.candidates is not None:
        names = stage.table(options.candidates).select("id", "l1", "l2").collect()
    yield disagreement_listing(disagreements, names, most=options.k)
