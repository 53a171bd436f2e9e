"""Designed samples: questions, inclusion probabilities, costs, sequential Poisson draws, widths."""

from __future__ import annotations

import difflib
import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.sampling import WHOLE, seeded_key
from pipeline.kernels.survey.allocation import (
    Estimands,
    Goals,
    question_sums,
    raise_weights,
    set_sums,
    size_measure,
)
from schemas import DesignCosts, DesignedSample, Inclusion, Questions
from schemas.errors import count_text

# Inclusion probabilities proportional to size.

_ROUNDING = 1e-9
"""How far rounding can put lambda below 1."""


def inclusion(x: FloatArray, *, size: int) -> FloatArray:
    """Return ``lambda_i = m x_i / sum x``; those at 1 or more are taken, and again for the rest.

    Sequential Poisson sampling meets these probabilities nearly, not exactly: on Krenn's candidates
    it is right within half a per cent at 100 and 500 draws, over tenths of the candidates by x and
    with the error of 20,000 simulated samples (`benchmarks/designs.py`).

    Parameters
    ----------
    x : array of float, shape (candidates,)
        Size measures, at least 0; only their ratios count.
    size : int
        m, the number of draws, from 0.

    Returns
    -------
    array of float, shape (candidates,)
        In [0, 1]; the sum is m, or the number of candidates with x > 0 where that is less. 1 for
        certain ones, 0 where x = 0.

    Raises
    ------
    ValueError
        If a size measure is negative, infinite or NaN, or m is negative.

    References
    ----------
    Ohlsson, Sequential Poisson Sampling (1998), section 2.

    Examples
    --------
    >>> (1 / inclusion(np.array([*range(1, 11), 100.0, 150.0]), size=6)[7:]).round(6).tolist()
    [1.71875, 1.527778, 1.375, 1.0, 1.0]
    """
    wrong = ~((x >= 0.0) & (x < np.inf))
    if wrong.any():
        examples = ", ".join(f"{value:g}" for value in x[wrong][:3])
        number = count_text(int(wrong.sum()), "invalid value")
        raise ValueError(f"size measures must be >= 0: {number}, for example {examples}")
    if size < 0:
        raise ValueError(f"sample size must be 0 or more, not {size}")
    descending = np.sort(x)[::-1]
    counts = np.arange(len(x) + 1)
    rest = np.append(np.cumsum(descending[::-1])[::-1], 0.0)
    largest = np.append(descending, 0.0)
    # The first number of certainties after which the largest of the rest stays below 1.
    enough = (size - counts) * largest < (1.0 - _ROUNDING) * rest
    certain = int(np.argmax(enough | (largest == 0.0) | (counts == size)))
    chance = np.ones(len(x))
    rate = (size - certain) / rest[certain] if rest[certain] > 0.0 else 0.0
    # Equal sizes are certain together, so that x tells who is.
    uncertain = x <= largest[certain]
    chance[uncertain] = np.minimum(rate * x[uncertain], 1.0)
    return chance


# Costs: the first judgement in a group takes longer than further ones.

_ROUNDS = 60
_CLOSE = 1e-6
_MOST_CHANCE = 1.0 - 1e-9


class LabellingCost(NamedTuple):
    """What it costs to judge candidates by groups.

    Parameters
    ----------
    group : array of int, shape (candidates,)
        The group of each candidate, from 0, such as that of its verb.
    first : float
        Cost of the first judgement in a group, above 0, in any unit, such as minutes.
    further : float
        Cost of each further one, above 0, at most `first`.
    """

    group: IntArray
    first: float
    further: float


def groups_met(pi: FloatArray, group: IntArray) -> float:
    """Return the expected number of groups with a draw.

    ``sum_g 1 - prod_i (1 - pi_i)``, as if candidates were drawn independently.

    Examples
    --------
    >>> groups_met(np.array([0.5, 0.5, 0.5]), np.array([0, 0, 1]))
    1.25
    """
    return float((1.0 - np.exp(_log_missed(pi, group))).sum())


