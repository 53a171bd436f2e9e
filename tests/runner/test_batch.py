"""The tasks of a stage, run one by one."""

from __future__ import annotations

import pytest

import lexassay as lx
from pipeline.runner import map_reduce
from pipeline.runner.fingerprint import Digests
from pipeline.runner.graph import load
from pipeline.runner.run import work_of
from pipeline.runner.store import artefacts
from tests.runner.batching import BUCKETS, SHARDS, do, do_all, elsewhere, give_options, phases
from tests.runner.commands import finish
from tests.runner.laboratory import Laboratory, change, wait_until

WAITS = "another run is working on it; waiting"
STAGES = ("candidates", "scores")
ALL = ["count", "merge", "counts", "combine", "result"]


@pytest.fixture(autouse=True)
def _use_shards_and_buckets(texts: Laboratory) -> None:
    give_options(texts, f"{BUCKETS}\n{SHARDS}")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (f"{BUCKETS}\n{SHARDS}", ALL),
        ("", ["count", "counts", "combine", "result"]),
        pytest.param(SHARDS, ALL, marks=pytest.mark.long),
        pytest.param(f'{BUCKETS}\nengine = "processes"\nworkers = 2', ALL, marks=pytest.mark.long),
    ],
)
def test_a_run_reuses_results_of_tasks(texts: Laboratory, options: str, names: list[str]) -> None:
    change(texts.config, f"{BUCKETS}\n{SHARDS}", options)
    assert do_all(texts, "candidates") == names
    assert do_all(texts, "scores") == ["run", "result"]
    texts.run()
    assert texts.outcomes() == dict.fromkeys(STAGES, "reused")
    assert texts.digests() == elsewhere(texts)
    assert texts.events("stage_started") == []
    assert list(texts.root.rglob(".staging-*")) == []
    assert {path.name for path in texts.root.glob("*/.*")} == {".lock"}


def test_the_experiment_has_several_shards_and_buckets(texts: Laboratory) -> None:
    """The other tests depend on this."""
    tasks = phases(texts, "candidates")
    assert tasks["count"]["todo"] == [0, 1, 2]
    assert tasks["merge"]["first"] == 3
    assert len(tasks["merge"]["todo"]) == len(tasks["combine"]["todo"]) > 2
    assert tasks["result"]["todo"] == [tasks["result"]["first"]] == [tasks["combine"]["last"] + 1]
    assert [each["ready"] for each in tasks.values()] == [True, False, False, False, False]


@pytest.mark.long
def test_a_run_continues_where_tasks_stopped(texts: Laboratory) -> None:
    tasks = phases(texts, "candidates")
    do(texts, "candidates", *tasks["count"]["todo"], tasks["merge"]["first"])
    assert phases(texts, "candidates")["merge"]["todo"] == tasks["merge"]["todo"][1:]
    texts.run()
    resumed = [each["resumed"] for each in texts.events("stage_started")]
    assert resumed[0] == 3
    assert texts.digests() == elsewhere(texts)


@pytest.mark.long
def test_tasks_continue_from_the_counts_of_a_run(texts: Laboratory) -> None:
    texts.run()
    change(texts.config, "min_frequency = 2", "min_frequency = 4")
    before = phases(texts, "candidates")
    assert [name for name, each in before.items() if not each["todo"]] == [
        "count",
        "merge",
        "counts",
    ]
    do_all(texts, "candidates")
    do_all(texts, "scores")
    texts.run()
    assert set(texts.outcomes().values()) == {"reused"}
    assert texts.digests() == elsewhere(texts)


def test_a_finished_task_is_not_repeated(texts: Laboratory) -> None:
    assert "task 1 done\n" in texts.call("task", "candidates", "1").out
    part = next(texts.root.glob("candidates/counts/.partial-*/shard-*/*.parquet"))
    times = part.stat().st_mtime_ns
    assert "task 1 was already done" in texts.call("task", "candidates", "1").out
    assert part.stat().st_mtime_ns == times
    assert texts.call("task", "candidates", "1", "--quiet").text == ""


