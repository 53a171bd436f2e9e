"""Rounds of annotation: labels that people gave by themselves, and those of who saw them."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import polars as pl

from pipeline.errors import did_you_mean
from pipeline.kernels.annotation.sheet_checks import canonical

ROUND = "round"
"""The column that says in which round a row was filled in; the first where it is empty."""
Round: TypeAlias = Literal["annotation", "adjudication"]
_ROUNDS: tuple[Round, ...] = get_args(Round)


def of_round(rows: pl.LazyFrame, wanted: Round) -> pl.LazyFrame:
    """Return the rows of one round.

    Parameters
    ----------
    rows : LazyFrame
        What stands in sheets. Without a column ``round``, or where it is empty, it is the first
        round, "annotation".
    wanted : str
        "annotation" or "adjudication".

    Examples
    --------
    >>> rows = pl.LazyFrame({"line": [2, 3, 4], "round": [None, "annotation", "adjudication"]})
    >>> of_round(rows, "annotation").collect()["line"].to_list()
    [2, 3]
    """
    if ROUND not in rows.collect_schema():
        return rows.filter(pl.lit(wanted == _ROUNDS[0]))
    return rows.filter(canonical(ROUND, labels=_ROUNDS).fill_null(_ROUNDS[0]) == wanted)


def unknown_rounds(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return a fault for every row whose round is none.

    Parameters
    ----------
    rows : LazyFrame
        file, line and, if rounds are told apart, round.

    Returns
    -------
    LazyFrame
        As `schemas.Faults`.

    Examples
    --------
    >>> rows = pl.LazyFrame({"file": ["a"], "line": [2], "round": ["adjudicaton"]})
    >>> unknown_rounds(rows).collect()["problem"].item()
    'is no round; did you mean adjudication?'
    """
    if ROUND not in rows.collect_schema():
        rows = rows.select("file", "line", pl.lit(None, pl.String).alias(ROUND))
    said = pl.col(ROUND).str.strip_chars() != ""
    wrong = rows.filter(said & canonical(ROUND, labels=_ROUNDS).is_null())
    problem = pl.col(ROUND).map_elements(_problem, return_dtype=pl.String)
    return wrong.select("file", "line", column=pl.lit(ROUND), value=ROUND, problem=problem)


def _problem(typed: str) -> str:
    return f"is no round; {did_you_mean(typed.strip(), _ROUNDS)}"
