"""The L-measure of each sampled lemma and its contribution to L*."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.lexicon.matching import l_value, share

Weights: TypeAlias = Literal["gold", "published"]


def lemma_scores(
    found: pl.LazyFrame, *, weights: Weights = "gold", n: int | None = None
) -> pl.LazyFrame:
    """Return precision, recall, L and contribution of each sampled lemma.

    ``r = n_common / n_gold, p = n_common / n_match, L = 2 r p / (r + p)``;
    contribution ``(size / n) L``, and L* is the sum of the contributions.

    Parameters
    ----------
    found : LazyFrame
        The rows of `matches` for the sampled lemmas.
    weights : str
        "gold": size = n_gold, and n is the sum of the sizes. "published": size = n_match, the
        size of the best-matching cluster, and n is the sum of the sizes of the unions of the
        two form sets: this reproduces the paper's worked example.
    n : int, optional
        Takes the place of the sum.

    Returns
    -------
    LazyFrame
        The columns of `found`, and precision, recall, L, same_precision, same_recall, same_l
        (null where the lexicon lacks the lemma), size, base (what a lemma adds to n), weight
        (size / n, 0 where n is 0), contribution; in no order.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, section 4.

    Examples
    --------
    >>> missier = pl.LazyFrame({"n_gold": [10], "n_match": [7], "n_common": [7], "n_same": [7],
    ...     "n_same_common": [7]})
    >>> made = lemma_scores(missier, weights="published", n=5887).collect()
    >>> made["L"].item() == 14 / 17, round(made["contribution"].item(), 9)
    (True, 0.000979226)
    """
    size, base = sizes(weights)
    has = pl.col("n_same").is_not_null()
    scored = found.with_columns(
        precision=share("n_common", "n_match"),
        recall=share("n_common", "n_gold"),
        L=l_value("n_common", "n_gold", "n_match"),
        same_precision=pl.when(has).then(share("n_same_common", "n_same")),
        same_recall=pl.when(has).then(share("n_same_common", "n_gold")),
        same_l=pl.when(has).then(l_value("n_same_common", "n_gold", "n_same")),
        size=size, base=base,
    )  # fmt: skip
    whole = pl.col("base").sum() if n is None else pl.lit(n, pl.Int64)
    weight = pl.when(whole > 0).then(pl.col("size").cast(pl.Float64) / whole.cast(pl.Float64))
    weighted = scored.with_columns(weight=weight.otherwise(0.0))
    return weighted.with_columns(contribution=pl.col("weight") * pl.col("L"))


def sizes(weights: Weights) -> tuple[pl.Expr, pl.Expr]:
    """Return what the L of a lemma is weighted by, and what the lemma adds to n.

    Parameters
    ----------
    weights : str
        As for `lemma_scores`.
    """
    if weights == "gold":
        return pl.col("n_gold"), pl.col("n_gold")
    return pl.col("n_match"), pl.col("n_gold") + pl.col("n_match") - pl.col("n_common")


def l_star(size: npt.ArrayLike, values: npt.ArrayLike, n: float) -> float | None:
    """Return ``L* = sum_i size_i L_i / n``, None where n is 0.

    Parameters
    ----------
    size, values : array_like, shape (lemmas,)
        The size and L of each lemma, in an order that the data fix: floats add up otherwise.
    n : float
        Usually the sum of the sizes.

    Examples
    --------
    >>> l_star([10, 4], [0.5, 1.0], 14)
    0.6428571428571429
    """
    weighted = np.asarray(size, dtype=np.float64) * np.asarray(values, dtype=np.float64)
    return float(weighted.sum() / n) if n > 0 else None
