"""Parts of a table, each in order, as one table in order: a range of keys at a time."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline import room

ROWS = 250_000
"""Rows of a range, where there is room for as many."""
_LEAST, _ROW = 25_000, 2_500
"""Rows of a range at the least, and bytes that one may take while they are put in order."""
_SAMPLES = 20
"""Keys to look at for each range: it has up to so much of a part more, or less."""


def ranges(
    parts: Sequence[pl.LazyFrame], key: Sequence[str], *, rows: int | None = None
) -> list[pl.LazyFrame]:
    """Return queries of all rows: one after the other they are in the order of the key.

    Parameters
    ----------
    parts : sequence of LazyFrame
        Each in the order of the key; if one is not, all rows are there, but in no order.
    key : sequence of str
        Columns.
    rows : int, optional
        About how many rows a range has, if not as many as there is room for.

    Examples
    --------
    >>> parts = [pl.LazyFrame({"a": [1, 3, 5]}), pl.LazyFrame({"a": [2, 4]})]
    >>> [each.collect()["a"].to_list() for each in ranges(parts, ["a"], rows=2)]
    [[1, 2], [3, 4], [5]]
    """
    names = list(key)
    bounds = _bounds(parts, names, rows or _most())
    cuts = [_cuts(part.select(names).collect(), bounds) for part in parts]
    return [
        pl.concat(
            part.slice(where[number], where[number + 1] - where[number])
            for part, where in zip(parts, cuts, strict=True)
        ).sort(names)
        for number in range(bounds.height + 1)
    ]


def _most() -> int:
    return min(ROWS, max(_LEAST, room.room() // _ROW))


def _bounds(parts: Sequence[pl.LazyFrame], key: list[str], rows: int) -> pl.DataFrame:
    """Return keys between which there are about so many rows of all parts together."""
    every = max(1, rows // _SAMPLES)
    seen = pl.concat([part.select(key).gather_every(every).collect() for part in parts]).sort(key)
    step = max(1, rows // every)
    return seen.gather_every(step, offset=step).unique(maintain_order=True)


def _cuts(keys: pl.DataFrame, bounds: pl.DataFrame) -> list[int]:
    """Return before which rows of a part ranges begin, and where the last one ends."""
    marked = pl.concat([bounds.with_columns(_row=0), keys.with_columns(_row=1)])
    order = marked.sort([*keys.columns, "_row"]).get_column("_row")
    places = (order == 0).arg_true().to_list()
    return [0, *(place - number for number, place in enumerate(places)), keys.height]
