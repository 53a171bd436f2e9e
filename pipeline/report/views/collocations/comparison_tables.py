"""Tables of a comparison: tests at the cuts, matrices, the best measures, the baseline."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.measure_titles import measure_title
from pipeline.kernels.statistics.multiplicity import CORRECTIONS
from pipeline.report.blocks import Column, listing, place_in
from pipeline.report.page.cells import NOTHING, p_value, part, points, share
from pipeline.report.view import Listing
from pipeline.report.views.collocations.comparison_matrices import both_ways, starred
from pipeline.report.views.collocations.on_tests import (
    HowCompared,
    HowTested,
    Mark,
    correction_of,
)
from pipeline.report.views.collocations.scope import Scope

PAIR = (
    Column("measure_1", "first", measure_title),
    Column("measure_2", "second", measure_title),
    Column("n"),
    Column("size", "|D1|"),
    Column(("k_1", "n_1"), "k of n: D1", part),
    Column(("k_2", "n_2"), "k of n: D2", part),
)
"""Two measures at one n, and their difference sets."""
TESTS = (
    *PAIR,
    Column("difference", text=points),
    Column("p_value", "p", p_value),
    Column("p_adjusted", "adjusted p", p_value),
)


def comparison_listing(frame: pl.DataFrame, tested: HowTested, scope: Scope) -> Listing:
    """Return a row per pair and cut: the counts, the difference, the p-values.

    Parameters
    ----------
    frame : DataFrame
        `schemas.CutComparison`, one category.
    tested : HowTested
        How the stage tests.
    scope : Scope
        Stage and category.
    """
    ordered = frame.sort("n", "measure_1", "measure_2")
    caption = (
        f"{tested.test_name} at the declared cuts{scope.said}: k of n judged draws are true "
        "positives in D1 (n-best under the first measure alone) and in D2, which is as large "
        "(n-best under the second alone); difference of precision in percentage points, first "
        "minus second; p, and p adjusted over the declared cuts and pairs "
        f"({correction_of(ordered['correction'])})."
    )
    return listing(scope.file("tests"), caption, ordered, TESTS)


def matrix_listing(frame: pl.DataFrame, n: int, mark: Mark, scope: Scope) -> Listing:
    """Return the differences of all pairs at one n as a square: row minus column.

    Parameters
    ----------
    frame : DataFrame
        `schemas.CutComparison`, one category.
    n : int
        The cut.
    mark : Mark
        What a star says.
    scope : Scope
        Stage and category.
    """
    pairs = frame.filter(pl.col("n") == n).sort("measure_1", "measure_2")
    names = list(dict.fromkeys([*pairs["measure_1"], *pairs["measure_2"]]))
    square = both_ways(pairs.with_columns(significant=starred(mark))).sort(place_in(names, "row"))
    caption = (
        f"Difference of precision at n = {n:,}{scope.said} in percentage points, row minus "
        f"column. A star: {mark.said}."
    )
    columns = [
        Column(
            ("difference", "significant"),
            measure_title(name),
            starred_points,
            at=("column", name),
        )
        for name in names
    ]
    return listing(
        scope.file(f"matrix-{n}"), caption, pairs,
        [Column("row", "row − column", measure_title), *columns], by=["row"], shown=square,
    )  # fmt: skip


def starred_points(difference: float | None, star: bool) -> str:
    """Return a difference in percentage points, with its star.

    Examples
    --------
    >>> starred_points(0.05, True), starred_points(-0.01, False)
    ('* +5.00', '−1.00')
    """
    return f"{'* ' if star else ''}{points(difference)}"


def best_listing(best: pl.DataFrame, tested: HowCompared, scope: Scope) -> Listing:
    """Return a row per n: the best measure, and those that are not significantly worse.

    Parameters
    ----------
    best : DataFrame
        `schemas.BestMeasures`, one category.
    tested : HowCompared
        How the stage tests.
    scope : Scope
        Stage and category.
    """
    order = ["n", "best", "precision", "measure"]
    ordered = best.sort(order, descending=[False, True, True, False], nulls_last=True)
    together = ordered.group_by("n", maintain_order=True).agg("measure", "precision")
    caption = (
        f"The measure with the highest estimated precision at each declared n{scope.said}, and "
        "those that are not significantly worse (all pairs tested, p-values adjusted by "
        f"{CORRECTIONS.title(tested.best)}), with precision in per cent (?: no draw of the list is "
        f"judged).{_kept(tested)}"
    )
    both = ("measure", "precision")
    columns = (
        Column("n"),
        Column(both, "best", _first),
        Column(both, "not significantly worse", _others),
    )
    return listing(scope.file("best"), caption, ordered, columns, shown=together)


def _kept(tested: HowCompared) -> str:
    """Say what is guaranteed, where it is."""
    if tested.best != "bonferroni" or tested.test == "fisher_mid_p":
        return ""
    sure = 100 * (1 - tested.alpha)
    return (
        f" The truly best of each n is among them, at all n at once, with {sure:g} % probability."
    )


def _first(measures: list[str], shares: list[float | None]) -> str:
    return _named(measures, shares)[0]


def _others(measures: list[str], shares: list[float | None]) -> str:
    return "\n".join(_named(measures, shares)[1:]) or "none"


def _named(measures: list[str], shares: list[float | None]) -> list[str]:
    return [
        f"{measure_title(measure)} {'?' if precision is None else share(precision)}"
        for measure, precision in zip(measures, shares, strict=True)
    ]


def baseline_listing(tests: pl.DataFrame, mark: Mark, scope: Scope) -> Listing:
    """Return a row per measure and a column per n: the difference from the baseline, and p.

    Parameters
    ----------
    tests : DataFrame
        `schemas.CutBaselineComparison`, one category.
    mark : Mark
        What a star says.
    scope : Scope
        Stage and category.
    """
    ordered = tests.sort("measure", "n")
    caption = (
        f"Precision less the baseline in percentage points{scope.said}, with adjusted p of the "
        "exact test of each list against the candidates outside it. A star: "
        f"{mark.said}."
    )
    columns = [
        Column(DIFFERENCE, f"n = {n:,}", difference_and_p, at=("n", n))
        for n in sorted(set(ordered["n"]))
    ]
    return listing(
        scope.file("baseline"), caption, ordered,
        [Column("measure", text=measure_title), *columns], by=["measure"],
        shown=ordered.with_columns(significant=starred(mark)),
    )  # fmt: skip


DIFFERENCE = ("difference", "p_adjusted", "significant")


def difference_and_p(gap: float | None, p: float | None, star: bool) -> str:
    r"""Return a difference in percentage points with its star, and p under it.

    Examples
    --------
    >>> difference_and_p(0.05, 0.01, True), difference_and_p(None, None, False)
    ('* +5.00\np 0.0100', '–')
    """
    return NOTHING if gap is None else f"{starred_points(gap, star)}\np {p_value(p)}"
