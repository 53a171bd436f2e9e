"""Simultaneous bands from a sample of any design, and expected variances at interim analyses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.statistics.sequential import spent_levels
from pipeline.kernels.statistics.simultaneous_band import (
    Curve,
    band_factor,
    band_level,
    working_weights,
)
from pipeline.kernels.survey.design import inclusion, inverse_odds
from pipeline.kernels.survey.study import Study, blocks, difference_sums, list_sums
from pipeline.kernels.survey.tables import (
    checked_cuts,
    chosen_measures,
    list_estimates,
    pair_estimates,
    span_sums,
)

LISTS = {
    "measure": pl.String, "n": pl.Int64, "lower_band": pl.Float64, "upper_band": pl.Float64,
    "level": pl.Float64,
}  # fmt: skip
PAIRS = {
    "measure_1": pl.String, "measure_2": pl.String, "n": pl.Int64, "difference": pl.Float64,
    "lower_band": pl.Float64, "upper_band": pl.Float64, "level": pl.Float64,
}  # fmt: skip


def list_bands(
    study: Study,
    *,
    at: Sequence[int],
    confidence: float = 0.95,
    replicates: int = 10_000,
    seed: str,
) -> pl.DataFrame:
    """Return limits for the precision of each measure that hold at all its list sizes at once.

    The interval of each n is taken at the level ``1 - alpha*``, ``alpha* = 2 (1 - Phi(c))``, c the
    factor of the sup-t band of that measure (`band_factor`), from the chances of the draws.

    Parameters
    ----------
    study : Study
        Ranks and sample, as `study.build_study` puts them together.
    at : sequence of int
        The declared list sizes, a range or cuts.
    confidence : float
        Level at which all limits of a measure hold together, in (0, 1).
    replicates : int
        Number of simulations of each factor.
    seed : str
        Fixes them.

    Returns
    -------
    pl.DataFrame
        measure, n, lower_band and upper_band in [0, 1], level (of each interval); sorted. Another
        measure has a band of its own.

    Raises
    ------
    ValueError
        As `tables.list_estimates` and `band_factor` do.

    References
    ----------
    Montiel Olea & Plagborg-Moller, Simultaneous Confidence Bands (2019).

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ids = [f"c{rank:03}" for rank in range(1, 101)]
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ids, "rank": range(1, 101)})
    >>> draws = pl.DataFrame({"id": ids[::5], "tp": True, "pi": 0.2})
    >>> list_bands(build_study(ranks, draws), at=[50, 100], seed="s").select(
    ...     "n", pl.col("upper_band", "level").round(2)
    ... ).rows()
    [(50, 1.0, 0.97), (100, 1.0, 0.97)]
    """
    sizes = np.unique(np.asarray(at, dtype=np.int64))
    curves = [Curve(ranks[study.places]) for ranks in study.ranks]
    levels = _levels(study, curves, sizes, confidence=confidence, replicates=replicates, seed=seed)
    table = list_estimates(study, at=list(map(int, sizes)), confidence=levels[:, None])
    frame = pl.DataFrame({"measure": study.measures, "level": levels})
    return _band_table(table.join(frame, on="measure", how="left", maintain_order="left"), LISTS)


def pair_bands(
    study: Study,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
    confidence: float = 0.95,
    replicates: int = 10_000,
    seed: str,
) -> pl.DataFrame:
    """Return limits for the difference of two measures that hold at all list sizes at once.

    Where they exclude 0 over a range of n, one measure is better all over that range, at the
    confidence given.

    Parameters
    ----------
    study, at, confidence, replicates, seed
        As for `list_bands`.
    pairs : sequence of (str, str)
        The measures to compare; another pair has a band of its own.

    Returns
    -------
    pl.DataFrame
        measure_1, measure_2, n, difference (null where unknown), lower_band and upper_band in
        [-1, 1], level; sorted.

    Raises
    ------
    ValueError
        As `tables.pair_estimates` and `band_factor` do.

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ids = [f"c{rank:03}" for rank in range(1, 101)]
    >>> ranks = pl.DataFrame({
    ...     "measure": ["dice"] * 100 + ["mi"] * 100, "id": ids + ids[::-1],
    ...     "rank": [*range(1, 101)] * 2,
    ... })
    >>> draws = pl.DataFrame({"id": ids[::5], "tp": [True] * 10 + [False] * 10, "pi": 0.2})
    >>> bands = pair_bands(build_study(ranks, draws), pairs=[("dice", "mi")], at=[40, 50], seed="s")
    >>> bands.select("n", "difference", pl.col("lower_band").round(2)).rows()
    [(40, 1.0, 0.53), (50, 1.0, 0.61)]
    """
    sizes = np.unique(np.asarray(at, dtype=np.int64))
    place = {name: number for number, name in enumerate(study.measures.to_list())}
    drawn = study.ranks[:, study.places]
    curves = [Curve(drawn[place[one]], drawn[place[other]]) for one, other in pairs]
    levels = _levels(study, curves, sizes, confidence=confidence, replicates=replicates, seed=seed)
    table = pair_estimates(study, pairs=pairs, at=list(map(int, sizes)), confidence=levels)
    frame = pl.DataFrame(
        {"measure_1": [a for a, _ in pairs], "measure_2": [b for _, b in pairs], "level": levels},
        schema={name: PAIRS[name] for name in ("measure_1", "measure_2", "level")},
    )
    keys = ["measure_1", "measure_2"]
    return _band_table(table.join(frame, on=keys, how="left", maintain_order="left"), PAIRS)


def _levels(
    study: Study,
    curves: Sequence[Curve],
    sizes: IntArray,
    *,
    confidence: float,
    replicates: int,
    seed: str,
) -> FloatArray:
    """Return the level of each interval of each curve."""
    weights = working_weights(study.chances)
    factors = [
        band_factor(
            [curve], weights, n=sizes, confidence=confidence, replicates=replicates, seed=seed
        )
        for curve in curves
    ]
    return np.array([1.0 - band_level(factor) for factor in factors], dtype=np.float64)


def _band_table(table: pl.DataFrame, schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    return table.rename({"lower": "lower_band", "upper": "upper_band"}).select(*schema)


# Equal inclusion probabilities within difference sets.

_ALIKE = 1e-10  # relative variance of chances that differ by rounding alone


def equal_chances(
    study: Study, chances: FloatArray, *, pairs: Sequence[tuple[str, str]], at: Sequence[int]
) -> pl.DataFrame:
    """Tell where all members of D1 have one chance, and all members of D2 one.

    There a permutation of the labels, Fisher's test, needs no weights: within each set the draws
    are a simple random sample.

    Parameters
    ----------
    study : Study
        Ranks and sample.
    chances : array of float, shape (candidates,)
        Of all candidates, in the order of `Study.ids`; any numbers that distinguish chances.
    pairs : sequence of (str, str)
        The measures that are compared.
    at : sequence of int
        List sizes in 1..S.

    Returns
    -------
    pl.DataFrame
        measure_1, measure_2, n, equal; sorted. True for equal lists.

    Raises
    ------
    ValueError
        If a measure is not ranked, or a list size is outside 1..S.

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({
    ...     "measure": ["dice"] * 4 + ["mi"] * 4, "id": list("abcddcba"), "rank": [1, 2, 3, 4] * 2,
    ... })
    >>> draws = pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]})
    >>> pi = np.array([0.5, 0.5, 0.25, 0.1])
    >>> study = build_study(ranks, draws)
    >>> equal_chances(study, pi, pairs=[("dice", "mi")], at=[1, 2])["equal"].to_list()
    [True, False]
    """
    n = checked_cuts(study, at)
    measures, rows = chosen_measures(study, pairs)
    first = np.searchsorted(n, study.ranks[measures], side="left")
    columns = np.stack([np.ones_like(chances), chances, chances**2])
    everybody = np.zeros(len(chances), dtype=np.int64)
    sums = difference_sums(first, columns, everybody, pairs=rows, cuts=range(len(n)), cells=1)
    count, total, squares = sums[..., 0]
    spread = count * squares - total**2
    equal = (spread <= _ALIKE * np.maximum(total**2, 1e-300)).all(axis=-1)
    table = {
        "measure_1": [one for _ in n for one, _ in pairs],
        "measure_2": [two for _ in n for _, two in pairs],
        "n": np.repeat(n, len(pairs)),
        "equal": equal.ravel(),
    }
    schema = {"measure_1": pl.String, "measure_2": pl.String, "n": pl.Int64, "equal": pl.Boolean}
    return pl.DataFrame(table, schema=schema).sort("measure_1", "measure_2", "n")


# Expected variances at interim analyses: they depend on the design, not on judgements.

_MANY = 200  # plans that are made one by one; more of them share
_GRID = 200.0  # steps between a variance and that of the look before: half a per cent each


def missed_at_interims(
    x: FloatArray, known: BoolArray, v: FloatArray, *, labels: Sequence[int]
) -> FloatArray:
    """Return each candidate's share in a variance at each look, ``v_i (1 - pi_i) / pi_i``.

    Parameters
    ----------
    x : array of float, shape (candidates,)
        Size measures; 0 for those that are never drawn.
    known : array of bool, shape (candidates,)
        Those judged before the first look.
    v : array of float, shape (candidates,)
        Expected squared residuals; only their ratios count.
    labels : sequence of int
        Labels at each look, those judged before included.

    Returns
    -------
    array of float, shape (looks, candidates)
        From 0, where the candidate is certain; all infinite where a look has only what was judged
        before, or less, and 0 for what no look draws: such questions are refused elsewhere.

    Examples
    --------
    >>> nobody = np.array([False, False])
    >>> missed_at_interims(np.array([1.0, 3.0]), nobody, np.ones(2), labels=[1, 2]).tolist()
    [[3.0, 0.3333333333333333], [0.0, 0.0]]
    """
    before = int(known.sum())
    open_ = np.where(known, 0.0, x)
    rows = [
        v * inverse_odds(inclusion(open_, size=size - before)) * ~known
        if size > before
        else np.full(len(x), np.inf)
        for size in labels
    ]
    return np.stack(rows)


def list_variances(study: Study, missed: FloatArray, *, at: Sequence[int]) -> FloatArray:
    """Add up `missed` over n-best lists.

    Parameters
    ----------
    study : Study
        Ranks and sample.
    missed : array of float, shape (looks, candidates)
        As `missed_at_interims` gives it.
    at : sequence of int
        List sizes in 1..S.

    Returns
    -------
    array of float, shape (measures, lists, looks)
        Variances up to a factor per list, sizes ascending.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ["a", "b"], "rank": [1, 2]})
    >>> study = build_study(ranks, pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]}))
    >>> list_variances(study, np.array([[3.0, 1.0], [0.0, 0.0]]), at=[1, 2]).tolist()
    [[[3.0, 0.0], [4.0, 0.0]]]
    """
    n = checked_cuts(study, at)
    first = np.searchsorted(n, study.ranks, side="left")
    finite, never = _split_infinite(missed)
    added = list_sums(first, finite, _one_cell(study), lists=len(n), cells=1)
    return _restore_infinite(added[..., 0], never)


def pair_variances(
    study: Study, missed: FloatArray, *, pairs: Sequence[tuple[str, str]], at: Sequence[int]
) -> FloatArray:
    """Add up `missed` over both difference sets of two lists.

    Parameters
    ----------
    study, missed, at
        As for `list_variances`.
    pairs : sequence of (str, str)
        The measures that are compared.

    Returns
    -------
    array of float, shape (lists, pairs, looks)
        Sizes ascending, pairs as given; 0 for equal lists.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame(
    ...     {"measure": ["x", "x", "y", "y"], "id": list("abba"), "rank": [1, 2, 1, 2]}
    ... )
    >>> study = build_study(ranks, pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]}))
    >>> pair_variances(study, np.array([[3.0, 1.0]]), pairs=[("x", "y")], at=[1, 2]).tolist()
    [[[4.0]], [[0.0]]]
    """
    n = checked_cuts(study, at)
    measures, rows = chosen_measures(study, pairs)
    first = np.searchsorted(n, study.ranks[measures], side="left")
    finite, never = _split_infinite(missed)
    parts = [
        difference_sums(first, finite, _one_cell(study), pairs=rows, cuts=cuts, cells=1)
        for cuts in blocks(len(n), numbers=2 * max(1, len(pairs)) * len(missed))
    ]
    added = np.concatenate([np.zeros((len(missed), 0, len(rows), 2, 1)), *parts], axis=1)
    return _restore_infinite(added.sum(axis=(-2, -1)), never)


def window_variances(
    study: Study, missed: FloatArray, *, window: int, every: int = 1
) -> FloatArray:
    """Add up `missed` over windows of ranks.

    Parameters
    ----------
    study, missed
        As for `list_variances`.
    window, every : int
        As for `tables.window_estimates`.

    Returns
    -------
    array of float, shape (measures, windows, looks)

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({"measure": "x", "id": ["a", "b"], "rank": [1, 2]})
    >>> study = build_study(ranks, pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]}))
    >>> window_variances(study, np.array([[3.0, 1.0]]), window=1).tolist()
    [[[3.0], [1.0]]]
    """
    start = np.arange(1, len(study.ids) - window + 2, every)
    finite, never = _split_infinite(missed)
    sums = [span_sums(ranks, start, window, finite, _one_cell(study)) for ranks in study.ranks]
    return _restore_infinite(np.stack(sums, axis=1)[..., 0], never)


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
        NaN where a look is exact, or adds nothing.

    Examples
    --------
    >>> shared_levels(
    ...     np.array([0.5, 1]), np.array([[2.0, 1.0]]), alpha=0.05, spending="pocock"
    ... ).round(4).tolist()
    [[0.031, 0.0277]]
    """
    return spent_levels(shares, group_variances(variances), alpha=alpha, spending=spending)


