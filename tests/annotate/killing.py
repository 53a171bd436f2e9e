"""Servers that are killed at any moment and started again, and the log that they leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.annotate.web.app import listening
from pipeline.formats.annotation_log import read_only

ROOT = Path(__file__).parents[2]
PATIENCE = 100
"""Seconds that anything may take on a machine that does much else."""
_FORKS = """
import os, sys
from pathlib import Path
from pipeline.annotate.auth import Links
from pipeline.annotate.web.app import app_of
from pipeline.annotate.web.app import listening, serve
from tests.annotate.served import work_in

work = work_in(Path(sys.argv[1]), annotators=tuple(sys.argv[2].split(",")))
print("ready", flush=True)
for port in sys.stdin:
    if not (child := os.fork()):
        serve(app_of(work, Links(work.folder)), listening("127.0.0.1", int(port)))
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
"""
"""Loads all once and serves in forks, since a start from nothing takes a second."""


def free_port() -> int:
    with listening() as listener:
        port: int = listener.getsockname()[1]
        return port


def started(words: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    """Start a Python that knows the project and its tests."""
    return subprocess.Popen(
        [sys.executable, *words], cwd=folder, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the process ended"
    return line


class Forks:
    """Serves a folder on one port, life after life."""

    def __init__(self, folder: Path, people: Sequence[str], port: int) -> None:
        self.port = port
        self._process = started(["-c", _FORKS, str(folder), ",".join(people)], ROOT)
        self._child = 0
        assert line_of(self._process) == "ready\n"

    def start(self) -> None:
        """Serve; whoever was killed is gone by now."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{self.port}\n")
        self._process.stdin.flush()
        self._child = int(line_of(self._process))

    def kill(self) -> None:
        os.kill(self._child, signal.SIGKILL)
        self._child = 0

    def close(self) -> None:
        if self._child:
            self.kill()
        self._process.communicate(timeout=PATIENCE)


def log(database: Path) -> list[dict[str, Any]]:
    """Return the whole log, keys as their senders made them."""
    query = "SELECT l.*, t.id, t.annotator FROM log l JOIN tasks t USING (task) ORDER BY entry"
    with read_only(database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        rows = [dict(row) for row in connection.execute(query)]
    return [{**row, "key": row["key"].rpartition("/")[2]} for row in rows]
