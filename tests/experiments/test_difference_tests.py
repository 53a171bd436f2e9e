"""No test of a difference rejects too often under its own null hypothesis: the small simulation."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "difference_tests.py"
SAMPLES = 2000
MOST = 0.055 + 3.5 * (0.055 * 0.945 / SAMPLES) ** 0.5
"""5.5 %, and what the simulation may be off by over its cells."""


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    found = importlib.util.spec_from_file_location("difference_tests_benchmark", BENCHMARK)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "cell", [(30, 0.1, 0.2), (30, 0.5, 0.4), (100, 0.2, 0.05), (100, 0.5, 0.2)]
)
def test_each_test_under_its_own_null(
    simulation: ModuleType, cell: tuple[int, float, float]
) -> None:
    found = simulation.sizes(*cell, SAMPLES)
    assert len(found) == 6
    assert {name: share for name, share in found.items() if share > MOST} == {}


def test_another_null_is_another_question(simulation: ModuleType) -> None:
    """Where labels are drawn by lot, the candidates do differ, and a test of them has to find it."""
    random = np.random.default_rng(2)
    size, n, true = 100, 90, 40
    lot = random.hypergeometric(true, 2 * size - true, size, 400)
    k1, k2 = simulation.drawn(random, size, n, lot, true - lot)
    finite: Callable[..., np.ndarray] = simulation.finite_population_test
    assert (finite(k1, n, k2, n, size=size) <= 0.05).mean() > 0.3


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_clusters_of_many_sizes(simulation: ModuleType, rate: float) -> None:
    sizes = np.repeat([1, 2, 4, 8, 24], [60, 20, 10, 5, 2])
    true = sizes * (np.arange(len(sizes)) % 3 == 0)
    first = np.arange(len(sizes)) % 2 == 0
    counts = np.array([[sizes * side, true * side] for side in (first, ~first)])
    shares = [simulation.clustered_size(counts, rate, 500, number)[0] for number in range(4)]
    assert np.mean(shares) <= MOST
