from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from pipeline.kernels.statistics import sequential
from pipeline.kernels.statistics.finite_population import hypergeometric
from pipeline.kernels.statistics.sequential import SPENDING, obrien_fleming, pocock, spent_levels

FOUR = [0.25, 0.5, 0.75, 1.0]


def bounds(levels: np.ndarray) -> np.ndarray:
    return -ndtri(levels / 2.0)


def slow_bounds(shares: list[float], V: list[float], alpha: float, spending: str) -> list[float]:
    """Follow the density of Z on an even grid, with Simpson's rule: one question, no tricks."""
    aims, found, spent = SPENDING[spending](shares, alpha), [], 0.0
    z, mass, before = np.zeros(1), np.ones(1), 0.0
    for variance, aim in zip(V, aims, strict=True):
        rho, sd = np.sqrt(before * variance), np.sqrt(1.0 - before * variance)

        def crossed(c: float) -> float:
            far = ndtr((rho * z - c) / sd) + ndtr((-c - rho * z) / sd)  # noqa: B023
            return float((mass * far).sum())  # noqa: B023

        c = brentq(lambda c: crossed(c) - (aim - spent), 0.0, 39.0, xtol=1e-14)  # noqa: B023
        points = np.linspace(-min(c, 9.0), min(c, 9.0), 801)
        simpson = np.full(801, 2.0)
        simpson[1::2], simpson[0], simpson[-1] = 4.0, 1.0, 1.0
        density = norm.pdf(points[:, None], rho * z, sd) @ mass
        z, mass, before = points, density * simpson * (points[1] - points[0]) / 3.0, 1.0 / variance
        found.append(float(c))
        spent = float(aim)
    return found


@pytest.mark.parametrize(("spending", "published"), [
    # four equal looks at two-sided 5 %, as tables and programs of group-sequential trials have them
    ("obrien_fleming", [4.333, 2.963, 2.359, 2.014]),
    ("pocock", [2.368, 2.368, 2.358, 2.350]),
])  # fmt: skip
def test_published_bounds(spending: str, published: list[float]) -> None:
    levels = spent_levels(FOUR, 1 / np.array(FOUR), alpha=0.05, spending=spending)
    assert bounds(levels).round(3).tolist() == published


def test_spending_functions() -> None:
    for spend in SPENDING.values():
        assert spend([0.0, 1.0], 0.05) == pytest.approx([0.0, 0.05])
        assert np.all(np.diff(spend(np.linspace(0.0, 1.0, 50), 0.1)) >= 0)
    # z of .0125 over the root of 1/4, both sides
    assert float(obrien_fleming(0.25, 0.05)) == pytest.approx(4 * norm.sf(2.241402727604947 * 2))
    assert float(pocock(0.5, 0.05)) == pytest.approx(0.05 * np.log(1 + (np.e - 1) / 2))


@pytest.mark.parametrize("ratio", [0.9, 0.5, 0.1])
def test_two_looks_by_an_integral(ratio: float) -> None:
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
def test_agrees_with_a_fine_grid(ratios: list[float], spending: str, alpha: float) -> None:
    V = np.cumprod([1.0, *ratios]).tolist()
    shares = np.linspace(0.0, 1.0, len(V) + 1)[1:].tolist()
    found = bounds(spent_levels(shares, V, alpha=alpha, spending=spending))
    assert found == pytest.approx(slow_bounds(shares, V, alpha, spending), abs=1e-8)


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6), st.sampled_from(sorted(SPENDING)))
def test_laws(ratios: list[float], spending: str) -> None:
    V = np.cumprod(ratios)
    shares = np.linspace(0.0, 1.0, len(V) + 1)[1:]
    levels = spent_levels(shares, V, alpha=0.05, spending=spending)
    aims = SPENDING[spending](shares, 0.05)
    assert np.all(levels <= 0.05 * (1 + 1e-9))
    assert np.all(levels <= aims * (1 + 1e-9))  # no look takes more than was ever spent
    assert levels[0] == pytest.approx(aims[0], rel=1e-9)
    assert levels.sum() >= (1 - 1e-9) * aims[-1] or np.any(np.diff(V) > -2e-3 * V[:-1])


