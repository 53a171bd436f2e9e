"""Ways to draw a sample, as size measures: everybody alike, strata, a design."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.design.design import sizes_of_questions
from pipeline.kernels.design.estimands import estimands
from pipeline.kernels.design.sets import Sets

PLANS = ("simple", "stratified", "designed", "assisted")
"""A simple sample; strata by n-best lists; a designed sample; the same with predictions in the
estimates."""
_NOTHING_KNOWN = 0.5


def size_measures(
    sets: Sets, weights: FloatArray, *, floor: float, baseline_width: float
) -> dict[str, FloatArray]:
    """Return who is drawn under each plan: everybody's chance but for a factor.

    The designed sample is that of the stage without predictions. The strata are those of the best
    rank that a candidate has, with the cuts as boundaries. Their rates are Neyman's for the same
    weighted sum of variances: with x_i the size measure of the design,

    ``f_h = c sqrt(sum_h x_i^2 / N_h)``,

    so that the design is what the strata come to if there are as many as candidates.

    Parameters
    ----------
    sets : Sets
        The sets that the questions are about.
    weights : array of float, shape (questions,)
        As declared; 0 for what is not asked.
    floor, baseline_width : float
        As for `designed`.

    Returns
    -------
    dict of str to array of float, shape (candidates,)
        x of each of `PLANS`, from 0 on; only ratios count.

    References
    ----------
    Neyman, On the Two Different Aspects of the Representative Method (1934); Bethel, Sample
    Allocation in Multivariate Surveys (1989), for several questions.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.design.sets import question_sets
    >>> ranks = {"mi": np.arange(1, 5)}
    >>> sets = question_sets(pl.Series(list("abcd")), ranks, pairs=[], n=np.array([1, 3]))
    >>> found = size_measures(sets, np.array([1.0, 1.0, 0.0]), floor=0.0, baseline_width=1.25)
    >>> found["simple"].tolist(), strata_of(sets).tolist()
    ([1.0, 1.0, 1.0, 1.0], [0, 1, 1, 2])
    >>> bool((found["stratified"] == found["designed"]).all())
    True
    """
    count = len(sets.ids)
    asked = estimands(sets, p=np.full(count, _NOTHING_KNOWN), judged=np.zeros(count, dtype=bool))
    x, _, _ = sizes_of_questions(asked, weights, floor=floor, baseline_width=baseline_width)
    stratum = strata_of(sets)
    squares = np.bincount(stratum, weights=x * x)[stratum] / np.bincount(stratum)[stratum]
    return {
        "simple": np.ones(count),
        "stratified": np.sqrt(squares),
        "designed": x,
        "assisted": x,
    }


def strata_of(sets: Sets) -> IntArray:
    """Return the place of the smallest list, under any measure, that holds each candidate.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.design.sets import question_sets
    >>> ranks = {"dice": np.array([1, 2, 3]), "mi": np.array([3, 2, 1])}
    >>> sets = question_sets(pl.Series(["a", "b", "c"]), ranks, pairs=[], n=np.array([1]))
    >>> strata_of(sets).tolist()
    [0, 1, 0]
    """
    return np.asarray(sets.first.min(axis=0, initial=len(sets.n)))
