"""How many labels of a simple sample would have known as much."""

from __future__ import annotations

import polars as pl


def equivalent_labels(lists: pl.DataFrame, *, candidates: int) -> float | None:
    """Return the size of the simple sample that is expected to know these lists as well.

    In a simple sample of m = f S labels a list of n has some f n draws, and a variance of
    ``(1 - f) p (1 - p) / (f n)``; that is V for ``f = p (1 - p) / (n V + p (1 - p))``. The median
    over the lists, since V is estimated and varies.

    Parameters
    ----------
    lists : pl.DataFrame
        n, precision and variance of lists.
    candidates : int
        All candidates, S.

    Returns
    -------
    float or None
        In [0, S]; None where no list has a variance above 0.

    References
    ----------
    Kish, Survey Sampling (1965), section 8.2, on the design effect.

    Examples
    --------
    >>> lists = pl.DataFrame({"n": [100], "precision": [0.5], "variance": [0.0025]})
    >>> equivalent_labels(lists, candidates=1000)
    500.0
    """
    spread = pl.col("precision") * (1.0 - pl.col("precision"))
    share = spread / (pl.col("n") * pl.col("variance") + spread)
    told = lists.filter(pl.col("variance") > 0, spread > 0).select(share.median() * candidates)
    found = told.item()
    return None if found is None else float(found)
