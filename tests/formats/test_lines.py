"""Lines, fields and string columns from bytes, against plain Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.lines import PADDING, ByteLines, texts

TEXT = st.text(st.sampled_from("ab é1\t\n"), max_size=40)


@given(TEXT)
def test_lines_and_fields(text: str) -> None:
    expected = text.removesuffix("\n").split("\n") if text else []
    lines = ByteLines(text.encode())
    assert lines.tabs.tolist() == [line.count("\t") for line in expected]
    assert lines.is_blank.tolist() == [not line for line in expected]
    everything = np.arange(len(expected))
    whole = lines.texts(lines.whole(everything)).fill_null("").to_list()
    assert whole == expected
    for number, line in enumerate(expected):
        row = lines.rows(np.array([number]))
        for index, field in enumerate(line.split("\t")):
            assert lines.texts(row.field(index)).to_list() == [field or None]


@given(st.lists(st.text(st.sampled_from("0123456789-+. _x"), max_size=12), min_size=1))
def test_numbers_are_digits_alone(fields: list[str]) -> None:
    lines = ByteLines("\n".join(["", *fields, ""]).encode())
    found = lines.numbers(lines.rows(np.arange(len(fields)) + 1).field(0))
    good = [field.isdigit() and len(field) <= 9 for field in fields]
    expected = [int(field) if is_good else -1 for field, is_good in zip(fields, good, strict=True)]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("field", "is_it"), [("_", True), ("", False), ("__", False), ("a", False)]
)
def test_one_sign_alone(field: str, is_it: bool) -> None:
    lines = ByteLines(f"{field}\t_".encode())
    assert lines.is_only(lines.rows(np.array([0])).field(0), "_").tolist() == [is_it]


def test_nothing() -> None:
    lines = ByteLines(b"")
    assert not lines.tabs.size
    assert not lines.is_blank.size


# Texts among bytes as a column, against Python's own slices.

TEXTS = st.lists(st.none() | st.text(max_size=30), max_size=20)


def column(values: Sequence[str | None], between: bytes = b"") -> pl.Series:
    """Write values one after the other, with something between them, and read them back."""
    raw = [(value or "").encode() for value in values]
    lengths = np.array([len(each) for each in raw], np.int64)
    starts = np.cumsum(lengths + len(between)) - lengths
    content = np.frombuffer(b"".join(between + each for each in raw) + bytes(PADDING), np.uint8)
    valid = np.array([value is not None for value in values], bool)
    return texts(content, starts, lengths, valid=valid)


@given(TEXTS, st.sampled_from([b"", b"\t", b"#" * 500]))
def test_are_what_was_written(values: list[str | None], between: bytes) -> None:
    found = column(values, between)
    assert found.dtype == pl.String
    assert found.to_list() == values
    assert found.str.len_bytes().to_list() == [
        None if value is None else len(value.encode()) for value in values
    ]


@pytest.mark.parametrize("length", [0, 1, 4, 11, 12, 13, 14, 100])
def test_every_length_sorts_and_compares(length: int) -> None:
    values = ["x" * length, "y" * length, "é" * length]
    found, plain = column(values), pl.Series(values)
    assert (found == plain).all()
    assert found.sort().to_list() == plain.sort().to_list()
    assert found.hash(1).to_list() == plain.hash(1).to_list()


def test_do_not_keep_the_bytes_that_they_stood_among() -> None:
    """A few long texts in much else are copied; the column outlives what it was read from."""
    found = column(["a rather long word", "short"], bytes(10_000))
    assert found.to_arrow().nbytes < 1_000
    assert found.to_list() == ["a rather long word", "short"]
