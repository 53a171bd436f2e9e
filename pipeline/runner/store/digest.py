"""Digests of tables by their logical content and of files by their bytes, with a cache."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline import memory
from pipeline.runner.store.interface import Storage
from schemas import SchemaViolation, Violation
from schemas.errors import EXAMPLES, describe_row

FILES = ".files.json"
"""The cache of digests of input files."""
ROWS = 250_000
"""Rows of a range, where there is room for as many."""
_LEAST, _ROW = 25_000, 2_500
"""Rows of a range at the least, and bytes that one may take while they are put in order."""
_SAMPLES = 20
"""Keys to look at for each range: it has up to so much of a part more, or less."""
_VALUES = 1_000_000
"""Values to look at together."""
_THREADS = 2
"""Columns that are hashed at once."""
_FRESH = 2.0
"""Seconds in which a file could change again without a new modification time."""
_NOWHERE = np.zeros(1, np.int64)

Value = TypeVar("Value")
Stamp: TypeAlias = tuple[int, int, int, int]
"""Size, times of modification and of change, inode."""


# Sorted parts of a table merged in key order, one range of keys at a time


def ranges(
    parts: Sequence[pl.LazyFrame], key: Sequence[str], *, rows: int | None = None
) -> list[pl.LazyFrame]:
    """Return queries of all rows, which concatenated are in the order of the key.

    Parameters
    ----------
    parts : sequence of LazyFrame
        Each in the order of the key; if one is not, all rows are there, but in no order.
    key : sequence of str
        Columns.
    rows : int, optional
        Approximate rows per range; by default as many as fit in memory.

    Examples
    --------
    >>> parts = [pl.LazyFrame({"a": [1, 3, 5]}), pl.LazyFrame({"a": [2, 4]})]
    >>> [each.collect()["a"].to_list() for each in ranges(parts, ["a"], rows=2)]
    [[1, 2], [3, 4], [5]]
    """
    names = list(key)
    rows = rows or min(ROWS, max(_LEAST, memory.available_bytes() // _ROW))
    bounds = _bounds(parts, names, rows)
    cuts = [_cuts(part.select(names).collect(), bounds) for part in parts]
    return [
        pl.concat(
            part.slice(where[number], where[number + 1] - where[number])
            for part, where in zip(parts, cuts, strict=True)
        ).sort(names)
        for number in range(bounds.height + 1)
    ]


def _bounds(parts: Sequence[pl.LazyFrame], key: list[str], rows: int) -> pl.DataFrame:
    """Return keys that divide the rows of all parts into ranges of about this size."""
    every = max(1, rows // _SAMPLES)
    sample = pl.concat([part.select(key).gather_every(every).collect() for part in parts]).sort(key)
    step = max(1, rows // every)
    return sample.gather_every(step, offset=step).unique(maintain_order=True)


def _cuts(keys: pl.DataFrame, bounds: pl.DataFrame) -> list[int]:
    """Return the first rows of the ranges of a part, and the end of the last one."""
    marked = pl.concat([bounds.with_columns(_row=0), keys.with_columns(_row=1)])
    order = marked.sort([*keys.columns, "_row"]).get_column("_row")
    places = (order == 0).arg_true().to_list()
    return [0, *(place - number for number, place in enumerate(places)), keys.height]


# Digests


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no blanks, no NaN.

    Examples
    --------
    >>> canonical({"b": 1, "a": (2.0, None)})
    '{"a":[2.0,null],"b":1}'
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def table_digest(*parts: pl.LazyFrame, key: Sequence[str], name: str) -> tuple[str, int]:
    """Return the SHA-256 of a table's rows in key order, and the number of rows.

    The same rows give the same digest, whatever the parts, row order and column order. -0.0 counts
    as 0.0.

    Parameters
    ----------
    *parts : LazyFrame
        The table, or its parts in order, which are read one by one; columns of integers, floats,
        strings, Booleans.
    key : sequence of str
        The columns that identify a row.
    name : str
        Name of the table in error messages.

    Raises
    ------
    SchemaViolation
        If two rows have the same key.

    Examples
    --------
    >>> a = pl.LazyFrame({"id": ["x", "y"], "f": [1, 2]})
    >>> b = pl.LazyFrame({"f": [2, 1], "id": ["y", "x"]})
    >>> table_digest(a, key=["id"], name="a") == table_digest(b, key=["id"], name="b")
    True
    """
    keys = list(key)
    with suppress(_UnorderedRows):
        return _digest(parts, keys, name)
    if len(parts) > 1:
        with suppress(_UnorderedRows):
            return _digest(ranges(parts, keys), keys, name)
    return _digest([pl.concat(parts).sort(keys)], keys, name)


class _UnorderedRows(Exception):
    """Rows are not in the order of their key."""


def _digest(parts: Sequence[pl.LazyFrame], key: list[str], name: str) -> tuple[str, int]:
    """Return digest and number of rows, which must be in the order of the key."""
    schema = parts[0].collect_schema()
    columns = {each: _ColumnDigest() for each in sorted(schema.names())}
    dtypes = {each: str(dtype) for each, dtype in schema.items()}
    repeated = _Repeats(key)
    rows = 0
    with ThreadPoolExecutor(_THREADS) as pool:  # to hash lets other threads run
        size = max(1, _VALUES // max(1, len(schema)))
        batches = (part.collect_batches(chunk_size=size, maintain_order=True) for part in parts)
        for batch in chain.from_iterable(batches):
            rows += batch.height
            updates = [
                pool.submit(digest.update, batch.get_column(each))
                for each, digest in columns.items()
            ]
            repeated.look(batch)
            for each in updates:
                each.result()
    repeated.complain(name)
    values = [[each, dtypes[each], digest.value()] for each, digest in columns.items()]
    return text_digest(canonical([rows, values])), rows


class _ColumnDigest:
    """Three running hashes of a column: null positions, bytes, lengths."""

    def __init__(self) -> None:
        self._present, self._bytes, self._lengths = (hashlib.sha256() for _ in range(3))

    def update(self, values: pl.Series) -> None:
        complete = values.null_count() == 0  # most columns: to ask each value takes longer
        here = b"\1" * len(values) if complete else values.is_not_null().to_numpy().tobytes()
        self._present.update(here)
        if values.dtype == pl.String:
            content, lengths = _utf8(values if complete else values.fill_null(""))
            self._lengths.update(lengths.astype("<i8").tobytes())
            self._bytes.update(content)
        elif values.dtype.is_float():
            # Adding zero turns -0.0 into 0.0: they are equal, so their digests must be.
            floats = values.cast(pl.Float64)
            floats = floats if complete else floats.fill_null(0.0)
            self._bytes.update((floats.to_numpy() + 0.0).astype("<f8").tobytes())
        elif values.dtype.is_integer() or values.dtype == pl.Boolean:
            whole = values.cast(pl.Int64)
            whole = whole if complete else whole.fill_null(0)
            self._bytes.update(whole.to_numpy().astype("<i8").tobytes())
        else:
            raise TypeError(f"column {values.name}: no digest is defined for {values.dtype}")

    def value(self) -> str:
        return text_digest(
            self._present.hexdigest() + self._bytes.hexdigest() + self._lengths.hexdigest()
        )


def _utf8(texts: pl.Series) -> tuple[memoryview, npt.NDArray[np.int64]]:
    """Return the concatenated bytes of all texts, and their lengths."""
    array = texts.to_arrow(compat_level=pl.CompatLevel.oldest())  # in which they lie side by side
    _, ends, content = array.buffers()
    bounds = np.frombuffer(ends, np.int64, texts.len() + 1, array.offset * 8) if ends else _NOWHERE
    return memoryview(content or b"")[bounds[0] : bounds[-1]], np.diff(bounds)


class _Repeats:
    """Finds repeated keys in batches that should come in the order of the key."""

    def __init__(self, key: Sequence[str]) -> None:
        self._key = list(key)
        self._last: pl.DataFrame | None = None
        self._count = 0
        self._examples: list[str] = []
        self._keys: list[dict[str, Any]] = []

    def look(self, batch: pl.DataFrame) -> None:
        """Add a batch; its keys must be in order."""
        joined = batch if self._last is None else pl.concat([self._last, batch], rechunk=False)
        if not _in_order(joined.select(self._key)):
            raise _UnorderedRows
        same = pl.all_horizontal(
            pl.col(name).eq_missing(pl.col(name).shift(1)) for name in self._key
        )
        position = pl.int_range(pl.len())
        places = joined.select(pl.arg_where(same & (position > 0))).to_series()
        self._count += places.len()
        for place in places.head(EXAMPLES - len(self._keys)):
            self._show(joined.row(place - 1, named=True), joined.row(place, named=True))
        self._last = batch.tail(1) if batch.height else self._last

    def _show(self, *rows: dict[str, Any]) -> None:
        """Add rows with one key as an example, in a fixed order."""
        key = {name: rows[0][name] for name in self._key}
        rest = ({name: row[name] for name in row if name not in key} for row in rows)
        both = sorted({describe_row(row) for row in rest})
        self._keys.append(key)
        self._examples.append(": ".join(filter(None, [describe_row(key), "; ".join(both)])))

    def complain(self, name: str) -> None:
        if self._count:
            rule = f"key_is_unique ({', '.join(self._key)})"
            violation = Violation(rule, None, self._count, tuple(self._examples), tuple(self._keys))
            raise SchemaViolation(name, [violation])


def _in_order(keys: pl.DataFrame) -> bool:
    if keys.width == 1:
        return keys.to_series().is_sorted()
    follows = pl.lit(value=True)  # the next row is the same, or comes later; nulls come first
    for name in reversed(keys.columns):
        one, two = pl.col(name), pl.col(name).shift(-1)
        less = (one < two).fill_null(one.is_null() & two.is_not_null())
        follows = less | (one.eq_missing(two) & follows)
    return bool(keys.select(follows.head(pl.len() - 1).all()).item()) if keys.height > 1 else True


# The cache of what is found in files, kept between runs; it may be lost or damaged


def stamp_of(path: Path) -> Stamp:
    """Return a stamp that changes when a file is written to, unless it `is_fresh`."""
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def is_fresh(stamp: Stamp) -> bool:
    """Return whether a file is so new that it could change and keep its stamp."""
    return time.time() - max(stamp[1:3]) / 1e9 <= _FRESH


def was_written(before: Stamp | None, after: Stamp | None) -> bool:
    """Return whether a file was written to between two stamps; renaming does not count."""
    return before is not None and after is not None and before[:2] != after[:2]


class FileCache(Generic[Value]):
    """A cache of facts about files, valid while their stamps stay the same.

    Files changed just now are not cached. A cache that is damaged or was written by other code is
    dropped.

    Parameters
    ----------
    storage, key : Storage, str
        Storage and key of the cache.
    find : callable
        path -> fact, as JSON.
    mark : str
        Identifies the code of `find`; another mark drops the cache.
    """

    def __init__(
        self, storage: Storage, key: str, find: Callable[[Path], Value], mark: str = ""
    ) -> None:
        self._storage, self._key, self._find, self._mark = storage, key, find, mark
        self._known: dict[str, tuple[Stamp, Value]] = {}
        self._new = False
        with suppress(OSError, ValueError), storage.open(key) as opened:
            digest, _, body = opened.read().decode().partition("\n")
            self._known = json.loads(body) if digest == text_digest(mark + body) else {}

    def of(self, path: Path) -> Value:
        """Return the fact about a file."""
        name, stamp = str(path.absolute()), stamp_of(path)
        remembered = self._known.get(name)
        if remembered and tuple(remembered[0]) == stamp:
            return remembered[1]
        value = self._find(path)
        if not is_fresh(stamp):
            self._known[name] = (stamp, value)
            self._new = True
        return value

    def keep(self) -> None:
        """Save new entries; failure to write the cache is ignored."""
        if self._new:
            body = json.dumps(self._known)
            with suppress(OSError):
                content = f"{text_digest(self._mark + body)}\n{body}"
                self._storage.write(self._key, content.encode())
