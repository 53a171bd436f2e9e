"""Experiments whose tasks Spark runs: the digests are those of the engine `local`."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.spark.standalone import Standalone
from tests.experiments.test_scale import corpus
from tests.runner.commands import finish
from tests.runner.laboratory import Gate, Laboratory, assert_whole, build, wait_until

SPARK = ("--set", "run.engine=spark")
COUNTED = """
name = "scale"
[run]
memory = "1MB"
workers = 2
shard = 1
[stages.candidates]
use = "extract.pairs"
corpus = "*.conllu"
relation = "sentence"
left = { where = "upos = 'NOUN'" }
right = { where = "upos = 'VERB'" }
[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["t_score"]
"""


@pytest.fixture
def counted(tmp_path: Path) -> Laboratory:
    """A corpus of three shards, with so little memory that counts are put together in buckets."""
    corpus(tmp_path)
    (tmp_path / "scale.toml").write_text(COUNTED)
    return Laboratory(tmp_path, tmp_path / "runs", "scale", "scale")


def forced(laboratory: Laboratory) -> tuple[str, ...]:
    return tuple(word for name in laboratory.digests() for word in ("--force", name))


def test_counts_of_a_corpus(counted: Laboratory, either: str) -> None:
    counted.run()
    before = counted.digests()
    done = counted.execute("run", *SPARK, *forced(counted), cwd=counted.folder)
    assert done.code == 0, done.text
    assert counted.reran() == set(before)
    assert counted.digests() == before


def test_an_error_in_the_data_is_that_of_the_engine_local(tmp_path: Path, either: str) -> None:
    laboratory = build(tmp_path)
    with (tmp_path / "part1.tsv").open("a") as file:
        file.write("in:A\tb\tmany\t1\t1\t100000\n")
    plain, there = laboratory.execute("run"), laboratory.execute("run", *SPARK)
    assert (plain.code, there.code) == (1, 1)
    assert "many" in plain.err
    said = [line for line in plain.err.splitlines() if "many" in line]
    assert all(line in there.err for line in said), there.err


def finished(laboratory: Laboratory) -> int:
    """Return how many shards of the slow stage lie there finished."""
    return len(list(laboratory.root.glob("slow/.partial-*/shard-*/manifest.json")))


@pytest.fixture
def gated(tmp_path: Path, plugin: Path, cluster: Standalone) -> tuple[Laboratory, Gate, Any]:
    """A run of which one slow shard of three is finished, and the others wait before a gate."""
    laboratory = build(tmp_path)
    gate = laboratory.insert_gate()
    gate.permit()
    process = laboratory.start("run", *SPARK, path=[plugin])
    wait_until(lambda: finished(laboratory) == 1 or process.poll() is not None, laboratory)
    assert process.poll() is None, finish(process).text
    return laboratory, gate, process


def compare(laboratory: Laboratory, plugin: Path) -> None:
    """Check the newest run against one by the engine `local`."""
    local = replace(laboratory, runs=laboratory.folder / "local")
    plain = local.execute("run", path=[plugin])
    assert plain.code == 0, plain.text
    assert laboratory.digests() == local.digests()
    assert_whole(laboratory.root)


def test_a_worker_that_is_killed(
    gated: tuple[Laboratory, Gate, Any], plugin: Path, cluster: Standalone
) -> None:
    laboratory, gate, process = gated
    cluster.workers[0].kill()
    gate.open()
    done = finish(process)
    assert done.code == 0, done.text
    compare(laboratory, plugin)


def test_a_driver_that_is_killed(gated: tuple[Laboratory, Gate, Any], plugin: Path) -> None:
    laboratory, gate, process = gated
    process.kill()
    assert finish(process).code == -signal.SIGKILL
    before = finished(laboratory)
    gate.open()
    done = laboratory.execute("run", *SPARK, path=[plugin])
    assert done.code == 0, done.text
    resumed = [each["resumed"] for each in laboratory.events("stage_started")]
    assert before == 1
    assert max(resumed) >= before  # what the orphaned tasks have finished meanwhile counts too
    compare(laboratory, plugin)
