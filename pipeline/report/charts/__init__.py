"""Charts: functions from aggregated frames to Altair charts, loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipeline.report.charts.parts.options import Extras, Look, Style, Window

if TYPE_CHECKING:
    from pipeline.report.charts.difference_graph import difference_chart
    from pipeline.report.charts.dot_rows import dot_plot
    from pipeline.report.charts.grid_cells import Grid, grid_map
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

# Reading the options of a view must not wait for the charting library.
_CHARTS = {
    "Grid": "grid_cells",
    "difference_chart": "difference_graph",
    "dot_plot": "dot_rows",
    "grid_map": "grid_cells",
    "growth": "growth_graph",
    "heat_map": "heat",
    "lemma_chart": "lemma_graphs",
    "lexicon_chart": "lexicon_graph",
    "precision_chart": "precision_graph",
    "precision_recall_chart": "recall_graph",
    "recall_chart": "recall_graph",
    "scatter": "named_points",
    "scatter_chart": "lemma_graphs",
    "strip_chart": "strip",
    "trend_chart": "lemma_graphs",
    "whisker_chart": "whiskers",
}


def __getattr__(name: str) -> Any:
    if name not in _CHARTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_CHARTS[name]}"), name)
