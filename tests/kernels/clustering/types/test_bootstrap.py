"""Limits of the type-level measures against samples of items drawn one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types import evaluation as type_bootstrap
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.clustering.types.evaluation import type_level_limits
from tests.kernels.clustering.types.type_twin import MAPPED, TWINS, patterns_of, some

BITS = np.random.default_rng(1)
GOLD = [some(BITS, 3, least=1, most=2) for _ in range(40)]
INDUCED = [some(BITS, 4, least=0, most=2) for _ in range(40)]
ITEMS = patterns_of(GOLD, INDUCED, 3, 4)
OPTIONS: dict[str, Any] = {"replicates": 2000, "confidence": 0.9, "seed": "s"}


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("mapping", [[0, 1, 2, 0], [0, 1, 2, -1]])
def test_as_items_drawn_one_by_one(name: str, mapping: list[int]) -> None:
    bits = np.random.default_rng(2)
    values = []
    for _ in range(600):
        drawn = bits.integers(40, size=40)
        sample = ([GOLD[i] for i in drawn], [INDUCED[i] for i in drawn])
        values.append(float(TWINS[name](*sample, mapping)))
    found = type_level_limits(ITEMS, name, "M-1", np.array(mapping), **OPTIONS)
    # the limits of 600 samples are off by a tenth of the width
    expected = np.quantile(values, [0.05, 0.95])
    assert found == pytest.approx(expected, abs=0.15 * float(np.ptp(expected)))


@pytest.mark.parametrize("name", TWINS)
def test_a_measure_that_has_no_way_of_its_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that an extension adds is scored sample by sample, under the mapping given."""
    known = TYPE_MEASURES.get(name)
    added = {**TYPE_MEASURES._things, "Added": replace(known, name="Added")}
    monkeypatch.setattr(TYPE_MEASURES, "_things", added)
    options, mapping = {**OPTIONS, "replicates": 600}, np.array([0, 1, 2, -1])
    expected = type_level_limits(ITEMS, name, "M-1", mapping, **OPTIONS)
    found = type_level_limits(ITEMS, "Added", "M-1", mapping, **options)
    assert found == pytest.approx(expected, abs=0.15 * float(np.ptp(expected)))


@pytest.mark.parametrize("kind", ["1-1", "M-1"])
@pytest.mark.parametrize("name", MAPPED)
def test_refitted_limits_lie_higher(name: str, kind: str) -> None:
    mapping = np.array([0, 1, 2, -1] if kind == "1-1" else [0, 1, 2, 0])
    options = {**OPTIONS, "replicates": 150}
    fixed = type_level_limits(ITEMS, name, kind, mapping, **options)
    refitted = type_level_limits(ITEMS, name, kind, mapping, **options, interval="refitted")
    assert refitted[0] > fixed[0]
    assert refitted[1] > fixed[1]


@pytest.mark.parametrize("name", TWINS)
def test_no_width_where_all_items_are_alike(name: str) -> None:
    items = Patterns(np.array([7]), ITEMS.gold[:1], ITEMS.induced[:1])
    value = float(TYPE_MEASURES.get(name).score(items, [0, 1, 2, 0]).value)
    limits = type_level_limits(items, name, "M-1", np.array([0, 1, 2, 0]), **OPTIONS)
    assert limits == pytest.approx((value, value))


def test_the_seed_fixes_the_samples() -> None:
    h = np.array([0, 1, 2, 0])
    made = [
        type_level_limits(ITEMS, "MacroI", "M-1", h, **{**OPTIONS, "seed": s})
        for s in ("s", "s", "t")
    ]
    assert made[0] == made[1] != made[2]


@pytest.mark.parametrize("interval", ["fixed", "refitted"])
def test_batches_make_no_difference(interval: str, monkeypatch: pytest.MonkeyPatch) -> None:
    h, options = np.array([0, 1, 2, 0]), {**OPTIONS, "replicates": 50, "interval": interval}
    whole = type_level_limits(ITEMS, "MicroC", "M-1", h, **options)
    monkeypatch.setattr(type_bootstrap, "_CELLS", 280)
    assert type_level_limits(ITEMS, "MicroC", "M-1", h, **options) == whole


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("interval", ["fixed", "refitted"])
def test_nothing_induced(name: str, interval: str) -> None:
    items = patterns_of([{0}, {1}], [set(), set()], 2, 0)
    options = {**OPTIONS, "replicates": 20}
    h = np.zeros(0, dtype=np.int64)
    assert type_level_limits(items, name, "M-1", h, **options, interval=interval) == (0.0, 0.0)


@pytest.mark.parametrize(
    "wrong", [{"confidence": 1.0}, {"replicates": 0}, {"interval": "fix"}], ids=str
)
def test_options_out_of_range(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="out of range|valid: fixed, refitted"):
        type_level_limits(ITEMS, "MacroI", "M-1", np.zeros(4, dtype=int), **{**OPTIONS, **wrong})
