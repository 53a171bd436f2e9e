"""The view of type-level scores: the table, the mappings, classes, the worst items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import polars as pl

from pipeline.report.charts import Style
from pipeline.report.page.cells import NOTHING, cell, columns_shown, share
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Listing, StageView, Text, ViewOptions, view
from pipeline.report.views.clustering.captions import CLIMBS, HOW_TYPES, LEVELS, UNSEEN
from pipeline.report.views.clustering.cluster_figures import (
    Shown,
    class_figure,
    first_runs,
    mapping_figure,
)

_FLOOR = "floor"


class TypeLevelView(ViewOptions):
    """What the type-level scores show."""

    systems: tuple[str, ...] = ()
    """The systems that have figures; all if empty. Of several runs the first is shown."""
    measure: str = "MacroI"
    """The measure whose mapping the figures show."""
    mapping: Literal["1-1", "M-1"] = "M-1"
    """Which of its mappings."""
    worst: int = 15
    """How many of the worst items of each system are shown."""
    style: Style = "screen"
    """``screen`` in colours, ``print`` in black and white."""


@view("evaluate.type_level", options=TypeLevelView)
def show_type_level(stage: StageView, options: TypeLevelView) -> Sequence[Block]:
    """Show how to read the measures, the scores, and what is behind them for each system."""
    scores = stage.table("scores").collect()
    if scores.is_empty():
        return [Text("There is no run of a system to evaluate.")]
    known = sorted(set(scores["system"]))
    systems = chosen(options.systems, known, where=f"views.{stage.name}.systems")
    runs = [each for each in first_runs(scores) if each.system in systems]
    if options.measure not in LEVELS:
        measured = sorted(set(scores["measure"]))
        chosen((options.measure,), measured, where=f"views.{stage.name}.measure")
    size = Text(_size(scores))
    blocks = [block for each in runs for block in _of_run(stage, options, each)]
    return [Text(HOW_TYPES), size, Text(UNSEEN), _scores(scores), Text(CLIMBS), *blocks]


def _size(scores: pl.DataFrame) -> str:
    """Say what was evaluated, and what was left out."""
    first = scores.row(0, named=True)
    text = f"{first['n_items']:,} types have a gold entry, in {first['n_classes']:,} classes. "
    rows = scores.select("system", "run", "n_dropped", "n_without_cluster").unique()
    lost = rows.sort("system", "run").filter(
        (pl.col("n_dropped") > 0) | (pl.col("n_without_cluster") > 0)
    )
    if lost.is_empty():
        return text + "Every system has a cluster for each of them, and for no other."
    said = "; ".join(
        f"{system} ({run}): {dropped:,} and {alone:,}"
        for system, run, dropped, alone in lost.head(12).iter_rows()
    )
    return (
        f"{text}Types with clusters but no gold entry, which are left out, and types with a gold "
        f"entry but no cluster, which count with F = 0: {said}."
    )


def _scores(scores: pl.DataFrame) -> Listing:
    floors = {
        (row["system"], row["run"], row["measure"]): row["value"]
        for row in scores.filter(mapping=_FLOOR).iter_rows(named=True)
    }
    places = {name: i for i, name in enumerate(LEVELS)}
    order = pl.col("measure").replace_strict(places, default=len(LEVELS))
    rows = scores.filter(pl.col("mapping") != _FLOOR).sort(
        "system", "run", order, "mapping", descending=[False, False, False, True]
    )
    heads = ["system", "run", "measure", "mapping", "value", "recall", "precision", "floor",
             "certificate", "starts", "bound", "gap", "uncovered"]  # fmt: skip
    held = [_row(row, floors) for row in rows.iter_rows(named=True)]
    columns = [list(column) for column in zip(*held, strict=True)]
    several = scores.filter(pl.col("lower").is_not_null())
    limits = ""
    if several.height:
        what = several["interval"][0]
        limits = f" Brackets: limits by bootstrap over types, the mapping {what} in the samples."
    caption = (
        "Type-level scores in per cent. Floor: every cluster mapped to the largest class. Starts: "
        "climbs that reached the value, of all. Bound: no mapping of the kind is better; gap: how "
        "far the value is below it. "
        f"Uncovered: classes that no cluster is mapped to.{limits}"
    )
    return Listing("scores", caption, scores, shown=columns_shown(heads, columns),
                   right=tuple(heads[4:8] + heads[9:]))  # fmt: skip


def _row(row: dict[str, Any], floors: dict[tuple[str, str, str], float]) -> list[str]:
    value = share(row["value"])
    if row["lower"] is not None:
        value += f" [{share(row['lower'])}, {share(row['upper'])}]"
    starts = NOTHING
    if row["starts"] is not None:
        starts = f"{row['starts_reaching_best']} of {row['starts']}"
    return [
        *(str(row[name]) for name in ("system", "run", "measure", "mapping")),
        value,
        share(row["recall"]),
        share(row["precision"]),
        share(floors.get((row["system"], row["run"], row["measure"]))),
        str(row["certificate"] or NOTHING),
        starts,
        share(row["bound"]),
        share(row["gap"]),
        cell(row["n_uncovered"]),
    ]


def _of_run(stage: StageView, options: TypeLevelView, shown: Shown) -> Iterator[Block]:
    mine, system = shown.rows, shown.system
    under = (pl.col("measure") == options.measure) & (pl.col("mapping") == options.mapping)
    said = f"{shown.said}, {options.measure} under {options.mapping}"
    overlaps = stage.table("overlaps").filter(mine).collect()
    mapping = stage.table("mapping").filter(mine & under).drop_nulls("gold").collect()
    classes = stage.table("classes").filter(mine & under).collect()
    if overlaps.is_empty() or classes.is_empty():
        yield Text(f"{said}: nothing to show.")
        return
    mapped = dict(mapping.select("cluster", "gold").iter_rows())
    yield mapping_figure(
        overlaps, mapped, name=system, said=said, unit="types", style=options.style
    )
    yield class_figure(classes, name=system, said=said, style=options.style)
    items = stage.table("items").filter(mine & under).sort("rank").collect()
    worst = items.head(options.worst).select("item", "tokens", "gold", "mapped", "f")
    caption = f"{said}: types with the lowest F score, the most frequent first."
    yield Listing(f"worst-{system}", caption, items, shown=_texts(worst), right=("tokens", "F"))


def _texts(items: pl.DataFrame) -> pl.DataFrame:
    columns = [[cell(value) for value in items[name]] for name in items.columns]
    return columns_shown(["type", "tokens", "gold", "mapped to", "F"], columns)
