"""Rows in the order of their key."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from pipeline.runner.task import in_order

SHORT = st.text("aAzé€𝔸\x00 ", max_size=4)
LONG = st.text("aAzé€𝔸\x00 ", min_size=8, max_size=11)
TEXTS = st.sampled_from([SHORT, LONG, SHORT | LONG, st.none() | LONG]).flatmap(st.lists)


@given(TEXTS)
def test_as_polars_sorts(texts: list[str | None]) -> None:
    frame = pl.DataFrame({"id": texts, "at": range(len(texts))}, schema_overrides={"id": pl.String})
    assert_frame_equal(in_order(frame, ["id", "at"]), frame.sort("id", "at"))


@given(st.lists(st.text("é𝔸z", min_size=8, max_size=9)))
def test_order_of_code_points(texts: list[str]) -> None:
    frame = pl.DataFrame({"id": texts}, schema={"id": pl.String})
    assert in_order(frame, ["id"]).to_series().to_list() == sorted(texts)


def test_other_keys() -> None:
    frame = pl.DataFrame({"n": [2, 1], "id": ["abcdefgh"] * 2})
    assert (
        in_order(frame, ["n"]).rows() == in_order(frame, ["id", "n"]).rows() == frame.rows()[::-1]
    )
    assert in_order(frame, []).rows() == frame.rows()
