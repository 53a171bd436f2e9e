"""The view of systems: one table of all measures, how they correlate, types against tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import polars as pl

from pipeline.report import charts
from pipeline.report.charts import Look, Style
from pipeline.report.page.cells import NOTHING, columns_shown
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Figure, Listing, StageView, Text, ViewOptions, view
from pipeline.report.views.clustering.captions import (
    HOW_SYSTEMS,
    UNSEEN,
    is_type_level,
    ordered,
    title,
)

Method = Literal["spearman", "kendall"]
_METHODS = {"spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}


class SystemsView(ViewOptions):
    """What the comparison of systems shows."""

    measures: tuple[str, ...] = ()
    """The measures of the correlations; all if empty."""
    methods: tuple[Method, ...] = ("spearman", "kendall")
    """The correlations that are drawn."""
    x: str = ""
    """Measure of the horizontal axis of the scatter plot; M-1 accuracy of tokens if empty."""
    y: str = ""
    """Measure of its vertical axis; MacroI under M-1 if empty."""
    style: Style = "screen"
    """``screen`` in colours, ``print`` in black and white."""


@view("evaluate.systems", options=SystemsView)
def show_systems(stage: StageView, options: SystemsView) -> Sequence[Block]:
    """Show the table, level by level, the scatter plot and the correlations."""
    table = stage.table("table").collect()
    if table.is_empty():
        return [Text("There is no system to compare.")]
    where = f"views.{stage.name}"
    known = ordered(table["measure"])
    measures = chosen(options.measures, known, where=f"{where}.measures")
    for axis, wanted in (("x", options.x), ("y", options.y)):
        chosen([wanted] if wanted else [], known, where=f"{where}.{axis}")
    correlations = stage.table("correlations").collect()
    return [
        Text(HOW_SYSTEMS),
        *([Text(UNSEEN)] if any(name.startswith("MicroC") for name in known) else []),
        *_tables(table),
        *_scatter(table, options, known),
        *_correlations(correlations, measures, options),
    ]


def _tables(table: pl.DataFrame) -> Iterator[Block]:
    known = ordered(table["measure"])
    types = [name for name in known if is_type_level(name)]
    tokens = [name for name in known if not is_type_level(name)]
    for name, measures, said in (
        ("types", types, "Type level, in per cent"),
        ("tokens", tokens, "Other measures"),
    ):
        if measures:
            yield _listing(table, measures, name=name, said=said, percent=name == "types")


def _listing(
    table: pl.DataFrame, measures: Sequence[str], *, name: str, said: str, percent: bool
) -> Listing:
    mine = table.filter(pl.col("measure").is_in(measures))
    cells = {
        (row["system"], row["measure"]): _value(row, percent=percent)
        for row in mine.iter_rows(named=True)
    }
    systems = sorted(set(mine["system"]))
    runs = [str(mine.filter(system=system)["n_runs"].max()) for system in systems]
    columns = [[cells.get((system, measure), "") for system in systems] for measure in measures]
    heads = ["system", "runs", *map(title, measures)]
    shown = columns_shown(heads, [systems, runs, *columns])
    caption = f"{said}: mean over runs, ± standard deviation, rank in brackets."
    return Listing(name, caption, mine, shown=shown, right=tuple(heads[1:]))


def _value(row: dict[str, Any], *, percent: bool) -> str:
    if row["mean"] is None:
        return NOTHING
    times, digits = (100.0, 2) if percent else (1.0, 4)
    text = f"{times * row['mean']:.{digits}f}"
    if row["sd"] is not None:
        text += f" ± {times * row['sd']:.{digits}f}"
    return f"{text} ({row['rank']:g})"


def _scatter(table: pl.DataFrame, options: SystemsView, known: Sequence[str]) -> Iterator[Block]:
    types = [name for name in known if is_type_level(name)]
    others = [name for name in known if not is_type_level(name)]
    x = options.x or (others[0] if others else "")
    y = options.y or (types[0] if types else "")
    if not x or not y:
        return
    sides = [
        table.filter(measure=measure).select(
            pl.col("system").alias("name"),
            pl.col("mean").alias(axis),
            pl.col("sd").alias(f"{axis}_sd"),
        )
        for axis, measure in (("x", x), ("y", y))
    ]
    frame = sides[0].join(sides[1], on="name").drop_nulls(["x", "y"]).sort("name")
    if frame.is_empty():
        return
    caption = f"{title(y)} against {title(x)}, a point for each system"
    if frame["x_sd"].null_count() < frame.height:
        caption += "; bars are one standard deviation over its runs to either side"
    chart = charts.scatter(
        frame, x_title=_axis(x), y_title=_axis(y), look=Look(style=options.style, width=440)
    )
    yield Figure("scatter", f"{caption}.", chart)


def _axis(measure: str) -> str:
    return f"{title(measure)} (types)" if is_type_level(measure) else title(measure)


def _correlations(
    correlations: pl.DataFrame, measures: Sequence[str], options: SystemsView
) -> Iterator[Block]:
    systems = int(correlations["n_systems"].max() or 0)  # type: ignore[arg-type]
    if systems < 3:
        yield Text(f"{systems} systems are too few for correlations between measures.")
        return
    inside = pl.col("measure_1").is_in(measures) & pl.col("measure_2").is_in(measures)
    for method in options.methods:
        yield _heat_map(correlations.filter(inside, method=method), measures, method, options)


def _heat_map(
    frame: pl.DataFrame, measures: Sequence[str], method: Method, options: SystemsView
) -> Figure:
    names = {measure: title(measure) for measure in measures}
    said = [_two_digits(value) for value in frame["correlation"]]
    grid = charts.Grid(
        rows=list(names.values()), columns=list(names.values()), row_title="", column_title="",
        legend=f"{_METHODS[method]} over systems", domain=(-1.0, 1.0), cell=32.0,
        row=26.0,
    )  # fmt: skip
    cells = frame.select(
        row=pl.col("measure_1").replace_strict(names),
        column=pl.col("measure_2").replace_strict(names),
        value="correlation",
        marked=pl.lit(value=False),
        text=pl.Series(said, dtype=pl.String),
    )
    counts = sorted(set(frame["n_systems"].to_list()))
    many = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
    caption = (
        f"Rank correlation between measures over {many} systems ({_METHODS[method]}). With so few "
        "systems a correlation tells of these systems, not of others."
    )
    chart = charts.grid_map(cells, grid, look=Look(style=options.style))
    return Figure(method, caption, chart)


def _two_digits(value: float | None) -> str:
    if value is None:
        return NOTHING
    # Adding zero turns -0.0 into 0.0.
    return f"{round(value, 2) + 0.0:.2f}".replace("0.", ".").replace("-", "−")
