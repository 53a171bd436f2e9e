"""Counts of the parts that a batch is looked at in, added up as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import polars as pl

from pipeline import room
from pipeline.kernels.cooccurrence import examples
from pipeline.kernels.cooccurrence.tally import by_document
from pipeline.kernels.cooccurrence.tokens import longest
from pipeline.stages.collocations.pair_counting import AT_A_TIME

_ROW = 100
"""Bytes that a count takes while it is added up."""
_EXAMPLE = 512
"""Bytes that an example takes."""


@dataclass
class Sum:
    """Rows with a key, added up whenever they have doubled; exists while a batch is counted.

    Parameters
    ----------
    merge : callable
        Several tables on top of each other to one.
    tokens : DataFrame
        The batch, for messages.
    row : int
        Bytes that a row takes.
    """

    merge: Callable[[pl.DataFrame], pl.DataFrame]
    tokens: pl.DataFrame
    row: int = _ROW
    held: list[pl.DataFrame] = field(default_factory=list)
    merged: int = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Take in the rows of one part.

        Raises
        ------
        DataError
            If there are more different ones than there is room for.
        """
        if not self.held or frame.height:
            self.held.append(frame)
        growth = max(AT_A_TIME, self.merged // 2)
        if sum(each.height for each in self.held) > self.merged + growth:
            self.result()

    def result(self) -> pl.DataFrame:
        """Return all rows, each key once."""
        if len(self.held) > 1:
            self.held = [self.merge(pl.concat(self.held))]
            self.merged = self.held[0].height
            self._require()
        return self.held[0]

    def _require(self) -> None:
        if self.merged * self.row <= room.room():
            return
        most = longest(self.tokens)
        what = f"{self.tokens['file'][0]}: its longest sentence has {most:,} tokens; pairs of such"
        room.require(
            self.merged * self.row,
            f"{what} a text ({self.merged:,} different ones so far)",
            otherwise="cut the text into sentences, or pair by a narrower relation",
        )


def of_occurrences(key: Sequence[str], tokens: pl.DataFrame) -> Sum:
    """Return what adds up occurrences by type and document."""
    return Sum(partial(by_document, key=key), tokens)


def of_examples(most: int, tokens: pl.DataFrame) -> Sum:
    """Return what chooses among the examples of all parts."""
    return Sum(partial(_chosen, most=most), tokens, row=_ROW + most * _EXAMPLE)


def _chosen(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    return examples.merge(rows.lazy(), most=most).collect()
