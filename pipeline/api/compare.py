"""The page that compares two runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from pipeline.api.results import (
    ReportOptions,
    Run,
    colours_of_names,
    gone,
    names_of,
    past_run,
    shown_stage,
)
from pipeline.errors import ConfigError
from pipeline.findings.base import StageFinding
from pipeline.report.diff_page import DiffInput, Side, StageCompared, TableRows, diff_page
from pipeline.report.page.model import ReportStage
from pipeline.report.view import VIEWS, format_cell
from pipeline.runner.diff import (
    StageDifference,
    TableDifference,
    columns_text,
    settings_pairs,
    stages_differ,
)
from pipeline.runner.store.history import RunRecord
from pipeline.runner.store.interface import Storage

LONGEST = 300
"""Characters to show of a value."""


class _Both(NamedTuple):
    """The two runs, and the sections of their reports."""

    runs: tuple[Run, Run]
    options: tuple[ReportOptions, ReportOptions]


def compare(
    first: tuple[Storage, RunRecord], second: tuple[Storage, RunRecord], *, runs: Path
) -> bytes:
    """Return an HTML page that compares two runs.

    Results that are no longer in the store are named, not compared.

    Parameters
    ----------
    first, second : (Storage, RunRecord)
        Store and record of each run, from `history.find`.
    runs : Path
        Folder of all results.

    Raises
    ------
    ConfigError
        If this version cannot read the experiment of a run.
    """
    both = _Both(*zip(*(_opened(each, runs) for each in (first, second)), strict=True))
    stages = list(stages_differ(first, second))
    differing = {each.stage for each in stages}
    names = sorted({name for run in both.runs for name in names_of(run)})
    colours = both.options[0].colours | both.options[1].colours
    every = dict.fromkeys([*first[1].stages, *second[1].stages])
    return diff_page(
        DiffInput(
            first=_side(both.runs[0]),
            second=_side(both.runs[1]),
            settings=[
                (path, _value(one), _value(other))
                for path, one, other in settings_pairs(first[1].content, second[1].content)
            ],
            stages=[_stage(each, both) for each in stages],
            equal=tuple(name for name in every if name not in differing),
            style=both.options[1].style,
            slots=colours_of_names(names, colours),
            provenance={
                f"Experiment of the {side} run": _text(record.content)
                for side, (_, record) in (("first", first), ("second", second))
            },
        )
    )


def _opened(each: tuple[Storage, RunRecord], runs: Path) -> tuple[Run, ReportOptions]:
    run = past_run(*each, runs=runs)
    try:
        return run, ReportOptions.model_validate(run.project.experiment.report)
    except ValueError:  # from an older version
        return run, ReportOptions()


def _side(run: Run) -> Side:
    record = run.record
    if record is None:
        return Side(run.project.experiment.name, "")
    when = record.started.replace("T", " ")[:16]
    name = f"{record.experiment}:{record.id}"
    return Side(name, f"started {when}, {record.outcome}", _findings(run), tuple(gone(run)))


def _findings(run: Run) -> tuple[StageFinding, ...]:
    """Return the findings of a run; none if this version cannot read its tables."""
    try:
        return run.told
    except (ConfigError, pl.exceptions.PolarsError):
        return ()


def _stage(each: StageDifference, both: _Both) -> StageCompared:
    shown = (_shown(each.stage, both.runs[0], both.options[0]),
             _shown(each.stage, both.runs[1], both.options[1]))  # fmt: skip
    tables = tuple(_table_rows(table) for table in each.tables)
    return StageCompared(each.stage, _title(each.stage, both), each.reasons, tables, shown)


def _title(stage: str, both: _Both) -> str:
    """Return the title of a stage, with its name if that differs."""
    for run in reversed(both.runs):
        if node := run.project.nodes.get(stage):
            known = node.stage.name in VIEWS
            title = node.title or (VIEWS.get(node.stage.name).title if known else "")
            return f"{title} ({stage})" if title else stage
    return stage


def _shown(stage: str, run: Run, options: ReportOptions) -> ReportStage | None:
    """Return a stage for the report; None if it has no view or no results."""
    if stage not in run.manifests or (options.stages and stage not in options.stages):
        return None
    try:
        return shown_stage(run, stage, options)
    except ValueError:  # options of a view from an older version
        return shown_stage(run, stage, ReportOptions())


def _table_rows(found: TableDifference) -> TableRows:
    return TableRows(
        found.table,
        found.only_first,
        found.only_second,
        found.changed,
        tuple(_examples(found)),
        columns_text(found.columns),
    )


def _examples(found: TableDifference) -> Iterator[tuple[str, str, str]]:
    for what, keys in (("gone", found.gone), ("new", found.new)):
        yield from ((what, _row(key), "") for key in keys)
    for each in found.examples:
        values = (
            f"{name}: {format_cell(a)} → {format_cell(b)}" for name, (a, b) in each.values.items()
        )
        yield "changed", _row(each.key), "; ".join(values)


def _row(key: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {format_cell(value)}" for name, value in key.items())


def _value(value: Any) -> str:
    said = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"


def _text(content: Mapping[str, Any] | Sequence[Any]) -> str:
    return json.dumps(content, indent=1, default=str, ensure_ascii=False)
