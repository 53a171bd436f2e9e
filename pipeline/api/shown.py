"""A run in a few words, and as the small page that a notebook shows of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from pipeline.api.markup import grid, short
from pipeline.remarks.remark import LEVELS

if TYPE_CHECKING:
    from pipeline.api.results import Run

_MOST_WAITS = 5
_LONGEST = 200
_STATES = {"skipped": "not run", "reused": "reused", "waits": "waits", "failed": "failed"}


def line(run: Run) -> str:
    """Return a run in a line: how many stages are done, what waits, where the report is."""
    waits = [short(f"{Path(each.file).name} {each.text}") for each in run.waits[:_MOST_WAITS]]
    parts = [f"{run.project.experiment.name}: {_done(run)}", *waits]
    report = [f"report: {run.report}"] if run.report else []
    return f"<Run {'; '.join([*parts, *report])}>"


def page(run: Run) -> str:
    """Return a run as HTML, about 10 kB at the most: stages, what waits, remarks, the report."""
    name = escape(short(run.project.experiment.name))
    below = [escape(text) for text in [*_waits(run), remark_count(run)] if text]
    if run.report:
        below.append(f'<a href="{_address(run.report)}">report</a>')
    table = grid(("stage", "kind", "rows", "state"), _rows(run), right=(2,))
    lines = "".join(f"<div>{each}</div>" for each in below)
    return f"<div><div><b>{name}</b>: {_done(run)}</div>{table}{lines}</div>"


def remark_count(run: Run) -> str:
    """Say how many remarks there are on which stages; nothing if there are none."""
    levels = Counter(each.level for found in run.remarks.values() for each in found)
    counts = [f"{levels[each]:,} {each}{'s' * (levels[each] > 1)}" for each in LEVELS
              if levels[each] and each != "info"]  # fmt: skip
    named = [
        name for name, found in run.remarks.items() if any(each.level != "info" for each in found)
    ]
    return f"remarks: {', '.join(counts)}, on {', '.join(named)}" if counts else ""


def _done(run: Run) -> str:
    done, every = len(run.manifests), len(run.project.nodes)
    return f"{done:,} of {every:,} stage{'s' * (every != 1)} done"


def _waits(run: Run) -> Iterator[str]:
    """Yield a line for each thing that waits for people."""
    for wait in run.waits[:_MOST_WAITS]:
        yield short(f"waiting: {wait}", _LONGEST)
    if (more := len(run.waits) - _MOST_WAITS) > 0:
        yield f"waiting: {more:,} more"


def _rows(run: Run) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, kind, rows of the main table, and state of each stage; what is not done first."""
    nodes = run.project.nodes
    for name in sorted(nodes, key=lambda each: each in run.manifests):
        made, kind = run.manifests.get(name), nodes[name].stage
        rows = f"{made.tables[next(iter(kind.outputs))].rows:,}" if made else ""
        yield name, kind.name, rows, _state(run, name)


def _state(run: Run, name: str) -> str:
    record = run.record.stages.get(name) if run.record else None
    why = run.why_not(name)
    word = _STATES.get(record.outcome if record else "", "done" if not why else "not done")
    if not why or not record or why.startswith(word):
        return why if record and why else word
    return f"{word}: {why}"


def _address(report: Path) -> str:
    return report.as_uri() if report.is_absolute() else quote(report.as_posix())
