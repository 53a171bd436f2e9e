"""What differences between measures say beyond the tests: of these candidates, of equivalence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.collocations.difference_rows import limits_of
from pipeline.findings.collocations.evidence import categories, n_candidates, said_of
from pipeline.findings.collocations.measures import FIGURE
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageOptions, StageView
from pipeline.findings.verdicts import equivalent, worse_here
from pipeline.kernels.measure_titles import measure_title


class Asked(StageOptions):
    """What the stage asks of differences."""

    alpha: float
    margin: float
    equivalence: float | None


@finder(stages=("evaluate.comparison",), place=12)
def among_these_candidates(stage: StageView) -> Iterator[Finding]:
    """Say what the test of the finite population finds, and that of the other does not."""
    best, cuts, rows = (stage.table(name).collect() for name in ("best", "cuts", "differences"))
    asked = stage.options_as(Asked)
    among = categories(best)
    for (category, n, leader), _ in best.group_by(
        "category", "n", "best_measure", maintain_order=True
    ):
        mine = rows.filter(category=category, n=n)
        those = _here(mine, cuts.filter(category=category, n=n), str(leader), asked)
        if those:
            of = said_of(str(category), among)
            titled = [each._replace(name=measure_title(each.name)) for each in those]
            most = min(those, key=lambda each: each.difference)
            text = worse_here(titled, alpha=asked.alpha, candidates=n_candidates(stage))
            yield Finding(
                about="here", text=words.sentence(text), question=f"best for {n:,} candidates{of}",
                category=str(category), n=int(str(n)), name=most.name, other=str(leader),
                value=most.difference, lower=most.lower, upper=most.upper,
                p_adjusted=most.p_adjusted, figure=FIGURE,
            )  # fmt: skip


def _here(
    rows: pl.DataFrame, cuts: pl.DataFrame, best: str, asked: Asked
) -> list[words.Difference]:
    """Return what the finite population's test alone finds, where not all is judged."""
    keys = ["measure_1", "measure_2"]
    sure = (pl.col("p_adjusted") < asked.alpha) & (pl.col("difference").abs() >= asked.margin)
    part = (pl.col("n_1") < pl.col("size")) | (pl.col("n_2") < pl.col("size"))
    here = rows.filter(pl.col("population") == "finite", sure, part)
    found = []
    for row in here.join(cuts.filter(sure), on=keys, how="anti").iter_rows(named=True):
        if best not in (row["measure_1"], row["measure_2"]):
            continue
        first = row["measure_2"] == best
        name, sign = (row["measure_1"], 1) if first else (row["measure_2"], -1)
        ends = limits_of(rows, n=row["n"], of=name, less=best, population="finite")
        found.append(words.Difference(name, sign * row["difference"], row["p_adjusted"], *ends))
    return [each for each in found if each.difference < 0]


@finder(stages=("evaluate.comparison",), place=13)
def equivalent_measures(stage: StageView) -> Iterator[Finding]:
    """Say which measures differ by less than the bound, if one was given, at each size."""
    asked = stage.options_as(Asked)
    if asked.equivalence is None:
        return
    rows = stage.table("differences").collect()
    among = categories(rows)
    for (category, n), mine in rows.group_by("category", "n", maintain_order=True):
        question = f"which are equivalent for {n:,} candidates{said_of(str(category), among)}"
        facts = {"about": "equivalent", "question": question, "category": category, "n": n}
        yield from _equivalent(mine, facts, asked.alpha, asked.equivalence)


def _equivalent(
    rows: pl.DataFrame, facts: dict[str, Any], alpha: float, bound: float
) -> Iterator[Finding]:
    """Say it of the pairs of one size: for the wider population, if that was looked at."""
    wider = rows.filter(population="super")
    looked_at = wider if wider.height else rows
    here = "" if wider.height else ", among these candidates alone"
    sure = looked_at.filter("equivalent").sort(pl.col("difference").abs(), "measure_1", "measure_2")
    if sure.is_empty():
        text = (
            f"for {facts['n']:,} candidates the tests show no two measures to differ by less than "
            f"{100 * bound:g} points{here}"
        )
        yield Finding(**facts, text=words.sentence(text), value=0.0)
    for row in sure.head(words.SHOWN).iter_rows(named=True):
        pair = (measure_title(row["measure_1"]), measure_title(row["measure_2"]))
        test = words.Difference(
            "", row["difference"], row["p_equivalent_adjusted"], row["lower"], row["upper"]
        )
        said = equivalent(pair, test, alpha=alpha, bound=bound)
        yield Finding(
            **facts, text=words.sentence(f"for {facts['n']:,} candidates {said}{here}"),
            name=row["measure_1"], other=row["measure_2"], value=row["difference"],
            lower=row["lower"], upper=row["upper"], p_adjusted=row["p_equivalent_adjusted"],
        )  # fmt: skip
