"""The sampled candidates with their judgements: what all evaluation starts from."""

from __future__ import annotations

import polars as pl


def judged(draws: pl.LazyFrame, judgements: pl.LazyFrame) -> pl.LazyFrame:
    """Put draws and judgements together: every draw once per category.

    Parameters
    ----------
    draws : LazyFrame
        id and multiplicity of the sampled candidates; of all of them, with multiplicity 1,
        where the annotation is evaluated in full.
    judgements : LazyFrame
        category, id, tp; a null where judgements differ.

    Returns
    -------
    LazyFrame
        category, id, tp (null = not judged, or undecided), multiplicity, and undecided, which
        says whether it is null since judgements differ.

    Examples
    --------
    >>> draws = pl.LazyFrame({"id": ["a", "b"], "multiplicity": [1, 2]})
    >>> given = pl.LazyFrame({"category": ["TP"], "id": ["b"], "tp": [True]})
    >>> judged(draws, given).sort("id").collect().rows()
    [('TP', 'a', None, 1, False), ('TP', 'b', True, 2, False)]
    """
    categories = judgements.select(pl.col("category").unique())
    every = categories.join(draws.select("id", "multiplicity"), how="cross")
    seen = judgements.with_columns(undecided=pl.col("tp").is_null())
    full = every.join(seen, on=["category", "id"], how="left")
    undecided = pl.col("undecided").fill_null(value=False)
    return full.select("category", "id", "tp", "multiplicity", undecided)


def all_candidates(ranks: pl.LazyFrame) -> pl.LazyFrame:
    """Return every ranked candidate as one draw: the full evaluation.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": ["mi", "dice"], "id": ["a", "a"]})
    >>> all_candidates(ranks).collect().rows()
    [('a', 1)]
    """
    return ranks.select(pl.col("id").unique(), multiplicity=pl.lit(1, pl.Int64))


def ranked_candidates(ranks: pl.LazyFrame) -> pl.LazyFrame:
    """Return every ranked candidate as one draw.

    Where no pool leaves ranks out they are those of any one measure, as all rank the same: then
    the others need not be looked at.

    Parameters
    ----------
    ranks : LazyFrame
        Table `Ranks` or `PooledRanks`.

    Returns
    -------
    LazyFrame
        id, and multiplicity 1, as of `all_candidates`.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": ["mi", "dice"], "id": ["a", "a"]})
    >>> ranked_candidates(ranks).collect().rows()
    [('a', 1)]
    """
    has = ranks.collect_schema()
    if "pool_depth" in has or "measure" not in has:
        return all_candidates(ranks)
    sizes = ranks.group_by("measure").agg(pl.len()).sort("measure").collect(engine="streaming")
    if sizes["len"].n_unique() != 1:
        return all_candidates(ranks)
    one = ranks.filter(pl.col("measure") == sizes["measure"][0])
    return one.select("id", multiplicity=pl.lit(1, pl.Int64))
