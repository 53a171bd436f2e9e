"""Tab-separated token tables: a token a line, a blank line after each sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import AfterValidator

from pipeline.errors import DataError
from pipeline.formats import attributes, keyed, laws, lines
from pipeline.formats.base import LINE, CorpusOptions, Skipped, reader
from pipeline.formats.delimited import open_text
from pipeline.formats.laws import Law, Rows
from pipeline.formats.lines import TEXT
from pipeline.formats.patterns import NamingPattern

_BLOCK = "~block"


class TokenOptions(CorpusOptions):
    """How a tab-separated token table is read."""

    columns: Annotated[tuple[str, ...], AfterValidator(attributes.distinct)] = ()
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


@dataclass(frozen=True)
class _Layout:
    """The columns of a file, and the line of its header (0: none)."""

    names: tuple[str, ...]
    header: int

    @property
    def fields(self) -> list[str]:
        return [keyed.role(name) for name in attributes.raw(self.names)]


def _check(path: Path, options: TokenOptions) -> Sequence[Skipped]:
    lines.gate(path)
    remedy = "name the columns: columns = [...]"
    rows = _judged(path, _layout(path, options), options)
    return laws.verdict(path, rows, lenient=options.lenient, remedy=remedy)


@reader("tokens", suffixes=[".tsv", ".tab"], check=_check, options=TokenOptions, kind="corpus")
def scan_tokens(path: Path, options: TokenOptions) -> pl.LazyFrame:
    """Tab-separated token table without quoting; a blank line ends a sentence.

    An empty field is null; the first may not be empty. A column ``head`` is the position of
    the token's head in its sentence.
    """
    layout = _layout(path, options)
    if options.lenient:
        plan = laws.sound(_judged(path, layout, options))
    else:
        fields = layout.fields
        alone = pl.col(fields[1]).is_null() if len(fields) > 1 else pl.lit(value=True)
        whole = lines.fields(path, fields)
        plan = _tokens(whole, layout, options, blank=pl.col(fields[0]).is_null(), alone=alone)
    return plan.select(attributes.columns(keyed.attributes_of(layout.names)))


def _judged(path: Path, layout: _Layout, options: TokenOptions) -> Rows:
    whole = lines.split(lines.lines(path, lenient=options.lenient), layout.fields)
    text, first = pl.col(TEXT), pl.col(layout.fields[0])
    alone = ~text.str.contains("\t", literal=True)
    plan = _tokens(whole, layout, options, blank=text == "", alone=alone)
    empty = Law(first.is_null(), pl.lit("the first field is empty"), text)
    own = [*laws.field_laws(len(layout.names)), empty, *keyed.sentence_law(layout.names)]
    found = [*own, *attributes.head_laws(layout.names)]
    return Rows(plan, found, keyed.scattered(plan, layout.names))


def _tokens(
    plan: pl.LazyFrame, layout: _Layout, options: TokenOptions, *, blank: pl.Expr, alone: pl.Expr
) -> pl.LazyFrame:
    """Drop what is no token; number the sentences and carry the documents' names."""
    first, never = pl.col(layout.fields[0]), pl.lit(value=False)
    name = pl.lit(None, pl.String())
    if options.document:
        name = pl.when(alone).then(first).str.extract(options.document)
    begins = name.is_not_null()
    comment = first.str.starts_with(options.comment) if options.comment else never
    apart = (blank | begins).fill_null(value=False)
    no_token = (apart | comment).fill_null(value=False) | (pl.col(LINE) <= layout.header)
    document = attributes.document_name(name, begins)
    plan = plan.with_columns(apart.cum_sum().alias(_BLOCK), document).filter(~no_token)
    plan = keyed.placed(plan, layout.names, pl.col(_BLOCK))
    return plan.with_columns(attributes.heads(layout.names))


def _layout(path: Path, options: TokenOptions) -> _Layout:
    """Find the names of the columns; reads the file up to its header, if it has one."""
    if options.columns and not options.header:
        return _Layout(options.columns, 0)
    number, header = _header(path, options.comment)
    if options.columns:
        return _Layout(options.columns, number)
    names = tuple(header.split("\t"))
    try:
        return _Layout(attributes.distinct(names), number)
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
