"""Charts: functions from aggregated frames to Altair charts, loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipeline.report.charts.options import Extras, Look, Style, Window

if TYPE_CHECKING:
    from pipeline.report.charts.difference_graph import difference_chart
    from pipeline.report.charts.lemma_graphs import lemma_chart, scatter_chart, trend_chart
    from pipeline.report.charts.lexicon_graph import lexicon_chart
    from pipeline.report.charts.precision_graph import precision_chart

__all__ = [
    "Extras",
    "Look",
    "Style",
    "Window",
    "difference_chart",
    "lemma_chart",
    "lexicon_chart",
    "precision_chart",
    "scatter_chart",
    "trend_chart",
]

# Reading the options of a view must not wait for the charting library.
_CHARTS = {
    "difference_chart": "difference_graph",
    "lemma_chart": "lemma_graphs",
    "lexicon_chart": "lexicon_graph",
    "precision_chart": "precision_graph",
    "scatter_chart": "lemma_graphs",
    "trend_chart": "lemma_graphs",
}


def __getattr__(name: str) -> Any:
    if name not in _CHARTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_CHARTS[name]}"), name)
