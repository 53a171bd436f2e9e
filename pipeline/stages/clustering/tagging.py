"""What stages that read a tagging have in common: a gold and an induced tag for each token."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline.errors import DataError
from pipeline.stages.base import Outputs
from pipeline.stages.clustering.survey import Survey, survey
from pipeline.stages.clustering.tags import TagOptions, require_tags
from pipeline.stages.late import Late
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

    system: Annotated[str, Late()] = Field(min_length=1)
    """What the system is called."""
    untagged: Annotated[bool, Late()] = False
    """Whether tokens without an induced tag are kept, as tokens of no cluster, and counted;
    otherwise they are an error."""


def surveyed(
    config: TaggingOptions, tags: pl.LazyFrame, sentences: pl.LazyFrame | None = None
) -> Survey:
    """Look at the counts of all tokens once, see `survey`.

    Raises
    ------
    DataError
        If no token counts, or if of those that do some have no induced tag, or none has one.
    """
    found = survey(config, tags, sentences)
    require_tags(config, found.sizes)
    _require_some_clusters(config, found)
    if not config.untagged:
        _require_clusters(config, found)
    return found


def tagging_outputs(
    config: TaggingOptions, found: Survey, tags: pl.LazyFrame, sentences: pl.LazyFrame
) -> Outputs:
    """Return the tables of a tagging from the counts of its tokens, what does not count left out.

    Parameters
    ----------
    config : TaggingOptions
        What counts.
    found : Survey
        What is known of all tokens, the items of the sentences asked for.
    tags, sentences : LazyFrame
        The counts, the rows of an item together; or a bucket of each.
    """
    tagged = config.kept(tags).with_columns(system=pl.lit(config.system))
    entry = ["system", "run", "item", "cluster"]
    by_run = tagged.group_by("run", "item", "gold").agg(pl.sum("f"))
    by_sentence = found.of_sentences(sentences).drop("item")
    key = [name for name in TaggedSentences.key() if name != "system"]
    return {
        "tagged": tagged.select("system", "run", "item", "gold", "cluster", "f"),
        "entries": tagged.drop_nulls("cluster").group_by(entry).agg(pl.sum("f")),
        "gold": by_run.group_by("item", "gold").agg(pl.max("f")),
        "sentences": by_sentence.group_by(key)
        .agg(pl.sum("f"))
        .select(pl.lit(config.system).alias("system"), *key, "f"),
        "sizes": found.sizes.select(pl.lit(config.system).alias("system"), pl.all()),
    }


def _require_some_clusters(config: TaggingOptions, found: Survey) -> None:
    """Refuse a run none of whose tokens has an induced tag: it would be missing at type level."""
    some = pl.col("cluster").is_not_null().any()
    runs = found.cells.group_by("run").agg(pl.sum("f"), some=some)
    bare = runs.filter(~pl.col("some")).sort("run")
    if bare.is_empty():
        return
    counts = "; ".join(f"run {run}: none of {f:,}" for run, f, _ in bare.head(3).iter_rows())
    raise DataError(
        f"system {config.system}: {bare.height:,} of its runs have no induced tag on any token that"
        f" counts: {counts}\nLook at the option cluster: it may name the wrong attribute."
    )


def _require_clusters(config: TaggingOptions, found: Survey) -> None:
    alone = found.cells.filter(pl.col("cluster").is_null())
    if alone.is_empty():
        return
    runs = alone.group_by("run").agg(pl.sum("f")).sort("run")
    counts = "; ".join(f"run {run}: {f:,}" for run, f in runs.iter_rows())
    shown = ", ".join(repr(item) for item in found.alone["item"])
    raise DataError(
        f"system {config.system}: there are tokens without an induced tag: {counts}, such as"
        f" {shown}\nTag them, exclude their gold class, or keep them as tokens of no cluster:"
        " untagged = true"
    )
