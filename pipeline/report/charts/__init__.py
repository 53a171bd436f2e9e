"""Charts: functions from aggregated frames to Altair charts, loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipeline.report.charts.options import Extras, Look, Style, Window

if TYPE_CHECKING:
    from pipeline.report.charts.difference_graph import difference_chart
    from pipeline.report.charts.dots import dot_plot
    from pipeline.report.charts.growth_graph import growth
    from pipeline.report.charts.heat import Grid, heat_map
    from pipeline.report.charts.named_points import scatter
    from pipeline.report.charts.precision_graph import precision_chart

__all__ = [
    "Extras",
    "Grid",
    "Look",
    "Style",
    "Window",
    "difference_chart",
    "dot_plot",
    "growth",
    "heat_map",
    "precision_chart",
    "scatter",
]

# Reading the options of a view must not wait for the charting library.
_CHARTS = {
    "Grid": "heat",
    "difference_chart": "difference_graph",
    "dot_plot": "dots",
    "growth": "growth_graph",
    "heat_map": "heat",
    "precision_chart": "precision_graph",
    "scatter": "named_points",
}


def __getattr__(name: str) -> Any:
    if name not in _CHARTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_CHARTS[name]}"), name)
