"""The overlaps of two lexicons of any size, in parts: divided by the form, then by the lemma."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.kernels.parts import (
    bucket_of,
    buckets_for,
    counted,
    most_rows,
    parts_of,
    ranges_of,
    spill_of,
)
from pipeline.spill import Spill

_SIDE = {"form": pl.String, "n": pl.Int64}
_PAIRS = {"gold": pl.String, "lemma": pl.String, "n_ij": pl.Int64, "n_i": pl.Int64, "n_j": pl.Int64}


def overlaps_in_parts(gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield what `matching.lexicon_overlaps` returns, in ranges of the gold's lemmas, in order.

    Each form goes, with its lemma and the size of the lemma, into a bucket by a hash of the form;
    what the lemmas of a bucket share goes into ranges of the gold's lemma, where it is added up.

    Parameters
    ----------
    gold, lexicon : LazyFrame
        lemma, form, as `wordlists.canonical` gives them.

    Examples
    --------
    >>> gold = pl.LazyFrame({"lemma": ["ra", "ra"], "form": ["ra", "rajt"]})
    >>> lexicon = pl.LazyFrame({"lemma": ["ra"], "form": ["rajt"]})
    >>> [each.rows() for each in overlaps_in_parts(gold, lexicon)]
    [[('ra', 'ra', 1, 2, 1)]]
    """
    ranges = ranges_of("lemma", gold)
    buckets = buckets_for(counted(gold, lexicon))
    with spill_of(len(ranges), pl.Schema(_PAIRS)) as pairs:
        with _by_form(gold, "gold", buckets) as left, _by_form(lexicon, "lemma", buckets) as right:
            for one, two in zip(left, right, strict=True):
                for found in _shared(one, two):
                    pairs.add(found, ranges.number("gold"))
        for each in pairs:
            # Where forms are shared by many lemmas, there are far more pairs than forms.
            for part in parts_of(each, by="gold"):
                yield _summed(part).sort("gold", "lemma").collect()


def _by_form(table: pl.LazyFrame, name: str, buckets: int) -> Spill:
    """Divide the forms of a lexicon by a hash, each beside its lemma and the size of the lemma."""
    laid = spill_of(buckets, pl.Schema({name: pl.String, **_SIDE}))
    ranges = ranges_of("lemma", table)
    size = pl.len().over("lemma").cast(pl.Int64)
    for number in range(len(ranges)):
        forms = ranges.of(table, number, by="lemma").select("lemma", "form").drop_nulls()
        rows = forms.with_columns(n=size).rename({"lemma": name}).collect()
        laid.add(rows, bucket_of("form", buckets))
    return laid


def _shared(gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield pairs of lemmas with the forms of a bucket that they share, some forms at a time."""
    right = lexicon.rename({"n": "n_j"}).collect()
    times = right.group_by("form").agg(times=pl.len().cast(pl.Int64))
    left = gold.rename({"n": "n_i"}).join(times.lazy(), on="form").collect()
    numbered = left.with_columns((pl.col("times").cum_sum() // most_rows()).alias("~part"))
    for part in numbered.drop("times").partition_by("~part", include_key=False):
        joined = part.lazy().join(right.lazy(), on="form")
        yield _summed(joined.with_columns(n_ij=pl.lit(1, pl.Int64))).collect()


def _summed(pairs: pl.LazyFrame) -> pl.LazyFrame:
    sizes = (pl.col(name).first() for name in ("n_i", "n_j"))
    return pairs.group_by("gold", "lemma").agg(pl.col("n_ij").sum(), *sizes)
