"""How many types and tokens the classes have, and how much the most frequent types hold."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from pipeline.errors import DataError
from pipeline.kernels.arrays import ratio
from pipeline.kernels.clustering.encoding import check_labels

EVERY = "*"
"""Stands for all items together, in place of a class."""


def class_shares(items: pl.DataFrame) -> pl.DataFrame:
    """Return the share of types and of tokens of each class.

    Parameters
    ----------
    items : pl.DataFrame
        String columns item and gold, Int64 column f: tokens of the item with this class. Rows
        of one item and class are added up.

    Returns
    -------
    pl.DataFrame
        Table `ClassShares`, sorted by gold, with all items as class ``*``. An item of several
        classes is a type of each, and one type among all: the shares of types add up to more
        than 1 if items are polysemous, those of tokens to 1. Shares of nothing are null.

    Raises
    ------
    DataError
        If a label is null or empty, or a class is called ``*``.

    References
    ----------
    Reichart, Abend & Rappoport, Type Level Clustering Evaluation (2010), section 5.

    Examples
    --------
    >>> items = pl.DataFrame({
    ...     "item": ["dog", "run", "run"], "gold": ["N", "N", "V"], "f": [5, 1, 4]
    ... })
    >>> class_shares(items).select("gold", "types", "share_tokens").rows()
    [('*', 2, 1.0), ('N', 2, 0.6), ('V', 1, 0.4)]
    """
    counted = (
        _with_all(items)
        .group_by("gold")
        .agg(types=pl.len().cast(pl.Int64), tokens=pl.col("f").sum())
        .sort("gold")
    )
    whole = counted.filter(gold=EVERY)
    shares = {f"share_{name}": _share(counted[name], whole[name]) for name in ("types", "tokens")}
    return counted.with_columns(**shares)


def frequent_types(items: pl.DataFrame, *, most: Collection[int] | None = None) -> pl.DataFrame:
    """Return the share of tokens that the k most frequent types have, in each class.

    Parameters
    ----------
    items : pl.DataFrame
        As for `class_shares`.
    most : collection of int, optional
        The k to list; by default 1, 2, 5, 10, 20, 50 ... to the number of types, and that.

    Returns
    -------
    pl.DataFrame
        Table `FrequentTypes`, sorted by gold and k: tokens of the class in its k most frequent
        types. Growing in k, 1 for all types of a class. A class with fewer than k types has no
        row for k.

    Raises
    ------
    DataError
        As for `class_shares`.

    Examples
    --------
    >>> items = pl.DataFrame({
    ...     "item": ["dog", "run", "run"], "gold": ["N", "N", "V"], "f": [5, 1, 4]
    ... })
    >>> frequent_types(items, most=[1]).rows()
    [('*', 1, 5, 0.5), ('N', 1, 5, 0.8333333333333334), ('V', 1, 4, 1.0)]
    """
    # The order of types with equal f makes no difference to the sums.
    ordered = _with_all(items).sort("gold", "f", "item", descending=[False, True, False])
    sums = ordered.select(
        "gold",
        k=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("gold"),
        tokens=pl.col("f").cum_sum().over("gold"),
        _types=pl.len().over("gold").cast(pl.Int64),
        _all=pl.col("f").sum().over("gold"),
    )
    wanted = _round(items["item"].n_unique()) if most is None else sorted(set(most))
    kept = pl.col("k").is_in(wanted)
    if most is None:
        kept |= pl.col("k") == pl.col("_types")
    share = pl.when(pl.col("_all") > 0).then(pl.col("tokens") / pl.col("_all"))
    return sums.filter(kept).select("gold", "k", "tokens", share_tokens=share).sort("gold", "k")


def _round(types: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50 ... below the number of types."""
    powers = range(len(str(types)))
    return [k for power in powers for k in (10**power, 2 * 10**power, 5 * 10**power) if k < types]


def _with_all(items: pl.DataFrame) -> pl.DataFrame:
    """Return the items of each class, and all of them as class ``*``."""
    check_labels(items, ["item", "gold"])
    if (items["gold"] == EVERY).any():
        raise DataError(f"a class is called {EVERY!r}, which stands for all items: rename it")
    by_class = items.group_by("gold", "item").agg(pl.col("f").sum())
    whole = items.group_by("item").agg(pl.col("f").sum())
    return pl.concat([by_class, whole.select(pl.lit(EVERY).alias("gold"), "item", "f")])


def _share(part: pl.Series, whole: pl.Series) -> pl.Series:
    # NumPy divides; Polars would multiply by the reciprocal of a single number.
    return pl.Series(ratio(part.to_numpy(), whole.to_numpy())).fill_nan(None)
