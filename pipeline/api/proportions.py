"""Intervals and tests for proportions, on numbers and arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.api.convert import as_given, as_whole, require_same_size, translate_errors
from pipeline.errors import UnknownName, did_you_mean
from pipeline.kernels.statistics.exact_tests import ALTERNATIVES, TESTS, Alternative
from pipeline.kernels.statistics.intervals import INTERVALS


def precision_interval(
    k: Any,
    n: Any,
    *,
    interval: str = "clopper_pearson",
    confidence: float = 0.95,
    population: Any = None,
) -> tuple[Any, Any]:
    """Return confidence limits for a proportion, for example the precision of an n-best list.

    k of n randomly sampled candidates are true positives. Clopper-Pearson limits are the p with
    ``P(X >= k) = alpha / 2`` and ``P(X <= k) = alpha / 2``, where X is binomial (n, p).

    Parameters
    ----------
    k, n : number or array_like of int
        Successes and trials, ``0 <= k <= n``; a number is broadcast.
    interval : str
        "clopper_pearson" (exact), "wilson", "wilson_corrected", "jeffreys", or "hypergeometric"
        (exact for a sample without replacement from a list of known length).
    confidence : float
        Confidence level in (0, 1).
    population : number or array_like of int, optional
        Size of the population, for "hypergeometric" only.

    Returns
    -------
    lower, upper : float or array of float
        In [0, 1]; 0 and 1 where n = 0; in the kind of the input.

    Raises
    ------
    ConfigError
        If the interval is unknown.
    DataError
        If counts are missing, impossible or of unequal length, or the population is missing.

    References
    ----------
    Clopper & Pearson, The Use of Confidence or Fiducial Limits Illustrated in the Case of the
    Binomial (1934); Evert & Krenn, Using small random samples for the manual evaluation of
    statistical association measures (2005).

    Examples
    --------
    >>> lower, upper = precision_interval(5, 10)
    >>> round(lower, 4), round(upper, 4)
    (0.1871, 0.8129)
    >>> lower, upper = precision_interval([5, 50], [10, 100], interval="wilson")
    >>> lower.round(3).tolist()
    [0.237, 0.404]
    """
    function = "precision_interval"
    counts = {"k": as_whole(k, "k"), "n": as_whole(n, "n")}
    if population is not None:
        counts["population"] = as_whole(population, "population")
    require_same_size(function, **counts)
    with translate_errors(function):
        limits = INTERVALS.get(interval)(
            counts["k"], counts["n"], confidence=confidence, population=counts.get("population")
        )
    given = (k, n, population)
    lower, upper = (np.asarray(each, dtype=np.float64) for each in limits)
    return as_given(lower, "lower", *given), as_given(upper, "upper", *given)


def fisher(k1: Any, n1: Any, k2: Any, n2: Any, *, alternative: str = "two-sided") -> Any:
    """Return p-values of Fisher's exact test of equal proportions.

    The sum of the hypergeometric probabilities of all tables [[k1, k2], [n1 - k1, n2 - k2]] with
    the same margins that are no more probable than the observed one, as in R.

    Parameters
    ----------
    k1, n1, k2, n2 : number or array_like of int
        Successes and sizes of the two groups; numbers are broadcast.
    alternative : str
        "two-sided", "greater" (the first proportion is larger) or "less".

    Returns
    -------
    float or array of float
        In [0, 1], NaN where a group is empty; in the kind of the input.

    Raises
    ------
    ConfigError
        If the alternative is unknown.
    DataError
        If counts are missing, impossible or of unequal length.

    References
    ----------
    Fisher, The Design of Experiments (1935), chapter II.

    Examples
    --------
    Of 8 cups, 3 of 4 and 1 of 4 were called "milk first".

    >>> round(fisher(3, 4, 1, 4), 4), round(fisher(3, 4, 1, 4, alternative="greater"), 4)
    (0.4857, 0.2429)
    """
    given = {"k1": k1, "n1": n1, "k2": k2, "n2": n2}
    return _p_values("fisher", given, "fisher", alternative)


def difference_test(
    k1: Any, n1: Any, k2: Any, n2: Any, *, test: str = "fisher", alternative: str = "two-sided"
) -> Any:
    """Return p-values of an exact test of equal proportions.

    For two n-best lists, the groups are the candidates in one list only: candidates in both are not
    independent.

    Parameters
    ----------
    k1, n1, k2, n2, alternative
        As for `fisher`.
    test : str
        "fisher"; "fisher_mid_p" (less conservative, close to the level); "boschloo" (groups of at
        most 10,000 in total; rarely less powerful than Fisher's); "boschloo_minlike" (never less
        powerful).

    Returns
    -------
    float or array of float
        As for `fisher`.

    Raises
    ------
    ConfigError
        If the test or alternative is unknown.
    DataError
        If counts are missing, impossible or of unequal length.

    References
    ----------
    Lancaster, Significance Tests in Discrete Distributions (1961); Boschloo, Raised Conditional
    Level of Significance for the 2 x 2-Table when Testing the Equality of Two Probabilities (1970).

    Examples
    --------
    >>> [round(difference_test(3, 4, 1, 4, test=each), 4) for each in ("fisher_mid_p", "boschloo")]
    [0.2571, 0.2891]
    """
    given = {"k1": k1, "n1": n1, "k2": k2, "n2": n2}
    return _p_values("difference_test", given, test, alternative)


def _p_values(function: str, given: Mapping[str, Any], test: str, alternative: str) -> Any:
    counts = {name: as_whole(values, name) for name, values in given.items()}
    require_same_size(function, **counts)
    shape = np.broadcast_shapes(*(each.shape for each in counts.values()))
    columns = (np.broadcast_to(each, shape).ravel() for each in counts.values())
    with translate_errors(function):
        p = TESTS.get(test).p_values(*columns, alternative=_side(alternative))
    return as_given(p.reshape(shape), "p", *given.values())


def _side(alternative: str) -> Alternative:
    sides = {each.replace("_", "-"): each for each in ALTERNATIVES}
    if (asked := alternative.replace("_", "-")) not in sides:
        raise UnknownName(f"unknown alternative {alternative!r}; {did_you_mean(asked, sides)}")
    return sides[asked]
