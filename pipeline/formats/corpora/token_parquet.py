"""Token tables in Parquet: one token per row, with columns for sentence and document."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Self

import polars as pl
from pydantic import model_validator

from pipeline.errors import DataError, no_plain_values
from pipeline.formats import lines, parquet, unicode
from pipeline.formats.base import LINE, Batch, SkippedPart, reader
from pipeline.formats.compression import is_compressed
from pipeline.formats.corpora import rules, splitting, token_table
from pipeline.formats.corpora.blocks import SIZE, FrameBlock, Grammar
from pipeline.formats.corpora.rules import ROW, LemmaOptions, Lemmas
from pipeline.formats.corpora.splitting import CorpusFile, Division, FilePart
from pipeline.formats.parquet import batches, open_parquet, require_whole
from schemas.errors import count_text

_WIDTH = 40
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


def _check(path: Path, options: TokenParquetOptions) -> Sequence[SkippedPart]:
    require_whole(path, polars=False)
    return _open(path, options).check()


def _read(
    path: Path, options: TokenParquetOptions, columns: Sequence[str], size: int
) -> Iterator[Batch]:
    require_whole(path, polars=False)
    return _open(path, options).batches(columns, size)


def _divide(path: Path, options: TokenParquetOptions, size: int) -> Division:
    if options.lenient or is_compressed(path):
        return Division()
    texts, names = _texts(path, options, only=token_table.ROLES)
    blocks, key = _blocks(path, texts, names, SIZE), token_table.sentence_key(names)
    grammar = _grammar(names, options)
    parts = splitting.divide_rows(blocks, grammar, key, parquet.row_groups(path), size)
    return splitting.with_digests(parts, path)


def _read_part(
    path: Path, options: TokenParquetOptions, columns: Sequence[str], size: int, part: FilePart
) -> Iterator[Batch]:
    require_whole(path, part.range.lines, part.rows, polars=False)
    own = _open(path, options, part)
    return own.beginning(part.begin, _open(path, options)).batches(columns, size)


@reader(
    "token_parquet",
    suffixes=[".parquet", ".pq"],
    check=_check,
    options=TokenParquetOptions,
    kind="corpus",
    read=_read,
    divide=_divide,
    read_part=_read_part,
)
def scan_token_parquet(path: Path, options: TokenParquetOptions) -> pl.LazyFrame:
    """Token table in Apache Parquet, with rows in text order; ``line`` is the row.

    Columns are read as text, empty texts as null. A column ``head`` is the position of the token's
    head in its sentence; No, false or 0 in ``space_after`` mean no space.
    """
    return _open(path, options).scan()


def _open(path: Path, options: TokenParquetOptions, part: FilePart | None = None) -> CorpusFile:
    texts, names = _texts(path, options)
    return CorpusFile(
        path,
        lambda size: _blocks(path, texts, names, size, part),
        _grammar(names, options),
        options.lenient,
    )


def _grammar(names: list[str], options: TokenParquetOptions) -> Grammar:
    row, apart = pl.lit(value=True).alias(ROW), pl.lit(value=False)
    return Grammar(
        rows=lambda rows: rows.with_columns(row, *rules.no_spaces(names)).with_columns(
            token_table.marks(names, apart)
        ),
        attributes=token_table.attributes_of(names),
        fields=token_table.fields_of(names),
        rules=token_table.sentence_rules(names),
        unique=token_table.unique(names),
        lemmas=Lemmas(rules.form_of(token_table.attributes_of(names)), options.placeholders),
    )


def _blocks(
    path: Path, texts: list[pl.Expr], names: list[str], size: int, part: FilePart | None = None
) -> Iterator[FrameBlock]:
    """Yield the rows of a file or part in blocks that end with a sentence."""
    before, number = (part.range.lines, part.rows) if part else (0, None)
    rest, lines = pl.DataFrame(), before + 1
    for batch in batches(path, max(1, size // _WIDTH), before, number):
        line = pl.int_range(lines, lines + batch.height, dtype=pl.Int64).alias(LINE)
        rows = batch.select(line, *texts)
        rest = pl.concat([rest, rows]) if rest.height else rows
        lines += batch.height
        key = rest.select(pl.struct(token_table.sentence_key(names)).rle_id()).to_series()
        end = int(key.search_sorted(key[-1], side="left"))
        if end:
            yield FrameBlock(rest[:end])
        rest = rest[end:]
    if rest.height:
        yield FrameBlock(rest)


def _texts(
    path: Path, options: TokenParquetOptions, *, only: Collection[str] | None = None
) -> tuple[list[pl.Expr], list[str]]:
    """Return the columns as text under the reader's names, and the names.

    Only named columns, if any.
    """
    schema = open_parquet(path).collect_schema()
    _check_schema(path, schema, options)
    called = {name: options.reader_name(name) for name in schema if options.reader_name(name)}
    columns = {old: new for old, new in called.items() if only is None or new in only}
    names = list(columns.values())
    fields = token_table.fields_of(names)
    texts = [_text(old, schema[old]) for old in columns]
    if options.normalise != "none":
        texts = [
            unicode.normalise_column(text) if schema[old].base_type() in _TEXTS else text
            for old, text in zip(columns, texts, strict=True)
        ]
    full = [
        pl.when(text != "").then(text).alias(new) for text, new in zip(texts, fields, strict=True)
    ]
    return full, names


_TEXTS = (pl.String, pl.Categorical, pl.Enum)


def _text(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as text; whole numbers stored as floats or decimals without point."""
    value = pl.col(name)
    if dtype.is_decimal():
        return value.cast(pl.String).str.replace(r"\.0*$", "")
    if not dtype.is_float():
        return value.cast(pl.String)
    whole = value.cast(pl.Int64, strict=False)
    plain = pl.when(whole == value).then(whole.cast(pl.String))
    return plain.otherwise(value.fill_nan(None).cast(pl.String))


def _check_schema(path: Path, schema: pl.Schema, options: TokenParquetOptions) -> None:
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
