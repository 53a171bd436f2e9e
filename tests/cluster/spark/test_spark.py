"""Experiments with tasks on Spark: the digests equal those of the engine `local`."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import venv
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pipeline.engine.spark import mapper
from tests.cluster.spark.standalone import Standalone
from tests.experiments.test_collocations import corpus
from tests.runner.commands import finish
from tests.runner.laboratory import Gate, Laboratory, assert_whole, build, wait_until

SPARK_RUNS = ("--set", "run.engine=spark")
SPARK_KILLS = max(2, int(os.environ.get("LEXASSAY_KILLS", "3")) // 3)
COUNTED_RUNS = """
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
def counting_laboratory(tmp_path: Path) -> Laboratory:
    """A corpus of three shards, and so little memory that counts are merged in buckets."""
    corpus(tmp_path)
    (tmp_path / "scale.toml").write_text(COUNTED_RUNS)
    return Laboratory(tmp_path, tmp_path / "runs", "scale", "scale")


def force_options(laboratory: Laboratory) -> tuple[str, ...]:
    return tuple(word for name in laboratory.digests() for word in ("--force", name))


def test_counts_of_a_corpus_equal_those_of_the_local_engine(
    counting_laboratory: Laboratory, either: str
) -> None:
    counting_laboratory.run()
    before = counting_laboratory.digests()
    outcome = counting_laboratory.execute(
        "run", *SPARK_RUNS, *force_options(counting_laboratory), cwd=counting_laboratory.folder
    )
    assert outcome.code == 0, outcome.text
    assert counting_laboratory.reran() == set(before)
    assert counting_laboratory.digests() == before


def test_an_error_in_the_data_is_that_of_the_local_engine(tmp_path: Path, either: str) -> None:
    laboratory = build(tmp_path)
    with (tmp_path / "part1.tsv").open("a") as file:
        file.write("in:A\tb\tmany\t1\t1\t100000\n")
    plain, there = laboratory.execute("run"), laboratory.execute("run", *SPARK_RUNS)
    assert (plain.code, there.code) == (1, 1)
    assert "many" in plain.err
    lines = [line for line in plain.err.splitlines() if "many" in line]
    assert all(line in there.err for line in lines), there.err


def finished_shards(laboratory: Laboratory) -> int:
    """Return the number of finished shards of the slow stage."""
    return len(list(laboratory.root.glob("slow/.partial-*/shard-*/manifest.json")))


@pytest.fixture
def waiting_run(tmp_path: Path, plugin: Path, cluster: Standalone) -> tuple[Laboratory, Gate, Any]:
    """A run with one finished slow shard of three, while the others wait for a gate."""
    laboratory = build(tmp_path)
    gate = laboratory.insert_gate()
    gate.permit()
    process = laboratory.start("run", *SPARK_RUNS, path=[plugin])
    wait_until(lambda: finished_shards(laboratory) == 1 or process.poll() is not None, laboratory)
    assert process.poll() is None, finish(process).text
    return laboratory, gate, process


def compare(laboratory: Laboratory, plugin: Path) -> None:
    """Compare the newest run with a run by the engine `local`."""
    local = replace(laboratory, runs=laboratory.folder / "local")
    plain = local.execute("run", path=[plugin])
    assert plain.code == 0, plain.text
    assert laboratory.digests() == local.digests()
    assert_whole(laboratory.root)


def test_a_run_survives_a_killed_worker(
    waiting_run: tuple[Laboratory, Gate, Any], plugin: Path, cluster: Standalone
) -> None:
    laboratory, gate, process = waiting_run
    cluster.workers[0].kill()
    gate.open()
    outcome = finish(process)
    assert outcome.code == 0, outcome.text
    compare(laboratory, plugin)


def test_a_run_resumes_after_a_killed_driver(
    waiting_run: tuple[Laboratory, Gate, Any], plugin: Path
) -> None:
    laboratory, gate, process = waiting_run
    process.kill()
    assert finish(process).code == -signal.SIGKILL
    before = finished_shards(laboratory)
    gate.open()
    outcome = laboratory.execute("run", *SPARK_RUNS, path=[plugin])
    assert outcome.code == 0, outcome.text
    resumed = [each["resumed"] for each in laboratory.events("stage_started")]
    assert before == 1
    assert max(resumed) >= before  # shards that orphaned tasks have finished meanwhile also count
    compare(laboratory, plugin)


