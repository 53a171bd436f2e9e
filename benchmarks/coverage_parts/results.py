"""Kept results, put together: cells by method, with those that were simulated again."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from coverage_parts.cells import Cell, Task
from coverage_parts.keeping import Job, PartFile
from coverage_parts.parts import few
from coverage_parts.reading import read

Key = tuple[str, int]
"""What a cell is about, and n."""


def read_results(folder: Path, part: str, *, samples: int) -> dict[str, pl.DataFrame]:
    """Return the cells of each method of a part as far as they are finished, read.

    A cell that was doubtful counts with the samples of its second simulation alone.
    """
    jobs = PartFile(folder, part).read()
    first = {job: cells for job, cells in jobs.items() if job.first == 0 and job.samples == samples}
    again = {job.task: cells for job, cells in jobs.items() if job.first == samples}
    borderline = doubtful(by_method(first))
    return by_method(first, again, borderline)


def doubtful(cells: dict[str, pl.DataFrame]) -> dict[Task, set[Key]]:
    """Return the cells that are on the wrong side, significantly or not, by task."""
    keys: dict[Task, set[Key]] = {}
    for table in cells.values():
        for row in table.filter(pl.col("borderline") | pl.col("low")).iter_rows(named=True):
            task = Task(*(row[name] for name in Task._fields))
            keys.setdefault(task, set()).add((row["what"], row["n"]))
    return keys


def by_method(
    jobs: dict[Job, list[Cell]],
    repeated: dict[Task, list[Cell]] | None = None,
    borderline: dict[Task, set[Key]] | None = None,
) -> dict[str, pl.DataFrame]:
    """Put the cells of each method together and read them, the chosen ones as repeated."""
    rows: dict[str, list[Cell]] = {}
    for job, cells in jobs.items():
        again = {(cell["what"], cell["n"]): cell for cell in (repeated or {}).get(job.task, [])}
        keys = (borderline or {}).get(job.task, set())
        for cell in cells:
            key = cell["what"], cell["n"]
            best = again.get(key, cell) if key in keys else cell
            rows.setdefault(job.task.method, []).append(best)
    tables = {method: pl.DataFrame(cells) for method, cells in rows.items() if cells}
    return {method: read(cells, few=few(method)) for method, cells in tables.items()}
