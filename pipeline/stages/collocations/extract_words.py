"""Frequency lists of words from corpora or tables, and keywords from two lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem
from pipeline.kernels import cells
from pipeline.kernels.cells import NO_WORD, Kind, NumberFormat
from pipeline.kernels.cooccurrence import concordance, counting
from pipeline.kernels.cooccurrence.counting import (
    KNOWN_BY,
    OPEN,
    document_sizes,
    evenness,
    word_counts,
)
from pipeline.kernels.cooccurrence.tokens import PLACE, TOKEN, number_tokens, units
from pipeline.kernels.partitions import batches, ranges_of, spill_of
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import (
    FAULTS,
    CorpusSource,
    Counting,
    Of,
    Outputs,
    StageConfig,
    Tables,
    TableSource,
    WordSource,
    stage,
)
from pipeline.stages.collocations import extract_corpus
from pipeline.stages.collocations.extract_corpus import ExampleOptions, stop_words
from pipeline.stages.collocations.extract_tables import FORMER, faults_of, named_anew
from pipeline.stages.collocations.units import UnitOptions
from pipeline.stages.inputs import NumberOptions, named_columns, require_attributes
from schemas import (
    CorpusSize,
    DispersedWords,
    DocumentSizes,
    Examples,
    Keywords,
    WordCounts,
    WordFrequencies,
)
from schemas.words import Dispersion

# Keywords: the words of a corpus compared with a reference

_MILLION = 1_000_000.0


class ExtractKeywords(StageConfig):
    """Compare word frequencies of a target and a reference corpus, for keyword analysis."""

    target: Annotated[str, Of(WordFrequencies)]
    """Frequency list of the target corpus."""
    reference: Annotated[str, Of(WordFrequencies)]
    """Frequency list of the reference corpus, without the target."""
    name: str = Field(default="target", min_length=1)
    """Name of the target: l1 of every candidate."""
    min_frequency: int = Field(default=1, ge=0)
    """Drop words that are rarer in the target."""
    examples: Annotated[str | None, Of(Examples)] = None
    """Examples of the target's words, passed on to the candidates."""


@stage(
    "extract.keywords",
    config=ExtractKeywords,
    outputs={"candidates": Keywords, "examples": Examples},
)
def extract_keywords(config: ExtractKeywords, tables: Tables) -> Iterator[Outputs]:
    """Join the lists; missing words have frequency 0."""
    lists = [tables["target"], tables["reference"]]
    size = pl.col("N").max().fill_null(0)  # 0 for an empty list
    sizes = lists[0].select(f1=size).join(lists[1].select(size_reference=size), how="cross")
    both = sizes.collect(engine="streaming").lazy()
    ranges = ranges_of("id", *lists)

    def make(number: int) -> pl.LazyFrame:
        words = _join(*(ranges.of(each, number, by="id") for each in lists))
        rows = words.filter(pl.col("f") >= config.min_frequency).join(both, how="cross")
        return _signatures(rows, config.name).with_columns(candidate_id("l2").alias(FORMER))

    yield from named_anew(ranges, make, tables.get("examples"))


def _join(target: pl.LazyFrame, reference: pl.LazyFrame) -> pl.LazyFrame:
    other = reference.select("word", f_reference="f")
    words = _with_dispersion(target).join(other, on="word", how="full", coalesce=True)
    return words.with_columns(pl.col("f", "f_reference").fill_null(0))


def _with_dispersion(target: pl.LazyFrame) -> pl.LazyFrame:
    """Return word, f and dispersion (null for lists without documents)."""
    known = target.collect_schema()
    columns = {
        name: pl.col(name) if name in known else pl.lit(None, dtype)
        for name, dtype in Dispersion.columns().items()
    }
    return target.select("word", "f", **columns)