def group_variances(variances: FloatArray) -> FloatArray:
    """Return variances of which no more than a few hundred differ; see `shared_levels`.

    Examples
    --------
    >>> group_variances(np.array([[2.0, 1.0]])).tolist()
    [[2.0, 1.0]]
    """
    rows = variances.reshape(-1, variances.shape[-1])
    first = np.where(rows[:, :1] > 0, rows[:, :1], 1.0)
    some = np.where(np.isfinite(first), first, 1.0)
    if len(np.unique(np.round(rows / some, 10), axis=0)) <= _MANY:
        return variances
    columns = [_first_variance(rows[:, 0])]
    for before, after in zip(rows.T[:-1], rows.T[1:], strict=True):
        usable = np.isfinite(before) & (before > 0) & (after > 0)
        ratio = np.divide(after, before, out=np.ones_like(after), where=usable)
        step = np.maximum(np.floor(ratio * _GRID + 1e-6), 1.0) / _GRID
        columns.append(np.where(usable, columns[-1] * step, _first_variance(after)))
    return np.stack(columns, axis=1).reshape(variances.shape)


def _first_variance(variance: FloatArray) -> FloatArray:
    """Return 1 where a look is the first with information, 0 where it has all."""
    return np.where(np.isfinite(variance), np.where(variance > 0, 1.0, 0.0), np.inf)


def _split_infinite(missed: FloatArray) -> tuple[FloatArray, BoolArray]:
    never = np.logical_not(np.isfinite(missed).all(axis=1))
    return np.where(np.isfinite(missed), missed, 0.0), never


def _restore_infinite(added: FloatArray, never: BoolArray) -> FloatArray:
    """Put the looks last; infinite where a look draws nobody."""
    return np.where(never, np.inf, np.moveaxis(added, 0, -1))


def _one_cell(study: Study) -> IntArray:
    return np.zeros(len(study.ids), dtype=np.int64)
