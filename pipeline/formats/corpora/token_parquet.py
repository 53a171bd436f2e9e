"""Token tables in Parquet: a token a row, columns that name its sentence and document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import polars as pl
from pydantic import model_validator

from pipeline.errors import DataError
from pipeline.formats import delimited
from pipeline.formats.base import LINE, Batch, CorpusOptions, Skipped, reader
from pipeline.formats.corpora import attributes
from pipeline.formats.corpora import places as keyed
from pipeline.formats.corpora import rules as laws
from pipeline.formats.corpora.blocks import read_whole
from pipeline.formats.corpora.carry import DOCUMENTS, NOTHING_BEFORE, Carry
from pipeline.formats.corpora.rules import Rows
from pipeline.formats.parquet import open_parquet

_WIDTH = 40
"""Bytes that a row is taken to have."""


class TokenParquetOptions(CorpusOptions):
    """How a token table in Parquet is read."""

    sentence: str = "sentence"
    """Column whose value changes where a sentence begins."""
    document: str = "doc"
    """Column with the document's name; there may be none."""
    paragraph: str = "paragraph"
    """Column whose value changes where a paragraph begins; there may be none."""

    @model_validator(mode="after")
    def _apart(self) -> Self:
        delimited.distinct((self.sentence, self.document, self.paragraph))
        return self

    def called(self, name: str) -> str:
        """Return what the reader calls a column of the file; nothing if it is passed over."""
        own = {self.document: "doc", self.paragraph: "paragraph", self.sentence: "sentence"}
        return own.get(name, "" if name in own.values() else name)


def _check(path: Path, options: TokenParquetOptions) -> Sequence[Skipped]:
    plan, names = _texts(path, options)
    rows = _judged(_placed(plan, names), names, whole_file=True)
    return laws.verdict(path, rows, lenient=options.lenient)


def _read(
    path: Path, options: TokenParquetOptions, columns: Sequence[str], size: int
) -> Iterator[Batch]:
    if options.lenient:  # whether a sentence stands in one place is seen at the end
        yield from read_whole(path, options, columns, check=_check, scan=scan_token_parquet)
        return
    plan, names = _texts(path, options)
    carry, keys = Carry(), list[pl.Series]()
    for part in _parts(plan, names, max(1, size // _WIDTH)):
        tokens = _placed(part.lazy(), names, carry).collect()
        if laws.skips(_judged(tokens.lazy(), names, whole_file=False)):
            break
        carry = replace(
            carry.after(tokens.with_columns(pl.lit(0).alias(DOCUMENTS)), tokens, lines=0),
            last=keyed.last_of(tokens, names),
        )
        found = keyed.sentences(tokens, names)
        keys += [] if found is None else [found]
        yield Batch(tokens.select(columns))
    else:
        if keys and not pl.concat(keys).is_duplicated().any():
            return
    _check(path, options)


@reader(
    "token_parquet",
    suffixes=[".parquet", ".pq"],
    check=_check,
    options=TokenParquetOptions,
    kind="corpus",
    read=_read,
)
def scan_token_parquet(path: Path, options: TokenParquetOptions) -> pl.LazyFrame:
    """Token table in Apache Parquet, rows in the order of the text; ``line`` counts rows.

    Columns are read as text, an empty text as null; a column ``head`` is the position of the
    token's head in its sentence.
    """
    plan, names = _texts(path, options)
    tokens = _placed(plan, names)
    if options.lenient:
        tokens = laws.sound(_judged(tokens, names, whole_file=True))
    return tokens.select(attributes.columns(keyed.attributes_of(names)))


def _texts(path: Path, options: TokenParquetOptions) -> tuple[pl.LazyFrame, list[str]]:
    """Return the rows as text under the names that the reader gives them, and the names."""
    found = open_parquet(path)
    schema = found.collect_schema()
    _require(path, schema, options)
    kept = {name: options.called(name) for name in schema if options.called(name)}
    names = list(kept.values())
    fields = [keyed.role(name) for name in attributes.raw(names)]
    texts = [_text(old, schema[old]).alias(new) for old, new in zip(kept, fields, strict=True)]
    plan = found.select(texts).with_columns(
        *(pl.when(pl.col(name) != "").then(name) for name in fields),
        *([] if "doc" in names else [pl.lit("").alias("doc")]),
    )
    return plan.with_row_index(LINE, 1).with_columns(pl.col(LINE).cast(pl.Int64)), names


def _placed(plan: pl.LazyFrame, names: list[str], carry: Carry = NOTHING_BEFORE) -> pl.LazyFrame:
    return keyed.placed(plan, names, None, carry).with_columns(attributes.heads(names))


def _judged(tokens: pl.LazyFrame, names: list[str], *, whole_file: bool) -> Rows:
    found = [*keyed.sentence_law(names), *attributes.head_laws(names)]
    return Rows(tokens, found, keyed.scattered(tokens, names) if whole_file else None)


def _parts(plan: pl.LazyFrame, names: list[str], rows: int) -> Iterator[pl.DataFrame]:
    """Yield the rows in parts that end where a sentence does."""
    held = plan.head(0).collect()
    for batch in plan.collect_batches(chunk_size=rows, maintain_order=True):
        held = pl.concat([held, batch])
        key = held.select(pl.struct(keyed.sentence_key(names)).rle_id()).to_series()
        end = int(key.search_sorted(key[-1], side="left"))
        if end:
            yield held[:end]
        held = held[end:]
    if held.height:
        yield held


def _text(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as text; a whole number that is kept as a float without its point."""
    value = pl.col(name)
    if not dtype.is_float():
        return value.cast(pl.String)
    whole = value.cast(pl.Int64, strict=False)
    plain = pl.when(whole == value).then(whole.cast(pl.String))
    return plain.otherwise(value.fill_nan(None).cast(pl.String))


def _require(path: Path, schema: pl.Schema, options: TokenParquetOptions) -> None:
    nested = [name for name, dtype in schema.items() if dtype.is_nested() or dtype == pl.Binary]
    if nested:
        raise DataError(f"{path}: columns {', '.join(nested)} do not hold text or numbers")
    odd = [name for name in schema if name.startswith("~")]
    if odd:
        raise DataError(f"{path}: rename columns {', '.join(odd)}: the reader's own begin with ~")
    if options.sentence not in schema:
        raise DataError(
            f"{path}: no column {options.sentence!r} among {', '.join(schema)}\n"
            "Name the column whose value changes where a sentence begins: sentence = ..."
        )
