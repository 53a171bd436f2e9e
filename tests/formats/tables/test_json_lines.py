"""JSON lines: what is read, and what is refused with its lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import DataError
from pipeline.formats.base import LINE, format_of
from tests.formats.tables.test_tables import FRAME, ROWS, scan

GOOD = '{"l1": "a", "f": 3}\n'


def write(tmp_path: Path, text: str, name: str = "t.jsonl") -> Path:
    path = tmp_path / name
    raw = text.encode("utf-8", "surrogatepass")
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "T.JSONL", "t.jsonl.gz", "t.ndjson.gz"])
def test_round_trip(name: str, tmp_path: Path) -> None:
    text = "".join(
        json.dumps(row, ensure_ascii=False) + "\n" for row in FRAME.iter_rows(named=True)
    )
    found = scan(write(tmp_path, text, name))
    assert found.select(*ROWS).equals(FRAME)
    assert found[LINE].to_list() == [1, 2, 3]
    assert format_of(name).name == "jsonl"


def test_values_are_texts_as_they_are_written(tmp_path: Path) -> None:
    text = (
        '{"a": 0.10, "b": true, "c": null, "d": 1e400, "e": 12345678901234567890123}\r\n'
        '{"e": "", "d": "\\u00e4\\n", "c": "null", "b": false, "a": -0}'
    )
    found = scan(write(tmp_path, "\ufeff" + text)).drop(LINE)
    assert found.rows() == [
        ("0.10", "true", None, "1e400", "12345678901234567890123"),
        ("-0", "false", "null", "ä\n", None),
    ]
    assert set(found.dtypes) == {pl.String}


def test_a_column_line_gives_way_to_the_number(tmp_path: Path) -> None:
    found = scan(write(tmp_path, '{"line": 7, "a": "x"}\n'))
    assert found.rows() == [(1, "x")]


def test_a_query_reads_what_it_asks_for(tmp_path: Path) -> None:
    path = write(tmp_path, "".join(f'{{"a": "{n}", "b": {n}}}\n' for n in range(60_000)))
    form = format_of(path.name)
    query = form.scan(path, form.options())
    assert query.select("b").head(2).collect().rows() == [("0",), ("1",)]
    last = query.filter(pl.col("a") == "59999").select(LINE, "b").collect()
    assert last.rows() == [(60_000, "59999")]
    assert query.select(pl.len()).collect().item() == 60_000


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "an empty line"),
        ("{", "no JSON at character 2"),
        ('{"l1": "b", "f": 1} {}', "no JSON at character 21"),
        ("[1]", "no object"),
        ('"text"', "no object"),
        ('{"l1": "b"}', "lacks f"),
        ('{"l1": "b", "g": 1}', "lacks f and has g"),
        ('{"l1": "b", "f": 1, "f": 2}', "names twice: f"),
        ('{"l1": ["b"], "f": 1}', "l1 is no text"),
        ('{"l1": {"b": 1}, "f": 1}', "l1 is no text"),
        ('{"l1": "b", "f": NaN}', "NaN is no JSON"),
        ('{"l1": "\\ud800", "f": 1}', "half of a character"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_line_that_is_no_row_is_refused(line: str, said: str, tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + line + "\n" + GOOD)
    with pytest.raises(DataError, match=r"1 line\(s\) are no object") as refused:
        scan(path)
    assert f"line 2: {said}" in str(refused.value)
    first = write(tmp_path, line + "\n" + GOOD, "first.jsonl")
    with pytest.raises(DataError, match="line"):
        scan(first)


def test_all_bad_lines_are_counted_and_three_shown(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + "x\n" * 4)
    with pytest.raises(DataError, match=r"4 line\(s\)") as refused:
        scan(path)
    assert str(refused.value).count("no JSON at character 1") == 3


def test_an_empty_file_and_bare_returns(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the file is empty: line 1 should hold an object"):
        scan(write(tmp_path, ""))
    with pytest.raises(DataError, match=r"carriage return.* in line\(s\) 1"):
        scan(write(tmp_path, GOOD.replace("\n", "\r") + GOOD))
    path = tmp_path / "bytes.jsonl"
    path.write_bytes(GOOD.encode() + b'{"l1": "\xff", "f": 1}\n')
    with pytest.raises(DataError, match="line 2: byte 0xff"):
        scan(path)
