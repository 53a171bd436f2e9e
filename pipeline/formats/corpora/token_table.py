"""Token tables, with one token per row: tab-separated lines, and Apache Parquet."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import AfterValidator, model_validator

from pipeline.errors import DataError, no_plain_values
from pipeline.formats import content, lines, parquet, unicode
from pipeline.formats.base import LINE, Batch, SkippedPart, not_utf8, reader
from pipeline.formats.compression import is_compressed
from pipeline.formats.corpora import rules, splitting
from pipeline.formats.corpora.blocks import (
    SIZE,
    FrameBlock,
    Grammar,
    ParsedBlock,
    Scan,
    changes,
    count_before,
    count_positions,
)
from pipeline.formats.corpora.corpus_format import corpus_format
from pipeline.formats.corpora.rules import (
    ALONE,
    BLANK,
    DOCUMENT,
    HEAD,
    KEY,
    LEMMA,
    NAME,
    PARAGRAPH,
    POSITION,
    ROW,
    SPACE_AFTER,
    UNIT,
    LemmaOptions,
    Lemmas,
    NamingPattern,
    Rule,
    Unique,
)
from pipeline.formats.corpora.splitting import CorpusFile, Division, FilePart
from pipeline.formats.lines import ByteLines, Places, Rows
from pipeline.formats.parquet import batches, open_parquet, require_whole
from schemas.errors import count_text

# Columns that identify sentences, documents and paragraphs

ROLES = ("file", "doc", "paragraph", "sentence")
"""Position columns. The reader renumbers sentences and paragraphs: a new one begins where the value
changes.
"""
OWN = (LINE, POSITION)
"""Columns that the reader adds, which are skipped in the table."""


def role(name: str) -> str:
    """Return the name for reading a column of `ROLES` or `OWN`."""
    return f"~{name}" if name in {*ROLES, *OWN} else name


def fields_of(names: Collection[str]) -> list[str]:
    """Return the names for reading columns."""
    return [role(name) for name in rules.raw(names)]


def attributes_of(names: Collection[str]) -> list[str]:
    """Return the attribute columns in order."""
    return [name for name in names if role(name) == name]


def marks(names: Collection[str], apart: pl.Expr) -> list[pl.Expr]:
    """Return `UNIT`, and marks of documents and paragraphs if there are columns.

    Parameters
    ----------
    names : collection of str
        The columns of the table.
    apart : Expr
        True for lines between two sentences.
    """
    unit = pl.any_horizontal(apart, *map(_is_change, sentence_key(names)))
    marked = [unit.cum_sum().alias(UNIT)]
    if "doc" in names:
        doc = pl.col(role("doc"))
        marked += [_mark(doc, [role("doc")]).alias(DOCUMENT), doc.alias(NAME)]
    if "paragraph" in names:
        paragraph = _roles(names, "file", "doc", "paragraph")
        marked += [_mark(pl.col(role("paragraph")), paragraph).alias(PARAGRAPH)]
        marked += [pl.struct(paragraph).alias(KEY)]
    return marked


def sentence_key(names: Collection[str]) -> list[str]:
    """Return the columns whose change begins a sentence."""
    return _roles(names, "file", "doc", "sentence")


def _roles(names: Collection[str], *roles: str) -> list[str]:
    return [role(name) for name in roles if name in names]


def _mark(value: pl.Expr, key: Sequence[str]) -> pl.Expr:
    """Return true where the key changes and a value begins; false where it ends."""
    return pl.when(pl.any_horizontal(map(_is_change, key))).then(value.is_not_null())


def _is_change(name: str) -> pl.Expr:
    """Return true if the value differs from that of the previous row."""
    value = pl.when(ROW).then(pl.col(name).fill_null(""))
    return pl.col(ROW) & value.ne_missing(value.forward_fill().shift())


def sentence_rules(names: Collection[str]) -> list[Rule]:
    """Return the rule that every token has a sentence, if there is such a column."""
    sentences = _roles(names, "sentence")
    return [Rule(pl.col(name).is_null(), "no sentence", pl.lit("")) for name in sentences]


def unique(names: Collection[str]) -> Unique | None:
    """Return the rule that rows of a sentence are adjacent, if there is such a column."""
    if "sentence" not in names:
        return None
    says = "duplicate sentence: its rows are not adjacent, or its document is unnamed"
    return Unique(sentence_key(names), says, role("sentence"))


def cut(content: bytes, names: Sequence[str]) -> int:
    """Return the end of the last sentence that certainly ends in a part of a table.

    It ends at a blank line, or without any, where a sentence column changes.
    """
    if blank := rules.after_blank_line(content):
        return blank
    places = [index for index, name in enumerate(names) if name in ROLES and name != "paragraph"]
    end = rules.after_last_line(content)
    after: list[bytes] | None = None
    while places and end > 0:
        start = content.rfind(b"\n", 0, end - 1) + 1
        fields = content[start:end].rstrip(b"\r\n").split(b"\t")
        key = [fields[index] for index in places if index < len(fields)]
        if after is not None and key != after:
            return end
        after, end = key, start
    return 0


@dataclass(frozen=True)
class TokenMarks:
    """Recognition of lines other than tokens.

    Parameters
    ----------
    comment : str
        Prefix of skipped lines; empty for none.
    document : str
        Regular expression of lines that begin a document; empty for none.

    Examples
    --------
    >>> marks = TokenMarks("# ", r"^# doc (.*)")
    >>> lines = pl.DataFrame({"line": ["# doc a", "# b", "#"]})
    >>> name, comment = marks.name(pl.col("line")), marks.is_comment(pl.col("line"))
    >>> lines.select(name.alias("name"), comment.alias("comment")).rows()
    [('a', True), (None, True), (None, False)]
    """

    comment: str
    document: str

    def name(self, line: pl.Expr) -> pl.Expr:
        """Return the name of the document that begins at a line without tabs; null for others."""
        return line.str.extract(self.document) if self.document else pl.lit(None, pl.String())

    def is_comment(self, first: pl.Expr) -> pl.Expr:
        """Return true for comments, by the first field of a line."""
        if not self.comment:
            return pl.lit(value=False)
        return first.str.starts_with(self.comment).fill_null(value=False)


# Byte scan: fast reading of blocks without errors

_TEXT = pl.col("text")
_SPECIAL = {*ROLES, *OWN, HEAD, SPACE_AFTER}


@dataclass(frozen=True)
class TokenScan:
    """Reads blocks of token tables with only sentences, documents and attributes.

    Parameters
    ----------
    names : sequence of str
        The columns.
    marks : TokenMarks
        Interpretation of lines without tabs.
    header : int
        Line number of the header; 0 if there is none.
    lemmas : Lemmas, optional
        Placeholders of lemmas.
    """

    names: Sequence[str]
    marks: TokenMarks
    header: int
    lemmas: Lemmas | None = None

    def is_applicable(self) -> bool:
        """Return true if it can read such a table."""
        plain = "\t" not in self.marks.comment and not _SPECIAL & {*self.names}
        return plain and len(self.names) > 1

    def __call__(self, content: bytes, before: int, columns: Collection[str]) -> ParsedBlock | None:
        """Return the contents of a block if it is certainly valid, else None.

        Parameters
        ----------
        content : bytes
            Whole sentences: UTF-8 without carriage returns.
        before : int
            Number of lines before it.
        columns : collection of str
            Requested columns.
        """
        block = _Block(self, ByteLines(content), before)
        return block.parse(columns) if block.is_certain() else None


@dataclass(frozen=True)
class _Block:
    """The lines of a block, and derived values."""

    scan: TokenScan
    lines: ByteLines
    before: int

    @cached_property
    def _is_header(self) -> npt.NDArray[np.bool_]:
        """Lines up to the header."""
        return np.arange(self.lines.tabs.size) < self.scan.header - self.before

    @cached_property
    def _is_comment(self) -> npt.NDArray[np.bool_]:
        """Lines that are comments, with or without tabs."""
        comment = np.zeros(self.lines.tabs.size, np.bool_)
        if sign := self.scan.marks.comment.encode()[:1]:
            likely = np.flatnonzero(self.lines.first == ord(sign))
            texts = self._texts(likely).select(self.scan.marks.is_comment(_TEXT))
            comment[likely] = texts.to_series().to_numpy()
        return comment

    @cached_property
    def _is_row(self) -> npt.NDArray[np.bool_]:
        """Lines that are tokens, with all tabs."""
        full = self.lines.tabs == len(self.scan.names) - 1
        row: npt.NDArray[np.bool_] = full & ~self._is_comment & ~self._is_header
        return row

    @cached_property
    def _row_lines(self) -> Places:
        return np.flatnonzero(self._is_row)

    @cached_property
    def _rows(self) -> Rows:
        return self.lines.rows(self._row_lines)

    @cached_property
    def _documents(self) -> pl.DataFrame:
        """Lines that begin a document, without tabs: `LINE` and `NAME`."""
        alone = np.flatnonzero((self.lines.tabs == 0) & ~self.lines.is_blank)
        texts = self._texts(alone).select(LINE, self.scan.marks.name(_TEXT).alias(NAME))
        return texts.filter(pl.col(NAME).is_not_null())

    def _texts(self, lines: Places) -> pl.DataFrame:
        """Return some non-blank lines as text, with `LINE`."""
        return pl.DataFrame({LINE: lines, "text": self.lines.texts(self.lines.whole(lines))})

    @cached_property
    def _unit(self) -> Places:
        """Number of sentence boundaries before each row."""
        apart = self.lines.is_blank.copy()
        apart[self._documents.get_column(LINE).to_numpy()] = True
        return np.cumsum(apart, dtype=np.int64)[self._row_lines]

    def is_certain(self) -> bool:
        """Return true if all lines are known, and all tokens have a first field."""
        known = self._is_row | self._is_comment | self._is_header | self.lines.is_blank
        known[self._documents.get_column(LINE).to_numpy()] = True
        return bool(known.all() and self._rows.field(0).lengths.all())

    def parse(self, columns: Collection[str]) -> ParsedBlock:
        """Return its tokens, and the beginnings of documents."""
        first = changes(self._unit)
        sentence = np.cumsum(first, dtype=np.int64)
        own = {
            LINE: self._row_lines + (self.before + 1),
            "sentence": sentence,
            POSITION: count_positions(first),
        }
        series = [pl.Series(name, values) for name, values in own.items()]
        series.append(
            count_before(DOCUMENT, self._documents.get_column(LINE).to_numpy(), self._row_lines)
        )
        replaced: dict[str, int] = {}
        for index, name in enumerate(self.scan.names):
            if name == LEMMA and name in columns:
                lemma, replaced = self._lemma(index)
                series.append(lemma)
            elif name in columns:
                series.append(self.lines.texts(self._rows.field(index)).alias(name))
        return ParsedBlock(
            pl.DataFrame(series),
            self._documents.select(pl.lit(value=True).alias(DOCUMENT), NAME),
            pl.DataFrame(),
            int(sentence[-1]) if sentence.size else 0,
            None,
            replaced=replaced,
        )

    def _lemma(self, index: int) -> tuple[pl.Series, dict[str, int]]:
        """Return the lemmas, with placeholders replaced by forms, and their number."""
        spans, lemmas = self._rows.field(index), self.scan.lemmas
        rows, values = self.lines.find(spans, lemmas.placeholders if lemmas else ())
        if not (lemmas and rows.size):
            return self.lines.texts(spans).alias(LEMMA), {}
        if lemmas.form is None:
            none = np.ones(spans.starts.size, np.bool_)
            none[rows] = False
            return self.lines.texts(spans, none).alias(LEMMA), rules.count_replaced(values)
        forms = self._rows.field(self.scan.names.index(lemmas.form))
        differ = values.ne_missing(self.lines.texts(forms.at(rows)))
        replaced = rules.count_replaced(values.filter(differ))
        return self.lines.texts(spans.replace(rows, forms)).alias(LEMMA), replaced


_SEPARATOR = "~apart"


class TokenOptions(LemmaOptions):
    """Options for tab-separated token tables."""

    columns: Annotated[tuple[str, ...], AfterValidator(lines.distinct)] = ()
    """Column names (default: from the header). Columns named doc, paragraph or sentence begin a new
    one where their value changes.
    """
    header: bool | None = None
    """The first line is a header (default: unless `columns` is given); without one, columns are
    named word, attribute_2 ...
    """
    comment: str = "# "
    """Skip lines with this prefix; ``""`` for none.
    """
    document: NamingPattern = r"^# ?(?:new)?doc(?: id)?(?: *= *| +)(.*?) *$"
    """Regular expression of lines without tabs that begin a document, whose group is its name.
    ``""`` for none.
    """


@dataclass(frozen=True)
class Layout:
    """The options of a file, its columns, and the line of its header (0: none)."""

    options: TokenOptions
    names: tuple[str, ...]
    header: int = 0

    @property
    def marks(self) -> TokenMarks:
        """Interpretation of lines without tabs."""
        return TokenMarks(self.options.comment, self.options.document)

    @property
    def lemmas(self) -> Lemmas:
        """Placeholders of lemmas."""
        return Lemmas(rules.form_of(attributes_of(self.names)), self.options.placeholders)


def _find_layout(path: Path, options: TokenOptions) -> Layout:
    """Find the column names from the first lines of the file."""
    if options.columns and options.header is False:
        return Layout(options, options.columns)
    number, rows = _first_rows(path, options.comment)
    if options.columns:
        if rows and options.header is None and _names_columns(rows[0], options.columns):
            raise _header_error(path, number, rows[0])
        return Layout(options, options.columns, number if options.header else 0)
    if not rows:
        raise DataError(f"{path}: line {number}: the file is empty, without a header\nOmit it.")
    if options.header is False:
        return Layout(options, tuple(content.usual_names(len(rows[0]))))
    kind = "header" if options.header else content.judge_header(rows)
    if kind != "header":
        raise _no_header_error(path, number, rows, certain=kind == "data")
    names = tuple(rows[0])
    try:
        return Layout(options, lines.distinct(names), number)
    except ValueError as error:
        advice = "Correct it, or name the columns: columns = [...], header = true"
        raise DataError(f"{path}: line {number}: the header: {error}\n{advice}") from error


def _first_rows(path: Path, comment: str) -> tuple[int, list[list[str]]]:
    """Return the number of the first line that is not a comment, and the following rows.

    Without such a line, it is the number of the next line.
    """
    lines.require_matching_suffix(path)
    begin = content.first_lines(path)
    pairs = [
        (number, line)
        for number, line in enumerate(begin, start=1)
        if line.strip() and not (comment and line.startswith(comment))
    ]
    if pairs and content.UNREADABLE in pairs[0][1]:
        raise not_utf8(path)
    rows = [line.split("\t") for _, line in pairs]
    return (pairs[0][0] if pairs else len(begin) + 1), rows


def _names_columns(row: Sequence[str], columns: Sequence[str]) -> bool:
    """Return true if the first row is a header, besides given names."""
    folded = [field.casefold() for field in row]
    same = folded == [name.casefold() for name in columns]
    return same or (len(row) > 1 and all(map(content.is_header_word, row)))


def _header_error(path: Path, number: int, row: Sequence[str]) -> DataError:
    return DataError(
        f"{path}: line {number} looks like a header ({', '.join(row)}), although columns = [...] "
        "is given\nAdd header = true to skip it, or header = false if it is a token."
    )


def _no_header_error(
    path: Path, number: int, rows: Sequence[Sequence[str]], *, certain: bool
) -> DataError:
    """Return the error for a first line that is or may be a token."""
    row = rows[0]
    names = content.TREETAGGER if content.is_treetagger(rows) else content.usual_names(len(row))
    listed = ", ".join(f'"{name}"' for name in names)
    fields = ", ".join(f"{name} {field!r}" for name, field in zip(names, row, strict=True))
    what = "may be a header or a token"
    remedy = f"If it is a token, name the columns: columns = [{listed}]. If it is a header, add"
    if certain:
        what = "is a token, not a header"
        remedy = f"Name the columns: columns = [{listed}]. If it is a header nevertheless, add"
    return DataError(
        f"{path}: line {number} {what}:\n"
        f"  as a token: {fields}\n"
        f"  as a header: the columns {', '.join(map(repr, row))}\n"
        f"{remedy} header = true."
    )


def _attributes(layout: Layout) -> list[str]:
    return attributes_of(layout.names)


def _fields(layout: Layout) -> list[str]:
    return fields_of(layout.names)


def _cut(content: bytes, layout: Layout) -> int:
    return cut(content, layout.names)


def _rules(layout: Layout) -> list[Rule]:
    first = pl.col(_fields(layout)[0])
    return [Rule(first.is_null(), "the first field is empty"), *sentence_rules(layout.names)]


def _unique(layout: Layout) -> Unique | None:
    return unique(layout.names)


def _scan(layout: Layout) -> Scan | None:
    scan = TokenScan(layout.names, layout.marks, layout.header, layout.lemmas)
    return scan if scan.is_applicable() else None


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
    layout=_find_layout,
    lemmas=attrgetter("lemmas"),
    remedy="name the columns: columns = [...]",
)
def token_rows(lines: pl.LazyFrame, layout: Layout) -> pl.LazyFrame:
    """Tab-separated token table without quoting; blank lines end sentences.

    Empty fields are null; the first must not be empty. A column ``head`` is the position of the
    token's head in its sentence; No, false or 0 in ``space_after`` mean no space.
    """
    first = pl.col(_fields(layout)[0])
    name = layout.marks.name(pl.when(ALONE).then(first))
    begins, comment = name.is_not_null(), layout.marks.is_comment(first)
    apart = pl.col(BLANK) | begins
    lines = lines.with_columns(
        apart.alias(_SEPARATOR),
        ~(apart | comment | (pl.col(LINE) <= layout.header)).alias(ROW),
        pl.when(begins).then(pl.lit(value=True)).alias(DOCUMENT),
        name.alias(NAME),
        *rules.no_spaces(layout.names),
    )
    return lines.with_columns(marks(layout.names, pl.col(_SEPARATOR)))


# Apache Parquet: columns for sentence and document instead of blank lines and comments

_ROW_BYTES = 40
"""Assumed bytes per row."""


class TokenParquetOptions(LemmaOptions):
    """Options for token tables in Parquet."""

    sentence: str = "sentence"
    """Column whose value changes where a sentence begins."""
    document: str = "doc"
    """Column with the document's name (optional)."""
    paragraph: str = "paragraph"
    """Column whose value changes where a paragraph begins (optional)."""

    @model_validator(mode="after")
    def _require_distinct(self) -> Self:
        lines.distinct((self.sentence, self.document, self.paragraph))
        return self

    def reader_name(self, name: str) -> str:
        """Return the reader's name of a column; empty if skipped."""
        own = {self.document: "doc", self.paragraph: "paragraph", self.sentence: "sentence"}
        return own.get(name, "" if name in own.values() else name)


