"""A designed sample, from the questions to the draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.design.cost_table import design_costs
from pipeline.kernels.design.costs import Work, priced
from pipeline.kernels.design.drawing import growing, permanent_numbers
from pipeline.kernels.design.estimands import Estimands, question_sums
from pipeline.kernels.design.half_widths import expected_half_widths, simple_half_widths
from pipeline.kernels.design.inclusion import inclusion
from pipeline.kernels.design.sets import set_sums
from pipeline.kernels.design.size_measure import size_measure
from pipeline.kernels.design.weights import Goals, raised_weights
from pipeline.kernels.sampling import WHOLE
from schemas import DesignedSample, Inclusion, Questions

_WORSE = 1e-3


@dataclass(frozen=True)
class Design:
    """A sample, the chances of all candidates, and what is expected of it.

    Parameters
    ----------
    sample : pl.DataFrame
        Table `DesignedSample`.
    inclusion : pl.DataFrame
        Table `Inclusion`.
    questions : pl.DataFrame
        Table `Questions`.
    costs : pl.DataFrame
        Table `DesignCosts`; without rows where no costs were given.
    """

    sample: pl.DataFrame
    inclusion: pl.DataFrame
    questions: pl.DataFrame
    costs: pl.DataFrame


def designed(
    asked: Estimands,
    questions: pl.DataFrame,
    *,
    sizes: Sequence[int],
    floor: float,
    baseline_width: float,
    confidence: float,
    seed: str,
    work: Work | None = None,
) -> Design:
    """Design a sample for some questions, and draw it.

    Parameters
    ----------
    asked : Estimands
        The questions over the candidates.
    questions : pl.DataFrame
        The same with names and weights, as `declared_questions` lists them.
    sizes : sequence of int
        How many to draw beyond what is judged; of a sample that has grown all its sizes.
    floor : float
        Share of a simple sample's chance that every candidate has.
    baseline_width : float
        How much wider than from a simple sample the interval of the baseline may be, from 1; so
        of every question about all candidates. With 1 the sample is a simple one.
    confidence : float
        Confidence level of the expected intervals.
    seed : str
        Fixes the draw.
    work : Work, optional
        What judgements take, where those of a group share work; the sample then goes to fewer
        groups. It has one size, without earlier ones.

    Returns
    -------
    Design
        Sample in the order of drawing; chances by id; questions by name.

    Raises
    ------
    ValueError
        If the baseline may be at most narrower, a sample with costs has grown, or what the parts
        of the design refuse.

    Examples
    --------
    >>> from pipeline.kernels.design.estimands import estimands
    >>> from pipeline.kernels.design.questions import declared_questions
    >>> from pipeline.kernels.design.sets import question_sets
    >>> ids, ranks = pl.Series(list("abcd")), {"mi": np.arange(1, 5)}
    >>> listed = declared_questions(
    ...     measures=["mi"], pairs=[], at=[2], candidates=4, weights={"baseline": 0.0}
    ... )
    >>> sets = question_sets(ids, ranks, pairs=[], n=np.array([2]))
    >>> asked = estimands(sets, p=np.full(4, 0.5), judged=np.zeros(4, dtype=bool))
    >>> made = designed(
    ...     asked, listed, sizes=[1], floor=0.0, baseline_width=1.25, confidence=0.95, seed="s"
    ... )
    >>> made.inclusion["pi"].to_list(), made.sample.height
    ([0.5, 0.5, 0.0, 0.0], 1)
    """
    if work is not None and len(sizes) > 1:
        raise ValueError("with costs a design is for one size: leave out the earlier ones")
    free, used, whole = sizes_of_questions(
        asked, questions["weight"].to_numpy(), floor=floor, baseline_width=baseline_width
    )
    x = _priced(free, work, sizes[-1])
    pi, sample = _sample(asked, x, sizes, seed)
    unfloored = size_measure(asked, weights=used, whole=whole, floor=0.0)
    bare = inclusion(_priced(unfloored, work, sizes[-1]), size=sizes[-1])
    simple = simple_half_widths(
        whole, candidates=int(asked.unjudged.sum()), size=sizes[-1], confidence=confidence
    )
    table = questions.with_columns(
        weight_used=used,
        expected_draws=_expected_draws(asked, pi),
        half_width=expected_half_widths(asked, pi, confidence=confidence),
        simple_half_width=simple,
        unfloored_half_width=expected_half_widths(asked, bare, confidence=confidence),
    )
    costs = design_costs(asked, free, pi, size=sizes[-1], work=work)
    return Design(sample, _chances(asked, x, pi), _judged_by_width(table), costs)


def _priced(x: FloatArray, work: Work | None, size: int) -> FloatArray:
    return x if work is None else priced(x, work, size=size)


def sizes_of_questions(
    asked: Estimands, weights: FloatArray, *, floor: float, baseline_width: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the size measure that a design for these questions has.

    Parameters
    ----------
    asked : Estimands
        The questions over the candidates.
    weights : array of float, shape (questions,)
        As declared; 0 for what is not asked.
    floor, baseline_width
        As for `designed`.

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
        If the baseline may be at most narrower.

    Examples
    --------
    >>> from pipeline.kernels.design.estimands import estimands
    >>> from pipeline.kernels.design.sets import question_sets
    >>> ids, ranks = pl.Series(list("abcd")), {"mi": np.arange(1, 5)}
    >>> asked = estimands(
    ...     question_sets(ids, ranks, pairs=[], n=np.array([2])), p=np.full(4, 0.5),
    ...     judged=np.zeros(4, dtype=bool),
    ... )
    >>> x, _, _ = sizes_of_questions(asked, np.array([1.0, 0.0]), floor=0.0, baseline_width=1.25)
    >>> (x / x.max()).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    if not baseline_width >= 1.0:
        raise ValueError(f"no design serves the baseline better: {baseline_width} is less than 1")
    whole = question_sums(asked, np.ones(len(asked.sets.ids)))
    limits = np.where(_about_all(asked), baseline_width**2, 1.0)
    used = raised_weights(Goals(asked, weights, limits, whole, floor))
    return size_measure(asked, weights=used, whole=whole, floor=floor), used, whole


def _about_all(asked: Estimands) -> BoolArray:
    """Tell which questions are about all candidates: the last, and lists of so many."""
    every, found = len(asked.sets.ids), np.ones(asked.count, dtype=np.bool_)
    sizes = np.tile(asked.sets.n, len(asked.sets.sides))
    found[asked.question[:-1]] = sizes >= every
    return found


def _sample(
    asked: Estimands, x: FloatArray, sizes: Sequence[int], seed: str
) -> tuple[FloatArray, pl.DataFrame]:
    """Draw from what is not judged; what is, comes first, with a chance of 1."""
    ids, judged = asked.sets.ids, ~asked.unjudged
    numbers = permanent_numbers(ids, seed=seed, judged=ids.filter(pl.Series(judged)))
    drawn, pi = growing(x, numbers, sizes=sizes)
    pi = np.where(judged, 1.0, pi)
    places = np.concatenate([np.flatnonzero(judged), drawn])
    return pi, _rows(ids, places, pi, numbers)


def _rows(ids: pl.Series, places: IntArray, pi: FloatArray, numbers: FloatArray) -> pl.DataFrame:
    chances = pi[places]
    return pl.DataFrame(
        {
            "id": ids.gather(places),
            "multiplicity": np.ones(len(places), dtype=np.int64),
            "position": np.arange(1, len(places) + 1),
            "pi": chances,
            "stratum": [WHOLE] * len(places),
            "certain": chances == 1.0,
            "order_key": numbers[places] / chances,
        },
        schema_overrides=DesignedSample.columns(),
    ).select(*DesignedSample.columns())


def _chances(asked: Estimands, x: FloatArray, pi: FloatArray) -> pl.DataFrame:
    certain: BoolArray = pi == 1.0
    table = pl.DataFrame({"id": asked.sets.ids, "pi": pi, "certain": certain, "size_measure": x})
    return table.with_columns(stratum=pl.lit(WHOLE)).select(*Inclusion.columns())


def _expected_draws(asked: Estimands, pi: FloatArray) -> FloatArray:
    """Return how many draws are expected among the unjudged members of each question."""
    sums = set_sums(asked.sets, [np.where(asked.unjudged, pi, 0.0)])[0]
    return np.bincount(asked.question, weights=sums, minlength=asked.count).astype(np.float64)


def _judged_by_width(table: pl.DataFrame) -> pl.DataFrame:
    """Keep what is asked, and say which does worse than in a simple sample."""
    wider = pl.col("half_width") > pl.col("simple_half_width") * (1.0 + _WORSE)
    marked = table.filter(pl.col("weight") > 0).with_columns(worse=wider)
    return marked.select(*Questions.columns()).sort("question")
