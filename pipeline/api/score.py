"""Score any table of frequency signatures, from a notebook or the command line."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args, overload

import polars as pl

from pipeline.api.convert import as_counts, require_words
from pipeline.errors import ConfigError, Problem
from pipeline.kernels.association import scoring
from pipeline.kernels.association.contingency import SIGNATURE
from pipeline.kernels.measure import MEASURES, TUPLE_MEASURES, Family, Measure
from pipeline.registry import as_names
from schemas import Signatures
from schemas.candidates import MOST
from schemas.validate import validate

_LOG = logging.getLogger(__name__)
_NEEDED = (*SIGNATURE, "l1", "l2", "id")
"""Inputs of scores: the counts, and the identity of candidates for the measure `random`."""
P = TypeVar("P", pl.DataFrame, pl.LazyFrame)


@overload
def score(
    data: P,
    *,
    measures: str | Sequence[str] = ...,
    formulas: Mapping[str, str] | None = ...,
    seed: str = ...,
) -> P: ...
@overload
def score(
    data: Any,
    *,
    measures: str | Sequence[str] = ...,
    formulas: Mapping[str, str] | None = ...,
    seed: str = ...,
) -> Any: ...
def score(
    data: Any,
    *,
    measures: str | Sequence[str] = ("all",),
    formulas: Mapping[str, str] | None = None,
    seed: str = "",
) -> Any:
    """Score a table of frequency signatures.

    Parameters
    ----------
    data : table
        With whole numbers f, f1, f2, N; other columns are kept.
    measures : str or sequence of str
        Names or aliases, see `measures`, or ``all``, without `random`, `fisher_left_pv` and those
        that the table has.
    formulas : mapping of str to str, optional
        Your own measures: name to Polars SQL over o11 .. e22 r1 r2 c1 c2 N.
    seed : str
        Seed of the measure `random`.

    Returns
    -------
    table
        The table with a Float64 column per measure, null (pandas: NaN) where undefined. It has the
        kind of `data`: Polars, pyarrow or pandas.

    Raises
    ------
    ConfigError
        For an unknown measure, or a formula that is not row by row.
    SchemaViolation
        For a missing column, inconsistent marginals, or a word that is empty or a spreadsheet
        error, with the rows.
    DataError
        If two columns have the same name, or a column of counts cannot be converted.

    Examples
    --------
    >>> table = pl.DataFrame({"f": [146], "f1": [382], "f2": [4047], "N": [406159]})
    >>> score(table, measures=["t_score", "MI"]).select(pl.col("t_score", "mi").round(4)).row(0)
    (11.768, 1.5839)
    """
    from pipeline.api.convert import take  # noqa: PLC0415  the list of measures needs no narwhals

    table = take(data, _NEEDED)
    frame = as_counts(table.frame, SIGNATURE, name="the table")
    require_words(frame, ("l1", "l2"), name="the table")
    plain = [name for name, dtype in frame.schema.items() if dtype in Signatures.open_dtypes()]
    validate([frame.select(plain)], Signatures, name="the table")
    try:
        names = MEASURES.resolve(as_names(measures))
        if "all" in as_names(measures) and (
            old := [each for each in names if each in table.columns]
        ):
            _LOG.warning("warning: not computed, as the table has them: %s", ", ".join(old))
            names = [name for name in names if name not in old]
        clashes = sorted({*names, *(formulas or {})} & set(table.columns))
        if clashes:
            what = f"the table already has a column {', '.join(clashes)}"
            raise ConfigError("score", [Problem("measures", what, "rename it first")])
        expressions = scoring.measure_expressions(names, formulas or {})
    except (KeyError, ValueError) as error:
        raise ConfigError("score", [Problem("measures", str(error.args[0]))]) from error
    return table.back(
        scoring.score_now(frame, expressions=expressions, seed=seed), list(expressions)
    )


def measures() -> pl.DataFrame:
    """Return the association measures by family and name.

    Measures with a number in their names, for example mi_conf_5, also have a row for their family,
    mi_conf(n). Column note: the value where the formula leaves a choice, for example for an empty
    margin. Column units: the numbers of units that the measure supports.

    Examples
    --------
    >>> measures().filter(name="t_score").select("ucs", "units", "tuple_formula").row(0)
    ('t.score', '2-6', '(O - E) / sqrt(O)')
    """
    families = get_args(Family)
    pairs = {name: MEASURES.get(name) for name in MEASURES}
    pairs |= {each.label: each.example for each in MEASURES.templates()}
    tuples = {name: TUPLE_MEASURES.get(name) for name in TUPLE_MEASURES}
    ordered = sorted(
        {**tuples, **pairs}.values(), key=lambda each: (families.index(each.family), each.name)
    )
    return pl.DataFrame(
        [_describe(each.name, pairs.get(each.name), tuples.get(each.name)) for each in ordered]
    )


def _describe(name: str, of_pairs: Measure | None, of_tuples: Measure | None) -> dict[str, Any]:
    measure = of_pairs or of_tuples
    assert measure is not None
    return {
        "name": name,
        "ucs": measure.ucs,
        "aliases": ", ".join(measure.aliases),
        "family": measure.family,
        "formula": measure.formula,
        "range": measure.range,
        "sided": measure.sided,
        "symmetric": measure.symmetric,
        "note": measure.note,
        "units": f"2-{MOST}" if of_tuples else "2",
        "tuple_formula": of_tuples.formula if of_tuples else "",
        "reference": measure.reference,
    }
