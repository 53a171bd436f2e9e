"""Labels needed to tell two measures apart, from a simple sample, a design, and predictions.

For 80 % power at 5 %, and for a mean half-width of 5 points of the interval at 95 %. The labels are
those of the annotation, as they are; what is random is the sample. Fisher's test asks about a
population beyond the candidates, the others about these candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from coverage_parts.cells import LEVEL, Cell, Task, batches
from coverage_parts.estimation import estimate_sets, estimate_with_fit
from coverage_parts.populations import MEASURES, Population, features, folds, population
from coverage_parts.samples import BASELINE_WIDTH, chances, draw_samples, numbers, questions_measure
from coverage_parts.sets import Differences, differences_of
from coverage_parts.simple_samples import once_each
from coverage_parts.stratified_samples import draw_from_strata, estimate_from_strata
from coverage_parts.tests_of_differences import Tables, rejections
from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.statistics.differences import difference_limits as simple_limits
from pipeline.kernels.survey.allocation import question_sets
from pipeline.kernels.survey.design import declared_questions, inclusion
from pipeline.kernels.survey.limits import difference_limits
from pipeline.kernels.survey.planning import size_measures as planned_sizes
from pipeline.kernels.survey.planning import strata_of

PAIRS = (("t_score", "chi_squared"), ("log_likelihood", "mi"), ("log_likelihood", "t_score"))
CUTS = (500, 1000)
POWER, HALF_WIDTH = 0.8, 0.05
WAYS = (
    "fisher, simple", "fisher, question",
    "exact, simple", "exact, question",
    "mover, simple", "mover, question", "mover, question, scores", "mover, strata",
    "mover, several", "mover, all", "mover, all, scores",
)  # fmt: skip
"""Test, design, predictions. "question" is a design for this difference alone, which is a simple
sample of D1 | D2; "strata" a stratified sample for it alone, by the best rank of the two measures;
"several" a design for the 37 questions of configs/krenn-design.toml, "all" one for all lists,
differences and the baseline."""
STRATA = (100, 500, 1000, 2000)
"""Boundaries of the strata, and list sizes of the 37 questions."""
FITTED = 8
"""How many times fewer samples where a model is fitted in each."""
DESIGNS_OF_EXACT = 40
_PRECISE = 1.01

Outcome = tuple[float, float]
"""Power, and mean half-width."""


class Question(NamedTuple):
    """One difference of a population."""

    name: str
    everyone: Population
    differences: Differences
    pair: tuple[str, str]

    @property
    def size(self) -> int:
        """Return |D1|."""
        return int(self.differences.members[0].sum())


def tasks(populations: tuple[str, ...]) -> list[Task]:
    """Return the tasks of this part, on Krenn's candidates; the size is that of the lists."""
    return [
        Task("labels", f"{way}: {one} - {two}", "krenn", n)
        for way in WAYS
        for one, two in PAIRS
        for n in CUTS
        if "krenn" in populations
    ]


def cells(task: Task, first: int, samples: int) -> list[Cell]:
    """Find the labels of a task by halving."""
    way, pair = task.method.split(": ")
    one, two = pair.split(" - ")
    everyone = population(task.population)
    differences = differences_of(everyone, ((one, two),), (task.size,))
    question = Question(task.population, everyone, differences, (one, two))
    most = 2 * question.size if ", question" in way else everyone.size
    look = _remember(partial(outcome, question, way, first, samples))
    return [
        {
            **task._asdict(), "way": way, "pair": pair, "difference": float(differences.truth[0]),
            "of": question.size, "samples": samples,
            "power": fewest(lambda labels: look(labels)[0] >= POWER, most),
            "half_width": fewest(lambda labels: look(labels)[1] <= HALF_WIDTH, most),
        }
    ]  # fmt: skip


def _remember(look: Callable[[int], Outcome]) -> Callable[[int], Outcome]:
    outcomes: dict[int, Outcome] = {}
    return lambda labels: (
        outcomes[labels] if labels in outcomes else outcomes.setdefault(labels, look(labels))
    )


def fewest(enough: Callable[[int], bool], most: int) -> int | None:
    """Return the fewest labels that are enough, within 1 %; None if not even the most are.

    Examples
    --------
    >>> fewest(lambda labels: labels >= 100, 5000) in (100, 101)
    True
    """
    if not enough(most):
        return None
    low, high = 4, most
    while high > low + 1 and high > _PRECISE * low:
        middle = round((low * high) ** 0.5)
        middle = min(max(middle, low + 1), high - 1)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def outcome(question: Question, way: str, first: int, samples: int, labels: int) -> Outcome:
    """Simulate power and half-width with so many labels."""
    if way == "mover, strata":
        return _stratified_outcome(question, first, samples, labels)
    if way.startswith("mover"):
        return _designed_outcome(question, way, first, samples, labels)
    return _simple_outcome(question, way, first, samples, labels)


