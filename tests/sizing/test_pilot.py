"""Planning from a pilot: a run's stages are read, counted and carried on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import ConfigError
from pipeline.kernels.nbest.sample_size import Design, comparison_power, predictive_power
from tests.small_experiment import SMALL

STAGES = """
[stages.sample]
use = "sample.random"
candidates = "candidates"
rate = 0.4

[stages.again]
use = "sample.random"
candidates = "candidates"
rate = 0.9
replacement = true

[stages.full]
use = "evaluate.comparison"
ranks = "ranks"
judgements = "judgements"
alpha = 0.3

[stages.pilot]
use = "evaluate.comparison"
ranks = "ranks"
judgements = "judgements"
sample = "sample"

[stages.replaced]
use = "evaluate.comparison"
ranks = "ranks"
judgements = "judgements"
sample = "again"

[stages.precision]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
"""
PAIR = ("mi", "t_score")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> lx.Run:
    folder = tmp_path_factory.mktemp("pilot")
    (folder / "x.toml").write_text(SMALL + STAGES)
    counts = [
        (i + 1, i + 3 + i * 7 % 40, 190 - i, int(i * 7 % 40 < 18 or i % 5 == 0)) for i in range(60)
    ]
    lines = [
        f"a{i}\tb{i % 7}\t{f}\t{f1}\t{f2}\t900\t{tp}" for i, (f, f1, f2, tp) in enumerate(counts)
    ]
    (folder / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN\tTP", *lines]) + "\n")
    return lx.run(folder / "x.toml", runs=folder / "runs", report=False)


def counted(done: lx.Run, stage: str, n: int) -> dict[str, int]:
    """Count the difference sets again, candidate by candidate."""
    best = {
        name: set(done.table("ranks").filter(pl.col("rank") <= n, measure=name)["id"])
        for name in PAIR
    }
    true = dict(done.table("judgements").select("id", "tp").iter_rows())
    drawn = set(done.table("sample")["id"]) if stage == "pilot" else set(true)
    only = best["mi"] - best["t_score"], best["t_score"] - best["mi"]
    counts = {"size": len(only[0])}
    for side, members in zip("12", only, strict=True):
        counts[f"n_{side}"] = len(members & drawn)
        counts[f"k_{side}"] = sum(true[x] for x in members & drawn)
    return counts


@pytest.mark.long
def test_pilot_is_carried_on(done: lx.Run) -> None:
    table = lx.plan_pilot(done, "pilot", measures=PAIR, n=[20], rates=[0.4, 0.8], replicates=500)
    counts = counted(done, "pilot", 20)
    expected = predictive_power(
        Design(n=20, apart=counts["size"], candidates=60), size=48, pilot_size=24,
        pilot=(counts["k_1"], counts["n_1"], counts["k_2"], counts["n_2"]), replicates=500,
    )  # fmt: skip
    row = table.row(1, named=True)
    assert (row["power_1"], row["power_2"], row["untested"]) == expected[:3]
    assert (row["apart"], row["size"]) == (counts["size"], 48)
    assert row["only_1"] == counts["k_1"] / counts["n_1"]


def test_reversed_measures_reverse_the_sides(done: lx.Run) -> None:
    how: dict[str, Any] = {"n": [20], "rates": [0.8], "replicates": 4000}
    one = lx.plan_pilot(done, "pilot", measures=PAIR, **how).row(0, named=True)
    two = lx.plan_pilot(done, "pilot", measures=PAIR[::-1], **how).row(0, named=True)
    assert (one["only_1"], one["only_2"]) == (two["only_2"], two["only_1"])
    assert one["difference"] == -two["difference"] != 0
    assert one["power_1"] == pytest.approx(two["power_2"], abs=0.05)


def test_full_annotation_gives_the_power_for_known_precisions(done: lx.Run) -> None:
    counts = counted(done, "full", 20)
    row = lx.plan_pilot(done, "full", measures=PAIR, n=[20], rates=[0.5]).row(0, named=True)
    expected = comparison_power(
        Design(n=20, apart=counts["size"], candidates=60, alpha=0.3), size=30,
        precision_1=counts["k_1"] / counts["size"], precision_2=counts["k_2"] / counts["size"],
    )  # fmt: skip
    assert (row["power_1"], row["power_2"], row["standard_error"]) == (*expected[:2], 0)
    narrow = lx.plan_pilot(done, "full", measures=PAIR, n=[20], rates=[0.5], alpha=0.01)
    assert narrow["power_1"].item() + narrow["power_2"].item() < expected[0] + expected[1]


def test_rates_and_goals(done: lx.Run) -> None:
    table = lx.plan_pilot(done, "pilot", measures=PAIR, n=[20], replicates=50)
    assert table["rate"].to_list() == [0.4, 0.5, 1.0]
    every = lx.plan_pilot(done, "full", measures=PAIR, n=[20])
    assert every["rate"].min() == 0.05


@pytest.mark.parametrize("measures", [PAIR, PAIR[::-1]])
def test_rate_for_a_power_of_the_better_measure(done: lx.Run, measures: tuple[str, str]) -> None:
    for stage, wanted in (("pilot", 0.1), ("full", 0.1)):
        how: dict[str, Any] = {"measures": measures, "n": [20], "replicates": 2000, "alpha": 0.3}
        row = lx.plan_pilot(done, stage, powers=[wanted], **how).row(0, named=True)
        better = "power_1" if row["difference"] > 0 else "power_2"
        assert row[better] >= wanted
        assert row["wanted"] == wanted
        less = lx.plan_pilot(done, stage, rates=[(row["size"] - 1) / 60], **how)
        assert less[better].item() < wanted


@pytest.mark.parametrize(("stage", "change", "said"), [
    ("pilo", {}, "did you mean pilot"), ("precision", {}, "no such stage that compares"),
    ("replaced", {}, "drawn with replacement"), ("pilot", {"measures": ("mi", "t")}, "'t' is not"),
    ("pilot", {"measures": ("mi", "mi")}, "does not compare mi with mi"),
    ("pilot", {"n": [61]}, "no list of 61 among 60"), ("pilot", {"n": [60]}, "are the same"),
    ("pilot", {"rates": [0.2]}, "24 of 60 are judged"), ("pilot", {"rates": [2.0]}, "2 is no"),
    ("pilot", {"category": "SVC"}, "no category 'SVC'; valid: TP"),
    ("pilot", {"powers": [3.0]}, "power: 3"), ("pilot", {"alpha": 0.0}, "alpha: 0"),
])  # fmt: skip
def test_mistakes(done: lx.Run, stage: str, change: dict[str, object], said: str) -> None:
    given: dict[str, Any] = {"measures": PAIR, "n": [20], **change}
    with pytest.raises(ConfigError, match=said):
        lx.plan_pilot(done, stage, **given)


def test_a_part_of_the_annotation_is_no_sample(tmp_path: Path, done: lx.Run) -> None:
    (tmp_path / "x.toml").write_text(SMALL + STAGES)
    pairs = (done.project.root.parents[1] / "pairs.tsv").read_text().splitlines()
    lines = [f"{line[:-1]}" if i % 9 == 5 else line for i, line in enumerate(pairs)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n")
    part = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    with pytest.raises(ConfigError, match=r"5. of 60 candidates are judged, and not as a random"):
        lx.plan_pilot(part, "full", measures=PAIR, n=[20])
    judged = set(part.table("judgements").drop_nulls("tp")["id"])
    drawn = len(judged & set(part.table("sample")["id"]))
    assert drawn < 24
    table = lx.plan_pilot(part, "pilot", measures=PAIR, n=[20], rates=[drawn / 60], replicates=9)
    assert table["size"].item() == drawn
