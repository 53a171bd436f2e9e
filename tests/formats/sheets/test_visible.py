"""Control characters that people see, and every text back as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.spreadsheets.layout import original, visible

texts = st.text(st.sampled_from("\\\\x0157FDA_\r\t\n\x07\x1b_ae"), max_size=14) | st.text(
    max_size=9
)


@given(texts)
def test_back_as_it_was_and_harmless(text: str) -> None:
    shown = visible(text)
    assert original(shown) == text
    assert not {sign for sign in shown if sign < " "} - {"\n"}
    assert "_x000D_" not in shown
    if not {"\\", "_"} & set(text) and text.isprintable():
        assert shown == text


@pytest.mark.parametrize("text", ["C:\\new", "a_x", "_x00_", "x07", "it's", r"\x41"])
def test_what_is_in_no_danger_stays(text: str) -> None:
    assert visible(text) == original(text) == text
