"""Exact intervals and an exact test of proportions for samples without replacement."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.numeric import FloatArray, IntArray, Level, tail_of
from pipeline.kernels.statistics.fisher import log_hypergeometric_pmf, require_counts, tail_factor
from pipeline.kernels.statistics.intervals import checked_counts, interval
from schemas.errors import count_text

_EQUAL = 1e-10  # a tail that differs from alpha/2 by less counts as equal: alpha is rounded
_LEAST = 1e-3  # of a normal quantile, so that a guess is a number at any level
_CHUNK = 8192  # rows at a time: the arrays then stay in the processor's cache


@interval(
    title="exact hypergeometric, for this data set only",
    reference="Wright 1991; Buonaccorsi 1987",
    finite=True,
)
def hypergeometric(
    k: npt.ArrayLike, n: npt.ArrayLike, *, population: npt.ArrayLike, confidence: Level = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the exact interval for a sample without replacement from a finite population.

    With X_K the successes among n draws from a population of M that holds K of them, and
    alpha = 1 - confidence, for K in k..M-n+k:
    ``L = min{K: P(X_K >= k) > alpha/2}, U = max{K: P(X_K <= k) > alpha/2}``, and the interval
    is [L/M, U/M].

    Parameters
    ----------
    k, n : array_like of int
        Successes and draws, 0 <= k <= n.
    population : array_like of int
        Size M of the population, n <= M <= 2e9.
    confidence : float or array of float
        Confidence level in (0, 1), one for all rows or one for each.
        The true coverage is at least this.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], multiples of 1/M. Of width 0 where n = M, all being known; [0, 1] where
        n = 0. Inside the interval of Clopper and Pearson but for the rounding to 1/M, and
        close to it where n is a small part of M. The estimate k/n lies less than 1/M outside
        at most: with 98 successes in 99 of 100 the whole has 98 or 99, and the interval at
        95 % is [0.99, 0.99], while k/n = 0.9899 is no proportion that 100 could have.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= M, or the confidence is not inside (0, 1).

    References
    ----------
    Wright, Exact Confidence Bounds when Sampling from Small Finite Universes (1991);
    Buonaccorsi, A Note on Confidence Intervals for Proportions in Finite Populations (1987).

    Examples
    --------
    >>> lower, upper = hypergeometric([4, 56], [10, 200], population=[100, 1000])
    >>> lower.tolist(), upper.tolist()
    ([0.14, 0.226], [0.72, 0.34])
    """
    k, n = checked_counts(k, n, confidence=confidence)
    k, n, size = np.broadcast_arrays(k, n, np.asarray(population, dtype=np.int64))
    require_population(n, size)
    tail = tail_of(confidence)
    rows, tail = (n.ravel(), size.ravel()), np.broadcast_to(tail, k.shape).ravel()
    fewest = fewest_successes(k.ravel(), *rows, tail).reshape(k.shape)
    most = size - fewest_successes((n - k).ravel(), *rows, tail).reshape(k.shape)
    whole = np.maximum(size, 1)
    return fewest / whole, np.where(size == 0, 1.0, most / whole)


def require_population(n: IntArray, size: IntArray) -> None:
    """Refuse samples larger than their population.

    Raises
    ------
    ValueError
        If n > M anywhere; how often, and the first.
    """
    wrong = np.flatnonzero(n > size)
    if wrong.size:
        first = wrong[0]
        raise ValueError(
            f"more draws than population in {count_text(wrong.size, 'row')}, for example "
            f"n = {n.flat[first]} "
            f"of {size.flat[first]}: the interval requires samples without replacement"
        )