def expected_cost(pi: FloatArray, work: LabellingCost) -> float:
    """Return the expected cost of judging a sample.

    ``(first - further) groups met + further sum pi``

    Examples
    --------
    >>> expected_cost(np.array([0.5, 0.5, 0.5]), LabellingCost(np.array([0, 0, 1]), 5.0, 1.0))
    6.5
    """
    shared = (work.first - work.further) * groups_met(pi, work.group)
    return float(shared + work.further * pi.sum())


def cost_adjusted_sizes(x: FloatArray, work: LabellingCost, *, size: int) -> FloatArray:
    """Return size measures that answer the same questions from fewer groups.

    The smallest sum of relative variances that a cost can buy has pi_i in proportion to
    ``x_i / sqrt(c_i)``, c_i what one more of i would cost:
    ``further + (first - further) prod_(j in g, j not i) (1 - pi_j)``. As c depends on pi, both are
    found in turn, in geometric means, for one size of the sample.

    Parameters
    ----------
    x : array of float, shape (candidates,)
        Size measures, at least 0.
    work : LabellingCost
        Groups and costs.
    size : int
        Draws of the sample; the result holds for this size only.

    Returns
    -------
    array of float, shape (candidates,)
        At least 0; x itself where all judgements cost the same.

    Raises
    ------
    ValueError
        If costs are not above 0, or further ones cost more than the first.

    References
    ----------
    Cochran, Sampling Techniques (1977), section 5.5, on costs that differ; Gao et al., Efficient
    Knowledge Graph Accuracy Evaluation (2019), on costs that entries share.

    Examples
    --------
    >>> group = np.array([0, 0, 0, 0, 1])
    >>> x = cost_adjusted_sizes(np.ones(5), LabellingCost(group, 5.0, 1.0), size=2)
    >>> bool((x[:4] > x[4]).all())
    True
    """
    if not 0.0 < work.further <= work.first:
        raise ValueError(
            f"costs must satisfy first >= further > 0: first = {work.first:g}, further = "
            f"{work.further:g}"
        )
    sized = x
    pi = inclusion(x, size=size)
    for _ in range(_ROUNDS):
        sized = x / np.sqrt(_marginal_cost(pi, work))
        chances = inclusion(sized, size=size)
        settled = np.sqrt(pi * chances)
        if np.abs(settled - pi).max(initial=0.0) < _CLOSE:
            break
        pi = settled
    return sized


def _log_missed(pi: FloatArray, group: IntArray) -> FloatArray:
    """Return ln P(no member is drawn) of each group."""
    missed = np.log1p(-np.minimum(pi, _MOST_CHANCE))
    return np.bincount(group, weights=missed).astype(np.float64)


def _marginal_cost(pi: FloatArray, work: LabellingCost) -> FloatArray:
    others = _log_missed(pi, work.group)[work.group] - np.log1p(-np.minimum(pi, _MOST_CHANCE))
    return np.asarray(work.further + (work.first - work.further) * np.exp(others))


# Comparison of designs by cost and variance.


