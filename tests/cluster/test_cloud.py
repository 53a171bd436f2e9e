"""Workers on machines that do not see the copies of this one: they fetch a corpus themselves."""

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
    """Runs each task in a process with copies of its own, while those of this one are away."""

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
        done = subprocess.run(
            [sys.executable, "-c", _WORK], input=packed, capture_output=True, check=False,
            env=environment((), {**os.environ, cloud.FOLDER: str(copies)}),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        well, found = pickle.loads(done.stdout)
        if not well:
            raise found
        return found


def digests(folder: Path, memory: str, there: str, runs: str, engine: str) -> dict[str, str]:
    text = EXPERIMENT.format(memory=memory, corpus=there, engine=engine)
    (folder / "x.toml").write_text(text)
    run = lx.run(folder / "x.toml", runs=folder / runs, report=False)
    return run.manifests["candidates"].digests()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("files", [3, 1])
def test_they_fetch_what_they_read(
    files: int, packed: bool, home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three files, or one that is cut: its parts go to several workers."""
    corpus(tmp_path, files=files)
    for path in [*tmp_path.glob("*.conllu")] if packed else ():
        path.with_suffix(".conllu.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    for path in tmp_path.glob("*.conllu*"):
        Bucket(home).put(f"corpus/{path.name}", path)
    there = Elsewhere()
    monkeypatch.setitem(ENGINES._entries, "elsewhere", lambda _: there)
    here = digests(tmp_path, "1MB", "", "here", "local")
    found = digests(tmp_path, "1MB", f"{home}/corpus/", "there", "elsewhere")
    assert found == here
    assert there.tasks >= 3
    assert [*(tmp_path / "theirs").rglob("*.conllu*")]


def test_what_is_gone_meanwhile_is_told(
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


# Requests of a run with nothing to do: as many among thousands of results as among few.

_MORE = 1_100
"""Artefacts and runs besides: more than a store lists at once."""
COMMANDS = (("plan",), ("status",), ("run",), ("why", "scores"))
ANEW = "stages.scores.measures"


def anew(measure: str) -> list[tuple[str, ...]]:
    """Return commands that have something to do."""
    return [(each, "--set", f'{ANEW}=["{measure}"]') for each in ("plan", "run")]


@pytest.fixture
def cloud_listing(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    found = build(tmp_path / "laboratory")
    monkeypatch.chdir(found.folder)
    # Nothing that the clock brings: no beat of a lease, no line of a log, no second try.
    monkeypatch.setenv(cloud_store.VARIABLE, "4000")
    monkeypatch.setenv(TIMEOUT, "600")
    monkeypatch.setattr("pipeline.runner.store.cloud._LOG", 4000.0)
    return replace(found, runs=Path(home) / "runs")


def count_requests(cloud: Laboratory, proxy: Proxy, *command: str) -> int:
    proxy.requests.clear()
    done = cloud.call(*command)
    assert done.code == 0, done.text
    return len(proxy.requests)


def fill(cloud: Laboratory) -> None:
    """Put results of other options beside those of a stage, and records of other runs."""
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


def test_what_is_not_used_costs_no_request(cloud_listing: Laboratory, proxy: Proxy) -> None:
    cloud_listing.run()
    cloud_listing.run()
    few = {command: count_requests(cloud_listing, proxy, *command) for command in COMMANDS}
    cloud_listing.run("--set", f'{ANEW}=["mi"]')  # the first of its kind remembers a little more
    other = [count_requests(cloud_listing, proxy, *command) for command in anew("t_score")]
    fill(cloud_listing)
    many = {command: count_requests(cloud_listing, proxy, *command) for command in COMMANDS}
    assert many == few
    assert [count_requests(cloud_listing, proxy, *command) for command in anew("dice")] == other


# Whole experiments with results on a server: the same digests as in a folder.

_SEED = 2026


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """The same experiment with its results in a folder."""
    found = build(tmp_path_factory.mktemp("local") / "laboratory")
    found.run()
    return found


@pytest.fixture
def cloud_runs(local: Laboratory, home: str, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    """An experiment that has never run, its results on the server."""
    folder = Path(home.removeprefix("s3://"))
    place = local.folder.parent / folder
    shutil.copytree(local.folder, place, ignore=shutil.ignore_patterns("runs", "sheets"))
    monkeypatch.chdir(place)
    return replace(local, folder=place, runs=Path(home) / "runs")


def test_digests_are_those_of_a_folder_and_are_used_again(
    local: Laboratory, cloud_runs: Laboratory
) -> None:
    cloud_runs.run()
    assert cloud_runs.digests() == local.digests()
    assert cloud_runs.reran() == set(STAGES)
    cloud_runs.run()
    assert cloud_runs.reran() == set()
    assert not (cloud_runs.folder / "s3:").exists()


def test_another_machine_uses_them_too(
    local: Laboratory, cloud_runs: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud_runs.run()
    monkeypatch.setenv("LEXASSAY_STORE_CACHE", str(tmp_path / "other"))
    done = cloud_runs.execute("run")
    assert done.code == 0, done.text
    assert cloud_runs.reran() == set()
    assert cloud_runs.digests() == local.digests()


def test_workers_publish_too(local: Laboratory, cloud_runs: Laboratory) -> None:
    cloud_runs.run("--set", "run.engine=processes", "--set", "run.workers=2")
    assert cloud_runs.digests() == local.digests()


@pytest.mark.parametrize("number", range(3))
def test_a_bad_network_changes_nothing(
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


def test_killed_between_parts_and_manifest(
    local: Laboratory, cloud_runs: Laboratory, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies leaves parts that count for nothing, and a lock that expires."""
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
    done = cloud_runs.run()
    assert "another run is working on it; waiting" in done.text
    assert cloud_runs.digests() == local.digests()


def test_who_was_stopped_and_wakes_up_publishes_nothing(
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
        done = cloud_runs.run()
        assert "another run is working on it; waiting" in done.text
    finally:
        process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "another process has taken over its lock" in out + err
    cloud_runs.run()
    assert cloud_runs.reran() == set()
    assert cloud_runs.digests() == local.digests()


def test_two_at_once_make_each_result_once(local: Laboratory, cloud_runs: Laboratory) -> None:
    both = [cloud_runs.start("run") for _ in range(2)]
    said = [each.communicate(timeout=120) for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    made = [
        name
        for record in cloud_runs.records()
        for name, stage in record.stages.items()
        if stage.outcome == "done"
    ]
    assert sorted(made) == sorted(STAGES)
    assert cloud_runs.digests() == local.digests()


def test_what_needs_a_folder_says_so(cloud_runs: Laboratory) -> None:
    said = cloud_runs.call("annotate").text
    assert "is on an object store; give a local folder with --runs" in said


def test_a_result_that_was_harmed_is_made_anew(local: Laboratory, cloud_runs: Laboratory) -> None:
    cloud_runs.run()
    storage = storage_at(cloud_runs.root)
    key = next(each.key for each in below(storage, "scores") if each.key.endswith(".parquet"))
    with storage.open(key) as opened:
        whole = opened.read()
    storage.write(key, whole[:-9] + b"x" + whole[-8:])
    cloud_runs.run()
    assert "scores" in cloud_runs.reran()
    assert cloud_runs.digests() == local.digests()


def test_a_corpus_on_the_store(local: Laboratory, cloud_runs: Laboratory) -> None:
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


def test_the_report_lies_here_and_the_rest_there(cloud_runs: Laboratory) -> None:
    done = cloud_runs.run("--report")
    page = "/".join(("runs", *cloud_runs.root.parts)).replace("s3:", "s3") + "/report/index.html"
    assert f"report: {page}" in done.text
    assert (cloud_runs.folder / page).is_file()
    said = cloud_runs.call("status")
    assert f"7 of 7 stages done, in s3://{'/'.join(cloud_runs.root.parts[1:])}" in said.text
    assert cloud_runs.call("show", "precision").code == 0
    assert cloud_runs.call("gc").code == 0
    assert cloud_runs.call("plan").code == 0


# The verbs on a server: what each promises, and what is sent.


@pytest.fixture
def storage(home: str) -> Storage:
    return storage_at(Path(home) / "runs" / "small")


def read(storage: Storage, key: str) -> bytes:
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


def test_write_replaces_and_what_is_new_does_not(storage: Storage) -> None:
    storage.write("a/b", b"old")
    storage.write("a/b", b"new")
    with pytest.raises(FileExistsError):
        storage.write("a/b", b"newer", new=True)
    assert read(storage, "a/b") == b"new"
    assert keys(storage) == ["a/b"]


def test_list_is_of_one_level_in_the_order_of_names(storage: Storage) -> None:
    for key in ("b", "a/1", "a/2", "ab/x", ".hidden/x"):
        storage.write(key, b"xy")
    assert list(storage.list()) == [
        Entry(".hidden", None), Entry("a", None), Entry("ab", None), Entry("b", 2)
    ]  # fmt: skip
    assert list(storage.list("a")) == [Entry("a/1", 2), Entry("a/2", 2)]
    assert list(storage.list("nothing")) == []


def test_a_draft_costs_no_request_and_is_gone_when_it_is_not_published(
    storage: Storage, proxy: Proxy
) -> None:
    with new_draft(storage, "scores/3f2a") as draft:
        storage.write(f"{draft}/part", b"x")
        assert read(storage, f"{draft}/part") == b"x"
    assert list(storage.list(draft)) == []
    assert proxy.requests == []


def test_the_manifest_is_sent_last(storage: Storage, proxy: Proxy) -> None:
    assert publish(storage, "scores/3f2a", 1, 2) is None
    sent = [path.rpartition("/")[2] for method, path in proxy.requests if method == "PUT"]
    assert sent == ["part.parquet", artefacts.NAME]
    scanned = scan_tables(storage, ["scores/3f2a/table/part.parquet"]).collect()
    assert scanned["n"].to_list() == [1, 2]


def test_what_is_replaced_is_set_aside(storage: Storage) -> None:
    publish(storage, "scores/3f2a", 1)
    assert publish(storage, "scores/3f2a", 2) == "scores/.aside-3f2a-1"
    assert publish(storage, "scores/3f2a", 3) == "scores/.aside-3f2a-2"
    found = [
        scan_tables(storage, [f"scores/{name}/table/part.parquet"]).collect()["n"].to_list()
        for name in ("3f2a", ".aside-3f2a-1", ".aside-3f2a-2")
    ]
    assert found == [[3], [1], [2]]
    assert read(storage, "scores/.aside-3f2a-1/manifest.json") == b"(1,)"


def test_a_linked_part_is_copied_by_the_store(storage: Storage, proxy: Proxy) -> None:
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


def test_log_move_and_removal(storage: Storage) -> None:
    storage.write("history/log", b"")
    storage.append("history/log", "one")
    storage.append("history/log", "ö")
    storage.write("history/record", b"x")
    assert read(storage, "history/log") == "one\nö\n".encode()
    storage.move("history/log", "history/other")
    storage.remove("history/record")
    storage.remove("history/nothing")
    assert keys(storage) == ["history/other"]
    storage.remove("history")
    assert keys(storage) == []


def test_a_removed_folder_takes_no_other_with_it(storage: Storage) -> None:
    for key in ("a/1", "ab/1", "a.b"):
        storage.write(key, b"x")
    storage.remove("a")
    assert keys(storage) == ["a.b", "ab/1"]


def test_a_part_that_changed_on_the_store_is_read_anew(storage: Storage) -> None:
    publish(storage, "scores/3f2a", 1)
    before = digest_of(storage, "scores/3f2a/table/part.parquet")
    storage.write("scores/3f2a/table/part.parquet", b"harmed")
    assert digest_of(storage, "scores/3f2a/table/part.parquet") != before


def test_listing_asks_once_for_a_thousand_however_much_lies_below(
    storage: Storage, proxy: Proxy
) -> None:
    for number in range(60):
        for part in range(3):
            storage.write(f"scores/{number:04}/table/{part}", b"")
    proxy.requests.clear()
    assert sum(1 for _ in storage.list("scores")) == 60
    assert len(proxy.requests) == 1


def test_workers_are_sent_it(storage: Storage) -> None:
    storage.write("key", b"x")
    sent: Storage = pickle.loads(pickle.dumps(storage))
    assert read(sent, "key") == b"x"
    assert sent.location("key") == storage.location("key")


def test_no_bucket(home: str) -> None:
    absent = storage_at(Path(f"{home}-absent/runs"))
    with (
        pytest.raises(StoreError, match=r"the run: .*: the bucket does not exist; create it first"),
        absent.explain_errors("the run", ""),
        absent.lock(".lock", lambda: None),
    ):
        pytest.fail("there is none")
    with pytest.raises(StoreError, match="the bucket does not exist"):
        list(absent.list())


def test_an_address_survives_a_path(home: str) -> None:
    assert address_of(Path(home) / "a" / "b") == address_of(f"{home}/a/b")
