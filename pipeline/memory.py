"""The memory limit: queries spill to disk beyond it; data to be held whole are refused.

Polars counts its own allocations against a budget, and writes what a sort or a grouping holds to a
folder when the budget is used up. Beside its budget it takes 50 to 110 MB: hence `SHARE`.
"""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import polars as pl

from pipeline import errors
from pipeline.errors import DataError

DEFAULT_MEMORY = 4 << 30
"""Bytes that may be held as a whole, if no limit is given."""
SHARE = 2 / 3
"""Share of a limit that is Polars' budget; the rest is for what queries take beyond it."""
LEAST = 64 << 20
"""Bytes of Polars' budget, and of rows held, at the least: with less, a query does little but
write and read.
"""
ROWS = 100_000
"""Rows of a group of a temporary file."""
_BUDGET, _SPILL = "POLARS_OOC_MEMORY_BUDGET_MB", "POLARS_OOC_SPILL_DIR"
_BUCKET = "~bucket"

_room: ContextVar[int] = ContextVar("room", default=DEFAULT_MEMORY)
_limited: ContextVar[bool] = ContextVar("limited", default=False)
_folder: ContextVar[Path | None] = ContextVar("folder", default=None)
_beside: ContextVar[tuple[int, int]] = ContextVar("beside", default=(1, 0))
_option: ContextVar[str] = ContextVar("option", default='[run] memory = "{}"')


def available_bytes() -> int:
    """Return how many bytes may be held: ``memory`` of ``[run]``, or `DEFAULT_MEMORY`."""
    return _room.get()


def is_limited() -> bool:
    """Return whether a limit was given: then what exceeds it goes to the disk."""
    return _limited.get()


