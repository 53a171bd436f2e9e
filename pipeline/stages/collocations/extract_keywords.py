"""Keywords: the words of one corpus beside those of another, as candidates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline.kernels.hashing import candidate_id
from pipeline.kernels.parts import ranges_of
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, as_one, stage
from pipeline.stages.collocations.named_anew import FORMER, named_anew
from schemas import Examples, Keywords, WordFrequencies
from schemas.words import Dispersed

_MILLION = 1_000_000.0


class ExtractKeywords(StageConfig):
    """Set the words of a corpus against those of a reference, as candidates for keywords."""

    target: Annotated[str, Of(WordFrequencies)]
    """Words of the corpus that is described."""
    reference: Annotated[str, Of(WordFrequencies)]
    """Words of the corpus that it is compared with; it should not contain the target."""
    name: str = Field(default="target", min_length=1)
    """What the target is called: l1 of every candidate."""
    min_frequency: int = Field(default=1, ge=0)
    """Drop words that are rarer in the target; 0 keeps those that the reference alone has. The
    sizes stay as they are."""
    examples: Annotated[str | None, Of(Examples)] = None
    """Sentences of the target's words, to become those of the candidates."""


def _pieces(config: ExtractKeywords, tables: Tables) -> Iterator[Outputs]:
    """Yield the keywords, then their examples; words are joined in ranges of their ids."""
    lists = [tables["target"], tables["reference"]]
    size = pl.col("N").max().fill_null(0)  # of an empty list 0
    sizes = lists[0].select(f1=size).join(lists[1].select(size_reference=size), how="cross")
    both = sizes.collect(engine="streaming").lazy()
    ranges = ranges_of("id", *lists)

    def make(number: int) -> pl.LazyFrame:
        words = _joined(*(ranges.of(each, number, by="id") for each in lists))
        kept = words.filter(pl.col("f") >= config.min_frequency).join(both, how="cross")
        return _signatures(kept, config.name).with_columns(candidate_id("l2").alias(FORMER))

    yield from named_anew(ranges, make, tables.get("examples"))


@stage(
    "extract.keywords",
    config=ExtractKeywords,
    outputs={"candidates": Keywords, "examples": Examples},
    pieces=_pieces,
)
def extract_keywords(config: ExtractKeywords, tables: Tables) -> Outputs:
    """Join the two lists; a word that one of them has not has the frequency 0 there."""
    return as_one(_pieces(config, tables))


def _joined(target: pl.LazyFrame, reference: pl.LazyFrame) -> pl.LazyFrame:
    other = reference.select("word", f_reference="f")
    words = _dispersed(target).join(other, on="word", how="full", coalesce=True)
    return words.with_columns(pl.col("f", "f_reference").fill_null(0))


def _dispersed(target: pl.LazyFrame) -> pl.LazyFrame:
    """Return word, f and the dispersion; null where the list has none, such as one from a table."""
    known = target.collect_schema()
    columns = {
        name: pl.col(name) if name in known else pl.lit(None, dtype)
        for name, dtype in Dispersed.columns().items()
    }
    return target.select("word", "f", **columns)


def _signatures(words: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """Return the candidates: R1 and R2 are the corpora, C1 is the word in both."""
    f, other = pl.col("f"), pl.col("f_reference")
    size, others = pl.col("f1"), pl.col("size_reference")
    named = words.with_columns(
        l1=pl.lit(name),
        l2=pl.col("word"),
        f2=f + other,
        N=size + others,
        per_million=pl.when(size > 0).then(f * _MILLION / size),
        per_million_reference=pl.when(others > 0).then(other * _MILLION / others),
    )
    return named.with_columns(candidate_id("l1", "l2")).select(list(Keywords.columns()))
