"""The table of all word types: gold classes, and of each system clusters, mapped classes, F."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report.explorer.block import Attribute, Explorer
from pipeline.report.fitting import rows_that_fit
from pipeline.report.views.clustering.cluster_figures import Shown


def type_explorer(
    stage: StageView, runs: Sequence[Shown], *, measure: str, mapping: str, most_rows: int
) -> Explorer | None:
    """Return a table of all word types with a gold entry, the most frequent first.

    Parameters
    ----------
    stage : StageView
        The stage, "evaluate.type_level".
    runs : sequence of Shown
        The runs that are shown.
    measure, mapping : str
        Whose mapping of clusters to classes.
    most_rows : int
        How many types the page holds at most.

    Returns
    -------
    Explorer or None
        None if the stage does not say what it was made from.
    """
    if "gold" not in stage.inputs:
        return None
    gold = stage.table(stage.inputs["gold"])
    systems = [stage.table(table) for option, table in stage.inputs.items()
               if option.partition(".")[0] == "systems"]  # fmt: skip
    mapped = stage.table("mapping").filter(measure=measure, mapping=mapping)
    frame = gold.group_by("item").agg(
        tokens=pl.col("f").sum(), gold=pl.col("gold").unique().sort().str.join(" ")
    )
    entries = pl.concat([each.select("system", "run", "item", "cluster") for each in systems])
    for run in runs:
        own = item_scores(gold, entries.filter(run.rows), mapped.filter(run.rows))
        named = {f"{run.system} {name}": name for name in ("clusters", "mapped", "F")}
        frame = frame.join(own.select("item", **named), on="item", how="left")
    whole = frame.select(pl.len()).collect(engine="streaming").item()
    fit = rows_that_fit(len(frame.collect_schema()))
    held = whole if fit is None or whole <= fit else min(most_rows, fit)
    ordered = frame.sort(["tokens", "item"], descending=[True, False])
    rows = ordered.head(held).collect(engine="streaming")
    return Explorer(
        "all-types",
        f"All word types with a gold entry, to search, sort and filter: their gold classes, and "
        f"the clusters of each system, the classes they are mapped to and F in per cent, by the "
        f"{mapping} mapping of {measure}. Open a row to see all of it.",
        ("word type", "word types"),
        rows,
        _columns(rows, runs),
        key="item",
        order="tokens",
        falling=True,
        matters="with most tokens",
        whole=whole,
        most_rows=most_rows,
    )


def item_scores(gold: pl.LazyFrame, entries: pl.LazyFrame, mapped: pl.LazyFrame) -> pl.LazyFrame:
    """Return of each item with a gold entry its clusters, their classes, and F.

    F is 2 common / (|A| + |h(B)|), of the gold classes A and the classes h(B) of its clusters;
    a cluster without a class counts in |h(B)|.

    Parameters
    ----------
    gold : LazyFrame
        `schemas.GoldEntries`.
    entries : LazyFrame
        The clusters of one run, `schemas.InducedEntries`.
    mapped : LazyFrame
        The class of each cluster, `schemas.ClusterMapping` of one run, measure and mapping.
    """
    classes = mapped.select("cluster", to="gold")
    known = entries.select("item", "cluster").unique().join(classes, on="cluster", how="left")
    per_item = known.group_by("item").agg(
        clusters=pl.col("cluster").sort().str.join(" "),
        mapped=pl.col("to").drop_nulls().unique().sort().str.join(" "),
        to=pl.col("to").drop_nulls().unique(),
        size=pl.col("to").drop_nulls().n_unique() + pl.col("to").null_count(),
    )
    classes_of = gold.group_by("item").agg(pl.col("gold").unique())
    both = classes_of.join(per_item, on="item", how="left")
    common = pl.col("gold").list.set_intersection("to").list.len()
    whole = pl.col("gold").list.len() + pl.col("size")
    return both.select(
        "item", "clusters", "mapped", F=(2 * common / whole).fill_null(0.0).cast(pl.Float64)
    )


def _columns(rows: pl.DataFrame, runs: Sequence[Shown]) -> tuple[Attribute, ...]:
    found = [
        Attribute("item", "word type", "text"),
        Attribute("tokens", "tokens", "count"),
        Attribute("gold", "gold classes", "label"),
    ]
    for run in runs:
        name = run.system
        found += [
            Attribute(f"{name} clusters", f"{name} clusters", "text", of=run.said,
                      part="clusters", shown=False),
            Attribute(f"{name} mapped", f"{name} mapped to", "label", of=run.said,
                      part="mapped to", shown=len(runs) == 1),
            Attribute(f"{name} F", f"{name} F (%)", "share", of=run.said, part="F (%)"),
        ]  # fmt: skip
    return tuple(each for each in found if each.name in rows.columns)
