"""Score tuples: every distinct set of frequencies once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial

import polars as pl

from pipeline.kernels.association.scoring import parse
from pipeline.kernels.association.tuple_tables import columns, tables
from pipeline.kernels.measure import TUPLE_MEASURES
from schemas.tuples import arity, signature


def parse_tuple_formula(formula: str, *, size: int) -> pl.Expr:
    """Return a user-defined measure of tuples as an expression.

    Parameters
    ----------
    formula : str
        Polars SQL, row by row, over the columns of `pipeline.kernels.association.tuple_tables`.
    size : int
        How many units the tuples have.

    Raises
    ------
    ValueError
        If it does not parse, uses another column, or is an aggregate or a window.

    Examples
    --------
    >>> parse_tuple_formula("o / f_12", size=3).meta.root_names()
    ['o', 'f_12']
    """
    return parse(formula, probe=_probe(size))


def score_tuples(
    tuples: pl.LazyFrame,
    *,
    measures: Sequence[str],
    formulas: Mapping[str, str] | None = None,
) -> pl.LazyFrame:
    """Add one Float64 column per measure to the tuples.

    Parameters
    ----------
    tuples : LazyFrame
        l1 ... lk and the Int64 columns of `schemas.tuples.signature`; any others are kept.
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
    wanted = {name: TUPLE_MEASURES.get(name).score(size) for name in names}
    wanted |= {
        name: parse_tuple_formula(formula, size=size) for name, formula in (formulas or {}).items()
    }
    key = signature(size)
    scored = (
        tuples.select(key)
        .unique()
        .map_batches(
            partial(_score_signatures, wanted=wanted, size=size),
            schema=dict.fromkeys(key, pl.Int64) | dict.fromkeys(wanted, pl.Float64),
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
        )
    )
    return tuples.join(scored, on=key, how="left", maintain_order="left")


def _score_signatures(
    signatures: pl.DataFrame, *, wanted: Mapping[str, pl.Expr], size: int
) -> pl.DataFrame:
    """Score all signatures at once, never fewer than two rows.

    A frame of one row takes other paths in Polars, see `association.score`.
    """
    asked = list(dict.fromkeys(name for each in wanted.values() for name in each.meta.root_names()))
    padded = pl.concat([signatures, _padding(size)])
    expanded = tables(padded, size=size, wanted=asked)
    defined = [
        pl.when(number.is_nan()).then(None).otherwise(number).alias(name)
        for name, number in ((name, each.cast(pl.Float64)) for name, each in wanted.items())
    ]
    scores = expanded.select(defined).head(signatures.height)
    return pl.concat([signatures, scores], how="horizontal")


def _padding(size: int) -> pl.DataFrame:
    """Return two tables: a tuple that occurs once, and one that occurs twice."""
    rows = [dict.fromkeys(signature(size), number) | {"N": 9} for number in (1, 2)]
    return pl.DataFrame(rows, schema=dict.fromkeys(signature(size), pl.Int64))


@cache
def _probe(size: int) -> pl.DataFrame:
    """Return a few tables with all columns that a formula may use."""
    base = _padding(size)
    rows = [base, base.with_columns(N=pl.col("N") + 5), base.with_columns(f1=pl.col("f1") + 3)]
    return tables(pl.concat(rows), size=size, wanted=columns(size))
