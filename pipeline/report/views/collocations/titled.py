"""Measures by what they are called in the field, for figures and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from pipeline.kernels.measure_titles import measure_title
from pipeline.report.charts.parts.options import Extras, Window

MEASURES = ("measure", "measure_1", "measure_2", "best_measure")
"""Columns that hold names of measures."""


def titled(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose measures are called what they are in the field.

    Examples
    --------
    >>> titled(pl.DataFrame({"measure": ["t_score", "mine"], "n": [9, 9]})).rows()
    [('t-score', 9), ('mine', 9)]
    """
    there = [name for name in MEASURES if name in frame.columns]
    names = {name for column in there for name in frame[column].unique().drop_nulls()}
    return frame.with_columns(pl.col(there).replace({name: measure_title(name) for name in names}))


def titles(names: Iterable[str]) -> tuple[str, ...]:
    """Return what measures are called, in their order.

    Examples
    --------
    >>> titles(["mi", "dice"])
    ('MI', 'Dice')
    """
    return tuple(map(measure_title, names))


def titled_pair(pair: tuple[str, str]) -> tuple[str, str]:
    """Return what two measures are called."""
    return measure_title(pair[0]), measure_title(pair[1])


def titled_extras(extras: Extras) -> Extras:
    """Return what a graph draws beside its lines, its measures by their titles."""
    return replace(
        extras,
        bands=titles(extras.bands),
        truth=None if extras.truth is None else titled(extras.truth),
        comparison=None if extras.comparison is None else titled(extras.comparison),
        marks=None if extras.marks is None else titled_pair(extras.marks),
    )


def titled_window(window: Window) -> Window:
    """Return which part of a frame a chart shows, its measures by their titles."""
    return replace(window, measures=titles(window.measures))
