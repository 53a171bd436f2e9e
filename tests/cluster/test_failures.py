"""Failures of network and server: no partial result counts, and nothing is lost."""

from __future__ import annotations

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import StoreError
from pipeline.runner.store import artefacts
from pipeline.runner.store.backends import digest_of, new_draft, storage_at
from pipeline.runner.store.cloud import (
    Bucket,
    CloudStorage,
    Lease,
    put_fenced,
    put_new,
    replace_object,
)
from pipeline.runner.store.cloud import read as read_leases
from pipeline.runner.store.interface import Storage
from tests.cluster.proxy import Chooser, Fault, Proxy, once
from tests.cluster.test_cloud import publish, read_object

NAME = "scores/3f2a"
PART = f"{NAME}/table/part.parquet"
STEPS = [("PUT", ".parquet"), ("PUT", artefacts.NAME), ("GET", artefacts.NAME), ("PUT", ".lock")]


@pytest.fixture
def storage(home: str) -> Storage:
    return storage_at(Path(home) / "runs")


def always(method: str, ending: str, fault: Fault = "500") -> Chooser:
    return lambda request_method, path: (
        fault if request_method == method and path.partition("?")[0].endswith(ending) else ""
    )


@pytest.mark.parametrize("fault", ["500", "lost", "late", "dropped"])
@pytest.mark.parametrize(("method", "ending"), STEPS)
def test_a_result_is_published_although_one_request_fails(
    storage: Storage, proxy: Proxy, method: str, ending: str, fault: Fault
) -> None:
    """A lost response to a conditional put looks like a refusal, so the object is compared."""
    with (
        proxy.failing(once(fault, method, ending)),
        storage.lock("scores/.lock", lambda: pytest.fail("nobody else has it")),
    ):
        assert publish(storage, NAME, 1, 2) is None
        with storage.open(PART) as opened:
            assert pl.read_parquet(opened.read())["n"].to_list() == [1, 2]
        assert read_object(storage, f"{NAME}/{artefacts.NAME}") == b"(1, 2)"
    with storage.lock("scores/.lock", lambda: pytest.fail("it was not given back")):
        pass


@pytest.mark.parametrize("ending", [".parquet", artefacts.NAME])
def test_a_failed_upload_is_an_error_and_can_be_repeated(
    storage: Storage, proxy: Proxy, ending: str
) -> None:
    with (
        pytest.raises(StoreError, match="unexpected answer of the store"),
        proxy.failing(always("PUT", ending)),
        storage.explain_errors("stage scores", "scores"),
    ):
        publish(storage, NAME, 1)
    with pytest.raises(FileNotFoundError):
        storage.open(f"{NAME}/{artefacts.NAME}")
    publish(storage, NAME, 2, 3)  # replaces the part of the first try
    with storage.open(PART) as opened:
        assert pl.read_parquet(opened.read())["n"].to_list() == [2, 3]


def test_a_failed_request_does_not_mean_a_missing_object(storage: Storage, proxy: Proxy) -> None:
    publish(storage, NAME, 1)
    with proxy.failing(always("GET", artefacts.NAME)), pytest.raises(StoreError):
        artefacts.read(storage, NAME)


def test_an_interrupted_download_leaves_no_file(storage: Storage, proxy: Proxy) -> None:
    publish(storage, NAME, 1)
    with proxy.failing(always("GET", ".parquet", "lost")), pytest.raises(StoreError):
        digest_of(storage, PART)
    with storage.open(PART) as opened:
        assert pl.read_parquet(opened.read())["n"].to_list() == [1]


def test_a_result_has_no_valid_manifest_while_it_is_replaced(
    storage: Storage, proxy: Proxy
) -> None:
    publish(storage, NAME, 1)
    with (
        pytest.raises(StoreError),
        proxy.failing(always("PUT", PART)),
        storage.explain_errors("stage scores", "scores"),
    ):
        publish(storage, NAME, 2)
    assert read_object(storage, f"{NAME}/{artefacts.NAME}") == b""
    with storage.open(PART) as opened:
        assert pl.read_parquet(opened.read())["n"].to_list() == [1]


def test_a_process_that_lost_its_lock_publishes_nothing(home: str) -> None:
    """A stopped process wakes up while another one works, or after that."""
    first = CloudStorage(storage_at(Path(home) / "runs").address, seconds=0.3)  # type: ignore[attr-defined]
    with first.lock("scores/.lock", lambda: None):
        first._bucket.put_over("runs/scores/.lock", b'{"holders": {}}')  # considered dead
        with new_draft(first, NAME) as draft:
            first.write(f"{draft}/table/part.parquet", pl.DataFrame({"n": [1]}))
            first.write(f"{draft}/{artefacts.NAME}", b"late")
            with pytest.raises(StoreError, match="another process has taken over its lock"):
                first.publish(draft, NAME)
        with pytest.raises(StoreError, match="another process has taken over its lock"):
            first.remove(NAME)
    with pytest.raises(FileNotFoundError):
        first.open(f"{NAME}/{artefacts.NAME}")


