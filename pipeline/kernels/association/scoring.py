"""Scores of pairs and tuples: each distinct frequency signature is scored once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial, reduce

import polars as pl

from pipeline import errors
from pipeline.expressions import expression
from pipeline.kernels.association.contingency import (
    COLUMNS,
    DERIVED,
    EXACT,
    SIGNATURE,
    columns,
    tables,
    tuple_tables,
)
from pipeline.kernels.measure import MEASURES, TUPLE_MEASURES
from pipeline.kernels.sampling import seeded_key
from schemas.candidates import arity, signature

# Random numbers of candidates

_IDENTITIES = (("l1", "l2"), ("id",))
RANDOM_NUMBER = "random_number"
"""Column for measures that distinguish candidates with equal signatures."""


def random_number(columns: Collection[str], *, seed: str) -> pl.Expr:
    """Return a number in [0, 1) determined by candidate and seed.

    Parameters
    ----------
    columns : collection of str
        Columns of the candidates, which are identified by (l1, l2), ``id``, or else their frequency
        signature.
    seed : str
        Seed of the numbers.

    Returns
    -------
    Expr
        Float64 in [0, 1), uniform, independent of other rows and their order.

    Examples
    --------
    >>> pair = pl.DataFrame({"l1": ["in:Frage"], "l2": ["stellen"]})
    >>> pair.select(random_number(["l1", "l2"], seed="a").round(6)).item()
    0.296009
    """
    identity = next((each for each in _IDENTITIES if set(each) <= set(columns)), SIGNATURE)
    key = seeded_key(*identity, seed=seed, purpose="random")
    # The key has 63 bits; a Float64 below 1 takes its upper 53.
    return ((key // 2**10).cast(pl.Float64) * 2.0**-53).alias(RANDOM_NUMBER)


# Order of computation of columns that depend on others


def definition(column: str) -> pl.Expr:
    """Return the definition of a column: a cell, a shared intermediate, or a measure.

    Parameters
    ----------
    column : str
        A column of `pipeline.kernels.association.contingency`, or a registered measure.

    Raises
    ------
    KeyError
        If it is unknown.
    """
    for known in (EXACT, DERIVED):
        if column in known:
            return known[column]
    return MEASURES.get(column).expression


def required_columns(expressions: Iterable[pl.Expr]) -> dict[str, pl.Expr]:
    """Return all columns that the expressions depend on, in order of dependence.

    Parameters
    ----------
    expressions : iterable of Expr
        Over cells, shared intermediates and measures.

    Returns
    -------
    dict of str to Expr
        The required columns, without the signature and random numbers.

    Raises
    ------
    ValueError
        If a measure depends on itself.

    Examples
    --------
    >>> list(required_columns([pl.col("delta") / pl.col("o11").sqrt()]))
    ['determinant', 'N', 'delta', 'o11']
    """
    columns: dict[str, pl.Expr] = {}
    for each in expressions:
        _add_dependencies(each, columns, ())
    return columns


def _add_dependencies(
    expression: pl.Expr, columns: dict[str, pl.Expr], above: tuple[str, ...]
) -> None:
    for name in expression.meta.root_names():
        if name in above:
            raise ValueError(f"{name} is defined by itself: {' -> '.join((*above, name))}")
        if name not in columns and name != RANDOM_NUMBER:
            column = definition(name)
            if name not in EXACT:
                _add_dependencies(column, columns, (*above, name))
            columns[name] = column


def steps(columns: Mapping[str, pl.Expr]) -> list[dict[str, pl.Expr]]:
    """Group columns into steps that depend only on previous steps.

    Parameters
    ----------
    columns : mapping of str to Expr
        From `required_columns`.

    Examples
    --------
    >>> [list(step) for step in steps(required_columns([pl.col("delta") / pl.col("o11").sqrt()]))]
    [['determinant', 'N', 'o11'], ['delta']]
    """
    depth: dict[str, int] = {}
    for name, column in columns.items():
        below = [] if name in EXACT else [depth[root] + 1 for root in column.meta.root_names()]
        depth[name] = max(below, default=0)
    return [
        {name: columns[name] for name in depth if depth[name] == level}
        for level in range(max(depth.values(), default=-1) + 1)
    ]


def places(measures: Iterable[str], *, where: Callable[[str], str] = MEASURES.place) -> set[str]:
    """Return where the measures and those that they use are defined, as ``module:name``."""
    names = set(measures)
    names |= {name for name in required_columns(pl.col(each) for each in names) if name in MEASURES}
    return {where(name) for name in names}


# Pairs: signatures in batches that fit the cache

BATCH = 131_072
"""Rows of a batch: a column of it takes 1 MB, its query a small share of the time."""


def score_signatures(signatures: pl.DataFrame, expressions: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """Return the scores of all signatures, in their order.

    Parameters
    ----------
    signatures : DataFrame
        Int64 columns f, f1, f2, N.
    expressions : mapping of str to Expr
        Name to expression over cells, shared intermediates and measures.

    Returns
    -------
    DataFrame
        One Float64 column per name; null for NaN. Equal signatures have bitwise equal scores.
    """
    if all_distinct(signatures):
        return _score_rows(signatures, expressions)
    distinct = signatures.unique(maintain_order=True)
    numbered = distinct.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("_place"))
    rows = signatures.join(numbered, on=SIGNATURE, how="left", maintain_order="left")
    return _score_rows(distinct, expressions)[rows.get_column("_place")]


def all_distinct(signatures: pl.DataFrame) -> bool:
    """Return true if all signatures are certainly distinct.

    Notes
    -----
    Signatures are hashed to 64 bits. If all hashes are distinct, so are the signatures; a collision
    only costs time.

    Examples
    --------
    >>> table = pl.DataFrame({"f": [1, 1], "f1": [2, 3], "f2": [4, 4], "N": [9, 9]})
    >>> all_distinct(table), all_distinct(pl.concat([table, table]))
    (True, False)
    """
    mixed = reduce(lambda hashed, name: hashed * _FACTOR + pl.col(name), SIGNATURE, pl.lit(0))
    return bool(signatures.select(mixed.n_unique()).item() == signatures.height)


_FACTOR = 6364136223846793005
"""Multiplier of Knuth's MMIX generator; the products wrap around."""


