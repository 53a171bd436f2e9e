"""Clusters of words as programs write them: Brown's paths, blocks, tables without a header."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pydantic import ValidationError

from pipeline.errors import DataError
from pipeline.formats.base import LINE, format_of


def rows(path: Path, content: bytes, *columns: str, **options: object) -> list[tuple[object, ...]]:
    path.write_bytes(gzip.compress(content) if path.name.endswith(".gz") else content)
    found = format_of(path.name, kind="table")
    given = found.options.model_validate(options)
    assert found.check(path, given) == ()
    return found.scan(path, given).select(LINE, *columns).collect().rows()


PATHS = b'0010\t"\t3\n0010\t#\t1\n11\tnull\t2\n'
BROWN = [(1, "0010", '"', "3"), (2, "0010", "#", "1"), (3, "11", "null", "2")]


@pytest.mark.parametrize("name", ["b.paths", "b.paths.gz"])
def test_brown(name: str, tmp_path: Path) -> None:
    assert rows(tmp_path / name, PATHS, "cluster", "item", "f") == BROWN


def test_brown_with_a_short_line(tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        rows(tmp_path / "b.paths", b"00\ta\t1\n01\tb\n", "item")
    for said in ["1 line", "3 fields", "cluster, item, f", "line 2: 2 fields"]:
        assert said in str(error.value)


def test_brown_without_lines(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 1 should hold data"):
        rows(tmp_path / "b.paths", b"", "item")


def test_a_table_without_a_header(tmp_path: Path) -> None:
    named = {"columns": ["word", "cluster"], "comment": "%"}
    found = rows(tmp_path / "t.tsv", b"% two\ndog\t3\n\t4\n", "word", "cluster", **named)
    assert found == [(2, "dog", "3"), (3, None, "4")]


def test_columns_are_named_once(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="named twice: word"):
        rows(tmp_path / "t.csv", b"a,b\n", "word", columns=["word", "word"])


BLOCKS = b"\n\ndog\n cat \n \n\nNew York\r\nrun"


def test_blocks(tmp_path: Path) -> None:
    found = rows(tmp_path / "c.blocks", BLOCKS, "item", "cluster")
    assert found == [(3, "dog", "1"), (4, "cat", "1"), (7, "New York", "2"), (8, "run", "2")]


def test_a_cluster_a_line(tmp_path: Path) -> None:
    found = rows(
        tmp_path / "c.clusters.gz", b"dog  cat\n\nrun\n", "item", "cluster", line="cluster"
    )
    assert found == [(1, "dog", "1"), (1, "cat", "1"), (3, "run", "2")]


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_blocks_without_words(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="it has no words"):
        rows(tmp_path / "c.blocks", content, "item")


def test_blocks_that_are_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2: byte 0xe4"):
        rows(tmp_path / "c.blocks", b"a\n\xe4\n", "item")
