"""The classic cluster measures of two whole lexicons: F*, entropy, one-to-one matching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.lexicon.l_measure import l_star
from pipeline.kernels.lexicon.matching import l_value


@dataclass(frozen=True)
class Entropy:
    """The entropy of a lexicon, and what of it has none.

    Parameters
    ----------
    value : float or None
        E* in bits, from 0; None if no lemma of the lexicon shares a form with the gold.
    outside : int
        Lemmas of the lexicon none of whose forms is in the gold: they have no entropy.
    unknown : int
        Distinct forms of the lexicon that are in no lemma of the gold.
    """

    value: float | None
    outside: int
    unknown: int


def f_star(found: pl.DataFrame) -> float | None:
    """Return ``F* = sum_i (n_i / n) max_j F(i,j)`` over the whole gold.

    Parameters
    ----------
    found : DataFrame
        The rows of `matches` for every lemma of the gold.

    Returns
    -------
    float or None
        In [0, 1], 1 if every lemma of the gold has an equal cluster; None if the gold has no
        forms. It is L* where all lemmas of the gold are in the lexicon and sampled.

    References
    ----------
    Larsen & Aone, Fast and effective text mining using linear-time document clustering (1999).

    Examples
    --------
    >>> f_star(pl.DataFrame({"lemma": ["a"], "n_gold": [2], "n_match": [1], "n_common": [1]}))
    0.6666666666666666
    """
    ordered = found.sort("lemma")
    values = ordered.select(best_values()).to_series()
    return l_star(ordered["n_gold"], values, float(ordered["n_gold"].sum()))


def best_values() -> pl.Expr:
    """Return ``max_j F(i,j)`` of each lemma of `matches`."""
    return l_value("n_common", "n_gold", "n_match")


def entropy(table: pl.DataFrame, gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> Entropy:
    """Return the entropy of the lexicon's clusters over the lemmas of the gold.

    ``E(j) = -sum_i p_ij log2 p_ij, p_ij = n_ij / sum_i n_ij, E* = sum_j (n_j / n) E(j)``

    Parameters
    ----------
    table : DataFrame
        The overlaps of `gold` and `lexicon`.
    gold, lexicon : LazyFrame
        lemma, form, as `canonical` gives them.

    Returns
    -------
    Entropy
        E* is 0 if no cluster mixes lemmas of the gold. Clusters that share no form with the
        gold have no entropy: they are counted apart, and n is the sum of the others' n_j.

    Notes
    -----
    A form of several gold lemmas counts for each, so the n_ij of a cluster may sum to more than
    n_j: they are divided by their own sum.

    Examples
    --------
    >>> gold = pl.LazyFrame({"lemma": ["a", "b"], "form": ["x", "y"]})
    >>> lexicon = pl.LazyFrame({"lemma": ["c", "c", "d"], "form": ["x", "y", "z"]})
    >>> rows = {"gold": ["a", "b"], "lemma": ["c", "c"], "n_ij": [1, 1], "n_j": [2, 2]}
    >>> entropy(pl.DataFrame(rows), gold, lexicon)
    Entropy(value=1.0, outside=1, unknown=1)
    """
    forms = lexicon.select("form").drop_nulls()
    strange = forms.join(gold.select("form"), on="form", how="anti")
    unknown = strange.select(pl.col("form").n_unique())
    lemmas = lexicon.select(pl.col("lemma").n_unique())
    unknown_forms, all_lemmas = (each.item() for each in pl.collect_all([unknown, lemmas]))
    return entropy_of([clusters(table)], lemmas=all_lemmas, unknown=unknown_forms)


def clusters(table: pl.DataFrame) -> tuple[IntArray, FloatArray]:
    """Return the forms of each cluster that shares some with the gold, and its entropy in bits.

    Parameters
    ----------
    table : DataFrame
        lemma, n_ij, n_j: overlaps, all of the lemmas that it names.
    """
    # Names need no order: what is added up is put in order of its own size, so that equal
    # tables give equal sums.
    ordered = table.select("lemma", "n_ij", "n_j").sort("lemma", "n_ij")
    cluster, n_ij, n_j = (
        each.to_numpy().astype(np.int64)
        for each in (ordered["lemma"].rle_id(), ordered["n_ij"], ordered["n_j"])
    )
    first = np.flatnonzero(np.diff(cluster, prepend=-1))
    if not first.size:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    return n_j[first], _bits(n_ij.astype(np.float64), first)


def entropy_of(
    found: Sequence[tuple[IntArray, FloatArray]], *, lemmas: int, unknown: int
) -> Entropy:
    """Return the entropy of a lexicon from its `clusters`, all or some at a time.

    Parameters
    ----------
    found : sequence of pairs of arrays
        In any order.
    lemmas, unknown : int
        Lemmas of the lexicon, and distinct forms of it that the gold has not.
    """
    sizes, bits = (np.concatenate(each) for each in zip(*found, strict=True))
    if not sizes.size:
        return Entropy(None, lemmas, unknown)
    weighted = np.sort(sizes * bits)
    return Entropy(float(weighted.sum() / sizes.sum()), lemmas - len(sizes), unknown)


def _bits(n_ij: FloatArray, first: IntArray) -> FloatArray:
    """Return the entropy of each run of rows that begins at a place of `first`."""
    sums = np.add.reduceat(n_ij, first)
    p = n_ij / np.repeat(sums, np.diff(np.append(first, len(n_ij))))
    # + 0.0 makes the -0.0 of a pure cluster 0.
    return np.asarray(-np.add.reduceat(p * np.log2(p), first) + 0.0)
