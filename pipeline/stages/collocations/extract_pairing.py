"""Candidates from tuples: two groups of their units as a pair."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field, field_validator

from pipeline.errors import ConfigError, DataError, Problem
from pipeline.kernels.cooccurrence.pairings import ambiguous, paired
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import Candidates, Examples, Tuples
from schemas.tuples import arity

Group = tuple[int, ...]


class ExtractPairing(StageConfig):
    """See tuples as pairs of two groups of units, for the measures of pairs."""

    tuples: Annotated[str, Of(Tuples)]
    """The tuples, with the frequencies of their parts."""
    pairing: tuple[Group, Group]
    """The positions in l1 and those in l2, each position once: [[1, 2], [3]]."""
    separator: str = Field(default=" ", min_length=1)
    """What stands between the units of a group."""
    examples: Annotated[str | None, Of(Examples)] = None
    """Sentences of the tuples, to become those of the pairs."""

    @field_validator("pairing")
    @classmethod
    def _partition(cls, pairing: tuple[Group, Group]) -> tuple[Group, Group]:
        positions = sorted([*pairing[0], *pairing[1]])
        if not all(pairing) or positions != list(range(1, len(positions) + 1)):
            raise ValueError("must have every position once, in two groups, such as [[1, 2], [3]]")
        return pairing


@stage(
    "extract.pairing",
    config=ExtractPairing,
    outputs={"candidates": Candidates, "examples": Examples},
)
def extract_pairing(config: ExtractPairing, tables: Tables) -> Outputs:
    """Join the labels; the frequencies of the groups are there already."""
    tuples = tables["tuples"]
    first, second = config.pairing
    size, named = arity(tuples.collect_schema()), len(first) + len(second)
    if size != named:
        what = f"has {named} positions, but the tuples have {size} units"
        raise ConfigError("pairing", [Problem("pairing", what)])
    _require_distinct(config, tables)
    candidates = paired(tuples, first=first, second=second, separator=config.separator)
    named_anew = candidates.rename({"id": "_tuple"}).select(candidate_id("l1", "l2"), pl.all())
    examples = Examples.zero_rows()
    if "examples" in tables:
        ids = named_anew.select("id", "_tuple")
        shown = tables["examples"].rename({"id": "_tuple"}).join(ids, on="_tuple")
        examples = shown.select(list(Examples.columns()))
    return {"candidates": named_anew.drop("_tuple"), "examples": examples}


def _require_distinct(config: ExtractPairing, tables: Tables) -> None:
    """Refuse labels that stand for several groups: neither their f nor their f1 would be right."""
    first, second = config.pairing
    wrong = ambiguous(tables["tuples"], first=first, second=second, separator=config.separator)
    labels = wrong.collect().to_series()
    if len(labels):
        examples = ", ".join(map(repr, labels.head(3)))
        raise DataError(
            f"extract.pairing: {len(labels):,} label(s) can be read as several groups of units,"
            f" since some units hold the separator {config.separator!r}: {examples}."
            " Give another separator."
        )
