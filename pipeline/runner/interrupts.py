"""Ctrl-C and SIGTERM that stop a run once; clean-up after the run can finish."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import _exit, write
from types import FrameType
from typing import NoReturn

TEXT = "interrupted"
"""The shortest message of a command that was stopped."""
_SOON = 0.01
"""Seconds after which a callback has ended."""


_received: list[int] = []
"""The signals that stop the command."""


def listen() -> None:
    """Let Ctrl-C and SIGTERM interrupt this process from now on."""
    _received.clear()
    handle_by(interrupt)


def handle_by(handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> None:
    """Set what happens on Ctrl-C and SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


def exit_code() -> int:
    """Return the exit code of a command that was stopped, as shells count; 0 if it was not."""
    return 128 + _received[0] if _received else 0


def leave(number: int = 0, _frame: FrameType | None = None) -> NoReturn:
    """End at once, as the command is done and only the interpreter has to clean up."""
    write(2, f"lexassay: {TEXT}\n".encode())  # print may be what was interrupted
    _exit(128 + number if number else exit_code())


def interrupt(number: int, _frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, unless one is already being handled.

    Polars raises it on the signal, and Python raises it again; people may also press the keys
    twice. The second one would interrupt the clean-up.

    Raises
    ------
    KeyboardInterrupt
        If none is being handled.
    """
    _received.append(number)
    current = sys.exc_info()[1]
    cause = current.__cause__ if current else None
    if not isinstance(current, KeyboardInterrupt) and not isinstance(cause, KeyboardInterrupt):
        raise KeyboardInterrupt


def interrupt_again(dropped: sys.UnraisableHookArgs) -> None:
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
