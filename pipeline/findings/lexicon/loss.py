"""What keeps L* from 100 %: missing forms, spurious forms, lemmas without a single right form."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from pipeline.kernels.lexicon.by_chance import form_weights, unequal


class Loss(NamedTuple):
    """The parts of ``1 - L*``, which they add up to.

    Parameters
    ----------
    whole : float
        ``1 - L*``.
    without_right : float
        Lost by lemmas whose match has no right form.
    missing, spurious : float
        Lost by forms that are missing, and that are spurious, of the other lemmas.
    n_without_right, n_missing, n_spurious : int
        How many lemmas, and forms of the other lemmas, that is.
    """

    whole: float
    without_right: float
    missing: float
    spurious: float
    n_without_right: int
    n_missing: int
    n_spurious: int


def losses(scores: pl.DataFrame) -> pl.DataFrame:
    """Return what each sampled lemma costs, and the parts of that.

    With g forms of the gold, m of the match and c in common, ``L = 2 c / (g + m)``, so that
    ``1 - L = (g - c) / (g + m) + (m - c) / (g + m)``: a part for the missing forms and one for the
    spurious ones, a form of either kind costing the same. A lemma costs ``cost = base / n - (size /
    n) L`` of L*, where n is the sum of the bases; its spurious forms cost ``(size / n) (m - c) / (g
    + m)``, its missing ones the rest. Where L is weighted by the gold (size = base = g) that is the
    weight times the parts of 1 - L. Where it is weighted as published (size = m, base = g + m - c)
    the missing forms also cost what they have in the union of both sets. Where lemmas were drawn
    with different chances, a lemma costs what it stands for (`form_weights` in place of 1 / n).

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`, weighted over the sum of its bases.

    Returns
    -------
    DataFrame
        lemma, cost, missing_cost, spurious_cost (proportions of L*; the costs add up to 1 - L*),
        n_gold, n_common, n_missing, n_spurious, L; the lemma that costs most first. No rows where
        the bases add up to 0.

    Examples
    --------
    >>> rows = {"lemma": ["a"], "pi": [1.0], "size": [10], "base": [10], "n_gold": [10],
    ...         "n_match": [7], "n_common": [7], "n_missing": [3], "n_spurious": [0],
    ...         "L": [14 / 17]}
    >>> losses(pl.DataFrame(rows)).select(pl.col("^.*cost$").round(4)).rows()
    [(0.1765, 0.1765, 0.0)]
    """
    n = int(scores["base"].sum())
    kept = scores.filter(pl.lit(n > 0)).sort("lemma")
    both = pl.col("n_gold") + pl.col("n_match")
    spurious = pl.when(both > 0).then(pl.col("size") * pl.col("n_spurious") / both).otherwise(0.0)
    costed = kept.with_columns(
        cost=pl.col("base") - pl.col("size") * pl.col("L"), spurious_cost=spurious
    )
    parts = pl.col("cost", "spurious_cost")
    stands_for = pl.Series(form_weights(kept)) if n and unequal(kept) else None
    costed = costed.with_columns(parts / n if stands_for is None else parts * stands_for)
    costed = costed.with_columns(missing_cost=pl.col("cost") - pl.col("spurious_cost"))
    columns = (
        "lemma", "cost", "missing_cost", "spurious_cost", "n_gold", "n_common", "n_missing",
        "n_spurious", "L",
    )  # fmt: skip
    return costed.select(columns).sort("cost", "lemma", descending=[True, False])


def loss(costs: pl.DataFrame) -> Loss:
    """Return the parts of ``1 - L*``: they add up.

    Parameters
    ----------
    costs : DataFrame
        As `losses` gives them.

    Examples
    --------
    >>> rows = {"cost": [0.2, 0.1], "missing_cost": [0.15, 0.1], "spurious_cost": [0.05, 0.0],
    ...         "n_common": [4, 0], "n_gold": [9, 2], "n_missing": [5, 2], "n_spurious": [2, 0]}
    >>> found = loss(pl.DataFrame(rows))
    >>> round(found.whole, 3), found.without_right, found.missing, found.spurious
    (0.3, 0.1, 0.15, 0.05)
    """
    nothing = (pl.col("n_common") == 0) & (pl.col("n_gold") > 0)
    bare, others = costs.filter(nothing), costs.filter(~nothing)
    return Loss(
        _sum(costs, "cost"), _sum(bare, "cost"), _sum(others, "missing_cost"),
        _sum(others, "spurious_cost"), bare.height, int(others["n_missing"].sum()),
        int(others["n_spurious"].sum()),
    )  # fmt: skip


def _sum(costs: pl.DataFrame, column: str) -> float:
    return float(costs[column].to_numpy().sum())
