"""The certificate of an M-1 mapping against all mappings of small instances."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pipeline.kernels.clustering.types import bounds
from pipeline.kernels.clustering.types.bounds import (
    Relaxation,
    SearchBudget,
    SetRelaxation,
    UnionRelaxation,
    _best_images,
    certify,
    descend,
)
from tests.kernels.clustering.types.type_twin import (
    MAPPED,
    WORKED,
    Mapping,
    Sets,
    every_mapping,
    instances,
    patterns_of,
)


def best_of(gold: Sets, induced: Sets, n: int, m: int, name: str) -> tuple[Fraction, Mapping]:
    """Return the highest value of all mappings, and a mapping with it."""
    return max(
        ((MAPPED[name](gold, induced, h), h) for h in every_mapping(m, n)), key=lambda pair: pair[0]
    )


@pytest.mark.long
@pytest.mark.parametrize("name", MAPPED)
def test_the_certificate_proves_the_best_mapping(name: str) -> None:
    improved = 0
    for gold, induced, n, m in instances(25, seed=1, most_clusters=3):
        start = np.zeros(m, dtype=np.int64)
        certificate = certify(patterns_of(gold, induced, n, m), name, start, seconds=30)
        best, _ = best_of(gold, induced, n, m, name)
        assert (certificate.proven, certificate.open_clusters) == (True, 0)
        assert (
            certificate.value == best == MAPPED[name](gold, induced, certificate.mapping.tolist())
        )
        assert certificate.bound == float(best)
        improved += best > MAPPED[name](gold, induced, start.tolist())
    assert improved > 5


@pytest.mark.parametrize("place", range(len(WORKED)))
def test_certificates_prove_the_values_of_worked_examples(place: int) -> None:
    gold, induced, _, values = WORKED[place]
    n, m = (1 + max(set().union(*sets)) for sets in (gold, induced))
    for name, value in zip(("MacroI", "MicroI", "MicroC"), values, strict=True):
        start = np.zeros(m, dtype=np.int64)
        certificate = certify(patterns_of(gold, induced, n, m), name, start, seconds=30)
        assert (certificate.value, certificate.proven) == (Fraction(value), True)


def test_the_certificate_keeps_an_optimal_mapping() -> None:
    gold, induced, *_ = WORKED[0]
    certificate = certify(
        patterns_of(gold, induced, 3, 3), "MacroI", np.array([2, 0, 1]), seconds=30
    )
    assert (certificate.mapping.tolist(), certificate.value, certificate.proven) == (
        [2, 0, 1],
        Fraction(4, 5),
        True,
    )


@pytest.mark.parametrize("name", MAPPED)
def test_a_bound_without_further_work_holds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After one step without branches, no mapping is above the bound, and open ones are counted."""
    monkeypatch.setattr(bounds, "ROOT_STEPS", 1)
    unproven = 0
    for gold, induced, n, m in instances(100, seed=2, most_clusters=3):
        best, mapping = best_of(gold, induced, n, m, name)
        patterns = patterns_of(gold, induced, n, m)
        certificate = certify(patterns, name, np.array(mapping, dtype=np.int64), seconds=1e-9)
        assert certificate.value == best
        assert float(best) <= certificate.bound <= 1
        assert certificate.proven == (certificate.bound == float(best))
        assert certificate.proven or 0 <= certificate.open_clusters <= m
        unproven += not certificate.proven
    assert unproven > 5


def test_the_time_must_be_positive() -> None:
    with pytest.raises(ValueError, match="0 seconds"):
        certify(patterns_of([{0}], [{0}], 1, 1), "MacroI", np.array([0]), seconds=0)


def test_the_bound_does_not_depend_on_the_clock() -> None:
    """A bound that is not proven depends on the steps alone, not on the clock."""
    bits = np.random.default_rng(4)
    gold, induced = (
        [set(bits.choice(8, size=3, replace=False).tolist()) for _ in range(120)] for _ in range(2)
    )
    patterns, start = patterns_of(gold, induced, 8, 8), np.zeros(8, dtype=np.int64)
    first, again = (certify(patterns, "MicroC", start, seconds=0.2) for _ in range(2))
    assert not first.proven
    assert first.bound == again.bound
    assert first.mapping.tolist() == again.mapping.tolist()
    assert certify(patterns, "MicroC", start, seconds=1.0).bound <= first.bound


# Bounds at any prices, against all mappings of small instances.

