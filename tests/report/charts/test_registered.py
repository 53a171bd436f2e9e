"""Charts are found by their names, and loaded when one is drawn."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipeline.report import charts
from pipeline.report.charts import CHARTS

VIEWS = """
import sys
from pipeline.registry import import_all
import_all("pipeline.report.views")
print("altair" in sys.modules)
"""


@pytest.mark.parametrize("name", CHARTS)
def test_a_registered_chart_is_found(name: str) -> None:
    assert getattr(charts, name) is CHARTS.get(name)


def test_a_chart_that_is_not_there() -> None:
    said = r"unknown chart 'heat_map2'; did you mean heat_map\?; a chart is a function under @chart"
    with pytest.raises(AttributeError, match=said):
        _ = charts.heat_map2
    assert not hasattr(charts, "__wrapped__")


def test_views_are_imported_without_the_charting_library() -> None:
    """A view imports `charts`, and says `charts.heat_map` inside the function that draws."""
    command = [sys.executable, "-c", VIEWS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n", "a view imports a chart: import `charts`, call it when drawing"
