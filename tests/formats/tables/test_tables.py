"""Every table format, plain and gzipped, and files that are wrong."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Literal

import polars as pl
import pytest

from pipeline.errors import DataError
from pipeline.formats.base import LINE, format_of

ROWS = {"l1": ['a "quoted"', "b", "ä"], "l2": ["nan", "007", "=SUM(A1)"], "f": ["3", "12", "1"]}
FRAME = pl.DataFrame(ROWS)


def content(name: str) -> bytes:
    if name.endswith(".parquet"):
        path = Path(name)
        FRAME.write_parquet(path)
        found = path.read_bytes()
        path.unlink()
        return found
    separator = "," if name.endswith(".csv") else "\t"
    style: Literal["necessary", "never"] = "necessary" if separator == "," else "never"
    text = FRAME.write_csv(separator=separator, quote_style=style)
    return (("## a UCS comment\t\tx\n# another\n" if name.endswith(".ds") else "") + text).encode()


def scan(path: Path, **options: object) -> pl.DataFrame:
    found = format_of(path.name)
    given = found.options.model_validate(options)
    assert found.check(path, given) == ()
    return found.scan(path, given).collect()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.ds", "t.parquet", "t.tab", "T.TSV"])
def test_round_trip(
    name: str, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raw = content(name.lower() if name != "T.TSV" else "t.tsv")
    path = tmp_path / (name + ".gz" if packed else name)
    path.write_bytes(gzip.compress(raw) if packed else raw)
    found = scan(path)
    assert found.select(*ROWS).equals(FRAME)
    first = {"t.parquet": 1, "t.ds": 4}.get(name, 2)
    assert found[LINE].to_list() == [first, first + 1, first + 2]


def test_empty_field_is_null_and_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_bytes(b"\xef\xbb\xbfl1\tl2\r\n\tb\r\n")
    assert scan(path).select("l1", "l2").rows() == [(None, "b")]


def test_semicolons_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("% made by hand\nl1;l2\na;b\n")
    assert scan(path, separator=";", comment="%").rows() == [(3, "a", "b")]


def test_hash_in_the_data_is_data(tmp_path: Path) -> None:
    path = tmp_path / "t.ds"
    path.write_text("# comment\nl1\tl2\n#\t#x\n")
    assert scan(path).select("l1", "l2").rows() == [("#", "#x")]


WRONG = {
    "short lines": (
        "t.tsv",
        b"a\tb\n1\n1\t2\n\n1\t2\t3\n",
        ["3 line", "2 fields", "line 2", "line 4", "line 5"],
    ),
    "not UTF-8": ("t.tsv", b"a\tb\nx\ty\n\xe4\tb\n", ["UTF-8", "line 3", "0xe4"]),
    "header not UTF-8": ("t.csv", b"\xe4,b\n1,2\n", ["UTF-8", "line 1", "Excel as 'CSV UTF-8'"]),
    "Unicode text": (
        "t.tsv",
        "ä\tb\n1\t2\n".encode("utf-16"),
        ["is UTF-16", "Excel as 'CSV UTF-8'"],
    ),
    "empty": ("t.csv", b"", ["is empty"]),
    "only comments": ("t.ds", b"# x\n", ["is empty", "line 2"]),
    "column twice": ("t.csv", b"a,b,a\n1,2,3\n", ["line 1", "twice: a"]),
    "no gzip": ("t.csv.gz", b"a,b\n1,2\n", ["gzip"]),
    "cut gzip": ("t.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 5000)[:60], ["gzip"]),
    "no parquet": ("t.parquet", b"hello", ["Parquet"]),
    "cut parquet": ("t.parquet.gz", gzip.compress(b"PAR1xx"), ["Parquet"]),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_wrong_file(case: str, tmp_path: Path) -> None:
    name, raw, said = WRONG[case]
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(DataError) as error:
        scan(path)
    for words in [name, *said]:
        assert words in str(error.value)


def test_unknown_ending() -> None:
    with pytest.raises(ValueError, match=r"ending '.docx'.*format ="):
        format_of("sheet.docx")
    with pytest.raises(ValueError, match=r"unknown format 'tsw'; did you mean tsv"):
        format_of("x", name="tsw")


def test_kind_that_is_wanted() -> None:
    assert format_of("x.conllu").name == format_of("x.conllu", kind="corpus").name == "conllu"
    with pytest.raises(ValueError, match=r"no format has the ending '.conllu'"):
        format_of("x.conllu", kind="table")
    assert format_of("x", name="tokens", kind="corpus").name == "tokens"
    with pytest.raises(ValueError, match=r"'tokens' reads a corpus.*valid:.*parquet"):
        format_of("x", name="tokens", kind="table")