def _check_parquet(path: Path, options: TokenParquetOptions) -> Sequence[SkippedPart]:
    require_whole(path, polars=False)
    return _parquet_corpus(path, options).check()


def _read_parquet(
    path: Path, options: TokenParquetOptions, columns: Sequence[str], size: int
) -> Iterator[Batch]:
    require_whole(path, polars=False)
    return _parquet_corpus(path, options).batches(columns, size)


def _divide_parquet(path: Path, options: TokenParquetOptions, size: int) -> Division:
    if options.lenient or is_compressed(path):
        return Division()
    texts, names = _parquet_texts(path, options, only=ROLES)
    blocks, key = _parquet_blocks(path, texts, names, SIZE), sentence_key(names)
    grammar = _parquet_grammar(names, options)
    parts = splitting.divide_rows(blocks, grammar, key, parquet.row_groups(path), size)
    return splitting.with_digests(parts, path)


def _read_parquet_part(
    path: Path, options: TokenParquetOptions, columns: Sequence[str], size: int, part: FilePart
) -> Iterator[Batch]:
    require_whole(path, part.range.lines, part.rows, polars=False)
    own = _parquet_corpus(path, options, part)
    return own.beginning(part.begin, _parquet_corpus(path, options)).batches(columns, size)


@reader(
    "token_parquet",
    suffixes=[".parquet", ".pq"],
    check=_check_parquet,
    options=TokenParquetOptions,
    kind="corpus",
    read=_read_parquet,
    divide=_divide_parquet,
    read_part=_read_parquet_part,
)
def scan_token_parquet(path: Path, options: TokenParquetOptions) -> pl.LazyFrame:
    """Token table in Apache Parquet, with rows in text order; ``line`` is the row.

    Columns are read as text, empty texts as null. A column ``head`` is the position of the token's
    head in its sentence; No, false or 0 in ``space_after`` mean no space.
    """
    return _parquet_corpus(path, options).scan()