def design_costs(
    estimands: Estimands, free: FloatArray, pi: FloatArray, *, size: int, work: LabellingCost | None
) -> pl.DataFrame:
    """Compare a design that uses costs with one that does not, and with a simple sample.

    Parameters
    ----------
    estimands : Estimands
        The questions.
    free : array of float, shape (candidates,)
        Size measures that ignore costs.
    pi : array of float, shape (candidates,)
        Inclusion probabilities of the design; 1 for what is judged, which costs nothing.
    size : int
        Draws of each.
    work : LabellingCost or None
        Groups and costs.

    Returns
    -------
    pl.DataFrame
        Table `DesignCosts`; no rows without costs.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import build_estimands
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([2])
    ... )
    >>> estimands = build_estimands(sets, p=np.full(4, 0.5), judged=np.zeros(4, dtype=bool))
    >>> work = LabellingCost(np.array([0, 0, 1, 1]), 5.0, 1.0)
    >>> pi = np.full(4, 0.5)
    >>> design_costs(estimands, np.ones(4), pi, size=2, work=work).row(0)
    ('priced', 2.0, 1.5, 8.0, 1.0)
    """
    if work is None:
        return pl.DataFrame(schema=DesignCosts.columns())
    simple = inclusion(estimands.unjudged.astype(np.float64), size=size)
    designs = {"priced": pi, "unpriced": inclusion(free, size=size), "simple": simple}
    base = _variances(estimands, simple)
    rows = []
    for name, chances in designs.items():
        own = np.where(estimands.unjudged, chances, 0.0)
        mean = float(
            np.divide(
                _variances(estimands, own), base, where=base > 0, out=np.ones_like(base)
            ).mean()
        )
        row = (name, float(own.sum()), groups_met(own, work.group), expected_cost(own, work), mean)
        rows.append(row)
    return pl.DataFrame(rows, schema=DesignCosts.columns(), orient="row")


def _variances(estimands: Estimands, pi: FloatArray) -> FloatArray:
    """Return the expected variance of each question, without candidates of probability 0."""
    return question_sums(estimands, inverse_odds(pi))


def inverse_odds(pi: FloatArray) -> FloatArray:
    """Return (1 - pi) / pi, 0 where pi is 0.

    Examples
    --------
    >>> inverse_odds(np.array([0.25, 0.0])).tolist()
    [3.0, 0.0]
    """
    return np.divide(1.0 - pi, pi, out=np.zeros_like(pi), where=pi > 0)


# Sequential Poisson sampling with permanent random numbers.

_KEYS = 2.0**63


def permanent_numbers(ids: pl.Series, *, seed: str, judged: Iterable[str] = ()) -> FloatArray:
    """Return the permanent random number of each candidate, uniform in (0, 1).

    They are the numbers of `sampling.without_replacement`, so that with equal size measures the
    sample is the simple one. Once judgements have shaped a design, the numbers of the rest are no
    longer uniform: the rest then gets new ones, which depend on what was judged.

    Parameters
    ----------
    ids : pl.Series
        The candidates.
    seed : str
        Seed of the stage.
    judged : iterable of str
        Ids of what was judged before the design was made, in any order; none of a first sample.

    Returns
    -------
    array of float, shape (candidates,)

    References
    ----------
    Ohlsson, Coordination of Samples Using Permanent Random Numbers (1995).

    Examples
    --------
    >>> ids = pl.Series(["a", "b"])
    >>> first = permanent_numbers(ids, seed="s")
    >>> second = permanent_numbers(ids, seed="s", judged=["c"])
    >>> bool(((first > 0) & (first < 1) & (first != second)).all())
    True
    """
    known = "\x1f".join(sorted(judged))
    salt = f" {hashlib.sha256(known.encode()).hexdigest()}" if known else ""
    key = seeded_key("id", seed=seed, purpose=f"sample{salt}")
    keys = pl.DataFrame({"id": ids}, schema={"id": pl.String}).select(key).to_series()
    return (keys.to_numpy() + 0.5) / _KEYS


def sequential_poisson(chances: FloatArray, numbers: FloatArray, *, size: int) -> IntArray:
    """Take the certain candidates, and of the rest those with the smallest ``u_i / lambda_i``.

    Parameters
    ----------
    chances : array of float, shape (candidates,)
        lambda, as `inclusion` gives it; 0 is never drawn.
    numbers : array of float, shape (candidates,)
        u, uniform in (0, 1).
    size : int
        Number of draws, certain ones included.

    Returns
    -------
    array of int, shape (draws,)
        Places of the candidates: the certain ones, then the others, each by ``u_i / lambda_i``. As
        many as `size`, or as have a chance.

    References
    ----------
    Ohlsson, Sequential Poisson Sampling (1998); Rosen, On Sampling with Probability Proportional
    to Size (1997), on order sampling.

    Examples
    --------
    >>> u = np.array([0.9, 0.2, 0.5, 0.1])
    >>> sequential_poisson(np.array([1.0, 0.2, 0.8, 0.0]), u, size=2).tolist()
    [0, 2]
    """
    possible = np.flatnonzero(chances > 0.0)
    order = np.lexsort((possible, numbers[possible] / chances[possible], chances[possible] < 1.0))
    return np.asarray(possible[order[: max(size, 0)]])


