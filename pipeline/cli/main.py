"""Entry point: run a command or complete a command line; turn errors into exit codes.

Slow imports come later, so that Ctrl-C works from the start.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import resource
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import NoReturn

from pipeline.release import FormerName
from pipeline.runner import interrupts

_usual_format = warnings.formatwarning
_UNKNOWN = 1
_INTERRUPTED = 130
"""Exit code of `pipeline.errors.Interruption`, whose import may be what was interrupted."""
_ADDRESSES = (
    "out of memory: ulimit -v limits the address space of the process, and libraries reserve more "
    "of it than they use; raise the limit to at least 2 GB, or limit memory instead: "
    'memory = "2GB" under [run]'
)
_LEAST_ADDRESSES = 2 << 30
"""Libraries take most of these as they are imported; with fewer, some never end."""
_OBJECTS = 200_000
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
    command_line = list(sys.argv[1:] if arguments is None else arguments)
    gc.set_threshold(_OBJECTS)
    debug = "--debug" in command_line
    words = [word for word in command_line if word != "--debug"]
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
        return _explain(error, debug=debug)


def _explain(error: BaseException, *, debug: bool) -> int:
    try:
        from pipeline import errors
        from schemas.errors import LexassayError
    except ImportError as broken:  # a library that all commands need
        return _report(broken, _UNKNOWN, debug=debug, text=f"{broken}; see `lexassay doctor`")
    if isinstance(error, LexassayError):
        return _report(error, error.exit_code, debug=debug)
    if not isinstance(error, Exception | SystemExit) and not errors.is_panic(error):
        raise error
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


def _format_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """Return a warning for people if it is ours, else as Python writes it."""
    if issubclass(category, FormerName):
        return f"lexassay: {message}\n"
    return _usual_format(message, category, filename, lineno, line)


def script() -> NoReturn:
    """Run the command of the process and exit."""
    warnings.formatwarning = _format_warning
    if isinstance(sys.stdout, io.TextIOWrapper):  # else it is closed
        sys.stdout.reconfigure(errors="backslashreplace")  # where its encoding lacks a character
    sys.unraisablehook = interrupts.interrupt_again
    atexit.register(interrupts.handle_by, signal.SIG_IGN)  # the last to be called: all is done
    addresses = resource.getrlimit(resource.RLIMIT_AS)[0]
    try:
        if addresses == resource.RLIM_INFINITY:
            code = main()
        else:
            code = _explain_death(main) if addresses > _LEAST_ADDRESSES else _too_few_addresses()
        interrupts.handle_by(interrupts.leave)
    except KeyboardInterrupt:
        interrupts.leave()
    gc.freeze()  # the system frees all objects at once: Python need not search them for cycles
    sys.exit(code)


def _explain_death(work: Callable[[], int]) -> int:
    """Work in a child process: libraries end it at once when addresses run out (`ulimit -v`)."""
    import socket

    ours, theirs = socket.socketpair()
    child = os.fork()  # there is no other thread yet
    if not child:
        ours.close()
        threading.Thread(target=lambda: theirs.recv(1) or os._exit(1), daemon=True).start()
        code = work()
        theirs.send(b"1")
        return code
    theirs.close()
    interrupts.handle_by(lambda number, _: os.kill(child, number))
    finished = ours.recv(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(code if finished else _too_few_addresses())


def _too_few_addresses() -> int:
    print("lexassay:", _ADDRESSES, file=sys.stderr)
    return 1
