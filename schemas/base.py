"""What every table has: strict columns, a key, an Arrow schema, an empty frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pandera.polars as pa
import polars as pl

if TYPE_CHECKING:
    import pyarrow


class Table(pa.DataFrameModel):
    """Base of all schemas: one table, one file, one model.

    A subclass names its columns with dtype and description, its ``_key`` (the columns that
    identify a row and give the table its order), and its cross-column laws as checks named
    after the law. A subclass whose ``_open`` is not empty may hold further columns, of the
    dtypes listed there.
    """

    _key: ClassVar[tuple[str, ...]] = ()
    _open: ClassVar[tuple[type[pl.DataType], ...]] = ()

    class Config:
        """No column beyond the declared ones, and no silent conversion."""

        strict = True
        coerce = False

    @classmethod
    def key(cls) -> tuple[str, ...]:
        """Return the columns that identify a row and order the table."""
        return cls._key

    @classmethod
    def open_dtypes(cls) -> tuple[type[pl.DataType], ...]:
        """Return the dtypes that further columns may have; empty if there may be none."""
        return cls._open

    @classmethod
    def columns(cls) -> dict[str, pl.DataType]:
        """Return the declared columns with their Polars dtypes, in order."""
        return {name: column.dtype.type for name, column in cls.to_schema().columns.items()}

    @classmethod
    def descriptions(cls) -> dict[str, str]:
        """Return what each declared column means."""
        fields = cls.to_schema().columns.items()
        return {name: column.description or "" for name, column in fields}

    @classmethod
    def zero_rows(cls, **further: Any) -> pl.LazyFrame:
        """Return the zero-row plan of this table, with `further` open columns if given."""
        return pl.LazyFrame(schema={**cls.columns(), **further})

    @classmethod
    def arrow_schema(cls) -> pyarrow.Schema:
        """Return the Arrow schema, each field's description in its metadata.

        Examples
        --------
        >>> from schemas import Sample
        >>> Sample.arrow_schema().names
        ['id', 'multiplicity', 'position']
        """
        schema = cls.zero_rows().collect().to_arrow().schema
        said = cls.descriptions()
        for index, name in enumerate(schema.names):
            described = schema.field(index).with_metadata({"description": said[name]})
            schema = schema.set(index, described)
        return schema


class OpenTable(Table):
    """A table that may hold further columns, of plain dtypes."""

    _open: ClassVar[tuple[type[pl.DataType], ...]] = (pl.Float64, pl.Int64, pl.String, pl.Boolean)

    class Config:
        """Further columns are allowed."""

        strict = False
