"""Counts of tuple tokens before the marginals: what shards give and add up."""

from __future__ import annotations

import polars as pl

from schemas.base import Table
from schemas.declaration import column, rule


class TupleCounts(Table):
    """Tuple types of one shard of a corpus with their joint frequency there."""

    units: str = column("the units, the control character U+001F between them", key=True)
    f: int = column("tuple tokens in this shard; tuple tokens", ge=1)
    documents: int = column("documents with the tuple not counted before", ge=0)


class OpenTupleCounts(TupleCounts):
    """The same, a document that may go on beyond what was counted at once in rows of its own."""

    across: str = column("that document: its first sentence, its file", key=True, nullable=True)


class TupleSums(Table, further=(pl.Int64,)):
    """Frequencies of parts of tuples, f1 ... f_12 ... N, that stand beside the rows of counts."""

    frequencies_are_counts = rule(
        "every frequency is 1 or more, or null where the tuple is left out",
        lambda schema: pl.all_horizontal(
            pl.lit(True), *(pl.col(each).fill_null(1) >= 1 for each in schema)
        ),
    )
