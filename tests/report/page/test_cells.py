"""Values as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.view import cell, distinct, p_value, points, share, slug


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.5, "−0.5"), (0.05, "0.05"), (123.456, "123.5"), (5082148.0, "5,082,148"),
        (1e-12, "1e-12"), (float("inf"), "∞"), (float("nan"), "undefined"), (-3, "−3"),
        (False, "no"), ("", ""), (None, "–"),
    ],
)  # fmt: skip
def test_values(value: object, text: str) -> None:
    assert cell(value) == text


def test_per_cents_and_small_p_values() -> None:
    assert share(1.0) == "100.00"
    assert (p_value(0.0), p_value(9.99e-5), p_value(1e-4)) == ("0.0000", "1.0e-04", "0.0001")
    assert (points(1.0), points(-0.00001)) == ("+100.00", "−0.00")


@given(st.text())
def test_slugs_are_safe_file_names(text: str) -> None:
    made = slug(text)
    assert made
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


@given(st.lists(st.text(alphabet="aAb-2", max_size=4)))
def test_distinct_names_differ_in_any_case(names: list[str]) -> None:
    made = distinct(names)
    assert len({name.casefold() for name in made}) == len(names)
    assert all(new.startswith(old) for new, old in zip(made, names, strict=True))
