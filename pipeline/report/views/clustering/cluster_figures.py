"""Figures that the views of clusters share: classes by clusters, and classes one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import polars as pl

from pipeline.report import charts
from pipeline.report.blocks import figure
from pipeline.report.charts import Look
from pipeline.report.page.names import slug
from pipeline.report.view import Figure

WIDEST, NARROWEST, LOWEST, PAGE = 24.0, 3.0, 14.0, 640.0
"""Limits of a cell's width, least height, about how wide a heat map may be; pixels."""


class Shown(NamedTuple):
    """A run of which figures are shown: the first of its system, or its only one."""

    system: str
    run: str
    only: bool

    @property
    def said(self) -> str:
        """What captions call it."""
        return self.system if self.only else f"{self.system}, run {self.run}"

    @property
    def rows(self) -> pl.Expr:
        """The rows of a table that belong to it."""
        return (pl.col("system") == self.system) & (pl.col("run") == self.run)


def first_runs(frame: pl.DataFrame) -> list[Shown]:
    """Return the first run of each system, by name.

    Examples
    --------
    >>> first_runs(pl.DataFrame({"system": ["b", "a", "a"], "run": ["1", "2", "1"]}))[0].said
    'a, run 1'
    """
    run = pl.col("run")
    first = frame.group_by("system").agg(run.min(), only=run.n_unique() == 1).sort("system")
    return [Shown(*row) for row in first.iter_rows()]


def mapping_figure(
    overlaps: pl.DataFrame, mapped: Mapping[str, str], *, name: str, said: str, unit: str,
    look: Look,
) -> Figure:  # fmt: skip
    """Return the heat map of classes by clusters, in an order in which the mapping is a diagonal.

    Parameters
    ----------
    overlaps : DataFrame
        gold, cluster, n_ij, n_i, n_j of one run.
    mapped : mapping of str to str
        Cluster to its class; clusters that have none are left out.
    name : str
        What the figure is of: names its files.
    said : str
        The same in the caption.
    unit : str
        "types" or "tokens".
    look : Look
        Look of the figure.
    """
    rows, columns = diagonal(overlaps, mapped)
    cell = min(WIDEST, max(NARROWEST, PAGE / max(1, len(columns))))
    grid = charts.Grid(
        rows=rows, columns=columns, row_title="gold class", column_title="cluster", cell=cell,
        row=max(cell, LOWEST),
        legend=f"share of the cluster's {unit} that have the class",
    )  # fmt: skip
    of = pl.col("cluster").replace_strict(dict(mapped), default=None, return_dtype=pl.String)
    cells = overlaps.select(
        row="gold", column="cluster", value=pl.col("n_ij") / pl.col("n_j"),
        marked=(pl.col("gold") == of).fill_null(value=False),
    )  # fmt: skip
    caption = (
        f"{said}: classes by clusters. A frame marks the class that a cluster is mapped to; "
        f"classes with most {unit} come first, and clusters follow the class they are mapped to"
        f"{'; those without one come last' if len(mapped) < len(columns) else ''}."
    )
    draw = partial(charts.grid_map, cells, grid)
    return figure(f"mapping-{slug(name)}", caption, draw, look)


def diagonal(
    overlaps: pl.DataFrame, mapped: Mapping[str, str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Return classes, the largest first, and clusters by the class that they are mapped to.

    Examples
    --------
    >>> rows = {"gold": ["N", "N", "V"], "cluster": ["2", "1", "1"], "n_i": [3, 3, 5],
    ...         "n_j": [1, 7, 7]}
    >>> diagonal(pl.DataFrame(rows), {"1": "N", "2": "V"})
    (['V', 'N'], ['2', '1'])
    """
    sizes = (
        overlaps.group_by("gold").agg(pl.max("n_i")).sort("n_i", "gold", descending=[True, False])
    )
    rows = sizes["gold"].to_list()
    place = {gold: number for number, gold in enumerate(rows)}
    columns = overlaps.group_by("cluster").agg(pl.max("n_j")).rows()
    last = len(rows)
    columns.sort(key=lambda row: (place.get(mapped.get(row[0], ""), last), -row[1], row[0]))
    return rows, [cluster for cluster, _ in columns]


def class_figure(classes: pl.DataFrame, *, name: str, said: str, look: Look) -> Figure:
    """Return precision and recall of each class, the largest class first.

    Parameters
    ----------
    classes : DataFrame
        gold, n_i, precision, recall, uncovered of one run under one mapping.
    name, said, look
        As for `mapping_figure`.
    """
    ordered = classes.sort("n_i", "gold", descending=[True, False])
    label = pl.when("uncovered").then(pl.format("{} (uncovered)", "gold")).otherwise("gold")
    frame = ordered.select("precision", "recall", name=label)
    draw = partial(
        charts.dot_plot, frame, frame["name"].to_list(), title="share of the types",
        kinds=("precision", "recall"),
    )  # fmt: skip
    caption = (
        f"{said}: precision and recall of each class against the union of the clusters that are "
        "mapped to it. Uncovered: no cluster is."
    )
    return figure(f"classes-{slug(name)}", caption, draw, look)
