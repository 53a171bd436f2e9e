"""Cells of tables: words, lists of labels, numbers and judgements, or null."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cells import (
    is_error,
    judgement,
    label_lists,
    number,
    rows_without_word,
    whole_number,
    word,
)

WORDS = (
    "null",
    "NA",
    "nan",
    "None",
    "true",
    "1e5",
    "-",
    "=1+1",
    "#",
    "N/A",
    "#MeToo",
    "[",
    "[x]",
    "{}",
    " pad ",
)
ERRORS = (
    "#N/A", "#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#GETTING_DATA",
    "#NV", "#WERT!", "#¿NOMBRE?", "#¡DIV/0!", "#ИМЯ?", "#DĚLENÍ_NULOU!", "Err:502", " #N/A ",
)  # fmt: skip


def one(text: str | None, expression: pl.Expr) -> object:
    return pl.DataFrame({"x": [text]}, schema={"x": pl.String}).select(expression).item()


@pytest.mark.parametrize("text", WORDS)
def test_words_that_look_odd_are_words(text: str) -> None:
    assert one(text, word(pl.col("x"))) == text
    assert one(text, is_error(pl.col("x"))) is False


@pytest.mark.parametrize(
    "text", [*ERRORS, "", " ", "\u00a0", '["a"]', "['a', 'b']", '{"choices": []}', None]
)
def test_errors_of_spreadsheets_are_no_words(text: str | None) -> None:
    assert one(text, word(pl.col("x"))) is None


@given(st.lists(st.sampled_from([*WORDS, *ERRORS, "Erreur:123", "Errol", "\u2003", '{"a"}', None])))
def test_rows_without_word_are_those_that_word_rejects(texts: list[str | None]) -> None:
    rows = rows_without_word(pl.Series(texts, dtype=pl.String))
    assert rows.to_list() == [
        row for row, text in enumerate(texts) if one(text, word(pl.col("x"))) is None
    ]


LISTS = {
    '["SVC"]': ["SVC"],
    '[" SVC ", "free", ""]': ["SVC", "free"],
    "['SVC', 'free']": ["SVC", "free"],
    '{"choices": ["SVC"]}': ["SVC"],
    '{"accept": ["SVC", "free"], "answer": "accept"}': ["SVC", "free"],
    '"[""SVC""]"': ["SVC"],
    "[]": None,
    '{"choices": []}': None,
    "": None,
    " ": None,
    "#N/A": None,
    " SVC ": ["SVC"],
    "[SVC]": ["[SVC]"],
    "[1]": ["[1]"],
    '[["SVC"]]': ['[["SVC"]]'],
    '{"other": ["SVC"]}': ['{"other": ["SVC"]}'],
    '["SVC"': ['["SVC"'],
    "[" * 5000: ["[" * 5000],
    "-": ["-"],
}


def test_lists_of_labels_are_read() -> None:
    cells = pl.DataFrame({"x": [*LISTS, None]}, schema={"x": pl.String})
    assert cells.select(label_lists(pl.col("x"))).to_series().to_list() == [*LISTS.values(), None]
    assert cells.clear().select(label_lists(pl.col("x"))).dtypes == [pl.List(pl.String)]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_text_without_json_is_one_label(labels: list[str]) -> None:
    """Text without a bracket at its beginning is one label."""
    plain_labels = [each for each in labels if each.strip().lstrip('"')[:1] not in {"[", "{"}]
    cells = pl.DataFrame({"x": plain_labels}, schema={"x": pl.String})
    result = cells.select(label_lists(pl.col("x"))).to_series().to_list()
    for text, label in zip(plain_labels, result, strict=True):
        stripped = one(text, pl.col("x").str.strip_chars())
        usable = bool(stripped) and not one(text, is_error(pl.col("x")))
        assert label == ([stripped] if usable else None)


# Numbers of columns: the number in a cell, or null if it has none.

BIG = 2**63
DAY = datetime.datetime(2024, 1, 31)
NO_NUMBERS = {
    "truth values": pl.Series([True, False]),
    "dates": pl.Series([DAY.date()]),
    "timestamps": pl.Series([DAY]),
    "times": pl.Series([datetime.time(1)]),
    "durations": pl.Series([datetime.timedelta(days=1)]),
    "nothing": pl.Series([None, None]),
}
WHOLE: dict[str, tuple[pl.Series, list[int | None]]] = {
    "decimals": (
        pl.Series(["3.50", "10.90", "10.00", "-2.00", "0.00"]).cast(pl.Decimal(12, 2)),
        [None, None, 10, -2, 0],
    ),
    "decimals of thousandths": (pl.Series(["1.000", "1.001"]).cast(pl.Decimal(9, 3)), [1, None]),
    "large decimals": (
        pl.Series([Decimal(BIG - 1), Decimal(BIG)], dtype=pl.Decimal(38, 0)), [BIG - 1, None],
    ),
    "floats": (
        pl.Series([6.0, 3.9, math.nan, math.inf, -math.inf, None, -0.0, 2.0**53 - 1, 2.0**53]),
        [6, None, None, None, None, None, 0, 2**53 - 1, None],
    ),
    "unsigned": (pl.Series([7, BIG - 1, BIG], dtype=pl.UInt64), [7, BIG - 1, None]),
    "128 bits": (pl.Series([-7, BIG], dtype=pl.Int128), [-7, None]),
    "texts": (
        pl.Series([" 12", "6.0", "10.00", "6.", "+6", "1e+05", "2E3", "-0.0", str(BIG - 1)]),
        [12, 6, 10, 6, 6, 100_000, 2_000, 0, BIG - 1],
    ),
    # 1.000 means a thousand in half of the world, and 1 in the other half; 1234.000 is clear.
    "texts of thousands": (
        pl.Series(["1.000", "-12.000", "999.000", "0.000", "1234.000"]),
        [None, None, None, 0, 1234],
    ),
    "texts without a whole number": (
        pl.Series(["3.5", "1,5", "1e-1", "1e16", "nan", "inf", ".", "", "e5", None, str(BIG),
                   "9007199254740993.5", "true", "2024-01-31", "1_000"]),
        [None] * 15,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WHOLE)
def test_whole_numbers_are_read_from_columns(case: str) -> None:
    values, expected = WHOLE[case]
    assert read_by(whole_number, values) == expected


@pytest.mark.parametrize("case", NO_NUMBERS)
@pytest.mark.parametrize("parse", [whole_number, number])
def test_values_that_are_no_numbers_are_null(parse: Any, case: str) -> None:
    values = NO_NUMBERS[case]
    assert read_by(parse, values) == [None] * len(values)


def read_by(parse: Any, values: pl.Series) -> list[Any]:
    rows = pl.DataFrame({"x": values, "place": range(len(values))})
    return rows.select("place", parse("x", values.dtype)).get_column("x").to_list()


def test_numbers_are_read_from_columns() -> None:
    assert read_by(number, pl.Series(["3.50", None]).cast(pl.Decimal(9, 2))) == [3.5, None]
    assert read_by(number, pl.Series([" 0.5", "nan", "-inf", "x"])) == [0.5, None, -math.inf, None]
    assert read_by(number, pl.Series([3, None])) == [3.0, None]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series(["1", " No", "1.0", "0.00", "maybe", "2.0", "0.5", None]),
        pl.Series([1.0, 0.0, 1.0, 0.0, 3.0, 2.0, 0.5, None]),
        pl.Series(["1", "0", "1", "0", "3", "2", ".5", None]).cast(pl.Decimal(9, 2)),
    ],
)
def test_judgements_are_read_from_columns(values: pl.Series) -> None:
    result = pl.DataFrame({"x": values}).select(judgement("x")).to_series().to_list()
    assert result == [True, False, True, False, None, None, None, None]
