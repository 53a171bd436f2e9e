"""Graphs of n-best lists as blocks: the tables are opened, the options checked, the chart drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.findings.stage import StageOptions
from pipeline.report import charts
from pipeline.report.blocks import Draw, figure
from pipeline.report.charts import Extras, Window
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Text
from pipeline.report.views.collocations.graph_captions import graph_caption
from pipeline.report.views.collocations.graph_options import Graph
from pipeline.report.views.collocations.scope import Scope, cuts_within, first_shown, thin_rows
from pipeline.report.views.collocations.titled import titled, titled_extras, titled_window

MOST_LINES = 12
"""With more lines than these, a graph is no longer legible: the best are drawn."""
TABLES = {
    "precision": "precision", "recall": "recall", "precision_by_recall": "precision",
    "local": "local", "cut": "cut",
}  # fmt: skip
WITH_BANDS = ("evaluate.precision", "evaluate.designed")
"""Stages that have limits which hold at all n at once."""
OPTION = {"local": "window", "cut": "cut", "recall": "recall"}
"""The option of the stage that makes the table."""


@dataclass(frozen=True)
class Drawing:
    """A graph of one category.

    Parameters
    ----------
    scope : Scope
        Stage and category.
    graph : Graph
        Its options.
    place : str
        Where they stand among the options of the view: "" or "graphs.0.".
    baseline : DataFrame or None
        `schemas.Baseline`, the row of the category, where the stage has one.
    """

    scope: Scope
    graph: Graph
    place: str = ""
    baseline: pl.DataFrame | None = None

    def option(self, name: str) -> str:
        """Return the dotted path of an option, for messages."""
        return self.scope.option(f"{self.place}{name}")

    def wrong(self, name: str, what: str, remedy: str = "") -> ConfigError:
        """Return an error about an option."""
        return ConfigError("report", [Problem(self.option(name), what, remedy)])


def graph_block(drawing: Drawing) -> Block:
    """Return a graph as a figure, or a sentence where there is nothing to draw.

    Raises
    ------
    ConfigError
        If an option names what is not there, or asks for a table that was not made.
    """
    graph = drawing.graph
    if (graph.marks is None) != (graph.comparison is None):
        what = "marks (a pair) and comparison (the stage that compared it) go together"
        raise drawing.wrong("marks", what, "give both or neither")
    query = _query(drawing)
    names, last = extent(query)
    cuts = cuts_of(drawing, last)
    measures, said = lines_of(drawing, query, names, cuts)
    window = _window(drawing, measures, last)
    drawn = thin_rows(query.filter(pl.col("measure").is_in(measures)), window, always=cuts)
    frame = _banded(drawing, drawn.collect(engine="streaming").sort("measure", "n"))
    value = "recall" if graph.kind == "recall" else "precision"
    if frame[value].drop_nulls().is_empty():
        return Text(f"No judged candidate is among the n best from n = {window.first_n:,} on.")
    extras = titled_extras(_extras(drawing, window, cuts, frame))
    frame, window = titled(frame), titled_window(window)
    caption = graph_caption(
        extras, window, graph, of=drawing.scope.said, size=_size(frame),
        baseline=drawing.baseline is not None, together=_together(frame),
    )  # fmt: skip
    name = drawing.scope.file(graph.name or graph.kind.replace("_", "-"))
    draw = _draw(drawing, frame, extras, window)
    return figure(name, f"{caption}{said}", draw, graph.look)


def extent(query: pl.LazyFrame) -> tuple[list[str], int]:
    """Return the measures of a table, and its largest n."""
    longest = query.group_by("measure").agg(pl.col("n").max()).sort("measure")
    ends = longest.collect(engine="streaming")
    return ends["measure"].to_list(), max(ends["n"], default=0)


def _last(query: pl.LazyFrame) -> int:
    return int(query.select(pl.col("n").max()).collect(engine="streaming").item())


class DeclaredCuts(StageOptions):
    """The list sizes that a stage declares."""

    cuts: tuple[int, ...]


def cuts_of(drawing: Drawing, last: int) -> tuple[int, ...]:
    """Return the cuts that the options or the stage name, as far as the lists go."""
    wanted = drawing.graph.cuts
    if wanted is None:
        wanted = drawing.scope.stage.options_as(DeclaredCuts).cuts
    return cuts_within(wanted, last)


def lines_of(
    drawing: Drawing, query: pl.LazyFrame, names: Sequence[str], cuts: Sequence[int]
) -> tuple[tuple[str, ...], str]:
    """Return the measures to draw, and what the caption says of those that are not."""
    wanted = drawing.graph.measures
    if wanted or len(names) <= MOST_LINES:
        return chosen(wanted, names, where=drawing.option("measures")), ""
    n = cuts[len(cuts) // 2] if cuts else _last(query) // 2
    value = "recall" if drawing.graph.kind == "recall" else "precision"
    values = query.filter(pl.col("n") == n).select("measure", value).collect(engine="streaming")
    best = values.sort(value, "measure", descending=[True, False], nulls_last=True)
    said = f" Of {len(names)} measures the {MOST_LINES} with the highest {value} at n = {n:,}."
    return tuple(best["measure"].head(MOST_LINES)), said


def _query(drawing: Drawing) -> pl.LazyFrame:
    kind = drawing.graph.kind
    query = drawing.scope.query(TABLES[kind])
    if kind in {"precision", "precision_by_recall"} or not query.head(1).collect().is_empty():
        return query
    if kind == "recall" and not drawing.graph.bands:
        # Recall itself stands in the table of precision; what is missing is its interval.
        limits = [pl.lit(None, pl.Float64).alias(limit) for limit in ("lower", "upper")]
        return drawing.scope.query("precision").with_columns(*limits)
    stage = drawing.scope.stage.name
    what = f"the stage {stage} has not made its table {kind}"
    raise drawing.wrong("kind", what, f"set {OPTION[kind]} in stages.{stage}")


def _together(frame: pl.DataFrame) -> tuple[int, int] | None:
    """Return the first and the last n of the limits that hold at once."""
    if "lower_band" not in frame.columns:
        return None
    held = frame.drop_nulls("lower_band")["n"]
    return None if held.is_empty() else (int(held[0]), int(held.to_numpy().max()))


def _banded(drawing: Drawing, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the limits that hold at all n at once, where the stage has them."""
    if drawing.graph.kind != "precision" or drawing.scope.stage.use not in WITH_BANDS:
        return frame
    bands = drawing.scope.query("bands").select("measure", "n", "lower_band", "upper_band")
    found = bands.collect()
    if found.is_empty():
        return frame
    return frame.join(found, on=["measure", "n"], how="left", maintain_order="left")


