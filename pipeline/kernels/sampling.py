"""Seeded simple random samples, with and without replacement, and the hashes that fix them."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
import polars_hash as plh

from pipeline.kernels.partitions import count_rows

# Stable hashes: SHA-256 and XXH64 as published, so that ids and samples stay the same under any
# version of the libraries (Polars' own ``hash`` changes between versions)

_SEPARATOR = "\x1f"
"""ASCII unit separator: does not occur in text, so ("a b", "c") and ("a", "b c") differ."""


def candidate_id(*units: str | pl.Expr) -> pl.Expr:
    r"""Return the stable id of a candidate: "x" and 16 hexadecimal digits of SHA-256.

    Parameters
    ----------
    *units : str or Expr
        Names of the String columns of the candidate, usually l1 and l2; or text.

    Returns
    -------
    Expr
        String. The leading letter keeps a spreadsheet from reading ``12e45678`` as a number.

    Notes
    -----
    64 bits: the chance of any collision among a million candidates is 3e-8.

    Examples
    --------
    >>> import hashlib
    >>> pair = pl.DataFrame({"l1": ["in:Frage"], "l2": ["stellen"]})
    >>> name = pair.select(candidate_id("l1", "l2")).item()
    >>> name == "x" + hashlib.sha256("in:Frage\x1fstellen".encode()).hexdigest()[:16]
    True
    """
    joined = plh.concat_str(*units, separator=_SEPARATOR)
    return (pl.lit("x") + joined.chash.sha2_256().str.slice(0, 16)).alias("id")


def seeded_key(*columns: str, seed: str, purpose: str) -> pl.Expr:
    """Return a uniform random key for each value of a column, fixed by the seed.

    Parameters
    ----------
    *columns : str
        Name of a String column, usually ``id``; several are combined.
    seed : str
        Seed of the run or stage.
    purpose : str
        Use of the key; keys for different purposes are independent.

    Returns
    -------
    Expr
        Int64 in [0, 2**63). The m smallest keys are a simple random sample of m without
        replacement, nested in m and mergeable over parts.

    References
    ----------
    Collet, XXH64 (seed 0) over ``seed US purpose US value``, shifted right by one bit.

    Examples
    --------
    >>> frame = pl.DataFrame({"id": ["a", "b"]})
    >>> frame.select(seeded_key("id", seed="s", purpose="ties")).n_unique()
    2
    """
    salted = plh.concat_str(pl.lit(f"{seed}{_SEPARATOR}{purpose}"), *columns, separator=_SEPARATOR)
    # Shifting by division keeps the result in Int64, where all other counts live.
    return (salted.nchash.xxhash64() // 2).cast(pl.Int64)


def seeded_generator(*, seed: str, purpose: str) -> np.random.Generator:
    """Return a random generator fixed by the seed, for simulations.

    Parameters
    ----------
    seed : str
        Seed of the run or stage.
    purpose : str
        Use of the numbers; generators for different purposes are independent.

    Returns
    -------
    numpy.random.Generator
        PCG64, started from SHA-256 of ``seed US purpose``. The stream of its bits is fixed;
        NumPy may change how a distribution is drawn from it, so samples of candidates are
        drawn by `seeded_key`, not by this.

    Examples
    --------
    >>> first, second = (seeded_generator(seed="s", purpose="power") for _ in range(2))
    >>> bool(first.random() == second.random())
    True
    """
    digest = hashlib.sha256(f"{seed}{_SEPARATOR}{purpose}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


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


def without_replacement(ids: pl.DataFrame | pl.LazyFrame, *, size: int, seed: str) -> pl.DataFrame:
    """Draw a simple random sample: the ids with the smallest seeded keys.

    A smaller sample with the same seed is part of a larger one, and the same ids drawn from
    a growing data set stay drawn as far as their keys allow.

    Parameters
    ----------
    ids : DataFrame or LazyFrame
        String column ``id``, distinct values.
    size : int
        Number of draws, at most all. Only the sample is held in memory.
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
    draws = smallest_keys(ids.lazy(), size=size, seed=seed)
    chance = draws.height / max(1, count_rows(ids.lazy()))
    return as_sample(draws, multiplicity=pl.lit(1, pl.Int64), pi=chance)


def with_replacement(ids: pl.DataFrame | pl.LazyFrame, *, size: int, seed: str) -> pl.DataFrame:
    """Draw `size` times, each time with equal chances for all candidates.

    Parameters
    ----------
    ids : DataFrame or LazyFrame
        String column ``id``, distinct values.
    size : int
        Number of draws. Only the sample is held in memory.
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
    drawn = slots(size, candidates=count_rows(ids.lazy()), seed=seed)
    ordered = _with_keys(ids.lazy(), seed).sort("key", "id")
    pool = ordered.with_row_index("slot").cast({"slot": pl.Int64})
    draws = pool.join(drawn.lazy(), on="slot").collect(engine="streaming").sort("first")
    return as_sample(draws, multiplicity=pl.col("multiplicity"), pi=None)


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


def smallest_keys(ids: pl.LazyFrame, *, size: int, seed: str) -> pl.DataFrame:
    """Return at most so many ids with the smallest keys, and the keys, in their order."""
    keyed = _with_keys(ids, seed).bottom_k(size, by=["key", "id"])
    return keyed.collect(engine="streaming").sort("key", "id")


def _with_keys(ids: pl.LazyFrame, seed: str) -> pl.LazyFrame:
    return ids.select("id", key=seeded_key("id", seed=seed, purpose="sample"))


def as_sample(draws: pl.DataFrame, *, multiplicity: pl.Expr, pi: float | None) -> pl.DataFrame:
    """Return candidates in the order in which they were drawn as a table `Sample`."""
    return draws.select(
        "id",
        multiplicity=multiplicity,
        position=pl.int_range(1, pl.len() + 1, dtype=pl.Int64),
        pi=pl.lit(pi, pl.Float64),
        stratum=pl.lit(WHOLE),
    )
