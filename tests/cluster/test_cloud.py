"""Results and corpora on an object store: workers, whole experiments, single operations."""

from __future__ import annotations

import gzip
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pipeline as lx
from pipeline.engine import LocalEngine
from pipeline.engine.base import ENGINES
from pipeline.errors import DataError, StoreError
from pipeline.runner.store import artefacts, cloud
from pipeline.runner.store import cloud as cloud_store
from pipeline.runner.store.backends import below, digest_of, new_draft, scan_tables, storage_at
from pipeline.runner.store.cloud import TIMEOUT, Bucket, RefusedPut, address_of
from pipeline.runner.store.digest import text_digest
from pipeline.runner.store.interface import Entry, Storage
from tests.cluster.proxy import Fault, Proxy
from tests.experiments.test_collocations import corpus
from tests.runner.commands import environment
from tests.runner.laboratory import STAGES, Laboratory, build, change

EXPERIMENT = """
name = "elsewhere"
[run]
memory = "{memory}"
shard = "20KB"
engine = "{engine}"
[stages.candidates]
use = "extract.pairs"
corpus = "{corpus}*.conllu*"
relation = "sentence"
left = {{ where = "upos = 'NOUN'" }}
right = {{ where = "upos = 'VERB'" }}
"""
_WORK = (
    "import sys; from pipeline.engine.base import answer;"
    " sys.stdout.buffer.write(answer(sys.stdin.buffer.read(), '.'))"
)


