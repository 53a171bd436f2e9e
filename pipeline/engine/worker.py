"""A worker: runs the tasks that come in by its standard input until that is closed."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, BinaryIO


def main() -> None:
    """Run tasks; results go out by what was the standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a task prints must not stand among the answers
    tasks: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, tasks), daemon=True).start()
    while True:
        task, item = tasks.get()
        pickle.dump(_outcome(task, item), answers)
        answers.flush()


def _receive(channel: BinaryIO, tasks: queue.SimpleQueue[tuple[Any, Any]]) -> None:
    """Take in tasks; without anybody to ask for the result, end at once, even within a task."""
    while True:
        try:
            tasks.put(pickle.load(channel))
        except EOFError:
            os._exit(0)


def answer(packed: bytes, folder: str) -> bytes:
    """Return the outcome of a task, both pickled.

    Parameters
    ----------
    packed : bytes
        A pickled pair of task and item.
    folder : str
        Where to run it, if this machine has it.

    Examples
    --------
    >>> pickle.loads(answer(pickle.dumps((len, "abc")), "."))
    (True, 3)
    """
    there = contextlib.chdir(folder) if Path(folder).is_dir() else contextlib.nullcontext()
    with there:
        return pickle.dumps(_outcome(_unpacked, packed))


def _unpacked(packed: bytes) -> Any:
    task, item = pickle.loads(packed)
    return task(item)


def _outcome(task: Any, item: Any) -> tuple[bool, Any]:
    try:
        return True, task(item)
    except Exception as error:
        error.add_note(traceback.format_exc())
        return False, error


if __name__ == "__main__":
    main()
