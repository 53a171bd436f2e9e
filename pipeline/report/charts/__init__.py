"""Charts: functions from aggregated frames to Vega-Lite specifications, loaded on first use.

A chart is found by its name, `charts.heat_map`, without an entry here. Charts that are imported for
the type checker have their own signature there; other charts are of any type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.errors import UnknownName
from pipeline.registry import sources
from pipeline.report.charts.spec import CHARTS as CHARTS
from pipeline.report.charts.style import Extras as Extras
from pipeline.report.charts.style import Grid as Grid
from pipeline.report.charts.style import Look as Look
from pipeline.report.charts.style import Style as Style
from pipeline.report.charts.style import Window as Window

if TYPE_CHECKING:
    from pipeline.report.charts.curves import difference_chart as difference_chart
    from pipeline.report.charts.curves import precision_chart as precision_chart
    from pipeline.report.charts.curves import precision_recall_chart as precision_recall_chart
    from pipeline.report.charts.curves import recall_chart as recall_chart
    from pipeline.report.charts.intervals import dot_plot as dot_plot
    from pipeline.report.charts.intervals import growth as growth
    from pipeline.report.charts.intervals import lexicon_chart as lexicon_chart
    from pipeline.report.charts.intervals import whisker_chart as whisker_chart
    from pipeline.report.charts.matrices import grid_map as grid_map
    from pipeline.report.charts.matrices import heat_map as heat_map
    from pipeline.report.charts.matrices import strip_chart as strip_chart
    from pipeline.report.charts.panels import small_multiples as small_multiples
    from pipeline.report.charts.points import lemma_chart as lemma_chart
    from pipeline.report.charts.points import reliability_chart as reliability_chart
    from pipeline.report.charts.points import scatter as scatter
    from pipeline.report.charts.points import scatter_chart as scatter_chart
    from pipeline.report.charts.points import trend_chart as trend_chart


def __getattr__(name: str) -> Any:
    """Return a chart, so that reading the options of a view need not load the charting library."""
    if name.startswith("_") or f"{__name__}.{name}" in sources(__name__):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return CHARTS.get(name)
    except UnknownName as error:
        remedy = "a chart is a function decorated with @chart() in a file of pipeline/report/charts"
        raise AttributeError(f"{error}; {remedy}") from None
