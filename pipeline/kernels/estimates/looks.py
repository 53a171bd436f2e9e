"""Expected variances at each look of a growing sample: from its design, not from judgements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.design.inclusion import inclusion
from pipeline.kernels.estimates.lists import checked_cuts
from pipeline.kernels.estimates.pairs import chosen_measures
from pipeline.kernels.estimates.study import Study
from pipeline.kernels.estimates.sums import blocks, difference_sums, list_sums
from pipeline.kernels.estimates.windows import span_sums
from pipeline.kernels.statistics.alpha_spending import spent_levels

_MANY = 200  # plans that are made one by one; more of them share
_GRID = 200.0  # steps between a variance and that of the look before: half a per cent each


def missed_at_looks(
    x: FloatArray, known: BoolArray, v: FloatArray, *, labels: Sequence[int]
) -> FloatArray:
    """Return what each candidate adds to a variance at each look, ``v_i (1 - pi_i) / pi_i``.

    Parameters
    ----------
    x : array of float, shape (candidates,)
        Size measures; 0 for those that are never drawn.
    known : array of bool, shape (candidates,)
        Those judged before the first look.
    v : array of float, shape (candidates,)
        Expected squared residuals; only their ratios count.
    labels : sequence of int
        Labels at each look, with what was judged before.

    Returns
    -------
    array of float, shape (looks, candidates)
        From 0, where the candidate is certain; all infinite where a look has only what was judged
        before, or less, and 0 for what no look draws: such questions are refused elsewhere.

    Examples
    --------
    >>> nobody = np.array([False, False])
    >>> missed_at_looks(np.array([1.0, 3.0]), nobody, np.ones(2), labels=[1, 2]).tolist()
    [[3.0, 0.3333333333333333], [0.0, 0.0]]
    """
    before = int(known.sum())
    open_ = np.where(known, 0.0, x)
    rows = [
        _missed(inclusion(open_, size=size - before), v) * ~known
        if size > before
        else np.full(len(x), np.inf)
        for size in labels
    ]
    return np.stack(rows)


def _missed(pi: FloatArray, v: FloatArray) -> FloatArray:
    return v * np.divide(1.0 - pi, pi, out=np.zeros_like(pi), where=pi > 0)


def list_variances(given: Study, missed: FloatArray, *, at: Sequence[int]) -> FloatArray:
    """Add up what is missed over n-best lists.

    Parameters
    ----------
    given : Study
        Ranks and sample.
    missed : array of float, shape (looks, candidates)
        As `missed_at_looks` gives it.
    at : sequence of int
        List sizes in 1..S.

    Returns
    -------
    array of float, shape (measures, lists, looks)
        Variances but for a factor of each list, sizes ascending.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.estimates.study import study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ["a", "b"], "rank": [1, 2]})
    >>> given = study(ranks, pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]}))
    >>> list_variances(given, np.array([[3.0, 1.0], [0.0, 0.0]]), at=[1, 2]).tolist()
    [[[3.0, 0.0], [4.0, 0.0]]]
    """
    n = checked_cuts(given, at)
    first = np.searchsorted(n, given.ranks, side="left")
    finite, never = _finite(missed)
    added = list_sums(first, finite, _one_cell(given), lists=len(n), cells=1)
    return _with_never(added[..., 0], never)


def pair_variances(
    given: Study, missed: FloatArray, *, pairs: Sequence[tuple[str, str]], at: Sequence[int]
) -> FloatArray:
    """Add up what is missed over both difference sets of two lists.

    Parameters
    ----------
    given, missed, at
        As for `list_variances`.
    pairs : sequence of (str, str)
        The measures that are compared.

    Returns
    -------
    array of float, shape (lists, pairs, looks)
        Sizes ascending, pairs as given; 0 where both lists hold the same.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.estimates.study import study
    >>> ranks = pl.DataFrame(
    ...     {"measure": ["x", "x", "y", "y"], "id": list("abba"), "rank": [1, 2, 1, 2]}
    ... )
    >>> given = study(ranks, pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]}))
    >>> pair_variances(given, np.array([[3.0, 1.0]]), pairs=[("x", "y")], at=[1, 2]).tolist()
    [[[4.0]], [[0.0]]]
    """
    n = checked_cuts(given, at)
    measures, rows = chosen_measures(given, pairs)
    first = np.searchsorted(n, given.ranks[measures], side="left")
    finite, never = _finite(missed)
    parts = [
        difference_sums(first, finite, _one_cell(given), pairs=rows, cuts=cuts, cells=1)
        for cuts in blocks(len(n), numbers=2 * max(1, len(pairs)) * len(missed))
    ]
    added = np.concatenate([np.zeros((len(missed), 0, len(rows), 2, 1)), *parts], axis=1)
    return _with_never(added.sum(axis=(-2, -1)), never)


def window_variances(
    given: Study, missed: FloatArray, *, window: int, every: int = 1
) -> FloatArray:
    """Add up what is missed over windows of ranks.

    Parameters
    ----------
    given, missed
        As for `list_variances`.
    window, every : int
        As for `windows.window_estimates`.

    Returns
    -------
    array of float, shape (measures, windows, looks)

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.estimates.study import study
    >>> ranks = pl.DataFrame({"measure": "x", "id": ["a", "b"], "rank": [1, 2]})
    >>> given = study(ranks, pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]}))
    >>> window_variances(given, np.array([[3.0, 1.0]]), window=1).tolist()
    [[[3.0], [1.0]]]
    """
    start = np.arange(1, len(given.ids) - window + 2, every)
    finite, never = _finite(missed)
    sums = [span_sums(ranks, start, window, finite, _one_cell(given)) for ranks in given.ranks]
    return _with_never(np.stack(sums, axis=1)[..., 0], never)


def shared_levels(
    shares: FloatArray, variances: FloatArray, *, alpha: float, spending: str
) -> FloatArray:
    """Return the levels of `spent_levels`, of many questions with fewer plans.

    Beyond 200 different ones the variance of each look, as a share of that of the look before, is
    rounded down to half a per cent: estimates of two looks that are less alike have lower levels.

    Parameters
    ----------
    shares, alpha, spending
        As for `spent_levels`.
    variances : array of float, shape (..., looks)
        As `list_variances`, `pair_variances` or `window_variances` give them.

    Returns
    -------
    array of float, shape (..., looks)
        NaN where a look is exact, or tells nothing.

    Examples
    --------
    >>> shared_levels(
    ...     np.array([0.5, 1]), np.array([[2.0, 1.0]]), alpha=0.05, spending="pocock"
    ... ).round(4).tolist()
    [[0.031, 0.0277]]
    """
    return spent_levels(shares, grouped(variances), alpha=alpha, spending=spending)


def grouped(variances: FloatArray) -> FloatArray:
    """Return variances of which no more than a few hundred differ; see `shared_levels`.

    Examples
    --------
    >>> grouped(np.array([[2.0, 1.0]])).tolist()
    [[2.0, 1.0]]
    """
    rows = variances.reshape(-1, variances.shape[-1])
    first = np.where(rows[:, :1] > 0, rows[:, :1], 1.0)
    some = np.where(np.isfinite(first), first, 1.0)
    if len(np.unique(np.round(rows / some, 10), axis=0)) <= _MANY:
        return variances
    found = [_anew(rows[:, 0])]
    for before, after in zip(rows.T[:-1], rows.T[1:], strict=True):
        usable = np.isfinite(before) & (before > 0) & (after > 0)
        ratio = np.divide(after, before, out=np.ones_like(after), where=usable)
        step = np.maximum(np.floor(ratio * _GRID + 1e-6), 1.0) / _GRID
        found.append(np.where(usable, found[-1] * step, _anew(after)))
    return np.stack(found, axis=1).reshape(variances.shape)


def _anew(variance: FloatArray) -> FloatArray:
    """Return 1 where a look is the first to tell anything, 0 where it tells all."""
    return np.where(np.isfinite(variance), np.where(variance > 0, 1.0, 0.0), np.inf)


def _finite(missed: FloatArray) -> tuple[FloatArray, BoolArray]:
    never = np.logical_not(np.isfinite(missed).all(axis=1))
    return np.where(np.isfinite(missed), missed, 0.0), never


def _with_never(added: FloatArray, never: BoolArray) -> FloatArray:
    """Put the looks last; infinite where a look draws nobody."""
    return np.where(never, np.inf, np.moveaxis(added, 0, -1))


def _one_cell(given: Study) -> IntArray:
    return np.zeros(len(given.ids), dtype=np.int64)
