"""Limits at declared looks hold at all of them together: the small simulation."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SAMPLES, SIZE = 800, 400
ERROR = 100 * (0.05 * 0.95 / SAMPLES) ** 0.5
SIZES = [40, 80, 120, 160]
SCORE = np.random.default_rng(1).normal(size=SIZE)
OTHER = SCORE + np.random.default_rng(2).normal(size=SIZE)
TRUE = (np.random.default_rng(3).random(SIZE) < 1 / (1 + np.exp(1 - SCORE))).astype(float)


@pytest.fixture(scope="module")
def looks() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("simulated_looks", BENCHMARKS / "looks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulated_looks"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["simulated_looks"]


def people(looks: ModuleType) -> Any:
    one, other = (np.argsort(np.argsort(-each)) < 100 for each in (SCORE, OTHER))
    only = one & ~other
    questions = {
        "list": (one, None, 1.0),
        "difference": (only, other & ~one, only.sum() / 100),
        "baseline": (np.ones(SIZE, dtype=bool), None, 1.0),
    }
    return looks.Population(TRUE, questions)


def missed(table: Any, question: str, plan: str) -> float:
    return float(table.filter(question=question, plan=plan)["missed"].item())


@pytest.mark.long
@pytest.mark.parametrize("design", ["simple", "designed"])
def test_limits_hold_at_all_looks_together(looks: ModuleType, design: str) -> None:
    asked = people(looks)
    x = np.ones(SIZE) if design == "simple" else looks.designed_sizes(asked)
    method = looks.of_counts("hypergeometric_shortest") if design == "simple" else looks.of_design
    found = looks.looked(asked, method, x, SIZES, samples=SAMPLES, seed=5)
    for question in asked.questions:
        for plan in ("obrien_fleming", "pocock"):
            assert missed(found, question, plan) < 5 + 3 * ERROR, (question, plan)
    assert missed(found, "baseline", "none") > 5 + 3 * ERROR


def test_exact_limits_err_on_the_safe_side(looks: ModuleType) -> None:
    asked = people(looks)
    method = looks.of_counts("clopper_pearson")
    found = looks.looked(asked, method, np.ones(SIZE), SIZES, samples=SAMPLES, seed=6)
    for question in asked.questions:
        for plan in ("obrien_fleming", "pocock"):
            assert missed(found, question, plan) < 5, (question, plan)


@pytest.mark.long
def test_a_confidence_sequence_holds_after_each_draw(looks: ModuleType) -> None:
    found = looks.at_any_time(people(looks), SIZE, 120, 7)
    assert found.height == 3
    assert (found["missed"] <= 5 + 3 * ERROR * (SAMPLES / 120) ** 0.5).all()
