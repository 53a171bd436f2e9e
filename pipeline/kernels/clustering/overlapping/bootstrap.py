"""Bootstrap intervals of measures for overlapping clusterings, over items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from pipeline.kernels.clustering.measure import OVERLAPPING_MEASURES
from pipeline.kernels.clustering.overlapping.measures import overlapping_scores
from pipeline.kernels.numeric import check_bootstrap, summary
from pipeline.kernels.sampling import seeded_generator


def overlapping_intervals(
    gold: pl.DataFrame,
    induced: pl.DataFrame,
    *,
    measures: Sequence[str],
    confidence: float,
    replicates: int,
    seed: str,
) -> pl.DataFrame:
    """Return measures of overlapping clusters with percentile intervals over items.

    Items with a class are drawn with replacement; all measures use the same samples. Copies of an
    item share all classes and clusters, so measures of pairs are slightly too high in samples of
    few items, and the interval may exclude the value.

    Parameters
    ----------
    gold, induced, measures, seed
        As for `overlapping_scores`.
    confidence : float
        Confidence level in (0, 1).
    replicates : int
        Number of bootstrap samples, from 1.

    Returns
    -------
    pl.DataFrame
        Columns measure, value, lower, upper, standard_error, undefined (samples without a value,
        omitted), in the given order. Limits are null if no sample has a value.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1), or there are no replicates.
    DataError
        As for `overlapping_scores`.

    References
    ----------
    Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

    Examples
    --------
    >>> gold = pl.DataFrame({"item": list("abcd"), "gold": ["N", "N", "V", "V"]})
    >>> induced = pl.DataFrame({"item": list("abcd"), "cluster": ["1", "1", "1", "2"]})
    >>> options = {"measures": ["bcubed"], "confidence": 0.95, "replicates": 50, "seed": "s"}
    >>> found = overlapping_intervals(gold, induced, **options)
    >>> bool((found["lower"] < found["value"]).item())
    True
    """
    check_bootstrap(confidence=confidence, replicates=replicates)
    names = OVERLAPPING_MEASURES.resolve(measures)
    whole = overlapping_scores(gold, induced, measures=names, seed=seed)
    drawn = np.array([
        overlapping_scores(*tables, measures=names, seed=seed)["value"].to_numpy()
        for tables in _samples(gold, induced, replicates, seed)
    ])  # fmt: skip
    found = [summary(values.astype(np.float64), confidence=confidence) for values in drawn.T]
    limits = pl.DataFrame(found, schema=_LIMITS, orient="row").fill_nan(None)
    return whole.select("measure", "value").hstack(limits)


_LIMITS = {
    **dict.fromkeys(("lower", "upper", "standard_error"), pl.Float64),
    "undefined": pl.Int64,
}


def _samples(
    gold: pl.DataFrame, induced: pl.DataFrame, replicates: int, seed: str
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield the memberships of each sample with numbered items; items without a class stay."""
    bits = seeded_generator(seed=seed, purpose="items")
    items = gold["item"].unique().sort()
    others = induced.join(items.to_frame(), on="item", how="anti")
    for _ in range(replicates):
        draw = bits.integers(max(1, len(items)), size=len(items))
        copies = items.gather(draw).to_frame().with_row_index("copy")
        name = pl.format("{} {}", "item", "copy")
        one, two = (
            copies.join(table, on="item").with_columns(item=name).drop("copy")
            for table in (gold, induced)
        )
        yield one, pl.concat([two.select(others.columns), others])
