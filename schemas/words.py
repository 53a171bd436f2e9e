"""Tokens of a corpus, frequency lists of words, and keywords."""

from __future__ import annotations

import polars as pl
from polars import selectors

from schemas.base import OpenTable, Table, column, rule
from schemas.candidates import Candidates

# Tokens, with their place and attributes


class Tokens(OpenTable):
    """One row per token: its position, and further columns for its attributes.

    Attributes are text, null if unknown. An optional column ``head`` gives the position of the
    token's head in the sentence: 0 for the root, null for none.
    """

    file: str = column("input file, as named in the experiment", key=True)
    line: int = column("line of the file (row of a binary file), from 1", ge=1)
    doc: str = column("name of the document; empty = unnamed")
    paragraph: int = column("paragraph of the file, from 1; null = unknown", nullable=True, ge=1)
    sentence: int = column("sentence of the file, from 1", key=True, ge=1)
    position: int = column("position in the sentence, from 1; tokens", key=True, ge=1)

    head_is_a_position = rule(
        "head >= 0 or null, if the column exists",
        selectors.by_name("head", require_all=False).cast(pl.Int64) >= 0,
    )


# Frequency lists and keywords


class WordFrequencies(OpenTable):
    """A frequency list: the words of a corpus and their frequencies."""

    id: str = column("stable id, a hash of the word", key=True)
    word: str = column("label of the unit", min_length=1)
    f: int = column("frequency; words", ge=1)
    N: int = column("sum of all frequencies; words", ge=1)

    words_within_size = rule("f <= N", pl.col("f") <= pl.col("N"))


class Dispersion(Table):
    """Dispersion of a word over the documents of a corpus."""

    documents: int = column("documents with the word, its range; documents", nullable=True, ge=0)
    parts: int = column("documents with any words, n; documents", nullable=True, ge=0)
    dp: float = column(
        "deviation of proportions, 0 = even; proportion; null = one document",
        nullable=True,
        ge=0,
        le=1,
    )
    dp_norm: float = column("dp / (1 - min s), 0 = even; proportion", nullable=True, ge=0, le=1)
    juilland_d: float = column(
        "Juilland's D over parts of unequal size, 1 = even", nullable=True, ge=0, le=1
    )

    within_the_parts = rule("documents <= parts", pl.col("documents") <= pl.col("parts"))


class DispersedWords(WordFrequencies, Dispersion):
    """A frequency list with the dispersion of each word over the documents."""


class Keywords(Candidates, Dispersion):
    """Words of a target and a reference corpus: candidates whose l1 is the target.

    f1 is the size of the target, f2 the frequency of the word in both corpora, N the size of both:
    O11 and O21 are its frequencies in target and reference, R1 and R2 the sizes of both.
    """

    id: str
    l1: str
    l2: str
    f: int
    f1: int
    f2: int
    N: int
    f_reference: int = column("frequency in the reference, O21; words", ge=0)
    size_reference: int = column("size of the reference, R2; words", ge=0)
    per_million: float = column("10^6 f / f1, in the target", nullable=True, ge=0)
    per_million_reference: float = column("10^6 f_reference / size_reference", nullable=True, ge=0)
    documents: int
    parts: int
    dp: float
    dp_norm: float
    juilland_d: float

    frequencies_add_up = rule(
        "f + f_reference = f2", pl.col("f_reference") == pl.col("f2") - pl.col("f")
    )

    sizes_add_up = rule(
        "f1 + size_reference = N", pl.col("size_reference") == pl.col("N") - pl.col("f1")
    )


class WordCounts(Table):
    """Frequency of each word in each document (identified by its first sentence) of one shard."""

    word: str = column("label of the unit", key=True)
    file: str = column("file of the document", key=True)
    start: int = column("its first sentence in the file", key=True, ge=1)
    f: int = column("frequency; words", ge=1)


class DocumentSizes(Table):
    """Number of words of each document of one shard."""

    file: str = column("file of the document", key=True)
    start: int = column("its first sentence in the file", key=True, ge=1)
    size: int = column("words of the document", ge=1)
