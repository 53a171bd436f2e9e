"""Texts that a spreadsheet would run are guarded in CSV and TSV, and read back as they were."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.base import format_of
from pipeline.formats.tables import to_csv, unguarded

DANGEROUS = [
    "=1+1",
    "+cmd",
    "-x",
    "@SUM(A1)",
    " =1",
    "\t=1",
    "＝1+1",
    '=HYPERLINK("http://x")',
    "\nx",
]
HARMLESS = ["a=b", "-", "+", "-5", "+1.5", "-inf", "'tis", "", "007", "1-2", "Frage"]


def fields(raw: bytes) -> list[str]:
    return [
        row[0] if row else ""
        for row in csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""))
    ][1:]


@pytest.mark.parametrize("text", DANGEROUS)
def test_a_formula_has_an_apostrophe_unless_it_is_wanted_raw(text: str) -> None:
    frame = pl.DataFrame({"a": [text, "b"]})
    assert fields(to_csv(frame)) == ["'" + text, "b"]
    assert fields(to_csv(frame, raw=True)) == [text, "b"]


def test_what_no_spreadsheet_runs_stays_to_the_byte() -> None:
    frame = pl.DataFrame({"a": HARMLESS, "n": range(len(HARMLESS)), "x": [-0.5] * len(HARMLESS)})
    assert to_csv(frame) == frame.write_csv().encode()


def back(frame: pl.DataFrame, ending: str) -> list[str | None]:
    separator = "\t" if ending == "tsv" else ","
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"t.{ending}"
        path.write_bytes(to_csv(frame, separator=separator))
        read = format_of(path.name)
        return read.scan(path, read.options()).collect()["a"].to_list()


@given(texts=st.lists(st.sampled_from(DANGEROUS + HARMLESS + ["'=1", "''-x", "'-"]), min_size=1))
def test_our_readers_take_the_guard_off(texts: list[str]) -> None:
    frame = pl.DataFrame({"a": texts, "b": "x"})
    assert [text or "" for text in back(frame, "csv")] == texts
    plain = [text for text in texts if text and not {"\t", "\n", '"'} & set(text)]
    columns = {"a": plain, "b": ["x"] * len(plain)}
    tsv = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    assert [text or "" for text in back(tsv, "tsv")] == plain


def test_apostrophes_of_others_stay(tmp_path: Path) -> None:
    """A file without the mark, or with a formula that has no guard, is not one of ours."""
    query = pl.LazyFrame({"a": ["'-x", "b"], "b": ["'-x", "-y"]})
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n")
    assert unguarded(query, path).collect().equals(query.collect())
    path.write_bytes(b"\xef\xbb\xbfa,b\n")
    assert unguarded(query, path).collect().rows() == [("-x", "'-x"), ("b", "-y")]