def fewest_successes(k: IntArray, n: IntArray, size: IntArray, tail: Level) -> IntArray:
    """Return the smallest K for which k or more successes are not too improbable.

    Parameters
    ----------
    k, n, size : array of int, shape (rows,)
        Successes, draws, and the population, 0 <= k <= n <= size.
    tail : float or array of float, shape (rows,)
        In (0, 1): ``min{K: P(X_K >= k) > tail}``; a probability within 1e-10 of it is not above.

    Returns
    -------
    array of int, shape (rows,)
        In k..size - n + k.

    Examples
    --------
    >>> fewest_successes(*(np.array([value]) for value in (4, 10, 100)), tail=0.025).tolist()
    [14]
    """
    places = [slice(start, start + _CHUNK) for start in range(0, len(k), _CHUNK)]
    tails = np.broadcast_to(np.asarray(tail, dtype=np.float64), k.shape)
    parts = [_search(k[at], n[at], size[at], tails[at]) for at in places]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _search(k: IntArray, n: IntArray, size: IntArray, tail: FloatArray) -> IntArray:
    """Walk from a close guess in doubling steps, then halve; the tail grows with K."""
    below, fewest = k - 1, size - n + k  # too improbable at `below`, P = 1 at `fewest`
    rows = np.flatnonzero(fewest - below > 1)
    probe, step, up = _guess(k, n, size, tail), np.ones_like(k), np.full(len(k), -1)
    while rows.size:
        probe[rows] = np.clip(probe[rows], below[rows] + 1, fewest[rows] - 1)
        short = upper_tail(probe[rows], k[rows], n[rows], size[rows]) <= tail[rows] * (1.0 + _EQUAL)
        below[rows] = np.where(short, probe[rows], below[rows])
        fewest[rows] = np.where(short, fewest[rows], probe[rows])
        turned = (up[rows] >= 0) & (up[rows] != short)
        up[rows] = np.where(turned | (up[rows] == 2), 2, short)  # 2: bracketed, so halve
        ahead = np.where(short, below[rows] + step[rows], fewest[rows] - step[rows])
        middle = (below[rows] + fewest[rows]) // 2
        probe[rows] = np.where(up[rows] == 2, middle, ahead)
        step[rows] *= 2
        rows = rows[fewest[rows] - below[rows] > 1]
    return fewest


def upper_tail(K: IntArray, k: IntArray, n: IntArray, size: IntArray) -> FloatArray:
    """Return P(X_K >= k), k from the smallest possible value on.

    Examples
    --------
    >>> upper_tail(*(np.array([value]) for value in (1, 1, 1, 4))).round(6).tolist()
    [0.25]
    """
    at_least = np.exp(log_hypergeometric_pmf(k, K, size - K, n)) * tail_factor(k, K, size - K, n)
    return np.asarray(at_least, dtype=np.float64)


def _guess(k: IntArray, n: IntArray, size: IntArray, tail: FloatArray) -> IntArray:
    """Return the corrected Wilson limit with the variance of draws without replacement."""
    z = np.maximum(-scipy.special.ndtri(tail), _LEAST)
    trials = np.maximum(n, 1).astype(np.float64)
    effective = trials * np.maximum(size - 1, 1) / np.maximum(size - n, 1)
    p = np.maximum(k - 0.5, 0.0) / trials
    root = z * np.sqrt(z * z + 4.0 * effective * p * (1.0 - p))
    limit = 2.0 * effective * p * p / (2.0 * effective * p + z * z + root)
    return np.asarray(np.ceil(limit * size), dtype=np.int64)


# Exact test of two parts of one finite population.

_EQUAL_RATIO = 1e-9  # statistics that differ by less, as a share, are as extreme
_CELLS = 500_000  # probabilities in an array: bounds the memory
_KEPT = 16  # arrays of them that are kept for the next tables and designs
_MOST_DRAWS = 500  # with rounded odds: the largest product is then above 1e-70
_ROWS, _COLUMNS = 256, 64  # to multiples of which binomial tables are enlarged


