"""What a network and a server do wrong: nothing half-written counts, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import StoreError
from pipeline.runner.store import artefacts
from pipeline.runner.store.backends import digest_of, drafted, storage_at
from pipeline.runner.store.cloud import CloudStorage
from pipeline.runner.store.interface import Storage
from tests.cluster.proxy import Chooser, Fault, Proxy, once
from tests.cluster.test_verbs import publish, read

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
        pytest.raises(StoreError, match="the store does not answer as it should"),
        proxy.failing(always("PUT", ending)),
        storage.guarded("stage scores", "scores"),
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
        storage.guarded("stage scores", "scores"),
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
        with drafted(first, NAME) as draft:
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
    with pytest.raises(StoreError, match="no credentials that it takes; set AWS_ACCESS_KEY_ID"):
        list(absent.list())
