"""How surely questions are to be answered, and whether that makes sense."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.errors import Problem
from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.design.sets import Sets, set_sums
from pipeline.kernels.estimates.tuning import divided
from pipeline.kernels.planning.labels import Looks, Target
from pipeline.kernels.statistics.alpha_spending import SPENDING
from pipeline.sizing import checks


@dataclass(frozen=True)
class Goal:
    """A half-width for questions, or a power for differences.

    Parameters
    ----------
    half_width : float, optional
        Of intervals, in (0, 1); a proportion.
    power : float, optional
        In (0, 1); 0.8 if there is a difference alone.
    difference : float, optional
        Smallest difference in precision that is to be found; those of the pilot if not given.
    confidence : float
        Of the intervals.
    alpha : float
        Of the test.
    """

    half_width: float | None = None
    power: float | None = None
    difference: float | None = None
    confidence: float = 0.95
    alpha: float = 0.05

    @property
    def tests(self) -> bool:
        """Whether differences are to be found."""
        return self.half_width is None

    @property
    def wanted(self) -> float:
        """The half-width, or the power."""
        return (self.power or 0.8) if self.half_width is None else self.half_width

    @property
    def level(self) -> float:
        """Error level, both sides together."""
        return self.alpha if self.tests else 1.0 - self.confidence

    def target(self, reach: FloatArray) -> Target:
        """Return what the kernels look for."""
        return Target(reach, self.level, self.wanted if self.tests else None)


def problems_of(goal: Goal, *, pilot: bool) -> Iterable[Problem]:
    """Yield what is wrong with a goal."""
    if goal.half_width is not None and (goal.power or goal.difference) is not None:
        yield Problem("half_width", "does not go with power or difference", "ask one, then another")
    if goal.half_width is None and goal.power is None and goal.difference is None:
        yield Problem("half_width", "nothing is wanted", "e.g. 0.05, or power = 0.8")
    if goal.half_width is None and goal.difference is None and not pilot:
        yield Problem("difference", "no difference to be found", "e.g. 0.05, or name a pilot")
    for name in ("half_width", "power", "difference"):
        value = getattr(goal, name)
        yield from checks.inside(name, [] if value is None else [value])
    yield from checks.inside("confidence", [goal.confidence])
    yield from checks.inside("alpha", [goal.alpha])


def looks_at(given: Sequence[float], spending: str) -> Looks | None:
    """Return when a sample is looked at: so many equal steps, or shares of its labels.

    Raises
    ------
    ConfigError
        If shares do not grow up to 1, or there is no such spending function.

    Examples
    --------
    >>> looks_at([4], "pocock").shares
    (0.25, 0.5, 0.75, 1.0)
    >>> looks_at([1], "pocock") is None
    True
    """
    checks.require(checks.among("spending", SPENDING, spending))
    if len(given) == 1 and given[0] >= 1 and float(given[0]).is_integer():
        shares = tuple((k + 1) / given[0] for k in range(int(given[0])))
    else:
        shares = tuple(float(share) for share in given)
    ascends = all(a < b for a, b in zip((0.0, *shares), shares, strict=False))
    if not shares or not ascends or shares[-1] != 1.0:
        shown = ", ".join(f"{share:g}" for share in given) or "none"
        what = f"{shown}: shares of the labels grow, and the last is 1"
        checks.require([Problem("looks", what, "e.g. 0.25,0.5,0.75,1, or 4 for the same")])
    return Looks(shares, spending) if len(shares) > 1 else None


def sides_apart(
    sets: Sets, precision: FloatArray, differences: int, difference: float | None
) -> tuple[FloatArray, FloatArray]:
    """Return the precisions of the sets, and the differences of lists that go with them.

    The difference of two lists of n is ``d = |D|/n (P_1 - P_2)``, P_1 and P_2 the precisions of
    what only one of them has. Where d is given, P_1 and P_2 lie ``d n / (2 |D|)`` above and below
    their mean.

    Parameters
    ----------
    sets : Sets
        The sets.
    precision : array of float, shape (sets,)
        What is expected of them.
    differences : int
        How many questions about differences there are.
    difference : float, optional
        d, the same for all.

    Returns
    -------
    precision : array of float, shape (sets,)
        Changed on the sides of pairs, where a difference is given.
    found : array of float, shape (differences,)
        |d|; 0 where two lists cannot differ so much.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.design.sets import question_sets
    >>> ranks = {"dice": np.array([1, 2, 3, 4]), "mi": np.array([4, 2, 3, 1])}
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), ranks, pairs=[("dice", "mi")], n=np.array([1, 2])
    ... )
    >>> apart, found = sides_apart(sets, np.full(9, 0.3), 2, 0.3)
    >>> apart[4:8].round(2).tolist(), found.tolist()
    ([0.45, 0.6, 0.15, 0.0], [0.3, 0.3])
    >>> sides_apart(sets, np.full(9, 0.3), 2, 0.4)[1].tolist()
    [0.4, 0.0]
    """
    shape = (differences // max(len(sets.n), 1), 2, len(sets.n))
    first = sets.count - 1 - 2 * differences
    inside = slice(first, sets.count - 1)
    members = set_sums(sets, [np.ones(len(sets.ids))])[0][inside].reshape(shape)
    share = members[:, 0] / sets.n
    one, two = precision[inside].reshape(shape).swapaxes(0, 1)
    if difference is None:
        return precision, np.abs(share * (one - two)).ravel()
    half, mean = divided(np.array(difference / 2.0), share), (one + two) / 2.0
    sides = np.stack([mean + half, mean - half], axis=1)
    fits = ((sides >= -1e-12) & (sides <= 1.0 + 1e-12)).all(axis=1) & (share > 0)
    changed = precision.copy()
    changed[inside] = np.clip(sides, 0.0, 1.0).ravel()
    return changed, np.where(fits, difference, 0.0).ravel()
