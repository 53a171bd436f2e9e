"""Leases in the library's own store in memory: who holds them, who waits, who is dead."""

from __future__ import annotations

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline.runner.store.cloud import Bucket, Lease, put_fenced, put_new, read, replaced


@pytest.fixture
def bucket() -> Bucket:
    pytest.importorskip("obstore")
    return Bucket(f"memory://{uuid.uuid4().hex}")


def lease(bucket: Bucket, *, shared: bool = False, seconds: float = 30) -> Lease:
    return Lease(bucket, "lock", shared=shared, seconds=seconds)


def test_one_holds_it_alone(bucket: Bucket) -> None:
    first, second = lease(bucket), lease(bucket)
    assert first.taken()
    assert not second.taken()
    first.release()
    assert second.taken()
    second.release()
    assert read(bucket, "lock")[0] == {}


def test_some_share_it_and_who_wants_it_alone_waits(bucket: Bucket) -> None:
    first, second, alone = lease(bucket, shared=True), lease(bucket, shared=True), lease(bucket)
    assert first.taken()
    assert second.taken()
    assert not alone.taken()
    first.release()
    assert not alone.taken()
    second.release()
    assert alone.taken()
    assert not lease(bucket, shared=True).taken()
    alone.release()


def test_of_many_at_once_one_gets_it(bucket: Bucket) -> None:
    each = [lease(bucket) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(Lease.taken, each)) == 1
    for one in each:
        one.release()


def test_who_is_silent_is_dead_by_the_clock_of_the_other(bucket: Bucket) -> None:
    dead = lease(bucket, seconds=1000)
    assert dead._changed(dead._joined)  # without a heartbeat
    other = lease(bucket, seconds=0.2)
    said: list[str] = []
    other.wait(lambda: said.append("waiting"))
    assert said == ["waiting"]
    assert list(read(bucket, "lock")[0]) == [other.token]
    assert not dead.renew()
    other.release()


def test_a_heartbeat_keeps_it(bucket: Bucket) -> None:
    first = lease(bucket, seconds=0.4)
    assert first.taken()
    other = lease(bucket, seconds=1.5)
    until = time.monotonic() + 2.5
    while time.monotonic() < until:
        assert not other.taken()
        time.sleep(0.05)
    first.release()
    assert other.taken()
    other.release()


def test_who_wrote_long_ago_is_dead_at_once(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, other = lease(bucket), lease(bucket)
    now = time.time()
    with monkeypatch.context() as then:
        then.setattr(time, "time", lambda: now - 1000)
        assert dead._changed(dead._joined)
    assert other.taken()
    other.release()


def test_release_takes_nobody_elses(bucket: Bucket) -> None:
    first, second = lease(bucket), lease(bucket, seconds=0.1)
    assert first._changed(first._joined)
    second.wait(lambda: None)
    first.release()
    assert list(read(bucket, "lock")[0]) == [second.token]
    second.release()


def test_an_object_of_others_is_no_lock(bucket: Bucket) -> None:
    bucket.put("lock", b"a letter")
    with pytest.raises(OSError, match="lock is no lock of ours"):
        lease(bucket).taken()
    assert bucket.read("lock")[0] == b"a letter"


def test_a_put_of_what_is_there_already_is_done(bucket: Bucket) -> None:
    assert put_new(bucket, "k", b"one")
    assert put_new(bucket, "k", b"one")
    assert not put_new(bucket, "k", b"two")
    seen = bucket.head("k")
    assert replaced(bucket, "k", b"two", seen)
    assert not replaced(bucket, "k", b"three", seen)
    assert replaced(bucket, "k", b"two", seen)


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