@pytest.mark.long
def test_a_finished_stage_has_no_tasks_to_do(texts: Laboratory) -> None:
    texts.run()
    assert all(not each["todo"] and each["ready"] for each in phases(texts, "candidates").values())
    assert lx.task(texts.config, "candidates", 0, runs=texts.runs) is False
    assert list(texts.root.rglob(".partial-*")) == []


@pytest.mark.long
def test_a_damaged_shard_is_done_again(texts: Laboratory) -> None:
    do(texts, "candidates", 0, 1, 2)
    part = next(texts.root.glob("candidates/counts/.partial-*/shard-*/counts-1-*.parquet"))
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 0x01
    part.write_bytes(content)
    tasks = phases(texts, "candidates")["merge"]["todo"]
    outputs = [texts.call("task", "candidates", str(number)) for number in tasks]
    [wrong] = [each for each in outputs if each.code]
    assert str(part) in wrong.err
    assert "is missing or damaged; run the earlier tasks again" in wrong.err
    again = [texts.call("task", "candidates", str(number)).out for number in (0, 1, 2)]
    assert "done\n" in "".join(again)
    do_all(texts, "candidates")
    texts.run()
    assert texts.digests() == elsewhere(texts)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tasks", "scores"), "it depends on stage candidates, which is not done; first run"),
        (("tasks", "candidate"), "unknown stage; did you mean candidates?"),
        (("task", "candidates", "99"), "99: stage candidates has no such task; its tasks are 0 to"),
        (("task", "candidates", "3"), "it needs the phase count, of which 3 of 3"),
        (("slurm", "scores"), "it depends on stage candidates, which is not done"),
    ],
)
def test_tasks_that_cannot_run_yet_name_their_prerequisites(
    texts: Laboratory, words: tuple[str, ...], message: str
) -> None:
    outcome = texts.call(*words)
    assert outcome.code == 2
    assert message in outcome.err
    assert list(texts.root.rglob("part-*")) == []


def test_a_task_names_the_tasks_that_must_precede_it(texts: Laboratory) -> None:
    do(texts, "candidates", 1)
    assert "2 of 3 tasks are not done: 0,2; run them first (lexassay task CONFIG candidates 0)" in (
        texts.call("task", "candidates", "4").err
    )


@pytest.mark.long
def test_a_changed_option_does_not_mix_up_tasks(texts: Laboratory) -> None:
    do(texts, "candidates", 0, 1, 2)
    change(texts.config, BUCKETS, 'memory = "2MB"')
    assert phases(texts, "candidates")["count"]["todo"] == [0, 1, 2]


@pytest.mark.long
def test_buckets_are_known_before_counting(texts: Laboratory) -> None:
    project = load(texts.config, runs=texts.runs)
    before = work_of(project, "candidates", Digests(project.storage))
    texts.run()
    after = work_of(project, "candidates", Digests(project.storage))
    assert [(each.name, each.first) for each in before.phases] == [
        (each.name, each.first) for each in after.phases
    ]
    [there] = [each.tasks for each in after.phases if each.name == "combine"]
    assert len(map_reduce.tasks_to_combine(before.whole, None)) == len(there)
    assert {task.phase for task in there} == {"combine"}


@pytest.mark.long
def test_a_run_waits_for_tasks_and_a_task_for_a_run(texts: Laboratory) -> None:
    storage = load(texts.config, runs=texts.runs).storage
    with (
        artefacts.lock_stage(storage, "candidates", (), shared=True),
        artefacts.lock_stage(storage, "candidates", (), shared=True),
    ):
        waiting = texts.start("run")
        wait_until(lambda: texts.has_message("candidates", WAITS), texts)
    assert finish(waiting).code == 0
    assert texts.outcomes() == dict.fromkeys(STAGES, "done")