def _score_rows(signatures: pl.DataFrame, expressions: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """Score every row, batch by batch."""
    columns = required_columns(expressions.values())
    numbers = {
        # A formula may have the name of a measure that others use.
        name: (pl.col(name) if columns.get(name) is each else each).cast(pl.Float64)
        for name, each in expressions.items()
    }
    score_batch = partial(_score_batch, steps=steps(columns), numbers=numbers)
    return _map_batches(_single_chunks(signatures), score_batch)


def select_by_rows(rows: pl.DataFrame, *steps: Sequence[pl.Expr]) -> pl.DataFrame:
    """Evaluate row-wise expressions in steps and batches.

    Parameters
    ----------
    rows : DataFrame
        Any columns.
    *steps : sequence of Expr
        Expressions of each step over the columns of the previous one.
    """
    return _map_batches(rows, lambda part: reduce(pl.DataFrame.select, steps, part))


_THREADS = 2
"""Number of parallel batches; each also uses Polars threads."""


def _map_batches(rows: pl.DataFrame, work: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """Apply a function to every batch, in threads, and concatenate the results."""
    slices = list(rows.iter_slices(BATCH)) or [rows]
    if len(slices) == 1:
        return work(slices[0])
    with ThreadPoolExecutor(_THREADS) as pool:
        return pl.concat(pool.map(work, slices))


def _score_batch(
    part: pl.DataFrame, steps: list[dict[str, pl.Expr]], numbers: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Score the rows of a batch, at least two."""
    small = part.height < 2
    query = (_single_chunks(pl.concat([part, _PADDING])) if small else part).lazy()
    for step in steps:
        query = query.with_columns(**step)
    scores = pl.all()
    defined = pl.when(scores.is_nan()).then(None).otherwise(scores).name.keep()
    values = (
        query.select(**numbers)
        .select(defined)
        .collect(engine="in-memory", optimizations=_NO_REWRITING)
    )
    return values.head(part.height) if small else values


def _single_chunks(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the columns as single chunks with all values.

    Polars stores constant columns (or single rows) as one value with a length, and replaces
    division by multiplication with the reciprocal. Equal signatures would then get different bits.
    """
    return pl.DataFrame([frame.get_column(name).rechunk() for name in frame.columns])


_NO_REWRITING = pl.QueryOptFlags.none().update(comm_subexpr_elim=True)
"""Only common subexpressions: rewriting could change rounding."""
_PADDING = pl.DataFrame({"f": [1, 1], "f1": [2, 3], "f2": [2, 3], "N": [9, 9]})


def measure_expressions(measures: Sequence[str], formulas: Mapping[str, str]) -> dict[str, pl.Expr]:
    """Return the expression of each measure: registered ones, then user-defined formulas.

    Parameters
    ----------
    measures : sequence of str
        Names, aliases, or ``all``.
    formulas : mapping of str to str
        Name to Polars SQL over the columns of `pipeline.kernels.association.contingency`.
    """
    registered = {name: MEASURES.get(name).expression for name in MEASURES.resolve(measures)}
    return registered | {name: parse(formula) for name, formula in formulas.items()}


def parse(formula: str, *, probe: pl.DataFrame | None = None) -> pl.Expr:
    """Return a user-defined measure as an expression.

    Parameters
    ----------
    formula : str
        Polars SQL, row by row, over ``o11 .. e22 r1 r2 c1 c2 N delta``.
    probe : DataFrame, optional
        A few tables with the available columns.

    Raises
    ------
    ValueError
        If it does not parse, uses other functions or columns, or is an aggregate or window
        function.

    Examples
    --------
    >>> parse("o11 / r1").meta.root_names()
    ['o11', 'r1']
    >>> parse("SUM(o11)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: 'SUM(o11)' is not an expression of a single row: SUM needs many rows (column 1); ...
    """
    rows, names = (_PROBE, list(COLUMNS)) if probe is None else (probe, probe.columns)
    parsed = expression(formula, what="expression")
    try:
        columns = set(parsed.meta.root_names())
        if unknown := sorted(columns - set(names)):
            raise ValueError(f"{formula!r} uses {', '.join(unknown)}; known: {', '.join(names)}")
        dtype = rows.select(parsed).dtypes[0]
    except pl.exceptions.PolarsError as error:
        why = errors.query(error)
        raise ValueError(f"{formula!r} is not a Polars SQL expression: {why}") from error
    if not columns:
        raise ValueError(f"{formula!r} is a constant: it uses no column")
    if not dtype.is_numeric():
        raise ValueError(f"{formula!r} gives {dtype}, not a number")
    return parsed


_PROBE = tables(
    pl.LazyFrame(
        {"f": [3, 9, 1, 4], "f1": [40, 11, 7, 90], "f2": [8, 60, 25, 13], "N": [500, 400, 800, 300]}
    )
).collect()


def score(
    candidates: pl.LazyFrame,
    *,
    measures: Sequence[str],
    formulas: Mapping[str, str] | None = None,
    seed: str = "",
) -> pl.LazyFrame:
    """Add one Float64 column per measure to the candidates.

    Equal frequency signatures get bitwise equal scores, because each distinct signature is
    scored once. Only `random` distinguishes candidates with equal signatures.

    Parameters
    ----------
    candidates : LazyFrame
        Int64 columns f, f1, f2, N; any others are kept.
    measures : sequence of str
        Names or aliases of registered measures, or ``all``.
    formulas : mapping of str to str, optional
        User-defined measures, as Polars SQL.
    seed : str
        Seed of the measure `random`.

    Returns
    -------
    LazyFrame
        The candidates in their order; infinities where a score is infinite, null where it is
        undefined, never NaN.

    Examples
    --------
    >>> pair = pl.LazyFrame({"f": [146], "f1": [382], "f2": [4047], "N": [406159]})
    >>> score(pair, measures=["MI"]).select(pl.col("mi").round(6)).collect().item()
    1.583852
    """
    expressions = measure_expressions(measures, formulas or {})
    schema = dict(candidates.collect_schema())
    return candidates.map_batches(
        partial(score_now, expressions=expressions, seed=seed),
        schema=schema | dict.fromkeys(expressions, pl.Float64),
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )


def score_now(
    candidates: pl.DataFrame, *, expressions: Mapping[str, pl.Expr], seed: str = ""
) -> pl.DataFrame:
    """Add the scores to a table in memory; see `score`.

    Parameters
    ----------
    candidates : DataFrame
        Whole numbers f, f1, f2, N; any others are kept.
    expressions : mapping of str to Expr
        The measures by name, from `measure_expressions`.
    seed : str
        Seed of the measure `random`.
    """
    # Measures with random numbers are scored for every candidate.
    of_pair = {
        name for name, each in expressions.items() if RANDOM_NUMBER in each.meta.root_names()
    }
    others = {name: each for name, each in expressions.items() if name not in of_pair}
    signatures = candidates.select(pl.col(SIGNATURE).cast(pl.Int64))
    scores = score_signatures(signatures, others).get_columns()
    if of_pair:
        numbers = [random_number(candidates.columns, seed=seed)]
        drawn = [expressions[name].alias(name) for name in sorted(of_pair)]
        scores += select_by_rows(candidates, numbers, drawn).get_columns()
    return candidates.with_columns(scores).select(*candidates.columns, *expressions)


# Tuples


def parse_tuple_formula(formula: str, *, size: int) -> pl.Expr:
    """Return a user-defined measure of tuples as an expression.

    Parameters
    ----------
    formula : str
        Polars SQL, row by row, over the columns of `pipeline.kernels.association.contingency`.
    size : int
        Number of units of the tuples.

    Raises
    ------
    ValueError
        If it does not parse, uses another column, or is an aggregate or window function.

    Examples
    --------
    >>> parse_tuple_formula("o / f_12", size=3).meta.root_names()
    ['o', 'f_12']
    """
    return parse(formula, probe=_tuple_probe(size))


def score_tuples(
    tuples: pl.LazyFrame, *, measures: Sequence[str], formulas: Mapping[str, str] | None = None
) -> pl.LazyFrame:
    """Add one Float64 column per measure to the tuples.

    Parameters
    ----------
    tuples : LazyFrame
        l1 ... lk and the Int64 columns of `schemas.candidates.signature`; any others are kept.
    measures : sequence of str
        Names or aliases of measures of tuples, or ``all``.
    formulas : mapping of str to str, optional
        User-defined measures, as Polars SQL.

    Returns
    -------
    LazyFrame
        The tuples in their order; infinities where a score is infinite, null where it is
        undefined, never NaN.

    Examples
    --------
    >>> rows = {"l1": ["a"], "l2": ["b"], "l3": ["c"], "f": [2], "f1": [2], "f2": [3], "f3": [3]}
    >>> rows |= {"f_12": [2], "f_13": [2], "f_23": [2], "N": [9]}
    >>> scored = score_tuples(pl.LazyFrame(rows), measures=["mi"]).collect()
    >>> round(scored.get_column("mi").item(), 6)
    0.954243
    """
    size = arity(tuples.collect_schema())
    names = TUPLE_MEASURES.resolve(measures)
    expressions = {name: TUPLE_MEASURES.get(name).score(size) for name in names}
    expressions |= {
        name: parse_tuple_formula(formula, size=size) for name, formula in (formulas or {}).items()
    }
    key = signature(size)
    scored = (
        tuples.select(key)
        .unique()
        .map_batches(
            partial(_score_tuple_signatures, expressions=expressions, size=size),
            schema=dict.fromkeys(key, pl.Int64) | dict.fromkeys(expressions, pl.Float64),
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
        )
    )
    return tuples.join(scored, on=key, how="left", maintain_order="left")


def _score_tuple_signatures(
    signatures: pl.DataFrame, *, expressions: Mapping[str, pl.Expr], size: int
) -> pl.DataFrame:
    """Score all signatures at once, at least two rows.

    Polars treats frames of one row differently, see `_score_batch`.
    """
    names = list(
        dict.fromkeys(name for each in expressions.values() for name in each.meta.root_names())
    )
    padded = pl.concat([signatures, _padding_rows(size)])
    expanded = tuple_tables(padded, size=size, names=names)
    defined = [
        pl.when(number.is_nan()).then(None).otherwise(number).alias(name)
        for name, number in ((name, each.cast(pl.Float64)) for name, each in expressions.items())
    ]
    scores = expanded.select(defined).head(signatures.height)
    return pl.concat([signatures, scores], how="horizontal")


def _padding_rows(size: int) -> pl.DataFrame:
    """Return two example tables."""
    rows = [dict.fromkeys(signature(size), number) | {"N": 9} for number in (1, 2)]
    return pl.DataFrame(rows, schema=dict.fromkeys(signature(size), pl.Int64))


@cache
def _tuple_probe(size: int) -> pl.DataFrame:
    """Return a few tables with all columns available to formulas."""
    base = _padding_rows(size)
    rows = [base, base.with_columns(N=pl.col("N") + 5), base.with_columns(f1=pl.col("f1") + 3)]
    return tuple_tables(pl.concat(rows), size=size, names=columns(size))
