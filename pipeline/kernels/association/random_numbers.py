"""The random number of a candidate, for the measure `random`."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from pipeline.kernels.association.contingency import SIGNATURE
from pipeline.kernels.hashing import seeded_key

RANDOM_NUMBER = "random_number"
"""Column for measures that tell candidates with equal signatures apart, and use no other."""


def random_number(columns: Collection[str], *, seed: str) -> pl.Expr:
    """Return a number in [0, 1) that is fixed by the candidate and the seed.

    Parameters
    ----------
    columns : collection of str
        Columns of the candidates. What makes a candidate is (l1, l2), else ``id``, else, in a
        table with neither, its frequency signature.
    seed : str
        Another seed gives other numbers.

    Returns
    -------
    Expr
        Float64 in [0, 1), uniform; the same whatever the order and the other rows.

    Examples
    --------
    >>> pair = pl.DataFrame({"l1": ["in:Frage"], "l2": ["stellen"]})
    >>> pair.select(random_number(["l1", "l2"], seed="a").round(6)).item()
    0.296009
    """
    makings = next((each for each in _MAKINGS if set(each) <= set(columns)), SIGNATURE)
    key = seeded_key(*makings, seed=seed, purpose="random")
    # The key has 63 bits; a Float64 below 1 takes its upper 53.
    return ((key // 2**10).cast(pl.Float64) * 2.0**-53).alias(RANDOM_NUMBER)


_MAKINGS = (("l1", "l2"), ("id",))
