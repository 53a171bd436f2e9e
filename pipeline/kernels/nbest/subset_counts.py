"""An unranked set of candidates, such as the output of a filter, against n-best lists."""

from __future__ import annotations

import polars as pl

from schemas import Comparison

_COUNTS = ("size", "n_1", "k_1", "n_2", "k_2")


def subset_difference_counts(
    subset: pl.DataFrame,
    ranks: pl.DataFrame,
    judged: pl.DataFrame,
    *,
    name: str,
) -> pl.DataFrame:
    """Count draws and true positives that only the subset or only an n-best list holds.

    A subset A is compared with the list of the same size of each measure: D1 = A - C_{g,|A|},
    D2 = C_{g,|A|} - A.

    Parameters
    ----------
    subset : pl.DataFrame
        id of the members; those that are not ranked are no candidates and don't count.
    ranks : pl.DataFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.DataFrame
        Columns category, id, tp (null = not judged) and multiplicity.
    name : str
        What the subset is called, in place of a measure.

    Returns
    -------
    pl.DataFrame
        Columns category, measure_1 (the name), measure_2, n = |A|, size = |D1| = |D2|, n_1,
        k_1, n_2, k_2, sorted: what `difference_sets.compare` takes. No rows for an empty set.

    Raises
    ------
    ValueError
        If the name is that of a measure.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> judged = pl.DataFrame(
    ...     {"category": "TP", "id": list("abd"), "tp": [True, False, True], "multiplicity": 1}
    ... )
    >>> subset_difference_counts(
    ...     pl.DataFrame({"id": ["a", "d"]}), ranks, judged, name="filter"
    ... ).select("n", *_COUNTS).rows()
    [(2, 1, 1, 1, 1, 0)]
    """
    if name in ranks["measure"].unique():
        raise ValueError(f"{name!r} is a measure already: give the subset another name")
    members = subset.select(pl.col("id").unique(), inside=pl.lit(value=True))
    placed = ranks.select("measure", "rank", "id").join(members, on="id", how="left").with_columns(
        pl.col("inside").fill_null(value=False)
    )  # fmt: skip
    size = pl.col("inside").sum().over("measure").cast(pl.Int64)
    apart = placed.with_columns(n=size, listed=pl.col("rank") <= size).filter(
        pl.col("inside") | pl.col("listed")
    )
    draws = judged.with_columns(
        seen=pl.when(pl.col("tp").is_not_null()).then("multiplicity").otherwise(0),
        hits=pl.when(pl.col("tp")).then("multiplicity").otherwise(0),
    ).select("category", "id", "seen", "hits")
    lists = judged.select(pl.col("category").unique()).join(apart, how="cross")
    joined = lists.join(draws, on=["category", "id"], how="left").with_columns(
        pl.col("seen", "hits").fill_null(0).cast(pl.Int64)
    )
    first, second = pl.col("inside") & ~pl.col("listed"), pl.col("listed") & ~pl.col("inside")
    counted = joined.group_by("category", "measure", "n").agg(
        size=first.sum().cast(pl.Int64),
        n_1=pl.col("seen").filter(first).sum(), k_1=pl.col("hits").filter(first).sum(),
        n_2=pl.col("seen").filter(second).sum(), k_2=pl.col("hits").filter(second).sum(),
    )  # fmt: skip
    named = counted.select(
        "category",
        pl.lit(name).alias("measure_1"),
        pl.col("measure").alias("measure_2"),
        "n",
        *_COUNTS,
    )
    return named.sort(*Comparison.key())
