"""The view of machine judges: reliability, confusion with people, labels saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report import charts
from pipeline.report.blocks import figure
from pipeline.report.view import Block, Figure, Fold, Styled, Text, view
from pipeline.report.views.collocations.machine_tables import (
    confusion_listing,
    nearness_listing,
    pair_savings_listing,
    provenance_listing,
    savings_listing,
)
from pipeline.report.views.collocations.samples import of_sample
from pipeline.report.views.collocations.scope import Scope, scopes_in

PEOPLE_DECIDE = (
    "Machines are held against people's labels, which alone decide what is estimated. Predictions "
    "can make intervals shorter; those of a bad machine get no weight."
)

_TELL = ("join.machine", "sheet.simulated_machine")
"""Stages that tell of provenance."""


class MachineView(Styled):
    """What is shown of machine judges."""

    category: str | None = None
    """One category of true positives; each by default."""


@view("evaluate.machine", options=MachineView, title="Machine judgements", of=of_sample, place=45)
def show_machine(stage: StageView, options: MachineView) -> Sequence[Block]:
    """Show how reliable predictions are, the table of confusion, and what is saved."""
    judged = stage.table("judges").filter(pl.col("n_judged") > 0)
    shown = scopes_in(stage, judged, options.category)
    if not shown:
        return [Text("No candidate has both a prediction and a judgement.")]
    blocks = [block for scope in shown for block in _category(scope, options)]
    return [Text(PEOPLE_DECIDE), *blocks, *_asked(stage)]


def _category(scope: Scope, options: MachineView) -> Iterator[Block]:
    yield _figure(scope, options)
    yield confusion_listing(scope, scope.query("confusion").collect())
    yield nearness_listing(scope, scope.query("judges").collect())
    for table, made in (("savings", savings_listing), ("pair_savings", pair_savings_listing)):
        rows = scope.query(table).collect()
        if rows.height:
            yield made(scope, rows)


def _asked(stage: StageView) -> Iterator[Block]:
    """Yield what is told of how the machines were asked, folded away."""
    machines = stage.given("predictions")
    if machines is None or machines.use not in _TELL:
        return
    told = machines.table("judges_provenance").collect()
    if told.height:
        yield Fold("How the machines were asked", [provenance_listing(told)])


def _figure(scope: Scope, options: MachineView) -> Figure:
    caption = (
        f"How often predictions come true{scope.said}: the share of true positives, with its "
        "limits, against the mean prediction of judged draws with about the same one. On the "
        "diagonal probabilities are what they say; labels have two points, at 0 and at 100 %."
    )
    draw = partial(charts.reliability_chart, scope.query("calibration").collect())
    return figure(scope.file("reliability"), caption, draw, options.look)