def finite_population_test(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    size: npt.ArrayLike,
) -> FloatArray:
    """Return two-sided p-values of "as many true positives in D1 as in D2".

    ``max over K of P(|T(X1, X2)| >= |T(k1, k2)|)``, X1 and X2 independent hypergeometric
    counts of true positives among n1 and n2 draws, each from N candidates of which K are true
    positives, and ``T = (x1/n1 - x2/n2) / sqrt(p (1 - p))`` with ``p = (x1 + x2) / (n1 + n2)``:
    the difference, studentised under the null hypothesis but for a factor that all tables of one
    design share. (Its own error would be 0 for tables such as 1 of 1 and 0 of 1.) K runs over
    what the draws leave possible, ``max(k1, k2) <= K <= N - max(n1 - k1, n2 - k2)``: under the
    null hypothesis the true K is always among them, so that the level holds as it does with
    all K = 0..N, and power is gained.

    The test is about these candidates only. Fisher's test asks whether D1 and D2 are alike as draws
    from a larger population; for these candidates it is too cautious, the more so the more of them
    are judged.

    Parameters
    ----------
    k1, k2 : array_like of int, shape (tables,)
        True positives among the draws, 0 <= k <= n.
    n1, n2 : array_like of int, shape (tables,)
        Draws from each part: a simple random sample of both without replacement.
    size : array_like of int, shape (tables,)
        N, the candidates in D1, and as many in D2: both lists are of one length.

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1]; 0 where the draws rule out that the numbers are equal, as after full annotation
        with different ones. NaN where a part has no draw. Time and memory grow with
        N (n1 + n2) for each design (N, n1, n2), whose probabilities are computed once.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= N.

    References
    ----------
    Suissa & Shuster, Exact Unconditional Sample Sizes for the 2 x 2 Binomial Trial (1985), for the
    ordering and the maximum, there of binomial counts; Krishnamoorthy & Thomson, Hypothesis
    Testing about Proportions in Two Finite Populations (2002).

    Examples
    --------
    >>> finite_population_test([12], [20], [5], [20], size=40).round(4).tolist()
    [0.0026]
    """
    columns = (np.asarray(column, dtype=np.int64) for column in (k1, n1, k2, n2, size))
    tables = np.stack([column.ravel() for column in np.broadcast_arrays(*columns)])
    require_counts(tables[:4])
    require_population(np.maximum(tables[1], tables[3]), tables[4])
    p = np.full(tables.shape[1], np.nan)
    drawn = np.minimum(tables[1], tables[3])
    known = (drawn == tables[4]) & (drawn > 0)
    p[known] = tables[0, known] == tables[2, known]
    tested = (drawn > 0) & ~known
    swap = tables[1] > tables[3]  # the test is the same with the parts in the other order
    tables[:4, swap] = tables[[2, 3, 0, 1]][:, swap]
    distinct, inverse = np.unique(tables[:, tested], axis=1, return_inverse=True)
    values = np.empty(distinct.shape[1])
    designs, of = np.unique(distinct[[4, 1, 3]], axis=1, return_inverse=True)
    for number, design in enumerate(designs.T.tolist()):
        rows = np.flatnonzero(of.ravel() == number)
        values[rows] = _design_p_values(distinct[0, rows], distinct[2, rows], *design)
    p[tested] = values[inverse.ravel()]
    return p


