"""Sums over questions and over candidates, against a matrix of all of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.survey.allocation import (
    TOLERANCE,
    Estimands,
    Goals,
    build_estimands,
    candidate_sums,
    question_sums,
    raise_weights,
    set_loads,
    set_sums,
    size_measure,
    squares_of_all,
)
from pipeline.kernels.survey.design import declared_questions
from tests.kernels.survey.slow import coefficients, sets_of, squares

PAIRS = [("x", "y"), ("z", "x")]


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, list[int]], list[int], list[float], list[bool]]:
    count = draw(st.integers(1, 9))
    ranks = {m: draw(st.permutations(range(1, count + 1))) for m in "xyz"}
    n = sorted(draw(st.sets(st.integers(1, count), max_size=4)))
    p = draw(st.lists(st.floats(0, 1), min_size=count, max_size=count))
    judged = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return ranks, n, p, judged


@given(cases(), st.booleans(), st.booleans(), st.integers(0, 2**32))
def test_sums_over_questions_agree_with_the_matrix(
    case: tuple[dict[str, list[int]], list[int], list[float], list[bool]],
    assisted: bool,
    constant: bool,
    seed: int,
) -> None:
    ranks, n, p, judged = case
    p = [p[0]] * len(p) if constant else p
    estimands = build_estimands(
        sets_of(ranks, PAIRS, n), p=np.array(p), judged=np.array(judged), assisted=assisted
    )
    rows = coefficients(ranks, PAIRS, n)
    matrix = squares(rows, p, judged, assisted=assisted)
    assert matrix.shape == (estimands.count, len(p))
    random = np.random.default_rng(seed)
    g, w = random.random(len(p)), random.random(estimands.count)
    np.testing.assert_allclose(question_sums(estimands, g), matrix @ g, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(candidate_sums(estimands, w), w @ matrix, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(squares_of_all(estimands), matrix[-1], rtol=1e-9, atol=1e-14)


@given(cases(), st.integers(0, 2**32))
def test_loads_are_the_transpose_of_sums(
    case: tuple[dict[str, list[int]], list[int], list[float], list[bool]], seed: int
) -> None:
    sets = sets_of(case[0], PAIRS, case[1])
    random = np.random.default_rng(seed)
    x, load = random.random(len(sets.ids)), random.random(sets.count)
    assert set_sums(sets, [x])[0] @ load == pytest.approx(set_loads(sets, [load])[0] @ x)


def test_lists_with_equal_members_have_no_difference() -> None:
    sets = sets_of({"x": [1, 2, 3, 4], "y": [2, 1, 4, 3]}, [("x", "y")], [1, 2, 4])
    estimands = build_estimands(
        sets, p=np.array([0.1, 0.2, 0.3, 0.7]), judged=np.zeros(4, dtype=bool)
    )
    differences = question_sums(estimands, np.full(4, 1 / 3))[6:9]
    assert differences[1:].tolist() == [0.0, 0.0]
    assert differences[0] > 0


def test_ranks_beyond_a_pool_are_in_no_list() -> None:
    sets = sets_of({"x": [1, 2, 3, 3], "y": [3, 3, 1, 2]}, [("x", "y")], [2])
    assert set_sums(sets, [np.ones(4)]).tolist() == [[2.0, 2.0, 2.0, 2.0, 4.0]]


def test_predictions_that_are_no_probabilities_are_refused() -> None:
    sets = sets_of({"x": [1, 2, 3]}, [], [1])
    with pytest.raises(
        ValueError, match=r"2 predictions outside .* example c001 \(1.5\), c002 \(n"
    ):
        build_estimands(sets, p=np.array([0.5, 1.5, np.nan]), judged=np.zeros(3, dtype=bool))


def test_questions_have_names_and_weights() -> None:
    questions = declared_questions(
        measures=["x"], pairs=[("x", "y")], at=[5, 9], candidates=20,
        weights={"precision": 3, "x at 9": 0.5},
    )  # fmt: skip
    assert questions.select("question", "n", "weight").rows() == [
        ("x at 5", 5, 3.0),
        ("x at 9", 9, 0.5),
        ("x - y at 5", 5, 1.0),
        ("x - y at 9", 9, 1.0),
        ("baseline", 20, 1.0),
    ]
    assert questions.schema["measure_2"] == pl.String


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            {"x at 7": 1.0},
            "no question or kind for 1 weight, for example 'x at 7'; did you me",
        ),
        ({"precison": 1.0}, "did you mean 'precision'"),
        ({"baseline": -1.0}, "weights must be >= 0, not baseline = -1.0"),
        ({"baseline": float("nan")}, "weights must be >= 0, not baseline = nan"),
        ({"baseline": 0.0, "precision": 0.0}, "all questions have weight 0"),
    ],
)
def test_wrong_weights_are_refused(weights: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        declared_questions(measures=["x"], pairs=[], at=[5], candidates=20, weights=weights)


# Raised weights: the conditions of the optimum, and comparisons with other sizes.

COUNT = 200
BITS = np.random.default_rng(7)
RANKS = {m: (BITS.permutation(COUNT) + 1).tolist() for m in "xy"}
PAIRS_WEIGHTS, SIZES = [("x", "y")], [10, 40, 100]


def goals(limit: float, *, floor: float = 0.0, p: FloatArray | None = None) -> Goals:
    """Return questions about two unlike lists at three sizes, and about all candidates."""
    probabilities = np.full(COUNT, 0.3) if p is None else p
    estimands = build_estimands(
        sets_of(RANKS, PAIRS_WEIGHTS, SIZES), p=probabilities, judged=np.zeros(COUNT, dtype=bool)
    )
    limits = np.ones(estimands.count)
    limits[-1] = limit
    whole = question_sums(estimands, np.ones(COUNT))
    return Goals(estimands, np.ones(estimands.count), limits, whole, floor)


def relative(target: Goals, weights: FloatArray) -> FloatArray:
    """Return each variance in units of the simple sample's, from the matrix of the slow twin."""
    p = np.full(COUNT, 0.3).tolist()
    rows = coefficients(RANKS, PAIRS_WEIGHTS, SIZES)
    matrix = squares(rows, p, [False] * COUNT, assisted=False)
    x = size_measure(target.estimands, weights=weights, whole=target.whole, floor=target.floor)
    return np.asarray((matrix / x).sum(axis=1) * x.mean() / matrix.sum(axis=1))


