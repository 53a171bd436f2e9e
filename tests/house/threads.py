"""Let line coverage see what Polars calls: before Python 3.12, a thread is traced if it says so.

Polars runs functions on threads that Python has not started, so nobody has told these to trace.
Coverage leaves word for new threads, `threading.gettrace()`; here it is passed on.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

import polars as pl

_TAKE_A_FUNCTION = (
    (pl, "map_batches"),
    (pl.Expr, "map_batches"),
    (pl.LazyFrame, "map_batches"),
)


def follow() -> None:
    """Trace every function that is given to Polars, in each of which it is the second argument."""
    for home, name in _TAKE_A_FUNCTION:
        setattr(home, name, _following(getattr(home, name)))


def _following(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(first: Any, function: Callable[..., Any], *given: Any, **options: Any) -> Any:
        return method(first, functools.partial(_trace_call, function), *given, **options)

    return call


def _trace_call(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    if sys.gettrace() is None:
        sys.settrace(threading.gettrace())
    return function(*given, **options)
