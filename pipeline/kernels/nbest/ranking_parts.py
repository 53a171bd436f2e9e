"""Ranks of more candidates than there is room for: from the best down, part after part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import polars as pl

from pipeline import room
from pipeline.kernels.nbest.ranking import COLUMNS, FALLING, ORDER, tie_key
from pipeline.kernels.parts import batches, counted, most_rows, spill_of

_SEEN = 1000
"""Candidates that are looked at for each part."""
_ONE = pl.Schema({"id": pl.String, "tie_key": pl.Int64, "score": pl.Float64})


def ranked_in_parts(
    scores: pl.LazyFrame, *, measures: Sequence[str], seed: str
) -> Iterator[pl.DataFrame]:
    """Yield what `ranking.rank` gives, measure by measure and part by part, in its order.

    Parameters
    ----------
    scores : LazyFrame
        As there; where memory is limited it is read twice for each measure.
    measures : sequence of str
        The columns to rank by.
    seed : str
        Fixes the tie-break keys.

    Examples
    --------
    >>> scores = pl.LazyFrame({"id": ["a", "b"], "mi": [1.0, 2.0], "dice": [0.2, 0.1]})
    >>> [each["id"].to_list() for each in ranked_in_parts(scores, measures=["mi", "dice"], seed="")]
    [['a', 'b'], ['b', 'a']]
    """
    rows = counted(scores)
    for measure in sorted(set(measures)):
        score = pl.col(measure).cast(pl.Float64).alias("score")
        rank, tie, last = 0, 0, None
        for part in _from_the_best(scores.select("id", tie_key(seed), score), rows):
            ordered = part.sort(ORDER, descending=FALLING, nulls_last=True)
            ranked = ordered.with_columns(_ranks(rank, tie, last), measure=pl.lit(measure))
            yield ranked.select(COLUMNS)
            if ranked.height:
                rank, tie, last = ranked.select("rank", "tie", "score").row(-1)


def _ranks(rank: int, tie: int, last: float | None) -> list[pl.Expr]:
    """Return rank and tie of rows that follow one of this rank, tie and score."""
    ranks = pl.int_range(1, pl.len() + 1, dtype=pl.Int64) + rank
    before = pl.col("score").shift(1, fill_value=pl.lit(last, pl.Float64))
    begins = (ranks == 1) | pl.col("score").ne_missing(before)
    ties = pl.when(begins).then(ranks).forward_fill().fill_null(tie)
    return [ranks.alias("rank"), ties.alias("tie")]


def _from_the_best(own: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    """Yield candidates so that no part has a better one than the part before; not in order."""
    number = -(-rows // most_rows()) if room.goes_to_disk() else 1
    if number <= 1:
        yield own.collect()
        return
    bounds = _bounds(own, rows, number)
    bucket = reduce(pl.Expr.add, map(_at_or_below, bounds), pl.lit(0, pl.Int64))
    with spill_of(len(bounds) + 1, _ONE) as laid:
        for batch in batches(own):
            laid.add(batch, bucket)
        yield from (part.collect() for part in laid)


def _bounds(own: pl.LazyFrame, rows: int, number: int) -> list[tuple[float | None, int]]:
    """Return score and tie-break key with which each part but the first begins, best first."""
    step = max(1, rows // (number * _SEEN))
    seen = own.select("score", "tie_key").gather_every(step).collect(engine="streaming")
    ordered = seen.sort("score", "tie_key", descending=[True, False], nulls_last=True)
    places = sorted({place * ordered.height // number for place in range(1, number)})
    return list(dict.fromkeys(ordered[places].rows()))


def _at_or_below(bound: tuple[float | None, int]) -> pl.Expr:
    """Return whether a row comes at a bound or after it: 1 or 0."""
    at, key = bound
    score, later = pl.col("score"), pl.col("tie_key") >= key
    if at is None:
        return (score.is_null() & later).cast(pl.Int64)
    after = (score < at) | ((score == at) & later)
    return after.fill_null(value=True).cast(pl.Int64)