def _window(drawing: Drawing, measures: tuple[str, ...], last: int) -> Window:
    graph = drawing.graph
    wanted = 1 if graph.kind == "local" and graph.first_n is None else graph.first_n
    return Window(
        measures=measures, first_n=first_shown(wanted, last), last_n=graph.last_n,
        y_min=graph.y_min, y_max=graph.y_max,
    )  # fmt: skip


def _extras(drawing: Drawing, window: Window, cuts: tuple[int, ...], drawn: pl.DataFrame) -> Extras:
    graph = drawing.graph
    bands = chosen(graph.bands, window.measures, where=drawing.option("bands"))
    marks = graph.marks if graph.kind == "precision" else None
    return Extras(
        bands=bands if graph.bands else (), cuts=cuts, marks=marks, truth=_truth(drawing, drawn),
        comparison=None if marks is None else _comparison(drawing),
        subsets=_subsets(drawing) if graph.kind == "precision" else None,
    )  # fmt: skip


def _truth(drawing: Drawing, drawn: pl.DataFrame) -> pl.DataFrame | None:
    if drawing.graph.truth is None or drawing.graph.kind == "cut":
        return None
    table = "local" if drawing.graph.kind == "local" else "precision"
    query = drawing.scope.query(f"{drawing.graph.truth}.{table}")
    shown = drawn.lazy().select("measure", "n")
    found = query.join(shown, on=["measure", "n"], how="semi", maintain_order="left")
    return found.collect(engine="streaming")


def _subsets(drawing: Drawing) -> pl.DataFrame | None:
    if not drawing.graph.subsets:
        return None
    subsets = [drawing.scope.query(f"{name}.subsets").collect() for name in drawing.graph.subsets]
    return pl.concat(subsets).sort("n", "subset")


def _comparison(drawing: Drawing) -> pl.DataFrame | None:
    graph = drawing.graph
    if graph.comparison is None or graph.marks is None:
        return None
    query = drawing.scope.query(f"{graph.comparison}.comparison")
    pair = [pl.col(side).is_in(graph.marks) for side in ("measure_1", "measure_2")]
    compared = query.filter(*pair)
    if compared.head(1).collect().is_empty():
        what = f"{graph.comparison} does not compare {' with '.join(graph.marks)}"
        raise drawing.wrong("marks", what)
    return compared.filter("significant").collect()


def _size(frame: pl.DataFrame) -> int:
    """Return the size of the windows, or of the lists that stand for the whole."""
    return int(frame["size"][0]) if "size" in frame.columns else int(frame["n"].max() or 0)  # type: ignore[arg-type]  # a column of numbers


def _draw(drawing: Drawing, frame: pl.DataFrame, extras: Extras, window: Window) -> Draw:
    baseline, kind = drawing.baseline, drawing.graph.kind
    if kind == "recall":
        whole = None if baseline is None else int(baseline["n_candidates"].item())
        draw: Draw = partial(charts.recall_chart, frame, n_candidates=whole)
    elif kind in {"precision_by_recall", "cut"}:
        level = baseline if kind == "precision_by_recall" else None
        draw = partial(charts.precision_recall_chart, frame, level)
    elif kind == "local":
        title = f"rank (middle of a window of {_size(frame):,})"
        draw = partial(charts.precision_chart, frame, baseline, x_title=title)
    else:
        draw = partial(charts.precision_chart, frame, baseline)
    return partial(draw, extras=extras, window=window)
