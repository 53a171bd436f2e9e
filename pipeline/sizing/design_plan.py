"""Plan a sample for declared questions: from assumptions, or from a pilot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.api.results import Run
from pipeline.errors import ConfigError, Problem
from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.design.questions import KINDS
from pipeline.kernels.planning.drawings import PLANS
from pipeline.kernels.planning.labels import Looks
from pipeline.sizing import checks
from pipeline.sizing.checks import Track, untracked
from pipeline.sizing.design_goals import Goal, looks_at, problems_of, sides_apart
from pipeline.sizing.design_pilot import Known, known_by, of_judgements
from pipeline.sizing.design_questions import Asked, Pair, Wanted, asked_of
from pipeline.sizing.designs import COLUMNS, Planner, planner, tabulated

RHO2 = 0.2
"""What predictions explain within a list, if nothing else is known."""
RATE = 0.5
"""The share of true positives if nothing is known: the widest case."""


@dataclass(frozen=True)
class Assumed:
    """What is taken for granted where no pilot says it.

    Parameters
    ----------
    rate : float, optional
        Share of true positives in every list; that of the stage, or one half, if not given.
    rho2 : float, optional
        Share of the variance within lists that predictions explain; goes before the pilot's.
    """

    rate: float | None = None
    rho2: float | None = None


def plan_design(
    run: Run,
    *,
    half_width: float | None = None,
    power: float | None = None,
    difference: float | None = None,
    design: str | None = None,
    measures: Sequence[str] = (),
    n: Sequence[int] = (),
    pairs: Sequence[Pair] = (),
    questions: Sequence[str] = (),
    pilot: str | None = None,
    category: str | None = None,
    rate: float | None = None,
    rho2: float | None = None,
    looks: Sequence[float] = (4,),
    spending: str = "obrien_fleming",
    confidence: float = 0.95,
    alpha: float = 0.05,
    track: Track = untracked,
) -> pl.DataFrame:
    """Return how many labels declared questions need, under four ways to draw the sample.

    ``simple``: a simple random sample; ``stratified``: strata by the best rank, at the rates that
    serve the questions best; ``designed``: a sample of `sample.design`; ``assisted``: the same,
    with predictions in the estimates. Each is planned by the expected variances of the estimates
    and the normal distribution, with everything judged once, and with several looks at the growing
    sample. Labels are those of a whole sample; what a pilot has judged is not taken off.

    Parameters
    ----------
    run : Run
        Results of an experiment whose candidates are ranked, from `show` or `run`.
    half_width : float, optional
        Wanted half-width of the intervals, a proportion. Give this, or power, or difference.
    power : float, optional
        Wanted probability that a difference is found, 0.8 with `difference` alone.
    difference : float, optional
        The difference in precision to be found, a proportion; those that the pilot has estimated
        if not given.
    design : str, optional
        The stage of `sample.design` whose questions are meant; the only one if not given.
    measures, n, pairs : sequences, optional
        Other measures, list sizes and pairs of measures than those of the stage.
    questions : sequence of str, optional
        The questions that the goal is for, by name ("t_score at 100") or kind (precision,
        difference, baseline); all if not given. The sample serves all that are declared.
    pilot : str, optional
        A stage with judgements, best one of `evaluate.designed`: it says how high precisions are
        and what predictions explain.
    category : str, optional
        Category of true positives in the pilot.
    rate : float, optional
        Without a pilot, the expected share of true positives, in every list.
    rho2 : float, optional
        Share of the variance within lists that predictions explain, instead of the pilot's; 0.2
        where neither says it.
    looks : sequence of float
        When the sample is looked at: a number of equal steps, or shares of the labels up to 1.
    spending : str
        How alpha is spent over the looks: obrien_fleming or pocock.
    confidence, alpha : float
        Of the intervals; of the test of each difference.
    track : callable
        Is given the pieces of the work and passes them on.

    Returns
    -------
    DataFrame
        plan, looks (1 or their number), question, kind, measure, measure_2, n; expected (the
        precision or difference), wanted, labels, reached (the half-width or power that so many
        give), level (at which it is answered; at the last look), draws (expected in what the
        question is about), hardest (whether it needs the most). The last row of each plan says
        what all questions need together. Labels are null where all candidates do not suffice.

    Raises
    ------
    ConfigError
        With all mistakes in the question; if nothing is ranked, the pilot has no judgements, or
        no question can be answered so surely.

    Examples
    --------
    Needs a run::

        done = lx.show("configs/krenn-design.toml")
        lx.plan_design(done, half_width=0.05, pilot="answers")
    """
    goal = Goal(half_width, power, difference, confidence, alpha)
    wanted = Wanted(design, tuple(measures), tuple(n), tuple(pairs))
    assumed = Assumed(rate, rho2)
    given = prepared(
        run, wanted, goal, assumed, questions=questions, pilot=pilot, category=category
    )
    return planned(given, looks_at(looks, spending), track=track)


def prepared(
    run: Run,
    wanted: Wanted,
    goal: Goal,
    assumed: Assumed,
    *,
    questions: Sequence[str],
    pilot: str | None,
    category: str | None,
) -> Planner:
    """Put the plans together, from the results of a run.

    Raises
    ------
    ConfigError
        As `plan_design` does.
    """
    checks.require([*problems_of(goal, pilot=pilot is not None), *_assumptions(assumed, pilot)])
    looked_at = of_judgements(run, pilot).inputs.get("ranks") if pilot else None
    asked = asked_of(run, wanted, ranks=looked_at)
    meant = asked.about(questions, kinds=("difference",) if goal.tests else KINDS)
    known = known_by(run, pilot, asked, category=category) if pilot else _guessed(asked, assumed)
    precision, apart = _sides(asked, known, goal)
    reach = apart if goal.tests else np.full(asked.questions.height, goal.wanted)
    _require_reachable(asked, meant, reach, goal)
    return planner(
        asked, meant=meant, p=known.p, precision=precision, rho2=_rho2(known, assumed, asked),
        shown=_shown(asked, precision, apart), target=goal.target(reach), wanted=goal.wanted,
    )  # fmt: skip


def planned(given: Planner, looks: Looks | None, *, track: Track = untracked) -> pl.DataFrame:
    """Return the table of all plans, without looks and with them.

    Parameters
    ----------
    given : Planner
        The plans.
    looks : Looks, optional
        When the sample is looked at; once if not given.
    track : callable
        As for `plan_design`.
    """
    times = (None, looks) if looks else (None,)
    cases = [(plan, seen) for seen in times for plan in PLANS]
    parts = [tabulated(given, plan, seen) for plan, seen in track(cases)]
    return pl.concat([pl.DataFrame(schema=COLUMNS), *parts])


def _assumptions(assumed: Assumed, pilot: str | None) -> list[Problem]:
    problems = checks.inside("rate", [] if assumed.rate is None else [assumed.rate])
    problems += checks.proportions("rho2", [] if assumed.rho2 is None else [assumed.rho2])
    if pilot and assumed.rate is not None:
        problems.append(Problem("rate", "does not go with a pilot, which says it", "leave it out"))
    return problems


def _guessed(asked: Asked, assumed: Assumed) -> Known:
    rate = assumed.rate or asked.config.rate or RATE
    p = np.full(len(asked.sets.ids), rate)
    return Known(p, np.full(asked.sets.count, rate), None, 0)


def _rho2(known: Known, assumed: Assumed, asked: Asked) -> FloatArray:
    if assumed.rho2 is None and known.rho2 is not None:
        return known.rho2
    return np.full(asked.sets.count, RHO2 if assumed.rho2 is None else assumed.rho2)


def _sides(asked: Asked, known: Known, goal: Goal) -> tuple[FloatArray, FloatArray]:
    """Return precisions of the sets, and the differences of all questions, NaN of other kinds."""
    compared = (asked.questions["kind"] == "difference").to_numpy()
    precision, found = sides_apart(
        asked.sets, known.precision, int(compared.sum()), goal.difference
    )
    apart = np.full(len(compared), np.nan)
    apart[compared] = found
    return precision, apart


def _shown(asked: Asked, precision: FloatArray, apart: FloatArray) -> FloatArray:
    """Return the expected precision of a list, the expected difference of a pair."""
    lists = asked.questions.height - 1 - int((~np.isnan(apart)).sum())
    found = apart.copy()
    found[:lists], found[-1] = precision[:lists], precision[-1]
    return found


def _require_reachable(asked: Asked, meant: BoolArray, reach: FloatArray, goal: Goal) -> None:
    if (reach[meant] > 0).any():
        return
    names = asked.questions.filter(pl.Series(meant))["question"]
    what = (
        f"all {len(asked.sets.ids):,} candidates do not suffice for any of {len(names):,} questions"
    )
    shown = f"{what}, such as {', '.join(names.head(3))}"
    why = "the lists have too much in common to differ so much"
    if goal.difference is None:
        why = "the pilot found no difference at all"
    raise ConfigError("size", [Problem("difference", f"{shown}: {why}", "ask for a smaller one")])
