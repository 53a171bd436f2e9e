"""Tab-separated token tables: a token a line, a blank line after each sentence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import AfterValidator

from pipeline.errors import DataError
from pipeline.formats import delimited, lines
from pipeline.formats.base import LINE, CorpusOptions
from pipeline.formats.corpora import attributes, places
from pipeline.formats.corpora.corpus_format import corpus_format
from pipeline.formats.corpora.marks import ALONE, BLANK, DOCUMENT, NAME, ROW
from pipeline.formats.corpora.parsing import Scan
from pipeline.formats.corpora.patterns import NamingPattern
from pipeline.formats.corpora.rules import Rule, Unique
from pipeline.formats.corpora.token_marks import TokenMarks
from pipeline.formats.corpora.token_scan import TokenScan
from pipeline.formats.delimited import open_text
from pipeline.formats.reading import reading
from pipeline.formats.unpacked import first_line

_APART = "~apart"


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


@dataclass(frozen=True)
class Layout:
    """The options of a file, its columns, and the line of its header (0: none)."""

    options: TokenOptions
    names: tuple[str, ...]
    header: int = 0

    @property
    def marks(self) -> TokenMarks:
        """What lines without tabs say."""
        return TokenMarks(self.options.comment, self.options.document)


def _layout(path: Path, options: TokenOptions) -> Layout:
    """Find the names of the columns; reads the file up to its header, if it has one."""
    if options.columns and not options.header:
        return Layout(options, options.columns)
    number, header = _header(path, options.comment)
    if options.columns:
        return Layout(options, options.columns, number)
    names = tuple(header.split("\t"))
    try:
        return Layout(options, delimited.distinct(names), number)
    except ValueError as error:
        advice = "Mend it, or name the columns: columns = [...], header = true"
        raise DataError(f"{path}: line {number}: the header: {error}\n{advice}") from error


def _header(path: Path, comment: str) -> tuple[int, str]:
    lines.gate(path)
    number = 0
    with reading(path), open_text(path) as text:
        while line := first_line(text, path, number + 1):
            number += 1
            if line.strip() and not (comment and line.startswith(comment)):
                return number, line.rstrip("\r\n")
    raise DataError(f"{path}: line {number + 1}: the file is empty: no header names the columns")


def _attributes(layout: Layout) -> list[str]:
    return places.attributes_of(layout.names)


def _fields(layout: Layout) -> list[str]:
    return places.fields_of(layout.names)


def _cut(content: bytes, layout: Layout) -> int:
    return places.cut(content, layout.names)


def _rules(layout: Layout) -> list[Rule]:
    first = pl.col(_fields(layout)[0])
    return [Rule(first.is_null(), "the first field is empty"), *places.rules(layout.names)]


def _unique(layout: Layout) -> Unique | None:
    return places.unique(layout.names)


def _scan(layout: Layout) -> Scan | None:
    scan = TokenScan(layout.names, layout.marks, layout.header)
    return scan if scan.is_for() else None


@corpus_format(
    "tokens",
    suffixes=[".tsv", ".tab"],
    cut=_cut,
    attributes=_attributes,
    fields=_fields,
    rules=_rules,
    unique=_unique,
    scan=_scan,
    options=TokenOptions,
    layout=_layout,
    remedy="name the columns: columns = [...]",
)
def token_rows(lines: pl.LazyFrame, layout: Layout) -> pl.LazyFrame:
    """Tab-separated token table without quoting; a blank line ends a sentence.

    An empty field is null; the first may not be empty. A column ``head`` is the position of
    the token's head in its sentence; in ``space_after``, No, false or 0 is for no space.
    """
    first = pl.col(_fields(layout)[0])
    name = layout.marks.name(pl.when(ALONE).then(first))
    begins, comment = name.is_not_null(), layout.marks.is_comment(first)
    apart = pl.col(BLANK) | begins
    lines = lines.with_columns(
        apart.alias(_APART),
        ~(apart | comment | (pl.col(LINE) <= layout.header)).alias(ROW),
        pl.when(begins).then(pl.lit(value=True)).alias(DOCUMENT),
        name.alias(NAME),
        *attributes.no_spaces(layout.names),
    )
    return lines.with_columns(places.marks(layout.names, pl.col(_APART)))
