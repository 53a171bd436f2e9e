"""From the tags of tokens to entries of items: what counts, and how much does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
_BATCH = 100_000
"""Rows of counts to look at in one go."""


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


def sizes(
    tags: pl.LazyFrame, *, exclude: Sequence[str] = (), min_frequency: int = 1
) -> pl.LazyFrame:
    """Say how many tokens were read in each run, and how many do not count for which reason.

    All of these add up where the rows of each item are together in one of several tables; how
    many classes and clusters there are does not: see `kinds`.

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
    alone = counting.filter(pl.col("cluster").is_null())
    named += [
        _said(every, counting, "tokens that count", f.sum()),
        _said(every, counting, "items", pl.col("item").n_unique()),
        _said(every, alone, "tokens that count but have no cluster", f.sum()),
    ]
    return pl.concat(named)


def kinds(cells: pl.LazyFrame, every: pl.LazyFrame) -> pl.LazyFrame:
    """Say how many classes and clusters there are in each run.

    Parameters
    ----------
    cells : LazyFrame
        run, gold and cluster of the tokens that count.
    every : LazyFrame
        All runs, with or without such tokens.

    Returns
    -------
    LazyFrame
        run, what, count.
    """
    return pl.concat(
        [
            _said(every, cells, "classes", pl.col("gold").n_unique()),
            _said(every, cells, "clusters", pl.col("cluster").drop_nulls().n_unique()),
        ]
    )


def whole_items(tags: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the rows in pieces that never cut those of an item.

    Parameters
    ----------
    tags : LazyFrame
        As `counted` gives it; the rows of an item stand together.

    Examples
    --------
    >>> tags = pl.LazyFrame({"item": ["a", "b", "b"]})
    >>> [piece.height for piece in whole_items(tags)]
    [1, 2]
    """
    held: list[pl.DataFrame] = []
    for batch in tags.collect_batches(chunk_size=_BATCH, maintain_order=True):
        if batch.is_empty():
            continue
        rows = pl.concat([*held, batch])
        number = rows.get_column("item").rle_id()
        last = int(number.search_sorted(number[-1], side="left"))
        if last:
            yield rows[:last]
        held = [rows[last:]]
    yield from held


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
