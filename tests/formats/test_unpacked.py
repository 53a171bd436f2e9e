"""Packed files of tables and lexicons, and lines without an end, against the room there is."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from pipeline.errors import DataError
from pipeline.formats.base import format_of
from pipeline.memory import limited

BLANKS = {"a.tsv.gz": b"a\tb\n" + b"\n" * (3 << 20), "a.wordforms.gz": b"\n" * (3 << 20)}


@pytest.mark.parametrize("name", BLANKS)
def test_what_unpacks_to_far_more_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(BLANKS[name]))
    format_ = format_of(name, kind="table")
    with (
        limited(1 << 20),
        pytest.raises(DataError, match=r"(?s)that unpack to more than .* memory ="),
    ):
        format_.check(tmp_path / name, format_.options())


def test_text_as_it_is_packed_is_read_whatever_its_size(tmp_path: Path) -> None:
    words, generator = ["Haus", "Hund", "Katze", "laufen"], random.Random(1)
    rows = "".join(f"{generator.choice(words)}\t{generator.randrange(99)}\n" for _ in range(99_999))
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(("word\tf\n" + rows).encode()))
    format_ = format_of("a.tsv.gz", kind="table")
    with limited(1 << 16):
        assert format_.check(tmp_path / "a.tsv.gz", format_.options()) == ()


@pytest.mark.parametrize("name", ["a.txt", "a.conllu", "a.txt.gz", "a.conllu.gz"])
def test_a_line_without_an_end_is_refused_with_its_number(name: str, tmp_path: Path) -> None:
    path, content = tmp_path / name, b"\n" + b"word " * (1 << 20)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    format_ = format_of(name, kind="corpus")
    assert format_.read
    with limited(1 << 26), pytest.raises(DataError, match=rf"(?s){name}: line [12]: .*memory ="):
        list(format_.read(path, format_.options(), ["form"], 1 << 18))


def test_a_name_of_a_column_has_an_end(tmp_path: Path) -> None:
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b" " * (17 << 20)))
    format_ = format_of("a.tsv.gz", kind="table")
    with pytest.raises(DataError, match="line 1 has 16,777,216 characters or more"):
        format_.scan(tmp_path / "a.tsv.gz", format_.options())
