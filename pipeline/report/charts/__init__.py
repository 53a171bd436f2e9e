"""Charts: functions from aggregated frames to Altair charts, loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.report.charts.base import CHARTS
from pipeline.report.charts.parts.options import Extras, Grid, Look, Style, Window

if TYPE_CHECKING:
    from pipeline.report.charts.difference_graph import difference_chart
    from pipeline.report.charts.dot_rows import dot_plot
    from pipeline.report.charts.grid_cells import grid_map
    from pipeline.report.charts.growth_graph import growth
    from pipeline.report.charts.heat import heat_map
    from pipeline.report.charts.lemma_graphs import lemma_chart, scatter_chart, trend_chart
    from pipeline.report.charts.lexicon_graph import lexicon_chart
    from pipeline.report.charts.named_points import scatter
    from pipeline.report.charts.precision_graph import precision_chart
    from pipeline.report.charts.recall_graph import precision_recall_chart, recall_chart
    from pipeline.report.charts.strip import strip_chart
    from pipeline.report.charts.whiskers import whisker_chart

__all__ = [
    "CHARTS",
    "Extras",
    "Grid",
    "Look",
    "Style",
    "Window",
    "difference_chart",
    "dot_plot",
    "grid_map",
    "growth",
    "heat_map",
    "lemma_chart",
    "lexicon_chart",
    "precision_chart",
    "precision_recall_chart",
    "recall_chart",
    "scatter",
    "scatter_chart",
    "strip_chart",
    "trend_chart",
    "whisker_chart",
]


def __getattr__(name: str) -> Any:
    """Return a chart: reading the options of a view must not wait for the charting library."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return CHARTS.get(name)
