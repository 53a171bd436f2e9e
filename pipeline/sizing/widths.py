"""How large a sample must be: the width of an interval for a sampling rate, and the other way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import polars as pl

from pipeline.errors import Problem
from pipeline.kernels.nbest.width import expected_width, size_for_width
from pipeline.kernels.sampling import sample_size
from pipeline.sizing import checks
from pipeline.sizing.checks import Track, untracked

RATES = (0.05, 0.1, 0.15, 0.2)
"""The sampling rates if nothing else is said."""
_WIDTHS = ("n_sampled", "lower", "upper", "width", "coverage", "empty")
_NUMBERS: dict[str, Any] = {
    "wanted": pl.Float64, "rate": pl.Float64, "size": pl.Int64, "n": pl.Int64,
    "precision": pl.Float64, **dict.fromkeys(_WIDTHS, pl.Float64),
}  # fmt: skip


def plan_width(
    *,
    candidates: int,
    n: Sequence[int],
    precisions: Sequence[float],
    rates: Sequence[float] = RATES,
    widths: Sequence[float] = (),
    interval: str = "clopper_pearson",
    confidence: float = 0.95,
    replacement: bool = False,
    track: Track = untracked,
) -> pl.DataFrame:
    """Return how wide the confidence intervals will be, or the rates for widths that are wanted.

    The expectation is over all samples of that size, in which the number of draws in the n-best
    list varies, and the number of true positives among them.

    Parameters
    ----------
    candidates : int
        Candidates in the data set.
    n : sequence of int
        Sizes of n-best lists, 1..candidates.
    precisions : sequence of float
        Expected precisions of the lists, in [0, 1]; 0.5 is the widest case.
    rates : sequence of float
        Sampling rates in (0, 1].
    widths : sequence of float
        Wanted widths in (0, 1). If any are given, each row has the smallest rate that will do,
        and `rates` is not used.
    interval : str
        Method of the intervals, as the option of `evaluate.precision`; hypergeometric knows that
        the list is finite.
    confidence : float
        Confidence level in (0, 1).
    replacement : bool
        Whether a candidate can be drawn again.
    track : callable
        Is given the pieces of the work and passes them on.

    Returns
    -------
    DataFrame
        wanted (null for given rates), rate, size (draws), n, precision; n_sampled (expected
        draws in the list), lower, upper and width (expected), coverage (probability that the
        interval holds the precision), empty (that no draw falls into the list). Rate and all
        that follows from it are null where no sample is large enough.

    Raises
    ------
    ConfigError
        With all mistakes in the question.

    Examples
    --------
    >>> plan_width(candidates=5102, n=[500], precisions=[0.3], rates=[0.1, 0.2]).select(
    ...     "rate", "size", pl.col("width").round(3)
    ... ).rows()
    [(0.1, 510, 0.266), (0.2, 1020, 0.187)]
    >>> plan_width(candidates=5102, n=[500], precisions=[0.3], widths=[0.15])["size"].item()
    1571
    """
    checks.require([
        *checks.lists(n, candidates),
        *([] if widths else checks.rates(rates)),
        *checks.inside("width", widths),
        *([] if precisions else [Problem("precision", "none is given", "e.g. 0.3")]),
        *checks.proportions("precision", precisions),
        *checks.interval(interval, replacement=replacement),
        *checks.inside("confidence", [confidence]),
    ])  # fmt: skip
    how: dict[str, Any] = {
        "candidates": candidates, "method": interval, "confidence": confidence,
        "replacement": replacement,
    }  # fmt: skip
    cases = list(product(widths or rates, n, precisions))
    if widths:
        rows = [_wanted(width, each, p, how) for width, each, p in track(cases)]
    else:
        rows = [_given(rate, each, p, how) for rate, each, p in track(cases)]
    return pl.DataFrame(rows, schema=_NUMBERS)


def _given(rate: float, n: int, precision: float, how: dict[str, Any]) -> dict[str, Any]:
    size = sample_size(how["candidates"], rate=rate)
    row = {"wanted": None, "rate": rate, "size": size, "n": n, "precision": precision}
    return {**row, **expected_width(n=n, size=size, precision=precision, **how)}


def _wanted(width: float, n: int, precision: float, how: dict[str, Any]) -> dict[str, Any]:
    size = size_for_width(width=width, n=n, precision=precision, **how)
    if size is None:
        return {**dict.fromkeys(_NUMBERS), "wanted": width, "n": n, "precision": precision}
    rate = size / how["candidates"]
    return {**_given(rate, n, precision, how), "wanted": width}