@contextmanager
def with_limit(
    size: int | None, *, option: str | None = None, beside: tuple[int, int] | None = None
) -> Iterator[None]:
    """Limit memory to a number of bytes; `DEFAULT_MEMORY` if None, and then queries do not spill.

    Parameters
    ----------
    size : int or None
        Bytes.
    option : str, optional
        The option that messages name, with {} for the size; that of an experiment if not given.
    beside : tuple of int, optional
        Among how many workers the limit of the option is divided, and the bytes of the libraries
        that are taken from it before: then messages name the limit as the option has it.

    Raises
    ------
    DataError
        If queries cannot spill, as nothing can be written to `spill_folder`.

    Examples
    --------
    >>> with with_limit(1 << 20):
    ...     available_bytes()
    1048576
    """
    before = _room.set(DEFAULT_MEMORY if size is None else size)
    name = _option.set(option or _option.get())
    division = _beside.set(beside or _beside.get())
    limited = _limited.set(size is not None)
    budget = os.environ.get(_BUDGET)
    try:
        if size is None:
            _set_budget(None)
        else:
            os.environ[_SPILL] = str(spill_folder())  # a process keeps to its first
            _set_budget(str(max(LEAST, int(size * SHARE)) // 10**6))
        yield
    finally:
        _set_budget(budget)
        _room.reset(before)
        _option.reset(name)
        _beside.reset(division)
        _limited.reset(limited)


@contextmanager
def with_share(among: int) -> Iterator[None]:
    """Divide the limit by a number, where one was given.

    Examples
    --------
    >>> with with_limit(1 << 20), with_share(2):
    ...     available_bytes()
    524288
    """
    size, (workers, libraries) = available_bytes() // max(1, among), _beside.get()
    beside = workers * max(1, among), libraries
    with with_limit(size if is_limited() else None, beside=beside):
        yield


def _set_budget(megabytes: str | None) -> None:
    """Set the budget of Polars in this process; None: it has none.

    Polars reads its variables once, and again when they are set through its configuration.
    """
    pl.Config.load(json.dumps({"environment": {_BUDGET: megabytes}}))


def spill_folder() -> Path:
    """Return the folder that queries spill to, of this user on this machine; make it.

    It is ``POLARS_OOC_SPILL_DIR`` if that is set, else a folder in ``TMPDIR`` or in /var/tmp. It is
    never on a disk that machines share: Polars removes the files of processes that it cannot see.

    Raises
    ------
    DataError
        If nothing can be written there. Polars would print why and go on without a limit.
    """
    above = Path(os.environ.get("TMPDIR") or "/var/tmp")  # private to this user
    above = above if above.is_dir() else Path(tempfile.gettempdir())
    own = f"lexassay-{os.getuid()}-{platform.node()}"
    folder = Path(os.environ.get(_SPILL) or above / own)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Polars creates it once: if it has been removed since, a query would hang.
        (folder / str(os.getpid())).mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"1")
    except OSError as error:
        what = f"{folder}: temporary files cannot be written: {error.strerror}"
        raise DataError(f"{what}\nSet TMPDIR to a folder with free space.") from error
    return folder


def require(size: float, what: str, *, otherwise: str = "") -> None:
    """Refuse data that would exceed the limit.

    Parameters
    ----------
    size : float
        Least bytes that it would need.
    what : str
        The data, with their place.
    otherwise : str
        Another remedy than more memory.

    Raises
    ------
    DataError
        With both figures and the option that raises the limit.

    Examples
    --------
    >>> require(1 << 40, "b.tsv: the table")
    Traceback (most recent call last):
    pipeline.errors.DataError: b.tsv: the table would need about 1.0 TB of memory; the limit is ...
    If this is intended, raise the limit: [run] memory = "1.5TB".
    """
    if size <= available_bytes():
        return
    also = f" Otherwise {otherwise}." if otherwise else ""
    workers, libraries = _beside.get()
    enough = _option.get().format(_enough(size * workers, libraries))
    raise DataError(
        f"{what} would need about {format_bytes(size)} of memory; "
        f"the limit is {format_bytes(available_bytes())}\n"
        f"If this is intended, raise the limit: {enough}.{also}"
    )


def exceeds_machine(size: float) -> bool:
    """Return whether no limit on this machine would do: then it need not be known exactly."""
    return size > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def format_bytes(size: float) -> str:
    """Return a number of bytes with a unit.

    Examples
    --------
    >>> format_bytes(500), format_bytes(1536), format_bytes(3 << 30)
    ('500 B', '1.5 KB', '3.0 GB')
    """
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1 << 10:
            return f"{size:.0f} B" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1 << 10
    return f"{size:,.1f} TB"


def _enough(size: float, libraries: int) -> str:
    """Return a limit that lets this much through, in the spelling of the option."""
    megabytes = (size * 1.5 + libraries) / (1 << 20)
    units = (("TB", 1 << 20), ("GB", 1 << 10), ("MB", 1))
    unit, one = next((pair for pair in units if megabytes >= pair[1]), units[-1])
    return f"{math.ceil(max(megabytes / one, 1) * 10) / 10:.1f}".removesuffix(".0") + unit


# Tables and buckets of rows that are read more than once, on the disk where memory is limited


@contextmanager
def materialise(table: pl.LazyFrame) -> Iterator[pl.LazyFrame]:
    """Give the rows of a query, made once, in their order: on the disk where memory is limited.

    Examples
    --------
    >>> with materialise(pl.LazyFrame({"n": [2, 1]}).sort("n")) as table:
    ...     table.collect().to_series().to_list()
    [1, 2]
    """
    if not is_limited():
        yield table.collect(engine="streaming").lazy()
        return
    with tempfile.TemporaryDirectory(prefix="lexassay-", dir=_temporary_folder()) as folder:
        path = Path(folder, "table.parquet")
        with errors.translate_write_errors():
            table.sink_parquet(path, compression="lz4", row_group_size=ROWS)
        yield pl.scan_parquet(path)


def _temporary_folder() -> Path | None:
    folder = _folder.get()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def spill_to(folder: Path | None) -> Iterator[None]:
    """Spill rows to a folder, which is removed afterwards; to a temporary one if None.

    Parameters
    ----------
    folder : Path or None
        On a disk: what lies there is not held in memory.
    """
    before = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(before)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


class Spill:
    """Rows in buckets; when too many are held, all go to files, a file for each bucket.

    Parameters
    ----------
    buckets : int
        How many.
    schema : Schema
        The columns of the rows.
    most : int
        Rows to hold.

    Examples
    --------
    >>> rows = pl.DataFrame({"form": ["a", "b", "c"]})
    >>> with Spill(2, rows.schema, most=1) as spill:
    ...     spill.add(rows, pl.col("form") > "b")
    ...     [each.collect()["form"].to_list() for each in spill]
    [['a', 'b'], ['c']]
    """

    def __init__(self, buckets: int, schema: pl.Schema, *, most: int) -> None:
        self._held: list[list[pl.DataFrame]] = [[] for _ in range(buckets)]
        self._files: list[list[Path]] = [[] for _ in range(buckets)]
        self._rows, self._most = 0, most
        self.schema = schema
        self._folder: Path | None = None

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[pl.LazyFrame]:
        """Yield the buckets in order."""
        return map(self.bucket, range(len(self)))

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all rows, and remove their files."""
        for frames, files in zip(self._held, self._files, strict=True):
            frames.clear()
            files.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._rows, self._folder = 0, None

    def add(self, rows: pl.DataFrame, bucket: pl.Expr) -> None:
        """Take in rows, each into the bucket of a number."""
        for number, part in self._split(rows.select(*self.schema), rows.select(bucket)):
            self._held[number].append(part)
        self._count(rows.height)

    def put(self, rows: pl.DataFrame, number: int) -> None:
        """Take in rows, all into one bucket."""
        self._held[number].append(rows.select(*self.schema))
        self._count(rows.height)

    def bucket(self, number: int) -> pl.LazyFrame:
        """Return the rows of a bucket, in no order."""
        frames, files = self._held[number], self._files[number]
        there = [pl.scan_parquet(files, glob=False)] if files else []
        none = pl.LazyFrame(schema=self.schema)
        return pl.concat([*there, *(each.lazy() for each in frames)] or [none])

    def files(self, number: int) -> list[Path]:
        """Return the files of a bucket."""
        return list(self._files[number])

    def frames(self, number: int) -> Iterator[pl.DataFrame]:
        """Yield the rows of a bucket as they were written, one file after the other."""
        yield from (pl.read_parquet(path) for path in self._files[number])
        yield from self._held[number]

    def _split(
        self, rows: pl.DataFrame, bucket: pl.DataFrame
    ) -> Iterator[tuple[int, pl.DataFrame]]:
        if len(self) == 1:
            yield 0, rows
            return
        numbered = rows.with_columns(bucket.to_series().cast(pl.Int64).alias(_BUCKET))
        parts = numbered.partition_by(_BUCKET, as_dict=True, include_key=False)
        yield from ((int(key), part) for (key,), part in parts.items())

    def _count(self, rows: int) -> None:
        self._rows += rows
        if self._rows > self._most:
            self._write()

    def _write(self) -> None:
        """Write the rows in memory, and drop them."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="lexassay-", dir=_temporary_folder()))
        for number, (frames, files) in enumerate(zip(self._held, self._files, strict=True)):
            if frames:
                files.append(self._folder / f"{number}-{len(files)}.parquet")
                with errors.translate_write_errors():
                    pl.concat(frames).write_parquet(files[-1], compression="lz4")
                frames.clear()
        self._rows = 0
