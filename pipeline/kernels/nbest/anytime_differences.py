"""Differences of two measures with limits that hold at every size of a simple sample."""

from __future__ import annotations

import numpy as np
import polars as pl

from pipeline.kernels.nbest.pair_differences import Asked, with_adjusted
from pipeline.kernels.statistics.anytime import anytime_difference, anytime_margin_p_values
from pipeline.kernels.statistics.confidence_sequence import confidence_sequence


def anytime_differences(tests: pl.DataFrame, *, asked: Asked) -> pl.DataFrame:
    """Give each difference limits that hold however often one looks, and test it likewise.

    ``|D1|/n [L1 - U2, U1 - L2]``, by the confidence sequences of D1 and D2. They are sets of
    candidates, so this is about these candidates and no population beyond them.

    Parameters
    ----------
    tests : pl.DataFrame
        Table `Comparison`, the declared cuts alone, with the p-values of
        `anytime.anytime_p_values`.
    asked : Asked
        Levels and the margin; there is no test of equivalence. Alpha of the limits is divided by
        the rows of a category: they exclude 0 where Bonferroni's method makes a difference
        significant.

    Returns
    -------
    pl.DataFrame
        Table `MeasureDifferences`, sorted; population "finite".

    Raises
    ------
    ValueError
        If the correction is unknown, counts are impossible, or the margin is negative.

    References
    ----------
    Waudby-Smith & Ramdas, Confidence Sequences for Sampling without Replacement (2020).

    Examples
    --------
    >>> tests = pl.DataFrame({
    ...     "category": "TP", "measure_1": "dice", "measure_2": "mi", "n": 100, "size": 40,
    ...     "n_1": [20], "k_1": 18, "n_2": 20, "k_2": 2, "difference": 0.32, "p_value": 1.1e-05,
    ... })
    >>> asked = Asked(confidence=0.95, alpha=0.05, margin=0, equivalence=None, correction="holm")
    >>> anytime_differences(tests, asked=asked).select("lower", "upper", "p_adjusted").rows()
    [(0.14, 0.36, 1.1e-05)]
    """
    counts = [tests[name].to_numpy() for name in ("k_1", "n_1", "k_2", "n_2")]
    size, n = tests["size"].to_numpy(), tests["n"].to_numpy()
    rows = tests.select(pl.len().over("category")).to_series().to_numpy()
    level = 1.0 - (1.0 - asked.confidence) / rows
    limits = anytime_difference(*counts, populations=(size, size), confidence=level)
    value = tests["difference"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    # no nearer than the estimate, which need not be a whole number of candidates
    lower = np.fmin(limits[0] * size / n, value)
    upper = np.fmax(limits[1] * size / n, value)
    beyond = anytime_margin_p_values(*counts, size=size, list_size=n, margin=asked.margin)
    found = tests.with_columns(
        pl.Series("lower", lower), pl.Series("upper", upper), pl.Series("p_margin", beyond),
        pl.Series("confidence", level), p_equivalent=pl.lit(None, pl.Float64),
        population=pl.lit("finite"), interval=pl.lit(confidence_sequence.__name__),
    )  # fmt: skip
    return with_adjusted(found, asked)
