""""""

from __future__ import annotations

from math import hypot
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import binom, hypergeom

from pipeline.kernels.statistics.differences import (
    beyond_margin,
    difference_limits,
    equivalence_p_values,
    equivalent,
    margin_p_values,
    mover,
    smallest_alpha,
)
from pipeline.kernels.statistics.finite_population import hypergeometric
from pipeline.kernels.statistics.intervals import clopper_pearson, wilson

METHODS = ("hypergeometric", "clopper_pearson", "wilson", "jeffreys")
Counts = tuple[int, int, int, int, int, int]


@st.composite
def tables(draw: st.DrawFn) -> Counts:
    size = draw(st.integers(1, 40))
    n1, n2 = draw(st.integers(0, size)), draw(st.integers(0, size))
    k1, k2 = draw(st.integers(0, n1)), draw(st.integers(0, n2))
    return k1, n1, k2, n2, size, size + draw(st.integers(0, 40))


def limits_difference_tests(
    table: Counts, confidence: float, method: str
) -> tuple[np.ndarray, np.ndarray]:
    *counts, size, whole = table
    return difference_limits(
        *counts, size=size, list_size=whole, method=method, confidence=confidence
    )


@pytest.mark.long
@given(st.lists(tables(), min_size=1, max_size=4), st.sampled_from(METHODS),
       st.sampled_from([0.0, 0.05, 0.3]))  # fmt: skip
def test_p_values_are_the_levels_at_which_limits_decide(
    some: list[Counts], method: str, margin: float
) -> None:
    """The limits of each row decide just above its p-value, and not just below it."""
    *counts, size, whole = np.array(some).T
    sets: dict[str, Any] = {"size": size, "list_size": whole, "method": method}
    beyond = margin_p_values(*counts, **sets, margin=margin)
    alike = equivalence_p_values(*counts, **sets, bound=0.2)
    for table, p, q in zip(some, beyond, alike, strict=True):
        if 1e-9 < p < 0.999:
            above, below = (
                limits_difference_tests(table, 1 - p * each, method) for each in (1.0001, 0.9999)
            )
            assert beyond_margin(*above, margin=margin)
            assert not beyond_margin(*below, margin=margin)
        if 1e-9 < q < 0.499:
            above, below = (
                limits_difference_tests(table, 1 - 2 * q * each, method)
                for each in (1.0001, 0.9999)
            )
            assert equivalent(*above, margin=0.2)
            assert not equivalent(*below, margin=0.2)


@pytest.mark.long
@given(tables(), st.sampled_from(METHODS))
def test_p_values_obey_the_laws(table: Counts, method: str) -> None:
    k1, n1, k2, n2, size, whole = table
    sets: dict[str, Any] = {"size": size, "list_size": whole, "method": method}
    straight, turned = (
        [
            float(margin_p_values(*counts, **sets, margin=0.1)[0]),
            float(equivalence_p_values(*counts, **sets, bound=0.1)[0]),
        ]
        for counts in ((k1, n1, k2, n2), (k2, n2, k1, n1))
    )
    assert straight == pytest.approx(turned, rel=1e-6)
    assert max(straight) == 1.0 or sum(straight) > 0.0
    larger = margin_p_values(k1, n1, k2, n2, **sets, margin=0.2)[0]
    assert larger >= straight[0] - 1e-12


def test_equal_complete_and_unjudged_sets_have_these_p_values() -> None:
    # the same lists; both judged as a whole, 4 true positives of 8 more; nothing judged
    counts = [0, 6, 0], [0, 8, 0], [0, 2, 0], [0, 8, 0]
    sets: dict[str, Any] = {"size": [0, 8, 8], "list_size": 16}
    assert margin_p_values(*counts, **sets, margin=0.2).tolist() == pytest.approx([1, 1e-16, 1])
    assert margin_p_values(*counts, **sets, margin=0.25).tolist() == [1.0, 1.0, 1.0]
    assert equivalence_p_values(*counts, **sets, bound=0.3).tolist() == pytest.approx(
        [1e-16, 1e-16, 1.0]
    )