def test_missing_credentials_are_reported(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9")
    absent = storage_at(Path(f"{home}-other/runs"))
    with pytest.raises(StoreError, match="no valid credentials; set AWS_ACCESS_KEY_ID"):
        list(absent.list())


# Leases in the library's in-memory store: holders, waiting and expiry


@pytest.fixture
def bucket() -> Bucket:
    pytest.importorskip("obstore")
    return Bucket(f"memory://{uuid.uuid4().hex}")


def lease(bucket: Bucket, *, shared: bool = False, seconds: float = 30) -> Lease:
    return Lease(bucket, "lock", shared=shared, seconds=seconds)


def test_an_exclusive_lease_has_one_holder(bucket: Bucket) -> None:
    first, second = lease(bucket), lease(bucket)
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()
    second.release()
    assert read_leases(bucket, "lock")[0] == {}


def test_an_exclusive_lease_waits_for_shared_ones(bucket: Bucket) -> None:
    first, second, alone = lease(bucket, shared=True), lease(bucket, shared=True), lease(bucket)
    assert first.try_acquire()
    assert second.try_acquire()
    assert not alone.try_acquire()
    first.release()
    assert not alone.try_acquire()
    second.release()
    assert alone.try_acquire()
    assert not lease(bucket, shared=True).try_acquire()
    alone.release()


def test_one_of_many_simultaneous_requests_gets_the_lease(bucket: Bucket) -> None:
    each = [lease(bucket) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(Lease.try_acquire, each)) == 1
    for one in each:
        one.release()


def test_a_lease_without_heartbeat_expires_by_the_other_clock(bucket: Bucket) -> None:
    dead = lease(bucket, seconds=1000)
    assert dead._update(dead._join)  # without a heartbeat
    other = lease(bucket, seconds=0.2)
    calls: list[str] = []
    other.wait(lambda: calls.append("waiting"))
    assert calls == ["waiting"]
    assert list(read_leases(bucket, "lock")[0]) == [other.token]
    assert not dead.renew()
    other.release()


def test_a_heartbeat_keeps_a_lease(bucket: Bucket) -> None:
    first = lease(bucket, seconds=0.4)
    assert first.try_acquire()
    other = lease(bucket, seconds=1.5)
    until = time.monotonic() + 2.5
    while time.monotonic() < until:
        assert not other.try_acquire()
        time.sleep(0.05)
    first.release()
    assert other.try_acquire()
    other.release()


def test_an_old_lease_expires_at_once(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    dead, other = lease(bucket), lease(bucket)
    now = time.time()
    with monkeypatch.context() as then:
        then.setattr(time, "time", lambda: now - 1000)
        assert dead._update(dead._join)
    assert other.try_acquire()
    other.release()


def test_release_keeps_leases_of_others(bucket: Bucket) -> None:
    first, second = lease(bucket), lease(bucket, seconds=0.1)
    assert first._update(first._join)
    second.wait(lambda: None)
    first.release()
    assert list(read_leases(bucket, "lock")[0]) == [second.token]
    second.release()


def test_a_foreign_object_is_not_used_as_a_lock(bucket: Bucket) -> None:
    bucket.put("lock", b"a letter")
    with pytest.raises(OSError, match="lock is not a lock"):
        lease(bucket).try_acquire()
    assert bucket.read("lock")[0] == b"a letter"


def test_a_put_of_the_existing_content_succeeds(bucket: Bucket) -> None:
    assert put_new(bucket, "k", b"one")
    assert put_new(bucket, "k", b"one")
    assert not put_new(bucket, "k", b"two")
    version = bucket.head("k")
    assert replace_object(bucket, "k", b"two", version)
    assert not replace_object(bucket, "k", b"three", version)
    assert replace_object(bucket, "k", b"two", version)


def test_a_late_process_does_not_overwrite_the_next_holder(bucket: Bucket) -> None:
    """The version to replace is read before the lock is checked."""
    bucket.put("k", b"left by the dead")
    checked = threading.Event()

    def fence() -> None:
        if checked.is_set():
            raise RuntimeError("lost")
        checked.set()
        # Right after the check the lock is lost, and the next holder replaces the object.
        bucket.put_over("k", b"of the next")

    with pytest.raises(RuntimeError, match="lost"):
        put_fenced(bucket, "k", b"too late", fence)
    assert bucket.read("k")[0] == b"of the next"
