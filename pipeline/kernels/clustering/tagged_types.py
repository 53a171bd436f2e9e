"""From the tags of tokens to entries of items: what counts, and how much does not."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl


def attribute(name: str, *, fold: bool = False) -> pl.Expr:
    """Return an attribute of tokens as text, in lower case if asked; null where it is empty.

    Examples
    --------
    >>> forms = pl.DataFrame({"form": ["The", "", None]})
    >>> forms.select(attribute("form", fold=True)).to_series().to_list()
    ['the', None, None]
    """
    text = pl.col(name).cast(pl.String)
    text = text.str.to_lowercase() if fold else text
    return pl.when(text != "").then(text)


TAGS = ("run", "item", "gold", "cluster")
"""What is known of a token."""


def counted(tags: pl.LazyFrame, *further: str) -> pl.LazyFrame:
    """Count tokens that are alike.

    Parameters
    ----------
    tags : LazyFrame
        `TAGS` and further columns; a row for each token, or with f for several.
    *further : str
        Columns that are told apart besides `TAGS`, such as file and sentence.

    Returns
    -------
    LazyFrame
        The same columns and f, as in `schemas.TokenTags`.
    """
    has = tags.collect_schema().names()
    f = pl.col("f").sum() if "f" in has else pl.len()
    return tags.group_by(*TAGS, *further).agg(f=f.cast(pl.Int64))


def kept(
    tags: pl.LazyFrame, *, exclude: Sequence[str] = (), min_frequency: int = 1
) -> pl.LazyFrame:
    """Return the tokens that count: tagged, of no excluded class, of items seen often enough.

    The excluded are removed first: an item's frequency is that of what is left.

    Parameters
    ----------
    tags : LazyFrame
        As `counted` gives it.
    exclude : sequence of str
        Classes whose tokens do not count.
    min_frequency : int
        Items with fewer tokens in a run are left out.

    Examples
    --------
    >>> rows = {"run": [""] * 3, "item": ["a", "a", "."], "gold": ["N", "V", "."]}
    >>> tags = counted(pl.LazyFrame(rows | {"cluster": ["1", "1", "2"]}))
    >>> kept(tags, exclude=["."]).collect().sort("gold").select("item", "gold", "f").rows()
    [('a', 'N', 1), ('a', 'V', 1)]
    """
    usable = _usable(tags).filter(~_of(exclude))
    return usable.filter(_frequency() >= min_frequency) if min_frequency > 1 else usable


def dropped(
    tags: pl.LazyFrame, *, exclude: Sequence[str] = (), min_frequency: int = 1
) -> pl.LazyFrame:
    """Say how many tokens were read in each run, and how many do not count for which reason.

    Parameters
    ----------
    tags, exclude, min_frequency
        As for `kept`.

    Returns
    -------
    LazyFrame
        run, what, count. Every token is in one row: those that count, or one of the reasons.
    """
    usable, f = _usable(tags), pl.col("f")
    left = usable.filter(~_of(exclude))
    parts = {
        "tokens without a gold tag": tags.filter(pl.col("gold").is_null()),
        "tokens without an item": tags.filter(
            pl.col("gold").is_not_null(), pl.col("item").is_null()
        ),
        **{f"tokens of the excluded class {one}": usable.filter(_of([one])) for one in exclude},
    }
    if min_frequency > 1:
        rare = left.filter(_frequency() < min_frequency)
        parts[f"tokens of items seen less than {min_frequency} times"] = rare
    every = tags.group_by("run").agg(count=f.sum())
    named = [every.select("run", pl.lit("tokens").alias("what"), "count")]
    named += [_said(every, part, what, f.sum()) for what, part in parts.items()]
    counting = kept(tags, exclude=exclude, min_frequency=min_frequency)
    return pl.concat([*named, *_left(every, counting)])


def _left(every: pl.LazyFrame, counting: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Say how much is left, and of it what has no cluster."""
    alone = counting.filter(pl.col("cluster").is_null())
    return [
        _said(every, counting, "tokens that count", pl.col("f").sum()),
        _said(every, counting, "items", pl.col("item").n_unique()),
        _said(every, counting, "classes", pl.col("gold").n_unique()),
        _said(every, counting, "clusters", pl.col("cluster").drop_nulls().n_unique()),
        _said(every, alone, "tokens that count but have no cluster", pl.col("f").sum()),
    ]


def _said(every: pl.LazyFrame, part: pl.LazyFrame, what: str, count: pl.Expr) -> pl.LazyFrame:
    """Return a count for each run, 0 where the run has no such rows."""
    by_run = part.group_by("run").agg(count=count.cast(pl.Int64))
    rows = every.select("run").join(by_run, on="run", how="left")
    return rows.select("run", pl.lit(what).alias("what"), pl.col("count").fill_null(0))


def _usable(tags: pl.LazyFrame) -> pl.LazyFrame:
    return tags.filter(pl.col("gold").is_not_null(), pl.col("item").is_not_null())


def _of(classes: Sequence[str]) -> pl.Expr:
    return pl.col("gold").is_in(list(classes))


def _frequency() -> pl.Expr:
    return pl.col("f").sum().over("run", "item")