def test_empty_columns_have_no_p_values_and_wrong_options_are_refused() -> None:
    assert margin_p_values([], [], [], [], size=[], list_size=[], margin=0.0).tolist() == []
    with pytest.raises(ValueError, match="relevance margin"):
        margin_p_values(1, 2, 1, 2, size=3, list_size=3, margin=-1.0)


def test_the_shortest_interval_is_tested_by_a_monotone_one() -> None:
    counts = (9, 20, 3, 20)
    sets: dict[str, Any] = {"size": 30, "list_size": 60}
    short, usual = (
        margin_p_values(*counts, **sets, margin=0.0, method=method).item()
        for method in ("hypergeometric_shortest", "hypergeometric")
    )
    assert short == usual


def every(n1: int, n2: int) -> tuple[np.ndarray, np.ndarray]:
    k1, k2 = np.meshgrid(range(n1 + 1), range(n2 + 1), indexing="ij")
    return k1.ravel(), k2.ravel()


DESIGNS = [(5, 5), (10, 10), (20, 6), (20, 20)]


@pytest.mark.long
@pytest.mark.parametrize(("n1", "n2"), DESIGNS)
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_the_size_of_tests_for_these_candidates_is_exact(n1: int, n2: int, margin: float) -> None:
    """Exact size over all true positives of D1 and D2 that differ by the margin."""
    size = 40
    k1, k2 = every(n1, n2)
    sets: dict[str, Any] = {"size": size, "list_size": 2 * size}
    beyond = margin_p_values(k1, n1, k2, n2, **sets, margin=margin) <= 0.05
    step = round(2 * size * margin)
    K = np.arange(size - step + 1)
    assert rejection_probability(beyond, (n1, n2), size, K + step, K).max() <= 0.055
    if margin:
        alike = equivalence_p_values(k1, n1, k2, n2, **sets, bound=margin) <= 0.05
        assert rejection_probability(alike, (n1, n2), size, K + step, K).max() <= 0.055


def rejection_probability(
    is_rejected: np.ndarray, draws: tuple[int, int], size: int, K1: np.ndarray, K2: np.ndarray
) -> np.ndarray:
    """Return the probability of each pair of numbers of true positives that a test decides."""
    chances = [
        hypergeom.pmf(np.arange(n + 1), size, K[:, None], n)
        for n, K in zip(draws, (K1, K2), strict=True)
    ]
    return np.asarray(
        np.einsum(
            "Ki,ij,Kj->K", chances[0], is_rejected.reshape(*(n + 1 for n in draws)), chances[1]
        )
    )


@pytest.mark.parametrize(("n1", "n2"), DESIGNS)
def test_the_size_of_tests_for_candidates_to_come_is_exact(n1: int, n2: int) -> None:
    k1, k2 = every(n1, n2)
    sets: dict[str, Any] = {"size": 1000, "list_size": 2000, "method": "clopper_pearson"}
    beyond = margin_p_values(k1, n1, k2, n2, **sets, margin=0.0) <= 0.05
    p = np.linspace(0.01, 0.99, 99)[:, None]
    one, two = (binom.pmf(np.arange(n + 1), n, p) for n in (n1, n2))
    probabilities = np.einsum("Ki,ij,Kj->K", one, beyond.reshape(n1 + 1, n2 + 1), two)
    assert probabilities.max() <= 0.055


SHARE = st.floats(0, 1)


def limits(*columns: object, **options: object) -> tuple[list[float], list[float]]:
    interval = difference_limits(*columns, **options)  # type: ignore[arg-type]
    return interval[0].round(9).tolist(), interval[1].round(9).tolist()


