"""Which system comes first by types and by tokens, and whether the two levels agree."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import polars as pl

from pipeline.findings import words
from pipeline.findings.clustering.evidence import by_mapping, limits_of
from pipeline.findings.clustering.leading import Limits, first, leaders, no_limits
from pipeline.findings.clustering.measures import Level, title
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageView

_TABLES: dict[Level, str] = {
    "types": "type_level", "tokens": "token_level", "overlaps": "overlapping",
}  # fmt: skip
"""The levels, and the options that name their scores."""
_FEWEST = 2


@finder(stages=("evaluate.systems",), place=10)
def systems(stage: StageView) -> Iterator[Finding]:
    """Say which system comes first at each level, and how the levels go together."""
    table = stage.table("table").collect()
    both = all(first(table, level) is not None for level in ("types", "tokens"))
    found = {
        level: list(
            leaders(table, level, limits=_limits(stage, level), figure="scatter" if both else None)
        )
        for level in _TABLES
    }
    yield from (each for level in _TABLES for each in found[level][:1])
    yield from _agreement(stage, table)
    yield from (each for level in _TABLES for each in found[level][1:])


def _limits(stage: StageView, level: Level) -> Limits:
    """Return what finds the limits of a level's scores."""
    named = stage.inputs.get(_TABLES[level])
    if named is None or level == "overlaps":
        return no_limits
    scores = stage.table(named).collect()
    return partial(limits_of, by_mapping(scores) if level == "types" else scores)


def _agreement(stage: StageView, table: pl.DataFrame) -> Iterator[Finding]:
    """Say how the orders of systems by types and by tokens correlate."""
    types, tokens = first(table, "types"), first(table, "tokens")
    if types is None or tokens is None:
        return
    pair = {"measure_1": types.measure, "measure_2": tokens.measure, "method": "spearman"}
    rows = stage.table("correlations").filter(**pair).collect()
    if rows.is_empty() or rows["n_systems"][0] < _FEWEST:
        return
    rho, many = rows["correlation"][0], int(rows["n_systems"][0])
    of = f"{title(types.measure)} with {title(tokens.measure)}"
    yield Finding(
        about="agreement", question="whether types and tokens agree", value=rho, n=many,
        text=words.sentence(_agreeing(rho, many, of)), name=types.system, other=tokens.system,
        figure="scatter",
    )  # fmt: skip


def _agreeing(rho: float | None, many: int, of: str) -> str:
    if rho is None:
        return f"types and tokens give no rank correlation over {many:,} systems: one ties them all"
    order = "alike" if rho == 1 else ("the other way round" if rho == -1 else "differently")
    return (
        f"types and tokens order the {many:,} systems {order}: rank correlation "
        f"{words.coefficient(rho)} (Spearman's rho of {of})"
    )
