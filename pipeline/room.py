"""How much memory may be taken by what has to be held as a whole: asked before it is held."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pipeline.errors import DataError

USUAL = 4 << 30
"""Bytes, where nothing else is said."""

_room: ContextVar[int] = ContextVar("room", default=USUAL)
_given: ContextVar[bool] = ContextVar("given", default=False)
_option: ContextVar[str] = ContextVar("option", default='[run] memory = "{}"')


def room() -> int:
    """Return how many bytes may be held: ``memory`` of ``[run]``, or `USUAL`."""
    return _room.get()


def goes_to_disk() -> bool:
    """Return whether a limit was given: what is counted goes to the disk where it is reached."""
    return _given.get()


@contextmanager
def limited(size: int | None, *, option: str | None = None) -> Iterator[None]:
    """Hold no more than so many bytes; `USUAL` if None.

    Parameters
    ----------
    size : int or None
        Bytes.
    option : str, optional
        What allows more, with {} for how much; an experiment's option if not given.

    Examples
    --------
    >>> with limited(1 << 20):
    ...     room()
    1048576
    """
    before = _room.set(USUAL if size is None else size)
    named = _option.set(option or _option.get())
    given = _given.set(size is not None)
    try:
        yield
    finally:
        _room.reset(before)
        _option.reset(named)
        _given.reset(given)


@contextmanager
def shared(among: int) -> Iterator[None]:
    """Hold no more than one of so many may, where a limit was given.

    Examples
    --------
    >>> with limited(1 << 20), shared(2):
    ...     room()
    524288
    """
    with limited(room() // max(1, among) if goes_to_disk() else None):
        yield


def require(size: float, what: str, *, otherwise: str = "") -> None:
    """Refuse what would take more than there is room for.

    Parameters
    ----------
    size : float
        Bytes that it would take, at the least.
    what : str
        What it is, with its place.
    otherwise : str
        What else to do about it than to give more memory.

    Raises
    ------
    DataError
        With both figures and the option that raises the limit.

    Examples
    --------
    >>> require(1 << 40, "b.tsv: the table")
    Traceback (most recent call last):
    pipeline.errors.DataError: b.tsv: the table would take some 1.0 TB of memory; up to 4.0 GB ...
    If this is as it should be, allow more: [run] memory = "1.5TB".
    """
    if size <= room():
        return
    also = f" Otherwise {otherwise}." if otherwise else ""
    raise DataError(
        f"{what} would take some {shown(size)} of memory; up to {shown(room())} may be taken\n"
        f"If this is as it should be, allow more: {_option.get().format(_enough(size))}.{also}"
    )


def shown(size: float) -> str:
    """Return bytes as people read them.

    Examples
    --------
    >>> shown(500), shown(1536), shown(3 << 30)
    ('500 B', '1.5 KB', '3.0 GB')
    """
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1 << 10:
            return f"{size:.0f} B" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1 << 10
    return f"{size:,.1f} TB"


def _enough(size: float) -> str:
    """Return a limit that lets this much through, in the spelling of the option."""
    megabytes = size * 1.5 / (1 << 20)
    units = (("TB", 1 << 20), ("GB", 1 << 10), ("MB", 1))
    unit, one = next((pair for pair in units if megabytes >= pair[1]), units[-1])
    return f"{max(megabytes / one, 1):.1f}".removesuffix(".0") + unit
