"""Gold entries from a tagged corpus: which classes each word type occurs in, and how often."""

from __future__ import annotations

import polars as pl

from pipeline.stages.base import CorpusSource, Outputs, Tables, stage
from pipeline.stages.clustering.survey import survey
from pipeline.stages.clustering.tags import ALL, TagOptions, counting, require_tags
from schemas import CorpusSize, GoldEntries, GoldSentences


class ExtractGold(TagOptions):
    """Read the gold classes of word types, and their tokens, from a tagged corpus."""

    corpus: CorpusSource
    """File or files: CoNLL-U, vertical, token table, each also gzipped; Parquet."""


def combine(config: ExtractGold, tables: Tables) -> Outputs:
    """Leave out what does not count."""
    tags, sentences = tables["tags"], tables["sentences"]
    found = survey(config, tables.get(ALL, tags), sentences)
    require_tags(config, found.sizes)
    of_tokens = ~pl.col("what").is_in(["clusters", "tokens that count but have no cluster"])
    return {
        "entries": config.kept(tags).select("item", "gold", "f"),
        "sentences": found.of_sentences(sentences).select(*GoldSentences.columns()),
        "sizes": found.sizes.filter(of_tokens).select("what", "count"),
    }


@stage(
    "extract.gold",
    config=ExtractGold,
    outputs={"entries": GoldEntries, "sentences": GoldSentences, "sizes": CorpusSize},
    shards="corpus",
    counting=counting(combine, ExtractGold.columns, "entries"),
)
def extract_gold(config: ExtractGold, tables: Tables) -> Outputs:
    """Count the tokens of one part of the corpus by item and class."""
    return config.counted(config.read(tables["corpus"]))
