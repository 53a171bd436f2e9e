"""Clusters as lists of words: blocks with blank lines between, or a line for each cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from pipeline.errors import DataError
from pipeline.formats import lines
from pipeline.formats.base import LINE, FormatOptions, Skipped, reader
from pipeline.formats.lines import TEXT
from pipeline.formats.reading import reading


class WordBlockOptions(FormatOptions):
    """How lists of words are read."""

    line: Literal["word", "cluster"] = "word"
    """What a line holds: a word, blank lines between the clusters; or all words of a cluster,
    with white space between."""


def _check(path: Path, options: WordBlockOptions) -> Sequence[Skipped]:
    lines.check_ends(path)
    with reading(path):
        words = scan_word_blocks(path, options).select(pl.len()).collect().item()
    if not words:
        raise DataError(f"{path}: the file is empty: it has no words")
    return ()


@reader("blocks", suffixes=[".blocks", ".clusters"], check=_check, options=WordBlockOptions)
def scan_word_blocks(path: Path, options: WordBlockOptions) -> pl.LazyFrame:
    """Blocks of words, blank lines between them: a block is a cluster. Or a cluster a line.

    Clusters are numbered from 1 in the order of the file. White space round a word is no part
    of it.
    """
    text = pl.col(TEXT).str.strip_chars()
    filled = (text != "").fill_null(value=False)
    first = filled & ~filled.shift(fill_value=False) if options.line == "word" else filled
    query = lines.lines(path).with_columns(cluster=first.cum_sum().cast(pl.String))
    words = text if options.line == "word" else text.str.extract_all(r"\S+")
    items = query.filter(filled).select(LINE, words.alias("item"), "cluster")
    return items if options.line == "word" else items.explode("item")
