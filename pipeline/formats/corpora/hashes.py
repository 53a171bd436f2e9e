"""Hashes of what may not come twice in a file, however many: eight bytes each, on the disk."""

from __future__ import annotations

import polars as pl

from pipeline.formats.corpora.parsing import Parsed
from pipeline.spill import Spill

_MOST = 1 << 22
"""Hashes that are held, 32 MB of them; more go to the disk."""
_BITS = 6
"""By so many first bits they are divided there, such that equal ones lie together."""
_SCHEMA = pl.Schema({"hash": pl.UInt64})
_NONE = pl.Series("hash", dtype=pl.UInt64())


def hashes_of(parsed: Parsed) -> pl.Series:
    """Return the hashes of what may not come twice, of a part of a file."""
    return _NONE if parsed.keys is None else parsed.keys.get_column("key").hash(seed=0)


class Hashes:
    """Takes in hashes and tells which came twice; forgets them at the end of a with statement.

    Parameters
    ----------
    most : int
        How many to hold.

    Examples
    --------
    >>> with Hashes(most=2) as hashes:
    ...     hashes.add(pl.Series([3, 2, 2**63], dtype=pl.UInt64))
    ...     hashes.add(pl.Series([2**63], dtype=pl.UInt64))
    ...     hashes.repeated().to_list()
    [9223372036854775808]
    """

    def __init__(self, most: int = _MOST) -> None:
        self._held: list[pl.Series] = []
        self._rows, self._most = 0, most
        self._laid: Spill | None = None

    def __enter__(self) -> Hashes:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.clear()
        if self._laid is not None:
            self._laid.clear()

    def add(self, hashes: pl.Series) -> None:
        """Take in some."""
        if hashes.is_empty():
            return
        self._held.append(hashes)
        self._rows += len(hashes)
        if self._rows > self._most:
            self._lay_aside()

    def repeated(self) -> pl.Series:
        """Return those that came more than once, each once."""
        if self._laid is None:
            return _repeated(pl.concat([_NONE, *self._held]))
        self._lay_aside()
        return pl.concat(_repeated(each.collect().to_series()) for each in self._laid)

    def _lay_aside(self) -> None:
        if self._laid is None:
            self._laid = Spill(1 << _BITS, _SCHEMA, most=0)
        rows = pl.concat([_NONE, *self._held]).to_frame("hash")
        self._laid.add(rows, pl.col("hash") // (1 << (64 - _BITS)))
        self._held.clear()
        self._rows = 0


def _repeated(hashes: pl.Series) -> pl.Series:
    """Return what stands more than once, each once: in order, next to its like."""
    ordered = hashes.sort()
    return ordered.filter((ordered == ordered.shift()).fill_null(value=False)).unique()
