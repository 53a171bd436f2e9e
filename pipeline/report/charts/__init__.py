"""Charts: functions from aggregated frames to Altair charts, loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipeline.report.charts.options import Extras, Look, Style, Window

if TYPE_CHECKING:
    from pipeline.report.charts.difference_graph import difference_chart
    from pipeline.report.charts.dot_rows import dot_plot
    from pipeline.report.charts.grid_cells import Grid, grid_map
    from pipeline.report.charts.growth_graph import growth
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
    "grid_map",
    "growth",
    "precision_chart",
    "scatter",
]

# Reading the options of a view must not wait for the charting library.
_CHARTS = {
    "Grid": "grid_cells",
    "difference_chart": "difference_graph",
    "dot_plot": "dot_rows",
    "growth": "growth_graph",
    "grid_map": "grid_cells",
    "precision_chart": "precision_graph",
    "scatter": "named_points",
}


def __getattr__(name: str) -> Any:
    if name not in _CHARTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_CHARTS[name]}"), name)
