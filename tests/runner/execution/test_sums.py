"""Sums over all buckets of counts: tasks of their own, whose columns stand beside the counts."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline.runner import inputs
from tests.runner.execution.batching import (
    BUCKETS,
    SHARDS,
    counts,
    do,
    do_all,
    elsewhere,
    given,
    phases,
)
from tests.runner.laboratory import Laboratory, change

PAIRS = 'relation = "sentence"\nleft = { label = "{form}" }\nright = { label = "{form}" }'
TUPLES = 'relation = "adjacent"\nlength = 3\nunit = { label = "{form}" }'
ALL = ["count", "merge", "counts", "sum", "combine", "result"]


@pytest.fixture
def tuples(texts: Laboratory, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    """An experiment that counts tuples of three, alone, in few buckets."""
    monkeypatch.setattr(inputs, "_SPREAD", 70)
    change(texts.config, "extract.pairs", "extract.tuples")
    change(texts.config, PAIRS, TUPLES)
    text = texts.config.read_text()
    texts.config.write_text(text[: text.index("[stages.scores]")])
    return texts


def sums(laboratory: Laboratory) -> list[Path]:
    return sorted(laboratory.root.glob("candidates/.partial-*/sum-*/sums*.parquet"))


@pytest.mark.parametrize(
    "options", [BUCKETS, pytest.param(f"{BUCKETS}\n{SHARDS}", marks=pytest.mark.long)]
)
def test_task_by_task_they_are_what_a_run_gives(tuples: Laboratory, options: str) -> None:
    whole = elsewhere(tuples)
    given(tuples, options)
    found = phases(tuples, "candidates")
    assert [len(found["sum"]["todo"]), len(found["combine"]["todo"]) > 2] == [2, True]
    assert do_all(tuples, "candidates") == ALL
    tuples.run()
    assert tuples.outcomes() == {"candidates": "reused"}
    assert tuples.digests() == whole


def test_they_stand_beside_the_counts(tuples: Laboratory) -> None:
    """A part for each part of the counts, its rows in their order."""
    given(tuples, BUCKETS)
    found = phases(tuples, "candidates")
    for name in ALL[:4]:
        do(tuples, "candidates", *found[name]["todo"])
    [made] = counts(tuples)
    parts = [pl.read_parquet(path) for path in sorted(made.glob("counts/part-*.parquet"))]
    everything = pl.concat(parts)
    first = pl.col("units").cast(pl.String).str.split("\x1f").list.first()
    expected = everything.select(
        f1=pl.col("f").sum().over(first), N=pl.col("f").sum(), enough=pl.col("f") >= 2
    )
    of_one = sorted(
        (path for path in sums(tuples) if path.parent.name.endswith("-0")),
        key=lambda path: int(path.stem.rpartition("-")[2]) if "-" in path.stem else 0,
    )
    beside = [pl.read_parquet(path) for path in of_one]
    assert [each.height for each in beside] == [each.height for each in parts]
    there = pl.concat(beside)
    assert there["N"].to_list() == expected["N"].to_list()
    wanted = expected.select(pl.when("enough").then("f1")).to_series()
    assert there["f1"].to_list() == wanted.to_list()


def test_a_run_goes_on_where_tasks_have_summed(tuples: Laboratory) -> None:
    given(tuples, BUCKETS)
    found = phases(tuples, "candidates")
    for name in ALL[:3]:
        do(tuples, "candidates", *found[name]["todo"])
    do(tuples, "candidates", found["sum"]["first"])
    [of_one] = {path.parent for path in sums(tuples)}
    written = [path.stat().st_mtime_ns for path in sorted(of_one.iterdir())]
    assert phases(tuples, "candidates")["sum"]["todo"] == [found["sum"]["last"]]
    do(tuples, "candidates", found["sum"]["last"])
    assert written == [path.stat().st_mtime_ns for path in sorted(of_one.iterdir())]
    tuples.run()
    assert tuples.digests() == elsewhere(tuples)


@pytest.mark.long
def test_sums_of_counts_in_other_parts_are_not_taken(
    tuples: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(tuples, BUCKETS)
    found = phases(tuples, "candidates")
    for name in ALL[:4]:
        do(tuples, "candidates", *found[name]["todo"])
    [made] = counts(tuples)
    (made / "manifest.json").unlink()
    change(tuples.config, BUCKETS, 'memory = "2MB"')
    others = phases(tuples, "candidates")
    assert len(others["combine"]["todo"]) not in {1, len(found["combine"]["todo"])}
    assert do_all(tuples, "candidates") == ALL
    tuples.run()
    assert tuples.digests() == elsewhere(tuples)


def test_damaged_sums_are_named_and_made_again(tuples: Laboratory) -> None:
    given(tuples, BUCKETS)
    found = phases(tuples, "candidates")
    for name in ALL[:4]:
        do(tuples, "candidates", *found[name]["todo"])
    part = sums(tuples)[0]
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 0x01
    part.write_bytes(content)
    told = [tuples.call("task", "candidates", str(n)) for n in found["combine"]["todo"]]
    [wrong] = [each for each in told if each.code]
    assert f"{part} is gone or damaged; do the tasks before again" in wrong.err
    again = [tuples.call("task", "candidates", str(n)).out for n in found["sum"]["todo"]]
    assert sum("done before" in each for each in again) == len(again) - 1
    tuples.run()
    assert tuples.digests() == elsewhere(tuples)


def test_counts_in_few_buckets_are_summed_in_many(tuples: Laboratory) -> None:
    """What was counted without a limit is divided, its sums with it."""
    tuples.run()
    given(tuples, BUCKETS)
    more = ("--set", "stages.candidates.min_frequency=3")
    assert "counted; summing over all, 2 tasks" in tuples.run(*more).err
    assert len(list(tuples.artefact("candidates").glob("tuples/part-*.parquet"))) > 2
    assert tuples.digests() == elsewhere(tuples, *more)
