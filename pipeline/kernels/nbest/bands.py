"""Simultaneous confidence bands for n-best precision from a simple sample, and crossings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from pipeline.kernels.statistics.intervals import interval_columns
from pipeline.kernels.statistics.simultaneous_band import Curve, band_factor, band_level
from schemas import BandThresholds

# Threshold crossings of simultaneous bands.

_LIST = ("category", "measure")


def crossings(
    bands: pl.DataFrame, *, thresholds: Sequence[float], confidence: float
) -> pl.DataFrame:
    """Return the ranges of n above and below each threshold, by simultaneous bands.

    Precision is at least the threshold as long as the lower limit has reached it from the first
    n on, and below it where the upper limit has stayed under it to the last n. As the band
    holds at all n at once, all such sentences about a measure hold together.

    Parameters
    ----------
    bands : pl.DataFrame
        Table `SimultaneousBands`.
    thresholds : sequence of float
        Required precisions, in (0, 1).
    confidence : float
        Of the band, in (0, 1).

    Returns
    -------
    pl.DataFrame
        Table `BandThresholds`, sorted. n is for the band what it is in the table `Thresholds` for
        limits that hold at each n by itself.

    Examples
    --------
    >>> bands = pl.DataFrame({
    ...     "category": "TP", "measure": "mi", "n": [10, 20, 30, 40],
    ...     "lower_band": [0.5, 0.4, 0.2, 0.1], "upper_band": [0.9, 0.8, 0.5, 0.3],
    ... })
    >>> crossings(bands, thresholds=[0.4, 0.7], confidence=0.95).select(
    ...     "threshold", "n", "at_least_to", "below_from"
    ... ).rows()
    [(0.4, 30, 20, 40), (0.7, 10, None, 30)]
    """
    wanted = pl.DataFrame({"threshold": thresholds}, schema={"threshold": pl.Float64})
    every = bands.join(wanted, how="cross").sort(*_LIST, "threshold", "n")
    return (
        every.group_by(*_LIST, "threshold", maintain_order=True)
        .agg(first_n=pl.col("n").first(), last_n=pl.col("n").last(), **_crossing_sizes())
        .with_columns(confidence=pl.lit(confidence, pl.Float64))
        .select(*BandThresholds.columns())
        .sort(*BandThresholds.key())
    )


def _crossing_sizes() -> dict[str, pl.Expr]:
    """Return the sizes of one measure and threshold, ordered by n; null where there is none."""
    n, reached = pl.col("n"), pl.col("lower_band") >= pl.col("threshold")
    below = pl.col("upper_band") < pl.col("threshold")
    return {
        "n": n.filter((~reached).reverse().cum_min().reverse()).min(),
        "at_least_to": n.filter(reached.cum_min()).max(),
        "below_from": n.filter(below.reverse().cum_min().reverse()).min(),
    }


def simultaneous_bands(
    counts: pl.DataFrame,
    ranks: pl.DataFrame,
    judged: pl.DataFrame,
    *,
    method: str,
    confidence: float,
    replicates: int = 10_000,
    seed: str,
) -> pl.DataFrame:
    """Return simultaneous limits of each measure over all its list sizes.

    The interval of each n is taken at the level ``1 - alpha*``, ``alpha* = 2 (1 - Phi(c))``, c the
    factor of the sup-t band of that measure (`band_factor`). Every draw of a simple random sample
    has the same chance, so that it has the same weight; a candidate that was drawn m times
    counts as m draws.

    Parameters
    ----------
    counts : DataFrame
        What `nbest_counts` gives, or the list sizes of it for which the band is to hold.
    ranks : DataFrame
        Table `Ranks`: measure, id, rank.
    judged : DataFrame
        What `pipeline.kernels.nbest.precision.judged` gives; what is not judged does not count.
    method : str
        Interval method, a name in `intervals.INTERVALS`. With exact intervals the band errs on
        the safe side; with Wilson's it holds from some ten draws in a list on.
    confidence : float
        Joint confidence level of all limits of a measure, in (0, 1).
    replicates : int
        Simulations of the factor.
    seed : str
        Fixes them.

    Returns
    -------
    DataFrame
        Table `SimultaneousBands`, sorted: category, measure, n, lower_band and upper_band in
        [0, 1], and level, that of each interval. Another measure has a band of its own.

    References
    ----------
    Montiel Olea & Plagborg-Moller, Simultaneous Confidence Bands (2019).

    Examples
    --------
    >>> ids = [f"c{rank}" for rank in range(1, 101)]
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ids, "rank": range(1, 101)})
    >>> judged = pl.DataFrame({"category": "TP", "id": ids[::5], "tp": True, "multiplicity": 1})
    >>> counts = pl.DataFrame({"category": "TP", "measure": "mi", "n": [50, 100],
    ...     "n_sampled": [10, 20], "k_sampled": [10, 20]})
    >>> simultaneous_bands(counts, ranks, judged, method="clopper_pearson", confidence=0.95,
    ...     seed="s").select("n", pl.col("lower_band", "upper_band", "level").round(2)).rows()
    [(50, 0.66, 1.0, 0.97), (100, 0.81, 1.0, 0.97)]
    """
    parts = []
    for mine, curve, weights in _curves(counts, ranks, judged):
        factor = band_factor(
            [curve], weights, n=mine["n"].to_numpy(), confidence=confidence,
            replicates=replicates, seed=seed,
        )  # fmt: skip
        parts.append(_band_limits(mine, method, level=1.0 - band_level(factor)))
    columns = (*_LIST, "n", "lower_band", "upper_band", "level")
    whole = counts.head(0).with_columns(lower_band=0.0, upper_band=0.0, level=0.0)
    return pl.concat([whole.select(columns), *parts]).sort(*_LIST, "n")


def _curves(
    counts: pl.DataFrame, ranks: pl.DataFrame, judged: pl.DataFrame
) -> Iterator[tuple[pl.DataFrame, Curve, np.ndarray]]:
    """Yield the counts of each list, the ranks of its judged draws, and their weights."""
    seen = judged.drop_nulls("tp").select("category", "id", "multiplicity")
    placed = ranks.select("measure", "id", "rank").join(seen, on="id")
    drawn = placed.sort(*_LIST, "rank", "id").partition_by(_LIST, as_dict=True)
    for key, mine in counts.sort(*_LIST, "n").group_by(*_LIST, maintain_order=True):
        rows = drawn.get(key, placed.head(0))
        yield mine, Curve(rows["rank"].to_numpy()), np.sqrt(rows["multiplicity"].to_numpy())


def _band_limits(counts: pl.DataFrame, method: str, *, level: float) -> pl.DataFrame:
    limits = interval_columns(
        counts.select(*_LIST, "n", "n_sampled", "k_sampled"), k="k_sampled", n="n_sampled",
        population="n", method=method, confidence=level,
    )  # fmt: skip
    return limits.select(*_LIST, "n", lower_band="lower", upper_band="upper", level=pl.lit(level))
