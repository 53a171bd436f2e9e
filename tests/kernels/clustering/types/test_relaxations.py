"""Bounds at any prices against all mappings of small instances: they have to hold everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.kernels.clustering.types import bounds
from pipeline.kernels.clustering.types.bounds import (
    Relaxation,
    SetRelaxation,
    UnionRelaxation,
    Work,
    descend,
)
from tests.kernels.clustering.types.type_twin import (
    MAPPED,
    Mapping,
    Sets,
    every,
    instances,
    patterns_of,
)

TOLERANCE = 1e-9


def made(instance: tuple[Sets, Sets, int, int], name: str, h: Mapping) -> Relaxation:
    gold, induced, n, m = instance
    patterns, value = patterns_of(gold, induced, n, m), float(MAPPED[name](gold, induced, h))
    if name == "MicroC":
        return UnionRelaxation(patterns, np.array(h, dtype=np.int64), value)
    return SetRelaxation(patterns, name, value)


@pytest.mark.parametrize("name", MAPPED)
def test_the_bounds_hold_at_any_prices(name: str) -> None:
    bits = np.random.default_rng(3)
    for gold, induced, n, m in instances(80, seed=4, most_clusters=3):
        mappings = list(every(m, n))
        h = mappings[int(bits.integers(len(mappings)))]
        start = float(MAPPED[name](gold, induced, h))
        relaxation = made((gold, induced, n, m), name, h)
        above = {tuple(h): float(MAPPED[name](gold, induced, h)) - start for h in mappings}
        for scale in (0.0, 0.3, 3.0):
            prices = scale * bits.normal(size=len(relaxation.prices))
            found = relaxation.at(prices, np.ones((m, n), dtype=np.bool_))
            assert found.slope.shape == prices.shape
            for each, excess in above.items():
                assert excess <= max(found.excess, 0) / relaxation.least + TOLERANCE
                given = min(found.given[k, c] for k, c in enumerate(each))
                assert excess <= max(given, 0) / relaxation.least + TOLERANCE


@pytest.mark.parametrize("name", MAPPED)
def test_the_bounds_hold_where_classes_are_struck_out(name: str) -> None:
    bits = np.random.default_rng(5)
    for gold, induced, n, m in instances(60, seed=6, most_clusters=3):
        mappings = list(every(m, n))
        h = mappings[int(bits.integers(len(mappings)))]
        start = float(MAPPED[name](gold, induced, h))
        allowed = bits.random((m, n)) < 0.6
        allowed[np.arange(m), bits.integers(n, size=m)] = True
        relaxation = made((gold, induced, n, m), name, h)
        found = relaxation.at(bits.normal(size=len(relaxation.prices)), allowed)
        kept = [each for each in mappings if allowed[np.arange(m), list(each)].all()]
        most = max(float(MAPPED[name](gold, induced, each)) for each in kept) - start
        assert most <= max(found.excess, 0) / relaxation.least + TOLERANCE


@pytest.mark.parametrize("name", MAPPED)
def test_a_descent_is_below_its_start_and_above_the_best(name: str) -> None:
    lower = 0
    for gold, induced, n, m in instances(40, seed=7, most_clusters=3):
        best = max(every(m, n), key=lambda h: MAPPED[name](gold, induced, h))
        relaxation = made((gold, induced, n, m), name, best)
        allowed = np.ones((m, n), dtype=np.bool_)
        first, last = (
            descend(relaxation, relaxation.prices, allowed, steps=steps, work=Work(60)).excess
            for steps in (1, 200)
        )
        assert 0 <= last <= first
        lower += last < first
    assert lower > 1


def test_too_many_prices_stay_nought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_PRICES", 0)
    relaxation = made(([{0}, {0, 1}], [{0, 1}, {1}], 2, 2), "MacroI", (0, 0))
    found = descend(
        relaxation, relaxation.prices, np.ones((2, 2), dtype=np.bool_), steps=9, work=Work(60)
    )
    assert not found.prices.any()
