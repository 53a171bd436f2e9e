"""Local precision: the precision among the ranks around a place, from a sample of any design."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.estimates.limits import limits
from pipeline.kernels.estimates.lists import (
    LISTS,
    described,
    estimates_of,
    refuse_undrawable,
    typed_table,
)
from pipeline.kernels.estimates.study import Study

_WINDOWS = {
    "measure": pl.String,
    "n": pl.Int64,
    "first_rank": pl.Int64,
    "last_rank": pl.Int64,
    **LISTS,
}


def window_estimates(
    given: Study, *, window: int, every: int = 1, confidence: npt.ArrayLike = 0.95
) -> pl.DataFrame:
    """Estimate the precision in a window of ranks that moves down each list.

    Parameters
    ----------
    given : Study
        Ranks and sample, as `study.study` puts them together.
    window : int
        Ranks in the window, in 1..S; none where it is larger than S.
    every : int
        Ranks from one window to the next, from 1.
    confidence : array_like of float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        measure, n (the middle, first_rank + window // 2), first_rank, last_rank, and what
        `lists.list_estimates` says of a list; sorted.

    Raises
    ------
    ValueError
        If the window or the step is empty, a window holds candidates that could not be drawn, or
        the confidence is not inside (0, 1).

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 4, on local precision.

    Examples
    --------
    >>> from pipeline.kernels.estimates.study import study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> draws = pl.DataFrame({"id": list("abd"), "tp": [True, False, True], "pi": 1.0})
    >>> window_estimates(study(ranks, draws.head(2)), window=2).select(
    ...     "n", "first_rank", "last_rank", "estimate"
    ... ).rows()
    [(2, 1, 2, 0.5), (3, 2, 3, None), (4, 3, 4, None)]
    """
    if window < 1 or every < 1:
        raise ValueError(f"a window has 1 rank or more and moves by as many, not {window}, {every}")
    first = np.arange(1, len(given.ids) - window + 2, every)
    sums = [_sums(given, ranks, first, window) for ranks in given.ranks]
    if not sums or not first.size:
        return pl.DataFrame(schema=_WINDOWS)
    drawn, rest, known = (np.stack(part, axis=1) for part in zip(*sums, strict=True))
    places = [(name, int(rank)) for name in given.measures for rank in first]
    refuse_undrawable(
        rest[1].sum(axis=-1).ravel(), [f"{name} from rank {rank}" for name, rank in places]
    )
    found = estimates_of(given, drawn, rest, known[..., 0])
    lower, upper = limits(found, confidence=confidence)
    ranks = np.array([rank for _, rank in places])
    columns: dict[str, object] = {
        "measure": [name for name, _ in places],
        "n": ranks + window // 2,
        "first_rank": ranks,
        "last_rank": ranks + window - 1,
        "variance": found.variance.ravel(),
        "lower": lower.ravel(),
        "upper": upper.ravel(),
    }
    return typed_table(columns | described(found, drawn, known[..., 0]), _WINDOWS).sort(
        "measure", "n"
    )


def _sums(
    given: Study, ranks: IntArray, first: IntArray, window: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Add up draws, candidates, and certain and unjudged draws of one measure's windows."""
    cells, one_cell = given.strata * given.folds, np.zeros_like(given.known)
    return (
        span_sums(ranks[given.places], first, window, given.moments, given.cell, cells=cells),
        span_sums(ranks, first, window, given.rest, given.stratum, cells=given.strata),
        span_sums(ranks[given.known], first, window, given.known_columns, one_cell),
    )


def span_sums(
    ranks: IntArray,
    first: IntArray,
    length: int,
    columns: FloatArray,
    cell: IntArray,
    *,
    cells: int = 1,
) -> FloatArray:
    """Add up columns over spans of ranks, each by itself: nothing is subtracted.

    Parameters
    ----------
    ranks : array of int, shape (units,)
        The rank of each unit.
    first : array of int, shape (spans,)
        First rank of each span.
    length : int
        Ranks in each.
    columns : array of float, shape (columns, units)
        What each unit adds.
    cell : array of int, shape (units,)
        The cell of each, from 0.
    cells : int
        How many cells there are.

    Returns
    -------
    array of float, shape (columns, spans, cells)

    Examples
    --------
    >>> units = np.array([[1.0, 2.0, 4.0]]), np.array([0, 0, 0])
    >>> span_sums(np.array([3, 1, 2]), np.array([1, 2]), 2, *units)[0, :, 0].tolist()
    [6.0, 5.0]
    """
    order = np.argsort(ranks, kind="stable")
    ends = np.searchsorted(ranks[order], np.stack([first, first + length], axis=1))
    found = np.zeros((len(columns), len(first), cells))
    own = cell[order]
    for place in range(cells):
        # a unit of another cell adds 0; one more at the end, for spans that begin there
        masked = np.where(own == place, columns[:, order], 0.0)
        padded = np.concatenate([masked, np.zeros((len(columns), 1))], axis=1)
        added = np.add.reduceat(padded, ends.ravel(), axis=1)[:, ::2]
        found[:, :, place] = np.where(ends[:, 0] < ends[:, 1], added, 0.0)
    return found
