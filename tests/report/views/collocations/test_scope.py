"""The rows of a table by n that a graph needs, of few lists and of many."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.report.charts.style import Window
from pipeline.report.views.collocations import graphs


@pytest.mark.parametrize("size", [1, 2, 401, 1000, 3001])
@pytest.mark.parametrize("first", [1, 7])
def test_many_lists_are_thinned_as_few_are(
    size: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = pl.DataFrame({"n": [*range(1, first + size)] * 2, "measure": "mi"}).lazy()
    window, always = Window(first_n=first), [first + size // 3, 10_000]
    few = graphs.thin_rows(every, window, always=always).collect()
    monkeypatch.setattr(graphs, "MANY_LISTS", 800)
    many = graphs.thin_rows(every, window, always=always).collect()
    assert many.equals(few)
