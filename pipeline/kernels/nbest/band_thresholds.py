"""Where precision is at least a threshold, and where below, by limits that hold all at once."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from schemas import BandThresholds

_LIST = ("category", "measure")


def crossings(
    bands: pl.DataFrame, *, thresholds: Sequence[float], confidence: float
) -> pl.DataFrame:
    """Return for each measure and threshold what its simultaneous band says of all n.

    Precision is at least the threshold as long as the lower limit has reached it from the first
    n on, and below it where the upper limit has stayed under it to the last n. As the band
    holds at all n at once, all such sentences about a measure hold together.

    Parameters
    ----------
    bands : pl.DataFrame
        Table `SimultaneousBands`.
    thresholds : sequence of float
        Precisions that are wanted, in (0, 1).
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
        .agg(first_n=pl.col("n").first(), last_n=pl.col("n").last(), **_sizes())
        .with_columns(confidence=pl.lit(confidence, pl.Float64))
        .select(*BandThresholds.columns())
        .sort(*BandThresholds.key())
    )


def _sizes() -> dict[str, pl.Expr]:
    """Return the sizes of one measure and threshold, ordered by n; null where there is none."""
    n, reached = pl.col("n"), pl.col("lower_band") >= pl.col("threshold")
    below = pl.col("upper_band") < pl.col("threshold")
    return {
        "n": n.filter((~reached).reverse().cum_min().reverse()).min(),
        "at_least_to": n.filter(reached.cum_min()).max(),
        "below_from": n.filter(below.reverse().cum_min().reverse()).min(),
    }
