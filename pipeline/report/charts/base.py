"""The registry of charts: functions from aggregated frames to specifications."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pipeline.registry import Registry, identity

CHARTS: Registry[Callable[..., Any]] = Registry("chart", "pipeline.report.charts")
"""The charts: each gives a Vega-Lite specification, as a dictionary or an Altair chart."""

chart = CHARTS.decorator(identity)
"""Registers a function as the chart named after it."""
