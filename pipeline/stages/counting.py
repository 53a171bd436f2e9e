"""How a stage counts: partial tables of shards, added up, then made into the outputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from schemas import Table

if TYPE_CHECKING:
    from pipeline.stages.base import Outputs, StageConfig, Tables


class Bounds(NamedTuple):
    """Whether documents go on beyond what is counted at once.

    Parameters
    ----------
    begun : bool
        Whether the first one may have begun before.
    goes_on : bool
        Whether the last one may go on.
    """

    begun: bool = False
    goes_on: bool = False


@dataclass(frozen=True)
class Sums:
    """Columns of sums over all rows of a partial table, to stand beside each row of a bucket.

    Parameters
    ----------
    table : str
        The partial table.
    model : schema
        The schema of the columns.
    groups : callable
        config -> into how many groups the columns fall; each is a task of its own.
    of : callable
        (config, number of the group, parts of the table) -> its columns for each part, their rows
        in the order of the part's.
    """

    table: str
    model: type[Table]
    groups: Callable[[Any], int]
    of: Callable[[Any, int, Sequence[pl.LazyFrame]], Iterator[pl.DataFrame]]

    def names(self, config: StageConfig) -> list[str]:
        """Return what the groups are called among the tables that a task reads."""
        return [f"{self.table}, sums {group}" for group in range(self.groups(config))]


@dataclass(frozen=True)
class Counting:
    """How a stage counts: partial tables of shards, added up, then made into the outputs.

    A stage whose shards are files of a corpus is given the tokens batch by batch. What comes of
    it does not depend on batches, shards or buckets.

    Parameters
    ----------
    partials : mapping of str to schema
        The tables that `Stage.run` makes of a batch, and `merge` of several such tables. Text
        may be Categorical until it is written.
    merge : callable
        (config, partial tables) -> partial tables.
    combine : callable
        (config, merged tables and totals) -> outputs. Options that it alone looks at are marked
        `pipeline.stages.late.Late`: with another value nothing is counted again.
    columns : callable or None
        config -> the columns of the tokens that `Stage.run` looks at; all if None.
    whole : callable or None
        config -> "sentence", "paragraph" or "document": what a batch never cuts.
    carry : mapping of str to Schema
        Tables that `Stage.run` makes of a batch for the next one of the same shard, which finds
        them among its inputs; without rows for the first.
    buckets : mapping of str to Expr
        Partial tables and outputs that can be divided, each with the id to divide them by. The
        others are small, and there for every bucket.
    totals : callable or None
        (config, merged tables of a bucket) -> tables of sums over its rows that every bucket
        needs; those of all buckets are added up, equal keys summed.
    total_tables : mapping of str to schema
        The tables that `totals` makes.
    undivided : mapping of str to str
        Name, by which `combine` finds it, to a partial table that it needs of all buckets beside
        that of its own, to be read batch by batch; is there only if there are several buckets.
    sums : Sums or None
        Columns that `combine` finds in a partial table of a bucket if there are several buckets.
    weight : callable or None
        config -> how many times as much memory a row of its counts takes as one of pairs; 1 if
        None.
    in_parts : bool
        Whether shards may be parts of a file; see `pipeline.runner.execution.bounds`.
    raw : collection of str
        Tables that `Stage.run` makes of a batch besides: rows that cost least if many batches are
        counted at once.
    tally : callable or None
        (raw tables of some batches, `Bounds`) -> partial tables.
    tallied : collection of str
        The tables that `tally` makes; one alone has every key once, and need not be merged.
    close : callable or None
        Partial tables of all that there is, added up -> the same, once no part can follow.
    """

    partials: Mapping[str, type[Table]]
    merge: Callable[[Any, Tables], Outputs]
    combine: Callable[[Any, Tables], Outputs]
    columns: Callable[[Any], Collection[str]] | None = None
    whole: Callable[[Any], str] | None = None
    carry: Mapping[str, pl.Schema] = field(default_factory=dict)
    buckets: Mapping[str, pl.Expr] = field(default_factory=dict)
    totals: Callable[[Any, Tables], Outputs] | None = None
    total_tables: Mapping[str, type[Table]] = field(default_factory=dict)
    undivided: Mapping[str, str] = field(default_factory=dict)
    sums: Sums | None = None
    weight: Callable[[Any], int] | None = None
    in_parts: bool = False
    raw: Collection[str] = ()
    tally: Callable[[Mapping[str, pl.DataFrame], Bounds], Outputs] | None = None
    tallied: Collection[str] = ()
    close: Callable[[Tables], Outputs] | None = None

    def divided(self, config: StageConfig) -> set[str]:
        """Return the tables of which each bucket has parts of its own."""
        return {*self.buckets, *(self.sums.names(config) if self.sums else ())}
