"""A dictionary of clusters applied to tokens: each gets the one cluster of its item."""

from __future__ import annotations

import polars as pl

from pipeline.errors import DataError


def applied(tokens: pl.LazyFrame, entries: pl.DataFrame, *, name: str) -> pl.LazyFrame:
    """Give counted tokens the cluster of their item.

    Parameters
    ----------
    tokens : LazyFrame
        item and further columns, such as gold and f.
    entries : DataFrame
        item and cluster.
    name : str
        What to call the dictionary in an error.

    Returns
    -------
    LazyFrame
        The tokens with cluster; null where the dictionary does not have the item.

    Raises
    ------
    DataError
        If it has several clusters for an item of the tokens: which one a token has, it does not
        say.

    Examples
    --------
    >>> tokens = pl.LazyFrame({"item": ["dog", "cat"], "gold": ["N", "N"], "f": [3, 1]})
    >>> entries = pl.DataFrame({"item": ["dog"], "cluster": ["7"]})
    >>> found = applied(tokens, entries, name="d").collect()
    >>> found.sort("f").select("item", "cluster", "f").rows()
    [('cat', None, 1), ('dog', '7', 3)]
    """
    items = tokens.select("item").unique().collect(engine="streaming")
    pairs = entries.select("item", "cluster").join(items, on="item", how="semi").unique()
    several = pairs.filter(pl.len().over("item") > 1)
    if several.height:
        clusters = pl.col("cluster").sort().str.join(", ")
        examples = several.group_by("item").agg(clusters).sort("item")
        shown = "; ".join(f"{item!r}: {held}" for item, held in examples.head(3).iter_rows())
        raise DataError(
            f"{name}: the token level is not defined for a dictionary that gives"
            f" {examples.height:,} items of the gold standard several clusters, such as {shown}\n"
            "Evaluate it at type level, or give a tagging of the tokens in its place."
        )
    return tokens.join(pairs.lazy(), on="item", how="left")
