"""Token tables in Parquet: a token a row, columns that name its sentence and document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import polars as pl
from pydantic import model_validator

from pipeline.errors import DataError
from pipeline.formats import attributes, keyed, laws
from pipeline.formats.base import LINE, CorpusOptions, Skipped, reader
from pipeline.formats.laws import Rows
from pipeline.formats.tables import open_parquet


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
        attributes.distinct((self.sentence, self.document, self.paragraph))
        return self

    def called(self, name: str) -> str:
        """Return what the reader calls a column of the file; nothing if it is passed over."""
        own = {self.document: "doc", self.paragraph: "paragraph", self.sentence: "sentence"}
        return own.get(name, "" if name in own.values() else name)


def _check(path: Path, options: TokenParquetOptions) -> Sequence[Skipped]:
    rows = _judged(path, options)[0]
    return laws.verdict(path, rows, lenient=options.lenient)


@reader(
    "token_parquet",
    suffixes=[".parquet", ".pq"],
    check=_check,
    options=TokenParquetOptions,
    kind="corpus",
)
def scan_token_parquet(path: Path, options: TokenParquetOptions) -> pl.LazyFrame:
    """Token table in Apache Parquet, rows in the order of the text; ``line`` counts rows.

    Columns are read as text, an empty text as null; a column ``head`` is the position of the
    token's head in its sentence.
    """
    rows, names = _judged(path, options)
    plan = laws.sound(rows) if options.lenient else rows.plan
    return plan.select(attributes.columns(keyed.attributes_of(names)))


def _judged(path: Path, options: TokenParquetOptions) -> tuple[Rows, list[str]]:
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
    plan = plan.with_row_index(LINE, 1).with_columns(pl.col(LINE).cast(pl.Int64))
    plan = keyed.placed(plan, names, None).with_columns(attributes.heads(names))
    found_laws = [*keyed.sentence_law(names), *attributes.head_laws(names)]
    return Rows(plan, found_laws, keyed.scattered(plan, names)), names


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
