"""Settings of a sweep: what they are called, and which points are shown."""

from __future__ import annotations

from math import prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.sweep_page import Setting, kept, label, places, setting_text, settings_of


def test_two_settings_of_one_name_are_told_apart() -> None:
    points = [{"stages.a.seed": 1, "stages.b.seed": 2}]
    assert [each.name for each in settings_of(points)] == ["a.seed", "b.seed"]


def test_a_number_is_no_text_and_keeps_its_place() -> None:
    points: list[dict[str, Any]] = [{"x": 1}, {"x": "1"}, {"x": [1]}, {"x": {"a": 1}}, {"x": True}]
    (found,) = settings_of(points)
    assert found.values == ("1", "1", "1", '{"a": 1}', "yes")
    assert found.numbers == ()
    assert [each["x"] for each in places(points)] == [0, 1, 2, 3, 4]


def test_a_setting_that_does_not_vary_is_not_in_the_label() -> None:
    points = [{"rate": 0.1, "seed": 1}, {"rate": 0.2, "seed": 1}]
    settings = settings_of(points)
    assert [label(point, settings) for point in points] == ["rate = 0.1", "rate = 0.2"]
    assert label(points[0], settings_of(points[:1])) == ""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("a\n<b>", "a <b>"),
        ("x" * 99, "x" * 39 + "…"),
        ([], "[]"),
        (["mi", 3], "mi, 3"),
        ([["mi"]], '[["mi"]]'),
        (None, "null"),
        ("שלום", "\u2068שלום\u2069"),
    ],
)
def test_values_on_one_line(value: Any, said: str) -> None:
    assert setting_text(value) == said


def test_many_values_that_are_no_range_are_counted() -> None:
    values = tuple(f"v{n}" for n in range(20))
    assert Setting("stages.a.b", "b", values, ()).said().endswith("v7 and 12 more")


def test_numbers_with_a_step() -> None:
    assert Setting("n", "n", ("1", "2", "3"), (1, 2, 3)).is_even
    assert not Setting("n", "n", ("1", "2", "4"), (1, 2, 4)).is_even
    assert not Setting("n", "n", ("1",), (1.0,)).is_even


@given(st.lists(st.integers(1, 10_000), max_size=4), st.integers(1, 50))
def test_no_more_points_are_kept_than_there_is_room_for(counts: list[int], most: int) -> None:
    found = kept(counts, most)
    assert prod(found) <= most or not counts
    assert all(1 <= one <= count for one, count in zip(found, counts, strict=True))
    if prod(counts) <= most:
        assert found == counts
