"""Options of all stages that read the tags of tokens: what is an item, a class, what counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from pipeline.errors import DataError
from pipeline.kernels.clustering import tagged_types
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import Outputs, StageConfig, Tables
from pipeline.stages.columns import require_attributes
from pipeline.stages.counting import Counting
from pipeline.stages.late import Late
from schemas import TokenSentences, TokenTags

GOLD_RUN = ""
"""The run of a gold standard, which has none."""
PLACE = ("file", "sentence")
"""What tells sentences apart."""
_SENTENCES = 4
"""How many times as much memory tokens take by sentence, where hardly any two are alike."""
PARTIALS = {"tags": TokenTags, "sentences": TokenSentences}
ALL = "all tags"
"""The counts of the items of all buckets."""
BY_ITEM = candidate_id(pl.col("item").fill_null(""))
"""What counts of items are divided by."""
BY_SENTENCE = candidate_id("file", pl.col("sentence").cast(pl.String))
"""What counts of sentences are divided by."""


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
    def weight(self) -> int:
        """How many times as much memory the counts of a token take as those of a pair."""
        return _SENTENCES if self.sentences else 1

    @property
    def attributes(self) -> dict[str, set[str]]:
        """The attributes that each option names."""
        return {"item": {self.item}, "tag": {self.tag}}

    def kept(self, tags: pl.LazyFrame) -> pl.LazyFrame:
        """Return the tokens that count."""
        return tagged_types.kept(tags, exclude=self.exclude, min_frequency=self.min_frequency)

    def sizes(self, tags: pl.LazyFrame) -> pl.LazyFrame:
        """Return how many count and how many do not, by run."""
        return tagged_types.sizes(tags, exclude=self.exclude, min_frequency=self.min_frequency)


def require_tags(config: TagOptions, sizes: pl.DataFrame) -> None:
    """Refuse tokens none of which counts: an option names the wrong attribute.

    Parameters
    ----------
    config : TagOptions
        The options.
    sizes : DataFrame
        run, what, count: what `TagOptions.sizes` gives.

    Raises
    ------
    DataError
        Saying how many tokens there are, and why they do not count.
    """
    first = sizes.filter(pl.col("run") == pl.col("run").min())
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
    """Add up the counts of parts of a corpus, the rows of an item together."""
    return {
        "tags": tagged_types.counted(tables["tags"]).sort("item"),
        "sentences": _by_sentence(tables["sentences"]),
    }


def counting(
    combine: Callable[[Any, Tables], Outputs], columns: Callable[[Any], set[str]], *outputs: str
) -> Counting:
    """Return how stages count tags: by item, and by sentence.

    Parameters
    ----------
    combine : callable
        What makes the outputs.
    columns : callable
        The columns of the tokens that are looked at.
    *outputs : str
        Those that are divided by their items; ``sentences`` is divided by sentence.
    """
    return Counting(
        partials=PARTIALS,
        merge=merge_tags,
        combine=combine,
        columns=columns,
        buckets={
            "tags": BY_ITEM,
            "sentences": BY_SENTENCE,
            **dict.fromkeys(outputs, BY_ITEM),
        },
        undivided={ALL: "tags"},
        weight=lambda config: config.weight,
    )


def _by_sentence(tags: pl.LazyFrame) -> pl.LazyFrame:
    return tagged_types.counted(tags, *PLACE).select(*TokenSentences.columns())
