"""The declared questions with their limits, one row each, as the experiment declares them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from pipeline.annotate.looking import Look
from pipeline.runner.config.graph import Node
from pipeline.stages.base import Outputs
from pipeline.stages.collocations.designed_anytime import differences_at_any_time

WHOLE = "all candidates"
"""The question of the share of true positives among them."""


@dataclass(frozen=True)
class Row:
    """A question and what is known of it.

    Parameters
    ----------
    stage, category, question : str
        Where it is declared, of which true positives, and what is asked.
    n : int
        Size of the lists.
    estimate, lower, upper : float or None
        A precision, or a difference of two.
    draws : int
        Judged draws that it rests on.
    members : float
        Candidates whose draws could say something of it.
    difference : bool
        Whether two measures are compared.
    """

    stage: str
    category: str
    question: str
    n: int
    estimate: float | None
    lower: float | None
    upper: float | None
    draws: int
    members: float
    difference: bool = False

    @property
    def half(self) -> float | None:
        """Half of the width between the limits."""
        if self.lower is None or self.upper is None:
            return None
        return (self.upper - self.lower) / 2.0

    @property
    def key(self) -> str:
        """What tells the question from all others."""
        return " | ".join((self.stage, self.category, self.question, str(self.n)))


def rows_of(node: Node, seen: Look, made: Outputs, *, categories: Sequence[str]) -> tuple[Row, ...]:
    """Return the rows of a stage: lists, all candidates, differences.

    Parameters
    ----------
    node : Node
        The stage.
    seen : Look
        What was looked at.
    made : mapping
        Its tables.
    categories : sequence of str
        As the experiment orders them.
    """
    tables = {name: table.lazy() for name, table in made.items()}
    order = _ranks(list(dict.fromkeys(getattr(node.config, "measures", ()))))
    pairs = _ranks([tuple(each) for each in getattr(node.config, "pairs", ())])
    found = [
        *sorted(_lists(node, tables), key=lambda each: (order(each[0]), each[0], each[1].n)),
        *_whole(node, tables),
        *sorted(
            _differences(node, tables, seen), key=lambda each: (pairs(each[0]), each[0], each[1].n)
        ),
    ]
    place = _ranks(list(categories))
    # sorting keeps the order of what is equal
    return tuple(row for _, row in sorted(found, key=lambda each: place(each[1].category)))


def _ranks(names: Sequence[Any]) -> Callable[[Any], int]:
    place = {name: number for number, name in enumerate(names)}
    return lambda name: place.get(name, len(place))


def _lists(node: Node, tables: Mapping[str, pl.LazyFrame]) -> Iterator[tuple[Any, Row]]:
    table = tables.get("cuts")
    if table is None or "measure" not in table.collect_schema():
        return
    for row in table.collect().iter_rows(named=True):
        yield row["measure"], Row(
            node.name, row["category"], row["measure"], row["n"], row["precision"], row["lower"],
            row["upper"], row["n_sampled"], row["n"],
        )  # fmt: skip


def _whole(node: Node, tables: Mapping[str, pl.LazyFrame]) -> Iterator[tuple[Any, Row]]:
    table = tables.get("baseline")
    if table is None or "precision" not in table.collect_schema():
        return
    for row in table.collect().iter_rows(named=True):
        yield WHOLE, Row(
            node.name, row["category"], WHOLE, row["n_candidates"], row["precision"],
            row["lower"], row["upper"], row["n_sampled"], row["n_candidates"],
        )  # fmt: skip


def _differences(
    node: Node, tables: Mapping[str, pl.LazyFrame], seen: Look
) -> Iterator[tuple[Any, Row]]:
    for row in _compared(tables, seen).iter_rows(named=True):
        pair = (row["measure_1"], row["measure_2"])
        # of the two sets, as a share of the lists; half-widths are scaled by the same
        yield pair, Row(
            node.name, row["category"], " − ".join(pair), row["n"], row["difference"],
            row["lower"], row["upper"], row["n_1"] + row["n_2"], 2 * row["size"], difference=True,
        )  # fmt: skip


def _compared(tables: Mapping[str, pl.LazyFrame], seen: Look) -> pl.DataFrame:
    """Return the differences with limits that a stage has; those of these candidates, if asked."""
    table = tables.get("comparison" if "differences" not in tables else "differences")
    if table is None or "measure_1" not in table.collect_schema():
        return pl.DataFrame(schema={"measure_1": pl.String})
    found = table.collect()
    if found.is_empty() and seen.anytime and "p_adjusted" in tables["cuts"].collect_schema():
        confidence = getattr(seen.config, "confidence", 0.95)
        found = differences_at_any_time(tables["cuts"].collect(), confidence=confidence)
    if "population" in found.columns and found["population"].n_unique() > 1:
        found = found.filter(population="finite")
    return found
