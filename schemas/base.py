"""What every table has: columns, a key, rules, an Arrow schema, an empty frame."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from schemas.declaration import PLAIN, UNTOLD, Column, Rule

if TYPE_CHECKING:
    import pyarrow


class Table:
    """Base of all tables; what a subclass declares is checked whenever the table is written.

    The body names the columns in their order, each by `column`, with str, int, float or bool
    as annotation; those with ``key=True`` identify a row and give the table its order. A
    `rule` is named after what it says. Columns and rules of bases count too: their columns
    come first, unless the body repeats the annotation alone where the column shall stand.
    ``further`` lists the dtypes that columns beyond these may have; as a rule there are none.

    Examples
    --------
    >>> from schemas import Table, column, rule
    >>> class Hits(Table):
    ...     id: str = column("candidate", key=True)
    ...     n: int = column("judged draws", ge=0)
    ...     k: int = column("true positives among them", ge=0)
    ...     positives_within_draws = rule("k <= n", pl.col("k") <= pl.col("n"))
    >>> Hits.key(), Hits.columns()
    (('id',), {'id': String, 'n': Int64, 'k': Int64})
    """

    _columns: ClassVar[Mapping[str, Column]] = {}
    _further: ClassVar[tuple[type[pl.DataType], ...]] = ()

    def __init_subclass__(cls, *, further: tuple[type[pl.DataType], ...] | None = None) -> None:
        bases = [base._columns for base in cls.__bases__ if issubclass(base, Table)]
        inherited = {name: column for base in bases for name, column in base.items()}
        own = _declared(cls, inherited)
        cls._columns = {name: inherited[name] for name in inherited if name not in own} | own
        if further is not None:
            cls._further = further

    @classmethod
    def declared(cls) -> Mapping[str, Column]:
        """Return the columns as they were declared, in order."""
        return cls._columns

    @classmethod
    def rules(cls) -> dict[str, Rule]:
        """Return the rules over several columns, by their names, the table's own first."""
        mine = [name for each in cls.__mro__ for name in vars(each)]
        return {name: found for name in mine if isinstance(found := getattr(cls, name), Rule)}

    @classmethod
    def key(cls) -> tuple[str, ...]:
        """Return the columns that identify a row and order the table."""
        keyed = [name for name, column in cls._columns.items() if column.key]
        return tuple(sorted(keyed, key=lambda name: cls._columns[name].key))

    @classmethod
    def open_dtypes(cls) -> tuple[type[pl.DataType], ...]:
        """Return the dtypes that further columns may have; empty if there may be none."""
        return cls._further

    @classmethod
    def columns(cls) -> dict[str, pl.DataType]:
        """Return the declared columns with their Polars dtypes, in order."""
        return {name: column.dtype for name, column in cls._columns.items()}

    @classmethod
    def descriptions(cls) -> dict[str, str]:
        """Return what each declared column means."""
        return {name: column.description for name, column in cls._columns.items()}

    @classmethod
    def zero_rows(cls, **further: Any) -> pl.LazyFrame:
        """Return this table without rows, with `further` open columns if given."""
        return pl.LazyFrame(schema={**cls.columns(), **further})

    @classmethod
    def arrow_schema(cls) -> pyarrow.Schema:
        """Return the Arrow schema, each field's description in its metadata.

        Examples
        --------
        >>> from schemas import Sample
        >>> Sample.arrow_schema().names
        ['id', 'multiplicity', 'position', 'pi', 'stratum']
        """
        schema = cls.zero_rows().collect().to_arrow().schema
        said = cls.descriptions()
        for index, name in enumerate(schema.names):
            described = schema.field(index).with_metadata({"description": said[name]})
            schema = schema.set(index, described)
        return schema


def _declared(table: type[Table], inherited: Mapping[str, Column]) -> dict[str, Column]:
    """Return the columns that the body of a table names, in order."""
    annotated = inspect.get_annotations(table)
    own = {}
    for name in [*annotated, *vars(table)]:
        declared = vars(table).get(name, inherited.get(name) if name in annotated else None)
        if isinstance(declared, Column):
            own[name] = _typed(declared, annotated.get(name), f"{table.__name__}.{name}")
        elif name in annotated and not name.startswith("_"):
            raise TypeError(f"{table.__name__}.{name}: declare it by column(...)")
    return own


def _typed(found: Column, annotation: Any, where: str) -> Column:
    """Return the column with its dtype: the one that it has, or that the annotation stands for."""
    plain = getattr(annotation, "__name__", str(annotation))
    if found.dtype == UNTOLD and plain not in PLAIN:
        raise TypeError(f"{where}: annotate it as str, int, float or bool, or give its dtype")
    return replace(found, dtype=PLAIN[plain]) if found.dtype == UNTOLD else found


class OpenTable(Table, further=(pl.Float64, pl.Int64, pl.String, pl.Boolean)):
    """A table that may hold further columns, of plain dtypes."""
