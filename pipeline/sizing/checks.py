"""Is a question of sample size sensible? Every mistake at once, in terms of what was asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar

from pipeline.errors import ConfigError, Problem, UnknownName, did_you_mean
from pipeline.kernels.statistics.exact_tests import ALTERNATIVES, TESTS
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.registry import Registry

T = TypeVar("T")


class Track(Protocol):
    """Passes the pieces of long work on, and may show how far it is."""

    def __call__(self, items: Sequence[T], /) -> Iterable[T]:
        """Return the items, one after the other."""


def untracked(items: Sequence[T], /) -> Iterable[T]:
    """Return the items as they are.

    Examples
    --------
    >>> list(untracked([1, 2]))
    [1, 2]
    """
    return items


def require(problems: Iterable[Problem]) -> None:
    """Raise all problems together, if there are any.

    Raises
    ------
    ConfigError
        With every problem.
    """
    if wrong := list(problems):
        raise ConfigError("size", wrong)


def lists(n: Sequence[int], candidates: int) -> list[Problem]:
    """Return what is wrong with sizes of n-best lists.

    Examples
    --------
    >>> print(lists([500], 100)[0])
    n: no list of 500 among 100 candidates; give 1 to 100
    """
    if candidates < 1:
        return [Problem("candidates", f"{candidates:,} candidates", "give 1 or more")]
    if not n:
        return [Problem("n", "no list size is given", "e.g. 500")]
    wrong = [each for each in n if not 1 <= each <= candidates]
    what, remedy = "no list of {:,} among {:,} candidates", f"give 1 to {candidates:,}"
    return [Problem("n", what.format(each, candidates), remedy) for each in wrong]


def rates(given: Sequence[float]) -> list[Problem]:
    """Return what is wrong with sampling rates.

    Examples
    --------
    >>> print(rates([0.1, 15])[0])
    rate: 15 is no sampling rate above 0 and up to 1; 15 % is 0.15
    """
    if not given:
        return [Problem("rate", "no sampling rate is given", "e.g. 0.1")]
    wrong = [each for each in given if not 0.0 < each <= 1.0]
    what = "{:g} is no sampling rate above 0 and up to 1"
    return [Problem("rate", what.format(each), _per_cent(each)) for each in wrong]


def proportions(name: str, given: Sequence[float]) -> list[Problem]:
    """Return what is wrong with proportions from 0 to 1, both included."""
    wrong = [each for each in given if not 0.0 <= each <= 1.0]
    return [Problem(name, f"{each:g} is not in 0 to 1", _per_cent(each)) for each in wrong]


def inside(name: str, given: Sequence[float]) -> list[Problem]:
    """Return what is wrong with proportions between 0 and 1, neither included.

    Examples
    --------
    >>> print(inside("power", [80])[0])
    power: 80 is not between 0 and 1; 80 % is 0.8
    """
    wrong = [each for each in given if not 0.0 < each < 1.0]
    return [Problem(name, f"{each:g} is not between 0 and 1", _per_cent(each)) for each in wrong]


def _per_cent(value: float) -> str:
    return f"{value:g} % is {value / 100:g}" if 1.0 < value <= 100.0 else "give a proportion"


def interval(name: str, *, replacement: bool) -> list[Problem]:
    """Return what is wrong with the name of an interval method.

    Examples
    --------
    >>> print(interval("wilso", replacement=False)[0])
    interval: unknown interval 'wilso'; did you mean wilson?
    """
    unknown = _named("interval", INTERVALS, name)
    if unknown or not (replacement and INTERVALS.get(name).finite):
        return unknown
    what = f"{name!r} is for samples without replacement"
    return [Problem("interval", what, "take clopper_pearson")]


def _named(option: str, registry: Registry[Any], name: str) -> list[Problem]:
    try:
        registry.get(name)
    except UnknownName as error:
        return [Problem(option, str(error))]
    return []


def among(option: str, names: Iterable[str], given: str) -> list[Problem]:
    """Return what is wrong with a name of which there are few.

    Examples
    --------
    >>> print(among("spending", ["pocock", "obrien_fleming"], "pocok")[0])
    spending: unknown 'pocok'; did you mean pocock?
    """
    known = list(names)
    if given in known:
        return []
    return [Problem(option, f"unknown {given!r}", did_you_mean(given, known))]


def significance(
    *, alpha: float, margin: float, test: str, alternative: str, replicates: int
) -> list[Problem]:
    """Return what is wrong with the test and its simulation."""
    problems = inside("alpha", [alpha])
    if not 0.0 <= margin < 1.0:
        problems.append(Problem("margin", f"{margin:g} is not in 0 to 1", _per_cent(margin)))
    problems += _named("test", TESTS, test)
    if alternative not in ALTERNATIVES:
        remedy = did_you_mean(alternative, ALTERNATIVES)
        problems.append(Problem("alternative", f"unknown side {alternative!r}", remedy))
    if replicates < 1:
        problems.append(Problem("replicates", f"{replicates:,} replicates", "give 1 or more"))
    return problems
