"""Ctrl-C that stops a run once; clean-up after the run can finish."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SOON = 0.01
"""Seconds after which a callback has ended."""


def interrupt(_signal: int, _frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, unless one is already being handled.

    Polars raises it on the signal, and Python raises it again; people may also press the keys
    twice. The second one would interrupt the clean-up.

    Raises
    ------
    KeyboardInterrupt
        If none is being handled.
    """
    current = sys.exc_info()[1]
    cause = current.__cause__ if current else None
    if not isinstance(current, KeyboardInterrupt) and not isinstance(cause, KeyboardInterrupt):
        raise KeyboardInterrupt


def again(dropped: sys.UnraisableHookArgs) -> None:
    """Interrupt again if Python has dropped it; a hook for unraisable exceptions.

    Python drops exceptions raised in callbacks, for example those of imports.
    """
    if issubclass(dropped.exc_type, KeyboardInterrupt):
        main = (threading.main_thread().ident, signal.SIGINT)
        threading.Timer(_SOON, signal.pthread_kill, main).start()
    else:
        sys.__unraisablehook__(dropped)


@contextmanager
def interrupt_once() -> Iterator[None]:
    """Let Ctrl-C interrupt once, unless the caller has its own handler."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
