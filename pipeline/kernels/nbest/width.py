"""How wide an interval will be: expected width for a sampling rate, and the rate for a width."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.kernels.statistics.saddle_point import log_binomial_pmf, log_hypergeometric_pmf

_NEGLIGIBLE = 1e-12  # outcomes that are less probable are left out


class Outcomes(NamedTuple):
    """What a sample can show of a list, with probabilities that add up to 1."""

    n_sampled: IntArray
    k_sampled: IntArray
    probability: FloatArray


def outcomes(
    *, n: int, candidates: int, size: int, precision: float, replacement: bool = False
) -> Outcomes:
    """Return every outcome of a sample in an n-best list: draws and true positives.

    Of `size` draws n^ fall into the list, and k^ of these on its K = round(n precision) true
    positives. Without replacement ``n^ ~ Hypergeometric(candidates, n, size)`` and
    ``k^ ~ Hypergeometric(n, K, n^)``, with replacement ``n^ ~ Binomial(size, n/candidates)``
    and ``k^ ~ Binomial(n^, K/n)``.

    Parameters
    ----------
    n : int
        Size of the list, 1..candidates.
    candidates : int
        Candidates in the data set.
    size : int
        Draws, from 0; at most `candidates` without replacement.
    precision : float
        Assumed precision of the list, in [0, 1].
    replacement : bool
        Whether a candidate can be drawn again.

    Returns
    -------
    Outcomes
        Arrays of one shape; outcomes of probability below 1e-12 are left out.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> found = outcomes(n=2, candidates=4, size=2, precision=0.5)
    >>> [(int(n), int(k), round(float(p), 4)) for n, k, p in zip(*found)]
    [(0, 0, 0.1667), (1, 0, 0.3333), (1, 1, 0.3333), (2, 1, 0.1667)]
    """
    _require(n, candidates, size, precision, replacement=replacement)
    true = round(n * precision)
    drawn = np.arange(min(n, size) + 1) if not replacement else np.arange(size + 1)
    chances = _draws(drawn, n, candidates, size, replacement=replacement)
    drawn, chances = drawn[chances > _NEGLIGIBLE], chances[chances > _NEGLIGIBLE]
    hits = np.arange(int(drawn.max()) + 1)
    joint = chances[:, None] * _draws(hits, true, n, drawn[:, None], replacement=replacement)
    rows, columns = np.nonzero(joint > _NEGLIGIBLE)
    kept = joint[rows, columns]
    return Outcomes(drawn[rows], hits[columns], kept / kept.sum())


def _draws(
    x: IntArray, part: int, whole: int, draws: int | IntArray, *, replacement: bool
) -> FloatArray:
    """Return the probability that x of the draws from the whole fall into the part."""
    if replacement:
        share = part / whole
        return np.asarray(np.exp(log_binomial_pmf(x, draws, share, (whole - part) / whole)))
    return np.asarray(np.exp(log_hypergeometric_pmf(x, part, whole - part, draws)))


def expected_width(
    *,
    n: int,
    candidates: int,
    size: int,
    precision: float,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    replacement: bool = False,
) -> dict[str, float]:
    """Return what to expect of the confidence interval for the precision of an n-best list.

    Parameters
    ----------
    n, candidates, size, precision, replacement
        As for `outcomes`.
    method : str
        A name in `intervals.INTERVALS`.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    dict of str to float
        n_sampled, the expected draws in the list; lower, upper and width, the expected limits
        and their distance, in [0, 1]; coverage, the probability that the interval holds the
        assumed precision; empty, that no draw falls into the list (the interval is [0, 1] then).

    Raises
    ------
    ValueError
        If a number is out of its range or the method is unknown.

    Examples
    --------
    >>> found = expected_width(n=1000, candidates=5102, size=510, precision=0.27)
    >>> [round(found[name], 3) for name in ("n_sampled", "lower", "upper", "width")]
    [99.961, 0.186, 0.368, 0.182]
    """
    interval = INTERVALS.get(method)
    n_sampled, k_sampled, chance = outcomes(
        n=n, candidates=candidates, size=size, precision=precision, replacement=replacement
    )
    population = np.full(len(n_sampled), n)
    lower, upper = interval(k_sampled, n_sampled, confidence=confidence, population=population)
    true = round(n * precision) / n
    values = {
        "n_sampled": n_sampled,
        "lower": lower,
        "upper": upper,
        "width": upper - lower,
        "coverage": (lower <= true) & (true <= upper),
        "empty": n_sampled == 0,
    }
    return {name: float((chance * value).sum()) for name, value in values.items()}


def size_for_width(
    *,
    width: float,
    n: int,
    candidates: int,
    precision: float,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
    replacement: bool = False,
) -> int | None:
    """Return the smallest sample whose expected interval is narrow enough.

    Parameters
    ----------
    width : float
        The wanted width of the interval, in (0, 1).
    n, candidates, precision, method, confidence, replacement
        As for `expected_width`.

    Returns
    -------
    int or None
        Draws, 1..candidates; divided by `candidates` it is the sampling rate. None where even
        as many draws as candidates leave a wider interval: after full annotation only the
        hypergeometric one has width 0.

    Raises
    ------
    ValueError
        If a number is out of its range or the method is unknown.

    Examples
    --------
    >>> size_for_width(width=0.2, n=200, candidates=1000, precision=0.3)
    440
    """
    if not 0.0 < width < 1.0:
        raise ValueError(f"width is a proportion inside (0, 1), not {width}")

    def narrow(size: int) -> bool:
        expected = expected_width(
            n=n, candidates=candidates, size=size, precision=precision, method=method,
            confidence=confidence, replacement=replacement,
        )  # fmt: skip
        return expected["width"] <= width

    return smallest(narrow, 1, candidates)


def smallest(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """Return the smallest size that is enough, if larger sizes always are when it is.

    Parameters
    ----------
    enough : callable
        Whether a size is enough.
    least, most : int
        The sizes to search, both included.

    Returns
    -------
    int or None
        None if no size is enough.

    Examples
    --------
    >>> smallest(lambda size: size**2 >= 50, 1, 100), smallest(lambda size: False, 1, 9)
    (8, None)
    """
    if least > most or not enough(most):
        return None
    below, above = least - 1, most
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if enough(middle) else (middle, above)
    return above


def width_table(
    *,
    sizes: Iterable[int],
    list_sizes: Iterable[int],
    precisions: Iterable[float],
    candidates: int,
    method: str = "clopper_pearson",
    confidence: float = 0.95,
) -> pl.DataFrame:
    """Return the expected intervals for every sample size, list size and precision.

    Parameters
    ----------
    sizes, list_sizes : iterable of int
        Draws, and sizes of n-best lists.
    precisions : iterable of float
        Assumed precisions.
    candidates, method, confidence
        As for `expected_width`.

    Returns
    -------
    pl.DataFrame
        Columns size, rate, n, precision and those of `expected_width`, in the order given.

    Raises
    ------
    ValueError
        If a number is out of its range or the method is unknown.

    Examples
    --------
    >>> width_table(
    ...     sizes=[50, 100], list_sizes=[200], precisions=[0.3], candidates=1000
    ... ).select("rate", "n", pl.col("width").round(3)).rows()
    [(0.05, 200, 0.57), (0.1, 200, 0.419)]
    """
    rows = [
        {"size": size, "rate": size / candidates, "n": n, "precision": precision}
        | expected_width(
            n=n, candidates=candidates, size=size, precision=precision, method=method,
            confidence=confidence,
        )
        for size in sizes for n in list_sizes for precision in precisions
    ]  # fmt: skip
    return pl.DataFrame(rows)


def _require(n: int, candidates: int, size: int, precision: float, *, replacement: bool) -> None:
    if not 1 <= n <= candidates:
        raise ValueError(f"list of {n:,} from {candidates:,} candidates")
    if size < 0 or (size > candidates and not replacement):
        raise ValueError(f"sample of {size:,} from {candidates:,} candidates")
    if not 0.0 <= precision <= 1.0:
        raise ValueError(f"precision is a proportion in [0, 1], not {precision}")
