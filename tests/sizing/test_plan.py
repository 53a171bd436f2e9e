"""Planning from a notebook: the power of a comparison of two lists, and widths of intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from pipeline.errors import ConfigError
from pipeline.kernels.nbest.sample_size import (
    Design,
    comparison_power,
    expected_width,
    predictive_power,
)
from pipeline.kernels.statistics.intervals import INTERVALS
from tests.small_experiment import SMALL

HOW: dict[str, Any] = {"candidates": 200, "n": [60], "precisions": (0.6, 0.4), "overlap": 0.5}


def test_the_power_equals_that_of_the_difference_sets() -> None:
    row = lx.plan_comparison(**HOW, rates=[0.3]).row(0, named=True)
    power = comparison_power(
        Design(n=60, apart=30, candidates=200), size=60, precision_1=0.7, precision_2=0.3
    )
    assert (row["apart"], row["only_1"], row["only_2"], row["size"]) == (30, 0.7, 0.3, 60)
    assert (row["power_1"], row["power_2"], row["untested"]) == power[:3]
    assert row["difference"] == pytest.approx(0.2)


def test_shared_candidates_take_part_of_the_true_positives() -> None:
    # 36 and 24 of 60; the shared 30 hold 6 of them: 30 and 18 of 30 are left
    row = lx.plan_comparison(**HOW, shared=0.2, rates=[0.3]).row(0, named=True)
    assert (row["only_1"], row["only_2"]) == (1.0, 0.6)


@given(
    st.floats(0.4, 0.6), st.floats(0.4, 0.6), st.floats(0, 0.4), st.one_of(st.none(), st.just(0.5))
)
def test_the_difference_of_the_lists_is_kept(
    first: float, second: float, overlap: float, shared: float | None
) -> None:
    row = lx.plan_comparison(
        candidates=4000, n=[1000], precisions=(first, second), overlap=overlap, shared=shared,
        rates=[0.001],
    ).row(0, named=True)  # fmt: skip
    # `apart` is a whole number, so that the overlap is rounded to one in a thousand
    assert row["difference"] == pytest.approx(first - second, abs=0.002)
    centre = (first + second) / 2 if shared is None else shared
    assert overlap * centre + (1 - overlap) * row["only_1"] == pytest.approx(first)


@pytest.mark.long
def test_the_rate_for_a_power_is_the_smallest() -> None:
    result = lx.plan_comparison(**HOW, powers=[0.7]).row(0, named=True)
    rates = [(result["size"] - 1) / 200, result["rate"]]
    power = lx.plan_comparison(**HOW, rates=rates)["power_1"].to_list()
    assert power[0] < 0.7 <= power[1] == result["power_1"]
    never = lx.plan_comparison(
        candidates=200, n=[60], precisions=(0.6, 0.55), overlap=0.5, powers=[0.7]
    )
    assert never["rate"].item() is None


@pytest.mark.long
def test_options_of_the_test_change_the_power() -> None:
    def power(**how: Any) -> float:
        return float(lx.plan_comparison(**HOW, rates=[0.3], **how)["power_1"].item())

    plain = power()
    assert power(alpha=0.2) > plain
    assert power(margin=0.25) < plain
    assert power(alternative="greater") > plain
    assert power(alternative="less") == 0
    assert power(test="boschloo") > plain


@pytest.mark.parametrize(("change", "message"), [
    ({"overlap": 350}, "350 of 500 is 0.7"), ({"overlap": 1.0}, "1 is not a proportion"),
    ({"n": [150]}, "need 225 candidates"), ({"shared": 1.5}, "shared: 1.5 is not between 0 and 1"),
    ({"shared": 0.0, "overlap": 0.9, "n": [20]}, "would have a precision of 6"),
    ({"n": [1], "overlap": 0.6}, "the lists of 1 are equal"),
    ({"powers": [80]}, "80 % is 0.8"), ({"alpha": 5}, "alpha: 5 is not between"),
    ({"test": "fischer"}, "did you mean fisher"), ({"alternative": "grater"}, "mean greater"),
    ({"replicates": 0}, "0 replicates"), ({"margin": 2}, "margin: 2"),
    ({"precisions": (38, 30)}, "compare: 38 is not between 0 and 1; 38 % is 0.38"),
])  # fmt: skip
def test_invalid_options_of_a_comparison_are_refused(
    change: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        lx.plan_comparison(**{**HOW, **change})


# Planning from a pilot: stages of a run are read, counted and extrapolated.

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
def done_pilot(tmp_path_factory: pytest.TempPathFactory) -> lx.Run:
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


def count_differences(run: lx.Run, stage: str, n: int) -> dict[str, int]:
    """Count the difference sets again, one candidate after the other."""
    best = {
        name: set(run.table("ranks").filter(pl.col("rank") <= n, measure=name)["id"])
        for name in PAIR
    }
    true = dict(run.table("judgements").select("id", "tp").iter_rows())
    draws = set(run.table("sample")["id"]) if stage == "pilot" else set(true)
    only = best["mi"] - best["t_score"], best["t_score"] - best["mi"]
    counts = {"size": len(only[0])}
    for side, members in zip("12", only, strict=True):
        counts[f"n_{side}"] = len(members & draws)
        counts[f"k_{side}"] = sum(true[x] for x in members & draws)
    return counts


@pytest.mark.long
def test_the_counts_of_a_pilot_are_used(done_pilot: lx.Run) -> None:
    table = lx.plan_pilot(
        done_pilot, "pilot", measures=PAIR, n=[20], rates=[0.4, 0.8], replicates=500
    )
    counts = count_differences(done_pilot, "pilot", 20)
    expected = predictive_power(
        Design(n=20, apart=counts["size"], candidates=60), size=48, pilot_size=24,
        pilot=(counts["k_1"], counts["n_1"], counts["k_2"], counts["n_2"]), replicates=500,
    )  # fmt: skip
    row = table.row(1, named=True)
    assert (row["power_1"], row["power_2"], row["untested"]) == expected[:3]
    assert (row["apart"], row["size"]) == (counts["size"], 48)
    assert row["only_1"] == counts["k_1"] / counts["n_1"]


@pytest.mark.long
def test_reversed_measures_reverse_the_sides(done_pilot: lx.Run) -> None:
    how: dict[str, Any] = {"n": [20], "rates": [0.8], "replicates": 4000}
    one = lx.plan_pilot(done_pilot, "pilot", measures=PAIR, **how).row(0, named=True)
    two = lx.plan_pilot(done_pilot, "pilot", measures=PAIR[::-1], **how).row(0, named=True)
    assert (one["only_1"], one["only_2"]) == (two["only_2"], two["only_1"])
    assert one["difference"] == -two["difference"] != 0
    assert one["power_1"] == pytest.approx(two["power_2"], abs=0.05)


def test_full_annotation_gives_the_power_for_true_precisions(done_pilot: lx.Run) -> None:
    counts = count_differences(done_pilot, "full", 20)
    row = lx.plan_pilot(done_pilot, "full", measures=PAIR, n=[20], rates=[0.5]).row(0, named=True)
    expected = comparison_power(
        Design(n=20, apart=counts["size"], candidates=60, alpha=0.3), size=30,
        precision_1=counts["k_1"] / counts["size"], precision_2=counts["k_2"] / counts["size"],
    )  # fmt: skip
    assert (row["power_1"], row["power_2"], row["standard_error"]) == (*expected[:2], 0)
    narrow = lx.plan_pilot(done_pilot, "full", measures=PAIR, n=[20], rates=[0.5], alpha=0.01)
    assert narrow["power_1"].item() + narrow["power_2"].item() < expected[0] + expected[1]


def test_default_rates_start_at_that_of_the_pilot(done_pilot: lx.Run) -> None:
    table = lx.plan_pilot(done_pilot, "pilot", measures=PAIR, n=[20], replicates=50)
    assert table["rate"].to_list() == [0.4, 0.5, 1.0]
    every = lx.plan_pilot(done_pilot, "full", measures=PAIR, n=[20])
    assert every["rate"].min() == 0.05


@pytest.mark.parametrize("measures", [PAIR, PAIR[::-1]])
def test_the_rate_is_for_a_power_of_the_better_measure(
    done_pilot: lx.Run, measures: tuple[str, str]
) -> None:
    for stage, expected in (("pilot", 0.1), ("full", 0.1)):
        how: dict[str, Any] = {"measures": measures, "n": [20], "replicates": 2000, "alpha": 0.3}
        row = lx.plan_pilot(done_pilot, stage, powers=[expected], **how).row(0, named=True)
        better = "power_1" if row["difference"] > 0 else "power_2"
        assert row[better] >= expected
        assert row["wanted"] == expected
        less = lx.plan_pilot(done_pilot, stage, rates=[(row["size"] - 1) / 60], **how)
        assert less[better].item() < expected


@pytest.mark.parametrize(("stage", "change", "message"), [
    ("pilo", {}, "did you mean pilot"), ("precision", {}, "no stage .* that compares"),
    ("replaced", {}, "drawn with replacement"), ("pilot", {"measures": ("mi", "t")}, "'t' is not"),
    ("pilot", {"measures": ("mi", "mi")}, "does not compare mi with mi"),
    ("pilot", {"measures": "mi"}, "'mi' are not two measures; e.g."),
    ("pilot", {"n": [61]}, "no list of 61 among 60"), ("pilot", {"n": [60]}, "are equal"),
    ("pilot", {"rates": [0.2]}, "24 of 60 are judged"), ("pilot", {"rates": [2.0]}, "2 is no"),
    ("pilot", {"category": "SVC"}, "unknown category 'SVC'; valid: TP"),
    ("pilot", {"powers": [3.0]}, "power: 3"), ("pilot", {"alpha": 0.0}, "alpha: 0"),
])  # fmt: skip
def test_invalid_options_of_a_pilot_are_refused(
    done_pilot: lx.Run, stage: str, change: dict[str, object], message: str
) -> None:
    options: dict[str, Any] = {"measures": PAIR, "n": [20], **change}
    with pytest.raises(ConfigError, match=message):
        lx.plan_pilot(done_pilot, stage, **options)


@pytest.mark.long
def test_partial_annotation_is_not_a_random_sample(tmp_path: Path, done_pilot: lx.Run) -> None:
    (tmp_path / "x.toml").write_text(SMALL + STAGES)
    pairs = (done_pilot.project.root.parents[1] / "pairs.tsv").read_text().splitlines()
    lines = [f"{line[:-1]}" if i % 9 == 5 else line for i, line in enumerate(pairs)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n")
    part = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    with pytest.raises(ConfigError, match=r"5. of 60 candidates are judged, but not as a random"):
        lx.plan_pilot(part, "full", measures=PAIR, n=[20])
    judged = set(part.table("judgements").drop_nulls("tp")["id"])
    draws = len(judged & set(part.table("sample")["id"]))
    assert draws < 24
    table = lx.plan_pilot(part, "pilot", measures=PAIR, n=[20], rates=[draws / 60], replicates=9)
    assert table["size"].item() == draws


# Planning from a notebook: expected widths of intervals, and the rate for a width.


def test_a_width_equals_that_computed_by_hand() -> None:
    # 1 of 2 in a list of 2 from 4, two draws: n^ = 0, 1, 2 with 1/6, 4/6, 1/6
    row = lx.plan_width(candidates=4, n=[2], precisions=[0.5], rates=[0.5]).row(0, named=True)
    assert (row["size"], row["rate"], row["wanted"]) == (2, 0.5, None)
    assert row["n_sampled"] == pytest.approx(1)
    assert row["empty"] == pytest.approx(1 / 6)
    assert row["coverage"] == pytest.approx(1)
    # Clopper-Pearson at 0 of 1 ends at 0.975, at 1 of 2 it is [0.0126, 0.9874]
    limit = 1 - (1 - 0.025) ** 0.5  # P(X >= 1 | 2 draws) = 0.025
    width = 1 / 6 + 4 / 6 * 0.975 + 1 / 6 * (1 - 2 * limit)
    assert row["width"] == pytest.approx(width)


@pytest.mark.parametrize("interval", sorted(INTERVALS))
def test_widths_of_every_method_equal_those_of_the_kernel(interval: str) -> None:
    table = lx.plan_width(
        candidates=300, n=[30, 60], precisions=[0.2, 0.5], rates=[0.1, 0.3], interval=interval,
        confidence=0.9,
    )  # fmt: skip
    assert table.select("rate", "n", "precision").rows() == [
        (r, n, p) for r in (0.1, 0.3) for n in (30, 60) for p in (0.2, 0.5)
    ]
    expected = expected_width(
        n=60, candidates=300, size=90, precision=0.2, method=interval, confidence=0.9
    )
    result = table.filter(rate=0.3, n=60, precision=0.2).select(list(expected)).row(0, named=True)
    assert result == expected


def test_the_rate_for_a_width_is_the_smallest() -> None:
    how: dict[str, Any] = {"candidates": 400, "n": [100], "precisions": [0.3]}
    result = lx.plan_width(**how, widths=[0.25]).row(0, named=True)
    assert (result["wanted"], result["rate"]) == (0.25, result["size"] / 400)
    less = lx.plan_width(**how, rates=[(result["size"] - 1) / 400])
    assert result["width"] <= 0.25 < less["width"].item()
    again = lx.plan_width(**how, rates=[result["rate"]])
    assert again.drop("wanted").equals(pl.DataFrame([result], schema=again.schema).drop("wanted"))


def test_an_unreachable_width_is_a_row_of_nulls() -> None:
    table = lx.plan_width(candidates=400, n=[100, 400], precisions=[0.3], widths=[0.12])
    assert table["rate"].is_null().to_list() == [True, False]
    row = table.row(0, named=True)
    assert {name for name, value in row.items() if value is not None} == {
        "wanted",
        "n",
        "precision",
    }
    finite = lx.plan_width(
        candidates=400, n=[100], precisions=[0.3], widths=[0.12], interval="hypergeometric"
    )
    assert finite["rate"].item() < 1


def test_draws_with_replacement_have_other_widths() -> None:
    how: dict[str, Any] = {"candidates": 100, "n": [50], "precisions": [0.3], "rates": [0.5]}
    without, again = (lx.plan_width(**how, replacement=again) for again in (False, True))
    assert without["n_sampled"].item() == pytest.approx(again["n_sampled"].item())
    assert without["width"].item() != again["width"].item()


def test_progress_is_reported_for_every_row() -> None:
    events: list[object] = []

    def track(items: Any) -> Any:
        for item in items:
            events.append(item)
            yield item

    table = lx.plan_width(candidates=50, n=[5, 9], precisions=[0.3], track=track)
    assert len(events) == table.height == 8


def test_all_errors_are_reported_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        lx.plan_width(
            candidates=100, n=[0, 101], precisions=[30.0], rates=[0.0, 15, 200],
            interval="wilsn", confidence=95,
        )  # fmt: skip
    lines = str(error.value).splitlines()
    assert lines[0] == "size: 8 errors"
    for text in (
        "n: no list of 101 among 100 candidates; give 1 to 100",
        "rate: 0 is not a sampling rate above 0 and up to 1; give a proportion",
        "rate: 15 is not a sampling rate above 0 and up to 1; 15 % is 0.15",
        "precision: 30 is not between 0 and 1; 30 % is 0.3",
        "interval: unknown interval 'wilsn'; did you mean wilson?",
        "confidence: 95 is not between 0 and 1; 95 % is 0.95",
    ):
        assert f"  - {text}" in lines


@pytest.mark.parametrize(("change", "message"), [
    ({"candidates": 0}, "candidates: 0 candidates"), ({"n": []}, "no list size"),
    ({"precisions": []}, "precision: none is given"), ({"rates": []}, "no sampling rate"),
    ({"widths": [1.0]}, "width: 1 is not between"), ({"precisions": [-0.1]}, "-0.1 is not between"),
    ({"interval": "hypergeometric", "replacement": True}, "use clopper_pearson"),
])  # fmt: skip
def test_invalid_options_of_widths_are_refused(change: dict[str, object], message: str) -> None:
    inputs: dict[str, Any] = {
        "candidates": 100,
        "n": [10],
        "precisions": [0.5],
        "rates": [0.1],
        **change,
    }
    with pytest.raises(ConfigError, match=message):
        lx.plan_width(**inputs)
