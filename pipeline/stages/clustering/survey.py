"""What the counts of all tokens come to, looked at piece by piece, never as a whole."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from pipeline.kernels.clustering import tagged_types
from pipeline.stages.clustering.tags import TagOptions

EXAMPLES = 3
_ITEM = ["run", "item", "gold"]


class Survey(NamedTuple):
    """What is known of all tokens; small, but for `counting`, which has the items asked for."""

    sizes: pl.DataFrame
    """run, what, count: how many tokens count, and how many do not for which reason."""
    cells: pl.DataFrame
    """run, gold, cluster, f of the tokens that count."""
    alone: pl.DataFrame
    """item, f: the most frequent of those with tokens that count but have no cluster."""
    counting: pl.DataFrame
    """run, item, gold of tokens that count, of the items asked for."""

    def asked_for(self, config: TagOptions, tags: pl.LazyFrame, sentences: pl.LazyFrame) -> Survey:
        """Return the same with the items of some sentences as those asked for.

        Parameters
        ----------
        config : TagOptions
            What counts.
        tags : LazyFrame
            The counts of all tokens, in which the rows of an item stand together.
        sentences : LazyFrame
            Counts by sentence, with item.
        """
        items = sentences.select("item").unique().collect()
        if items.is_empty():
            return self._replace(counting=self.counting.clear())
        pieces = (piece.lazy() for piece in tagged_types.whole_items(tags))
        wanted = [_wanted(config.kept(piece), items).collect() for piece in pieces]
        return self._replace(counting=pl.concat([self.counting.clear(), *wanted]))

    def of_sentences(self, sentences: pl.LazyFrame) -> pl.LazyFrame:
        """Return the counts by sentence of the tokens that count; their items were asked for."""
        return sentences.join(self.counting.lazy(), on=_ITEM, how="semi")


def survey(config: TagOptions, tags: pl.LazyFrame, sentences: pl.LazyFrame | None = None) -> Survey:
    """Look at the counts of all tokens once.

    Parameters
    ----------
    config : TagOptions
        What counts.
    tags : LazyFrame
        The counts of all tokens, in which the rows of an item stand together.
    sentences : LazyFrame, optional
        Counts by sentence, of whose items it has to be known whether they count.
    """
    items = (tags.clear() if sentences is None else sentences).select("item").unique().collect()
    found = _of_items(config, tags.clear(), items)
    for piece in tagged_types.whole_items(tags):
        found = _both(found, _of_items(config, piece.lazy(), items))
    every = found.sizes.lazy().select("run").unique()
    kinds = tagged_types.kinds(found.cells.lazy(), every).collect()
    return found._replace(sizes=pl.concat([found.sizes, kinds.select(found.sizes.columns)]))


def _of_items(config: TagOptions, tags: pl.LazyFrame, items: pl.DataFrame) -> Survey:
    """Return what is known of some items, all of whose rows are there; no classes in the sizes."""
    kept = config.kept(tags)
    alone = kept.filter(pl.col("cluster").is_null()).select("item", "f")
    parts = [config.sizes(tags), _cells(kept), _most(alone), _wanted(kept, items)]
    return Survey(*pl.collect_all(parts))


def _wanted(kept: pl.LazyFrame, items: pl.DataFrame) -> pl.LazyFrame:
    """Return run, item and class of the tokens that count, of some items."""
    own = kept.join(items.lazy(), on="item", how="semi", nulls_equal=True)
    return own.select(_ITEM).unique()


def _both(one: Survey, two: Survey) -> Survey:
    """Put together what is known of some items and of others."""
    sizes, cells, alone, counting = (pl.concat(pair) for pair in zip(one, two, strict=True))
    added = sizes.group_by("run", "what").agg(pl.sum("count"))
    most = _most(alone.lazy()).collect()
    return Survey(added, _cells(cells.lazy()).collect(), most, counting)


def _cells(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.group_by("run", "gold", "cluster").agg(pl.sum("f"))


def _most(rows: pl.LazyFrame) -> pl.LazyFrame:
    by_item = rows.group_by("item").agg(pl.sum("f"))
    return by_item.sort("f", "item", descending=[True, False]).head(EXAMPLES)