def test_runs_go_on_after_random_kills(tmp_path: Path, cluster: Standalone) -> None:
    """The driver or a worker of Spark is killed; a run whose driver was killed runs again."""
    laboratory, draw = build(tmp_path, shards=4), random.Random(2005)
    began = time.monotonic()
    laboratory.run()
    local, driver_kills = laboratory.digests(), 0
    outcome = replace(laboratory, runs=tmp_path / "whole").execute("run", *SPARK_RUNS)
    assert outcome.code == 0, outcome.text
    seconds = time.monotonic() - began
    for number in range(SPARK_KILLS):
        killed = replace(laboratory, runs=tmp_path / f"runs-{number}")
        process = killed.start("run", *SPARK_RUNS)
        time.sleep(draw.uniform(0, seconds))
        (process if number % 2 else draw.choice(cluster.workers)).kill()
        outcome = finish(process)
        cluster.mend()
        if outcome.code == -signal.SIGKILL:
            driver_kills += 1
            outcome = killed.execute("run", *SPARK_RUNS)
        assert outcome.code == 0, outcome.text
        assert killed.digests() == local
        assert_whole(killed.root)
    print(f"{driver_kills} killed drivers, {(SPARK_KILLS + 1) // 2} killed workers")


# Corpus and results on an object store; workers see no file of the machine of the run.

on_a_store = pytest.mark.skipif(
    not (find_spec("obstore") and find_spec("moto")), reason="obstore or moto is not installed"
)


def options_with(cluster: Standalone, folder: Path, environment: dict[str, str]) -> Path:
    """Write options of Spark with additional environment variables of workers."""
    conf = folder / "conf"
    conf.mkdir()
    own = (cluster.folder / "spark-defaults.conf").read_text()
    settings = "".join(f"spark.executorEnv.{name} {value}\n" for name, value in environment.items())
    (conf / "spark-defaults.conf").write_text(own + settings)
    return conf


@on_a_store
def test_workers_fetch_the_corpus(
    cluster: Standalone, home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline.runner.store.cloud import Bucket

    corpus(tmp_path)
    (tmp_path / "scale.toml").write_text(COUNTED_RUNS)
    here = Laboratory(tmp_path, tmp_path / "runs", "scale", "scale")
    here.run()
    for path in tmp_path.glob("*.conllu"):
        Bucket(home).put(f"corpus/{path.name}", path)
        path.unlink()
    (tmp_path / "scale.toml").write_text(
        COUNTED_RUNS.replace("*.conllu", f"{home}/corpus/*.conllu")
    )
    there = replace(here, runs=Path(f"{home}/runs"))
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    access = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    options = options_with(cluster, tmp_path, {**access, "LEXASSAY_STORE_CACHE": str(theirs)})
    monkeypatch.setenv("SPARK_CONF_DIR", str(options))
    mine.mkdir()
    # The number of an open folder is only valid in the process that has opened it.
    opened = os.open(mine, os.O_RDONLY)
    monkeypatch.setenv("LEXASSAY_STORE_CACHE", f"/dev/fd/{opened}")
    try:
        outcome = there.execute("run", *SPARK_RUNS, cwd=there.folder, pass_fds=(opened,))
    finally:
        os.close(opened)
    assert outcome.code == 0, outcome.text
    assert len([*mine.rglob("*.conllu")]) == 3
    assert len([*theirs.rglob("*.conllu")]) == 3
    monkeypatch.setenv("LEXASSAY_STORE_CACHE", str(theirs))
    assert there.digests() == here.digests()


# The code sent to workers, and messages on an unsuitable Python

_BARE = """
import pickle, sys
sys.modules.update(lexassay=None, pipeline=None)
import pyarrow
from pyspark import cloudpickle
work = cloudpickle.load(sys.stdin.buffer)
batch = pyarrow.RecordBatch.from_pydict({"work": [b"unread"]})
print(pickle.loads(next(work(iter([batch])))["answer"][0].as_py()))
"""


@on_a_store
def test_a_task_can_be_unpacked_without_lexassay() -> None:
    from pyspark import cloudpickle

    packed = cloudpickle.dumps(mapper("1.0", "."))
    result = subprocess.run(
        [sys.executable, "-c", _BARE], input=packed, capture_output=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(b"(None, 'the Python of a worker (")
    assert b"cannot import lexassay" in result.stdout


@on_a_store
def test_a_worker_without_packages_is_reported(
    tmp_path: Path, cluster: Standalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    laboratory = build(tmp_path / "laboratory")
    monkeypatch.setenv("PYSPARK_PYTHON", str(tmp_path / "bare" / "bin" / "python"))
    outcome = laboratory.execute("run", "--set", "run.engine=spark")
    assert outcome.code == 2, outcome.text
    assert "run.engine: the workers' Python cannot run tasks: PythonException" in outcome.err
    assert "No module named" in outcome.err
    assert "PYSPARK_PYTHON" in outcome.err
