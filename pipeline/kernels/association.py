"""Score candidates: every distinct frequency signature once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from pipeline.kernels.contingency import COLUMNS, SIGNATURE, tables
from pipeline.kernels.measure import MEASURES, resolve


def expressions(measures: Sequence[str], formulas: Mapping[str, str]) -> dict[str, pl.Expr]:
    """Return the expression of each measure: registered ones, then user-defined formulas.

    Parameters
    ----------
    measures : sequence of str
        Names, aliases, or ``all``.
    formulas : mapping of str to str
        Name to Polars SQL over the columns of `pipeline.kernels.contingency`.
    """
    known = {name: MEASURES.get(name).score() for name in resolve(measures)}
    return known | {name: parse(formula) for name, formula in formulas.items()}


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
        If it does not parse, uses another column, or is an aggregate or a window.

    Examples
    --------
    >>> parse("o11 / r1").meta.root_names()
    ['o11', 'r1']
    >>> parse("SUM(o11)")
    Traceback (most recent call last):
    ...
    ValueError: 'SUM(o11)' is not row by row: constants, aggregates and windows are refused
    """
    rows, known = (_PROBE, list(COLUMNS)) if probe is None else (probe, probe.columns)
    try:
        parsed = pl.sql_expr(formula)
        columns = set(parsed.meta.root_names())
        if unknown := sorted(columns - set(known)):
            raise ValueError(f"{formula!r} uses {', '.join(unknown)}; known: {', '.join(known)}")
        by_row = bool(columns) and _is_row_by_row(parsed, rows)
        dtype = rows.select(parsed).dtypes[0]
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{formula!r} is not a Polars SQL expression: {error}") from error
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
    """Tell whether every row alone gives what it gives among others."""
    together = probe.select(parsed.alias("x"))
    rows = [probe[index : index + 1].select(parsed.alias("x")) for index in range(probe.height)]
    return together.equals(pl.concat(rows))


def score(
    candidates: pl.LazyFrame,
    *,
    measures: Sequence[str],
    formulas: Mapping[str, str] | None = None,
) -> pl.LazyFrame:
    """Add one Float64 column per measure to the candidates.

    Equal frequency signatures get bitwise equal scores, because each distinct signature is
    scored once.

    Parameters
    ----------
    candidates : LazyFrame
        Int64 columns f, f1, f2, N; any others are kept.
    measures : sequence of str
        Names or aliases of registered measures, or ``all``.
    formulas : mapping of str to str, optional
        User-defined measures, as Polars SQL.

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
    dtypes = dict.fromkeys(SIGNATURE, pl.Int64) | dict.fromkeys(wanted, pl.Float64)
    scored = (
        candidates.select(SIGNATURE)
        .unique()
        .map_batches(
            partial(_score_signatures, wanted=wanted),
            schema=dtypes,
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
        )
    )
    return candidates.join(scored, on=SIGNATURE, how="left", maintain_order="left")


def _score_signatures(signatures: pl.DataFrame, *, wanted: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """Score all signatures at once, never fewer than two rows.

    A frame of one row takes other paths in Polars (dividing by a literal is then a division,
    else a product with its reciprocal), so that equal signatures could get unequal bits.
    """
    padded = pl.concat([signatures, _PADDING])
    keys = padded.lazy().with_columns(pl.struct(SIGNATURE).alias("_signature"))
    defined = [
        pl.when(number.is_nan()).then(None).otherwise(number).alias(name)
        for name, number in ((name, each.cast(pl.Float64)) for name, each in wanted.items())
    ]
    scored = tables(keys).select("_signature", *defined).unnest("_signature")
    return scored.collect(engine="in-memory").head(signatures.height)


_PADDING = pl.DataFrame({"f": [1, 1], "f1": [2, 3], "f2": [2, 3], "N": [9, 9]})
