"""Options of all stages that read the tags of tokens: what is an item, a class, what counts."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline.errors import DataError
from pipeline.kernels.clustering import tagged_types
from pipeline.stages.base import StageConfig, Tables
from pipeline.stages.columns import require_attributes
from pipeline.stages.late import Late
from schemas import TokenSentences, TokenTags

GOLD_RUN = ""
"""The run of a gold standard, which has none."""
PLACE = ("file", "sentence")
"""What tells sentences apart."""
PARTIALS = {"tags": TokenTags, "sentences": TokenSentences}


class TagOptions(StageConfig):
    """Which tokens count, as which item, in which gold class."""

    item: str = "form"
    """The attribute that tells items apart: form, or lemma."""
    tag: str = "upos"
    """The attribute with the gold class: upos, xpos, or a column of the table."""
    exclude: Annotated[tuple[str, ...], Late()] = ()
    """Gold classes whose tokens are removed before anything else, such as ["PUNCT"]."""
    fold: bool = False
    """Whether items are put into lower case."""
    min_frequency: Annotated[int, Late()] = Field(default=1, ge=1)
    """Leave out items with fewer tokens, the excluded tokens not counted."""
    sentences: bool = False
    """Whether the counts of each sentence are kept too, for bootstrap intervals."""

    def read(self, tokens: pl.LazyFrame, **further: pl.Expr) -> pl.LazyFrame:
        """Return run, item, gold and cluster of tokens, null where there is none.

        Raises
        ------
        ConfigError
            If the tokens have no such attribute.
        """
        require_attributes(tokens.collect_schema(), self.attributes)
        columns = {
            "run": pl.lit(GOLD_RUN),
            "item": tagged_types.attribute(self.item, fold=self.fold),
            "gold": tagged_types.attribute(self.tag),
            "cluster": pl.lit(None, pl.String),
            **further,
        }
        place = PLACE if self.sentences else ()
        return tokens.select(*(value.alias(name) for name, value in columns.items()), *place)

    def counted(self, tags: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
        """Return the counts of tokens, and those of each sentence if they are wanted."""
        by_sentence = _by_sentence(tags) if self.sentences else TokenSentences.zero_rows()
        return {"tags": tagged_types.counted(tags), "sentences": by_sentence}

    def columns(self) -> set[str]:
        """Return the columns of the tokens that are looked at."""
        return {name for names in self.attributes.values() for name in names} | {*PLACE}

    @property
    def attributes(self) -> dict[str, set[str]]:
        """The attributes that each option names."""
        return {"item": {self.item}, "tag": {self.tag}}

    def kept(self, tags: pl.LazyFrame) -> pl.LazyFrame:
        """Return the tokens that count."""
        return tagged_types.kept(tags, exclude=self.exclude, min_frequency=self.min_frequency)

    def kept_sentences(self, tags: pl.LazyFrame, sentences: pl.LazyFrame) -> pl.LazyFrame:
        """Return the counts by sentence of the tokens that count."""
        kept = self.kept(tags).select("run", "item", "gold").unique()
        return sentences.join(kept, on=["run", "item", "gold"], how="semi")

    def dropped(self, tags: pl.LazyFrame) -> pl.LazyFrame:
        """Return how many count and how many do not, by run."""
        return tagged_types.dropped(tags, exclude=self.exclude, min_frequency=self.min_frequency)


def require_tags(config: TagOptions, sizes: pl.LazyFrame) -> None:
    """Refuse tokens none of which counts: an option names the wrong attribute.

    Parameters
    ----------
    config : TagOptions
        The options.
    sizes : LazyFrame
        What `TagOptions.dropped` gives.

    Raises
    ------
    DataError
        Saying how many tokens there are, and why they do not count.
    """
    first = sizes.filter(pl.col("run") == pl.col("run").min()).collect()
    counts = dict(first.select("what", "count").iter_rows())
    if not counts or counts["tokens that count"]:
        return
    every = counts.pop("tokens")
    reasons = sorted(what for what, count in counts.items() if count and "tokens" in what)
    shown = ", ".join(f"{counts[what]:,} {what}" for what in reasons)
    raise DataError(
        f"none of the {every:,} tokens counts: {shown}\n"
        f"Look at the options tag ({config.tag!r}), item ({config.item!r}), exclude and"
        " min_frequency."
    )


def merge_tags(_config: TagOptions, tables: Tables) -> dict[str, pl.LazyFrame]:
    """Add up the counts of parts of a corpus."""
    return {
        "tags": tagged_types.counted(tables["tags"]),
        "sentences": _by_sentence(tables["sentences"]),
    }


def _by_sentence(tags: pl.LazyFrame) -> pl.LazyFrame:
    return tagged_types.counted(tags, *PLACE).select(*TokenSentences.columns())
