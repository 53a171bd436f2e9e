"""Differences of measures with their limits: who is drawn, and the tables of them."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.measure_titles import measure_title
from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import p_value, points
from pipeline.report.view import Listing
from pipeline.report.views.collocations.comparison_tables import PAIR
from pipeline.report.views.collocations.on_tests import HowCompared, correction_of
from pipeline.report.views.collocations.precision_tables import CLUSTERS
from pipeline.report.views.collocations.scope import Scope

POPULATIONS = {"finite": "these candidates", "super": "beyond them"}
"""What each population is called beside its intervals."""
PAIRS = ("measure_1", "measure_2")
MOST_DRAWN = 60
"""So many differences are drawn; more of them are for the table."""


def drawn_differences(rows: pl.DataFrame, best: pl.DataFrame) -> pl.DataFrame:
    """Return the differences that a figure of intervals shows, as its rows.

    Parameters
    ----------
    rows : DataFrame
        `schemas.MeasureDifferences`, one category.
    best : DataFrame
        `schemas.BestMeasures`, one category: each other measure is held against the best one of
        its size. Without rows all pairs are shown.

    Returns
    -------
    DataFrame
        group (the size), label, kind (the population), estimate, lower, upper: by size, those
        that lose most last.

    Examples
    --------
    >>> rows = pl.DataFrame({"measure_1": "mi", "measure_2": "t_score", "n": 9, "lower": -0.1,
    ...     "difference": 0.1, "upper": 0.3, "population": ["super"]})
    >>> best = pl.DataFrame({"n": [9], "best_measure": ["t_score"]})
    >>> drawn_differences(rows, best).select("label", "estimate", "kind").rows()
    [('MI', 0.1, 'beyond them')]
    """
    if best.is_empty():
        titles = [pl.col(name).map_elements(measure_title, pl.String) for name in PAIRS]
        held = rows.with_columns(label=pl.format("{} − {}", *titles))
    else:
        first = best.select("n", "best_measure").unique()
        turned = rows.with_columns(
            measure_1="measure_2", measure_2="measure_1", lower=-pl.col("upper"),
            upper=-pl.col("lower"), difference=-pl.col("difference"),
        )  # fmt: skip
        both = pl.concat([rows, turned.select(rows.columns)])
        held = both.join(first, left_on=["n", "measure_2"], right_on=["n", "best_measure"])
        held = held.with_columns(label=pl.col("measure_1").map_elements(measure_title, pl.String))
    return held.sort(
        ["n", "difference", "label", "population"],
        descending=[False, True, False, False], nulls_last=True,
    ).select(
        "label", "lower", "upper", estimate="difference",
        group=pl.col("n").map_elements(lambda n: f"n = {n:,}", pl.String),
        kind=pl.col("population").replace_strict(POPULATIONS),
    )  # fmt: skip


def difference_listing(frame: pl.DataFrame, tested: HowCompared, scope: Scope) -> Listing:
    """Return a row per pair, cut and population: the difference, its limits, what tests say.

    Parameters
    ----------
    frame : DataFrame
        `schemas.MeasureDifferences`, one category.
    tested : HowCompared
        How the stage tests.
    scope : Scope
        Stage and category.
    """
    anytime = "confidence_sequence" in frame["interval"]
    beyond = (
        f" Beyond them: {tested.test_name}, for a population that they are independent draws from."
    )
    caption = (
        f"Differences of precision at the declared cuts{scope.said} in percentage points, first "
        "minus second, with their limits, "
        f"{'all together' if anytime else 'each at its own n and pair'}. "
        "About these candidates: a test that D1 has as many true positives as D2."
        f"{'' if anytime else beyond} Adjusted p "
        f"over cuts and pairs ({tested.correction.replace('_', '-')}); p of a difference beyond "
        f"the margin of {100 * tested.margin:g} points{_bound(tested)}."
    )
    equivalent = [] if tested.equivalence is None else [
        Column("p_equivalent_adjusted", "equivalent: adjusted p", p_value)
    ]  # fmt: skip
    columns = [
        *PAIR[:3], Column("population", "about", lambda name: POPULATIONS[name]),
        Column("difference", text=points), Column(("lower", "upper"), "limits", point_limits),
        Column("p_adjusted", "adjusted p", p_value),
        Column("p_margin_adjusted", "margin: adjusted p", p_value), *equivalent,
    ]  # fmt: skip
    order = ["n", "measure_1", "measure_2", "population"]
    return listing(scope.file("differences"), caption, frame.sort(order), columns)


def _bound(tested: HowCompared) -> str:
    if tested.equivalence is None:
        return ""
    return f", and of one of {100 * tested.equivalence:g} points or more (equivalent if small)"


def point_limits(lower: float, upper: float) -> str:
    """Return the limits of a difference in percentage points.

    Examples
    --------
    >>> point_limits(-0.01, 0.05)
    '[−1.00, +5.00]'
    """
    return f"[{points(lower)}, {points(upper)}]"


def clustered_listing(frame: pl.DataFrame, scope: Scope) -> Listing:
    """Return a row per pair and cut: the difference where whole clusters are drawn.

    Parameters
    ----------
    frame : DataFrame
        `schemas.ClusteredDifferences`, one category, with rows.
    scope : Scope
        Stage and category.
    """
    caption = (
        f"The same differences{scope.said} where all candidates with one {frame['cluster'][0]} are "
        "drawn together: would they hold with others of these? Limits and p by a bootstrap over "
        "clusters, with the effective number of clusters; adjusted p over cuts and pairs "
        f"({correction_of(frame['correction'])}); design effect: the variance over that of "
        "independent candidates."
    )
    columns = [
        *PAIR[:3], Column("difference", text=points),
        Column(("lower", "upper"), "limits", point_limits), Column("p_value", "p", p_value),
        Column("p_adjusted", "adjusted p", p_value), *CLUSTERS,
    ]  # fmt: skip
    ordered = frame.sort("n", "measure_1", "measure_2")
    return listing(scope.file("clustered"), caption, ordered, columns)
