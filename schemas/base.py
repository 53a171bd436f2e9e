"""The base class of all tables, their declaration, and columns that many tables share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

if TYPE_CHECKING:
    import pyarrow


# Declarations: `column` and `rule`

PLAIN: Mapping[str, pl.DataType] = {
    "str": pl.String(), "int": pl.Int64(), "float": pl.Float64(), "bool": pl.Boolean(),
}  # fmt: skip
"""The dtype of each annotation."""
UNTOLD = pl.Unknown()
"""Take the dtype from the annotation."""


@dataclass(frozen=True)
class Column:
    """A column as declared by `column`; the table adds the dtype."""

    description: str
    key: int
    nullable: bool
    limits: Mapping[str, Any]
    dtype: pl.DataType


@dataclass(frozen=True, eq=False)
class Rule:
    """A condition over several columns: its text, and an expression that is true where it holds."""

    text: str
    holds: Callable[[pl.Schema], pl.Expr]


def column(
    description: str,
    *,
    key: int = False,
    nullable: bool = False,
    gt: float | None = None,
    ge: float | None = None,
    lt: float | None = None,
    le: float | None = None,
    isin: Sequence[Any] | None = None,
    min_length: int | None = None,
    dtype: pl.DataType = UNTOLD,
) -> Any:
    """Declare a column of a table.

    Parameters
    ----------
    description : str
        Its meaning, followed by a semicolon and its unit.
    key : bool or int
        True for a column that identifies a row and determines the order of rows; a number gives its
        position in the key if this differs from the order of columns.
    nullable : bool
        True if it may be null.
    gt, ge, lt, le : float, optional
        Bounds of its values, ignored for NaN.
    isin : sequence, optional
        The allowed values.
    min_length : int, optional
        Minimum number of characters.
    dtype : DataType
        Its dtype, if the annotation is not str, int, float or bool.
    """
    bounds = {"gt": gt, "ge": ge, "lt": lt, "le": le, "isin": isin, "min_length": min_length}
    limits = {name: limit for name, limit in bounds.items() if limit is not None}
    return Column(description, int(key), nullable, limits, dtype)


def rule(text: str, *holds: pl.Expr | Callable[[pl.Schema], pl.Expr]) -> Rule:
    """Declare a condition over several columns that every row must meet.

    Parameters
    ----------
    text : str
        The rule in words, e.g. "k_sampled <= n_sampled".
    *holds : Expr, or function from the table's schema to Expr
        True where the rule holds. Null (from a null in a column) counts as true.
    """
    return Rule(text, lambda schema: pl.all_horizontal(_resolve(each, schema) for each in holds))


def _resolve(holds: pl.Expr | Callable[[pl.Schema], pl.Expr], schema: pl.Schema) -> pl.Expr:
    return holds if isinstance(holds, pl.Expr) else holds(schema)


class Table:
    """Base class of all tables; declarations are checked whenever a table is written.

    The body declares the columns in order, each by `column` with str, int, float or bool as
    annotation; columns with ``key=True`` identify and order the rows. Columns and rules are
    inherited: inherited columns come first, unless the body repeats their annotation at another
    place. ``further`` lists the dtypes allowed for undeclared columns (default: none). ``instead``
    says what to do where the table is refused because another one is needed.

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
    _instead: ClassVar[str] = ""

    def __init_subclass__(
        cls, *, further: tuple[type[pl.DataType], ...] | None = None, instead: str = ""
    ) -> None:
        bases = [base._columns for base in cls.__bases__ if issubclass(base, Table)]
        inherited = {name: column for base in bases for name, column in base.items()}
        own = _own_columns(cls, inherited)
        cls._columns = {name: inherited[name] for name in inherited if name not in own} | own
        if further is not None:
            cls._further = further
        cls._instead = instead

    @classmethod
    def declared_columns(cls) -> Mapping[str, Column]:
        """Return the declared columns in order."""
        return cls._columns

    @classmethod
    def rules(cls) -> dict[str, Rule]:
        """Return the rules by name, the table's own first."""
        mine = [name for each in cls.__mro__ for name in vars(each)]
        return {name: value for name in mine if isinstance(value := getattr(cls, name), Rule)}

    @classmethod
    def key(cls) -> tuple[str, ...]:
        """Return the columns that identify and order the rows."""
        keyed = [name for name, column in cls._columns.items() if column.key]
        return tuple(sorted(keyed, key=lambda name: cls._columns[name].key))

    @classmethod
    def open_dtypes(cls) -> tuple[type[pl.DataType], ...]:
        """Return the dtypes allowed for undeclared columns; empty if none are allowed."""
        return cls._further

    @classmethod
    def instead(cls) -> str:
        """Return what to do where this table is refused; empty if nothing is declared."""
        return cls._instead

    @classmethod
    def columns(cls) -> dict[str, pl.DataType]:
        """Return the declared columns with their Polars dtypes, in order."""
        return {name: column.dtype for name, column in cls._columns.items()}

    @classmethod
    def descriptions(cls) -> dict[str, str]:
        """Return the description of each declared column."""
        return {name: column.description for name, column in cls._columns.items()}

    @classmethod
    def zero_rows(cls, **further: Any) -> pl.LazyFrame:
        """Return an empty table, with `further` undeclared columns if given."""
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
        descriptions = cls.descriptions()
        for index, name in enumerate(schema.names):
            described = schema.field(index).with_metadata({"description": descriptions[name]})
            schema = schema.set(index, described)
        return schema


