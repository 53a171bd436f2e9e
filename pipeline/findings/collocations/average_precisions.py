"""Average precision of whole rankings: which is the highest, and how sure each of them is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.collocations.evidence import categories, said_of
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageView
from pipeline.findings.verdicts import highest
from pipeline.kernels.measure_titles import measure_title


@finder(stages=("evaluate.average_precision",), place=25)
def average_precisions(stage: StageView) -> Iterator[Finding]:
    """Name the highest average precision with its limits, then the others with theirs."""
    every = stage.table("average_precision").collect()
    among = categories(every)
    for category in among:
        known = every.filter(category=category).drop_nulls("average_precision")
        ordered = known.sort("average_precision", "measure", descending=[True, False])
        if ordered.height:
            yield from _ordered(ordered, said_of(category, among))


def _ordered(ordered: pl.DataFrame, of: str) -> Iterator[Finding]:
    question = f"average precision{of}"
    first = ordered.row(0, named=True)
    facts: dict[str, Any] = {
        "question": question, "category": first["category"], "figure": "average-precision",
    }  # fmt: skip
    tied = ordered.filter(pl.col("average_precision") == first["average_precision"])
    names = tuple(measure_title(name) for name in tied["measure"])
    text = f"{highest(question, names, _said(first))}{_of_all(first)}"
    yield Finding(
        about="highest", text=words.sentence(text), name=first["measure"], names=names,
        n=first["n_sampled"], value=first["average_precision"], lower=first["lower"],
        upper=first["upper"], **facts,
    )  # fmt: skip
    others = ordered.slice(tied.height)
    if others.height:
        yield _others(others, first, facts)


def _others(others: pl.DataFrame, first: dict[str, Any], facts: dict[str, Any]) -> Finding:
    """Give those that follow, and say that nothing tests them, where they are estimates."""
    shown = [f"{measure_title(row['measure'])} {_said(row)}" for row in others.rows(named=True)]
    text = f"then {words.listed(shown)}"
    if first["lower"] < first["upper"]:
        text += "; no test between measures was made"
    second = others.row(0, named=True)
    return Finding(
        about="next", text=words.sentence(text), name=second["measure"], other=first["measure"],
        value=second["average_precision"], lower=second["lower"], upper=second["upper"], **facts,
    )  # fmt: skip


def _said(row: dict[str, Any]) -> str:
    """Return an estimate with its limits, without where all is judged.

    Examples
    --------
    >>> _said({"average_precision": 0.25, "lower": 0.2, "upper": 0.3})
    '25.0 % [20.0, 30.0]'
    >>> _said({"average_precision": 0.25, "lower": 0.25, "upper": 0.25})
    '25.0 %'
    """
    exact = row["lower"] == row["upper"]
    limits = (None, None) if exact else (row["lower"], row["upper"])
    return words.estimate(row["average_precision"], *limits)


def _of_all(row: dict[str, Any]) -> str:
    """Say of how many candidates it was inferred."""
    if row["lower"] == row["upper"]:
        return f" of {words.counted(row['n_candidates'], 'candidate')}, all judged"
    return f", inferred from {row['n_sampled']:,} judged of {row['n_candidates']:,} candidates"
