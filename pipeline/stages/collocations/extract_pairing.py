"""Candidates from tuples: two groups of their units as a pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import polars as pl
from pydantic import Field, field_validator

from pipeline.errors import ConfigError, DataError, Problem
from pipeline.kernels.cooccurrence.pairings import ambiguous, paired
from pipeline.kernels.hashing import candidate_id
from pipeline.kernels.parts import in_order, ranges_of, spill_of
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, as_one, stage
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
    schema = _named(config, tuples).drop("_tuple").collect_schema()
    with spill_of(1, schema) as laid, spill_of(1, pl.Schema(Examples.columns())) as shown:
        for number in range(len(ranges)):
            pairs = _named(config, ranges.of(tuples, number, by="id")).collect()
            laid.put(pairs, 0)
            if "examples" in tables:
                sentences = ranges.of(tables["examples"], number, by="id")
                shown.put(_examples(sentences, pairs), 0)
        yield from ({"candidates": part} for part in in_order(laid, by="id"))
        yield from ({"examples": part} for part in in_order(shown, by="id"))


@stage(
    "extract.pairing",
    config=ExtractPairing,
    outputs={"candidates": Candidates, "examples": Examples},
    pieces=_pieces,
)
def extract_pairing(config: ExtractPairing, tables: Tables) -> Outputs:
    """Join the labels; the frequencies of the groups are there already."""
    return as_one(_pieces(config, tables))


def _named(config: ExtractPairing, tuples: pl.LazyFrame) -> pl.LazyFrame:
    """Return the pairs with ids of their own, and those of the tuples as _tuple."""
    first, second = config.pairing
    candidates = paired(tuples, first=first, second=second, separator=config.separator)
    return candidates.rename({"id": "_tuple"}).select(candidate_id("l1", "l2"), pl.all())


def _examples(sentences: pl.LazyFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    ids = pairs.lazy().select("id", "_tuple")
    found = sentences.rename({"id": "_tuple"}).join(ids, on="_tuple")
    return found.select(*Examples.columns()).collect()


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
