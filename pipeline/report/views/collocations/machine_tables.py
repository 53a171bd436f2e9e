"""Tables of machine judges: confusion with people, nearness, labels saved."""

from __future__ import annotations

from functools import partial

import polars as pl

from pipeline.kernels.measure_titles import measure_title
from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import NOTHING, decimals, limits, share, share_limits
from pipeline.report.view import Listing
from pipeline.report.views.collocations.scope import Scope


def _estimate(value: float | None, lower: float | None, upper: float | None) -> str:
    """Return a proportion in per cent with its limits."""
    return f"{share(value, digits=1)} {share_limits(lower, upper, digits=1)}"


def _coefficient(value: float | None, lower: float | None, upper: float | None) -> str:
    """Return a coefficient with its limits."""
    return f"{decimals(value, digits=2)} {limits(lower, upper, digits=2)}".rstrip()


def _saved(value: float | None) -> str:
    """Return a share in per cent; one that rounds to 0 has no sign."""
    return share(None if value is None else round(value, 3) + 0.0, digits=1)


def _of(name: str, head: str, *, proportion: bool) -> Column:
    columns = (name, f"{name}_lower", f"{name}_upper")
    return Column(columns, head, _estimate if proportion else _coefficient, right=False)


_WHO = Column("judge")
_CONFUSION = (
    _WHO,
    Column("n_judged", "judged"),
    Column("true_positives", "TP, predicted"),
    Column("false_negatives", "TP, not predicted"),
    Column("false_positives", "no TP, predicted"),
    Column("true_negatives", "no TP, not predicted"),
    _of("sensitivity", "sensitivity (%)", proportion=True),
    _of("specificity", "specificity (%)", proportion=True),
    _of("ppv", "positive predictive value (%)", proportion=True),
    _of("npv", "negative predictive value (%)", proportion=True),
)
_NEARNESS = (
    _WHO,
    Column("n_predicted", "predicted"),
    Column("n_judged", "judged"),
    _of("kappa", "Cohen's kappa", proportion=False),
    _of("ac1", "Gwet's AC1", proportion=False),
    _of("rho2", "rho²", proportion=False),
    Column("brier", "Brier score", partial(decimals, digits=3)),
    Column("calibration_error", "calibration error (%)", partial(share, digits=1)),
)
_SAVED = (
    Column("n"),
    Column("n_judged", "judged"),
    _of("rho2", "rho²", proportion=False),
    Column("labels_saved", "labels saved (%)", _saved),
)


def confusion_listing(scope: Scope, confusion: pl.DataFrame) -> Listing:
    """Return a row for each judge: the cells, and the shares made of them."""
    threshold = confusion["threshold"][0]
    caption = (
        f"People's labels against the machines'{scope.said}: predicted is what has a prediction of "
        f"{threshold:g} or more. The four cells count judged draws; shares weigh them by their "
        "chances to be drawn, where these are known."
    )
    return listing(scope.file("confusion"), caption, confusion, _CONFUSION)


def nearness_listing(scope: Scope, judges: pl.DataFrame) -> Listing:
    """Return a row for each judge: agreement, calibration, correlation."""
    caption = (
        f"How near each machine comes to people{scope.said}. rho²: the part of the judgements' "
        "variance that the predictions explain. The Brier score and the calibration error are 0 "
        "for a machine that is always right and sure of it."
    )
    return listing(scope.file("judges"), caption, judges, _NEARNESS)


def savings_listing(scope: Scope, savings: pl.DataFrame) -> Listing:
    """Return a row for each judge, measure and list size: what it saves."""
    caption = (
        f"Labels that each machine saves in the estimate of a list's precision{scope.said}: a "
        "sample smaller by so many per cent is as exact, if the predictions are used. "
        f"{NOTHING}: fewer than 30 judged draws, or all judged alike."
    )
    columns = (_WHO, Column("measure", text=measure_title), *_SAVED)
    return listing(scope.file("savings"), caption, savings, columns)


def pair_savings_listing(scope: Scope, savings: pl.DataFrame) -> Listing:
    """Return a row for each judge, pair and list size: what it saves."""
    caption = (
        f"The same for the differences of two lists{scope.said}; judged draws are those that only "
        "one of the two lists holds, 30 of each or more."
    )
    columns = (
        _WHO,
        Column("measure_1", "first", measure_title),
        Column("measure_2", "second", measure_title),
        *_SAVED,
    )
    return listing(scope.file("pair-savings"), caption, savings, columns)


def provenance_listing(told: pl.DataFrame) -> Listing:
    """Return a row for each thing that is told of a judge.

    Parameters
    ----------
    told : DataFrame
        `schemas.JudgesProvenance`.
    """
    caption = "What the files tell of the machines, and in how many rows."
    columns = (
        _WHO,
        Column("column", "what"),
        Column("value", "as the file has it"),
        Column("rows"),
    )
    return listing("provenance", caption, told, columns)