def _signatures(words: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """Return the candidates: R1 and R2 are corpus sizes, C1 is the word's frequency in both."""
    f, other = pl.col("f"), pl.col("f_reference")
    size, others = pl.col("f1"), pl.col("size_reference")
    table = words.with_columns(
        l1=pl.lit(name),
        l2=pl.col("word"),
        f2=f + other,
        N=size + others,
        per_million=pl.when(size > 0).then(f * _MILLION / size),
        per_million_reference=pl.when(others > 0).then(other * _MILLION / others),
    )
    return table.with_columns(candidate_id("l1", "l2")).select(list(Keywords.columns()))


# Frequency lists from a table

Column: TypeAlias = Literal["word", "f"]
_COLUMNS: tuple[Column, ...] = ("word", "f")
_NO_COUNT = "is not a whole number >= 0, or is too large to sum"


class ExtractWordTable(NumberOptions):
    """Read a word frequency list from a table."""

    path: TableSource
    """Files: CSV, TSV or Parquet. Counts of repeated words are summed."""
    columns: dict[Column, str] = Field(default_factory=dict)
    """Names of word and f in the file, if different."""
    fold: bool = False
    """Convert words to lower case."""
    size: int | None = Field(default=None, ge=1)
    """Corpus size N, if the list is incomplete (default: the sum of f)."""

    def number_columns(self, _schema: pl.Schema) -> dict[str, Kind]:
        """Return the count column."""
        return {self.columns.get("f", "f"): "count"}


_READ = pl.Schema({"word": pl.String, "f": pl.Int64})


@stage(
    "extract.word_table",
    config=ExtractWordTable,
    outputs={"words": WordFrequencies},
)
def extract_word_table(config: ExtractWordTable, tables: Tables) -> Iterator[Outputs]:
    """Parse and sum words and counts, with faults by line."""
    raw = tables["path"]
    schema = raw.collect_schema()
    names = named_columns(schema, config.columns, _COLUMNS)
    forms = config.formats(raw)
    counted = 0

    def read(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
        name = names["f"]
        f = cells.count_column(name, schema[name], forms[name], before=counted)
        return _read(config, rows, names, f, forms)

    def put(rows: pl.DataFrame) -> None:
        nonlocal counted
        counted += int(rows.get_column("f").sum())
        spill.put(rows, 0)

    with spill_of(1, _READ) as spill:
        yield {FAULTS: faults_of(raw.select("file", "line", *names.values()), read, put)}
        words = _add_up(spill.bucket(0), _size(config, counted))
        yield from ({"words": batch} for batch in batches(words))


def _read(
    config: ExtractWordTable,
    raw: pl.LazyFrame,
    names: dict[Column, str],
    f: pl.Expr,
    forms: Mapping[str, NumberFormat],
) -> list[pl.LazyFrame]:
    """Return valid rows, then unreadable words, then unreadable counts."""
    label = cells.text_or_null(names["word"])
    word = label.str.to_lowercase() if config.fold else label
    return [
        raw.select(word=word, f=f).drop_nulls(),
        cells.faults(raw, parsed={names["word"]: word}, problem=NO_WORD, required=True),
        cells.faults(raw, parsed={names["f"]: f}, problem=_NO_COUNT, required=True, forms=forms),
    ]


def _add_up(rows: pl.LazyFrame, size: int) -> pl.LazyFrame:
    """Return each word once, ordered by id."""
    words = rows.group_by("word").agg(pl.sum("f")).filter(pl.col("f") > 0)
    whole = words.with_columns(candidate_id("word"), N=pl.lit(size, pl.Int64))
    return whole.select(*WordFrequencies.columns()).sort("id")


def _size(config: ExtractWordTable, counted: int) -> int:
    """Return N, which must not be less than the sum of counts."""
    if config.size is not None and config.size < counted:
        what = f"{config.size:,} words are fewer than the {counted:,} in the list"
        raise ConfigError("size", [Problem("size", what, "give the size of the whole corpus")])
    return config.size or counted


# Frequency lists from a corpus

_WORD = ["word"]


class ExtractWords(ExampleOptions):
    """Count the words of a corpus, with their dispersion over documents."""

    corpus: CorpusSource
    """Corpus files: CoNLL-U, vertical, token table, plain text, TEI."""
    unit: UnitOptions
    """Definition of words; {} counts the lemma of every token."""
    stop_words: WordSource | None = None
    """Labels to exclude, also from N: one per line, or in a column word."""


def columns(config: ExtractWords) -> set[str]:
    """Return the token columns used."""
    place = {"file", "doc", "sentence", "position"}
    return place.union(config.example_columns(), *_attributes(config).values())


def merge(config: ExtractWords, tables: Tables) -> Outputs:
    """Sum the counts of parts of a corpus."""
    return {
        "counts": tables["counts"].group_by("word", *KNOWN_BY).agg(pl.sum("f")),
        "sizes": tables["sizes"].group_by(KNOWN_BY).agg(pl.sum("size")),
        "examples": concordance.merge(tables["examples"], most=config.examples),
        "corpus": tables["corpus"].group_by("what").agg(pl.sum("count")),
    }


def combine(config: ExtractWords, tables: Tables) -> Outputs:
    """Compute the dispersion of each word from the sizes of all documents."""
    counts = tables["counts"].with_columns(pl.col("word").cast(pl.String))
    words = evenness(counts, tables["sizes"]).with_columns(candidate_id("word"))
    return {
        "words": words.select(list(DispersedWords.columns())),
        "examples": concordance.merge(tables["examples"], most=config.examples),
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
    """Count the words of one part of a corpus by document, and choose examples."""
    require_attributes(tables["corpus"].collect_schema(), _attributes(config))
    tokens = number_tokens(tables["corpus"], in_order=True).collect()
    before = tables["open"].collect()
    sentences = counting.sentences(tokens.lazy(), before)
    rows = units(tokens.lazy(), config.unit.kernel(stop_words(tables))).collect()
    counts = word_counts(rows.lazy(), sentences).collect()
    words = extract_corpus.numbers({"words": rows.height})
    return {
        "counts": counts,
        "sizes": document_sizes(counts.lazy()),
        "examples": _examples(config, rows.lazy(), tokens.lazy()),
        "corpus": pl.concat([extract_corpus.unit_sizes(tokens, sentences, before), words]),
        "open": counting.left_open(sentences, before),
    }


def _examples(config: ExtractWords, rows: pl.LazyFrame, tokens: pl.LazyFrame) -> pl.LazyFrame:
    if not config.examples:
        return Examples.zero_rows()
    where = tokens.select(TOKEN, "file", "doc", "sentence", position_1=pl.col("position"))
    located = rows.drop(PLACE).rename({"unit": "word"}).join(where, on=TOKEN)
    return config.from_tokens(located, tokens, units=_WORD, number=1)


def _attributes(config: ExtractWords) -> dict[str, set[str]]:
    """Return the attributes used by each option."""
    used = {f"unit.{option}": names for option, names in config.unit.columns().items()}
    return used | config.example_attributes()