def _design_p_values(k1: IntArray, k2: IntArray, size: int, n1: int, n2: int) -> FloatArray:
    """Return the p-values of tables that were drawn alike, some values of K at a time."""
    statistic = np.abs(_statistic(n1, n2))
    edges = [
        _inner_bounds(statistic, float(statistic[x1, x2])) for x1, x2 in zip(k1, k2, strict=True)
    ]
    # K and N - K have one p-value: |T| stays when successes and failures change places
    most_true, most_false = np.maximum(k1, k2), np.maximum(n1 - k1, n2 - k2)
    least = np.minimum(most_true, most_false)
    most = np.minimum(size - np.maximum(most_true, most_false), size // 2)
    p, step = np.zeros(len(k1)), max(1, _CELLS // (n1 + n2 + 2))
    for first in range(0, size // 2 + 1, step):
        stop = min(first + step, size // 2 + 1)
        one, two = _chances(size, n1, first, stop), _tails(size, n2, first, stop)
        for row in np.flatnonzero((least < stop) & (most >= np.maximum(first, least))):
            K = slice(max(least[row] - first, 0), most[row] - first + 1)
            p[row] = max(
                p[row], _outer_probability(one[K], (two[0][K], two[1][K]), edges[row]).max()
            )
    return np.minimum(p, 1.0)


def _statistic(n1: int, n2: int) -> FloatArray:
    """Return T for all tables, x1 in the rows and x2 in the columns; it falls along a row."""
    x1, x2 = np.arange(n1 + 1.0)[:, None], np.arange(n2 + 1.0)
    p = (x1 + x2) / (n1 + n2)
    error = np.sqrt(p * (1.0 - p))
    return np.divide(x1 / n1 - x2 / n2, error, out=np.zeros(p.shape), where=error > 0)


def _inner_bounds(statistic: FloatArray, observed: float) -> tuple[IntArray, IntArray]:
    """Return for each x1 the first x2 that is less extreme, and the next that is not."""
    less = statistic < observed * (1.0 - _EQUAL_RATIO)
    first = less.argmax(axis=1)
    return first, first + less.sum(axis=1)


def _outer_probability(
    one: FloatArray, two: tuple[FloatArray, FloatArray], edges: tuple[IntArray, IntArray]
) -> FloatArray:
    """Return the probability of the tables outside the edges, for each K."""
    either_end = two[0][:, edges[0]] + two[1][:, edges[1]]
    return np.asarray(np.einsum("Ki,Ki->K", one, either_end))


@lru_cache(maxsize=_KEPT)
def _chances(size: int, n: int, first: int, stop: int) -> FloatArray:
    """Return P(X_K = k), K = first..stop-1 in the rows, k = 0..n in the columns.

    P(X_K = k) is P(B_K = k) P(B_(N - K) = n - k) up to a factor, with B_m binomial in m trials, at
    any odds. Odds of n to N - n underflow only where P(X_K = k) does; rounded to a power of 4,
    designs share them, and with them the binomial table, which takes most of the time.
    """
    odds = (n + 0.5) / (size - n + 0.5)
    if n <= _MOST_DRAWS:
        odds = 4.0 ** round(math.log(odds, 4.0))
    true = _binomials(odds, first, stop, n)
    false = _binomials(odds, size - stop + 1, size - first + 1, n)
    chances = true * false[::-1, ::-1]
    chances /= chances.sum(axis=1, keepdims=True)
    chances.setflags(write=False)  # what a cache holds is never changed
    return chances


def _binomials(odds: float, first: int, stop: int, n: int) -> FloatArray:
    """Return P(B_m = k) up to a factor for each m = first..stop-1, k = 0..n in the columns."""
    rows, columns = stop + -stop % _ROWS, n + 1 + -(n + 1) % _COLUMNS
    if rows * columns <= _CELLS:
        return _binomial_table(odds, 0, rows, columns)[first:stop, : n + 1]
    return _binomial_table(odds, first, stop, n + 1)


@lru_cache(maxsize=_KEPT)
def _binomial_table(odds: float, first: int, stop: int, columns: int) -> FloatArray:
    """Return products of the ratios of neighbours, from the mode to both sides: none overflows."""
    m, k = np.arange(first, stop, dtype=np.float64)[:, None], np.arange(columns - 1.0)
    up, down = np.maximum(m - k, 0.0) * odds, k + 1.0  # of P(k + 1), of P(k)
    before = up > down
    ratios = np.divide(down, up, out=up, where=before)
    np.divide(up, down, out=ratios, where=~before)
    table = np.ones((len(m), columns))
    np.cumprod(np.where(before, 1.0, ratios), axis=1, out=table[:, 1:])
    table[:, :-1] *= np.where(before, ratios, 1.0)[:, ::-1].cumprod(axis=1)[:, ::-1]
    table.setflags(write=False)
    return table


@lru_cache(maxsize=_KEPT)
def _tails(size: int, n: int, first: int, stop: int) -> tuple[FloatArray, FloatArray]:
    """Return P(X_K < x) and P(X_K >= x), x = 0..n+1 in the columns: each of positive terms."""
    chances = _chances(size, n, first, stop)
    below, above = np.zeros((2, len(chances), n + 2))
    chances.cumsum(axis=1, out=below[:, 1:])
    chances[:, ::-1].cumsum(axis=1, out=above[:, n::-1])
    return below, above


# Shortest exact interval.

LARGEST = 1_000_000
"""Largest population: the coverage is added up for every number of successes in it."""


@interval(
    title="shortest exact hypergeometric, for this data set only",
    reference="Wang 2015",
    finite=True,
)
def hypergeometric_shortest(
    k: npt.ArrayLike, n: npt.ArrayLike, *, population: npt.ArrayLike, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the shortest exact interval for a sample without replacement.

    Starts from the interval of `hypergeometric`, whose two tails have alpha/2 each, and takes
    the outermost values of K from it, one by one, as long as
    ``sum of P(X_K = k) over k with L(k) <= K <= U(k) >= 1 - alpha`` for every K = 0..M: from
    the middle outcome to both sides (of k and n - k the smaller first), again and again until
    nothing can be taken. L grows with k all the time, and ``U(k) = M - L(n - k)``.

    Parameters
    ----------
    k, n : array_like of int
        Successes and draws, 0 <= k <= n.
    population : array_like of int
        Size M of the population, n <= M <= 1,000,000.
    confidence : float
        Confidence level in (0, 1). The true coverage is at least this.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], multiples of 1/M, inside the interval of `hypergeometric`; no further value can
        be removed without the coverage falling below the level (Wang: admissible). Of width 0 where
        n = M; [0, 1] where n = 0. The tails are not alpha/2 each, so a limit is not a one-sided
        limit; intervals of a higher level need not contain those of a lower one.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= M, M is too large, or the confidence is not inside (0, 1).

    References
    ----------
    Wang, Exact Optimal Confidence Intervals for Hypergeometric Parameters (2015); Wang, An
    Iterative Construction of Confidence Intervals for a Proportion (2014), for the order.

    Examples
    --------
    >>> lower, upper = hypergeometric_shortest([4, 15], [10, 50], population=[100, 500])
    >>> (lower * [100, 500]).round().tolist(), (upper * [100, 500]).round().tolist()
    ([16.0, 94.0], [70.0, 218.0])
    """
    k, n = checked_counts(k, n, confidence=confidence)
    k, n, size = np.broadcast_arrays(k, n, np.asarray(population, dtype=np.int64))
    require_population(n, size)
    _require_small(size)
    fewest, most = np.empty(k.size, dtype=np.int64), np.empty(k.size, dtype=np.int64)
    designs, inverse = np.unique(np.stack([n.ravel(), size.ravel()]), axis=1, return_inverse=True)
    for number, (draws, whole) in enumerate(designs.T.tolist()):
        rows = np.flatnonzero(inverse.ravel() == number)
        limits = _lower_limits(draws, whole, confidence)
        fewest[rows] = limits[k.ravel()[rows]]
        most[rows] = whole - limits[draws - k.ravel()[rows]]
    some = np.maximum(size, 1)
    lower, upper = fewest.reshape(k.shape) / some, most.reshape(k.shape) / some
    return lower, np.where(size == 0, 1.0, upper)


def _require_small(size: IntArray) -> None:
    large = size[size > LARGEST]
    if large.size:
        raise ValueError(
            f"the shortest exact interval is limited to populations of {LARGEST:,}, not "
            f"{int(large.flat[0]):,} ({count_text(large.size, 'row')}); use hypergeometric instead"
        )


class _Cells(NamedTuple):
    """What may be taken away from below: P(X_K = k) for K from `lower`[k], k after k."""

    lower: list[int]
    chance: list[list[float]]
    slack: list[float]  # alpha - P(K is not held), for K and M - K alike: K = 0..M/2


@lru_cache(maxsize=4096)
def _lower_limits(n: int, size: int, confidence: float) -> IntArray:
    """Return L(k), k = 0..n, in successes; a design is computed once."""
    cells = _initial_cells(n, size, 1.0 - confidence)
    order = sorted(range(n + 1), key=lambda k: (abs(2 * k - n), k))
    steps = [0] * (n + 1)
    while sum(_shrink_interval(k, cells, steps, n=n, size=size) for k in order):
        pass
    limits = np.array(cells.lower, dtype=np.int64)
    limits.setflags(write=False)  # what a cache holds is never changed
    return limits


def _initial_cells(n: int, size: int, alpha: float) -> _Cells:
    """Compute the interval to begin with, and all probabilities that can come up.

    With L growing, K < L(k) keeps K from all outcomes from k on, so that L(k) never exceeds the
    one-sided limit at alpha: only K between that at alpha/2 and that at alpha are looked at.
    """
    k, n_, whole = np.arange(n + 1), np.full(n + 1, n), np.full(n + 1, size)
    lower, last = (fewest_successes(k, n_, whole, tail) for tail in (alpha / 2.0, alpha))
    count = np.maximum(last - lower, 0)
    outcome = np.repeat(k, count)
    K = np.arange(len(outcome)) - np.repeat(np.cumsum(count) - count, count) + lower[outcome]
    chance = np.exp(log_hypergeometric_pmf(outcome, K, size - K, np.full(len(K), n)))
    parts = [part.tolist() for part in np.split(chance, np.cumsum(count)[:-1])]
    slack = alpha * (1.0 + _EQUAL) - _non_coverage(lower, n, size)
    return _Cells(lower.tolist(), parts, slack.tolist())


def _non_coverage(lower: IntArray, n: int, size: int) -> FloatArray:
    """Return the probability that K is not in the interval, for K = 0..M/2."""
    K = np.arange(size // 2 + 1)
    above = np.searchsorted(lower, K, side="right")  # the first outcome with L(k) > K
    below = np.searchsorted(lower, size - K, side="right")  # the same for failures
    n_, whole = np.full(len(K), n), np.full(len(K), size)
    return upper_tail(K, above, n_, whole) + upper_tail(size - K, below, n_, whole)


def _shrink_interval(k: int, cells: _Cells, steps: list[int], *, n: int, size: int) -> bool:
    """Take values from below the interval of k, and from above that of n - k alike."""
    before, chances = steps[k], cells.chance[k]
    last = cells.lower[k + 1] if k < n else size
    while steps[k] < len(chances) and cells.lower[k] < min(last, size - cells.lower[n - k]):
        K = cells.lower[k]
        at = min(K, size - K)
        # half of the population: k and n - k lose the same value
        slack = cells.slack[at] - chances[steps[k]] * (2 if size == 2 * K else 1)
        if slack < 0.0:
            break
        cells.slack[at] = slack
        cells.lower[k] += 1
        steps[k] += 1
    return steps[k] > before
