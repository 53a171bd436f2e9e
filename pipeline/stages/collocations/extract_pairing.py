"""Candidates from tuples: two groups of their units as a pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import polars as pl
from pydantic import Field, field_validator

from pipeline.errors import ConfigError, DataError, Problem
from pipeline.kernels.cooccurrence.pairings import ambiguous, paired
from pipeline.kernels.hashing import candidate_id
from pipeline.kernels.parts import ranges_of
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, as_one, stage
from pipeline.stages.collocations.named_anew import FORMER, named_anew
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


def _pieces(config: ExtractPairing, tables: Tables) -> Iterator[Outputs]:
    """Yield the pairs, then their examples; tuples are looked at in ranges of their ids."""
    tuples = tables["tuples"]
    _require_arity(config, tuples)
    _require_distinct(config, tables)
    ranges = ranges_of("id", tuples)

    def make(number: int) -> pl.LazyFrame:
        first, second = config.pairing
        some = ranges.of(tuples, number, by="id").rename({"id": FORMER})
        made = paired(some, first=first, second=second, separator=config.separator)
        return made.select(candidate_id("l1", "l2"), pl.all())

    yield from named_anew(ranges, make, tables.get("examples"))


@stage(
    "extract.pairing",
    config=ExtractPairing,
    outputs={"candidates": Candidates, "examples": Examples},
    pieces=_pieces,
)
def extract_pairing(config: ExtractPairing, tables: Tables) -> Outputs:
    """Join the labels; the frequencies of the groups are there already."""
    return as_one(_pieces(config, tables))


def _require_arity(config: ExtractPairing, tuples: pl.LazyFrame) -> None:
    size, named = arity(tuples.collect_schema()), sum(map(len, config.pairing))
    if size != named:
        what = f"has {named} positions, but the tuples have {size} units"
        raise ConfigError("pairing", [Problem("pairing", what)])


def _require_distinct(config: ExtractPairing, tables: Tables) -> None:
    """Refuse labels that stand for several groups: neither their f nor their f1 would be right."""
    first, second = config.pairing
    wrong = ambiguous(tables["tuples"], first=first, second=second, separator=config.separator)
    labels = wrong.to_series()
    if len(labels):
        examples = ", ".join(map(repr, labels.head(3)))
        raise DataError(
            f"extract.pairing: {len(labels):,} label(s) can be read as several groups of units,"
            f" since some units hold the separator {config.separator!r}: {examples}."
            " Give another separator."
        )
