"""Titles of measures: distinct, and without spellings of programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.clustering.measure import (
    OVERLAPPING_MEASURES,
    TOKEN_MEASURES,
    TYPE_MEASURES,
)
from pipeline.kernels.measure import MEASURES, TITLES, TUPLE_MEASURES, measure_title

ASSOCIATION = {name: measure_title(name) for name in {*MEASURES, *TUPLE_MEASURES}}
CLUSTERING = {
    registry.kind: {name: registry.title(name) for name in registry}
    for registry in (TYPE_MEASURES, TOKEN_MEASURES, OVERLAPPING_MEASURES)
}


@pytest.mark.parametrize(
    "titles", [ASSOCIATION, *CLUSTERING.values()], ids=["association", *CLUSTERING]
)
def test_all_measures_have_different_titles(titles: Mapping[str, str]) -> None:
    assert titles
    counts = Counter(title.casefold() for title in titles.values())
    assert [title for title, times in counts.items() if times > 1] == []


def test_titles_have_no_spellings_of_programs() -> None:
    odd = {name: title for name, title in ASSOCIATION.items() if "_" in title or not title.strip()}
    assert odd == {}


def test_every_title_belongs_to_a_measure_or_its_family() -> None:
    used = set(TITLES.values()) - {"random order"}
    assert [
        title for title in used if not any(title in each for each in ASSOCIATION.values())
    ] == []


@given(st.text(min_size=1))
def test_names_that_are_no_identifiers_are_their_titles(name: str) -> None:
    if not name.isascii() or " " in name:
        assert measure_title(name) == name
