"""What a network and a server do wrong: nothing half-written counts, and nothing is lost."""

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
from tests.cluster.test_cloud import publish, read

NAME = "scores/3f2a"
PART = f"{NAME}/table/part.parquet"
STEPS = [("PUT", ".parquet"), ("PUT", artefacts.NAME), ("GET", artefacts.NAME), ("PUT", ".lock")]


@pytest.fixture
def storage(home: str) -> Storage:
    return storage_at(Path(home) / "runs")


def always(method: str, ending: str, fault: Fault = "500") -> Chooser:
    return lambda found, path: (
        fault if found == method and path.partition("?")[0].endswith(ending) else ""
    )


@pytest.mark.parametrize("fault", ["500", "lost", "late", "dropped"])
@pytest.mark.parametrize(("method", "ending"), STEPS)
def test_one_request_goes_wrong(
    storage: Storage, proxy: Proxy, method: str, ending: str, fault: Fault
) -> None:
    """A lost answer to a conditional put looks like a refusal: what is there is compared."""
    with (
        proxy.failing(once(fault, method, ending)),
        storage.lock("scores/.lock", lambda: pytest.fail("nobody else has it")),
    ):
        assert publish(storage, NAME, 1, 2) is None
        with storage.open(PART) as opened:
            assert pl.read_parquet(opened.read())["n"].to_list() == [1, 2]
        assert read(storage, f"{NAME}/{artefacts.NAME}") == b"(1, 2)"
    with storage.lock("scores/.lock", lambda: pytest.fail("it was not given back")):
        pass


@pytest.mark.parametrize("ending", [".parquet", artefacts.NAME])
def test_a_part_or_manifest_that_cannot_be_sent(
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
    publish(storage, NAME, 2, 3)  # over the part that the first try has left
    with storage.open(PART) as opened:
        assert pl.read_parquet(opened.read())["n"].to_list() == [2, 3]


def test_no_answer_is_not_nothing_there(storage: Storage, proxy: Proxy) -> None:
    publish(storage, NAME, 1)
    with proxy.failing(always("GET", artefacts.NAME)), pytest.raises(StoreError):
        artefacts.read(storage, NAME)


def test_a_download_that_breaks_off_leaves_nothing(storage: Storage, proxy: Proxy) -> None:
    publish(storage, NAME, 1)
    with proxy.failing(always("GET", ".parquet", "lost")), pytest.raises(StoreError):
        digest_of(storage, PART)
    with storage.open(PART) as opened:
        assert pl.read_parquet(opened.read())["n"].to_list() == [1]


def test_while_a_result_is_replaced_no_manifest_vouches(storage: Storage, proxy: Proxy) -> None:
    publish(storage, NAME, 1)
    with (
        pytest.raises(StoreError),
        proxy.failing(always("PUT", PART)),
        storage.explain_errors("stage scores", "scores"),
    ):
        publish(storage, NAME, 2)
    assert read(storage, f"{NAME}/{artefacts.NAME}") == b""
    with storage.open(PART) as opened:
        assert pl.read_parquet(opened.read())["n"].to_list() == [1]


def test_who_lost_the_lock_publishes_nothing(home: str) -> None:
    """The one that was silent wakes up while the other is at work, or when that one is done."""
    first = CloudStorage(storage_at(Path(home) / "runs").address, seconds=0.3)  # type: ignore[attr-defined]
    with first.lock("scores/.lock", lambda: None):
        first._bucket.put_over("runs/scores/.lock", b'{"holders": {}}')  # taken for dead
        with new_draft(first, NAME) as draft:
            first.write(f"{draft}/table/part.parquet", pl.DataFrame({"n": [1]}))
            first.write(f"{draft}/{artefacts.NAME}", b"late")
            with pytest.raises(StoreError, match="another process has taken over its lock"):
                first.publish(draft, NAME)
        with pytest.raises(StoreError, match="another process has taken over its lock"):
            first.remove(NAME)
    with pytest.raises(FileNotFoundError):
        first.open(f"{NAME}/{artefacts.NAME}")


def test_no_credentials(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9")
    absent = storage_at(Path(f"{home}-other/runs"))
    with pytest.raises(StoreError, match="no valid credentials; set AWS_ACCESS_KEY_ID"):
        list(absent.list())


# Leases in the library's own store in memory: who holds them, who waits, who is dead.


@pytest.fixture
def bucket() -> Bucket:
    pytest.importorskip("obstore")
    return Bucket(f"memory://{uuid.uuid4().hex}")


def lease(bucket: Bucket, *, shared: bool = False, seconds: float = 30) -> Lease:
    return Lease(bucket, "lock", shared=shared, seconds=seconds)


def test_one_holds_it_alone(bucket: Bucket) -> None:
    first, second = lease(bucket), lease(bucket)
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()
    second.release()
    assert read_leases(bucket, "lock")[0] == {}


def test_some_share_it_and_who_wants_it_alone_waits(bucket: Bucket) -> None:
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


def test_of_many_at_once_one_gets_it(bucket: Bucket) -> None:
    each = [lease(bucket) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(Lease.try_acquire, each)) == 1
    for one in each:
        one.release()


def test_who_is_silent_is_dead_by_the_clock_of_the_other(bucket: Bucket) -> None:
    dead = lease(bucket, seconds=1000)
    assert dead._update(dead._join)  # without a heartbeat
    other = lease(bucket, seconds=0.2)
    said: list[str] = []
    other.wait(lambda: said.append("waiting"))
    assert said == ["waiting"]
    assert list(read_leases(bucket, "lock")[0]) == [other.token]
    assert not dead.renew()
    other.release()


def test_a_heartbeat_keeps_it(bucket: Bucket) -> None:
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


def test_who_wrote_long_ago_is_dead_at_once(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, other = lease(bucket), lease(bucket)
    now = time.time()
    with monkeypatch.context() as then:
        then.setattr(time, "time", lambda: now - 1000)
        assert dead._update(dead._join)
    assert other.try_acquire()
    other.release()


def test_release_takes_nobody_elses(bucket: Bucket) -> None:
    first, second = lease(bucket), lease(bucket, seconds=0.1)
    assert first._update(first._join)
    second.wait(lambda: None)
    first.release()
    assert list(read_leases(bucket, "lock")[0]) == [second.token]
    second.release()


def test_an_object_of_others_is_no_lock(bucket: Bucket) -> None:
    bucket.put("lock", b"a letter")
    with pytest.raises(OSError, match="lock is not a lock"):
        lease(bucket).try_acquire()
    assert bucket.read("lock")[0] == b"a letter"


def test_a_put_of_what_is_there_already_is_done(bucket: Bucket) -> None:
    assert put_new(bucket, "k", b"one")
    assert put_new(bucket, "k", b"one")
    assert not put_new(bucket, "k", b"two")
    seen = bucket.head("k")
    assert replace_object(bucket, "k", b"two", seen)
    assert not replace_object(bucket, "k", b"three", seen)
    assert replace_object(bucket, "k", b"two", seen)


def test_who_wakes_up_late_overwrites_nothing_of_the_next(bucket: Bucket) -> None:
    """The version to be replaced is seen before the right is asked for."""
    bucket.put("k", b"left by the dead")
    asked = threading.Event()

    def fence() -> None:
        if asked.is_set():
            raise RuntimeError("lost")
        asked.set()
        # Right after the answer it is lost, and the next holder replaces what was there.
        bucket.put_over("k", b"of the next")

    with pytest.raises(RuntimeError, match="lost"):
        put_fenced(bucket, "k", b"too late", fence)
    assert bucket.read("k")[0] == b"of the next"
