"""CoNLL-U: words with their attributes and heads; ranges and empty nodes are left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from pipeline.formats import lines
from pipeline.formats.base import LINE, Batch, CorpusOptions, Skipped, reader
from pipeline.formats.corpora import attributes, conllu_rows
from pipeline.formats.corpora import fast_checks as quick
from pipeline.formats.corpora import rules as laws
from pipeline.formats.corpora.blocks import Blockwise, Finish, Parsed, judged, read_whole
from pipeline.formats.corpora.carry import Carry
from pipeline.formats.corpora.conllu_rows import ATTRIBUTES, FIELDS, ID, marked, words
from pipeline.formats.corpora.fast_checks import LAST
from pipeline.formats.corpora.rules import POSITION, Rows
from pipeline.formats.lines import TEXT

_LAST = pl.col(FIELDS[-1]).alias(LAST)


class ConlluOptions(CorpusOptions):
    """How a CoNLL-U file is read."""

    unique_sent_id: bool = False
    """Whether a ``# sent_id`` that comes twice in a file is a mistake."""


def check_conllu(path: Path, options: ConlluOptions) -> Sequence[Skipped]:
    """Judge every line of a CoNLL-U file; return what is left out if it is read leniently."""
    lines.gate(path)
    return laws.verdict(path, _judged(path, options), lenient=options.lenient)


def _read(path: Path, options: ConlluOptions, columns: Sequence[str], size: int) -> Iterator[Batch]:
    if options.unique_sent_id:  # which is a law of the whole file
        return read_whole(path, options, columns, check=check_conllu, scan=scan_conllu)
    return _BLOCKWISE.read(path, options, columns, size)


@reader(
    "conllu",
    suffixes=[".conllu", ".conll"],
    check=check_conllu,
    options=ConlluOptions,
    kind="corpus",
    read=_read,
)
def scan_conllu(path: Path, options: ConlluOptions) -> pl.LazyFrame:
    """CoNLL-U: one row per word; a multiword range or an empty node is none.

    ``_`` and an empty field are null; an underscore that is form and lemma alike stays one.
    ``# newdoc`` begins a document, called by its number (``#2``) if it has no id, and
    ``# newpar`` a paragraph.

    References
    ----------
    https://universaldependencies.org/format.html
    """
    if options.lenient:
        plan = laws.sound(_judged(path, options))
    else:
        blank = pl.col(ID).is_null()
        plan = words(marked(lines.fields(path, FIELDS), blank), blank)
    return plan.filter(pl.col(POSITION).is_not_null()).select(attributes.columns(ATTRIBUTES))


def _judged(path: Path, options: ConlluOptions) -> Rows:
    whole = lines.split(lines.lines(path, lenient=options.lenient), FIELDS)
    blank = pl.col(TEXT) == ""
    others = conllu_rows.repeated(whole, blank) if options.unique_sent_id else None
    return Rows(words(marked(whole, blank), blank), conllu_rows.row_laws(), others)


def _cut(content: bytes, _options: ConlluOptions) -> int:
    """Return the end of the last sentence that a blank line ends."""
    ends = [(content.rfind(mark), len(mark)) for mark in (b"\n\n", b"\n\r\n")]
    return max(at + length if at >= 0 else 0 for at, length in ends)


def _quick(content: bytes, _options: ConlluOptions, columns: Sequence[str]) -> Finish:
    """Parse what is asked for alone, and look at it with fewer questions than the laws ask."""
    fields = conllu_rows.needed(columns)
    every = lines.fields(content, FIELDS).select(LINE, *fields, _LAST).collect()
    text = quick.is_text(content)

    def finish(carry: Carry) -> Parsed | None:
        blank = pl.col(ID).is_null()
        placed = conllu_rows.placed(every, carry)
        rows = words(placed.lazy(), blank, carry, fields).collect()
        tokens = conllu_rows.lawful(content, rows) if text else None
        if tokens is None:
            return None
        after = carry.after(placed, rows, lines=every.height)
        return Parsed(tokens.with_columns(pl.col(LINE) + carry.lines), after)

    return finish


def _careful(content: bytes, _options: ConlluOptions, carry: Carry) -> Parsed:
    blank = pl.col(TEXT) == ""
    every = marked(conllu_rows.split(content, carry), blank, carry).collect()
    rows = words(every.lazy(), blank, carry).collect()
    return judged(Rows(rows.lazy(), conllu_rows.row_laws()), every=every, carry=carry)


_BLOCKWISE = Blockwise(_cut, _quick, _careful, check_conllu)
