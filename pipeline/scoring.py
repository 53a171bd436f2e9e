"""Score any table of frequency signatures, from a notebook or the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.frames import as_counts, as_frame
from pipeline.kernels import association
from pipeline.kernels.contingency import SIGNATURE
from pipeline.kernels.measure import MEASURES, Family, resolve
from schemas import Signatures
from schemas.validate import validate


def score(
    data: Any,
    *,
    measures: Sequence[str] = ("all",),
    formulas: Mapping[str, str] | None = None,
    seed: str = "",
) -> pl.DataFrame:
    """Score a table of frequency signatures.

    Parameters
    ----------
    data : table
        Polars, pyarrow, pandas, or anything with the Arrow C stream interface; whole numbers
        f, f1, f2, N; any other columns are kept.
    measures : sequence of str
        Names or aliases, see `measures`; ``all`` for every one.
    formulas : mapping of str to str, optional
        Measures of your own: name to Polars SQL over o11 .. e22 r1 r2 c1 c2 N.
    seed : str
        Fixes the measure `random`.

    Returns
    -------
    DataFrame
        The table, in its order, with a Float64 column per measure: infinite where the score
        is, null where it is undefined, never NaN.

    Raises
    ------
    ConfigError
        For an unknown measure or a formula that is not row by row.
    SchemaViolation
        For a missing column or inconsistent marginals, naming the rows.

    Examples
    --------
    >>> table = pl.DataFrame({"f": [146], "f1": [382], "f2": [4047], "N": [406159]})
    >>> score(table, measures=["t_score", "MI"]).select(pl.col("t_score", "mi").round(4)).row(0)
    (11.768, 1.5839)
    """
    frame = as_counts(as_frame(data), SIGNATURE, name="the table")
    plain = [name for name, dtype in frame.schema.items() if dtype in Signatures.open_dtypes()]
    validate([frame.select(plain)], Signatures, name="the table")
    try:
        names = resolve(measures)
        taken = sorted({*names, *(formulas or {})} & set(frame.columns))
        if taken:
            what = f"the table already has a column {', '.join(taken)}"
            raise ConfigError("score", [Problem("measures", what, "rename it first")])
        wanted = association.expressions(names, formulas or {})
    except (KeyError, ValueError) as error:
        raise ConfigError("score", [Problem("measures", str(error.args[0]))]) from error
    return association.score_now(frame, wanted=wanted, seed=seed)


def measures() -> pl.DataFrame:
    """Return the association measures, family by family, by name within a family.

    Examples
    --------
    >>> measures().filter(name="t_score").get_column("ucs").item()
    't.score'
    """
    families = get_args(Family)
    known = sorted(map(MEASURES.get, MEASURES), key=lambda each: families.index(each.family))
    return pl.DataFrame(
        [
            {
                "name": each.name,
                "ucs": each.ucs,
                "aliases": ", ".join(each.aliases),
                "family": each.family,
                "formula": each.formula,
                "range": each.range,
                "sided": each.sided,
                "symmetric": each.symmetric,
                "reference": each.reference,
            }
            for each in known
        ]
    )
