"""The view of type-level scores: the table, the mappings, classes, the worst items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.kernels.clustering.measure import TYPE_LEVEL, TYPE_MEASURES
from pipeline.report.blocks import Column, listing, place_in
from pipeline.report.page.cells import NOTHING, share, share_limits
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Explored, Fold, Listing, Styled, Text, view
from pipeline.report.views.clustering.cluster_figures import (
    Shown,
    class_figure,
    first_runs,
    mapping_figure,
)
from pipeline.report.views.clustering.clusters import clusters_listing
from pipeline.report.views.clustering.explored import type_explorer
from pipeline.report.views.clustering.measures import UNSEEN, under_others

_FLOOR = "floor"
HOW_TYPES = (
    "Word types are counted, each once, however often it occurs. A type may have several classes "
    "and several clusters. A mapping gives each cluster a class: under 1-1 no two clusters the "
    "same one, under M-1 any. Every measure has the mapping that maximises it. MacroI (which is "
    "also MacroC) is the F score over all memberships, MicroI the mean F score of the types, "
    "MicroC the mean F score of the classes that clusters are mapped to, weighted by what is "
    "mapped to them."
)
CLIMBS = (
    "1-1 mappings are exact. An M-1 mapping is exact where every type has one cluster and the "
    "measure is MacroI or MicroI. Else it is the best of several climbs, a lower bound of what is "
    "possible: the table says how many of the starts reached it, and the gap to a bound that no "
    "mapping exceeds, where one is known. Certificate: exact by the method; proven by a search "
    "that found none better (with certificate_seconds); or not proven."
)
WIDE_GAP = 0.01
"""A gap above is explained."""


class TypeLevelView(Styled, Explored):
    """What the type-level scores show."""

    systems: tuple[str, ...] = ()
    """The systems that have figures; all if empty. Of several runs the first is shown."""
    measure: str = "MacroI"
    """The measure whose mapping the figures show."""
    mapping: Literal["1-1", "M-1"] = "M-1"
    """Which of its mappings."""
    worst: int = 15
    """How many of the worst items of each system are shown."""


@view(
    "evaluate.type_level", options=TypeLevelView, title="Word types: scores and mappings", place=20
)
def show_type_level(stage: StageView, options: TypeLevelView) -> Sequence[Block]:
    """Show how to read the measures, the scores, and what is behind them for each system."""
    scores = stage.table("scores").collect()
    if scores.is_empty():
        return [Text("There is no run of a system to evaluate.")]
    names = sorted(set(scores["system"]))
    systems = chosen(options.systems, names, where=f"views.{stage.name}.systems")
    runs = [run for run in first_runs(scores) if run.system in systems]
    if options.measure not in TYPE_LEVEL:
        measured = sorted(set(scores["measure"]))
        chosen((options.measure,), measured, where=f"views.{stage.name}.measure")
    size = Text(_size(scores))
    how = [Text(HOW_TYPES + under_others(scores["measure"])), Text(UNSEEN), Text(CLIMBS)]
    first, *others = (
        list(_of_run(stage, options, run)) for run in _best_first(runs, scores, options)
    )
    return [
        size,
        _scores(scores),
        Fold("How to read these scores", [*how, *_wide(scores)]),
        *first,
        *_explorer(stage, options, runs),
        Fold("The same of the other systems", [block for blocks in others for block in blocks]),
    ]


def _best_first(
    runs: Sequence[Shown], scores: pl.DataFrame, options: TypeLevelView
) -> Sequence[Shown]:
    """Return the runs, that of the system with the highest score first; the others as they are."""
    mine = scores.filter(measure=options.measure, mapping=options.mapping)
    highest = mine.sort("value", descending=True, nulls_last=True)["system"].head(1).to_list()
    return sorted(runs, key=lambda run: run.system not in highest)


def _explorer(stage: StageView, options: TypeLevelView, runs: Sequence[Shown]) -> Iterator[Block]:
    if not options.explorer:
        return
    found = type_explorer(
        stage, runs, measure=options.measure, mapping=options.mapping,
        most_rows=options.explorer_rows,
    )  # fmt: skip
    if found is not None:
        yield found


def _wide(scores: pl.DataFrame) -> Iterator[Text]:
    """Say where a gap above 1 % comes from."""
    rows = scores.filter(pl.col("gap") > WIDE_GAP).sort("gap", descending=True)
    if rows.is_empty():
        return
    said = "; ".join(
        f"{row['system']} ({row['run']}), {TYPE_MEASURES.title(row['measure'])}: "
        f"{share(row['gap'])}, {row['n_open_clusters']} of {row['n_clusters']} clusters, "
        f"{row['n_in_several']:,} of {row['n_items']:,} types"
        for row in rows.head(12).iter_rows(named=True)
    )
    yield Text(
        "Gaps above one per cent. The bound lets each set of clusters that types have (MacroI, "
        "MicroI), or each class (MicroC), choose for itself, at prices; where they do not come to "
        "agree, a gap is left, which is no sign that a better mapping exists. It is wide where "
        "many types have several clusters, so that what a cluster gains depends on the classes of "
        "others, or where time was short. The gap, the clusters that may have another class in a "
        f"better mapping, and the types in several clusters: {said}."
    )


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
        f"{system} ({run}): {dropped:,} and {without:,}"
        for system, run, dropped, without in lost.head(12).iter_rows()
    )
    return (
        f"{text}Types with clusters but no gold entry, which are left out, and types with a gold "
        f"entry but no cluster, which count with F = 0: {said}."
    )


def _value(value: float | None, lower: float | None, upper: float | None) -> str:
    return share(value) + ("" if lower is None else f" {share_limits(lower, upper)}")


def _starts(reached: int | None, starts: int | None) -> str:
    return NOTHING if starts is None else f"{reached} of {starts}"


SCORES = (
    *map(Column, ("system", "run")),
    Column("measure", text=TYPE_MEASURES.title),
    Column("mapping"),
    Column(("value", "lower", "upper"), text=_value),
    Column("recall", text=share),
    Column("precision", text=share),
    Column("floor", text=share),
    Column("certificate"),
    Column(("starts_reaching_best", "starts"), "starts", _starts),
    Column("bound", text=share),
    Column("gap", text=share),
    Column("n_uncovered", "uncovered"),
)
WORST = (
    Column("item", "type"),
    Column("tokens"),
    Column("gold"),
    Column("mapped", "mapped to"),
    Column("f", "F"),
)


def _scores(scores: pl.DataFrame) -> Listing:
    key = ["system", "run", "measure"]
    floors = scores.filter(mapping=_FLOOR).select(*key, floor="value")
    order = place_in(TYPE_LEVEL, "measure")
    rows = scores.filter(pl.col("mapping") != _FLOOR).join(floors, on=key, how="left")
    by = ["system", "run", order, "measure", "mapping"]
    shown = rows.sort(by, descending=[False, False, False, False, True])
    caption = (
        "Type-level scores in per cent. Floor: every cluster mapped to the largest class. Starts: "
        "climbs that reached the value, of all. Bound: no mapping of the kind is better; gap: how "
        "far the value is below it. "
        "Uncovered: classes that no cluster is mapped to."
    )
    several = scores.filter(pl.col("lower").is_not_null())
    if several.height:
        what = several["interval"][0]
        caption += f" Brackets: limits by bootstrap over types, the mapping {what} in the samples."
    return listing("scores", caption, scores, SCORES, shown=shown)


def _of_run(stage: StageView, options: TypeLevelView, shown: Shown) -> Iterator[Block]:
    mine, system = shown.rows, shown.system
    under = (pl.col("measure") == options.measure) & (pl.col("mapping") == options.mapping)
    said = f"{shown.said}, {TYPE_MEASURES.title(options.measure)} under {options.mapping}"
    overlaps = stage.table("overlaps").filter(mine).collect()
    every = stage.table("mapping").filter(mine & under).collect()
    classes = stage.table("classes").filter(mine & under).collect()
    if overlaps.is_empty() or classes.is_empty():
        yield Text(f"{said}: nothing to show.")
        return
    mapped = dict(every.drop_nulls("gold").select("cluster", "gold").iter_rows())
    yield mapping_figure(overlaps, mapped, name=system, said=said, unit="types", look=options.look)
    yield class_figure(classes, name=system, said=said, look=options.look)
    yield clusters_listing(stage, shown, every, said=said, unit="types")
    items = stage.table("items").filter(mine & under).sort("rank").collect()
    caption = f"{said}: types with the lowest F score, the most frequent first."
    yield listing(f"worst-{system}", caption, items, WORST, shown=items.head(options.worst))
