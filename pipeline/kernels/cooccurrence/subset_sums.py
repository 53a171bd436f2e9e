"""Frequencies of the parts of all tuples, however many there are: added up on the disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

import polars as pl

from pipeline import room
from pipeline.kernels.cooccurrence.disk_sums import PLACE, ROW, Runs, added_up
from pipeline.kernels.cooccurrence.packing import Packing
from pipeline.kernels.cooccurrence.tuples import apart, elements
from pipeline.spill import Spill
from schemas.tuples import frequency_name

_LABELS = pl.UInt32()


class _Numbered(NamedTuple):
    """Tuples as numbers: those of their labels, f and `PLACE`; exists while they are summed."""

    rows: Spill
    heights: Sequence[int]
    labels: int
    total: int


def subset_sums(
    parts: Sequence[pl.LazyFrame],
    sets: Sequence[tuple[int, ...]],
    *,
    size: int,
    min_frequency: int = 1,
) -> Iterator[pl.DataFrame]:
    r"""Yield how many tuple tokens have the elements of each tuple at some sets of positions.

    Each set takes time in proportion to the tuples. What is held are the labels, and as many
    tuples as there is room for.

    Parameters
    ----------
    parts : sequence of LazyFrame
        units (the elements, `pipeline.kernels.cooccurrence.units.ELEMENTS` between them) and f:
        together every tuple type once, each part small enough to be held.
    sets : sequence of tuple of int
        Positions from 1, in ascending order; none stands for all tuple tokens.
    size : int
        k.
    min_frequency : int
        A tuple with a smaller f has nulls, but counts.

    Yields
    ------
    DataFrame
        For each part a column for each set, see `schemas.tuples.frequency_name` (Int64), its rows
        in the order of the part's.

    Examples
    --------
    >>> one = pl.LazyFrame({"units": ["a\x1fb", "a\x1fc"], "f": [2, 3]})
    >>> two = pl.LazyFrame({"units": ["b\x1fc"], "f": [4]})
    >>> [each.rows() for each in subset_sums([one, two], [(), (1,), (2,)], size=2)]
    [[(9, 5, 2), (9, 5, 7)], [(9, 4, 7)]]
    """
    most = max(1, room.room() // ROW)
    with ExitStack() as held:
        laid = held.enter_context(Spill(1, _schema(size), most=most // 4))
        tuples = _numbered(parts, size, laid)
        runs = Runs.of(tuples.heights, most)
        columns = []
        for positions in sets:
            name = frequency_name(positions, size)
            column = Spill(len(runs.heights), pl.Schema({name: pl.Int64()}), most=0)
            columns.append(held.enter_context(column))
            for number, sums in enumerate(_sums(tuples, runs, positions, most, min_frequency)):
                column.put(sums.to_frame(name), number)
        for number in range(len(runs.heights)):
            beside = pl.concat([each.bucket(number) for each in columns], how="horizontal")
            for first, height in runs.parts(number):
                yield beside.slice(first, height).collect()


def _schema(size: int) -> pl.Schema:
    labels = dict.fromkeys(elements(size), _LABELS)
    return pl.Schema({**labels, "f": pl.Int64(), PLACE: pl.Int64()})


def _numbered(parts: Sequence[pl.LazyFrame], size: int, rows: Spill) -> _Numbered:
    """Lay aside all tuples as numbers."""
    labels = pl.col(elements(size))
    # Labels keep their numbers from part to part while there is a column of this dtype.
    held = pl.Series(dtype=pl.Categorical(pl.Categories.random()))
    heights: list[int] = []
    most = total = 0
    for part in parts:
        named = apart(part.select("units", "f"), size=size).with_row_index(PLACE)
        place = pl.col(PLACE).cast(pl.Int64) + sum(heights)
        frame = named.with_columns(labels.cast(held.dtype).to_physical(), place).collect()
        most = max(most, *(int(number or 0) for number in frame.select(labels.max()).row(0)))
        total += int(frame.get_column("f").sum())
        heights.append(frame.height)
        rows.put(frame, 0)
    return _Numbered(rows, heights, most + 1, total)


def _sums(
    tuples: _Numbered, runs: Runs, positions: tuple[int, ...], most: int, least: int
) -> Iterator[pl.Series]:
    """Yield the sums of a set of positions, run by run."""
    if not positions:
        for heights in runs.heights:
            yield pl.repeat(tuples.total, sum(heights), dtype=pl.Int64, eager=True)
        return
    packing = Packing.of([tuples.labels] * len(positions))
    key = packing.words([pl.col(f"l{position}") for position in positions])
    frames = (frame.select(*key, "f", PLACE) for frame in tuples.rows.frames(0))
    yield from added_up(frames, packing.names, runs, most=most, least=least)
