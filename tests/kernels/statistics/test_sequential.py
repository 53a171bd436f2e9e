""""""

from __future__ import annotations

from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest
import scipy
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from pipeline.kernels.statistics import sequential
from pipeline.kernels.statistics.finite_population import hypergeometric
from pipeline.kernels.statistics.sequential import (
    SPENDING,
    anytime_difference,
    anytime_margin_p_values,
    anytime_p_values,
    confidence_sequence,
    increment_levels,
    obrien_fleming,
    pocock,
    repeated_p_values,
    spent_levels,
)

FOUR = [0.25, 0.5, 0.75, 1.0]


def bounds(levels: np.ndarray) -> np.ndarray:
    return -ndtri(levels / 2.0)


def slow_bounds(shares: list[float], V: list[float], alpha: float, spending: str) -> list[float]:
    """Follow the density of Z on an even grid, with Simpson's rule, for one question."""
    aims, critical, used = SPENDING[spending](shares, alpha), [], 0.0
    z, mass, before = np.zeros(1), np.ones(1), 0.0
    for variance, aim in zip(V, aims, strict=True):
        rho, sd = np.sqrt(before * variance), np.sqrt(1.0 - before * variance)

        def crossing_probability(c: float) -> float:
            far = ndtr((rho * z - c) / sd) + ndtr((-c - rho * z) / sd)  # noqa: B023
            return float((mass * far).sum())  # noqa: B023

        c = brentq(lambda c: crossing_probability(c) - (aim - used), 0.0, 39.0, xtol=1e-14)  # noqa: B023
        points = np.linspace(-min(c, 9.0), min(c, 9.0), 801)
        simpson = np.full(801, 2.0)
        simpson[1::2], simpson[0], simpson[-1] = 4.0, 1.0, 1.0
        density = norm.pdf(points[:, None], rho * z, sd) @ mass
        z, mass, before = points, density * simpson * (points[1] - points[0]) / 3.0, 1.0 / variance
        critical.append(float(c))
        used = float(aim)
    return critical


@pytest.mark.parametrize(("spending", "published"), [
    # four equal looks at two-sided 5 %, from tables and programs of group-sequential trials
    ("obrien_fleming", [4.333, 2.963, 2.359, 2.014]),
    ("pocock", [2.368, 2.368, 2.358, 2.350]),
])  # fmt: skip
def test_four_looks_have_their_published_bounds(spending: str, published: list[float]) -> None:
    levels = spent_levels(FOUR, 1 / np.array(FOUR), alpha=0.05, spending=spending)
    assert bounds(levels).round(3).tolist() == published


def test_spending_functions_have_these_values() -> None:
    for spend in SPENDING.values():
        assert spend([0.0, 1.0], 0.05) == pytest.approx([0.0, 0.05])
        assert np.all(np.diff(spend(np.linspace(0.0, 1.0, 50), 0.1)) >= 0)
    # z of .0125 over the root of 1/4, both sides
    assert float(obrien_fleming(0.25, 0.05)) == pytest.approx(4 * norm.sf(2.241402727604947 * 2))
    assert float(pocock(0.5, 0.05)) == pytest.approx(0.05 * np.log(1 + (np.e - 1) / 2))


@pytest.mark.parametrize("ratio", [0.9, 0.5, 0.1])
def test_bounds_of_two_looks_agree_with_an_integral(ratio: float) -> None:
    shares, aims = [0.4, 1.0], pocock([0.4, 1.0], 0.05)
    first, second = bounds(spent_levels(shares, [1.0, ratio], alpha=0.05, spending="pocock"))
    assert first == pytest.approx(norm.isf(aims[0] / 2), abs=1e-10)
    rho = np.sqrt(ratio)

    def density(z: float) -> float:
        beyond = norm.sf((second - rho * z) / np.sqrt(1 - ratio))
        return float(norm.pdf(z) * 2 * beyond)

    crossed = quad(density, -first, first, epsabs=1e-13, points=[0.0], limit=200)[0]
    assert crossed == pytest.approx(aims[1] - aims[0], abs=2e-10)


