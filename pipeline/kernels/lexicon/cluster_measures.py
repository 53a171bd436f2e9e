"""The classic cluster measures of two whole lexicons: F*, entropy, one-to-one matching."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.lexicon.l_measure import l_star
from pipeline.kernels.lexicon.matching import l_value
from pipeline.kernels.lexicon.one_to_one import numbered


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
    values = ordered.select(l_value("n_common", "n_gold", "n_match")).to_series()
    return l_star(ordered["n_gold"], values, float(ordered["n_gold"].sum()))


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
    if table.is_empty():
        return Entropy(None, all_lemmas, unknown_forms)
    # Names need no order: what is added up is put in order of its own size, so that equal
    # tables give equal sums.
    cluster, n_ij, n_j = (
        each.to_numpy().astype(np.int64)
        for each in (numbered(table["lemma"]), *table["n_ij", "n_j"])
    )
    order = np.lexsort((n_ij, cluster))
    first = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    sizes = n_j[order][first]
    weighted = np.sort(sizes * _bits(n_ij[order].astype(np.float64), first))
    outside = all_lemmas - len(first)
    return Entropy(float(weighted.sum() / sizes.sum()), outside, unknown_forms)


def _bits(n_ij: FloatArray, first: IntArray) -> FloatArray:
    """Return the entropy of each run of rows that begins at a place of `first`."""
    sums = np.add.reduceat(n_ij, first)
    p = n_ij / np.repeat(sums, np.diff(np.append(first, len(n_ij))))
    # + 0.0 makes the -0.0 of a pure cluster 0.
    return np.asarray(-np.add.reduceat(p * np.log2(p), first) + 0.0)
