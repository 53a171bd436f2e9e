"""Results of finished tasks, a line of JSON for each, so that a run is taken up again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from coverage_parts.cells import Cell, Task


class Job(NamedTuple):
    """A task with its seeds first, first + 1, ..., a sample for each."""

    task: Task
    first: int
    samples: int


class PartFile:
    """The file of a part: what is finished, in the order in which it was."""

    def __init__(self, folder: Path, part: str) -> None:
        self.path = folder / f"{part}.jsonl"

    def read(self) -> dict[Job, list[Cell]]:
        """Return the cells of each finished job; a last line that was cut off counts as absent."""
        jobs: dict[Job, list[Cell]] = {}
        if not self.path.is_file():
            return jobs
        for line in self.path.read_text(encoding="utf-8").splitlines(keepends=True):
            if not line.endswith("\n"):
                break
            row = json.loads(line)
            job = Job(Task(*row["task"]), row["first"], row["samples"])
            jobs[job] = row["cells"]
        return jobs

    def add(self, job: Job, cells: list[Cell]) -> None:
        """Append a finished job; what was cut off before is cut away."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        row = {"task": list(job.task), "first": job.first, "samples": job.samples, "cells": cells}
        with self.path.open("a+b") as file:
            end = file.seek(0, 2)
            file.seek(max(0, end - 1))
            if end and file.read(1) != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
            file.write(json.dumps(row).encode() + b"\n")
