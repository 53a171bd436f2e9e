"""Stable hashes: candidate ids, and seeded keys for ties and samples.

The hashes are SHA-256 and XXH64 as published, so that an id or a sample drawn today is the
same under any later version of the libraries. (Polars' own ``hash`` changes between versions.)
"""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
import polars_hash as plh

_SEPARATOR = "\x1f"
"""ASCII unit separator: does not occur in text, so ("a b", "c") and ("a", "b c") differ."""


def candidate_id(*units: str | pl.Expr) -> pl.Expr:
    r"""Return the stable id of a candidate: "x" and 16 hexadecimal digits of SHA-256.

    Parameters
    ----------
    *units : str or Expr
        Names of the String columns that make the candidate, usually l1 and l2; or text.

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
    >>> found = pair.select(candidate_id("l1", "l2")).item()
    >>> found == "x" + hashlib.sha256("in:Frage\x1fstellen".encode()).hexdigest()[:16]
    True
    """
    joined = plh.concat_str(*units, separator=_SEPARATOR)
    return (pl.lit("x") + joined.chash.sha2_256().str.slice(0, 16)).alias("id")


def seeded_key(*columns: str, seed: str, purpose: str) -> pl.Expr:
    """Return a uniform random key for each value of a column, fixed by the seed.

    Parameters
    ----------
    *columns : str
        Name of a String column, usually ``id``; several are taken together.
    seed : str
        Seed of the run or stage.
    purpose : str
        What the key is for; keys for different purposes are independent.

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
    """Return a random generator that is fixed by the seed, for simulations.

    Parameters
    ----------
    seed : str
        Seed of the run or stage.
    purpose : str
        What the numbers are for; generators for different purposes are independent.

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
