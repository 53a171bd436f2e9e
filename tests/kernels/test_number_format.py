"""Formats of numbers: recognised from a whole column, or refused; never by majority."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels import cells
from pipeline.kernels.cells import PLAIN, Kind, NumberFormat, number_formats


def format_and_numbers(
    texts: list[str | None], kind: Kind, **options: Any
) -> tuple[NumberFormat, list[Any]]:
    """Return the format of a column, and its numbers."""
    rows = pl.DataFrame({"x": texts}, schema={"x": pl.String})
    form = number_formats(rows.lazy(), {"x": kind}, **options)["x"]
    parse = cells.whole_number if kind == "count" else cells.number
    return form, rows.select(parse("x", pl.String(), form)).to_series().to_list()


NUMBERS: list[tuple[list[str | None], list[float | None]]] = [
    (["1.5", "-2", None, "1e-3", "inf"], [1.5, -2.0, None, 1e-3, float("inf")]),
    (["0,5", "1", "-2,25"], [0.5, 1.0, -2.25]),
    (["1,234.5", "2"], [1234.5, 2.0]),
    (["1.234,5", "2"], [1234.5, 2.0]),
    (["1 234,5", "\u22122"], [1234.5, -2.0]),
    (["1\u202f234,5", " 7 "], [1234.5, 7.0]),
    (["1'234.5", "1\u2019234.5"], [1234.5, 1234.5]),
    (["\u22124.5", "1E\u22123"], [-4.5, 1e-3]),
    (["12 %", "3.5%"], [0.12, 0.035]),
    (["12,5 %"], [0.125]),
    (["1.234", "0.5"], [1.234, 0.5]),  # as programs write it
    (["0,5", "1,5", "NA"], [0.5, 1.5, None]),
    (["0.5", "1,5", "2.5"], [0.5, None, 2.5]),
    (["0.5", "12 %"], [0.5, None]),
    (["0.5", "#DIV/0!"], [0.5, None]),
    ([None, ""], [None, None]),
    ([], []),
]
COUNTS: list[tuple[list[str | None], list[int | None]]] = [
    (["1,200", "900", "3"], [1200, 900, 3]),
    (["1.200", "900"], [1200, 900]),
    (["1.200.000", "6.000"], [1_200_000, 6000]),
    (["1 200", "1\u00a0200"], [1200, 1200]),
    (["6,000", "20,000"], [6000, 20000]),
    (["6.0", "3.0"], [6, 3]),
    (["6,0", "3"], [6, 3]),
    (["6", "1e+05"], [6, 100_000]),
    (["1,200", "12x"], [1200, None]),
    (["1,2", "3"], [None, 3]),
    (["12%", "3"], [None, 3]),
    (["1,200", "1.200"], [1200, None]),
    (["12,34", "3"], [None, 3]),
    (["0,200", "1,200"], [None, 1200]),
]


@pytest.mark.parametrize(("texts", "expected"), NUMBERS)
def test_formats_of_numbers_are_recognised(
    texts: list[str | None], expected: list[float | None]
) -> None:
    assert format_and_numbers(texts, "number")[1] == expected


@pytest.mark.parametrize(("texts", "expected"), COUNTS)
def test_formats_of_counts_are_recognised(
    texts: list[str | None], expected: list[int | None]
) -> None:
    assert format_and_numbers(texts, "count")[1] == expected


DOUBTS: list[tuple[Kind, list[str | None], dict[str, list[float | None]]]] = [
    ("number", ["1,234", "2"], {".": [1234, 2], ",": [1.234, 2]}),
    ("count", ["6.000", "900"], {".": [6, 900], ",": [6000, 900]}),
    ("count", ["1.200", "1.900"], {".": [None, None], ",": [1200, 1900]}),
]


@pytest.mark.parametrize(("kind", "texts", "readings"), DOUBTS)
def test_ambiguous_numbers_need_an_option(
    kind: Kind, texts: list[str | None], readings: dict[str, list[float | None]]
) -> None:
    form, values = format_and_numbers(texts, kind)
    assert form.unclear
    assert [value is None for value in values] == [not str(text).isdecimal() for text in texts]
    for decimal, expected in readings.items():
        assert format_and_numbers(texts, kind, decimal=decimal)[1] == expected


def test_signs_of_missing_values_are_no_faults() -> None:
    form, values = format_and_numbers(["NA", "0,5", "-"], "number", missing=["NA", "-"])
    assert (form, values) == (NumberFormat(",", missing=("NA", "-")), [None, 0.5, None])
    rows = pl.LazyFrame({"x": ["NA", "y"], "file": "t", "line": [2, 3]})
    parsed = {"x": cells.number("x", pl.String(), form)}
    wrong = cells.faults(rows, parsed=parsed, problem="p", required=False, forms={"x": form})
    assert wrong.collect()["line"].to_list() == [3]


def test_columns_of_numbers_have_the_plain_format() -> None:
    rows = pl.LazyFrame({"x": [1.5], "y": [3]})
    assert set(number_formats(rows, {"x": "number", "y": "count"}).values()) == {PLAIN}


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[float], list[str]]:
    """Numbers, and how a person writes them: with a mark before decimals and between thousands."""
    decimal = draw(st.sampled_from([".", ","]))
    thousands = draw(st.sampled_from(["", ",", ".", " ", "'"]).filter(lambda mark: mark != decimal))
    places = draw(st.integers(0, 4))
    numbers = draw(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=8))
    minus = draw(st.sampled_from(["-", "\u2212"]))
    texts = [
        f"{number / 10**places:,.{places}f}".translate({44: thousands, 46: decimal, 45: minus})
        for number in numbers
    ]
    return [number / 10**places for number in numbers], texts


@given(columns())
def test_a_column_is_read_as_written_or_refused(
    column: tuple[list[float], list[str]],
) -> None:
    """The one exception is 1.234, which programs write for a little more than one."""
    numbers, texts = column
    form, values = format_and_numbers(list(texts), "number")
    if form == PLAIN:
        numbers = [float(text.replace("\u2212", "-")) for text in texts]
    assert form.unclear or values == pytest.approx(numbers, rel=1e-12)
