"""Columns as bytes: what is unpacked is what was packed, to the digits shown."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.explorer import DIGITS, Kind, coded, in_order
from tests.report.explorer.twin import Reader

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
HOSTILE = ["</script><img onerror=alert(1)>", "=1+1", "\u2028", "שלום", "a\x00b", "", "[[x]]"]


def again(values: list[Any], kind: Kind, dtype: pl.DataType | type[pl.DataType]) -> list[Any]:
    how, content = coded(pl.Series("x", values, dtype=dtype), kind)
    reader = Reader(content)
    found = reader.column(how, len(values))
    assert reader.at == len(content)
    return found


@given(st.lists(st.none() | TEXTS | st.sampled_from(HOSTILE), max_size=40))
def test_texts(values: list[str | None]) -> None:
    assert again(values, "text", pl.String) == values


@given(st.lists(st.none() | TEXTS, min_size=300, max_size=400))
def test_texts_that_hardly_repeat(values: list[str | None]) -> None:
    assert again(values, "text", pl.String) == values


@given(st.lists(st.none() | st.integers(0, 2**48 - 2), max_size=40))
def test_whole_numbers(values: list[int | None]) -> None:
    assert again(values, "count", pl.Int64) == values
    assert again(values, "rank", pl.Int64) == values


@given(st.lists(st.none() | st.booleans(), max_size=20))
def test_flags(values: list[bool | None]) -> None:
    assert again(values, "flag", pl.Boolean) == [None if v is None else int(v) for v in values]


NUMBERS = st.floats(-1e308, 1e308) | st.sampled_from([math.inf, -math.inf, math.nan])


@given(st.lists(st.none() | NUMBERS, max_size=40))
def test_numbers_to_the_digits_shown(values: list[float | None]) -> None:
    for before, after in zip(values, again(values, "number", pl.Float64), strict=True):
        if before is None or math.isnan(before):
            assert after is None
        elif math.isinf(before):
            assert after == before
        elif abs(before) < 1e-300:
            assert after == 0
        else:
            assert after == pytest.approx(before, rel=0.5 * 10 ** (1 - DIGITS) * 1.001)


@given(st.lists(st.none() | st.floats(0, 1), max_size=40))
def test_shares_to_two_decimals_of_a_per_cent(values: list[float | None]) -> None:
    for before, after in zip(values, again(values, "share", pl.Float64), strict=True):
        assert (after is None) == (before is None)
        assert before is None or abs(after - before) <= 0.5001e-4


@pytest.mark.parametrize("value", [9999.6, 0.001, 1000.0, 12345.0, -0.00099996, 1e22, 5e-299])
def test_numbers_near_powers_of_ten(value: float) -> None:
    assert again([value, 0.5], "number", pl.Float64)[0] == pytest.approx(value, rel=0.51e-3)


def test_whole_scores_keep_all_their_digits() -> None:
    assert again([123456.0, None, 0.0], "number", pl.Float64) == [123456, None, 0]


def test_nothing_but_nulls() -> None:
    for kind, dtype in (
        ("number", pl.Float64),
        ("count", pl.Int64),
        ("text", pl.String),
        ("share", pl.Float64),
    ):
        assert again([None, None], kind, dtype) == [None, None]  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1, 2**48 - 1])
def test_counts_that_do_not_fit_are_refused(value: int) -> None:
    with pytest.raises(ValueError, match=r"column 'x'.*as a number"):
        coded(pl.Series("x", [value]), "count")


def test_a_share_above_one_is_kept() -> None:
    assert again([1.5, -0.25], "share", pl.Float64) == [1.5, -0.25]


@given(st.lists(TEXTS, max_size=20, unique=True))
def test_codes_follow_the_order_of_the_texts(values: list[str]) -> None:
    how, content = coded(pl.Series(values, dtype=pl.String), "label")
    codes = Reader(content[how["bytes"] :]).planes(how["width"], len(values))
    assert [text for _, text in sorted(zip(codes, values, strict=True))] == in_order(values)
