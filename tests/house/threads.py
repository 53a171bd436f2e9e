"""Let coverage trace functions that Polars calls: before Python 3.12, each thread sets its tracer.

Polars runs functions on threads that Python has not started, which therefore have no tracer.
Coverage stores the tracer of new threads in `threading.gettrace()`; this module sets it.
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
    """Trace every function that is passed to Polars, always as the second argument."""
    for home, name in _TAKE_A_FUNCTION:
        setattr(home, name, _following(getattr(home, name)))


def _following(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(first: Any, function: Callable[..., Any], *values: Any, **options: Any) -> Any:
        return method(first, functools.partial(_trace_call, function), *values, **options)

    return call


def _trace_call(function: Callable[..., Any], *values: Any, **options: Any) -> Any:
    if sys.gettrace() is None:
        sys.settrace(threading.gettrace())
    return function(*values, **options)
