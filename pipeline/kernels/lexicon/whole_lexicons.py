"""The classic cluster measures of lexicons of any size: numbers are held, texts in parts."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.arrays import BoolArray, IntArray
from pipeline.kernels.lexicon.cluster_measures import Entropy, clusters, entropy_of
from pipeline.kernels.lexicon.one_to_one import other, pairs
from pipeline.kernels.parts import batches, bucket_of, buckets_for, counted, ranges_of, spill_of
from pipeline.spill import Spill

Numbers: TypeAlias = npt.NDArray[np.int32]


def entropy_in_parts(
    table: pl.LazyFrame, gold: pl.LazyFrame, lexicon: pl.LazyFrame, *, lemmas: int
) -> Entropy:
    """Return what `cluster_measures.entropy` does.

    Parameters
    ----------
    table : LazyFrame
        The overlaps of `gold` and `lexicon`.
    gold, lexicon : LazyFrame
        lemma, form, as `canonical` gives them.
    lemmas : int
        Lemmas of the lexicon.
    """
    buckets = buckets_for(counted(table))
    with _by_hash(table.select("lemma", "n_ij", "n_j"), "lemma", buckets) as laid:
        found = [clusters(each.collect()) for each in laid]
    return entropy_of(found, lemmas=lemmas, unknown=_unknown(gold, lexicon))


def _unknown(gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> int:
    """Return how many distinct forms of the lexicon are not in the gold."""
    forms = [each.select("form").drop_nulls() for each in (gold, lexicon)]
    buckets, unknown = buckets_for(counted(*forms)), 0
    known, asked = (_by_hash(each, "form", buckets) for each in forms)
    with known, asked:
        for one, two in zip(known, asked, strict=True):
            strange = two.join(one, on="form", how="anti")
            unknown += int(strange.select(pl.col("form").n_unique()).collect().item())
    return unknown


def _by_hash(table: pl.LazyFrame, column: str, buckets: int) -> Spill:
    """Divide a table by a hash of a column."""
    laid = spill_of(buckets, table.collect_schema())
    for batch in batches(table):
        laid.add(batch, bucket_of(column, buckets))
    return laid


class Pairs(NamedTuple):
    """Pairs of lemmas, as numbers of them; arrays of shape (pairs,)."""

    i: Numbers
    j: Numbers
    n: Numbers
    """Forms in common."""
    sure: BoolArray
    """Whether some best assignment holds the pair, and no other such pair of its lemma j."""


def best_match_in_parts(
    table: pl.LazyFrame, *, gold_forms: int, lexicon_forms: int
) -> float | None:
    """Return what `one_to_one.best_match_f` does.

    Parameters
    ----------
    table : LazyFrame
        gold, lemma, n_ij.
    gold_forms, lexicon_forms : int
        The sums of n_i and n_j over all lemmas, matched or not.

    Examples
    --------
    >>> rows = {"gold": ["a", "a", "b"], "lemma": ["x", "y", "x"], "n_ij": [2, 1, 2]}
    >>> best_match_in_parts(pl.LazyFrame(rows), gold_forms=5, lexicon_forms=5)
    0.6
    """
    both = gold_forms + lexicon_forms
    return 2.0 * _most_in_common(_numbered(table)) / both if both else None


def _most_in_common(found: Pairs) -> int:
    """Return the sum of n over a best assignment: first the sure pairs, then what they leave."""
    i, j, n = found.i, found.j, found.n
    sure = np.flatnonzero(found.sure)
    taken = sure[np.unique(i[sure], return_index=True)[1]]
    free = np.ones(len(n), dtype=bool)
    for side in (i, j):
        gone = np.zeros(int(side.max(initial=-1)) + 1, dtype=bool)
        gone[side[taken]] = True
        free &= ~gone[side]
    rest = np.flatnonzero(free)
    left = [each[rest].astype(np.int64) for each in (i, j, n)]
    return int(n[taken].sum(dtype=np.int64)) + int(left[2][pairs(*left)].sum())


def _numbered(table: pl.LazyFrame) -> Pairs:
    """Return all pairs; those of a lemma of the gold are looked at together, then the other way."""
    schema = {"lemma": pl.String, "i": pl.Int64, "n": pl.Int64, "other": pl.Int64}
    buckets, before = buckets_for(counted(table)), 0
    ranges, parts = ranges_of("gold", table), []
    with spill_of(buckets, pl.Schema(schema)) as laid:
        for number in range(len(ranges)):
            part = ranges.of(table, number, by="gold")
            rows = part.select("gold", "lemma", "n_ij").sort("gold").collect()
            i, n = _of(rows, "gold", "n_ij", before)
            frame = rows.select("lemma", i=pl.Series(i), n=pl.Series(n), other=other(i, n))
            laid.add(frame, bucket_of("lemma", buckets))
            before = int(i.max(initial=before - 1)) + 1
        before = 0
        for each in laid:
            rows = each.sort("lemma").collect()
            j, n = _of(rows, "lemma", "n", before)
            parts.append(_sure(rows["i"].to_numpy(), j, n, rows["other"].to_numpy()))
            before = int(j.max(initial=before - 1)) + 1
    return Pairs(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _of(rows: pl.DataFrame, side: str, n: str, before: int) -> tuple[IntArray, IntArray]:
    """Return a number for each lemma of a side, from `before`, and n; the rows are in order."""
    number = rows[side].rle_id().to_numpy().astype(np.int64) + before
    return number, rows[n].to_numpy().astype(np.int64)


def _sure(i: IntArray, j: IntArray, n: IntArray, others: IntArray) -> Pairs:
    """Return the pairs of all lemmas j of a bucket, at most one of them sure for each j.

    A pair whose n is at least the greatest other n of both its lemmas together stands in some
    best assignment, see `one_to_one.assigned`.
    """
    good = np.flatnonzero(n >= others + other(j, n))
    sure = np.zeros(len(n), dtype=bool)
    sure[good[np.unique(j[good], return_index=True)[1]]] = True
    return Pairs(i.astype(np.int32), j.astype(np.int32), n.astype(np.int32), sure)
