"""What an earlier run knows of two measures: the tables of a pilot sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.api.results import Run
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.runner.config.graph import Node
from pipeline.sizing import checks
from schemas import Comparison, CutComparison


@dataclass(frozen=True)
class Pilot:
    """What an earlier run knows of two measures.

    Parameters
    ----------
    candidates : int
        Candidates in the data set.
    judged : int
        Judged draws in the pilot sample.
    rows : DataFrame
        Rows of `schemas.Comparison` at the wanted n, in the direction that was asked for.
    """

    candidates: int
    judged: int
    rows: pl.DataFrame

    @property
    def full(self) -> bool:
        """Whether every candidate was judged: then the precisions are known."""
        return self.judged == self.candidates


def open_pilot(
    run: Run, stage: str, *, measures: tuple[str, str], n: Sequence[int], category: str | None
) -> Pilot:
    """Return what a run knows of two measures at these list sizes.

    Raises
    ------
    ConfigError
        If the stage does not compare them there, or its sample is with replacement.
    """
    node = comparing(run, stage)
    table = run.plan(f"{stage}.{_table(node)}")
    chosen = category_of(table, category)
    pair = table.filter(category=chosen).filter(
        pl.col("measure_1").is_in(measures) & pl.col("measure_2").is_in(measures)
    ).collect()  # fmt: skip
    _require_pair(table, pair, measures)
    candidates = (
        run.plan(str(node.inputs["ranks"])).select(pl.col("id").n_unique()).collect().item()
    )
    checks.require(checks.lists(n, candidates))
    rows = _directed(pair.filter(pl.col("n").is_in(list(n))).sort("n"), measures)
    checks.require(_absent(n, rows))
    judged = _judged(run, node, chosen)
    checks.require(_unsampled(node, judged, candidates))
    return Pilot(candidates, judged, rows)


def comparing(run: Run, stage: str) -> Node:
    """Return a stage that compares measures.

    Raises
    ------
    ConfigError
        If there is none of that name.
    """
    nodes = {name: node for name, node in run.project.nodes.items() if _table(node)}
    if stage not in nodes:
        what = "there is no such stage that compares measures"
        raise ConfigError(
            "size", [Problem("pilot", f"{stage!r}: {what}", did_you_mean(stage, nodes))]
        )
    return nodes[stage]


def _table(node: Node) -> str | None:
    """Return the name of the table of comparisons at every n, if the stage makes one."""
    names = (
        name for name, model in node.stage.outputs.items()
        if issubclass(model, Comparison) and not issubclass(model, CutComparison)
    )  # fmt: skip
    return next(names, None)


def category_of(table: pl.LazyFrame, wanted: str | None) -> str:
    """Return the wanted category, or the only one.

    Parameters
    ----------
    table : LazyFrame
        With a column category.
    wanted : str, optional
        Its name.

    Raises
    ------
    ConfigError
        If there is no such category, or none is named and there are several.

    Examples
    --------
    >>> category_of(pl.LazyFrame({"category": ["TP", "TP"]}), None)
    'TP'
    """
    categories = table.select(pl.col("category").unique().sort()).collect()["category"].to_list()
    if wanted is None and len(categories) == 1:
        return str(categories[0])
    if wanted is None or wanted not in categories:
        what = f"there is no category {wanted!r}" if wanted else "there are several categories"
        raise ConfigError(
            "size", [Problem("category", what, did_you_mean(wanted or "", categories))]
        )
    return wanted


def _require_pair(table: pl.LazyFrame, pair: pl.DataFrame, measures: tuple[str, str]) -> None:
    if not pair.is_empty() and measures[0] != measures[1]:
        return
    pairs = table.select("measure_1", "measure_2").unique().sort("measure_1", "measure_2").collect()
    compared = sorted({name for row in pairs.iter_rows() for name in row})
    problems = [
        Problem("measures", f"{name!r} is not compared", did_you_mean(name, compared))
        for name in measures
        if name not in compared
    ]
    what = f"the stage does not compare {measures[0]} with {measures[1]}"
    raise ConfigError("size", problems or [Problem("measures", what, "see its option pairs")])


def _directed(rows: pl.DataFrame, measures: tuple[str, str]) -> pl.DataFrame:
    if rows.is_empty() or rows["measure_1"][0] == measures[0]:
        return rows
    return rows.rename({"k_1": "k_2", "k_2": "k_1", "n_1": "n_2", "n_2": "n_1"})


def _absent(n: Sequence[int], rows: pl.DataFrame) -> Iterator[Problem]:
    for each in sorted(set(n) - set(rows["n"])):
        yield Problem("n", f"the stage has no comparison of lists of {each:,}", "see its table")


def _unsampled(node: Node, judged: int, candidates: int) -> Iterator[Problem]:
    """Yield a problem if what was judged is neither everything nor a random sample."""
    if "sample" not in node.inputs and judged < candidates:
        what = f"{judged:,} of {candidates:,} candidates are judged, and not as a random sample"
        yield Problem("pilot", what, "give the stage its sample")


def _judged(run: Run, node: Node, category: str) -> int:
    """Return how many draws of the stage were judged."""
    judgements = run.plan(str(node.inputs["judgements"])).filter(
        pl.col("tp").is_not_null(), category=category
    )
    if "sample" not in node.inputs:
        ranked = run.plan(str(node.inputs["ranks"])).select(pl.col("id").unique())
        return int(ranked.join(judgements, on="id", how="semi").select(pl.len()).collect().item())
    sample = run.plan(str(node.inputs["sample"])).join(judgements, on="id", how="semi")
    draws, most = sample.select(pl.len(), pl.col("multiplicity").max()).collect().row(0)
    if (most or 0) > 1:
        what = "the pilot was drawn with replacement, and cannot grow"
        raise ConfigError("size", [Problem("pilot", what, "take a sample without replacement")])
    return int(draws)
