"""What is remembered of files is only a cache: never trusted for another content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.runner.code_digests import code_digests
from pipeline.runner.fingerprint import CODE, Digests
from pipeline.runner.store import digest
from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.digest import Remembered
from tests.runner.laboratory import age

KEY = ".seen.json"


class Reader:
    """Reads a file with a memory of its own, and counts how often it has to look."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.looks = folder, 0

    def look(self, path: Path) -> str:
        self.looks += 1
        return path.read_text()

    def read(self, *, mark: str = "") -> str:
        """Read as a new process would."""
        memory = Remembered(storage_at(self.folder), KEY, self.look, mark)
        found = memory.of(self.folder / "file")
        memory.keep()
        return found


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """A reader of a file that is not new, as far as the memory knows."""
    monkeypatch.setattr(digest, "_FRESH", -1.0)
    (tmp_path / "file").write_text("one")
    age(tmp_path / "file")
    return Reader(tmp_path)


def test_is_read_once(reader: Reader) -> None:
    assert [reader.read(), reader.read()] == ["one", "one"]
    assert reader.looks == 1


def test_same_size_and_time(reader: Reader) -> None:
    reader.read()
    (reader.folder / "file").write_text("two")
    age(reader.folder / "file")
    assert reader.read() == "two"


def test_replaced_by_another_file(reader: Reader) -> None:
    reader.read()
    (reader.folder / "other").write_text("two")
    age(reader.folder / "other")
    (reader.folder / "other").replace(reader.folder / "file")
    assert reader.read() == "two"


def test_file_that_has_only_just_changed(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "_FRESH", 60.0)
    reader.read()
    reader.read()
    assert reader.looks == 2
    assert not (reader.folder / KEY).exists()


def test_another_mark(reader: Reader) -> None:
    reader.read(mark="version 1")
    reader.read(mark="version 2")
    assert reader.looks == 2


def forge(content: bytes) -> bytes:
    return content.replace(b'"one"', b'"two"')


DAMAGES: list[Callable[[bytes], bytes]] = [
    forge,
    lambda content: content[:-1],
    lambda _: b"",
    lambda _: b"\xff\n{}",
    lambda _: b"[]",
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged(reader: Reader, damage: Callable[[bytes], bytes]) -> None:
    reader.read()
    cache = reader.folder / KEY
    damaged = damage(cache.read_bytes())
    assert damaged != cache.read_bytes()
    cache.write_bytes(damaged)
    assert [reader.read(), reader.read()] == ["one", "one"]
    assert reader.looks == 2


def test_code_that_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = ["pipeline.kernels.nbest.ranking", "pipeline.stages.base"]
    expected = code_digests(modules)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    for store in ("one", "two"):
        digests = Digests(storage_at(tmp_path / store))
        assert digests.code(modules) == expected
        digests.keep()
        [kept] = (tmp_path / "home" / "lexassay" / CODE).iterdir()
        assert list(tmp_path.iterdir()) == [tmp_path / "home"]
        monkeypatch.setattr("pipeline.runner.code_digests.read_source", None)  # not again
    kept.write_bytes(b"{}")
    monkeypatch.undo()
    assert Digests(storage_at(tmp_path / "one")).code(modules) == expected


@pytest.mark.parametrize("home", ["a file", "nowhere"])
def test_code_where_nothing_can_be_remembered(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    place = {"a file": str(tmp_path / "file"), "nowhere": "~nobody-of-this-name"}[home]
    monkeypatch.setenv("XDG_CACHE_HOME", place)
    monkeypatch.chdir(tmp_path)
    digests = Digests(storage_at(tmp_path / "store"))
    assert digests.code(["pipeline.stages.base"]) == code_digests(["pipeline.stages.base"])
    digests.keep()
    assert {path.name for path in tmp_path.iterdir()} <= {"file", "store"}