def _parquet_corpus(
    path: Path, options: TokenParquetOptions, part: FilePart | None = None
) -> CorpusFile:
    texts, names = _parquet_texts(path, options)
    return CorpusFile(
        path,
        lambda size: _parquet_blocks(path, texts, names, size, part),
        _parquet_grammar(names, options),
        options.lenient,
    )


def _parquet_grammar(names: list[str], options: TokenParquetOptions) -> Grammar:
    row, apart = pl.lit(value=True).alias(ROW), pl.lit(value=False)
    return Grammar(
        rows=lambda rows: rows.with_columns(row, *rules.no_spaces(names)).with_columns(
            marks(names, apart)
        ),
        attributes=attributes_of(names),
        fields=fields_of(names),
        rules=sentence_rules(names),
        unique=unique(names),
        lemmas=Lemmas(rules.form_of(attributes_of(names)), options.placeholders),
    )


def _parquet_blocks(
    path: Path, texts: list[pl.Expr], names: list[str], size: int, part: FilePart | None = None
) -> Iterator[FrameBlock]:
    """Yield the rows of a file or part in blocks that end with a sentence."""
    before, number = (part.range.lines, part.rows) if part else (0, None)
    rest, lines = pl.DataFrame(), before + 1
    for batch in batches(path, max(1, size // _ROW_BYTES), before, number):
        line = pl.int_range(lines, lines + batch.height, dtype=pl.Int64).alias(LINE)
        rows = batch.select(line, *texts)
        rest = pl.concat([rest, rows]) if rest.height else rows
        lines += batch.height
        key = rest.select(pl.struct(sentence_key(names)).rle_id()).to_series()
        end = int(key.search_sorted(key[-1], side="left"))
        if end:
            yield FrameBlock(rest[:end])
        rest = rest[end:]
    if rest.height:
        yield FrameBlock(rest)


def _parquet_texts(
    path: Path, options: TokenParquetOptions, *, only: Collection[str] | None = None
) -> tuple[list[pl.Expr], list[str]]:
    """Return the columns as text under the reader's names, and the names.

    Only named columns, if any.
    """
    schema = open_parquet(path).collect_schema()
    _check_parquet_schema(path, schema, options)
    called = {name: options.reader_name(name) for name in schema if options.reader_name(name)}
    columns = {old: new for old, new in called.items() if only is None or new in only}
    names = list(columns.values())
    fields = fields_of(names)
    texts = [_column_text(old, schema[old]) for old in columns]
    if options.normalise != "none":
        texts = [
            unicode.normalise_column(text) if schema[old].base_type() in _TEXT_TYPES else text
            for old, text in zip(columns, texts, strict=True)
        ]
    full = [
        pl.when(text != "").then(text).alias(new) for text, new in zip(texts, fields, strict=True)
    ]
    return full, names


_TEXT_TYPES = (pl.String, pl.Categorical, pl.Enum)


def _column_text(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as text; whole numbers stored as floats or decimals without point."""
    value = pl.col(name)
    if dtype.is_decimal():
        return value.cast(pl.String).str.replace(r"\.0*$", "")
    if not dtype.is_float():
        return value.cast(pl.String)
    whole = value.cast(pl.Int64, strict=False)
    plain = pl.when(whole == value).then(whole.cast(pl.String))
    return plain.otherwise(value.fill_nan(None).cast(pl.String))


def _check_parquet_schema(path: Path, schema: pl.Schema, options: TokenParquetOptions) -> None:
    odd = [
        f"{name} ({dtype})"
        for name, dtype in schema.items()
        if no_plain_values(dtype) and dtype != pl.Duration  # which is text, such as P1D
    ]
    if odd:
        raise DataError(
            f"{path}: {count_text(len(odd), 'column')} without text or numbers: {', '.join(odd)}\n"
            "Convert them to text, or leave them out."
        )
    odd = [name for name in schema if name.startswith("~")]
    if odd:
        raise DataError(f"{path}: rename columns {', '.join(odd)}: names with ~ are reserved")
    if options.sentence not in schema:
        raise DataError(
            f"{path}: no column {options.sentence!r} among {', '.join(schema)}\n"
            "Name the column whose value changes where a sentence begins: sentence = ..."
        )