def _simple_outcome(question: Question, way: str, first: int, samples: int, labels: int) -> Outcome:
    test, design = way.split(", ")
    size, exact = question.size, test == "exact"
    bits = np.random.default_rng([80, first, labels])
    draws = _draws(bits, question, design, labels, DESIGNS_OF_EXACT if exact else samples)
    n1, n2 = (np.repeat(each, samples // len(each)) for each in draws)
    hits = (question.differences.members & question.everyone.tp).sum(axis=1)
    k1, k2 = (
        bits.hypergeometric(k, size - k, n) for k, n in zip(hits.tolist(), (n1, n2), strict=True)
    )
    tables = Tables(k1, n1, k2, n2, size, int(question.differences.n[0]))
    name = "finite_population_test" if exact else test
    interval = "hypergeometric" if exact else "clopper_pearson"

    def limits(*counts: IntArray) -> tuple[FloatArray, FloatArray]:
        return simple_limits(
            *counts, size=size, list_size=tables.list_size, method=interval, confidence=LEVEL
        )

    lower, upper = once_each(limits, k1, n1, k2, n2)
    return float(rejections(name, tables)[0].mean()), float((upper - lower).mean() / 2)


def _draws(
    bits: np.random.Generator, question: Question, design: str, labels: int, samples: int
) -> tuple[IntArray, IntArray]:
    """Return how many of the labels fall into D1 and D2."""
    size = question.size
    if design == "question":
        n1 = bits.hypergeometric(size, size, labels, samples)
        return n1, labels - n1
    rest = question.everyone.size - 2 * size
    colours = [size, size, rest]
    n1, n2, _ = bits.multivariate_hypergeometric(colours, labels, samples, method="marginals").T
    return n1, n2


def _stratified_outcome(question: Question, first: int, samples: int, labels: int) -> Outcome:
    """Simulate a stratified sample with the best rates for this difference."""
    everyone, n = question.everyone, int(question.differences.n[0])
    vectors = {name: everyone.of(name) for name in question.pair}
    sets = question_sets(everyone.ids, vectors, pairs=[question.pair], n=np.array(STRATA))
    names = declared_questions(
        measures=question.pair, pairs=[question.pair], at=STRATA, candidates=everyone.size,
        weights={},
    )["question"]  # fmt: skip
    weights = (names == f"{' - '.join(question.pair)} at {n}").cast(float).to_numpy()
    x = planned_sizes(sets, weights, floor=0.0, baseline_width=BASELINE_WIDTH)["stratified"]
    stratum, counts = _whole_draws(strata_of(sets), inclusion(x, size=labels))
    rejects, widths = [], []
    for start, count in batches(first, samples):
        draws = draw_from_strata(stratum, counts, numbers(everyone.size, start, count))
        estimates, _ = estimate_from_strata(everyone, stratum, draws, question.differences.members)
        one, other = (estimates.at(np.s_[:, side]) for side in (slice(0, 1), slice(1, 2)))
        lower, upper = difference_limits(one, other, confidence=LEVEL)
        rejects.append((lower > 0) | (upper < 0))
        widths.append(upper - lower)
    half = float(question.differences.scale[0] * np.concatenate(widths).mean() / 2)
    return float(np.concatenate(rejects).mean()), half


def _whole_draws(strata: IntArray, pi: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the strata numbered from 0, and whole numbers of draws with the largest remainders."""
    _, stratum = np.unique(strata, return_inverse=True)
    expected = np.bincount(stratum, weights=pi)
    counts = np.floor(expected + 1e-9).astype(np.int64)
    short = round(float(pi.sum())) - int(counts.sum())
    counts[np.argsort(counts - expected, kind="stable")[:short]] += 1
    return stratum, counts


def _designed_outcome(
    question: Question, way: str, first: int, samples: int, labels: int
) -> Outcome:
    pi, assisted = _chances(question, way.split(", ")[1], labels), way.endswith("scores")
    replicates = samples // FITTED if assisted else samples
    rejects, widths, tp = [], [], question.everyone.tp
    for start, count in batches(first, replicates):
        draws = draw_samples(pi, numbers(len(pi), start, count), size=labels)
        if assisted:
            estimates = estimate_with_fit(
                tp, pi, draws, question.differences.members, features=features(question.name),
                fold=folds(question.name),
            )  # fmt: skip
        else:
            estimates = estimate_sets(tp, pi, draws, question.differences.members)
        one, other = (estimates.at(np.s_[:, side]) for side in (0, 1))
        lower, upper = difference_limits(one, other, confidence=LEVEL)
        rejects.append((lower > 0) | (upper < 0))
        widths.append(upper - lower)
    half = float(question.differences.scale[0] * np.concatenate(widths).mean() / 2)
    return float(np.concatenate(rejects).mean()), half


def _chances(question: Question, design: str, labels: int) -> FloatArray:
    if design == "several":
        x = questions_measure(question.everyone, measures=MEASURES, pairs=PAIRS, at=STRATA)
        return inclusion(x, size=labels)
    if design != "question":
        return chances(question.name, {"all": "designed"}.get(design, design), labels)
    x = questions_measure(
        question.everyone, measures=question.pair, pairs=(question.pair,),
        at=(int(question.differences.n[0]),), weights={"precision": 0.0, "baseline": 0.0},
        floor=0.0,
    )  # fmt: skip
    return inclusion(x, size=labels)