class Elsewhere(LocalEngine):
    """Runs each task in a process with its own copies, while the copies of this one are hidden."""

    def __init__(self, _workers: int | None = None) -> None:
        self.tasks = 0

    def map(self, task: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        mine = cloud.folder()
        for item in items:
            self.tasks += 1
            away = mine.with_name("away")
            mine.rename(away)
            try:
                yield self._run_elsewhere(pickle.dumps((task, item)), mine.with_name("theirs"))
            finally:
                shutil.rmtree(mine, ignore_errors=True)
                away.rename(mine)

    def _run_elsewhere(self, packed: bytes, copies: Path) -> Any:
        result = subprocess.run(
            [sys.executable, "-c", _WORK], input=packed, capture_output=True, check=False,
            env=environment((), {**os.environ, cloud.FOLDER: str(copies)}),
        )  # fmt: skip
        assert result.returncode == 0, result.stderr.decode()
        is_value, value = pickle.loads(result.stdout)
        if not is_value:
            raise value
        return value


def digests(folder: Path, memory: str, there: str, runs: str, engine: str) -> dict[str, str]:
    text = EXPERIMENT.format(memory=memory, corpus=there, engine=engine)
    (folder / "x.toml").write_text(text)
    run = lx.run(folder / "x.toml", runs=folder / runs, report=False)
    return run.manifests["candidates"].digests()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("files", [3, 1])
def test_workers_fetch_the_files_that_they_read(
    files: int, packed: bool, home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three files, or one file whose parts go to several workers."""
    corpus(tmp_path, files=files)
    for path in [*tmp_path.glob("*.conllu")] if packed else ():
        path.with_suffix(".conllu.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    for path in tmp_path.glob("*.conllu*"):
        Bucket(home).put(f"corpus/{path.name}", path)
    there = Elsewhere()
    monkeypatch.setitem(ENGINES._entries, "elsewhere", lambda _: there)
    here = digests(tmp_path, "1MB", "", "here", "local")
    remote = digests(tmp_path, "1MB", f"{home}/corpus/", "there", "elsewhere")
    assert remote == here
    assert there.tasks >= 3
    assert [*(tmp_path / "theirs").rglob("*.conllu*")]


def test_a_file_deleted_during_a_run_is_reported(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus(tmp_path)
    bucket = Bucket(home)
    for path in tmp_path.glob("*.conllu"):
        bucket.put(f"corpus/{path.name}", path)

    class Gone(Elsewhere):
        def map(self, task: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            bucket.delete(["corpus/1.conllu"])
            return super().map(task, items)

    monkeypatch.setitem(ENGINES._entries, "elsewhere", Gone)
    with pytest.raises(DataError, match=r"1\.conllu\): the file or its folder does not exist"):
        digests(tmp_path, "1MB", f"{home}/corpus/", "there", "elsewhere")


# Requests of a run with nothing to do: their number does not depend on other results.

_MORE = 1_100
"""Number of other artefacts and runs: more than a store lists at once."""
COMMANDS = (("plan",), ("status",), ("run",), ("why", "scores"))
ANEW = "stages.scores.measures"


def anew(measure: str) -> list[tuple[str, ...]]:
    """Return commands with something to compute."""
    return [(each, "--set", f'{ANEW}=["{measure}"]') for each in ("plan", "run")]


@pytest.fixture
def cloud_listing(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    laboratory = build(tmp_path / "laboratory")
    monkeypatch.chdir(laboratory.folder)
    # Nothing depends on time: no renewal of a lease, no line of a log, no second try.
    monkeypatch.setenv(cloud_store.VARIABLE, "4000")
    monkeypatch.setenv(TIMEOUT, "600")
    monkeypatch.setattr("pipeline.runner.store.cloud._LOG", 4000.0)
    return replace(laboratory, runs=Path(home) / "runs")


def count_requests(cloud: Laboratory, proxy: Proxy, *command: str) -> int:
    proxy.requests.clear()
    outcome = cloud.call(*command)
    assert outcome.code == 0, outcome.text
    return len(proxy.requests)


def fill(cloud: Laboratory) -> None:
    """Add results of other options to those of a stage, and records of other runs."""
    address = address_of(cloud.root)
    assert address is not None
    bucket, record = Bucket(address.home), cloud.record()
    stage = next(key.key for key in bucket.beneath(address.key("scores")) if "manifest" in key.key)
    content, _ = bucket.read(stage)
    keys = [
        address.key(f"scores/{text_digest(str(number))[:24]}/manifest.json")
        for number in range(_MORE)
    ]
    bodies = dict.fromkeys(keys, content)
    for number in range(_MORE // 2):
        name = f"20200101T{number:06}-abcd"
        body = record.model_copy(update={"id": name}).model_dump_json().encode()
        bodies |= {address.key(f"history/{name}.{ending}"): body for ending in ("json", "jsonl")}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: bucket.put_over(*each), bodies.items()))


def test_results_that_are_not_used_cost_no_request(cloud_listing: Laboratory, proxy: Proxy) -> None:
    cloud_listing.run()
    cloud_listing.run()
    few = {command: count_requests(cloud_listing, proxy, *command) for command in COMMANDS}
    cloud_listing.run("--set", f'{ANEW}=["mi"]')  # the first of its kind stores a little more
    other = [count_requests(cloud_listing, proxy, *command) for command in anew("t_score")]
    fill(cloud_listing)
    many = {command: count_requests(cloud_listing, proxy, *command) for command in COMMANDS}
    assert many == few
    assert [count_requests(cloud_listing, proxy, *command) for command in anew("dice")] == other


# Experiments with results on a server: the same digests as in a folder

_SEED = 2026


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """The same experiment with results in a folder."""
    laboratory = build(tmp_path_factory.mktemp("local") / "laboratory")
    laboratory.run()
    return laboratory


@pytest.fixture
def cloud_runs(local: Laboratory, home: str, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    """An experiment that has never run, with results on the server."""
    folder = Path(home.removeprefix("s3://"))
    place = local.folder.parent / folder
    shutil.copytree(local.folder, place, ignore=shutil.ignore_patterns("runs", "sheets"))
    monkeypatch.chdir(place)
    return replace(local, folder=place, runs=Path(home) / "runs")


def test_results_equal_those_in_a_folder_and_are_reused(
    local: Laboratory, cloud_runs: Laboratory
) -> None:
    cloud_runs.run()
    assert cloud_runs.digests() == local.digests()
    assert cloud_runs.reran() == set(STAGES)
    cloud_runs.run()
    assert cloud_runs.reran() == set()
    assert not (cloud_runs.folder / "s3:").exists()


def test_another_machine_reuses_results(
    local: Laboratory, cloud_runs: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud_runs.run()
    monkeypatch.setenv("LEXASSAY_STORE_CACHE", str(tmp_path / "other"))
    outcome = cloud_runs.execute("run")
    assert outcome.code == 0, outcome.text
    assert cloud_runs.reran() == set()
    assert cloud_runs.digests() == local.digests()


def test_results_of_several_processes_are_the_same(
    local: Laboratory, cloud_runs: Laboratory
) -> None:
    cloud_runs.run("--set", "run.engine=processes", "--set", "run.workers=2")
    assert cloud_runs.digests() == local.digests()


@pytest.mark.parametrize("number", range(3))
def test_a_bad_network_does_not_change_results(
    local: Laboratory, cloud_runs: Laboratory, proxy: Proxy, number: int
) -> None:
    draw, lock = random.Random(f"{_SEED} {number}"), threading.Lock()
    faults: list[Fault] = ["500", "lost", "dropped"]

    def choose(_method: str, _path: str) -> Fault:
        with lock:
            return draw.choice(faults) if draw.random() < 0.1 else ""

    with proxy.failing(choose):
        for _ in range(10):
            if cloud_runs.call("run").code == 0:
                break
    cloud_runs.run()
    assert cloud_runs.digests() == local.digests()


def test_a_run_killed_before_the_manifest_is_repeated(
    local: Laboratory, cloud_runs: Laboratory, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies leaves ignored parts and a lock that expires."""
    hit = threading.Event()

    def choose(method: str, path: str) -> Fault:
        if method == "PUT" and "/scores/" in path and path.endswith("manifest.json"):
            hit.set()
            return "dropped"
        return ""

    with proxy.failing(choose):
        process = cloud_runs.start("run")
        assert hit.wait(60)
        process.kill()
        process.communicate()
    assert cloud_runs.records() == []
    outcome = cloud_runs.run()
    assert "another run is working on it; waiting" in outcome.text
    assert cloud_runs.digests() == local.digests()


def test_a_run_that_lost_its_lock_publishes_nothing(
    local: Laboratory, cloud_runs: Laboratory, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run takes over while the first is stopped between its parts and its manifest."""
    monkeypatch.setenv("LEXASSAY_STORE_LEASE", "2")
    monkeypatch.setenv("LEXASSAY_STORE_TIMEOUT", "120")
    hit, process = threading.Event(), cloud_runs.start("run")

    def choose(method: str, path: str) -> Fault:
        ours = "/scores/" in path and path.endswith("part-00000.parquet")
        if method == "PUT" and ours and not hit.is_set():
            process.send_signal(signal.SIGSTOP)
            hit.set()
        return ""

    with proxy.failing(choose):
        assert hit.wait(60)
    try:
        outcome = cloud_runs.run()
        assert "another run is working on it; waiting" in outcome.text
    finally:
        process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "another process has taken over its lock" in out + err
    cloud_runs.run()
    assert cloud_runs.reran() == set()
    assert cloud_runs.digests() == local.digests()


def test_two_runs_at_once_compute_each_result_once(
    local: Laboratory, cloud_runs: Laboratory
) -> None:
    both = [cloud_runs.start("run") for _ in range(2)]
    outputs = [each.communicate(timeout=120) for each in both]
    assert [each.returncode for each in both] == [0, 0], outputs
    names = [
        name
        for record in cloud_runs.records()
        for name, stage in record.stages.items()
        if stage.outcome == "done"
    ]
    assert sorted(names) == sorted(STAGES)
    assert cloud_runs.digests() == local.digests()


def test_annotation_on_an_object_store_is_refused(cloud_runs: Laboratory) -> None:
    message = cloud_runs.call("annotate").text
    assert "is on an object store; give a local folder with --runs" in message


def test_a_damaged_result_is_computed_again(local: Laboratory, cloud_runs: Laboratory) -> None:
    cloud_runs.run()
    storage = storage_at(cloud_runs.root)
    key = next(each.key for each in below(storage, "scores") if each.key.endswith(".parquet"))
    with storage.open(key) as opened:
        whole = opened.read()
    storage.write(key, whole[:-9] + b"x" + whole[-8:])
    cloud_runs.run()
    assert "scores" in cloud_runs.reran()
    assert cloud_runs.digests() == local.digests()


def test_a_corpus_can_be_read_from_the_store(local: Laboratory, cloud_runs: Laboratory) -> None:
    address = address_of(cloud_runs.runs)
    assert address is not None
    bucket = Bucket(address.home)
    for path in cloud_runs.folder.glob("part*.tsv"):
        bucket.put(f"corpus/{path.name}", path)
        path.unlink()
    bucket.put("corpus/notes.txt", b"none of it")
    change(cloud_runs.config, '"part*.tsv"', f'"{address.home}/corpus/part*.tsv"')
    cloud_runs.run()
    assert cloud_runs.digests() == local.digests()
    change(cloud_runs.config, "part*.tsv", "page*.tsv")
    assert "the store has no such object" in cloud_runs.call("run").text


def test_the_report_is_local_and_results_are_on_the_store(cloud_runs: Laboratory) -> None:
    outcome = cloud_runs.run("--report")
    page = "/".join(("runs", *cloud_runs.root.parts)).replace("s3:", "s3") + "/report/index.html"
    assert f"report: {page}" in outcome.text
    assert (cloud_runs.folder / page).is_file()
    status = cloud_runs.call("status")
    assert f"7 of 7 stages done, in s3://{'/'.join(cloud_runs.root.parts[1:])}" in status.text
    assert cloud_runs.call("show", "precision").code == 0
    assert cloud_runs.call("gc").code == 0
    assert cloud_runs.call("plan").code == 0


# Operations on a server: their guarantees and their requests


@pytest.fixture
def storage(home: str) -> Storage:
    return storage_at(Path(home) / "runs" / "small")


def read_object(storage: Storage, key: str) -> bytes:
    with storage.open(key) as opened:
        return opened.read()


def keys(storage: Storage) -> list[str]:
    return [entry.key for entry in below(storage, "")]


def publish(storage: Storage, name: str, *rows: int) -> str | None:
    with new_draft(storage, name) as draft:
        storage.write(f"{draft}/table/part.parquet", pl.DataFrame({"n": rows}))
        storage.write(f"{draft}/{artefacts.NAME}", str(rows).encode())
        return storage.publish(draft, name)


def test_the_server_refuses_a_second_conditional_put(home: str) -> None:
    bucket = Bucket(home)
    bucket.put("k", b"one")
    first = bucket.head("k")
    with pytest.raises(RefusedPut):
        bucket.put("k", b"two")
    bucket.put("k", b"two", over=first)
    with pytest.raises(RefusedPut):
        bucket.put("k", b"three", over=first)
    assert bucket.read("k")[0] == b"two"


def test_write_replaces_an_object_unless_it_must_be_new(storage: Storage) -> None:
    storage.write("a/b", b"old")
    storage.write("a/b", b"new")
    with pytest.raises(FileExistsError):
        storage.write("a/b", b"newer", new=True)
    assert read_object(storage, "a/b") == b"new"
    assert keys(storage) == ["a/b"]


def test_list_returns_one_level_sorted_by_name(storage: Storage) -> None:
    for key in ("b", "a/1", "a/2", "ab/x", ".hidden/x"):
        storage.write(key, b"xy")
    assert list(storage.list()) == [
        Entry(".hidden", None), Entry("a", None), Entry("ab", None), Entry("b", 2)
    ]  # fmt: skip
    assert list(storage.list("a")) == [Entry("a/1", 2), Entry("a/2", 2)]
    assert list(storage.list("nothing")) == []


def test_an_unpublished_draft_is_removed_without_requests(storage: Storage, proxy: Proxy) -> None:
    with new_draft(storage, "scores/3f2a") as draft:
        storage.write(f"{draft}/part", b"x")
        assert read_object(storage, f"{draft}/part") == b"x"
    assert list(storage.list(draft)) == []
    assert proxy.requests == []


def test_the_manifest_is_sent_last(storage: Storage, proxy: Proxy) -> None:
    assert publish(storage, "scores/3f2a", 1, 2) is None
    names = [path.rpartition("/")[2] for method, path in proxy.requests if method == "PUT"]
    assert names == ["part.parquet", artefacts.NAME]
    scanned = scan_tables(storage, ["scores/3f2a/table/part.parquet"]).collect()
    assert scanned["n"].to_list() == [1, 2]


def test_replaced_results_are_set_aside(storage: Storage) -> None:
    publish(storage, "scores/3f2a", 1)
    assert publish(storage, "scores/3f2a", 2) == "scores/.aside-3f2a-1"
    assert publish(storage, "scores/3f2a", 3) == "scores/.aside-3f2a-2"
    rows = [
        scan_tables(storage, [f"scores/{name}/table/part.parquet"]).collect()["n"].to_list()
        for name in ("3f2a", ".aside-3f2a-1", ".aside-3f2a-2")
    ]
    assert rows == [[3], [1], [2]]
    assert read_object(storage, "scores/.aside-3f2a-1/manifest.json") == b"(1,)"


def test_the_store_copies_a_linked_part(storage: Storage, proxy: Proxy) -> None:
    publish(storage, "scores/.partial-3f2a/shard-1", 1, 2)
    with new_draft(storage, "scores/3f2a") as draft:
        name = f"{draft}/table/part-00000.parquet"
        storage.link("scores/.partial-3f2a/shard-1/table/part.parquet", name)
        assert scan_tables(storage, [name]).collect().height == 2
        storage.write(f"{draft}/{artefacts.NAME}", b"{}")
        proxy.requests.clear()
        storage.publish(draft, "scores/3f2a")
    fetched = [path for method, path in proxy.requests if method == "GET" and "part-" in path]
    assert fetched == []
    assert digest_of(storage, "scores/3f2a/table/part-00000.parquet") == digest_of(
        storage, "scores/.partial-3f2a/shard-1/table/part.parquet"
    )


def test_objects_can_be_appended_to_moved_and_removed(storage: Storage) -> None:
    storage.write("history/log", b"")
    storage.append("history/log", "one")
    storage.append("history/log", "ö")
    storage.write("history/record", b"x")
    assert read_object(storage, "history/log") == "one\nö\n".encode()
    storage.move("history/log", "history/other")
    storage.remove("history/record")
    storage.remove("history/nothing")
    assert keys(storage) == ["history/other"]
    storage.remove("history")
    assert keys(storage) == []


def test_removal_of_a_folder_keeps_others_with_the_same_prefix(storage: Storage) -> None:
    for key in ("a/1", "ab/1", "a.b"):
        storage.write(key, b"x")
    storage.remove("a")
    assert keys(storage) == ["a.b", "ab/1"]


def test_a_part_that_changed_on_the_store_is_read_again(storage: Storage) -> None:
    publish(storage, "scores/3f2a", 1)
    before = digest_of(storage, "scores/3f2a/table/part.parquet")
    storage.write("scores/3f2a/table/part.parquet", b"harmed")
    assert digest_of(storage, "scores/3f2a/table/part.parquet") != before


def test_listing_a_folder_needs_one_request_per_thousand_names(
    storage: Storage, proxy: Proxy
) -> None:
    for number in range(60):
        for part in range(3):
            storage.write(f"scores/{number:04}/table/{part}", b"")
    proxy.requests.clear()
    assert sum(1 for _ in storage.list("scores")) == 60
    assert len(proxy.requests) == 1


def test_a_storage_can_be_sent_to_workers(storage: Storage) -> None:
    storage.write("key", b"x")
    copy: Storage = pickle.loads(pickle.dumps(storage))
    assert read_object(copy, "key") == b"x"
    assert copy.location("key") == storage.location("key")


def test_a_missing_bucket_is_reported(home: str) -> None:
    absent = storage_at(Path(f"{home}-absent/runs"))
    with (
        pytest.raises(StoreError, match=r"the run: .*: the bucket does not exist; create it first"),
        absent.explain_errors("the run", ""),
        absent.lock(".lock", lambda: None),
    ):
        pytest.fail("there is none")
    with pytest.raises(StoreError, match="the bucket does not exist"):
        list(absent.list())


def test_an_address_is_the_same_as_a_path(home: str) -> None:
    assert address_of(Path(home) / "a" / "b") == address_of(f"{home}/a/b")
