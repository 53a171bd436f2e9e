"""Remarks on clusters of word types against their gold classes."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.kernels.clustering.encoding import FEWEST_LABELS, MOST_DECIMALS, decimal_labels
from pipeline.remarks.base import CheckInput, Found, check, remark
from schemas.errors import count_text

EVALUATING = ("evaluate.type_level",)
_ALIKE = 20


@check(stages=EVALUATING, threshold=0.05, means="proportion of the gold types")
def without_cluster(stage: CheckInput, threshold: float) -> Found:
    """Count gold types without a cluster in a run."""
    for name, run in _runs(stage):
        gold = stage.inputs["gold"].group_by("item").agg(pl.sum("f"))
        lacking = gold.join(run, on="item", how="anti").sort("f", "item", descending=[True, False])
        types, every = lacking.collect(), gold.select(pl.len()).collect().item()
        if not every or types.height / every < threshold or not types.height:
            continue
        share = types.height / every
        yield remark(
            "warning" if share >= 0.5 else "note",
            f"{types.height:,} of {every:,} gold types ({share:.0%}) have no cluster in {name}:"
            " they count as not found",
            such_as=[f"{item!r}" for item in types["item"].head(3)],
            remedy="check case and spelling (fold), or exclude rare types (min_frequency)",
            lacking=types.height,
            types=every,
        )


@check(stages=EVALUATING, threshold=0.5, means="proportion of the shared types with equal counts")
def other_text(stage: CheckInput, threshold: float) -> Found:
    """Find runs with token counts from a different text than the gold."""
    gold = stage.inputs["gold"].group_by("item").agg(pl.sum("f"))
    if gold.select((pl.col("f") == 1).all()).collect().item():
        return  # a dictionary, which has no counts
    for name, run in _runs(stage):
        theirs = run.group_by("item").agg(
            theirs=pl.col("f").sum(), counted=pl.col("f").is_not_null().all()
        )
        both = gold.join(theirs.filter("counted"), on="item").collect()
        equal = both.filter(pl.col("f") == pl.col("theirs")).height
        if both.height < _ALIKE or equal / both.height >= threshold:
            continue
        most = both.with_columns(gap=(pl.col("f") - pl.col("theirs")).abs())
        examples = most.sort("gap", "item", descending=[True, False]).head(3)
        yield remark(
            "note",
            f"{name} was counted on a different text than the gold: {equal:,} of {both.height:,}"
            " types have equal counts in both",
            such_as=[
                f"{item!r}: {ours:,} and {others:,}"
                for item, ours, others in examples.select("item", "f", "theirs").iter_rows()
            ],
            remedy="tag the same text: in another text, a type may lack a class or a cluster",
            equal=equal,
            types=both.height,
        )


@check(
    stages=("extract.gold_table", "extract.gold", "extract.tagging", "join.tagging"),
    threshold=50,
    means="types",
)
def one_class_each(stage: CheckInput, threshold: float) -> Found:
    """Find a gold in which every type has a single class."""
    table = stage.outputs["gold" if "gold" in stage.outputs else "entries"]
    by_item = table.group_by("item").agg(classes=pl.len())
    types, several = by_item.select(
        pl.len(), several=(pl.col("classes") > 1).sum()
    ).collect().row(0)  # fmt: skip
    if types >= threshold and not several:
        yield remark(
            "note",
            f"each of the {types:,} gold types has a single class: measures for polysemous words"
            " then equal those for one class per type",
            remedy="check the columns item and class, and whether the table lists all classes of a"
            " type",
            types=types,
        )


@check(
    stages=("extract.gold", "extract.tagging", "join.tagging"),
    threshold=0.2,
    means="proportion of the types",
)
def upper_case_twins(stage: CheckInput, threshold: float) -> Found:
    """Count types that differ from another in upper case only."""
    if stage.config.fold:
        return
    table = stage.outputs["gold" if "gold" in stage.outputs else "entries"]
    items = table.select(pl.col("item").unique()).with_columns(
        low=pl.col("item").str.to_lowercase()
    )
    twins = items.filter(pl.col("item") != pl.col("low")).join(
        items.select(low="item"), on="low", how="semi"
    )
    pairs, every = twins.sort("item").collect(), items.select(pl.len()).collect().item()
    if every and pairs.height / every >= threshold:
        yield remark(
            "note",
            f"{pairs.height:,} of {every:,} types differ from another in upper case only",
            such_as=[f"{item!r} and {low!r}" for item, low in pairs.head(3).iter_rows()],
            remedy="fold = true merges them",
            twins=pairs.height,
            types=every,
        )


@check(
    stages=("extract.clusters", "extract.tagging", "join.tagging"),
    threshold=MOST_DECIMALS,
    means="distinct numbers with decimals as a proportion of the items",
)
def continuous_labels(stage: CheckInput, threshold: float) -> Found:
    """Find columns of measurements that were read as cluster labels."""
    config = stage.config
    headers = getattr(config, "columns", {}) if stage.use == "extract.clusters" else {}
    column = getattr(config, "cluster", headers.get("cluster", "cluster"))
    columns = ", ".join(map(repr, [column] if isinstance(column, str) else column))
    counts = stage.outputs["entries"].group_by("system", "run").agg(
        items=pl.col("item").n_unique(), such_as=decimal_labels(pl.col("cluster"))
    )  # fmt: skip
    counts = counts.select(
        "system", "run", "items", pl.col("such_as").list.len().alias("labels"), "such_as"
    )
    bad = counts.filter(
        pl.col("items") >= FEWEST_LABELS, pl.col("labels") >= threshold * pl.col("items")
    )
    for system, _, items, labels, such_as in bad.sort("system", "run").collect().iter_rows():
        yield remark(
            "warning",
            f"column {columns} of {system} has {labels:,} distinct numbers with decimals among"
            f" {items:,} items: these look like measurements, not like clusters",
            such_as=such_as[:3],
            remedy="name the column of the clusters",
            labels=labels,
            items=items,
        )


@check(
    stages=("extract.clusters", "extract.tagging", "join.tagging"), threshold=1,
    means="items of noise in all runs together",
)  # fmt: skip
def absent_noise(stage: CheckInput, threshold: float) -> Found:
    """Find a label of noise that no item has."""
    rows = stage.outputs["sizes"].filter(pl.col("what").str.starts_with("noise ")).collect()
    if rows.is_empty() or rows["count"].sum() >= threshold:
        return
    labels = " or ".join(map(repr, stage.config.noise))
    yield remark(
        "warning",
        f"no item has the noise label {labels}",
        remedy="check the option noise; a clustering without noise needs none",
    )


@check(
    stages=("extract.clusters", "extract.tagging", "join.tagging"), threshold=1,
    means="items with the label -1",
)  # fmt: skip
def undeclared_noise(stage: CheckInput, threshold: float) -> Found:
    """Find the label -1 among clusters that are otherwise numbered from 0 or 1."""
    number = pl.col("cluster").cast(pl.Int64, strict=False)
    clusters = stage.outputs["entries"].group_by("system", "run").agg(
        numbered=number.is_not_null().all() & (number.filter(number != -1).min() >= 0)
        & (number.n_unique() > 2),
        items=pl.col("item").filter(number == -1).n_unique(),
    )  # fmt: skip
    bad = clusters.filter("numbered", pl.col("items") >= threshold).sort("system", "run").collect()
    for system, _, _, items in bad.iter_rows():
        yield remark(
            "warning",
            f"{count_text(items, 'item')} of {system} {'has' if items == 1 else 'have'} the label"
            " -1 beside clusters with numbers from 0: many programs give it to items without a"
            " cluster, but it counts as a cluster here",
            remedy="set noise = [-1] (--noise -1), unless -1 is a cluster",
            items=items,
        )


def _runs(stage: CheckInput) -> Iterator[tuple[str, pl.LazyFrame]]:
    """Yield the entries of each run, with its name."""
    for option, entries in stage.inputs.items():
        if not option.startswith("systems."):
            continue
        names = entries.select("system", "run").unique().sort("system", "run").collect()
        for system, run in names.iter_rows():
            mine = entries.filter(system=system, run=run)
            yield (system if names.height == 1 else f"{system} ({run})"), mine
