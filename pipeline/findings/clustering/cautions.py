"""What to know before believing scores of clusters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from pipeline.findings import words
from pipeline.findings.clustering.evidence import by_mapping, runs_of
from pipeline.findings.clustering.leading import first
from pipeline.findings.clustering.measures import title
from pipeline.findings.finding import Finding, finder
from pipeline.findings.names import called
from pipeline.findings.stage import StageOptions, StageView

_LATE = 80
_CLEAR = 5
"""From so many systems on, one order or its reverse comes by chance less often than 1 in 20."""
_UNLIKE = 1.1
"""Numbers of clusters are alike where the greatest is at most so many times the least."""


class Unclustered(StageOptions):
    """What becomes of tokens without a cluster."""

    without_cluster: str


def caution(about: str, text: str, value: float | None = None, **further: str | int) -> Finding:
    """Return a sentence that one has to know before believing the answers."""
    return Finding(kind="caution", about=about, text=words.sentence(text), value=value, **further)  # type: ignore[arg-type]  # fields of several types


@finder(stages=("evaluate.systems",), place=_LATE)
def untested_order(stage: StageView) -> Iterator[Finding]:
    """Say that no test compares the systems, and that few systems say little of a correlation."""
    table = stage.table("table").collect()
    many = int(table["system"].n_unique())
    if many < 2:
        return
    yield caution(
        "untested",
        f"no test holds the {many:,} systems against each other: their order is one of estimates",
        float(many),
    )
    both = all(first(table, level) is not None for level in ("types", "tokens"))
    if both and many < _CLEAR:
        yield caution(
            "few systems",
            f"{many:,} systems say little of a rank correlation: by chance alone each order comes "
            f"once in {math.factorial(many):,}",
            float(many),
        )


@finder(stages=("evaluate.type_level",), place=_LATE)
def type_level_cautions(stage: StageView) -> Iterator[Finding]:
    """Say which mappings are not proven, and what is left out or counts as wrong."""
    scores = stage.table("scores").collect()
    if scores.is_empty():
        return
    yield from _not_proven(by_mapping(scores))
    yield from _numbers_of_clusters(scores.select("system", "n_clusters").unique())
    sizes = scores.select("system", "run", "n_items", "n_dropped", "n_without_cluster").unique()
    if lost := _most_lost(sizes, "n_without_cluster"):
        text = f"types without a cluster, which count as not found: {lost.said}"
        yield caution("without cluster", text, lost.count, n=lost.of, name=lost.system)
    if lost := _most_lost(sizes, "n_dropped"):
        text = (
            f"types with a cluster and no gold class, which are left out: {lost.count:,} in "
            f"{lost.where}, besides the {lost.of:,} that count"
        )
        yield caution("dropped", text, lost.count, n=lost.of, name=lost.system)


def _not_proven(scores: pl.DataFrame) -> Iterator[Finding]:
    """Say how many values may be too low, as their mapping is not known to be optimal."""
    open_ones = scores.filter(certificate="not proven")
    if open_ones.is_empty():
        return
    measures = [title(name) for name in sorted(set(open_ones["measure"]))]
    text = (
        f"for {open_ones.height:,} of {scores.height:,} values no proof says that their mapping is "
        f"optimal ({words.listed(measures)}): they may be too low"
    )
    gaps = open_ones.drop_nulls("gap")
    widest = None
    if gaps.height:
        row = gaps.sort("gap", "system", "run", descending=[True, False, False]).row(0, named=True)
        widest = float(row["gap"])
        at_most = words.number(100 * widest, 1)
        text += f", by at most {at_most} points where a bound is known"
    yield caution("not proven", text, widest, n=open_ones.height)


def _numbers_of_clusters(counts: pl.DataFrame) -> Iterator[Finding]:
    """Say that M-1 values grow with the number of clusters, where the systems' numbers differ."""
    ordered = counts.sort("n_clusters", "system")
    rows = [(name, many) for name, many in ordered.select("system", "n_clusters").rows() if many]
    if not rows:
        return
    (least, few), (most, many) = rows[0], rows[-1]
    if least == most or many <= _UNLIKE * few:
        return
    yield caution(
        "numbers of clusters",
        f"M-1 values grow with the number of clusters, and the systems have {few:,} "
        f"({called(least)}) to {many:,} ({called(most)})",
        float(many),
    )


@dataclass(frozen=True)
class _Lost:
    """The run that loses most items, and how many other runs lose some."""

    run: str
    system: str
    count: int
    of: int
    others: int

    @property
    def where(self) -> str:
        """The run, and how many others there are."""
        if not self.others:
            return self.run
        return f"{self.run} (and no more in {words.counted(self.others, 'other run')})"

    @property
    def said(self) -> str:
        """How many, of how many, and where."""
        return f"{self.count:,} of {self.of:,} in {self.where}"


def _most_lost(sizes: pl.DataFrame, column: str) -> _Lost | None:
    """Return where most items are lost; None if nowhere."""
    order = {column: True, "system": False, "run": False}
    rows = sizes.filter(pl.col(column) > 0).sort(list(order), descending=list(order.values()))
    if rows.is_empty():
        return None
    row = rows.row(0, named=True)
    names = {(run.system, run.run): run.said for run in runs_of(sizes)}
    said = names[row["system"], row["run"]]
    return _Lost(said, row["system"], row[column], row["n_items"], rows.height - 1)


@finder(stages=("evaluate.token_level",), place=_LATE)
def token_level_cautions(stage: StageView) -> Iterator[Finding]:
    """Say how many tokens have no cluster, and that numbers of clusters differ."""
    mapping = stage.table("mapping").filter(mapping="many_to_one").collect()
    counts = mapping.group_by("system", "run").agg(n_clusters=pl.len())
    yield from _numbers_of_clusters(counts.select("system", "n_clusters").unique())
    sizes = stage.table("sizes").collect()
    counted = sizes.pivot(on="what", index=["system", "run"], values="count")
    alone = "tokens without a cluster"
    if alone not in counted.columns:
        return
    kept = stage.options_as(Unclustered).without_cluster == "cluster"
    fate = "are taken as one cluster more" if kept else "are left out"
    if lost := _most_lost(counted.rename({"tokens": "n_items"}), alone):
        text = f"tokens without a cluster, which {fate}: {lost.said}"
        yield caution("without cluster", text, lost.count, n=lost.of, name=lost.system)
