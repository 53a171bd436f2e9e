"""The frequency list of a corpus: words counted part by part, with their dispersion."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.cooccurrence import documents, examples
from pipeline.kernels.cooccurrence.documents import KNOWN_BY, OPEN
from pipeline.kernels.cooccurrence.evenness import evenness
from pipeline.kernels.cooccurrence.tokens import PLACE, TOKEN, numbered
from pipeline.kernels.cooccurrence.units import units
from pipeline.kernels.cooccurrence.word_counts import document_sizes, word_counts
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import CorpusSource, Outputs, Tables, TableSource, stage
from pipeline.stages.collocations import pair_counting
from pipeline.stages.collocations.example_options import ExampleOptions
from pipeline.stages.collocations.extract_pairs import stop_words
from pipeline.stages.collocations.units import UnitOptions
from pipeline.stages.columns import require_attributes
from pipeline.stages.counting import Counting
from schemas import CorpusSize, DispersedWords, DocumentSizes, Examples, WordCounts

_WORD = ["word"]


class ExtractWords(ExampleOptions):
    """Count the words of a corpus, and how evenly its documents have them."""

    corpus: CorpusSource
    """File or files: CoNLL-U, vertical, token table, plain text."""
    unit: UnitOptions
    """What a word is: {} counts the lemma of every token."""
    stop_words: TableSource | None = None
    """File with a column word: labels that are no words, and do not count in N either."""


def columns(config: ExtractWords) -> set[str]:
    """Return the columns of the tokens that are looked at."""
    used = {name for names in _attributes(config).values() for name in names}
    return {"file", "doc", "sentence", "position"} | used | config.looked_at()


def merge(config: ExtractWords, tables: Tables) -> Outputs:
    """Add up the counts of parts of a corpus."""
    return {
        "counts": tables["counts"].group_by("word", *KNOWN_BY).agg(pl.sum("f")),
        "sizes": tables["sizes"].group_by(KNOWN_BY).agg(pl.sum("size")),
        "examples": examples.merge(tables["examples"], most=config.examples),
        "corpus": tables["corpus"].group_by("what").agg(pl.sum("count")),
    }


def combine(config: ExtractWords, tables: Tables) -> Outputs:
    """Take the dispersion of each word, now that the sizes of all documents are known."""
    counts = tables["counts"].with_columns(pl.col("word").cast(pl.String))
    words = evenness(counts, tables["sizes"]).with_columns(candidate_id("word"))
    return {
        "words": words.select(list(DispersedWords.columns())),
        "examples": examples.merge(tables["examples"], most=config.examples),
        "corpus": tables["corpus"].sort("what"),
    }


@stage(
    "extract.words",
    config=ExtractWords,
    outputs={"words": DispersedWords, "examples": Examples, "corpus": CorpusSize},
    shards="corpus",
    counting=Counting(
        partials={
            "counts": WordCounts,
            "sizes": DocumentSizes,
            "examples": Examples,
            "corpus": CorpusSize,
        },
        merge=merge,
        combine=combine,
        columns=columns,
        carry={"open": OPEN},
        in_parts=True,
        buckets={
            "counts": candidate_id("word"),
            "examples": pl.col("id"),
            "words": pl.col("id"),
        },
    ),
)
def extract_words(config: ExtractWords, tables: Tables) -> Outputs:
    """Count the words of one part of a corpus, document by document, and choose examples."""
    require_attributes(tables["corpus"].collect_schema(), _attributes(config))
    tokens = numbered(tables["corpus"], in_order=True).collect()
    before = tables["open"].collect()
    sentences = documents.sentences(tokens.lazy(), before)
    found = units(tokens.lazy(), config.unit.kernel(stop_words(tables))).collect()
    counts = word_counts(found.lazy(), sentences).collect()
    words = pair_counting.numbers({"words": found.height})
    return {
        "counts": counts,
        "sizes": document_sizes(counts.lazy()),
        "examples": _examples(config, found.lazy(), tokens.lazy()),
        "corpus": pl.concat([pair_counting.sizes(tokens, sentences, before), words]),
        "open": documents.left_open(sentences, before),
    }


def _examples(config: ExtractWords, found: pl.LazyFrame, tokens: pl.LazyFrame) -> pl.LazyFrame:
    if not config.examples:
        return Examples.zero_rows()
    where = tokens.select(TOKEN, "file", "doc", "sentence", position_1=pl.col("position"))
    located = found.drop(PLACE).rename({"unit": "word"}).join(where, on=TOKEN)
    return config.from_tokens(located, tokens, units=_WORD, number=1)


def _attributes(config: ExtractWords) -> dict[str, set[str]]:
    """Return the attributes that each option uses."""
    used = {f"unit.{option}": names for option, names in config.unit.columns().items()}
    return used | config.shown()
