"""Texts among bytes as a column, against Python's own slices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.lines import PADDING, texts

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
