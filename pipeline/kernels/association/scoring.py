"""Score candidates: every distinct frequency signature once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from pipeline import causes
from pipeline.expressions import expression
from pipeline.kernels.association.batches import score_signatures, select_by_rows
from pipeline.kernels.association.contingency import COLUMNS, SIGNATURE, tables
from pipeline.kernels.association.random_numbers import RANDOM_NUMBER, random_number
from pipeline.kernels.measure import MEASURES


def expressions(measures: Sequence[str], formulas: Mapping[str, str]) -> dict[str, pl.Expr]:
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
        A few tables with the columns that it may use, in place of these.

    Raises
    ------
    ValueError
        If it does not parse, uses a function or a column that it may not, or is an aggregate or a
        window.

    Examples
    --------
    >>> parse("o11 / r1").meta.root_names()
    ['o11', 'r1']
    >>> parse("SUM(o11)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: 'SUM(o11)' is not row by row: constants, aggregates and windows are refused; SUM ...
    """
    rows, names = (_PROBE, list(COLUMNS)) if probe is None else (probe, probe.columns)
    parsed = expression(formula, what="expression")
    try:
        columns = set(parsed.meta.root_names())
        if unknown := sorted(columns - set(names)):
            raise ValueError(f"{formula!r} uses {', '.join(unknown)}; known: {', '.join(names)}")
        by_row = bool(columns) and _is_row_by_row(parsed, rows)
        dtype = rows.select(parsed).dtypes[0]
    except pl.exceptions.PolarsError as error:
        why = causes.query(error)
        raise ValueError(f"{formula!r} is not a Polars SQL expression: {why}") from error
    if not by_row:
        raise ValueError(
            f"{formula!r} is not row by row: constants, aggregates and windows are refused"
        )
    if not dtype.is_numeric():
        raise ValueError(f"{formula!r} gives {dtype}, not a number")
    return parsed


_PROBE = tables(
    pl.LazyFrame(
        {"f": [3, 9, 1, 4], "f1": [40, 11, 7, 90], "f2": [8, 60, 25, 13], "N": [500, 400, 800, 300]}
    )
).collect()


def _is_row_by_row(parsed: pl.Expr, probe: pl.DataFrame) -> bool:
    """Tell whether every row gives what it gives among others when it stands beside itself.

    Not alone: Polars divides a single row by a literal in another way, see `batches`.
    """
    together = probe.select(parsed.alias("x"))
    twice = [probe[[index, index]].select(parsed.alias("x")) for index in range(probe.height)]
    return together.equals(pl.concat(each.head(1) for each in twice))


def score(
    candidates: pl.LazyFrame,
    *,
    measures: Sequence[str],
    formulas: Mapping[str, str] | None = None,
    seed: str = "",
) -> pl.LazyFrame:
    """Add one Float64 column per measure to the candidates.

    Equal frequency signatures get bitwise equal scores, because each distinct signature is
    scored once. Only `random` tells candidates with equal signatures apart.

    Parameters
    ----------
    candidates : LazyFrame
        Int64 columns f, f1, f2, N; any others are kept.
    measures : sequence of str
        Names or aliases of registered measures, or ``all``.
    formulas : mapping of str to str, optional
        User-defined measures, as Polars SQL.
    seed : str
        Fixes the measure `random`.

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
    wanted = expressions(measures, formulas or {})
    schema = dict(candidates.collect_schema())
    return candidates.map_batches(
        partial(score_now, wanted=wanted, seed=seed),
        schema=schema | dict.fromkeys(wanted, pl.Float64),
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )


_THREADS = 2
"""Batches that are scored at a time; each uses the threads of Polars besides."""


def score_now(
    candidates: pl.DataFrame, *, wanted: Mapping[str, pl.Expr], seed: str = ""
) -> pl.DataFrame:
    """Add the scores to a table that is in memory, with all threads.

    Parameters
    ----------
    candidates : DataFrame
        Whole numbers f, f1, f2, N; any others are kept.
    wanted : mapping of str to Expr
        As `expressions` gives them.
    seed : str
        Fixes the measure `random`.

    Notes
    -----
    The query that `score` returns does the same, but Polars lets nothing inside a query's Python
    function use more than one thread.
    """
    # What has a random number is scored candidate by candidate.
    of_pair = {name for name, each in wanted.items() if RANDOM_NUMBER in each.meta.root_names()}
    others = {name: each for name, each in wanted.items() if name not in of_pair}
    signatures = candidates.select(pl.col(SIGNATURE).cast(pl.Int64))
    scores = score_signatures(signatures, others, threads=_THREADS).get_columns()
    if of_pair:
        numbers = [random_number(candidates.columns, seed=seed)]
        drawn = [wanted[name].alias(name) for name in sorted(of_pair)]
        scores += select_by_rows(candidates, numbers, drawn, threads=_THREADS).get_columns()
    return candidates.with_columns(scores).select(*candidates.columns, *wanted)
