"""Limits that hold at all list sizes at once, from a sample of any design."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.estimates.lists import list_estimates
from pipeline.kernels.estimates.pairs import pair_estimates
from pipeline.kernels.estimates.study import Study
from pipeline.kernels.statistics.simultaneous_band import (
    Curve,
    band_factor,
    band_level,
    working_weights,
)

LISTS = {
    "measure": pl.String,
    "n": pl.Int64,
    "lower_band": pl.Float64,
    "upper_band": pl.Float64,
    "level": pl.Float64,
}
PAIRS = {
    "measure_1": pl.String,
    "measure_2": pl.String,
    "n": pl.Int64,
    "difference": pl.Float64,
    "lower_band": pl.Float64,
    "upper_band": pl.Float64,
    "level": pl.Float64,
}


def list_bands(
    given: Study,
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
    given : Study
        Ranks and sample, as `study.study` puts them together.
    at : sequence of int
        The declared list sizes, a range or cuts.
    confidence : float
        Level at which all limits of a measure hold together, in (0, 1).
    replicates : int
        Simulations of each factor.
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
        As `lists.list_estimates` and `band_factor` do.

    References
    ----------
    Montiel Olea & Plagborg-Moller, Simultaneous Confidence Bands (2019).

    Examples
    --------
    >>> from pipeline.kernels.estimates.study import study
    >>> ids = [f"c{rank:03}" for rank in range(1, 101)]
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ids, "rank": range(1, 101)})
    >>> draws = pl.DataFrame({"id": ids[::5], "tp": True, "pi": 0.2})
    >>> list_bands(study(ranks, draws), at=[50, 100], seed="s").select(
    ...     "n", pl.col("upper_band", "level").round(2)
    ... ).rows()
    [(50, 1.0, 0.97), (100, 1.0, 0.97)]
    """
    sizes = np.unique(np.asarray(at, dtype=np.int64))
    curves = [Curve(ranks[given.places]) for ranks in given.ranks]
    levels = _levels(given, curves, sizes, confidence=confidence, replicates=replicates, seed=seed)
    table = list_estimates(given, at=list(map(int, sizes)), confidence=levels[:, None])
    named = pl.DataFrame({"measure": given.measures, "level": levels})
    return _banded(table.join(named, on="measure", how="left", maintain_order="left"), LISTS)


def pair_bands(
    given: Study,
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
    given, at, confidence, replicates, seed
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
        As `pairs.pair_estimates` and `band_factor` do.

    Examples
    --------
    >>> from pipeline.kernels.estimates.study import study
    >>> ids = [f"c{rank:03}" for rank in range(1, 101)]
    >>> ranks = pl.DataFrame({
    ...     "measure": ["dice"] * 100 + ["mi"] * 100, "id": ids + ids[::-1],
    ...     "rank": [*range(1, 101)] * 2,
    ... })
    >>> draws = pl.DataFrame({"id": ids[::5], "tp": [True] * 10 + [False] * 10, "pi": 0.2})
    >>> found = pair_bands(study(ranks, draws), pairs=[("dice", "mi")], at=[40, 50], seed="s")
    >>> found.select("n", "difference", pl.col("lower_band").round(2)).rows()
    [(40, 1.0, 0.53), (50, 1.0, 0.61)]
    """
    sizes = np.unique(np.asarray(at, dtype=np.int64))
    place = {name: number for number, name in enumerate(given.measures.to_list())}
    drawn = given.ranks[:, given.places]
    curves = [Curve(drawn[place[one]], drawn[place[other]]) for one, other in pairs]
    levels = _levels(given, curves, sizes, confidence=confidence, replicates=replicates, seed=seed)
    table = pair_estimates(given, pairs=pairs, at=list(map(int, sizes)), confidence=levels)
    named = pl.DataFrame(
        {"measure_1": [a for a, _ in pairs], "measure_2": [b for _, b in pairs], "level": levels},
        schema={name: PAIRS[name] for name in ("measure_1", "measure_2", "level")},
    )
    keys = ["measure_1", "measure_2"]
    return _banded(table.join(named, on=keys, how="left", maintain_order="left"), PAIRS)


def _levels(
    given: Study,
    curves: Sequence[Curve],
    sizes: IntArray,
    *,
    confidence: float,
    replicates: int,
    seed: str,
) -> FloatArray:
    """Return the level of each interval of each curve."""
    weights = working_weights(given.chances)
    factors = [
        band_factor(
            [curve], weights, n=sizes, confidence=confidence, replicates=replicates, seed=seed
        )
        for curve in curves
    ]
    return np.array([1.0 - band_level(factor) for factor in factors], dtype=np.float64)


def _banded(table: pl.DataFrame, schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    return table.rename({"lower": "lower_band", "upper": "upper_band"}).select(*schema)
