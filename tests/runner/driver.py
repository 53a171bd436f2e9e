"""A process that imports everything, prints "ready", and runs the commands that it reads.

Each command is a line of JSON: its words, and the number of the act on the file system before which
the process kills itself (0: never), counted among the acts at a place (empty: all places). The
answer is a line of JSON: exit code and output.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from dataclasses import asdict

ACTS = {"os.rename", "os.link", "os.mkdir", "os.rmdir", "os.remove", "os.truncate"}
"""Events of Python's audit hook that count, in addition to files opened for writing."""
_WRITES = os.O_WRONLY | os.O_RDWR


class Counter:
    """Counts the acts at a place and kills the process before the requested one.

    The place is a regular expression for an act and its target, such as ``os.rename .*/ranks/``.
    """

    def __init__(self) -> None:
        self.count = 0
        self.kill_at = 0
        self.place = ""

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        """Look at one audit event."""
        opened = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES
        if event not in ACTS and not opened:
            return
        target = arguments[1] if event in {"os.rename", "os.link"} else arguments[0]
        if not re.match(self.place, f"{event} {target}"):
            return
        self.count += 1
        if self.count == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


def work() -> None:
    from pipeline.cli.app import COMMANDS, command
    from pipeline.stages.base import STAGES
    from tests.runner.commands import call

    list(STAGES)
    for name in COMMANDS:
        command(name)
    counter = Counter()
    sys.addaudithook(counter)
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        counter.count, counter.kill_at, counter.place = 0, request["kill_at"], request["place"]
        outcome = call(request["words"])
        print(json.dumps({**asdict(outcome), "acts": counter.count}), flush=True)


if __name__ == "__main__":
    work()
