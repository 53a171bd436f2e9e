"""Environment variables that set how libraries of our processes use memory and cores."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_ALLOCATOR = "_RJEM_MALLOC_CONF"
_OF_POLARS = "dirty_decay_ms:500,muzzy_decay_ms:1000"
# More threads of linear algebra would be idle, and would add up in another order.
_ALIKE = {"OPENBLAS_NUM_THREADS": "1"}

LARGEST_EXPERIMENT = 8 << 20
"""Bytes of an experiment's file at the most: a device has no end."""

THRIFTY = {
    **_ALIKE,
    # Pages that are freed go back to the system after a tenth of a second; at once costs CPU.
    _ALLOCATOR: "dirty_decay_ms:100,muzzy_decay_ms:0",
    # One row group of a Parquet file is read ahead, not several for each core.
    "POLARS_ROW_GROUP_PREFETCH_SIZE": "1",
    # Rows go from one step of a query to the next by fewer, as each step holds several such goes.
    "POLARS_IDEAL_MORSEL_SIZE": "25000",
}
"""For a process that has a limit of memory, or may have one."""
QUICK = {**_ALIKE, _ALLOCATOR: "dirty_decay_ms:10000,muzzy_decay_ms:10000"}
"""For one that has none: to use freed pages again costs less than to ask for new ones."""


def user_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the user has set, without those that Polars sets for the allocator.

    Polars sets them in the importing process, and child processes inherit them.

    Examples
    --------
    >>> user_variables({"A": "1", "_RJEM_MALLOC_CONF": "dirty_decay_ms:500,muzzy_decay_ms:1000"})
    {'A': '1'}
    """
    return {k: v for k, v in environment.items() if (k, v) != (_ALLOCATOR, _OF_POLARS)}


def release_memory() -> None:
    """Give freed memory back to the system: what libraries keep of it, and the C library."""
    import ctypes  # noqa: PLC0415  the command starts without it

    gc.collect()  # tables may be held by reference cycles
    if arrow := sys.modules.get("pyarrow"):
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def settings(arguments: Sequence[str]) -> dict[str, str]:
    """Return the variables for a command: `THRIFTY` where its words or their files name memory.

    That is asked before anything is loaded that could read an experiment. A file that says more
    than it means is no harm.

    Examples
    --------
    >>> settings(["run", "none.toml"]) == QUICK
    True
    >>> settings(["run", "none.toml", "--set", "run.memory='2GB'"]) == THRIFTY
    True
    """
    is_limited = any("memory" in word or "memory" in _content(word) for word in arguments)
    return THRIFTY if is_limited else QUICK


def _content(word: str) -> str:
    """Return the text of an experiment; nothing if a word is none, or none that can be read."""
    try:
        if not word.endswith(".toml") or not Path(word).is_file():  # a pipe is read only once
            return ""
        with Path(word).open(encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST_EXPERIMENT)
    except (OSError, ValueError):  # a name that no file can have is one
        return ""
