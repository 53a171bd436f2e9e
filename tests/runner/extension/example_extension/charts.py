"""A chart of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from pipeline.report.charts.spec import chart

if TYPE_CHECKING:
    import altair as alt


@chart()
def rare_dots(frame: pl.DataFrame) -> alt.Chart:
    """Return a dot for each candidate."""
    import altair as alt  # the options of a view are read without it

    return alt.Chart(frame).mark_point().encode(x=alt.X("f:Q", title="a rare frequency"), y="l1:N")
