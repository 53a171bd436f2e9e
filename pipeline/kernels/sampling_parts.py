"""Simple random samples of more candidates than there is room for: those that `sampling` draws."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.parts import batches, buckets_for, counted, spill_of
from pipeline.kernels.sampling import as_sample, numbered, shuffled, slots

_KEYED = pl.Schema({"id": pl.String, "key": pl.Int64})
_KEYS = 2**63
"""Keys are smaller, and not negative."""


def smallest(ids: pl.LazyFrame, *, size: int, seed: str) -> tuple[pl.DataFrame, int]:
    """Return the ids with the smallest keys, in their order, and how many ids there are.

    Parameters
    ----------
    ids : LazyFrame
        String column ``id``, distinct values; read batch by batch.
    size : int
        How many to return, who are held; at most all.
    seed : str
        Fixes the keys.

    Returns
    -------
    DataFrame, int
        id and key; the number of all.
    """
    best, rows = pl.DataFrame(schema=_KEYED), 0
    for batch in batches(ids.select("id")):
        rows += batch.height
        best = smaller(best, shuffled(batch, seed=seed), size=size)
    return best, rows


def smaller(best: pl.DataFrame, others: pl.DataFrame, *, size: int) -> pl.DataFrame:
    """Return those of two tables in the order of keys that have the smallest keys.

    Examples
    --------
    >>> one, two = (pl.DataFrame({"id": list(ids), "key": keys}) for ids, keys in
    ...     (("ab", [3, 5]), ("cd", [1, 4])))
    >>> smaller(one, two, size=3)["id"].to_list()
    ['c', 'a', 'd']
    """
    if 0 < size <= best.height:
        others = others.filter(pl.col("key") <= best["key"][size - 1])
    return pl.concat([best, others]).sort("key", "id").head(size)


def without_replacement_in_parts(ids: pl.LazyFrame, *, size: int, seed: str) -> pl.DataFrame:
    """Draw as `sampling.without_replacement` does; what is held is the sample.

    Parameters
    ----------
    ids : LazyFrame
        String column ``id``, distinct values.
    size, seed
        As there.

    Examples
    --------
    >>> from pipeline.kernels.sampling import without_replacement
    >>> ids = pl.DataFrame({"id": [f"x{i}" for i in range(100)]})
    >>> drawn = without_replacement_in_parts(ids.lazy(), size=5, seed="s")
    >>> drawn.equals(without_replacement(ids, size=5, seed="s"))
    True
    """
    best, rows = smallest(ids, size=size, seed=seed)
    return as_sample(best, multiplicity=pl.lit(1, pl.Int64), pi=best.height / max(1, rows))


def with_replacement_in_parts(ids: pl.LazyFrame, *, size: int, seed: str) -> pl.DataFrame:
    """Draw as `sampling.with_replacement` does; the others are laid aside by ranges of their keys.

    Parameters
    ----------
    ids : LazyFrame
        String column ``id``, distinct values.
    size, seed
        As there.

    Examples
    --------
    >>> from pipeline.kernels.sampling import with_replacement
    >>> ids = pl.DataFrame({"id": [f"x{i}" for i in range(100)]})
    >>> drawn = with_replacement_in_parts(ids.lazy(), size=25, seed="s")
    >>> drawn.equals(with_replacement(ids, size=25, seed="s"))
    True
    """
    rows = counted(ids)
    drawn, number = slots(size, candidates=rows, seed=seed), buckets_for(rows)
    chosen, before = [], 0
    with spill_of(number, _KEYED) as laid:
        for batch in batches(ids.select("id")):
            laid.add(shuffled(batch, seed=seed), pl.col("key") // -(-_KEYS // number))
        for part in laid:
            pool = numbered(part.sort("key", "id").collect(), first=before)
            before += pool.height
            chosen.append(drawn.join(pool, on="slot"))
    ordered = pl.concat(chosen).sort("first")
    return as_sample(ordered, multiplicity=pl.col("multiplicity"), pi=None)
