"""How much more to annotate, given what a pilot sample has shown of two measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import polars as pl

from pipeline.api.results import Run
from pipeline.errors import Problem
from pipeline.kernels.nbest.power import Design, Power, predictive_power
from pipeline.kernels.nbest.width import smallest
from pipeline.kernels.sampling import sample_size
from pipeline.kernels.statistics.exact_tests import Alternative
from pipeline.sizing import checks
from pipeline.sizing.checks import Track, untracked
from pipeline.sizing.comparison import (
    LeastFor,
    Lists,
    PowerOf,
    impossible,
    powers_of,
    tabulate,
)
from pipeline.sizing.tables import Pilot, comparing, open_pilot

RATES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 1.0)
"""The sampling rates if nothing else is said, as far as they are above the pilot's."""
Counts: TypeAlias = tuple[int, int, int, int]


def plan_pilot(
    run: Run,
    stage: str,
    *,
    measures: tuple[str, str],
    n: Sequence[int],
    category: str | None = None,
    rates: Sequence[float] = (),
    powers: Sequence[float] = (),
    alpha: float | None = None,
    margin: float | None = None,
    test: str = "fisher",
    alternative: Alternative = "two_sided",
    replicates: int = 10_000,
    seed: str = "power",
    track: Track = untracked,
) -> pl.DataFrame:
    """Return how probably a larger sample will tell two measures apart, given a pilot.

    The pilot stays part of the larger sample, and what it leaves open is averaged over, see
    `predictive_power`. Where the stage has the full annotation, the precisions are known and
    the power is that of a sample that knew nothing yet.

    Parameters
    ----------
    run : Run
        Results of an experiment, from `show` or `run`.
    stage : str
        A stage that compares measures.
    measures : tuple of two str
        The pair, in either order.
    n : sequence of int
        Sizes of n-best lists.
    category : str, optional
        Category of true positives, if there are several.
    rates : sequence of float
        Sampling rates in (0, 1], from the pilot's on; some round ones if not given.
    powers : sequence of float
        Wanted power in (0, 1), see `plan_comparison`.
    alpha, margin : float, optional
        As for `plan_comparison`; the stage's own if not given.
    test, alternative, replicates, seed, track
        As for `plan_comparison`.

    Returns
    -------
    DataFrame
        As from `plan_comparison`; only_1, only_2 and difference are the pilot's estimates.

    Raises
    ------
    ConfigError
        With all mistakes in the question, or if the run has no such tables.

    Examples
    --------
    Needs a run::

        done = lx.show("configs/krenn.toml")
        lx.plan_pilot(done, "sampled_comparison", measures=("t_score", "chi_squared"), n=[500])
    """
    node = comparing(run, stage)
    alpha = getattr(node.config, "alpha", 0.05) if alpha is None else alpha
    margin = getattr(node.config, "margin", 0.0) if margin is None else margin
    checks.require([
        *checks.inside("power", powers),
        *checks.significance(
            alpha=alpha, margin=margin, test=test, alternative=alternative, replicates=replicates
        ),
    ])  # fmt: skip
    pilot = open_pilot(run, stage, measures=measures, n=n, category=category)
    rates = rates or [r for r in RATES if _reaches(r, pilot)]
    checks.require([] if powers else _too_small(rates, pilot))
    rows = pilot.rows.iter_rows(named=True)
    test_of = (pilot.candidates, alpha, margin, test, alternative)
    counts = {Lists(Design(r["n"], r["size"], *test_of), *_precisions(r)): _counts(r) for r in rows}
    checks.require([problem for pair in counts for problem in impossible(pair)])
    if pilot.full:
        power, least = powers_of(replicates=replicates, seed=seed)
    else:
        power, least = _predicted(pilot, counts, replicates, seed)
    return tabulate(list(counts), rates=rates, powers=powers, power=power, least=least, track=track)


def _predicted(
    pilot: Pilot, known: Mapping[Lists, Counts], replicates: int, seed: str
) -> tuple[PowerOf, LeastFor]:
    """Return the power of a sample that the pilot is part of, and the least size for a power."""

    def power(pair: Lists, size: int) -> Power:
        return predictive_power(
            pair.design, size=size, pilot=known[pair], pilot_size=pilot.judged,
            replicates=replicates, seed=seed,
        )  # fmt: skip

    def least(pair: Lists, wanted: float) -> int | None:
        side = 0 if pair.only_1 > pair.only_2 else 1
        return smallest(
            lambda size: power(pair, size)[side] >= wanted, pilot.judged, pilot.candidates
        )

    return power, least


def _too_small(rates: Sequence[float], pilot: Pilot) -> Iterator[Problem]:
    yield from checks.rates(rates)
    for rate in rates:
        if rate > 0 and not _reaches(rate, pilot):
            has = f"{pilot.judged:,} of {pilot.candidates:,} are judged"
            yield Problem(
                "rate", f"{rate:g} is less than the pilot has: {has}", "give a larger one"
            )


def _reaches(rate: float, pilot: Pilot) -> bool:
    """Return whether a sample of this rate can hold the pilot."""
    return pilot.full or sample_size(pilot.candidates, rate=rate) >= pilot.judged


def _counts(row: dict[str, int]) -> Counts:
    return row["k_1"], row["n_1"], row["k_2"], row["n_2"]


def _precisions(row: dict[str, int]) -> tuple[float, float]:
    first, second = (row[f"k_{i}"] / row[f"n_{i}"] if row[f"n_{i}"] else 0.5 for i in (1, 2))
    return first, second
