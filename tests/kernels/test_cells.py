"""Cells of tables: errors of spreadsheets are no words, words that look odd are."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cells import is_error, label_lists, word

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
