"""What stages that read a tagging have in common: a gold and an induced tag for each token."""

from __future__ import annotations

import polars as pl
from pydantic import Field

from pipeline.errors import DataError
from pipeline.stages.base import Outputs
from pipeline.stages.tags import TagOptions, require_tags
from schemas import GoldEntries, InducedEntries, SystemSize, TaggedSentences, TaggedTypes

OUTPUTS = {
    "tagged": TaggedTypes,
    "entries": InducedEntries,
    "gold": GoldEntries,
    "sentences": TaggedSentences,
    "sizes": SystemSize,
}


class TaggingOptions(TagOptions):
    """Options of every stage that reads a tagging."""

    system: str = Field(min_length=1)
    """What the system is called."""
    untagged: bool = False
    """Whether tokens without an induced tag are kept, as tokens of no cluster, and counted;
    otherwise they are an error."""


def tagging_outputs(config: TaggingOptions, tags: pl.LazyFrame, sentences: pl.LazyFrame) -> Outputs:
    """Return the tables of a tagging from the counts of its tokens, what does not count left out.

    Raises
    ------
    DataError
        If no token counts, or if some of those that do have no induced tag.
    """
    sizes = config.dropped(tags).collect()
    require_tags(config, sizes.lazy())
    if not config.untagged:
        _require_clusters(config, sizes)
    tagged = config.kept(tags).with_columns(system=pl.lit(config.system))
    entry = ["system", "run", "item", "cluster"]
    by_run = tagged.group_by("run", "item", "gold").agg(pl.sum("f"))
    by_sentence = config.kept_sentences(tags, sentences).drop("item")
    key = [name for name in TaggedSentences.key() if name != "system"]
    return {
        "tagged": tagged.select("system", "run", "item", "gold", "cluster", "f"),
        "entries": tagged.drop_nulls("cluster").group_by(entry).agg(pl.sum("f")),
        "gold": by_run.group_by("item", "gold").agg(pl.max("f")),
        "sentences": by_sentence.group_by(key)
        .agg(pl.sum("f"))
        .select(pl.lit(config.system).alias("system"), *key, "f"),
        "sizes": sizes.select(pl.lit(config.system).alias("system"), pl.all()),
    }


def _require_clusters(config: TaggingOptions, sizes: pl.DataFrame) -> None:
    alone = sizes.filter(what="tokens that count but have no cluster").filter(pl.col("count") > 0)
    if alone.height:
        runs = "; ".join(f"run {run}: {n:,}" for run, n in alone.select("run", "count").rows())
        raise DataError(
            f"system {config.system}: there are tokens without an induced tag: {runs}\n"
            "Tag them, exclude their gold class, or keep them as tokens of no cluster:"
            " untagged = true"
        )