def _own_columns(table: type[Table], inherited: Mapping[str, Column]) -> dict[str, Column]:
    """Return the columns declared in the body of a table, in order."""
    annotated = inspect.get_annotations(table)
    own = {}
    for name in [*annotated, *vars(table)]:
        declared = vars(table).get(name, inherited.get(name) if name in annotated else None)
        if isinstance(declared, Column):
            own[name] = _with_dtype(declared, annotated.get(name), f"{table.__name__}.{name}")
        elif name in annotated and not name.startswith("_"):
            raise TypeError(f"{table.__name__}.{name}: declare it with column(...)")
    return own


def _with_dtype(field: Column, annotation: Any, where: str) -> Column:
    """Return the column with its dtype, declared or taken from the annotation."""
    plain = getattr(annotation, "__name__", str(annotation))
    if field.dtype == UNTOLD and plain not in PLAIN:
        raise TypeError(f"{where}: annotate it with str, int, float or bool, or pass dtype=")
    return replace(field, dtype=PLAIN[plain]) if field.dtype == UNTOLD else field


class OpenTable(Table, further=(pl.Float64, pl.Int64, pl.String, pl.Boolean)):
    """A table that may have further columns of plain dtypes."""


# Columns that many tables inherit


class ByCategory(Table):
    """A table with rows for each category."""

    category: str = column("category of true positives", key=True)


class ByMeasure(ByCategory):
    """A table with rows for each category and measure."""

    measure: str = column("measure that ranks the candidates", key=True)


class ByList(ByMeasure):
    """A table with a row for each n-best list."""

    n: int = column("size of the n-best list; candidates", key=True, ge=1)


class ByPair(ByCategory):
    """A table with a row for each pair of n-best lists of equal size."""

    measure_1: str = column("first measure", key=True)
    measure_2: str = column("second measure", key=True)
    n: int = column("size of both n-best lists; candidates", key=True, ge=1)


class Differences(Table):
    """Judged draws from the difference sets of two lists."""

    size: int = column("|D1| = |D2|; candidates", ge=0)
    n_1: int = column("judged draws in D1, with multiplicity", ge=0)
    k_1: int = column("true positives among n_1", ge=0)
    n_2: int = column("judged draws in D2, with multiplicity", ge=0)
    k_2: int = column("true positives among n_2", ge=0)


VERDICTS = ("better", "worse", "small", "open")


class Verdicts(Table):
    """The verdict of a family of tests on each pair of measures."""

    verdict: str = column(
        "on measure_1: better or worse than measure_2 (p_adjusted < alpha and |difference| >= "
        "margin), small (p_adjusted < alpha only) or open (no significant difference)",
        isin=VERDICTS,
    )


class FamilyLimits(Verdicts):
    """Simultaneous limits of the differences in all rows of a category."""

    lower_family: float = column(
        "simultaneous lower limit, consistent with p_adjusted",
        ge=-1,
        le=1,
    )
    upper_family: float = column("simultaneous upper limit", ge=-1, le=1)

    limits_agree_with_the_verdict = rule(
        "the family limits include 0 if and only if the verdict is open",
        pl.when(pl.col("verdict") == "open")
        .then(pl.col("lower_family").le(0) & pl.col("upper_family").ge(0))
        .otherwise(pl.col("lower_family").ge(0) | pl.col("upper_family").le(0)),
    )


class Draws(Table):
    """Judged draws from an n-best list."""

    n_sampled: int = column("judged draws in the list, with multiplicity", ge=0)
    k_sampled: int = column("true positives among them, with multiplicity", ge=0)


class Limits(Table):
    """The interval of an estimated proportion."""

    lower: float = column("lower limit of the interval; proportion", ge=0, le=1)
    upper: float = column("upper limit of the interval; proportion", ge=0, le=1)


class ByRun(Table):
    """A table with rows for each run of a system."""

    system: str = column("system that induced the clusters", key=True)
    run: str = column("run of the system", key=True)


class BySentence(Table):
    """A table with rows for each sentence of a file."""

    file: str = column("input file, as named in the experiment", key=True)
    sentence: int = column("number of the sentence in the file, from 1", key=True, ge=1)
