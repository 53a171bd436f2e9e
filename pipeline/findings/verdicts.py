"""What an interval of a difference says, and which value is the highest, which is no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pipeline.findings import words

SHOWN_RANGES = 3
"""So many ranges of list sizes are named; the rest is counted."""


class Interval(NamedTuple):
    """How much a thing differs from another, with the limits of that difference.

    Parameters
    ----------
    name : str
        What it is called.
    difference : float
        Its value less the other's; proportion.
    lower, upper : float or None
        Limits, wide enough for all differences that are looked at; None where nothing is known.
    """

    name: str
    difference: float
    lower: float | None
    upper: float | None

    @property
    def settled(self) -> bool:
        """Whether the interval says on which side of the other it lies: 0 is not in it.

        Examples
        --------
        >>> Interval("a", -0.1, -0.15, -0.03).settled, Interval("a", -0.1, -0.25, 0.0).settled
        (True, False)
        """
        if self.lower is None or self.upper is None:
            return False
        low, high = self.lower, self.upper
        return (low <= high < 0 and self.difference < 0) or (
            0 < low <= high and self.difference > 0
        )


def differs(those: Interval) -> str:
    """Say that something is better or worse than what was named before, by an interval.

    Raises
    ------
    ValueError
        If the interval does not say so.

    Examples
    --------
    >>> differs(Interval("computed", -0.102, -0.153, -0.036))
    'computed is worse (−10.2 points [−15.3, −3.6])'
    """
    if not those.settled:
        raise ValueError(f"the interval does not say on which side {those.name} lies: {those}")
    side = "worse" if those.difference < 0 else "better"
    return f"{those.name} is {side} ({words.points_within(*those[1:])})"


def held_within(those: Interval) -> str:
    """Say whether something is better or worse than what was named before, if its interval does.

    Examples
    --------
    >>> held_within(Interval("computed", -0.01, -0.032, 0.011))
    'computed cannot be told apart from it (−1.0 points [−3.2, +1.1])'
    >>> held_within(Interval("computed", -0.01, None, None))
    'computed differs by −1.0 points, and nothing says how sure that is'
    """
    if those.settled:
        return differs(those)
    if those.lower is None or those.upper is None:
        differs_by = words.points(those.difference)
        return f"{those.name} differs by {differs_by}, and nothing says how sure that is"
    return f"{those.name} cannot be told apart from it ({words.points_within(*those[1:])})"


def highest(by: str, names: Sequence[str], value: str, *, lowest: bool = False) -> str:
    """Say which value comes first, which is an order of estimates and no verdict.

    Parameters
    ----------
    by : str
        The order: "by types".
    names : sequence of str
        What has the value; several if they are tied.
    value : str
        The value, with what is known of its error.
    lowest : bool
        Whether low values are good.

    Examples
    --------
    >>> highest("by types", ["endings"], "MacroI 88.3 %")
    'highest by types: endings, MacroI 88.3 %'
    >>> highest("by tokens", ["endings", "tree"], "VI 0.89", lowest=True)
    'lowest by tokens: endings and tree (tied), VI 0.89'
    """
    tied = " (tied)" if len(names) > 1 else ""
    return f"{'lowest' if lowest else 'highest'} {by}: {words.listed(names)}{tied}, {value}"


class Band(NamedTuple):
    """Limits of a difference that hold at all these list sizes at once.

    Parameters
    ----------
    n : sequence of int
        The list sizes, ascending, none left out.
    lower, upper : sequence of float
        The limits, proportions.
    """

    n: Sequence[int]
    lower: Sequence[float]
    upper: Sequence[float]

    def apart(self) -> list[tuple[int, int, int]]:
        """Return each range of sizes at which 0 is outside: first n, last n, the side.

        Examples
        --------
        >>> Band([5, 6, 7, 8], [0.1, 0.1, -0.1, -0.4], [0.5, 0.4, 0.2, -0.1]).apart()
        [(5, 6, 1), (8, 8, -1)]
        """
        found: list[tuple[int, int, int]] = []
        before = 0
        for n, low, high in zip(self.n, self.lower, self.upper, strict=True):
            side = 1 if 0 < low <= high else -1 if low <= high < 0 else 0
            if side and side == before:
                found[-1] = (found[-1][0], n, side)
            elif side:
                found.append((n, n, side))
            before = side
        return found


def over_range(one: str, other: str, band: Band, *, confidence: float) -> str:
    """Say at which list sizes one of two is better, as far as a simultaneous band says so.

    Examples
    --------
    >>> band = Band([5, 6, 7, 8], [0.1, 0.1, -0.1, 0.1], [0.5, 0.4, 0.2, 0.3])
    >>> over_range("t-score", "MI", band, confidence=0.95)
    't-score is better than MI at n = 5 to 6 and 8 (all n from 5 to 8 at once, at 95 %)'
    >>> over_range("t-score", "MI", band._replace(lower=[-0.1] * 4), confidence=0.95)
    't-score and MI cannot be told apart at any n from 5 to 8 at once, at 95 %'
    """
    span = f"n from {band.n[0]:,} to {band.n[-1]:,} at once, at {100 * confidence:g} %"
    ranges = band.apart()
    parts = []
    for side, (first, second) in ((1, (one, other)), (-1, (other, one))):
        mine = [(low, high) for low, high, way in ranges if way == side]
        if mine:
            parts.append(f"{first} is better than {second} at n = {_longest(mine)}")
    if not parts:
        return f"{one} and {other} cannot be told apart at any {span}"
    return f"{', '.join(parts)} (all {span})"


def _longest(ranges: Sequence[tuple[int, int]]) -> str:
    """Return the longest ranges in their order, and how many more there are."""
    chosen = sorted(sorted(ranges, key=lambda each: each[0] - each[1])[:SHOWN_RANGES])
    said = [f"{low:,} to {high:,}" if low < high else f"{low:,}" for low, high in chosen]
    left = len(ranges) - len(chosen)
    return words.listed([*said, f"in {left} shorter ranges"] if left else said)


def of_two(one: str, test: words.Difference, *, alpha: float, margin: float = 0.0) -> str:
    """Say which of two a test finds to be better, if it does.

    Parameters
    ----------
    one : str
        The first of them.
    test : Difference
        The second, how much the first exceeds it, and the p-value of that.
    alpha : float
        The level of the test.
    margin : float
        A smaller difference is not looked at, whatever its p-value.

    Examples
    --------
    >>> of_two("t-score", words.Difference("MI", 0.124, 0.003), alpha=0.05)
    't-score is better than MI (+12.4 points, adjusted p = .003)'
    >>> of_two("MI", words.Difference("t-score", -0.124, 0.003), alpha=0.05)
    'MI is worse than t-score (−12.4 points, adjusted p = .003)'
    >>> of_two("MI", words.Difference("Dice", 0.02, 0.3), alpha=0.05)
    'MI and Dice cannot be told apart (+2.0 points, adjusted p = .300)'
    >>> of_two("MI", words.Difference("Dice", 0.02, 0.001), alpha=0.05, margin=0.05)
    'MI and Dice differ by less than the margin of 5.0 points (+2.0 points, adjusted p = .001)'
    >>> limited = words.Difference("MI", 0.124, 0.003, 0.081, 0.166)
    >>> of_two("t-score", limited, alpha=0.05)
    't-score is better than MI (+12.4 points [+8.1, +16.6], adjusted p = .003)'
    """
    other, difference, p, lower, upper = test
    said = f"({words.points_within(difference, lower, upper)}, {words.adjusted(p)})"
    # An undefined number fails each comparison, so that a verdict needs what holds.
    if not (p < alpha and (difference < 0 or difference > 0)):
        return f"{one} and {other} cannot be told apart {said}"
    if abs(difference) < margin:
        least = words.number(100 * margin, 1)
        return f"{one} and {other} differ by less than the margin of {least} points {said}"
    return f"{one} is {'better' if difference > 0 else 'worse'} than {other} {said}"


def worse_here(those: Sequence[words.Difference], *, alpha: float, candidates: int) -> str:
    """Say that some are worse than what was named before among the candidates at hand alone.

    Parameters
    ----------
    those : sequence of Difference
        Of the test of the finite population, at least one; each is below 0 and significant.
    alpha : float
        The level of the tests.
    candidates : int
        How many there are.

    Raises
    ------
    ValueError
        If a test does not say so.

    Examples
    --------
    >>> worse_here(
    ...     [words.Difference("MI", -0.044, 0.01, -0.08, -0.007)], alpha=0.05, candidates=5102
    ... )
    'among these 5,102 candidates alone MI is worse by 4.4 points [0.7, 8.0], adjusted p = .010'
    """
    return f"among these {candidates:,} candidates alone {words.worse(those, alpha=alpha)}"


def equivalent(pair: tuple[str, str], test: words.Difference, *, alpha: float, bound: float) -> str:
    """Say that two differ by less than would matter.

    Parameters
    ----------
    pair : (str, str)
        What they are called.
    test : Difference
        How much the first exceeds the second, and the p-value of the two one-sided tests.
    alpha : float
        Their level.
    bound : float
        The smallest difference that would matter.

    Raises
    ------
    ValueError
        If the test does not say so.

    Examples
    --------
    >>> equivalent(
    ...     ("Dice", "MI"), words.Difference("", 0.002, 0.01, -0.019, 0.023), alpha=0.05, bound=0.03
    ... )
    'Dice and MI are equivalent within 3 points (+0.2 points [−1.9, +2.3], adjusted p = .010)'
    """
    if not (test.p_adjusted < alpha and abs(test.difference) < bound):
        raise ValueError(f"the test does not say that {' and '.join(pair)} are equivalent: {test}")
    within = words.points_within(test.difference, test.lower, test.upper)
    said = f"{within}, {words.adjusted(test.p_adjusted)}"
    return f"{' and '.join(pair)} are equivalent within {100 * bound:g} points ({said})"
