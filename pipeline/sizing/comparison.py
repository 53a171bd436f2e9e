"""How large a sample must be to tell two measures apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from pipeline.errors import Problem
from pipeline.kernels.nbest.power import Design, Power, comparison_power, size_for_power
from pipeline.kernels.sampling import sample_size
from pipeline.kernels.statistics.exact_tests import Alternative
from pipeline.sizing import checks
from pipeline.sizing.checks import Track, untracked
from pipeline.sizing.widths import RATES

_POWERS = ("power_1", "power_2", "untested", "standard_error")
NUMBERS: dict[str, Any] = {
    "wanted": pl.Float64, "rate": pl.Float64, "size": pl.Int64, "n": pl.Int64, "apart": pl.Int64,
    "only_1": pl.Float64, "only_2": pl.Float64, "difference": pl.Float64,
    **dict.fromkeys(_POWERS, pl.Float64),
}  # fmt: skip
"""The columns of a table of power."""


class Lists(NamedTuple):
    """Two n-best lists: how they are tested, and the precision of what only one of them has."""

    design: Design
    only_1: float
    only_2: float

    def row(self, size: int, power: Power | None, *, wanted: float | None = None) -> dict[str, Any]:
        """Return the row of a table of power; null where no sample is large enough."""
        n, apart, candidates, *_ = self.design
        fixed = {
            "wanted": wanted, "n": n, "apart": apart, "only_1": self.only_1,
            "only_2": self.only_2, "difference": apart / n * (self.only_1 - self.only_2),
        }  # fmt: skip
        if power is None:
            return {**dict.fromkeys(NUMBERS), **fixed}
        powers = dict(zip(_POWERS, power, strict=True))
        return {**fixed, "rate": size / candidates, "size": size, **powers}


PowerOf: TypeAlias = Callable[[Lists, int], Power]
LeastFor: TypeAlias = Callable[[Lists, float], int | None]


def plan_comparison(
    *,
    candidates: int,
    n: Sequence[int],
    precisions: tuple[float, float],
    overlap: float,
    shared: float | None = None,
    rates: Sequence[float] = RATES,
    powers: Sequence[float] = (),
    alpha: float = 0.05,
    margin: float = 0.0,
    test: str = "fisher",
    alternative: Alternative = "two_sided",
    replicates: int = 10_000,
    seed: str = "power",
    track: Track = untracked,
) -> pl.DataFrame:
    """Return how probably a sample will tell two measures apart, or the rate that is needed.

    The test is on D1 and D2, the candidates that only one of the two lists has. With the
    overlap o, the precisions p of the lists and s of what they share, the precision of D is
    ``(p - o s) / (1 - o)``.

    Parameters
    ----------
    candidates : int
        Candidates in the data set.
    n : sequence of int
        Sizes of n-best lists.
    precisions : tuple of two float
        Expected precisions of the two lists, in [0, 1].
    overlap : float
        Share of each list that the other has too, in [0, 1).
    shared : float, optional
        Precision of what they share; the mean of `precisions` if not given.
    rates : sequence of float
        Sampling rates in (0, 1].
    powers : sequence of float
        Wanted power in (0, 1). If any are given, each row has the smallest rate that will do,
        and `rates` is not used.
    alpha, margin : float
        Significance level, and the smallest difference in precision that gets a mark.
    test, alternative : str
        Name of the exact test (fisher, fisher_mid_p, boschloo), and two_sided, greater or less.
    replicates : int
        Simulated samples, where there are too many outcomes to add up.
    seed : str
        Fixes them.
    track : callable
        Is given the pieces of the work and passes them on.

    Returns
    -------
    DataFrame
        wanted (null for given rates), rate, size (draws), n, apart (|D1| = |D2|), only_1 and
        only_2 (precisions of D1 and D2), difference (of the lists' precisions); power_1 and
        power_2 (probability that the first, or the second, measure is marked as the better),
        untested (that D1 or D2 has no draw), standard_error (of the simulation, 0 if exact).
        Rate and all that follows from it are null where no sample is large enough.

    Raises
    ------
    ConfigError
        With all mistakes in the question.

    Examples
    --------
    >>> plan_comparison(
    ...     candidates=200, n=[60], precisions=(0.6, 0.4), overlap=0.5, rates=[0.3]
    ... ).select("apart", pl.col("only_1", "power_1").round(3)).rows()
    [(30, 0.7, 0.246)]
    """
    checks.require([
        *checks.lists(n, candidates),
        *([] if powers else checks.rates(rates)),
        *checks.inside("power", powers),
        *checks.proportions("compare", precisions),
        *_overlap(overlap, shared),
        *checks.significance(
            alpha=alpha, margin=margin, test=test, alternative=alternative, replicates=replicates
        ),
    ])  # fmt: skip
    centre = sum(precisions) / 2 if shared is None else shared
    only_1, only_2 = (_rounded((p - overlap * centre) / (1 - overlap)) for p in precisions)
    test_of = (candidates, alpha, margin, test, alternative)
    designs = [Design(each, round(each * (1 - overlap)), *test_of) for each in n]
    pairs = [Lists(design, only_1, only_2) for design in designs]
    checks.require([problem for pair in pairs for problem in impossible(pair)])
    power, least = powers_of(replicates=replicates, seed=seed)
    return tabulate(pairs, rates=rates, powers=powers, power=power, least=least, track=track)


def tabulate(
    pairs: Sequence[Lists],
    *,
    rates: Sequence[float],
    powers: Sequence[float],
    power: PowerOf,
    least: LeastFor,
    track: Track,
) -> pl.DataFrame:
    """Return a row for each rate, or wanted power, and each pair of lists."""
    rows = []
    for goal, pair in track(list(product(powers or rates, pairs))):
        size = least(pair, goal) if powers else sample_size(pair.design.candidates, rate=goal)
        reached = None if size is None else power(pair, size)
        row = pair.row(size or 0, reached, wanted=goal if powers else None)
        rows.append(row if powers else {**row, "rate": goal})
    return pl.DataFrame(rows, schema=NUMBERS)


def impossible(pair: Lists) -> list[Problem]:
    """Return why there cannot be two such lists."""
    n, apart, candidates, *_ = pair.design
    if apart == 0:
        what = f"the lists of {n:,} are the same: there is nothing to compare"
        return [Problem("n", what)]
    if n + apart > candidates:
        what = f"two lists of {n:,}, {apart:,} apart, need {n + apart:,} candidates"
        return [Problem("overlap", what, f"there are {candidates:,}")]
    wrong = [p for p in (pair.only_1, pair.only_2) if not 0.0 <= p <= 1.0]
    if wrong:
        what = f"what only one list of {n:,} has would have a precision of {wrong[0]:.3g}"
        return [Problem("compare", what, "change overlap, shared or the precisions")]
    return []


def _rounded(precision: float) -> float:
    """Return a precision that is 0 or 1 on paper as that."""
    return round(precision, 12)


def _overlap(overlap: float, shared: float | None) -> list[Problem]:
    problems = checks.proportions("shared", [] if shared is None else [shared])
    if not 0.0 <= overlap < 1.0:
        what = f"{overlap:g} is no share of a list from 0 up to 1"
        problems.append(Problem("overlap", what, "350 of 500 is 0.7"))
    return problems


def powers_of(*, replicates: int, seed: str) -> tuple[PowerOf, LeastFor]:
    """Return the power of a sample for known precisions, and the least size for a power."""

    def power(pair: Lists, size: int) -> Power:
        return comparison_power(
            pair.design, size=size, precision_1=pair.only_1, precision_2=pair.only_2,
            replicates=replicates, seed=seed,
        )  # fmt: skip

    def least(pair: Lists, wanted: float) -> int | None:
        return size_for_power(
            pair.design, wanted=wanted, precision_1=pair.only_1, precision_2=pair.only_2,
            replicates=replicates, seed=seed,
        )  # fmt: skip

    return power, least
