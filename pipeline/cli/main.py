"""Entry point: run a command or complete a command line; turn errors into exit codes.

Slow imports come later, so that Ctrl-C works from the start.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import NoReturn

from pipeline.release import FormerName
from pipeline.runner.interrupts import again, interrupt

_usual_format = warnings.formatwarning
_UNKNOWN = 1
_INTERRUPTED = 130
_OBJECTS = 50_000
"""New objects between garbage collections: most are imported and stay."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 done, 1 failed, 2 wrong usage or configuration, 3 waiting for people, 130 interrupted.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after ``lexassay``; the process's own by default. ``--debug`` anywhere shows
        tracebacks.
    """
    typed = list(sys.argv[1:] if arguments is None else arguments)
    gc.set_threshold(_OBJECTS)
    debug = "--debug" in typed
    words = [word for word in typed if word != "--debug"]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        return _run(words, debug=debug)
    except KeyboardInterrupt as error:
        return _report(error, _INTERRUPTED, debug=debug, text="interrupted")


def _run(words: Sequence[str], *, debug: bool) -> int:
    try:
        if os.environ.get("_LEXASSAY_COMPLETE", "").startswith("complete_"):
            from pipeline.cli.completion import answer

            return answer(os.environ)
        from pipeline.cli.app import call

        return call(words)
    except BrokenPipeError:
        return _end_unread()
    except KeyboardInterrupt:
        raise  # before further imports: an interrupted import is incomplete
    except BaseException as error:
        if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
            return _end_unread()  # as Typer calls it
        return _explain(error, debug=debug)


def _explain(error: BaseException, *, debug: bool) -> int:
    try:
        from pipeline import errors
        from schemas.errors import LexassayError
    except ImportError as broken:  # a library that all commands need
        return _report(broken, _UNKNOWN, debug=debug, text=f"{broken}; see `lexassay doctor`")
    if isinstance(error, LexassayError):
        return _report(error, error.exit_code, debug=debug)
    if not isinstance(error, Exception) and not errors.is_panic(error):
        raise error
    return _report(error, _UNKNOWN, debug=debug, text=errors.explain(error))


def _end_unread() -> int:
    """End without an error if the reader of the output has closed it, as `head` does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _report(error: BaseException, code: int, *, debug: bool, text: str | None = None) -> int:
    if debug:
        traceback.print_exception(error)
    print("lexassay:", text or str(error), file=sys.stderr)
    return code


def _format_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """Return a warning for people if it is ours, else as Python writes it."""
    own = issubclass(category, FormerName)
    if own:
        return f"lexassay: {message}\n"
    return _usual_format(message, category, filename, lineno, line)


def script() -> NoReturn:
    """Run the command of the process and exit."""
    sys.unraisablehook = again
    warnings.formatwarning = _format_warning
    sys.exit(main())
