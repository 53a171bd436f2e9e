"""What machines answer, as it stands in a file: predictions, doubles, strangers, provenance."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels import parsing

_JUDGE = "~judge"
"""The column that says who predicts, whatever the file calls it."""


def probability(column: str) -> pl.Expr:
    """Return a column as probabilities; null where nothing is said or it cannot be one.

    A label counts as 1.0 or 0.0, in the spellings that judgements have.

    Parameters
    ----------
    column : str
        Its name; text, numbers or truth values.

    Returns
    -------
    Expr
        Float64 in [0, 1].

    Examples
    --------
    >>> said = pl.DataFrame({"p": [" 0.7", "TP", "no", "1.2", ""]})
    >>> said.select(probability("p")).to_series().to_list()
    [0.7, 1.0, 0.0, None, None]
    """
    number = pl.col(column).cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    chance = pl.when(number.is_between(0.0, 1.0)).then(number + 0.0)
    return pl.coalesce(parsing.judgement(column).cast(pl.Float64), chance)


def doubled(rows: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    """Return a fault for each row about a pair that its judge has another row for.

    Parameters
    ----------
    rows : LazyFrame
        Rows of files with file, line, id and ~judge.
    units : sequence of str
        The columns that say which candidate it is.

    Examples
    --------
    >>> rows = pl.LazyFrame({"file": "m.tsv", "line": [2, 3], "id": ["a", "a"], "~judge": "m"})
    >>> doubled(rows, ["id"]).select("line", "problem").collect().row(0)
    (2, "this judge has another row for the pair: 'm'")
    """
    told = rows.filter(_about(units)).drop_nulls(_JUDGE)
    twice = told.filter(pl.struct("id", _JUDGE).is_duplicated())
    said = pl.format("this judge has another row for the pair: '{}'", _JUDGE)
    return _faults(twice, units, said)


def strange(rows: pl.LazyFrame, candidates: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    """Return a fault for each row about a pair that is no candidate.

    Parameters
    ----------
    rows, units
        As for `doubled`.
    candidates : LazyFrame
        The candidates, with id.

    Examples
    --------
    >>> rows = pl.LazyFrame({"file": "m.tsv", "line": [2, 3], "id": ["a", "b"]})
    >>> strange(rows, pl.LazyFrame({"id": ["a"]}), ["id"]).select("line", "value").collect().rows()
    [(3, 'b')]
    """
    lost = rows.filter(_about(units)).join(candidates.select("id"), on="id", how="anti")
    return _faults(lost, units, pl.lit('is no candidate; others = "skip" leaves such rows out'))


def _about(units: Sequence[str]) -> pl.Expr:
    """Tell the rows that say which candidate they are about; the others are faults already."""
    return pl.all_horizontal(parsing.filled(name).is_not_null() for name in units)


def _faults(rows: pl.LazyFrame, units: Sequence[str], problem: pl.Expr) -> pl.LazyFrame:
    return rows.select(
        "file",
        "line",
        column=pl.lit(", ".join(units)),
        value=pl.concat_str([pl.col(name).cast(pl.String) for name in units], separator=" "),
        problem=problem,
    )


def provenance(rows: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    """Return what stands in columns, by judge, and how often.

    Parameters
    ----------
    rows : LazyFrame
        Rows of files with ~judge.
    columns : sequence of str
        Such as model, version, prompt.

    Returns
    -------
    LazyFrame
        judge, column, value (as text), rows; empty fields are left out.

    Examples
    --------
    >>> rows = pl.LazyFrame({"~judge": "m", "model": ["x", "x", None]})
    >>> provenance(rows, ["model"]).collect().rows()
    [('m', 'model', 'x', 2)]
    """
    long = [
        rows.select(judge=_JUDGE, column=pl.lit(name), value=parsing.filled(name))
        for name in columns
    ]
    nothing = pl.LazyFrame(schema={"judge": pl.String, "column": pl.String, "value": pl.String})
    told = pl.concat([nothing, *long]).drop_nulls()
    counted = told.group_by("judge", "column", "value").agg(rows=pl.len().cast(pl.Int64))
    return counted.sort("judge", "column", "value")
