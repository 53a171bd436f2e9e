"""The five operations of storage, each by itself; no other code of the runner accesses files."""

from __future__ import annotations

import ast
import errno
import os
import pickle
import signal
import threading
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pytest

import pipeline
from pipeline.errors import StoreError
from pipeline.runner.store.backends import below, digest_of, new_draft, storage_at
from pipeline.runner.store.interface import Entry, Storage

RUNNER = Path(pipeline.__file__).parent / "runner"
SEAM = {RUNNER / "store" / name for name in ("local.py", "cloud.py")}
MODULES = {"fcntl", "filelock", "os", "shutil", "tempfile"}
HARMLESS = {"_exit", "cpu_count", "environ", "write"}
"""Names of `os` that do not concern files, or only open ones."""
ACTS = {
    *("hardlink_to", "link", "link_to", "mkdir", "rename", "rmdir", "rmtree", "symlink_to"),
    *("touch", "unlink", "write_bytes", "write_text", "write_parquet"),
}
VERBS = {"storage.link"}


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return storage_at(tmp_path / "root")


def read(storage: Storage, key: str) -> bytes:
    with storage.open(key) as opened:
        return opened.read()


def keys(storage: Storage) -> list[str]:
    return [entry.key for entry in below(storage, "")]


def test_write_replaces_a_file(storage: Storage) -> None:
    storage.write("a/b", b"old")
    storage.write("a/b", b"new")
    assert read(storage, "a/b") == b"new"
    assert keys(storage) == ["a/b"]


def test_write_refuses_to_replace_a_file_that_must_be_new(storage: Storage) -> None:
    storage.write("a/b", b"old", new=True)
    with pytest.raises(FileExistsError):
        storage.write("a/b", b"new", new=True)
    assert read(storage, "a/b") == b"old"
    assert keys(storage) == ["a/b"]


def test_write_accepts_a_frame(storage: Storage) -> None:
    frame = pl.DataFrame({"n": [1, 2]})
    storage.write("table/.draft/part", frame)
    assert pl.read_parquet(storage.location("table/.draft/part")).equals(frame)


def test_list_returns_entries_of_a_folder(storage: Storage) -> None:
    for key in ("b", "a/1", "a/2", ".hidden/x"):
        storage.write(key, key.encode())
    assert list(storage.list()) == [Entry(".hidden", None), Entry("a", None), Entry("b", 1)]
    assert list(storage.list("a")) == [Entry("a/1", 3), Entry("a/2", 3)]
    assert list(storage.list("absent")) == []
    assert [entry.name for entry in below(storage, "a")] == ["1", "2"]


def test_list_omits_files_removed_meanwhile(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.write("a", b"x")
    storage.write("b", b"x")
    entries = list(os.scandir(storage.location("")))
    Path(storage.location("b")).unlink()
    monkeypatch.setattr(os, "scandir", lambda _folder: entries)
    assert list(storage.list()) == [Entry("a", 1)]


def test_a_frame_that_parquet_cannot_store_is_refused(storage: Storage) -> None:
    """The error does not mention a full disk, and no file is left."""
    with pytest.raises(pl.exceptions.PolarsError, match="Object"):
        storage.write("table/part", pl.DataFrame({"a": [object()]}))
    assert keys(storage) == []


def test_publish_renames_a_folder(storage: Storage) -> None:
    storage.write("stage/.staging-1/table/part", b"x")
    assert storage.publish("stage/.staging-1", "stage/1") is None
    assert keys(storage) == ["stage/1/table/part"]


def test_publish_sets_aside_an_existing_folder(storage: Storage) -> None:
    asides = []
    for content in (b"first", b"second", b"third"):
        storage.write("stage/.staging-1/part", content)
        asides.append(storage.publish("stage/.staging-1", "stage/1"))
    assert asides == [None, "stage/.aside-1-1", "stage/.aside-1-2"]
    assert read(storage, "stage/1/part") == b"third"
    assert read(storage, "stage/.aside-1-2/part") == b"second"


def test_link_keeps_the_content_after_removal(storage: Storage) -> None:
    storage.write("old", b"old")
    storage.link("old", "further/new")
    storage.remove("old")
    assert read(storage, "further/new") == b"old"


def test_link_refuses_an_existing_name(storage: Storage) -> None:
    storage.write("old", b"old")
    storage.write("new", b"new")
    with pytest.raises(FileExistsError):
        storage.link("old", "new")
    assert read(storage, "new") == b"new"


def test_link_copies_where_links_are_unsupported(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system without links gets a copy, which also overwrites nothing."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    storage.write("old", b"old")
    storage.link("old", "new")
    assert read(storage, "new") == b"old"
    with pytest.raises(FileExistsError):
        storage.link("old", "new")


def test_a_lock_is_shared_or_exclusive(storage: Storage) -> None:
    messages: list[str] = []

    def stop() -> None:
        messages.append("waiting")
        raise TimeoutError

    with storage.lock("shared", stop, shared=True), storage.lock("shared", stop, shared=True):
        assert not messages
    with storage.lock("a/.lock", stop):
        second = storage.lock("a/.lock", stop)
        with pytest.raises(TimeoutError):
            second.__enter__()
    assert messages == ["waiting"]
    with storage.lock("a/.lock", stop):
        assert messages == ["waiting"]


def test_an_unpublished_draft_is_removed(storage: Storage) -> None:
    with new_draft(storage, "stage/1") as draft:
        storage.write(f"{draft}/part", b"x")
        assert keys(storage) == ["stage/.staging-1/part"]
    assert keys(storage) == []


def test_lines_are_appended_and_files_removed(storage: Storage) -> None:
    storage.write("log", b"")
    storage.append("log", "one")
    storage.append("log", "ö")
    assert read(storage, "log") == "one\nö\n".encode()
    storage.remove("log")
    storage.remove("log")
    assert keys(storage) == []


def refused_at(storage: Storage, code: int) -> None:
    with storage.explain_errors("stage x", "x"):
        raise OSError(code, os.strerror(code))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (errno.ENOSPC, r"^stage x: the disk is full .*\(.* MB free in .*\)"),
        (errno.EROFS, r"^stage x: .*/x is not writable; .* --runs DIR"),
        (errno.EIO, r"^stage x: .*/x: input or output error of the disk; .* --runs DIR"),
    ],
)
def test_errors_are_sentences(storage: Storage, code: int, message: str) -> None:
    storage.write("x/key", b"")
    with pytest.raises(StoreError, match=message):
        refused_at(storage, code)


