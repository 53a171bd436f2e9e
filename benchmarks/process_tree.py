"""Memory of a process with all that it started, while it runs; Linux."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

PAGE = os.sysconf("SC_PAGE_SIZE")
EVERY = 0.5
"""Seconds between two looks."""
Watched: TypeAlias = tuple[int, dict[str, float]]


def resident(root: int) -> int:
    """Return the resident bytes of a process and of all below it; shared pages count for each."""
    parents: dict[int, int] = {}
    pages: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it ended meanwhile
                continue
            parents[int(folder.name)], pages[int(folder.name)] = int(fields[1]), int(fields[21])
    below = {root}
    while more := {one for one, parent in parents.items() if parent in below} - below:
        below |= more
    return PAGE * sum(pages.get(one, 0) for one in below)


def size(folder: Path) -> int:
    """Return the bytes of all files of a folder."""
    total = 0
    for above, _, names in os.walk(folder):  # which passes over folders that were removed meanwhile
        for name in names:
            try:
                total += Path(above, name).stat().st_size
            except OSError:
                continue
    return total


def watch(command: Sequence[str], folder: Path) -> Watched:
    """Run a command; return its exit code, seconds, CPU seconds, peaks of memory and disk in MB."""
    before, started = _cpu(), time.perf_counter()
    memory, disk, looks = 0, 0, 0
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            memory = max(memory, resident(process.pid))
            if looks % 20 == 0:
                disk = max(disk, size(folder))
            looks += 1
            time.sleep(EVERY)
    wall, cpu = time.perf_counter() - started, _cpu() - before
    disk = max(disk, size(folder))
    costs = {"wall": wall, "cpu": cpu, "memory": memory / 1e6, "disk": disk / 1e6}
    return process.returncode, {name: round(figure, 1) for name, figure in costs.items()}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
