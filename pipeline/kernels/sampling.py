"""Simple random samples, with and without replacement, fixed by a seed."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.hashing import seeded_key

WHOLE = "all"
"""The one stratum of a sample whose size is fixed as a whole."""


def sample_size(population: int, *, rate: float) -> int:
    """Return round(rate * population), at least 1 of a population that is not empty.

    Examples
    --------
    >>> sample_size(5102, rate=0.1), sample_size(3, rate=0.1), sample_size(0, rate=0.1)
    (510, 1, 0)
    """
    return min(population, max(1, round(rate * population)))


def without_replacement(ids: pl.DataFrame, *, size: int, seed: str) -> pl.DataFrame:
    """Draw a simple random sample: the ids with the smallest seeded keys.

    A smaller sample with the same seed is part of a larger one, and the same ids drawn from
    a growing data set stay drawn as far as their keys allow.

    Parameters
    ----------
    ids : DataFrame
        String column ``id``, distinct values.
    size : int
        How many to draw; at most all.
    seed : str
        Fixes the draw.

    Returns
    -------
    DataFrame
        id, multiplicity (1), position (1..size), pi (size / ids), stratum ('all'); sorted by
        position.

    Examples
    --------
    >>> ids = pl.DataFrame({"id": [f"x{i}" for i in range(100)]})
    >>> small = without_replacement(ids, size=5, seed="s")["id"]
    >>> small.equals(without_replacement(ids, size=10, seed="s")["id"].head(5))
    True
    """
    chosen = shuffled(ids, seed=seed).head(size)
    chance = chosen.height / max(1, ids.height)
    return as_sample(chosen, multiplicity=pl.lit(1, pl.Int64), pi=chance)


def with_replacement(ids: pl.DataFrame, *, size: int, seed: str) -> pl.DataFrame:
    """Draw `size` times, each candidate each time with the same chance.

    Parameters
    ----------
    ids : DataFrame
        String column ``id``, distinct values.
    size : int
        Number of draws.
    seed : str
        Fixes the draws; draw j is the same whatever the size.

    Returns
    -------
    DataFrame
        id, multiplicity (times drawn), position (order of first draw), pi (null), stratum
        ('all'); sorted by position.

    Notes
    -----
    Draw j takes candidate number XXH64(seed, j) mod S in key order; the bias is below
    S / 2**63.

    Examples
    --------
    >>> ids = pl.DataFrame({"id": [f"x{i}" for i in range(10)]})
    >>> with_replacement(ids, size=25, seed="s")["multiplicity"].sum()
    25
    """
    pool = numbered(shuffled(ids, seed=seed))
    drawn = slots(size, candidates=pool.height, seed=seed)
    chosen = drawn.join(pool, on="slot").sort("first")
    return as_sample(chosen, multiplicity=pl.col("multiplicity"), pi=None)


def slots(size: int, *, candidates: int, seed: str) -> pl.DataFrame:
    """Return which numbers are drawn with replacement, how often, and by which draw first.

    Examples
    --------
    >>> slots(25, candidates=1, seed="s").rows()
    [(0, 25, 0)]
    """
    numbers = pl.DataFrame({"draw": pl.int_range(0, size if candidates else 0, eager=True)})
    uniform = seeded_key("text", seed=seed, purpose="draws")
    draws = numbers.with_columns(text=pl.col("draw").cast(pl.String)).select(
        "draw", slot=uniform % max(1, candidates)
    )
    return draws.group_by("slot").agg(multiplicity=pl.len().cast(pl.Int64), first=pl.min("draw"))


def numbered(shuffled: pl.DataFrame, *, first: int = 0) -> pl.DataFrame:
    """Add the number of each candidate in key order, from that of the first on."""
    slot = pl.int_range(first, first + pl.len(), dtype=pl.Int64)
    return shuffled.with_columns(slot=slot)


def shuffled(ids: pl.DataFrame, *, seed: str) -> pl.DataFrame:
    """Return the ids with their keys, in the order of these."""
    key = seeded_key("id", seed=seed, purpose="sample")
    return ids.select("id", key=key).sort("key", "id")


def as_sample(chosen: pl.DataFrame, *, multiplicity: pl.Expr, pi: float | None) -> pl.DataFrame:
    """Return candidates in the order in which they were drawn as a table `Sample`."""
    return chosen.select(
        "id",
        multiplicity=multiplicity,
        position=pl.int_range(1, pl.len() + 1, dtype=pl.Int64),
        pi=pl.lit(pi, pl.Float64),
        stratum=pl.lit(WHOLE),
    )