def test_a_full_disk_is_reported_before_the_folder_exists(storage: Storage) -> None:
    place = storage.location("x")
    with pytest.raises(StoreError, match=rf"the disk is full .*\({place}\)"):
        refused_at(storage, errno.ENOSPC)


@pytest.mark.parametrize("why", ["No space left (os error 28)", "Invalid thrift: transport error"])
def test_a_full_disk_is_recognised_in_errors_of_polars(
    why: str, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be space again by the time of the report: another worker removed its draft."""
    text = f"parquet: File out of specification: {why}"

    def fail(*_arguments: object, **_options: object) -> None:
        raise pl.exceptions.ComputeError(text)

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)
    with (
        pytest.raises(StoreError, match=r"^stage x: the disk is full .* free some space and run"),
        storage.explain_errors("stage x", "x"),
    ):
        storage.write(".staging-x/t.parquet", pl.DataFrame({"f": [1]}))
    monkeypatch.undo()
    with pytest.raises(pl.exceptions.ComputeError), storage.explain_errors("stage x", "x"):
        raise pl.exceptions.ComputeError(text.partition("(")[0])


def test_storage_can_be_sent_to_workers(storage: Storage) -> None:
    storage.write("key", b"x")
    copy: Storage = pickle.loads(pickle.dumps(storage))
    assert digest_of(copy, "key") == digest_of(storage, "key")


def touches(path: Path) -> list[str]:
    """Return the direct file operations of a module."""
    results: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            results += [each.name for each in node.names if each.name in MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            results += [each.name for each in node.names if each.name not in HARMLESS]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, source = node.func.attr, ast.unparse(node.func)
            # A path is replaced by one argument, a text takes two.
            renames = name == "replace" and len(node.args) == 1
            if (name in ACTS and source not in VERBS) or renames:
                results.append(source)
    return results


@pytest.mark.parametrize("path", sorted(RUNNER.rglob("*.py")), ids=lambda path: path.stem)
def test_only_the_storage_modules_touch_files(path: Path) -> None:
    assert bool(touches(path)) == (path in SEAM), touches(path)


def test_a_signal_to_another_thread_ends_the_wait_for_a_lock(storage: Storage) -> None:
    """It would not end a call that waits in the system."""
    idle = threading.Event()
    other = threading.Thread(target=idle.wait, daemon=True)
    other.start()
    assert other.ident is not None
    later = threading.Timer(0.2, signal.pthread_kill, (other.ident, signal.SIGINT))
    with ExitStack() as locks:
        locks.enter_context(storage.lock("k", lambda: None))
        limit = threading.Timer(120, locks.close)  # otherwise a failure would hang
        limit.start()
        with pytest.raises(KeyboardInterrupt), storage.lock("k", later.start):
            pytest.fail("held twice")
        assert limit.is_alive()
        limit.cancel()
    idle.set()
    other.join()