@pytest.mark.long
def test_questions_do_not_know_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    V = np.random.default_rng(3).uniform(0.2, 1.0, (7, 4)).cumprod(axis=1)
    together = spent_levels(FOUR, V, alpha=0.05)
    assert np.allclose(together, [spent_levels(FOUR, row, alpha=0.05) for row in V], atol=1e-11)
    assert np.allclose(together, spent_levels(FOUR, 17.0 * V, alpha=0.05), atol=1e-10)
    monkeypatch.setattr(sequential, "_CELLS", 1)
    assert np.allclose(together, spent_levels(FOUR, V[::-1], alpha=0.05)[::-1], atol=1e-11)


def test_an_exact_look_is_outside_the_plan() -> None:
    plan = spent_levels([0.5, 1.0], [2.0, 1.0], alpha=0.05)
    found = spent_levels([0.1, 0.2, 0.6, 1.0], [[2.0, 1.0, 0.0, 0.0]], alpha=0.05)
    assert found[0, :2] == pytest.approx(plan, rel=1e-12)
    assert np.isnan(found[0, 2:]).all()
    assert np.isnan(spent_levels([0.5, 1.0], [0.0, 0.0], alpha=0.05)).all()


def test_a_look_that_tells_nothing_leaves_its_alpha() -> None:
    found = spent_levels([0.2, 0.6, 1.0], [np.inf, 2.0, 1.0], alpha=0.05)
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(float(obrien_fleming(0.6, 0.05)))
    late = spent_levels([0.5, 1.0], [np.nan, 1.0], alpha=0.05)
    assert late[1] == pytest.approx(0.05, rel=1e-12)


def test_no_new_information_is_no_new_look() -> None:
    found = spent_levels([0.25, 0.5, 1.0], [2.0, 2.0, 1.0], alpha=0.05)
    assert found[0] == found[1]
    assert found[[0, 2]] == pytest.approx(spent_levels([0.25, 1.0], [2.0, 1.0], alpha=0.05))
    # hardly any: the bound of Bonferroni's inequality
    aims = obrien_fleming([0.25, 0.5], 0.05)
    hardly = spent_levels([0.25, 0.5, 1.0], [2.0, 2.0 * 0.9995, 1.0], alpha=0.05)
    assert hardly[1] == pytest.approx(aims[1] - aims[0])


def test_many_looks_hold_together() -> None:
    shares = np.arange(1, 29) / 28
    levels = spent_levels(shares, 1 / shares, alpha=0.05, spending="pocock")
    walk = np.random.default_rng(5).normal(size=(20_000, 28)).cumsum(axis=1)
    crossed = (np.abs(walk / np.sqrt(np.arange(1, 29))) >= bounds(levels)).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 20_000))


@pytest.mark.parametrize("spending", sorted(SPENDING))
def test_exact_limits_of_a_growing_sample_hold_at_all_looks(spending: str) -> None:
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


def test_one_look_and_none() -> None:
    assert spent_levels([1.0], [3.0], alpha=0.05) == pytest.approx([0.05], rel=1e-12)
    assert spent_levels([0.5, 1.0], np.empty((0, 2)), alpha=0.05).shape == (0, 2)


@pytest.mark.parametrize(("shares", "V", "options", "words"), [
    ([0.5, 0.4], [2, 1], {"alpha": 0.05}, r"shares of labels grow .*\[0.5, 0.4\]"),
    ([0.5, 1.1], [2, 1], {"alpha": 0.05}, "shares of labels"),
    ([0.5, 1.0], [2, 1, 1], {"alpha": 0.05}, r"2 looks, variances of shape \(3,\)"),
    ([0.5, 1.0], [1, 2], {"alpha": 0.05}, "1 are not so, such as look 2: 2"),
    ([0.5, 1.0], [1, -2], {"alpha": 0.05}, "look 2: -2"),
    ([0.5, 1.0], [2, 1], {"alpha": 1.0}, "alpha is a probability"),
    ([0.5, 1.0], [2, 1], {"alpha": 0.1, "spending": "bocock"}, "there are obrien_fleming, pocock"),
])  # fmt: skip
def test_mistakes_are_refused(
    shares: list[float], V: list[float], options: dict[str, float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        spent_levels(shares, V, **options)  # type: ignore[arg-type]
