"""Tables that may not be held as a whole are not copied beside the page, which says so."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline import memory
from pipeline.findings.base import StageView
from pipeline.report.page.build import whole_table
from pipeline.report.view import fits, rows_that_fit


@pytest.mark.parametrize(
    ("size", "copied"), [(None, True), (64 * 3 * 20, True), (64 * 3 * 19, False)]
)
def test_a_table_is_copied_if_there_is_room(size: int | None, copied: bool) -> None:
    table = pl.LazyFrame({"a": range(20), "b": range(20), "c": range(20)})
    stage = StageView("s", "u", {}, lambda _: table)
    with memory.limited(size):
        data, files = whole_table(stage, "t", most_rows=100)
    assert data.rows == 20
    assert bool(files) is copied
    assert bool(data.links) is copied
    assert ("memory" in data.why) is not copied


def test_without_a_limit_all_fits() -> None:
    assert rows_that_fit(3) is None
    assert fits(10**12, 3)
