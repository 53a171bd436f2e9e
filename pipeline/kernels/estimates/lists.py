"""Tables of estimates: the precision of n-best lists."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.estimates.hajek import Estimates, Known, hajek
from pipeline.kernels.estimates.limits import (
    limits,
    worth,
)
from pipeline.kernels.estimates.study import Study
from pipeline.kernels.estimates.sums import list_sums

LISTS = {
    "measure": pl.String,
    "n": pl.Int64,
    "estimate": pl.Float64,
    "variance": pl.Float64,
    "lower": pl.Float64,
    "upper": pl.Float64,
    "n_eff": pl.Float64,
    "n_sampled": pl.Int64,
    "k_sampled": pl.Int64,
    "draws": pl.Int64,
    "certain": pl.Int64,
    "unjudged": pl.Int64,
    "tau": pl.Float64,
}


def list_estimates(
    given: Study, *, at: Sequence[int], confidence: npt.ArrayLike = 0.95
) -> pl.DataFrame:
    """Estimate the precision of n-best lists from a sample of any design.

    Parameters
    ----------
    given : Study
        Ranks and sample, as `study.study` puts them together.
    at : sequence of int
        List sizes in 1..S; S gives the baseline.
    confidence : array_like of float
        Confidence level in (0, 1): one, or as many as fit the shape (measures, lists), measures
        in alphabetical order and sizes ascending.

    Returns
    -------
    pl.DataFrame
        measure, n, estimate, variance, lower, upper, n_eff (draws of a simple sample that the
        uncertain part is worth), n_sampled (judged draws), k_sampled (true ones among them),
        draws (judged, uncertain), certain, unjudged (draws), tau (weight
        of the predictions); sorted. Where a stratum of the list has no draw, or a certain member
        no judgement, the estimate is null, and the limits are the worst case.

    Raises
    ------
    ValueError
        If a list size is outside 1..S, a list holds candidates that could not be drawn, or the
        confidence is not inside (0, 1).

    References
    ----------
    See `hajek.hajek` and `intervals.korn_graubard`.

    Examples
    --------
    >>> from pipeline.kernels.estimates.study import study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> draws = pl.DataFrame(
    ...     {"id": list("abc"), "tp": [True, True, False], "pi": [1.0, 0.5, 0.25]}
    ... )
    >>> list_estimates(study(ranks, draws), at=[1, 4]).select(
    ...     "n", pl.col("estimate", "lower", "upper").round(3), "draws", "certain"
    ... ).rows()
    [(1, 1.0, 1.0, 1.0, 0, 1), (4, 0.5, 0.251, 0.975, 2, 1)]
    """
    n = checked_cuts(given, at)
    first = np.searchsorted(n, given.ranks, side="left")
    added = partial(list_sums, lists=len(n))
    cells, one_cell = given.strata * given.folds, np.zeros_like(given.known)
    drawn = added(first[:, given.places], given.moments, given.cell, cells=cells)
    rest = added(first, given.rest, given.stratum, cells=given.strata)
    known = added(first[:, given.known], given.known_columns, one_cell, cells=1)
    lists = [(name, int(size)) for name in given.measures for size in n]
    refuse_undrawable(rest[1].sum(axis=-1).ravel(), [f"{name} at {size}" for name, size in lists])
    found = estimates_of(given, drawn, rest, known[..., 0])
    lower, upper = limits(found, confidence=confidence)
    names, sizes = zip(*lists, strict=True) if lists else ((), ())
    columns = {"measure": names, "n": sizes, "variance": found.variance.ravel()}
    columns |= {"lower": lower.ravel(), "upper": upper.ravel()}
    return typed_table(columns | described(found, drawn, known[..., 0]), LISTS).sort("measure", "n")


def checked_cuts(given: Study, at: Sequence[int]) -> IntArray:
    """Return the list sizes in order, each once.

    Raises
    ------
    ValueError
        If one is outside 1..S: which.

    Examples
    --------
    >>> from pipeline.kernels.estimates.study import study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ["a", "b"], "rank": [1, 2]})
    >>> draws = pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]})
    >>> checked_cuts(study(ranks, draws), [2, 1, 2]).tolist()
    [1, 2]
    """
    wrong = sorted({size for size in at if not 1 <= size <= len(given.ids)})
    if wrong:
        shown = ", ".join(f"{size:,}" for size in wrong[:3])
        raise ValueError(
            f"{len(wrong):,} list sizes are outside 1..{len(given.ids):,}, such as {shown}"
        )
    return np.unique(np.asarray(at, dtype=np.int64))


def estimates_of(given: Study, drawn: FloatArray, rest: FloatArray, known: FloatArray) -> Estimates:
    """Estimate the sets whose sums these are.

    Parameters
    ----------
    given : Study
        Ranks and sample.
    drawn : array of float, shape (fields, ..., cells)
        Sums of `Study.moments`; the cells are taken apart into strata and folds.
    rest : array of float, shape (columns, ..., strata)
        Sums of `Study.rest`.
    known : array of float, shape (5, ...)
        Sums of `Study.known_columns`.

    Examples
    --------
    >>> from pipeline.kernels.estimates.study import study
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ["a", "b"], "rank": [1, 2]})
    >>> given = study(ranks, pl.DataFrame({"id": ["a"], "tp": [True], "pi": [0.5]}))
    >>> sums = [each.sum(axis=1) for each in (given.moments, given.rest, given.known_columns)]
    >>> float(estimates_of(given, sums[0][:, None], sums[1][:, None], sums[2]).estimate)
    1.0
    """
    sums = drawn.reshape(*drawn.shape[:-1], given.strata, given.folds)
    guessed = rest[2] if given.predicted else None
    return hajek(sums, rest[0], known=Known(*known[:3]), guessed=guessed)


def described(found: Estimates, drawn: FloatArray, known: FloatArray) -> dict[str, object]:
    """Return the columns that lists and difference sets have in common.

    Parameters
    ----------
    found : Estimates
        Of the sets.
    drawn, known : array of float
        As for `estimates_of`.

    Examples
    --------
    >>> nothing, none = Known(*np.zeros((3, 1))), np.zeros((18, 1, 1))
    >>> found = hajek(none[..., None], np.ones((1, 1)), known=nothing)
    >>> sorted(described(found, none, np.zeros((5, 1))))[:4]
    ['certain', 'draws', 'estimate', 'k_sampled']
    """
    judged, true = drawn[0].sum(axis=-1), drawn[1].sum(axis=-1)  # a yes counts 1, a no 0
    columns = {
        "estimate": found.estimate,
        "n_eff": worth(found),
        "n_sampled": judged + known[0] + known[1],
        "k_sampled": true + known[0],
        "draws": found.draws,
        "certain": known[3],
        "unjudged": known[4],
        "tau": found.tau,
    }
    return {name: column.ravel() for name, column in columns.items()}


def typed_table(columns: dict[str, object], schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    """Return columns as a table of these types, in this order, with null for NaN.

    Examples
    --------
    >>> typed_table({"n": [1.0], "p": [float("nan")]}, {"p": pl.Float64, "n": pl.Int64}).rows()
    [(None, 1)]
    """
    table = pl.DataFrame({name: columns[name] for name in schema})
    typed = [pl.col(name).cast(dtype) for name, dtype in schema.items()]
    floats = [name for name, dtype in schema.items() if dtype == pl.Float64]
    return table.select(typed).with_columns(pl.col(floats).fill_nan(None))


def refuse_undrawable(counts: FloatArray, names: Sequence[str]) -> None:
    """Refuse questions about candidates that could not be drawn.

    Raises
    ------
    ValueError
        If there are any: how many, three of them, and what to do.

    Examples
    --------
    >>> refuse_undrawable(np.array([0.0]), ["mi at 100"])
    """
    wrong = np.flatnonzero(counts)
    if wrong.size:
        shown = ", ".join(f"{names[place]} ({counts[place]:,.0f} of them)" for place in wrong[:3])
        raise ValueError(
            f"{wrong.size:,} questions are about candidates that could not be drawn (pi = 0), such "
            f"as {shown}; leave these out, or draw from all candidates"
        )
