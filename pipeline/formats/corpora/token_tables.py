"""Tab-separated token tables: a token a line, a blank line after each sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import AfterValidator

from pipeline.errors import DataError
from pipeline.formats import delimited, lines
from pipeline.formats.base import Batch, CorpusOptions, Skipped, reader
from pipeline.formats.corpora import attributes, token_rows
from pipeline.formats.corpora import places as keyed
from pipeline.formats.corpora import rules as laws
from pipeline.formats.corpora.blocks import read_whole
from pipeline.formats.corpora.patterns import NamingPattern
from pipeline.formats.corpora.token_rows import Layout
from pipeline.formats.delimited import open_text


class TokenOptions(CorpusOptions):
    """How a tab-separated token table is read."""

    columns: Annotated[tuple[str, ...], AfterValidator(delimited.distinct)] = ()
    """Names of the columns; if empty, a header line names them. Columns called doc, paragraph
    or sentence begin a new one where their value changes."""
    header: bool = False
    """Whether there is a header line although `columns` is given; it is passed over."""
    comment: str = "# "
    """Lines that begin so are passed over; ``""`` for none. It ends in a space so that a line
    whose first token is ``#`` stays one."""
    document: NamingPattern = r"^# ?(?:new)?doc(?: id)?(?: *= *| +)(.*?) *$"
    """Regular expression of a line without tabs that begins a document; its group is the
    document's name. ``""`` for none."""


def _check(path: Path, options: TokenOptions) -> Sequence[Skipped]:
    lines.gate(path)
    remedy = "name the columns: columns = [...]"
    layout = _layout(path, options)
    rows = token_rows.whole_file(lines.lines(path, lenient=options.lenient), layout, options)
    return laws.verdict(path, rows, lenient=options.lenient, remedy=remedy)


def _read(path: Path, options: TokenOptions, columns: Sequence[str], size: int) -> Iterator[Batch]:
    layout = _layout(path, options)
    if options.lenient and "sentence" in layout.names:  # whose law is one of the whole file
        return read_whole(path, options, columns, check=_check, scan=scan_tokens)
    return token_rows.blockwise(layout, _check).read(path, options, columns, size)


@reader(
    "tokens",
    suffixes=[".tsv", ".tab"],
    check=_check,
    options=TokenOptions,
    kind="corpus",
    read=_read,
)
def scan_tokens(path: Path, options: TokenOptions) -> pl.LazyFrame:
    """Tab-separated token table without quoting; a blank line ends a sentence.

    An empty field is null; the first may not be empty. A column ``head`` is the position of
    the token's head in its sentence.
    """
    layout = _layout(path, options)
    if options.lenient:
        whole = lines.lines(path, lenient=True)
        plan = laws.sound(token_rows.whole_file(whole, layout, options))
    else:
        plan = token_rows.unjudged(lines.fields(path, layout.fields), layout, options)
    return plan.select(attributes.columns(keyed.attributes_of(layout.names)))


def _layout(path: Path, options: TokenOptions) -> Layout:
    """Find the names of the columns; reads the file up to its header, if it has one."""
    if options.columns and not options.header:
        return Layout(options.columns, 0)
    number, header = _header(path, options.comment)
    if options.columns:
        return Layout(options.columns, number)
    names = tuple(header.split("\t"))
    try:
        return Layout(delimited.distinct(names), number)
    except ValueError as error:
        advice = "Mend it, or name the columns: columns = [...], header = true"
        raise DataError(f"{path}: line {number}: the header: {error}\n{advice}") from error


def _header(path: Path, comment: str) -> tuple[int, str]:
    lines.gate(path)
    number = 0
    with lines.reading(path), open_text(path) as text:
        for number, line in enumerate(text, start=1):
            if line.strip() and not (comment and line.startswith(comment)):
                return number, line.rstrip("\r\n")
    raise DataError(f"{path}: line {number + 1}: the file is empty: no header names the columns")