@pytest.mark.long
@given(
    st.lists(st.floats(0.3, 0.97), min_size=1, max_size=4),
    st.sampled_from(sorted(SPENDING)), st.sampled_from([0.01, 0.05, 0.2]),
)  # fmt: skip
def test_bounds_agree_with_a_fine_grid(ratios: list[float], spending: str, alpha: float) -> None:
    V = np.cumprod([1.0, *ratios]).tolist()
    shares = np.linspace(0.0, 1.0, len(V) + 1)[1:].tolist()
    computed = bounds(spent_levels(shares, V, alpha=alpha, spending=spending))
    assert computed == pytest.approx(slow_bounds(shares, V, alpha, spending), abs=1e-8)


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6), st.sampled_from(sorted(SPENDING)))
def test_levels_obey_the_laws(ratios: list[float], spending: str) -> None:
    V = np.cumprod(ratios)
    shares = np.linspace(0.0, 1.0, len(V) + 1)[1:]
    levels = spent_levels(shares, V, alpha=0.05, spending=spending)
    aims = SPENDING[spending](shares, 0.05)
    assert np.all(levels <= 0.05 * (1 + 1e-9))
    assert np.all(levels <= aims * (1 + 1e-9))  # no look uses more than is spent in total
    assert levels[0] == pytest.approx(aims[0], rel=1e-9)
    assert levels.sum() >= (1 - 1e-9) * aims[-1] or np.any(np.diff(V) > -2e-3 * V[:-1])


@pytest.mark.long
def test_questions_do_not_influence_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    V = np.random.default_rng(3).uniform(0.2, 1.0, (7, 4)).cumprod(axis=1)
    together = spent_levels(FOUR, V, alpha=0.05)
    assert np.allclose(together, [spent_levels(FOUR, row, alpha=0.05) for row in V], atol=1e-11)
    assert np.allclose(together, spent_levels(FOUR, 17.0 * V, alpha=0.05), atol=1e-10)
    monkeypatch.setattr(sequential, "_CELLS", 1)
    assert np.allclose(together, spent_levels(FOUR, V[::-1], alpha=0.05)[::-1], atol=1e-11)


def test_an_exact_look_is_not_in_the_plan() -> None:
    plan = spent_levels([0.5, 1.0], [2.0, 1.0], alpha=0.05)
    levels = spent_levels([0.1, 0.2, 0.6, 1.0], [[2.0, 1.0, 0.0, 0.0]], alpha=0.05)
    assert levels[0, :2] == pytest.approx(plan, rel=1e-12)
    assert np.isnan(levels[0, 2:]).all()
    assert np.isnan(spent_levels([0.5, 1.0], [0.0, 0.0], alpha=0.05)).all()


def test_an_uninformative_look_spends_no_alpha() -> None:
    levels = spent_levels([0.2, 0.6, 1.0], [np.inf, 2.0, 1.0], alpha=0.05)
    assert np.isnan(levels[0])
    assert levels[1] == pytest.approx(float(obrien_fleming(0.6, 0.05)))
    late = spent_levels([0.5, 1.0], [np.nan, 1.0], alpha=0.05)
    assert late[1] == pytest.approx(0.05, rel=1e-12)


def test_looks_without_new_information_spend_no_alpha() -> None:
    levels = spent_levels([0.25, 0.5, 1.0], [2.0, 2.0, 1.0], alpha=0.05)
    assert levels[0] == levels[1]
    assert levels[[0, 2]] == pytest.approx(spent_levels([0.25, 1.0], [2.0, 1.0], alpha=0.05))
    # hardly any: the bound of Bonferroni's inequality
    aims = obrien_fleming([0.25, 0.5], 0.05)
    hardly = spent_levels([0.25, 0.5, 1.0], [2.0, 2.0 * 0.9995, 1.0], alpha=0.05)
    assert hardly[1] == pytest.approx(aims[1] - aims[0])


def test_many_looks_keep_the_level_together() -> None:
    shares = np.arange(1, 29) / 28
    levels = spent_levels(shares, 1 / shares, alpha=0.05, spending="pocock")
    walk = np.random.default_rng(5).normal(size=(20_000, 28)).cumsum(axis=1)
    crossed = (np.abs(walk / np.sqrt(np.arange(1, 29))) >= bounds(levels)).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 20_000))


