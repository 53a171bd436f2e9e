"""Plain text: tokens by a regular expression, sentences by the line or by another."""

from __future__ import annotations

import re
from typing import Literal

import polars as pl

from pipeline.formats.base import CorpusOptions
from pipeline.formats.corpora import rules
from pipeline.formats.corpora.corpus_format import corpus_format
from pipeline.formats.corpora.rules import (
    DOCUMENT,
    NAME,
    PARAGRAPH,
    ROW,
    SOME,
    SPACE_AFTER,
    UNIT,
    CuttingPattern,
    NamingPattern,
    Pattern,
    readable,
)
from pipeline.formats.lines import TEXT

_WORD = r"[\pL\pM\pN][\pL\pM\pN\x{AD}\x{200C}\x{200D}]*"
TOKEN = rf"\pN+(?:[.,]\pN+)+|{_WORD}(?:['’‐‑-]{_WORD})*|[^\s\pL\pM\pN\pC]"
"""Numbers with inner points or commas; words, with inner apostrophes or hyphens; any other
character that is seen, one by one."""
SPLITTER = r"""([.!?…]["'”’»)\]]*)\s+(["'“‘«(\[]*[\p{Lu}\pN])"""
"""An end mark with what closes there, white space, then a capital or a figure."""

BETWEEN_SPACES = r"\S+"
"""Regular expression of what stands between white space."""
_NOT_ALONE = r"[^\S ]|  "

_NOTHING = pl.lit(None, pl.String())
_SENTENCE = "~sentence"
_PROTECTED = "\x01"
"""Stands for the space after an abbreviation: no white space, and no token."""


class TextOptions(CorpusOptions):
    """How plain text is read."""

    tokens: Pattern = TOKEN
    """Regular expression of a token. As it is: numbers with inner points or commas (3,000.5),
    words of letters, marks and figures with inner apostrophes or hyphens (don't,
    mother-in-law), and any other visible character alone."""
    sentences: Literal["line", "split", "wrapped"] = "line"
    """"line": a line is a sentence, paragraphs are unknown. "split": a line is a paragraph,
    cut into sentences by `splitter`. "wrapped": lines up to a blank one are a paragraph, cut in
    the same way; the line of its tokens is its first."""
    splitter: CuttingPattern = SPLITTER
    """Regular expression of a boundary, with two groups: the sentence ends with the first, the
    next begins with the second. As it is: . ! ? or an ellipsis, with closing quotation marks
    or brackets, then white space, then a capital or a figure."""
    abbreviations: tuple[str, ...] = ()
    """Words that do not end a sentence by their full stop, written without it: ["Mr", "Dr"]."""
    document: NamingPattern = ""
    """Regular expression of a line that begins a document, its group the document's name,
    e.g. ``^### (.*)$``; ``""`` for none."""


def _cut(content: bytes, options: TextOptions) -> int:
    wrapped = options.sentences == "wrapped"
    return (rules.after_blank_line if wrapped else rules.after_last_line)(content)


@corpus_format(
    "text", suffixes=[".txt"], cut=_cut, attributes=["form", SPACE_AFTER], options=TextOptions
)
def text_rows(lines: pl.LazyFrame, options: TextOptions) -> pl.LazyFrame:
    """Plain text in UTF-8, cut into tokens by a regular expression.

    No attribute but form; ``space_after`` is all that stands before the next token of the sentence.
    """
    name = pl.col(TEXT).str.extract(options.document) if options.document else _NOTHING
    begins = readable() & name.is_not_null()
    lines = lines.with_columns(
        pl.when(begins).then(pl.lit(value=True)).alias(DOCUMENT),
        name.alias(NAME),
        pl.when(readable() & ~begins).then(TEXT).alias(_SENTENCE),
    )
    lines = _join_paragraphs(lines) if options.sentences == "wrapped" else lines
    lines = lines if options.sentences == "line" else _split_sentences(lines, options)
    forms = _extract_tokens(pl.col(_SENTENCE), options.tokens).alias("form")
    lines = lines.with_row_index(UNIT).with_columns(forms, _space_after_tokens(options))
    some = pl.col(_SENTENCE).str.contains(options.tokens).fill_null(value=False).alias(SOME)
    row = ~readable() | some
    return lines.with_columns(some, row.alias(ROW), pl.when(some).then(UNIT))


def _extract_tokens(text: pl.Expr, pattern: str) -> pl.Expr:
    """Return the tokens of each text; where these are all but white space, by cutting at it."""
    if pattern != BETWEEN_SPACES:
        return text.str.extract_all(pattern)
    return text.map_batches(
        _split_at_blanks, return_dtype=pl.List(pl.String()), is_elementwise=True
    )


def _split_at_blanks(texts: pl.Series) -> pl.Series:
    """Cut at blanks, which is quick, if they are all the white space there is and stand alone."""
    ends = texts.str.starts_with(" ").any() or texts.str.ends_with(" ").any()
    if ends or texts.str.contains(_NOT_ALONE).any() or (texts == "").any():
        return texts.str.extract_all(BETWEEN_SPACES)
    return texts.str.split(" ")


def _space_after_tokens(options: TextOptions) -> pl.Expr:
    """Return what follows each token; a line holds no line end, so one can stand for tokens."""
    between = pl.col(_SENTENCE).str.replace_all(options.tokens, "\n")
    between = between.str.replace_all(_PROTECTED, " ", literal=True)
    return between.str.split("\n").list.slice(1).alias(SPACE_AFTER)


def _join_paragraphs(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Put the text of a paragraph on its first line, and nothing on the others."""
    some = pl.col(_SENTENCE).str.contains(r"\S").fill_null(value=False)
    first = some & ~some.shift(1, fill_value=False)
    text = pl.when(some).then(pl.col(_SENTENCE).str.strip_chars())
    whole = text.str.join(" ").over(first.cum_sum())
    return lines.with_columns(pl.when(first).then(whole).alias(_SENTENCE))


def _split_sentences(lines: pl.LazyFrame, options: TextOptions) -> pl.LazyFrame:
    """Cut each line where the splitter says; a line holds no line end, so one marks the cut."""
    text = pl.col(_SENTENCE)
    begins = pl.when(text.str.contains(r"\S")).then(pl.lit(value=True)).alias(PARAGRAPH)
    if options.abbreviations:
        words = "|".join(re.escape(each) for each in options.abbreviations)
        text = text.str.replace_all(rf"\b((?:{words})\.)\s", "${1}" + _PROTECTED)
    cut = text.str.replace_all(options.splitter, "${1}\n${2}").str.split("\n")
    return lines.with_columns(begins, cut.alias(_SENTENCE)).explode(_SENTENCE)
