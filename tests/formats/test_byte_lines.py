"""Lines and fields found by their bytes, against lines and fields that Python splits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.lines import ByteLines

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
