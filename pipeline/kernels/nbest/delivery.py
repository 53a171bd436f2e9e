"""Delivery of a combination's list: judged true positives, then the most probable candidates."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from pipeline.kernels.statistics.intervals import INTERVALS


def list_by_refit(refit: pl.DataFrame, n: int) -> pl.DataFrame:
    """Return the n candidates to deliver: judged true positives, then unjudged ones, by rank.

    Parameters
    ----------
    refit : pl.DataFrame
        id, probability, refit_rank and tp (null = not judged) of all candidates.
    n : int
        Size of the list. Judged false positives are not listed, so it may be shorter.

    Returns
    -------
    pl.DataFrame
        rank (place in the list, from 1), id, score (the probability), tp.

    Examples
    --------
    >>> refit = pl.DataFrame({
    ...     "id": ["a", "b", "c", "d"], "probability": [0.9, 0.8, 0.7, 0.1],
    ...     "refit_rank": [1, 2, 3, 4], "tp": [None, False, True, True],
    ... })
    >>> list_by_refit(refit, 3).rows()
    [(1, 'c', 0.7, True), (2, 'd', 0.1, True), (3, 'a', 0.9, None)]
    """
    unjudged = pl.col("tp").is_null()
    wanted = refit.filter(unjudged | pl.col("tp")).sort(unjudged, "refit_rank").head(n)
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return wanted.select(rank.alias("rank"), "id", pl.col("probability").alias("score"), "tp")


class Evidence(NamedTuple):
    """The judged candidates of the cross-fitted list that has as many unjudged candidates."""

    unjudged: int
    """Unjudged candidates."""
    depth: int
    """Size of the cross-fitted list with so many of them."""
    n_sampled: int
    """Judged draws in it, with multiplicity."""
    k_sampled: int
    """True positives among these."""
    n_distinct: int
    """Distinct judged draws in it."""
    k_others: int
    """True positives in it that were judged outside the sample."""


def evidence(crossfitted: pl.DataFrame, unjudged: int) -> Evidence:
    """Count the judged candidates down to the last of so many unjudged ones.

    Parameters
    ----------
    crossfitted : pl.DataFrame
        All candidates in the order of the cross-fitted ranking: multiplicity (0 = no judged draw)
        and tp, its judgement or one from elsewhere (null = none).
    unjudged : int
        Number of unjudged candidates, at least 1.

    Examples
    --------
    >>> crossfitted = pl.DataFrame({
    ...     "multiplicity": [1, 0, 0, 2, 0, 1], "tp": [True, None, True, False, None, True],
    ... })
    >>> evidence(crossfitted, 2)
    Evidence(unjudged=2, depth=5, n_sampled=3, k_sampled=1, n_distinct=2, k_others=1)
    """
    before = crossfitted["tp"].is_null().cum_sum()
    depth = int((before < unjudged).sum()) + 1
    top = crossfitted.head(depth)
    drawn = pl.col("multiplicity") > 0
    row = top.select(
        n=pl.col("multiplicity").sum(),
        k=pl.col("multiplicity").filter("tp").sum(),
        distinct=drawn.sum(),
        others=(pl.col("tp").fill_null(value=False) & ~drawn).sum(),
    ).row(0)
    return Evidence(unjudged, depth, *row)


def unjudged_precision(found: Evidence, *, confidence: float) -> tuple[float | None, float, float]:
    """Estimate the precision of the unjudged candidates, with Clopper-Pearson limits.

    The judged draws of a random sample are a random sample of the cross-fitted list, since no
    candidate is ranked by its own label. So their share of true positives k / n estimates that of
    the other ``depth - n_distinct`` candidates. Those that were judged outside the sample are known
    and subtracted: ``((depth - n_distinct) k / n - k_others) / unjudged``.

    Parameters
    ----------
    found : Evidence
        As from `evidence`.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    estimate, lower, upper : float
        In [0, 1]; the estimate is None without a judged draw.

    Examples
    --------
    >>> found = Evidence(90, 100, n_sampled=10, k_sampled=6, n_distinct=10, k_others=0)
    >>> [round(each, 3) for each in unjudged_precision(found, confidence=0.95)]
    [0.6, 0.262, 0.878]
    >>> unjudged_precision(found._replace(unjudged=60, k_others=27), confidence=0.95)[0]
    0.45
    """
    if not found.n_sampled:
        return None, 0.0, 1.0
    limits = INTERVALS.get("clopper_pearson")(
        [found.k_sampled], [found.n_sampled], confidence=confidence
    )
    share = found.k_sampled / found.n_sampled
    others = found.depth - found.n_distinct
    estimate, lower, upper = (
        min(1.0, max(0.0, (others * float(each) - found.k_others) / found.unjudged))
        for each in (share, limits[0][0], limits[1][0])
    )
    return estimate, lower, upper
