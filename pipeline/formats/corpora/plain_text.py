"""Plain text: tokens by a regular expression, sentences by the line or by another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from pipeline.formats import lines
from pipeline.formats.base import LINE, Batch, CorpusOptions, Skipped, reader
from pipeline.formats.corpora import attributes
from pipeline.formats.corpora import fast_checks as quick
from pipeline.formats.corpora import rules as laws
from pipeline.formats.corpora.blocks import Blockwise, Finish, Parsed
from pipeline.formats.corpora.carry import NOTHING_BEFORE, PARAGRAPHS, Carry
from pipeline.formats.corpora.patterns import CuttingPattern, NamingPattern, Pattern
from pipeline.formats.corpora.rules import POSITION, UNIT, Rows, readable
from pipeline.formats.lines import TEXT

_WORD = r"[\pL\pM\pN][\pL\pM\pN\x{AD}\x{200C}\x{200D}]*"
TOKEN = rf"\pN+(?:[.,]\pN+)+|{_WORD}(?:['’‐‑-]{_WORD})*|[^\s\pL\pM\pN\pC]"
"""Numbers with inner points or commas; words, with inner apostrophes or hyphens; any other
character that is seen, one by one."""
SPLITTER = r"""([.!?…]["'”’»)\]]*)\s+(["'“‘«(\[]*[\p{Lu}\pN])"""
"""An end mark with what closes there, white space, then a capital or a figure."""

_NOTHING = pl.lit(None, pl.String())
_PART = 5_000
"""Lines that one thread cuts into tokens at a time."""
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
    whole = lines.lines(path, lenient=options.lenient)
    return laws.verdict(path, _judged(whole), lenient=options.lenient)


def _read(path: Path, options: TextOptions, columns: Sequence[str], size: int) -> Iterator[Batch]:
    return _BLOCKWISE.read(path, options, columns, size)


@reader("text", suffixes=[".txt"], check=_check, options=TextOptions, kind="corpus", read=_read)
def scan_text(path: Path, options: TextOptions) -> pl.LazyFrame:
    """Plain text in UTF-8, cut into tokens by a regular expression; no attribute but form."""
    plan = lines.lines(path, lenient=options.lenient)
    plan = plan.filter(readable()) if options.lenient else plan
    return _numbered(_texts(_marked(plan, options), options))


def _judged(whole: pl.LazyFrame) -> Rows:
    written = pl.col(TEXT).is_null() | pl.col(TEXT).str.contains(r"\S")
    return Rows(whole.filter(written).with_columns(pl.col(LINE).alias(UNIT)), laws.text_laws())


def _cut(content: bytes, _options: TextOptions) -> int:
    return content.rfind(b"\n") + 1


def _quick(content: bytes, options: TextOptions, _columns: Sequence[str]) -> Finish:
    """Cut a block into tokens, unless it has lines that are no text."""

    def finish(carry: Carry) -> Parsed | None:
        if not quick.is_text(content):
            return None
        return _parsed(lines.lines_of(content, before=carry.lines), options, carry)

    return finish


def _careful(content: bytes, options: TextOptions, carry: Carry) -> Parsed:
    whole = lines.lines_of(content, before=carry.lines)
    return _parsed(whole, options, carry, laws.skips(_judged(whole.lazy())))


def _parsed(
    whole: pl.DataFrame, options: TextOptions, carry: Carry, skipped: Sequence[Skipped] = ()
) -> Parsed:
    plan = whole.lazy().filter(readable()) if skipped else whole.lazy()
    every = _marked(plan, options, carry).collect()
    texts = _texts(every.lazy(), options)
    parts = [texts.slice(start, _PART) for start in range(0, every.height, _PART)]
    tokens = _numbered(pl.concat(parts) if parts else texts, carry)
    rows = tokens.collect()
    return Parsed(rows, carry.after(every, rows, lines=whole.height), skipped)


_BLOCKWISE = Blockwise(_cut, _quick, _careful, _check)


def _marked(
    plan: pl.LazyFrame, options: TextOptions, carry: Carry = NOTHING_BEFORE
) -> pl.LazyFrame:
    """Return the lines with their document and paragraph."""
    name = pl.col(TEXT).str.extract(options.document) if options.document else _NOTHING
    begins, written = name.is_not_null(), pl.col(TEXT).str.contains(r"\S")
    split = options.sentences == "split"
    number = (written & ~begins).cum_sum().cast(pl.Int64) + carry.paragraphs
    return plan.with_columns(
        attributes.document_name(name, begins, carry),
        attributes.documents_begun(begins, carry),
        begins.alias("~begins"),
        (number if split else pl.lit(None, pl.Int64)).alias("paragraph"),
        number.alias(PARAGRAPHS),
    )


def _texts(marked: pl.LazyFrame, options: TextOptions) -> pl.LazyFrame:
    """Return the sentences with their tokens, one list each."""
    plan = marked.filter(~pl.col("~begins") & pl.col(TEXT).str.contains(r"\S"))
    plan = _sentences(plan, options) if options.sentences == "split" else plan
    found = plan.with_columns(pl.col(TEXT).str.extract_all(options.tokens).alias("form"))
    return found.filter(pl.col("form").list.len() > 0)


def _numbered(texts: pl.LazyFrame, carry: Carry = NOTHING_BEFORE) -> pl.LazyFrame:
    """Return a row per token, with the numbers of sentence and position."""
    found = texts.with_row_index("sentence", carry.sentences + 1)
    position = pl.int_ranges(1, pl.col("form").list.len() + 1, dtype=pl.Int64)
    found = found.with_columns(pl.col("sentence").cast(pl.Int64), position.alias(POSITION))
    return found.select(attributes.columns(["form"])).explode(POSITION, "form")


def _sentences(plan: pl.LazyFrame, options: TextOptions) -> pl.LazyFrame:
    """Cut each line where the splitter says; a line holds no line end, so one marks the cut."""
    text = pl.col(TEXT)
    if options.abbreviations:
        words = "|".join(re.escape(each) for each in options.abbreviations)
        text = text.str.replace_all(rf"\b((?:{words})\.)\s", "${1}" + _PROTECTED)
    cut = text.str.replace_all(options.splitter, "${1}\n${2}").str.split("\n")
    return plan.with_columns(cut.alias(TEXT)).explode(TEXT)
