"""The intervals hold the true precision as often as they say: the small simulation."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.nbest.precision import judged, nbest_counts
from pipeline.kernels.nbest.ranking import rank
from pipeline.kernels.nbest.sample_size import expected_width
from pipeline.kernels.sampling import with_replacement, without_replacement
from pipeline.kernels.statistics.intervals import Interval

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CUTS = (40, 150, 300)
SAMPLES = 400
NEVER_BELOW = ("clopper_pearson", "hypergeometric")
ERROR = (0.95 * 0.05 / SAMPLES) ** 0.5


@pytest.fixture(scope="module")
def simulation() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    found = importlib.util.spec_from_file_location("coverage_benchmark", BENCHMARKS / "coverage.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["coverage_benchmark"] = module
    found.loader.exec_module(module)
    yield module
    sys.path.remove(str(BENCHMARKS))


def ranked() -> tuple[pl.DataFrame, pl.DataFrame]:
    """500 candidates, 120 of them true, under a good measure and a useless one."""
    bits = np.random.default_rng(11)
    true = np.arange(500) < 120
    scores = pl.DataFrame({
        "id": [f"x{i:03}" for i in range(500)],
        "good": true + bits.normal(size=500),
        "none": bits.normal(size=500),
    })  # fmt: skip
    ranks = rank(scores.lazy(), measures=["good", "none"], seed="s").collect()
    return ranks, scores.select("id", tp=pl.Series(true))


@pytest.fixture(scope="module")
def cells(simulation: ModuleType) -> pl.DataFrame:
    kinds = (False, True)
    found: pl.DataFrame = pl.concat(
        simulation.coverage(
            *ranked(), cuts=CUTS, rates=(0.1, 0.2), samples=SAMPLES, replacement=again, seed="small"
        )
        for again in kinds
    )
    return found


@pytest.mark.parametrize("replacement", [False, True])
def test_counts_are_those_of_the_pipeline(simulation: ModuleType, replacement: bool) -> None:
    ranks, judgements = ranked()
    lists = simulation.nbest_lists(ranks, judgements, CUTS)
    found = simulation.counted(
        lists, rates=(0.1, 0.3), samples=3, replacement=replacement, seed="same"
    )
    draw = with_replacement if replacement else without_replacement
    labels = judgements.with_columns(category=pl.lit("TP")).lazy()
    for rate, size in ((0.1, 50), (0.3, 150)):
        for number in range(3):
            sample = draw(lists.ids, size=size, seed=f"same-{number}")
            counts = nbest_counts(ranks.lazy(), judged(sample.lazy(), labels))
            expected = lists.cells.join(
                counts, on=["measure", "n"], how="left", maintain_order="left"
            )
            for name in ("n_sampled", "k_sampled"):
                values = getattr(found[rate], name)[number].tolist()
                assert values == expected[name].to_list()


@pytest.mark.long
def test_exact_intervals_keep_their_level(cells: pl.DataFrame) -> None:
    exact = cells.filter(pl.col("method").is_in(NEVER_BELOW))
    assert exact.height == 36
    assert exact["coverage"].min() >= 0.95 - 3 * ERROR
    means = exact.group_by("method", "replacement", "rate").agg(pl.mean("coverage"))
    assert means["coverage"].min() >= 0.95


def test_coverage_and_width_are_those_of_the_exact_computation(cells: pl.DataFrame) -> None:
    far = []
    for row in cells.iter_rows(named=True):
        size = round(500 * row["rate"])
        exact = expected_width(
            n=row["n"], candidates=500, size=size, precision=row["truth"], method=row["method"],
            replacement=row["replacement"],
        )  # fmt: skip
        error = (exact["coverage"] * (1 - exact["coverage"]) / SAMPLES) ** 0.5
        far.append(abs(row["coverage"] - exact["coverage"]) / max(error, 1 / SAMPLES))
        assert row["width"] == pytest.approx(exact["width"], rel=0.05)
    assert max(far) < 4
    assert sum(z > 2 for z in far) < 0.2 * len(far)


def wald(k: Any, n: Any, *, confidence: Any) -> Any:
    """The textbook interval, which is known to be wrong for few draws."""
    p = k / np.maximum(n, 1)
    half = 1.96 * np.sqrt(p * (1 - p) / np.maximum(n, 1))
    return np.maximum(p - half, 0), np.minimum(p + half, 1)


def test_a_wrong_interval_is_found_out(
    simulation: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"clopper_pearson": Interval("clopper_pearson", wald, reference="")}
    monkeypatch.setattr(simulation, "INTERVALS", known)
    found = simulation.coverage(*ranked(), cuts=CUTS, rates=(0.1,), samples=SAMPLES)
    assert found["coverage"].min() < 0.95 - 3 * ERROR


@pytest.mark.long
def test_krenn(simulation: ModuleType, public_data: Callable[[str], Path]) -> None:
    """The same on real data: seven measures, 150 samples of 10 %."""
    root = public_data("collocations/krenn_pp_verb.ds").parents[1]
    found = simulation.coverage(
        *simulation.krenn(root), cuts=(500, 1000, 2000), rates=(0.1,), samples=150
    )
    assert found.height == 21 * len(simulation.INTERVALS)
    exact = found.filter(pl.col("method").is_in(NEVER_BELOW))
    assert exact["coverage"].min() >= 0.90
    assert exact["coverage"].mean() >= 0.95
    best = found.filter(method="clopper_pearson", measure="t_score", n=1000)
    assert best.select("true", "truth").row(0) == (281, 0.281)


def test_absent_data_is_said(
    simulation: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("LEXASSAY_DATA", raising=False)
    assert simulation.main([]) == 2
    assert "LEXASSAY_DATA is not set" in capsys.readouterr().err
    monkeypatch.setenv("LEXASSAY_DATA", str(tmp_path))
    assert simulation.main([]) == 2
    said = capsys.readouterr().err
    assert "krenn_pp_verb.ds is not there" in said
    assert "collocations.de" in said


def test_the_chapter_holds_the_tables_of_a_simulation(
    simulation: ModuleType, cells: pl.DataFrame
) -> None:
    chapter = sys.modules["coverage_chapter"]
    text = chapter.CHAPTER.read_text(encoding="utf-8")
    before, _, rest = text.partition(chapter.BEGIN)
    made, _, after = rest.partition(chapter.END)
    assert before.startswith("# Coverage")
    assert made.count("| `hypergeometric` |") > 4
    shown = cells.filter(measure="good", n=40).with_columns(measure=pl.lit("dice"), n=pl.lit(100))
    again = chapter.updated(text, shown.with_columns(truth=pl.lit(0.3)), candidates=500)
    assert again.startswith(before)
    assert again.endswith(after)
    assert f"{SAMPLES} samples for each rate" in again
    assert f"{SAMPLES} samples for each rate" not in text