def growing_sample(
    x: FloatArray, numbers: FloatArray, *, sizes: Sequence[int]
) -> tuple[IntArray, FloatArray]:
    """Draw at each size in turn, and keep all draws.

    The order of drawing does not depend on the size, so a larger sample contains the smaller one,
    unless candidates become certain and displace others: those are kept, and the sample exceeds its
    last size by these few.

    Parameters
    ----------
    x : array of float, shape (candidates,)
        Size measures.
    numbers : array of float, shape (candidates,)
        Permanent random numbers.
    sizes : sequence of int
        Ascending.

    Returns
    -------
    places : array of int, shape (draws,)
        Step by step, each in the order of `sequential_poisson`.
    pi : array of float, shape (candidates,)
        The inclusion probabilities at the last size, the largest of all steps.

    Raises
    ------
    ValueError
        If the sizes do not ascend.

    Examples
    --------
    >>> places, pi = growing_sample(np.ones(4), np.array([0.9, 0.2, 0.5, 0.1]), sizes=[1, 3])
    >>> places.tolist(), pi.tolist()
    ([3, 1, 2], [0.75, 0.75, 0.75, 0.75])
    """
    if list(sizes) != sorted(set(sizes)) or not sizes:
        raise ValueError(f"sizes of a growing sample must ascend, not {list(sizes)}")
    chances = [inclusion(x, size=size) for size in sizes]
    steps = [
        sequential_poisson(each, numbers, size=size)
        for each, size in zip(chances, sizes, strict=True)
    ]
    every = np.concatenate(steps)
    first = np.unique(every, return_index=True)[1]
    return every[np.sort(first)], chances[-1]


# Expected half-widths.


