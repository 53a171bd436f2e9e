"""Whole experiments with results on a server: the same digests as in a folder."""

from __future__ import annotations

import random
import shutil
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.runner.store.backends import below, storage_at
from pipeline.runner.store.cloud import Bucket, address_of
from tests.cluster.proxy import Fault, Proxy
from tests.runner.laboratory import STAGES, Laboratory, build, change

_SEED = 2026


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """The same experiment with its results in a folder."""
    found = build(tmp_path_factory.mktemp("local") / "laboratory")
    found.run()
    return found


@pytest.fixture
def cloud(local: Laboratory, home: str, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    """An experiment that has never run, its results on the server."""
    folder = Path(home.removeprefix("s3://"))
    place = local.folder.parent / folder
    shutil.copytree(local.folder, place, ignore=shutil.ignore_patterns("runs", "sheets"))
    monkeypatch.chdir(place)
    return replace(local, folder=place, runs=Path(home) / "runs")


def test_digests_are_those_of_a_folder_and_are_used_again(
    local: Laboratory, cloud: Laboratory
) -> None:
    cloud.run()
    assert cloud.digests() == local.digests()
    assert cloud.reran() == set(STAGES)
    cloud.run()
    assert cloud.reran() == set()
    assert not (cloud.folder / "s3:").exists()


def test_another_machine_uses_them_too(
    local: Laboratory, cloud: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.run()
    monkeypatch.setenv("LEXASSAY_STORE_CACHE", str(tmp_path / "other"))
    done = cloud.execute("run")
    assert done.code == 0, done.text
    assert cloud.reran() == set()
    assert cloud.digests() == local.digests()


def test_workers_publish_too(local: Laboratory, cloud: Laboratory) -> None:
    cloud.run("--set", "run.engine=processes", "--set", "run.workers=2")
    assert cloud.digests() == local.digests()


@pytest.mark.parametrize("number", range(3))
def test_a_bad_network_changes_nothing(
    local: Laboratory, cloud: Laboratory, proxy: Proxy, number: int
) -> None:
    draw, lock = random.Random(f"{_SEED} {number}"), threading.Lock()
    faults: list[Fault] = ["500", "lost", "dropped"]

    def choose(_method: str, _path: str) -> Fault:
        with lock:
            return draw.choice(faults) if draw.random() < 0.1 else ""

    with proxy.failing(choose):
        for _ in range(10):
            if cloud.call("run").code == 0:
                break
    cloud.run()
    assert cloud.digests() == local.digests()


def test_killed_between_parts_and_manifest(
    local: Laboratory, cloud: Laboratory, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies leaves parts that count for nothing, and a lock that expires."""
    hit = threading.Event()

    def choose(method: str, path: str) -> Fault:
        if method == "PUT" and "/scores/" in path and path.endswith("manifest.json"):
            hit.set()
            return "dropped"
        return ""

    with proxy.failing(choose):
        process = cloud.start("run")
        assert hit.wait(60)
        process.kill()
        process.communicate()
    assert cloud.records() == []
    done = cloud.run()
    assert "another run is at work on it; waiting" in done.text
    assert cloud.digests() == local.digests()


def test_who_was_stopped_and_wakes_up_publishes_nothing(
    local: Laboratory, cloud: Laboratory, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run takes over while the first is stopped between its parts and its manifest."""
    monkeypatch.setenv("LEXASSAY_STORE_LEASE", "2")
    monkeypatch.setenv("LEXASSAY_STORE_TIMEOUT", "120")
    hit, process = threading.Event(), cloud.start("run")

    def choose(method: str, path: str) -> Fault:
        ours = "/scores/" in path and path.endswith("part-00000.parquet")
        if method == "PUT" and ours and not hit.is_set():
            process.send_signal(signal.SIGSTOP)
            hit.set()
        return ""

    with proxy.failing(choose):
        assert hit.wait(60)
    try:
        done = cloud.run()
        assert "another run is at work on it; waiting" in done.text
    finally:
        process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "another process has taken over its lock" in out + err
    cloud.run()
    assert cloud.reran() == set()
    assert cloud.digests() == local.digests()


def test_two_at_once_make_each_result_once(local: Laboratory, cloud: Laboratory) -> None:
    both = [cloud.start("run") for _ in range(2)]
    said = [each.communicate(timeout=120) for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    made = [
        name
        for record in cloud.records()
        for name, stage in record.stages.items()
        if stage.outcome == "done"
    ]
    assert sorted(made) == sorted(STAGES)
    assert cloud.digests() == local.digests()


def test_what_needs_a_folder_says_so(cloud: Laboratory) -> None:
    said = cloud.call("annotate").text
    assert "is on an object store; name a folder of this machine by --runs" in said


def test_a_result_that_was_harmed_is_made_anew(local: Laboratory, cloud: Laboratory) -> None:
    cloud.run()
    storage = storage_at(cloud.root)
    key = next(each.key for each in below(storage, "scores") if each.key.endswith(".parquet"))
    with storage.open(key) as opened:
        whole = opened.read()
    storage.write(key, whole[:-9] + b"x" + whole[-8:])
    cloud.run()
    assert "scores" in cloud.reran()
    assert cloud.digests() == local.digests()


def test_a_corpus_on_the_store(local: Laboratory, cloud: Laboratory) -> None:
    address = address_of(cloud.runs)
    assert address is not None
    bucket = Bucket(address.home)
    for path in cloud.folder.glob("part*.tsv"):
        bucket.put(f"corpus/{path.name}", path)
        path.unlink()
    bucket.put("corpus/notes.txt", b"none of it")
    change(cloud.config, '"part*.tsv"', f'"{address.home}/corpus/part*.tsv"')
    cloud.run()
    assert cloud.digests() == local.digests()
    change(cloud.config, "part*.tsv", "page*.tsv")
    assert "nothing of that name is on the store" in cloud.call("run").text


def test_the_report_lies_here_and_the_rest_there(cloud: Laboratory) -> None:
    done = cloud.run("--report")
    page = "/".join(("runs", *cloud.root.parts)).replace("s3:", "s3") + "/report/index.html"
    assert f"report: {page}" in done.text
    assert (cloud.folder / page).is_file()
    said = cloud.call("status")
    assert f"7 of 7 stages done, in s3://{'/'.join(cloud.root.parts[1:])}" in said.text
    assert cloud.call("show", "precision").code == 0
    assert cloud.call("gc").code == 0
    assert cloud.call("plan").code == 0
