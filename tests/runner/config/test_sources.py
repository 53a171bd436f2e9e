"""Files of an experiment as stages see them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.formats.base import FormatOptions, format_of
from pipeline.runner import inputs
from pipeline.runner.inputs import SourceFile
from pipeline.runner.store import digest
from pipeline.runner.store.digest import file_digest


def test_a_table_has_no_sentences(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("form\na\n")
    tsv = format_of("x.tsv")
    file = SourceFile("x.tsv", path, tsv, tsv.options.model_validate({}))
    assert file.scan().select("file", "form").collect().rows() == [("x.tsv", "a")]
    with pytest.raises(TypeError, match="format tsv reads no corpus"):
        next(file.batches(["form"], 100))


def test_a_corpus_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("a b\nc\n")
    options: FormatOptions = format_of("x.txt").options()
    file = SourceFile("all texts", path, format_of("x.txt"), options)
    batches = list(file.batches(["file", "form"], 2))
    rows = [row for batch in batches for row in batch.tokens.select("file", "form").rows()]
    assert rows == [("all texts", "a"), ("all texts", "b"), ("all texts", "c")]


class Seen:
    """A file whose digest has been found, and how often its content is looked at afterwards."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path.write_text("a b\n")
        format_ = format_of("x.txt")
        file = SourceFile("x.txt", path, format_, format_.options())
        self.path, self.file, self.looks = path, file.as_it_is(file_digest), 0
        monkeypatch.setattr(inputs, "file_digest", self.look)

    def look(self, path: Path) -> str:
        self.looks += 1
        return file_digest(path)

    def is_same(self) -> bool:
        return self.file.is_what(self.file.stamp())


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Seen:
    monkeypatch.setattr(digest, "_FRESH", -1.0)  # as if it had lain there for a while
    return Seen(tmp_path / "x.txt", monkeypatch)


def test_what_was_not_written_to_is_not_read_again(seen: Seen) -> None:
    assert seen.is_same()
    assert not seen.looks


def rewritten(path: Path) -> None:
    path.write_text("a c\n")


def replaced(path: Path) -> None:
    other = path.with_name("other")
    rewritten(other)
    other.replace(path)


def with_its_time(change: Callable[[Path], None], path: Path) -> None:
    """Change a file to one of the same size, and of the same time of modification."""
    stat = path.stat()
    change(path)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize("change", [rewritten, replaced])
def test_same_size_and_time_is_not_the_same_file(
    seen: Seen, change: Callable[[Path], None]
) -> None:
    with_its_time(change, seen.path)
    assert not seen.is_same()


def test_a_file_with_another_mode_is_read_and_found_the_same(seen: Seen) -> None:
    before = seen.file.stamp()
    seen.path.chmod(0o600)
    assert seen.is_same()
    assert seen.looks == 1
    assert not digest.was_written(before, seen.file.stamp())


def test_what_has_only_just_changed_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "_FRESH", 60.0)
    new = Seen(tmp_path / "x.txt", monkeypatch)
    assert new.is_same()
    assert new.looks == 1