def expected_half_widths(estimands: Estimands, pi: FloatArray, *, confidence: float) -> FloatArray:
    """Return ``z sqrt(sum_i a_qi^2 v_qi (1 - pi_i) / pi_i)`` for each question.

    The expectation of Rosen's variance under the design and v, with a normal quantile; too small
    where few draws fall into a set.

    Parameters
    ----------
    estimands : Estimands
        The questions.
    pi : array of float, shape (candidates,)
        Inclusion probabilities.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    array of float, shape (questions,)
        At least 0, and 0 where all is certain; inf where a candidate that counts has no chance.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Rosen, Asymptotic Theory for Order Sampling (1997), on the variance.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import build_estimands
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([2])
    ... )
    >>> estimands = build_estimands(sets, p=np.full(4, 0.5), judged=np.zeros(4, dtype=bool))
    >>> pi = np.array([1.0, 1.0, 0.5, 0.5])
    >>> expected_half_widths(estimands, pi, confidence=0.95).round(4).tolist()
    [0.0, 0.3465]
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be in (0, 1), not {confidence}")
    variance = _variances(estimands, pi)
    unanswered = question_sums(estimands, (pi == 0).astype(float)) > 0
    z = float(scipy.special.ndtri(0.5 + confidence / 2.0))
    return np.where(unanswered, np.inf, z * np.sqrt(variance))


def simple_half_widths(
    whole: FloatArray, *, candidates: int, size: int, confidence: float
) -> FloatArray:
    """Return the same for a simple random sample of this size.

    Parameters
    ----------
    whole : array of float, shape (questions,)
        V_q, the sum of a^2 v.
    candidates : int
        Size of the population.
    size : int
        Draws; all candidates, if there are fewer.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    array of float, shape (questions,)
        ``z sqrt(V_q (1 - f) / f)``, f = size / candidates; inf without a draw.

    Examples
    --------
    >>> simple_half_widths(np.array([0.0025]), candidates=100, size=20, confidence=0.95).round(3)
    array([0.196])
    """
    if size < 1:
        return np.where(whole > 0, np.inf, 0.0)
    share = min(1.0, size / candidates) if candidates else 1.0
    z = float(scipy.special.ndtri(0.5 + confidence / 2.0))
    return np.asarray(z * np.sqrt(whole * (1.0 - share) / share))


_WORSE = 1e-3


@dataclass(frozen=True)
class Design:
    """A sample, the chances of all candidates, and the expected answers.

    Parameters
    ----------
    sample : pl.DataFrame
        Table `DesignedSample`.
    inclusion : pl.DataFrame
        Table `Inclusion`.
    questions : pl.DataFrame
        Table `Questions`.
    costs : pl.DataFrame
        Table `DesignCosts`; no rows without costs.
    """

    sample: pl.DataFrame
    inclusion: pl.DataFrame
    questions: pl.DataFrame
    costs: pl.DataFrame


def design_sample(
    estimands: Estimands,
    questions: pl.DataFrame,
    *,
    sizes: Sequence[int],
    floor: float,
    baseline_width: float,
    confidence: float,
    seed: str,
    work: LabellingCost | None = None,
) -> Design:
    """Design a sample for questions, and draw it.

    Parameters
    ----------
    estimands : Estimands
        The questions over the candidates.
    questions : pl.DataFrame
        The same with names and weights, as `declared_questions` lists them.
    sizes : sequence of int
        Draws beyond what is judged; for a sample that has grown, all its sizes.
    floor : float
        Least chance of every candidate, as a share of that in a simple sample.
    baseline_width : float
        How much wider than from a simple sample the interval of the baseline may be, from 1; so
        of every question about all candidates. With 1 the sample is a simple one.
    confidence : float
        Confidence level of the expected intervals.
    seed : str
        Fixes the draw.
    work : LabellingCost, optional
        Cost of judgements that share work within a group; the sample then uses fewer groups, and
        has only one size.

    Returns
    -------
    Design
        Sample in the order of drawing; chances by id; questions by name.

    Raises
    ------
    ValueError
        If `baseline_width` is below 1, a sample with costs has several sizes, or the parts of the
        design refuse their input.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import build_estimands
    >>> from pipeline.kernels.survey.design import declared_questions
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> ids, ranks = pl.Series(list("abcd")), {"mi": np.arange(1, 5)}
    >>> listed = declared_questions(
    ...     measures=["mi"], pairs=[], at=[2], candidates=4, weights={"baseline": 0.0}
    ... )
    >>> sets = question_sets(ids, ranks, pairs=[], n=np.array([2]))
    >>> estimands = build_estimands(sets, p=np.full(4, 0.5), judged=np.zeros(4, dtype=bool))
    >>> design = design_sample(
    ...     estimands, listed, sizes=[1], floor=0.0, baseline_width=1.25, confidence=0.95, seed="s"
    ... )
    >>> design.inclusion["pi"].to_list(), design.sample.height
    ([0.5, 0.5, 0.0, 0.0], 1)
    """
    if work is not None and len(sizes) > 1:
        raise ValueError("a design with costs must have a single size: omit earlier sizes")
    free, used, whole = sizes_of_questions(
        estimands, questions["weight"].to_numpy(), floor=floor, baseline_width=baseline_width
    )
    x = _adjust_for_cost(free, work, sizes[-1])
    pi, sample = _sample(estimands, x, sizes, seed)
    unfloored = size_measure(estimands, weights=used, whole=whole, floor=0.0)
    bare = inclusion(_adjust_for_cost(unfloored, work, sizes[-1]), size=sizes[-1])
    simple = simple_half_widths(
        whole, candidates=int(estimands.unjudged.sum()), size=sizes[-1], confidence=confidence
    )
    table = questions.with_columns(
        weight_used=used, expected_draws=_expected_draws(estimands, pi),
        half_width=expected_half_widths(estimands, pi, confidence=confidence),
        simple_half_width=simple,
        unfloored_half_width=expected_half_widths(estimands, bare, confidence=confidence),
    )  # fmt: skip
    costs = design_costs(estimands, free, pi, size=sizes[-1], work=work)
    return Design(sample, _chances(estimands, x, pi), _mark_worse(table), costs)


def _adjust_for_cost(x: FloatArray, work: LabellingCost | None, size: int) -> FloatArray:
    return x if work is None else cost_adjusted_sizes(x, work, size=size)


def sizes_of_questions(
    estimands: Estimands, weights: FloatArray, *, floor: float, baseline_width: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the size measure of a design for these questions.

    Parameters
    ----------
    estimands : Estimands
        The questions over the candidates.
    weights : array of float, shape (questions,)
        As declared; 0 for what is not asked.
    floor, baseline_width
        As for `design_sample`.

    Returns
    -------
    x : array of float, shape (candidates,)
        The size measure.
    used : array of float, shape (questions,)
        The weights, raised until no question does worse than in a simple sample.
    whole : array of float, shape (questions,)
        V_q, the sum of a^2 v.

    Raises
    ------
    ValueError
        If `baseline_width` is below 1.

    Examples
    --------
    >>> from pipeline.kernels.survey.allocation import build_estimands
    >>> from pipeline.kernels.survey.allocation import question_sets
    >>> ids, ranks = pl.Series(list("abcd")), {"mi": np.arange(1, 5)}
    >>> means = build_estimands(
    ...     question_sets(ids, ranks, pairs=[], n=np.array([2])), p=np.full(4, 0.5),
    ...     judged=np.zeros(4, dtype=bool),
    ... )
    >>> x, _, _ = sizes_of_questions(means, np.array([1.0, 0.0]), floor=0.0, baseline_width=1.25)
    >>> (x / x.max()).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    if not baseline_width >= 1.0:
        raise ValueError(f"baseline_width must be at least 1, not {baseline_width}")
    whole = question_sums(estimands, np.ones(len(estimands.sets.ids)))
    limits = np.where(_about_all(estimands), baseline_width**2, 1.0)
    used = raise_weights(Goals(estimands, weights, limits, whole, floor))
    return size_measure(estimands, weights=used, whole=whole, floor=floor), used, whole


def _about_all(estimands: Estimands) -> BoolArray:
    """Tell which questions are about all candidates: the last, and lists of that size."""
    every, mask = len(estimands.sets.ids), np.ones(estimands.count, dtype=np.bool_)
    sizes = np.tile(estimands.sets.n, len(estimands.sets.sides))
    mask[estimands.question[:-1]] = sizes >= every
    return mask


def _sample(
    estimands: Estimands, x: FloatArray, sizes: Sequence[int], seed: str
) -> tuple[FloatArray, pl.DataFrame]:
    """Draw from the unjudged candidates; judged ones come first, with a chance of 1."""
    ids, judged = estimands.sets.ids, ~estimands.unjudged
    numbers = permanent_numbers(ids, seed=seed, judged=ids.filter(pl.Series(judged)))
    drawn, pi = growing_sample(x, numbers, sizes=sizes)
    pi = np.where(judged, 1.0, pi)
    places = np.concatenate([np.flatnonzero(judged), drawn])
    chances, schema = pi[places], DesignedSample.columns()
    columns = {
        "id": ids.gather(places), "multiplicity": np.ones(len(places), dtype=np.int64),
        "position": np.arange(1, len(places) + 1), "pi": chances,
        "stratum": [WHOLE] * len(places), "certain": chances == 1.0,
        "order_key": numbers[places] / chances,
    }  # fmt: skip
    return pi, pl.DataFrame(columns, schema_overrides=schema).select(*schema)


def _chances(estimands: Estimands, x: FloatArray, pi: FloatArray) -> pl.DataFrame:
    certain: BoolArray = pi == 1.0
    table = pl.DataFrame(
        {"id": estimands.sets.ids, "pi": pi, "certain": certain, "size_measure": x}
    )
    return table.with_columns(stratum=pl.lit(WHOLE)).select(*Inclusion.columns())


def _expected_draws(estimands: Estimands, pi: FloatArray) -> FloatArray:
    """Return the expected draws among the unjudged members of each question."""
    sums = set_sums(estimands.sets, [np.where(estimands.unjudged, pi, 0.0)])[0]
    return np.bincount(estimands.question, weights=sums, minlength=estimands.count).astype(
        np.float64
    )


def _mark_worse(table: pl.DataFrame) -> pl.DataFrame:
    """Keep the declared questions, and name those that do worse than in a simple sample."""
    wider = pl.col("half_width") > pl.col("simple_half_width") * (1.0 + _WORSE)
    marked = table.filter(pl.col("weight") > 0).with_columns(worse=wider)
    return marked.select(*Questions.columns()).sort("question")


# Questions: precisions, differences and the baseline.

KINDS = ("precision", "difference", "baseline")
"""The kinds: precision of a list, difference of two, precision of all candidates."""

_SCHEMA = {
    "question": pl.String(), "kind": pl.String(), "measure": pl.String(), "measure_2": pl.String(),
    "n": pl.Int64(), "weight": pl.Float64(),
}  # fmt: skip


def declared_questions(
    *,
    measures: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
    candidates: int,
    weights: Mapping[str, float],
) -> pl.DataFrame:
    """List the questions: each measure at each size, each pair at each size, the baseline.

    Parameters
    ----------
    measures : sequence of str
        The measures whose precision is estimated.
    pairs : sequence of (str, str)
        The measures whose precisions are compared.
    at : sequence of int
        List sizes.
    candidates : int
        Number of candidates: the n of the baseline.
    weights : mapping of str to float
        Weight of a question, or of all of a kind, 1 by default; the name of a question goes before
        its kind. A weight of 0 drops it.

    Returns
    -------
    pl.DataFrame
        question (its name), kind, measure, measure_2, n, weight; precisions measure by measure,
        differences pair by pair, then the baseline.

    Raises
    ------
    ValueError
        If a weight matches no question or kind, is negative or infinite, or if nothing is asked.

    Examples
    --------
    >>> questions = declared_questions(
    ...     measures=["mi", "dice"], pairs=[("mi", "dice")], at=[10], candidates=99,
    ...     weights={"difference": 2.0, "baseline": 0.0},
    ... )
    >>> questions.select("question", "weight").rows()
    [('mi at 10', 1.0), ('dice at 10', 1.0), ('mi - dice at 10', 2.0), ('baseline', 0.0)]
    """
    rows = [
        *((f"{m} at {n}", "precision", m, None, n) for m, n in itertools.product(measures, at)),
        *(
            (f"{one} - {two} at {n}", "difference", one, two, n)
            for (one, two), n in itertools.product(pairs, at)
        ),
        ("baseline", "baseline", None, None, candidates),
    ]
    _check_weights(weights, [row[0] for row in rows])
    weighted = [(*row, float(weights.get(row[0], weights.get(row[1], 1.0)))) for row in rows]
    if not any(row[-1] for row in weighted):
        raise ValueError("all questions have weight 0")
    return pl.DataFrame(weighted, schema=_SCHEMA, orient="row")


def _check_weights(weights: Mapping[str, float], names: Sequence[str]) -> None:
    known = [*KINDS, *names]
    unknown = [name for name in weights if name not in known]
    if unknown:
        near = difflib.get_close_matches(unknown[0], known, n=1) or ["precision"]
        raise ValueError(
            f"no question or kind for {count_text(len(unknown), 'weight')}, for example "
            f"{', '.join(map(repr, unknown[:3]))}; did you mean {near[0]!r}?"
        )
    wrong = [f"{name} = {weight}" for name, weight in weights.items() if not 0 <= weight < 1e12]
    if wrong:
        raise ValueError(f"weights must be >= 0, not {', '.join(wrong[:3])}")
