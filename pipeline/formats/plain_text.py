"""Plain text: tokens by a regular expression, sentences by the line or by another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from pipeline.formats import attributes, laws, lines
from pipeline.formats.base import LINE, CorpusOptions, Skipped, reader
from pipeline.formats.laws import POSITION, UNIT, Rows, readable
from pipeline.formats.lines import TEXT
from pipeline.formats.patterns import CuttingPattern, NamingPattern, Pattern

_WORD = r"[\pL\pM\pN][\pL\pM\pN\x{AD}\x{200C}\x{200D}]*"
TOKEN = rf"\pN+(?:[.,]\pN+)+|{_WORD}(?:['’‐‑-]{_WORD})*|[^\s\pL\pM\pN\pC]"
"""Numbers with inner points or commas; words, with inner apostrophes or hyphens; any other
character that is seen, one by one."""
SPLITTER = r"""([.!?…]["'”’»)\]]*)\s+(["'“‘«(\[]*[\p{Lu}\pN])"""
"""An end mark with what closes there, white space, then a capital or a figure."""

_NOTHING = pl.lit(None, pl.String())
_PROTECTED = "\x01"
"""Stands for the space after an abbreviation: no white space, and no token."""


class TextOptions(CorpusOptions):
    """How plain text is read."""

    tokens: Pattern = TOKEN
    """Regular expression of a token. As it is: numbers with inner points or commas (3,000.5),
    words of letters, marks and figures with inner apostrophes or hyphens (don't,
    mother-in-law), and any other visible character alone."""
    sentences: Literal["line", "split"] = "line"
    """"line": a line is a sentence, paragraphs are unknown. "split": a line is a paragraph,
    cut into sentences by `splitter`."""
    splitter: CuttingPattern = SPLITTER
    """Regular expression of a boundary, with two groups: the sentence ends with the first, the
    next begins with the second. As it is: . ! ? or an ellipsis, with closing quotation marks
    or brackets, then white space, then a capital or a figure."""
    abbreviations: tuple[str, ...] = ()
    """Words that do not end a sentence by their full stop, written without it: ["Mr", "Dr"]."""
    document: NamingPattern = ""
    """Regular expression of a line that begins a document, its group the document's name,
    e.g. ``^### (.*)$``; ``""`` for none."""


def _check(path: Path, options: TextOptions) -> Sequence[Skipped]:
    lines.gate(path)
    return laws.verdict(path, _judged(path, options), lenient=options.lenient)


@reader("text", suffixes=[".txt"], check=_check, options=TextOptions, kind="corpus")
def scan_text(path: Path, options: TextOptions) -> pl.LazyFrame:
    """Plain text in UTF-8, cut into tokens by a regular expression; no attribute but form."""
    plan = lines.lines(path, lenient=options.lenient)
    plan = plan.filter(readable()) if options.lenient else plan
    paragraphs = _paragraphs(plan, options)
    texts = _sentences(paragraphs, options) if options.sentences == "split" else paragraphs
    found = texts.with_columns(pl.col(TEXT).str.extract_all(options.tokens).alias("form"))
    found = found.filter(pl.col("form").list.len() > 0).with_row_index("sentence", 1)
    position = pl.int_ranges(1, pl.col("form").list.len() + 1, dtype=pl.Int64)
    found = found.with_columns(pl.col("sentence").cast(pl.Int64), position.alias(POSITION))
    return found.select(attributes.columns(["form"])).explode(POSITION, "form")


def _judged(path: Path, options: TextOptions) -> Rows:
    plan = lines.lines(path, lenient=options.lenient)
    written = pl.col(TEXT).is_null() | pl.col(TEXT).str.contains(r"\S")
    return Rows(plan.filter(written).with_columns(pl.col(LINE).alias(UNIT)), laws.text_laws())


def _paragraphs(plan: pl.LazyFrame, options: TextOptions) -> pl.LazyFrame:
    """Return the lines that hold text, with their document and paragraph."""
    name = pl.col(TEXT).str.extract(options.document) if options.document else _NOTHING
    begins = name.is_not_null()
    plan = plan.with_columns(attributes.document_name(name, begins), begins.alias("~begins"))
    texts = plan.filter(~pl.col("~begins") & pl.col(TEXT).str.contains(r"\S"))
    number = pl.col(LINE).cum_count().cast(pl.Int64)
    paragraph = number if options.sentences == "split" else pl.lit(None, pl.Int64)
    return texts.with_columns(paragraph.alias("paragraph"))


def _sentences(plan: pl.LazyFrame, options: TextOptions) -> pl.LazyFrame:
    """Cut each line where the splitter says; a line holds no line end, so one marks the cut."""
    text = pl.col(TEXT)
    if options.abbreviations:
        words = "|".join(re.escape(each) for each in options.abbreviations)
        text = text.str.replace_all(rf"\b((?:{words})\.)\s", "${1}" + _PROTECTED)
    cut = text.str.replace_all(options.splitter, "${1}\n${2}").str.split("\n")
    return plan.with_columns(cut.alias(TEXT)).explode(TEXT)
