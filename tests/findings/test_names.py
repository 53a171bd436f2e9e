"""Names in sentences: short, on one line, in their own direction, nothing that cannot be seen."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.findings.phrases import LONGEST, called, slug
from pipeline.report import view as of_the_page

HOSTILE = "</script><img onerror=alert(1) src=x>"


@given(st.text(), st.integers(2, 60))
def test_a_name_is_short_and_on_one_line(name: str, most: int) -> None:
    said = called(name, most=most)
    inside = said.strip("\u2068\u2069")
    assert inside == "(empty)" or 1 <= len(inside) <= most
    assert "\n" not in said
    hidden = {"Cc", "Cs", "Cn", "Co"}
    assert not [letter for letter in said if unicodedata.category(letter) in hidden]
    assert said.count("\u2068") == said.count("\u2069") <= 1


@given(st.text())
def test_a_name_of_a_name_is_the_name(name: str) -> None:
    inside = called(name).strip("\u2068\u2069")
    assert called(inside).strip("\u2068\u2069") == inside


@pytest.mark.parametrize("name", ["NOUN", "tree, 3 bits", "ħudeż", "naïve", HOSTILE])
def test_an_ordinary_name_stays(name: str) -> None:
    assert called(name) == name


def test_writing_from_right_to_left_is_kept_apart() -> None:
    assert called("שלום") == "\u2068שלום\u2069"
    assert called("كتاب 1") == "\u2068كتاب 1\u2069"


def test_marks_that_turn_the_writing_go() -> None:
    assert called("a\u202ecba\u2066") == "acba"


def test_joiners_that_words_are_spelt_with_stay() -> None:
    assert "\u200c" in called("می\u200cخواهم")


def test_long_names_end_in_dots() -> None:
    assert called("x" * 10_000) == "x" * (LONGEST - 1) + "…"


def test_findings_and_the_page_name_figures_alike() -> None:
    assert of_the_page.slug is slug