TOLERANCE = 1e-9


def relaxation_of(instance: tuple[Sets, Sets, int, int], name: str, h: Mapping) -> Relaxation:
    gold, induced, n, m = instance
    patterns, value = patterns_of(gold, induced, n, m), float(MAPPED[name](gold, induced, h))
    mapping = np.array(h, dtype=np.int64)
    if name == "MicroC":
        return UnionRelaxation(patterns, mapping, value)
    return SetRelaxation(patterns, name, mapping, value)


@pytest.mark.parametrize("name", MAPPED)
def test_bounds_hold_at_any_prices(name: str) -> None:
    bits = np.random.default_rng(3)
    for gold, induced, n, m in instances(80, seed=4, most_clusters=3):
        mappings = list(every_mapping(m, n))
        h = mappings[int(bits.integers(len(mappings)))]
        start = float(MAPPED[name](gold, induced, h))
        relaxation = relaxation_of((gold, induced, n, m), name, h)
        above = {tuple(h): float(MAPPED[name](gold, induced, h)) - start for h in mappings}
        noise = bits.normal(size=(2, len(relaxation.prices)))
        for prices in (relaxation.prices, 0.0 * noise[0], 0.3 * noise[0], 3.0 * noise[1]):
            result = relaxation.at(prices, np.ones((m, n), dtype=np.bool_))
            assert result.slope.shape == prices.shape
            for each, excess in above.items():
                assert excess <= max(result.excess, 0) / relaxation.least + TOLERANCE
                least = min(result.conditional[k, c] for k, c in enumerate(each))
                assert excess <= max(least, 0) / relaxation.least + TOLERANCE


def test_sets_have_no_gain_at_the_first_prices() -> None:
    """The bound is then the sum of the gains of each cluster from its best class."""
    for gold, induced, n, m in instances(80, seed=9, most_clusters=3):
        h = np.random.default_rng(m).integers(n, size=m)
        relaxation = relaxation_of((gold, induced, n, m), "MacroI", h.tolist())
        assert isinstance(relaxation, SetRelaxation)
        end, allowed = 0, np.ones((m, n), dtype=np.bool_)
        for group in relaxation.groups:
            start, end = end, end + group.members.size * n
            price = relaxation.prices[start:end].reshape(*group.members.shape, n)
            gained, _ = _best_images(group, price, allowed)
            assert gained == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", MAPPED)
def test_bounds_hold_if_classes_are_excluded(name: str) -> None:
    bits = np.random.default_rng(5)
    for gold, induced, n, m in instances(60, seed=6, most_clusters=3):
        mappings = list(every_mapping(m, n))
        h = mappings[int(bits.integers(len(mappings)))]
        start = float(MAPPED[name](gold, induced, h))
        allowed = bits.random((m, n)) < 0.6
        allowed[np.arange(m), bits.integers(n, size=m)] = True
        relaxation = relaxation_of((gold, induced, n, m), name, h)
        result = relaxation.at(bits.normal(size=len(relaxation.prices)), allowed)
        allowed_mappings = [each for each in mappings if allowed[np.arange(m), list(each)].all()]
        most = max(float(MAPPED[name](gold, induced, each)) for each in allowed_mappings) - start
        assert most <= max(result.excess, 0) / relaxation.least + TOLERANCE


@pytest.mark.parametrize("name", MAPPED)
def test_a_descent_ends_between_the_best_value_and_its_start(name: str) -> None:
    lower = 0
    for gold, induced, n, m in instances(40, seed=7, most_clusters=3):
        best = max(every_mapping(m, n), key=lambda h: MAPPED[name](gold, induced, h))
        relaxation = relaxation_of((gold, induced, n, m), name, best)
        allowed = np.ones((m, n), dtype=np.bool_)
        first, last = (
            descend(
                relaxation, relaxation.prices, allowed, steps=steps, work=SearchBudget(60)
            ).excess
            for steps in (1, 200)
        )
        assert 0 <= last <= first
        lower += last < first
    assert lower > 1


def test_too_many_prices_stay_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_PRICES", 0)
    relaxation = relaxation_of(([{0}, {0, 1}], [{0, 1}, {1}], 2, 2), "MacroI", (0, 0))
    result = descend(
        relaxation,
        relaxation.prices,
        np.ones((2, 2), dtype=np.bool_),
        steps=9,
        work=SearchBudget(60),
    )
    assert not result.prices.any()
