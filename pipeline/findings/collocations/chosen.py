"""The list that a preliminary sample chose, and sets that have no ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.collocations.evidence import categories, said_of
from pipeline.findings.finding import Finding, finder
from pipeline.findings.names import called
from pipeline.findings.stage import StageOptions, StageView
from pipeline.kernels.measure_titles import measure_title


class Guaranteed(StageOptions):
    """What a choice was to guarantee."""

    guarantee: bool
    min_precision: float | None
    confidence: float


@finder(stages=("evaluate.choice",), place=5)
def chosen_list(stage: StageView) -> Iterator[Finding]:
    """Say which list was chosen, with the limits that allow for the choice."""
    rows = stage.table("choice").collect().sort("category")
    for row in rows.iter_rows(named=True):
        of = said_of(row["category"], categories(rows))
        yield _chosen(row, of)
        asked = stage.options_as(Guaranteed)
        if asked.guarantee and asked.min_precision is not None:
            tests = stage.table("guarantee").filter(category=row["category"]).collect()
            yield _guaranteed(row, tests, of, asked)


def _chosen(row: dict[str, Any], of: str) -> Finding:
    lower, upper = row["lower_simultaneous"], row["upper_simultaneous"]
    found = "" if row["recall"] is None else f", recall {words.per_cent(row['recall'])}"
    text = (
        f"chosen{of}: the {row['n']:,} best by {measure_title(row['measure'])}, "
        f"{words.estimate(row['precision'], lower, upper)} true positives{found}; the limits allow "
        f"for the choice among {words.counted(row['considered'], 'list')}"
    )
    return Finding(
        about="chosen", text=words.sentence(text), question=f"chosen list{of}",
        category=row["category"], name=row["measure"], n=row["n"], value=row["precision"],
        lower=lower, upper=upper,
    )  # fmt: skip


def _guaranteed(row: dict[str, Any], tests: pl.DataFrame, of: str, asked: Guaranteed) -> Finding:
    """Say what the chosen list is sure to have, by which limit."""
    mine = tests.filter(measure=row["measure"], n=row["n"]).row(0, named=True)
    others = int(tests["passed"].sum()) - 1
    text = (
        f"guaranteed: with {100 * asked.confidence:g} % confidence its precision is "
        f"{words.per_cent(asked.min_precision or 0.0)} or more, by a one-sided lower limit of "
        f"{words.per_cent(mine['lower_one_sided'])}; {words.counted(others, 'other list')} passed"
    )
    return Finding(
        about="guaranteed", text=words.sentence(text), question=f"chosen list{of}",
        category=row["category"], name=row["measure"], n=row["n"], value=asked.min_precision,
        lower=mine["lower_one_sided"],
    )  # fmt: skip


class Level(StageOptions):
    """The level of a stage's tests."""

    alpha: float


@finder(stages=("evaluate.subset",), place=30)
def sets_beside_lists(stage: StageView) -> Iterator[Finding]:
    """Say how precise each set is, and how the lists of its size do beside it."""
    sets, tests = stage.table("subsets").collect(), stage.table("comparison").collect()
    alpha, among = stage.options_as(Level).alpha, categories(sets)
    for row in sets.sort("category", "n", "subset").iter_rows(named=True):
        if row["precision"] is None:
            continue
        question = f"the set {called(row['subset'])}{said_of(row['category'], among)}"
        said = words.estimate(row["precision"], row["lower"], row["upper"])
        facts: dict[str, Any] = {
            "question": question, "category": row["category"], "n": row["n"], "figure": stage.name,
        }  # fmt: skip
        text = f"{question}: {words.counted(row['n'], 'candidate')}, {said} true positives"
        yield Finding(
            about="set", text=words.sentence(text), name=row["subset"], value=row["precision"],
            lower=row["lower"], upper=row["upper"], **facts,
        )  # fmt: skip
        mine = tests.filter(subset=row["subset"], category=row["category"])
        yield from _beside(mine, row["subset"], facts, alpha)


def _beside(
    tests: pl.DataFrame, subset: str, facts: dict[str, Any], alpha: float
) -> Iterator[Finding]:
    """Compare with the lists of the same size: each list less the set."""
    rows = tests.select("measure", "difference", "p_adjusted").drop_nulls().sort("measure").rows()
    lists = [words.Difference(f"{measure_title(m)}", -difference, p) for m, difference, p in rows]
    sure = [each for each in lists if each.p_adjusted < alpha]
    below = [each for each in sure if each.difference < 0]
    above = [each for each in sure if each.difference > 0]
    for some, say in ((below, words.worse), (above, words.better)):
        if some:
            most = max(some, key=lambda each: abs(each.difference))
            text = f"of lists of that size {say(some, alpha=alpha)}"
            yield Finding(
                about=say.__name__, text=words.sentence(text), name=subset, other=most.name,
                value=most.difference, p_adjusted=most.p_adjusted, **facts,
            )  # fmt: skip
    open_ = [each.name for each in lists if each not in sure]
    if open_:
        many = words.counted(len(open_), "list")
        text = f"{many} of that size cannot be told apart from it: {words.listed(open_)}"
        yield Finding(
            about="together",
            text=words.sentence(text),
            name=subset,
            value=float(len(open_)),
            **facts,
        )
