"""Entry point: run a command or complete a command line; turn errors into exit codes.

Slow imports come later, so that Ctrl-C works from the start.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from pipeline.runner import interrupts

_UNKNOWN = 1
_INTERRUPTED = 130
"""Exit code of `pipeline.errors.Interrupted`, whose import may be what was interrupted."""
_OBJECTS = 50_000
"""New objects between garbage collections: most are imported and stay."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 done, 1 failed, 2 wrong usage or configuration, 3 waiting for people, 130 interrupted by
    Ctrl-C, 143 by SIGTERM.

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
    interrupts.listen()
    try:
        return _run(words, debug=debug)
    except KeyboardInterrupt as error:
        stopped = interrupts.exit_code() or _INTERRUPTED
        return _report(error, stopped, debug=debug, text=interrupts.TEXT)


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
        if stopped := interrupts.exit_code():  # also if an import calls that by another name
            own = getattr(error, "exit_code", 0) == _INTERRUPTED
            return _report(error, stopped, debug=debug, text="" if own else interrupts.TEXT)
        from pipeline import errors
        from schemas.errors import LexassayError

        if isinstance(error, LexassayError):
            return _report(error, error.exit_code, debug=debug)
        if not isinstance(error, Exception | SystemExit) and not errors.is_panic(error):
            raise
        return _report(error, _UNKNOWN, debug=debug, text=errors.explain(error))


def _end_unread() -> int:
    """End without an error if the reader of the output has closed it, as `head` does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _report(error: BaseException, code: int, *, debug: bool, text: str = "") -> int:
    if debug:
        traceback.print_exception(error)
    print("lexassay:", text or str(error), file=sys.stderr)
    return code


def script() -> NoReturn:
    """Run the command of the process and exit."""
    sys.unraisablehook = interrupts.again
    atexit.register(interrupts.handle_by, signal.SIG_IGN)  # the last to be called: all is done
    try:
        code = main()
        interrupts.handle_by(interrupts.leave)
    except KeyboardInterrupt:
        interrupts.leave()
    sys.exit(code)
