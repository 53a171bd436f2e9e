"""Lemmas drawn by size say more of L*, and the limits hold: the small simulation."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SAMPLES = 400
ERROR = (0.95 * 0.05 / SAMPLES) ** 0.5


@pytest.fixture(scope="module")
def simulation() -> Iterator[ModuleType]:
    path = [*sys.path]
    sys.path.insert(0, str(BENCHMARKS))
    place = BENCHMARKS / "lexicon_coverage.py"
    found = importlib.util.spec_from_file_location("lexicon_coverage_benchmark", place)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["lexicon_coverage_benchmark"] = module
    found.loader.exec_module(module)
    yield module
    sys.path[:] = path


def heavy(lemmas: int = 1500) -> pl.DataFrame:
    """Return scores of all lemmas; a few have very large paradigms, matched badly."""
    random = np.random.default_rng(8)
    size = np.rint(random.lognormal(2.2, 0.7, lemmas)).astype(int) + 1
    value = np.where(random.random(lemmas) < 0.5, 1.0, random.beta(5, 2, lemmas))
    size[:6], value[:6] = 300, 0.3
    made = pl.DataFrame({"lemma": [f"l{i:04}" for i in range(lemmas)], "size": size, "L": value})
    return made.with_columns(
        base="size", n_gold="size", drawn=True, population=pl.lit(lemmas, pl.Int64),
        base_total=pl.col("size").sum(),
    )  # fmt: skip


@pytest.mark.long
def test_by_size_the_spread_is_smaller_and_the_default_limits_hold(simulation: ModuleType) -> None:
    scores = heavy()
    for count in (30, 93):
        (boot, t), (beta, _) = (
            simulation.coverage(scores, count, design, samples=SAMPLES, replicates=200)
            for design in ("simple", "size")
        )
        assert beta.spread < 0.6 * t.spread
        assert beta.held > 0.94 - 2.5 * ERROR
        assert beta.width < boot.width
        assert t.held < 0.9  # the heavy lemmas are in few of the simple samples
        assert beta.without == 0


def test_differences_hold_what_they_say(simulation: ModuleType) -> None:
    scores = heavy()
    other = scores.with_columns(L=pl.col("L") * 0.9)
    found = simulation.difference_coverage([scores, other], 60, "size", samples=SAMPLES)
    assert found.held > 0.94 - 3 * ERROR
    assert "| 60 | size |" in simulation.table([found])


def test_the_invented_lexicons(simulation: ModuleType) -> None:
    one, two = simulation.invented(600)
    assert one["lemma"].equals(two["lemma"])
    assert 100 < one.height < 600
    (beta, _) = simulation.coverage(one, 30, "size", samples=100)
    assert beta.held > 0.87


@pytest.mark.long
def test_the_spanish_pair(simulation: ModuleType, public_data: Callable[[str], Path]) -> None:
    scores, _ = simulation.spanish(public_data("lexicon/hunspell_es_ES.tsv.gz").parents[1])
    (beta, t) = simulation.coverage(scores, 93, "size", samples=SAMPLES)
    assert beta.spread == pytest.approx(0.016, abs=0.002)
    assert beta.held > 0.94 - 2.5 * ERROR
    assert t.held > 0.9
    (boot, _) = simulation.coverage(scores, 93, "simple", samples=100, replicates=200)
    assert boot.spread > 0.03