@pytest.mark.parametrize(("table", "expected"), [
    # Newcombe 1998, table II, method 10 (hybrid score)
    ((56, 70, 48, 80), (0.0524, 0.3339)), ((9, 10, 3, 10), (0.1705, 0.8090)),
    ((10, 10, 0, 20), (0.6791, 1.0)), ((6, 7, 2, 7), (0.0582, 0.8062)),
    ((5, 56, 0, 29), (-0.0381, 0.1926)), ((0, 10, 0, 10), (-0.2775, 0.2775)),
])  # fmt: skip
def test_mover_has_the_published_limits(
    table: tuple[int, int, int, int], expected: tuple[float, float]
) -> None:
    a, m, b, n = table
    interval = mover((a / m, *wilson(a, m)), (b / n, *wilson(b, n)))
    assert tuple(map(float, interval)) == pytest.approx(expected, abs=5e-5)


@given(*[st.tuples(SHARE, SHARE, SHARE)] * 2)
def test_mover_obeys_the_laws(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    (l1, e1, u1), (l2, e2, u2) = sorted(first), sorted(second)
    lower, upper = map(float, mover((e1, l1, u1), (e2, l2, u2)))
    assert l1 - u2 - 1e-12 <= lower <= e1 - e2 <= upper <= u1 - l2 + 1e-12
    mirrored = tuple(map(float, mover((e2, l2, u2), (e1, l1, u1))))
    assert mirrored == pytest.approx((-upper, -lower))
    assert lower == pytest.approx(e1 - e2 - hypot(e1 - l1, u2 - e2))


def test_a_known_part_shifts_the_limits_of_the_other() -> None:
    lower, upper = mover((0.5, 0.3, 0.8), (0.2, 0.2, 0.2))
    assert (float(lower), float(upper)) == pytest.approx((0.1, 0.6))


def test_unknown_parts_have_worst_case_limits() -> None:
    lower, upper = mover(
        ([np.nan, 0.5, np.nan], 0.0, [1, 0.8, 1]), ([0.2, np.nan, np.nan], 0.1, 0.4)
    )
    assert lower == pytest.approx([-0.4, -0.4, -0.4])
    assert upper == pytest.approx([0.9, 0.7, 0.9])


@pytest.mark.parametrize(("size", "n1", "n2", "least"), [
    (20, 5, 5, 0.93), (30, 3, 3, 0.94), (40, 10, 10, 0.93), (60, 30, 30, 0.96), (60, 6, 30, 0.96),
    (50, 45, 45, 0.97), (50, 48, 20, 0.96), (50, 50, 20, 0.97),
])  # fmt: skip
def test_limits_cover_all_numbers_of_true_positives(
    size: int, n1: int, n2: int, least: float
) -> None:
    k1, k2 = (part.ravel() for part in np.meshgrid(range(n1 + 1), range(n2 + 1), indexing="ij"))
    lower, upper = difference_limits(k1, n1, k2, n2, size=size, list_size=size)
    one, two = (
        np.asarray(hypergeom.pmf(np.arange(n + 1), size, np.arange(size + 1)[:, None], n))
        for n in (n1, n2)
    )
    coverage = np.empty((size + 1, size + 1))
    for true in range(-size, size + 1):
        covered = ((lower * size < true + 0.5) & (upper * size > true - 0.5)).reshape(
            n1 + 1, n2 + 1
        )
        K = np.arange(max(0, true), min(size, size + true) + 1)
        coverage[K, K - true] = np.einsum("Ki,ij,Kj->K", one[K], covered, two[K - true])
    assert coverage.min() >= least
    assert coverage.mean() >= 0.97
    assert np.diagonal(coverage).min() >= 0.95


def test_limits_in_steps_agree_with_those_by_hand() -> None:
    # 12 of 20 and 5 of 20, of 40 each
    parts = hypergeometric([12, 5], [20, 20], population=[40, 40])
    (l1, l2), (u1, u2) = ((limit * 40).tolist() for limit in parts)
    down, up = hypot(24 - l1 + 1, u2 - 10 + 1), hypot(u1 - 24 + 1, 10 - l2 + 1)
    expected = np.ceil(14 - down) / 100, np.floor(14 + up) / 100
    interval = difference_limits(12, 20, 5, 20, size=40, list_size=100)
    assert tuple(map(float, interval)) == pytest.approx(expected)


def test_limits_for_candidates_to_come_combine_those_of_the_parts() -> None:
    interval = difference_limits(12, 20, 5, 20, size=40, list_size=100, method="clopper_pearson")
    parts = [(k / 20, *clopper_pearson(k, 20)) for k in (12, 5)]
    assert [0.4 * float(limit) for limit in mover(*parts)] == pytest.approx(
        list(map(float, interval))
    )


def test_degenerate_sets_have_exact_or_trivial_limits() -> None:
    # the same lists; both judged as a whole; no draw in D1, and none at all
    interval = limits([0, 5, 0, 0], [0, 9, 0, 0], [0, 2, 3, 0], [0, 9, 9, 0],
                      size=[0, 9, 9, 9], list_size=18)  # fmt: skip
    assert interval[0] == pytest.approx([0.0, 3 / 18, -3 / 18, -0.5])
    assert interval[1] == pytest.approx([0.0, 3 / 18, 6 / 18, 0.5])
    assert limits([], [], [], [], size=[], list_size=[]) == ([], [])


@given(st.integers(1, 60), st.data())
def test_limits_obey_the_laws(size: int, data: st.DataObject) -> None:
    n1, n2 = data.draw(st.integers(0, size)), data.draw(st.integers(0, size))
    k1, k2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    lower, upper = difference_limits(k1, n1, k2, n2, size=size, list_size=2 * size)
    assert -0.5 <= lower <= upper <= 0.5
    mirrored = difference_limits(k2, n2, k1, n1, size=size, list_size=2 * size)
    assert (-mirrored[1], -mirrored[0]) == pytest.approx((lower, upper))


def test_limits_decide_about_margins() -> None:
    lower, upper = [0.02, 0.01, -0.3, -0.005, np.nan], [0.2, 0.2, -0.02, 0.005, np.nan]
    assert beyond_margin(lower, upper, margin=0.01).tolist() == [True, False, True, False, False]
    assert equivalent(lower, upper, margin=0.01).tolist() == [False, False, False, True, False]
    assert not equivalent(0.0, 0.0, margin=0.0)


@pytest.mark.parametrize("true", [0.1, -0.1])
def test_decisions_at_the_margin_keep_their_level(true: float) -> None:
    """Normal estimates whose true difference is the margin: 5 % at most decide for either."""
    estimates = np.random.default_rng(8).normal(true, 0.02, 40_000)
    z95, z90 = -ndtri(0.025) * 0.02, -ndtri(0.05) * 0.02
    relevant = beyond_margin(estimates - z95, estimates + z95, margin=0.1).mean()
    small = equivalent(estimates - z90, estimates + z90, margin=0.1).mean()
    assert relevant == pytest.approx(0.025, abs=0.004)
    assert small == pytest.approx(0.05, abs=0.005)


def test_the_smallest_alpha_is_the_p_value_of_limits() -> None:
    z = np.array([0.5, 1.96, -4.0])

    def excludes(alpha: np.ndarray) -> np.ndarray:
        far = -ndtri(alpha / 2)
        return beyond_margin(z - far, z + far, margin=0.0)

    assert smallest_alpha(excludes, 3) == pytest.approx(2 * ndtr(-np.abs(z)), rel=1e-10)
    nothing = smallest_alpha(lambda alpha: alpha > 1, 2)
    assert nothing.tolist() == [1.0, 1.0]


def test_wrong_counts_and_margins_are_refused() -> None:
    with pytest.raises(ValueError, match=r"1 are, for example 12 of 10"):
        difference_limits([1, 1], 2, 1, 2, size=[5, 12], list_size=10)
    with pytest.raises(ValueError, match="more draws than population"):
        difference_limits(1, 6, 1, 2, size=5, list_size=10)
    for decide in (beyond_margin, equivalent):
        with pytest.raises(ValueError, match="relevance margin"):
            decide(0.0, 0.1, margin=-0.1)