@pytest.mark.parametrize("spending", sorted(SPENDING))
def test_exact_limits_at_all_looks_keep_their_level(spending: str) -> None:
    """With whole numbers the plan is an approximation, on the safe side: 150 of 500, four looks."""
    size, true, draws = 500, 150, np.array([50, 100, 150, 200])
    levels = spent_levels(draws / 200, (1 - draws / size) / draws, alpha=0.05, spending=spending)
    bits = np.random.default_rng(2)
    order = bits.random((4000, size)).argsort(axis=1)[:, :200]
    k = (order < true).cumsum(axis=1)[:, draws - 1]
    missed = np.zeros((2, 4000), dtype=bool)
    for look, n in enumerate(draws):
        for place, alpha in enumerate((0.05, levels[look])):
            lower, upper = hypergeometric(k[:, look], n, population=size, confidence=1 - alpha)
            missed[place] |= (lower * size > true + 0.5) | (upper * size < true - 0.5)
    assert missed[0].mean() > 0.08  # 95 % at each look
    assert missed[1].mean() < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 4000)


def test_one_look_spends_all_alpha() -> None:
    assert spent_levels([1.0], [3.0], alpha=0.05) == pytest.approx([0.05], rel=1e-12)
    assert spent_levels([0.5, 1.0], np.empty((0, 2)), alpha=0.05).shape == (0, 2)


