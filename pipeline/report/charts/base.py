"""What a chart is: a function from aggregated frames to an Altair chart, found by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pipeline.registry import Registry, itself

if TYPE_CHECKING:
    import altair as alt

CHARTS: Registry[Callable[..., alt.TopLevelMixin]] = Registry("chart", "pipeline.report.charts")
"""The charts, whose modules are imported when one is asked for: the charting library is slow."""

chart = CHARTS.decorator(itself)
"""Registers a function as the chart named after it."""
