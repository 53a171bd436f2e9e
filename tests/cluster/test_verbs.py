"""The verbs on a server: what each promises, and what is sent."""

from __future__ import annotations

import pickle
from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import StoreError
from pipeline.runner.store import artefacts
from pipeline.runner.store.backends import below, digest_of, drafted, scan_tables, storage_at
from pipeline.runner.store.cloud import Bucket, Refused, address_of
from pipeline.runner.store.interface import Entry, Storage
from tests.cluster.proxy import Proxy


@pytest.fixture
def storage(home: str) -> Storage:
    return storage_at(Path(home) / "runs" / "small")


def read(storage: Storage, key: str) -> bytes:
    with storage.open(key) as opened:
        return opened.read()


def keys(storage: Storage) -> list[str]:
    return [entry.key for entry in below(storage, "")]


def publish(storage: Storage, name: str, *rows: int) -> str | None:
    with drafted(storage, name) as draft:
        storage.write(f"{draft}/table/part.parquet", pl.DataFrame({"n": rows}))
        storage.write(f"{draft}/{artefacts.NAME}", str(rows).encode())
        return storage.publish(draft, name)


def test_the_server_refuses_a_second_conditional_put(home: str) -> None:
    bucket = Bucket(home)
    bucket.put("k", b"one")
    first = bucket.head("k")
    with pytest.raises(Refused):
        bucket.put("k", b"two")
    bucket.put("k", b"two", over=first)
    with pytest.raises(Refused):
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
    with drafted(storage, "scores/3f2a") as draft:
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
    with drafted(storage, "scores/3f2a") as draft:
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
        pytest.raises(StoreError, match=r"the run: .*: there is no such bucket; make it first"),
        absent.guarded("the run", ""),
        absent.lock(".lock", lambda: None),
    ):
        pytest.fail("there is none")
    with pytest.raises(StoreError, match="there is no such bucket"):
        list(absent.list())


def test_an_address_survives_a_path(home: str) -> None:
    assert address_of(Path(home) / "a" / "b") == address_of(f"{home}/a/b")