@pytest.mark.parametrize(("shares", "V", "options", "words"), [
    ([0.5, 0.4], [2, 1], {"alpha": 0.05}, r"shares of labels must increase .*\[0.5, 0.4\]"),
    ([0.5, 1.1], [2, 1], {"alpha": 0.05}, "shares of labels"),
    ([0.5, 1.0], [2, 1, 1], {"alpha": 0.05}, r"2 looks, variances of shape \(3,\)"),
    ([0.5, 1.0], [1, 2], {"alpha": 0.05}, "1 violate this, for example look 2: 2"),
    ([0.5, 1.0], [1, -2], {"alpha": 0.05}, "look 2: -2"),
    ([0.5, 1.0], [2, 1], {"alpha": 1.0}, "alpha must be in"),
    ([0.5, 1.0], [2, 1], {"alpha": 0.1, "spending": "bocock"}, "valid: obrien_fleming, pocock"),
])  # fmt: skip
def test_wrong_plans_are_refused(
    shares: list[float], V: list[float], options: dict[str, float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        spent_levels(shares, V, **options)  # type: ignore[arg-type]


# Differences at any time: the test inverts the interval, and both hold at all times.


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int, int]:
    size = draw(st.integers(1, 60))
    n = draw(st.integers(1, size))
    return draw(st.integers(0, n)), n, size


@given(one=counts(), two=counts())
def test_the_p_value_is_the_smallest_alpha_at_which_limits_exclude_0(
    one: tuple[int, int, int], two: tuple[int, int, int]
) -> None:
    (k1, n1, size1), (k2, n2, size2) = one, two
    sizes = size1, size2
    p = float(anytime_p_values(k1, n1, k2, n2, populations=sizes))
    for alpha, expected in ((p * 0.999, False), (p * 1.001, True)):
        if 1e-12 < alpha < 1:
            lower, upper = anytime_difference(
                k1, n1, k2, n2, populations=sizes, confidence=1 - alpha
            )
            assert (lower > 1e-12 or upper < -1e-12) == expected
    assert p == float(anytime_p_values(k2, n2, k1, n1, populations=(size2, size1)))


def plausibilities(k: int, n: int, size: int) -> dict[int, float]:
    """Return P(X_T = k) (n + 1) of every T that is possible."""
    possible = range(k, size - n + k + 1)
    law = scipy.stats.hypergeom
    return {T: float(law.pmf(k, size, T, n)) * (n + 1) for T in possible}


@pytest.mark.long
@given(st.data(), st.integers(1, 30), st.integers(0, 30), st.sampled_from([0.0, 0.05, 0.3]))
def test_margin_p_values_agree_with_all_plausible_pairs(
    data: st.DataObject, size: int, more: int, margin: float
) -> None:
    n1, n2 = (data.draw(st.integers(1, size)) for _ in range(2))
    k1, k2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    p = anytime_margin_p_values(
        [k1], [n1], [k2], [n2], size=[size], list_size=[size + more], margin=margin
    )
    first, second = plausibilities(k1, n1, size), plausibilities(k2, n2, size)
    most = margin * (size + more) + 1e-9
    # limits at alpha keep each T of a set whose plausibility is above alpha / 2
    above = max(
        (min(first[T], second[U]) for T in first for U in second if most >= T - U), default=0.0
    )
    below = max(
        (min(first[T], second[U]) for T in first for U in second if most >= U - T), default=0.0
    )
    assert p[0] == pytest.approx(min(1.0, 2.0 * min(above, below)), rel=1e-6, abs=1e-15)


@pytest.mark.long
@given(one=counts(), more=st.integers(0, 40), k=st.data())
def test_a_margin_of_0_gives_the_test_of_a_difference(
    one: tuple[int, int, int], more: int, k: st.DataObject
) -> None:
    k1, n1, size = one
    n2 = k.draw(st.integers(1, size))
    k2 = k.draw(st.integers(0, n2))
    p = anytime_margin_p_values(
        [k1], [n1], [k2], [n2], size=[size], list_size=[size + more], margin=0.0
    )
    plain = float(anytime_p_values(k1, n1, k2, n2, populations=(size, size)))
    assert p[0] == pytest.approx(max(plain, 1e-16), rel=1e-6, abs=1e-15)


@pytest.mark.parametrize(("margin", "p"), [(0.05, 1.0), (0.0499, 16 / 17), (0.29, 1.0)])
def test_a_difference_of_exactly_the_margin_is_not_beyond_it(margin: float, p: float) -> None:
    p_values = anytime_margin_p_values([0], [7], [1], [1], size=[17], list_size=[20], margin=margin)
    assert p_values[0] == pytest.approx(p, rel=1e-9)


def test_lists_with_equal_candidates_exceed_no_margin() -> None:
    p = anytime_margin_p_values([0], [0], [0], [0], size=[0], list_size=[50], margin=0.0)
    assert p.tolist() == [1.0]


def test_fully_judged_sets_have_smaller_p_values() -> None:
    p_values = anytime_p_values([9, 9], [40, 40], [8, 9], [40, 40], populations=(40, 40))
    assert p_values[0] < 0.1 * anytime_p_values(9, 39, 8, 39, populations=(41, 41))
    assert p_values[1] == 1.0
    lower, upper = anytime_difference(9, 40, 8, 40, populations=(40, 40))
    assert lower == upper == pytest.approx(1 / 40)


def test_sets_without_draws_have_no_p_value() -> None:
    p_values = anytime_p_values([0, 0], [0, 3], [1, 0], [4, 0], populations=([9, 9], [9, 0]))
    assert np.isnan(p_values).all()
    lower, upper = anytime_difference(0, 0, 0, 0, populations=(5, 5))
    assert (lower, upper) == (-1, 1)


@pytest.mark.long
def test_equal_sets_differ_at_any_time_with_probability_alpha_at_most() -> None:
    random = np.random.default_rng(8)
    labels = np.arange(120) < 36
    ever = np.zeros(400, dtype=bool)
    for run in range(400):
        sets = [np.cumsum(random.permutation(labels)) for _ in range(2)]
        n = np.arange(1, 120)
        p = anytime_p_values(sets[0][n - 1], n, sets[1][n - 1], n, populations=(120, 120))
        ever[run] = (p < 0.05).any()
    assert ever.mean() <= 0.05


Row = tuple[int, int, int]


@st.composite
def rows(draw: st.DrawFn, largest: int = 80) -> Row:
    population = draw(st.integers(1, largest))
    n = draw(st.integers(0, population))
    return draw(st.integers(0, n)), n, population


def rising(a: Fraction, m: int) -> Fraction:
    """Return a (a + 1) .. (a + m - 1)."""
    return prod((a + each for each in range(m)), start=Fraction(1))


def beta_binomial(x: int, n: int, a: Fraction, b: Fraction) -> Fraction:
    return comb(n, x) * rising(a, x) * rising(b, n - x) / rising(a + b, n)


def slow_limits(row: Row, confidence: float, a: float, b: float) -> tuple[float, float]:
    """Try every T by the ratio of prior to posterior, in exact fractions."""
    k, n, size = row
    one, other, alpha = Fraction(a), Fraction(b), 1 - Fraction(str(confidence))
    totals = [
        T for T in range(k, size - n + k + 1)
        if beta_binomial(T, size, one, other) * alpha
        < beta_binomial(T - k, size - n, one + k, other + n - k)
    ]  # fmt: skip
    assert totals == list(range(totals[0], totals[-1] + 1))
    return totals[0] / size, totals[-1] / size


@pytest.mark.parametrize(("row", "limits"), [
    ((2, 10, 100), (2, 62)), ((15, 50, 500), (70, 253)),
    ((24, 100, 1000), (128, 385)), ((60, 200, 2000), (412, 816)),
])  # fmt: skip
def test_confidence_sequences_have_their_known_limits(row: Row, limits: tuple[int, int]) -> None:
    k, n, size = row
    lower, upper = confidence_sequence(k, n, population=size)
    assert (float(lower) * size, float(upper) * size) == pytest.approx(limits)


@given(rows(), st.sampled_from([0.5, 0.9, 0.95]), st.sampled_from([(1, 1), (0.5, 0.5), (3, 7)]))
@example((1, 15, 24), 0.5, (3, 7))  # the ratio is exactly 1/alpha at T = 5
def test_confidence_sequences_agree_with_the_ratio_for_all_totals(
    row: Row, confidence: float, prior: tuple[float, float]
) -> None:
    k, n, size = row
    interval = confidence_sequence(k, n, population=size, confidence=confidence, prior=prior)
    assert tuple(map(float, interval)) == slow_limits(row, confidence, *prior)


@pytest.mark.parametrize("T", [0, 1, 4, 13, 20, 39, 40])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_confidence_sequences_keep_their_level_at_any_time(T: int, confidence: float) -> None:
    """Exactly, by following all samples without a miss from one draw to the next."""
    size = 40
    never = np.array([1.0])  # by successes so far
    for n in range(1, size + 1):
        k = np.arange(n)
        hit = np.clip((T - k) / (size - n + 1), 0.0, 1.0)
        after = np.append(never * (1 - hit), 0.0) + np.append(0.0, never * hit)
        lower, upper = confidence_sequence(
            np.arange(n + 1), n, population=size, confidence=confidence
        )
        covers = (np.rint(lower * size) <= T) & (np.rint(upper * size) >= T)
        never = after * covers
    assert never.sum() >= confidence


@given(rows(largest=3000))
def test_confidence_sequences_obey_the_laws(row: Row) -> None:
    k, n, size = row
    lower, upper = confidence_sequence([k, n - k], n, population=size)
    assert round(lower[0] * size) == size - round(upper[1] * size)
    assert 0 <= lower[0] <= upper[0] <= 1
    if n:
        assert lower[0] - 1 / size < k / n < upper[0] + 1 / size
    one_look = hypergeometric(k, n, population=size)
    assert upper[0] - lower[0] >= one_look[1] - one_look[0] - 1e-12


def test_confidence_sequences_are_moderately_wider_than_one_look() -> None:
    k, n, size = np.array([[2, 15, 24, 60], [10, 50, 100, 200], [100, 500, 1000, 2000]])
    wide, one = confidence_sequence(k, n, population=size), hypergeometric(k, n, population=size)
    times = (wide[1] - wide[0]) / (one[1] - one[0])
    assert 1.15 < times.min() < times.max() < 1.65


def test_degenerate_samples_have_exact_or_trivial_sequences() -> None:
    lower, upper = confidence_sequence([0, 3, 0], [0, 7, 0], population=[9, 7, 0])
    assert (lower.tolist(), upper.tolist()) == ([0, 3 / 7, 0], [1, 3 / 7, 1])
    assert confidence_sequence([], [], population=[])[0].shape == (0,)
    assert confidence_sequence([[1], [2]], [3, 4], population=9)[1].shape == (2, 2)


def test_confidence_sequences_in_huge_populations_are_binomial() -> None:
    lower, upper = confidence_sequence(12, 50, population=10**9)
    # P(X_T = 12) is binomial then: alpha / 51 where the limit is
    for p in (float(lower), float(upper)):
        assert comb(50, 12) * p**12 * (1 - p) ** 38 == pytest.approx(0.05 / 51, rel=1e-5)


def test_wrong_arguments_of_confidence_sequences_are_refused() -> None:
    with pytest.raises(ValueError, match="for example n = 5 of 4"):
        confidence_sequence([1, 1], [2, 5], population=4)
    with pytest.raises(ValueError, match="confidence"):
        confidence_sequence(1, 2, population=9, confidence=1.0)
    with pytest.raises(ValueError, match="must be positive"):
        confidence_sequence(1, 2, population=9, prior=(0.0, 1.0))


# P-values that allow for all planned looks, against the levels that they invert.

PLANS = [[0.05, 0.1, 0.15, 0.2], [0.1, 0.5, 0.9], [0.02, 0.04, 0.3, 0.31], [0.4]]
ALPHAS = [0.9, 0.5, 0.3, 0.1, 0.05, 0.01, 1e-3, 1e-6]


@pytest.mark.parametrize("spending", sorted(SPENDING))
@pytest.mark.parametrize("rates", PLANS)
def test_repeated_p_values_invert_the_levels(rates: list[float], spending: str) -> None:
    f = np.array(rates)
    for look in range(len(f)):
        p = [
            spent_levels(f / f[-1], (1 - f) / f, alpha=alpha, spending=spending)[look]
            for alpha in ALPHAS
        ]
        p_values = repeated_p_values(p, f / f[-1], (1 - f) / f, look=look, spending=spending)
        assert ndtri(p_values / 2) == pytest.approx(ndtri(np.array(ALPHAS) / 2), abs=1e-3)


def test_each_test_has_its_own_plan() -> None:
    plans = np.array([[4.0, 2.0], [4.0, 1.0], [4.0, 2.0]])
    p_values = repeated_p_values([0.04, 0.04, 0.01], [0.5, 1.0], plans, look=1)
    alone = [
        repeated_p_values([p], [0.5, 1.0], plan, look=1)[0]
        for p, plan in zip([0.04, 0.04, 0.01], plans, strict=True)
    ]
    assert p_values.tolist() == pytest.approx(alone)
    assert len(set(p_values)) == 3


def test_exact_and_empty_looks_need_no_plan() -> None:
    plans = np.array([[2.0, 0.0], [np.inf, 1.0]])
    assert repeated_p_values([0.3, 0.04], [0.5, 1], plans, look=1)[0] == 0.3
    assert repeated_p_values([0.3, 0.04], [0.5, 1], plans, look=0)[1] == 1.0


def test_repeated_p_values_are_bounded_at_the_extremes() -> None:
    plan = [0.5, 1.0], [2.0, 1.0]
    p_values = repeated_p_values([0.0, 1.0, np.nan, 1e-300], *plan, look=0)
    assert p_values[0] == pytest.approx(2.4e-16, rel=0.1)
    assert p_values[1] == 1.0
    assert np.isnan(p_values[2])
    assert repeated_p_values([], *plan, look=0).shape == (0,)
    p = np.linspace(0, 1, 300)
    for look in (0, 1):
        values = repeated_p_values(p, *plan, look=look)
        assert (np.diff(values) >= 0).all()
        assert (values >= p).all()


@pytest.mark.parametrize("spending", sorted(SPENDING))
def test_levels_apart_add_up_to_alpha_and_are_the_lowest(spending: str) -> None:
    shares = [0.1, 0.4, 0.7, 1.0]
    apart = increment_levels(shares, alpha=0.05, spending=spending)
    assert apart.sum() == pytest.approx(0.05)
    levels = spent_levels(shares, [9, 2, 1.5, 0.9], alpha=0.05, spending=spending)
    assert (apart <= levels + 1e-9).all()


def test_less_correlated_looks_have_lower_levels() -> None:
    """This is why variances may be rounded down, and may include 1 - f."""
    random = np.random.default_rng(2)
    for spending in SPENDING:
        for _ in range(20):
            steps = random.uniform(0.2, 0.95, 3)
            V = np.cumprod([1.0, *steps])
            less = np.cumprod([1.0, *(steps * random.uniform(0.8, 1.0, 3))])
            shares = [*np.sort(random.uniform(0.1, 0.95, 3)).tolist(), 1.0]
            known, lower = (
                spent_levels(shares, each, alpha=0.05, spending=spending) for each in (V, less)
            )
            assert (lower <= known + 1e-9).all()