@pytest.mark.parametrize("limit", [1.02, 1.05, 1.1, 1.2])
@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_weights_are_raised_until_variances_meet_their_limits(limit: float, floor: float) -> None:
    target = goals(limit, floor=floor)
    used = raise_weights(target)
    excess = relative(target, used) / target.limits - 1
    assert excess.max() <= 1.01 * TOLERANCE
    assert (used >= target.weights).all()
    np.testing.assert_allclose(excess[used > 1.01], 0, atol=5 * TOLERANCE)
    assert (used > 1).any()


def test_weights_stay_if_no_variance_exceeds_its_limit() -> None:
    assert raise_weights(goals(50.0)).tolist() == [1.0] * 10


def test_a_limit_of_1_on_all_candidates_gives_a_simple_sample() -> None:
    """By Cauchy and Schwarz: mean(x) mean(1/x) is 1 for a constant x alone."""
    target = goals(1.0)
    used = raise_weights(target)
    x = size_measure(target.estimands, weights=used, whole=target.whole, floor=0.0)
    assert x.std() / x.mean() < 0.05


@given(st.integers(0, 2**32))
def test_sizes_minimise_the_sum_of_variances(seed: int) -> None:
    target = goals(50.0)
    p = np.full(COUNT, 0.3).tolist()
    matrix = squares(coefficients(RANKS, PAIRS_WEIGHTS, SIZES), p, [False] * COUNT, assisted=False)
    share = (matrix / matrix.sum(axis=1, keepdims=True)).sum(axis=0)
    x = size_measure(target.estimands, weights=target.weights, whole=target.whole, floor=0.0)
    np.testing.assert_allclose(x, np.sqrt(share), rtol=1e-9)
    other = x * np.exp(0.3 * np.random.default_rng(seed).standard_normal(COUNT))
    best, other_sum = ((share / each).sum() * each.sum() for each in (x, other))
    assert best <= other_sum * (1 + 1e-12)


def test_weights_of_unasked_and_known_questions_stay() -> None:
    target = goals(1.3)
    weights = target.weights.copy()
    weights[0] = 0.0
    assert (
        raise_weights(Goals(target.estimands, weights, target.limits, target.whole, 0.0))[0] == 0.0
    )
    judged = np.array([rank <= 10 for rank in RANKS["x"]])
    estimands: Estimands = build_estimands(
        sets_of(RANKS, PAIRS_WEIGHTS, SIZES), p=np.full(COUNT, 0.3), judged=judged
    )
    whole = question_sums(estimands, np.ones(COUNT))
    assert whole[0] == 0.0
    assert raise_weights(Goals(estimands, target.weights, target.limits, whole, 0.0))[0] == 1.0


def test_predictions_change_the_sizes() -> None:
    """With predictions, x_i is sqrt(v_i) times its value for a constant p."""
    p = np.random.default_rng(1).uniform(0.02, 0.98, COUNT)
    zeros = np.zeros(COUNT, dtype=bool)
    sets = sets_of(RANKS, [], [COUNT])
    estimands = build_estimands(sets, p=p, judged=zeros, assisted=True)
    whole = question_sums(estimands, np.ones(COUNT))
    x = size_measure(estimands, weights=np.ones(estimands.count), whole=whole, floor=0.0)
    ratio = x / np.sqrt(p * (1 - p))
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
