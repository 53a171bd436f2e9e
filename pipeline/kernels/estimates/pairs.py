"""Tables of estimates: the differences of two n-best lists."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.estimates.hajek import Estimates
from pipeline.kernels.estimates.limits import (
    difference_limits,
    difference_p_values,
)
from pipeline.kernels.estimates.lists import (
    LISTS,
    checked_cuts,
    described,
    estimates_of,
    refuse_undrawable,
    typed_table,
)
from pipeline.kernels.estimates.study import Study
from pipeline.kernels.estimates.sums import blocks, difference_sums

_SIDES = ("estimate", "n_eff", "n_sampled", "k_sampled", "draws", "certain", "unjudged", "tau")
_PAIRS = {
    "measure_1": pl.String,
    "measure_2": pl.String,
    "n": pl.Int64,
    "size": pl.Int64,
    "difference": pl.Float64,
    "variance": pl.Float64,
    "lower": pl.Float64,
    "upper": pl.Float64,
    "p_value": pl.Float64,
    **{f"{name}_{side}": LISTS[name] for side in (1, 2) for name in _SIDES},
}


def pair_estimates(
    given: Study,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
    confidence: npt.ArrayLike = 0.95,
) -> pl.DataFrame:
    """Estimate the differences of precision of two lists from a sample of any design.

    ``difference = |D1|/n (theta(D1) - theta(D2))``, D1 what only the first list holds, D2 what
    only the second one holds.

    Parameters
    ----------
    given : Study
        Ranks and sample, as `study.study` puts them together.
    pairs : sequence of (str, str)
        The measures to compare.
    at : sequence of int
        List sizes in 1..S.
    confidence : array_like of float
        Confidence level in (0, 1): one, or as many as fit the shape (lists, pairs), sizes
        ascending and pairs as given.

    Returns
    -------
    pl.DataFrame
        measure_1, measure_2, n, size (|D1| = |D2|), difference, variance, lower, upper, p_value
        (that these candidates differ: `limits.difference_p_values`), and for both sets estimate,
        n_eff, n_sampled, k_sampled, draws, certain, unjudged, tau with _1 and _2; sorted. The
        difference is null where one of the estimates is, and the limits are the widest then;
        where both lists hold the same it is 0, known, and there is no p-value.

    Raises
    ------
    ValueError
        If a measure is not ranked, a list size is outside 1..S, a difference set holds candidates
        that could not be drawn, or the confidence is not inside (0, 1).

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3, on difference sets; Zou & Donner,
    Construction of Confidence Limits about Effect Measures (2008).

    Examples
    --------
    >>> from pipeline.kernels.estimates.study import study
    >>> ranks = pl.DataFrame({
    ...     "measure": ["dice"] * 3 + ["mi"] * 3, "id": list("abccba"), "rank": [1, 2, 3] * 2,
    ... })
    >>> draws = pl.DataFrame({"id": ["a", "c"], "tp": [True, False], "pi": 1.0})
    >>> found = pair_estimates(study(ranks, draws), pairs=[("dice", "mi")], at=[1, 2, 3])
    >>> found.select("n", "size", "difference", "lower", "upper", "p_value").rows()
    [(1, 1, 1.0, 1.0, 1.0, 0.0), (2, 1, 0.5, 0.5, 0.5, 0.0), (3, 0, 0.0, 0.0, 0.0, None)]
    """
    n = checked_cuts(given, at)
    chosen, rows = chosen_measures(given, pairs)
    first = np.searchsorted(n, given.ranks[chosen], side="left")
    cells = given.strata * given.folds
    numbers = 2 * len(pairs) * cells * (len(given.moments) + len(given.rest))
    levels = np.broadcast_to(confidence, (len(n), len(pairs)))
    parts = [
        _rows(given, _sums(given, first, rows, cuts), pairs, n[list(cuts)], levels[list(cuts)])
        for cuts in blocks(len(n), numbers=numbers)
        if pairs
    ]
    return pl.concat([pl.DataFrame(schema=_PAIRS), *parts]).sort("measure_1", "measure_2", "n")


def chosen_measures(
    given: Study, pairs: Sequence[tuple[str, str]]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the rows of the measures that are compared, and each pair by places among them.

    Raises
    ------
    ValueError
        If a measure has no ranks: which, and which there are.

    Examples
    --------
    >>> from pipeline.kernels.estimates.study import study
    >>> ranks = pl.DataFrame({"measure": ["a", "b", "c"], "id": "x", "rank": 1})
    >>> draws = pl.DataFrame({"id": ["x"], "tp": [True], "pi": [0.5]})
    >>> chosen_measures(study(ranks, draws), [("c", "a")])
    ([0, 2], [(1, 0)])
    """
    names = given.measures.to_list()
    wanted = sorted({name for pair in pairs for name in pair})
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ValueError(
            f"no ranks for {', '.join(unknown)}; there are ranks for {', '.join(names)}"
        )
    place = {name: position for position, name in enumerate(wanted)}
    rows = [(place[one], place[two]) for one, two in pairs]
    return [names.index(name) for name in wanted], rows


def _sums(
    given: Study, first: IntArray, rows: list[tuple[int, int]], cuts: range
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Add up draws, candidates, and certain and unjudged draws of the difference sets."""
    added = partial(difference_sums, pairs=rows, cuts=cuts)
    cells = given.strata * given.folds
    one_cell = np.zeros_like(given.known)
    return (
        added(first[:, given.places], given.moments, given.cell, cells=cells),
        added(first, given.rest, given.stratum, cells=given.strata),
        added(first[:, given.known], given.known_columns, one_cell, cells=1)[..., 0],
    )


def _rows(
    given: Study,
    sums: tuple[FloatArray, FloatArray, FloatArray],
    pairs: Sequence[tuple[str, str]],
    n: IntArray,
    confidence: FloatArray,
) -> pl.DataFrame:
    """Make the rows of the table for some cuts."""
    drawn, rest, known = sums
    names = [f"{one} against {two} at {cut}" for cut in n for one, two in pairs]
    refuse_undrawable(rest[1].sum(axis=(-2, -1)).ravel(), names)
    sides = [
        estimates_of(given, drawn[..., side, :], rest[..., side, :], known[..., side])
        for side in (0, 1)
    ]
    size = rest[0, ..., 0, :].sum(axis=-1) + known[3, ..., 0]
    sizes = np.broadcast_to(n[:, None], size.shape)
    columns = _compared(*sides, size=size, n=sizes, confidence=confidence)
    for side, found in enumerate(sides):
        values = described(found, drawn[..., side, :], known[..., side])
        columns |= {f"{name}_{side + 1}": column for name, column in values.items()}
        columns[f"measure_{side + 1}"] = [pair[side] for pair in pairs] * len(n)
    return typed_table(columns, _PAIRS)


def _compared(
    one: Estimates, other: Estimates, *, size: FloatArray, n: IntArray, confidence: FloatArray
) -> dict[str, object]:
    """Return the columns of the difference, 0 and known where the lists hold the same."""
    same, scale = size == 0, size / n
    lower, upper = difference_limits(one, other, confidence=confidence)
    found = {
        "difference": scale * (one.estimate - other.estimate),
        "variance": scale**2 * (one.variance + other.variance),
        "lower": scale * lower,
        "upper": scale * upper,
    }
    columns: dict[str, object] = {
        name: np.where(same, 0.0, column).ravel() for name, column in found.items()
    }
    p = np.where(same, np.nan, difference_p_values(one, other))
    return columns | {"p_value": p.ravel(), "size": np.rint(size).ravel(), "n": n.ravel()}
