"""``plan``, ``why``, ``status``: what is done, what would run and why, for people and programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from pipeline.api.results import Run, steps
from pipeline.api.run import check
from pipeline.api.sweep_check import check_points
from pipeline.cli.options import (
    DEFAULT_RUNS,
    AsJson,
    Config,
    Data,
    Runs,
    Settings,
    print_json,
    settings_of,
)
from pipeline.cli.progress import in_words
from pipeline.cli.sheets import sheet_data, sheet_lines
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.room import shown
from pipeline.runner.config.project import Project
from pipeline.runner.plan.plan import Step
from pipeline.runner.store.underway import Underway, underway

_STATES = {"done": "done", "run": "would run", "unknown": "depends"}


def plan(
    config: Config,
    settings: Settings = None,
    as_json: AsJson = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Say what would run, and why."""
    overrides = settings_of(settings)
    project = check(config, runs=runs, data=data, settings=overrides)
    check_points(project, config, runs=runs, data=data, settings=overrides)
    if as_json:
        print_json(plan_data(project, list(steps(project))))
        return 0
    return print_plan(project)


def print_plan(project: Project) -> int:
    """Print what would happen to each stage."""
    if options := project.experiment.sweep:
        print(f"sweep: {options.size:,} points, all of them checked; without their settings:")
    for step in steps(project):
        rows = f": {_rows(step)}" if step.manifest else ""
        print(f"{_STATES[step.state]:<10} {step.node.name:<24} {step.node.stage.name}{rows}")
        for reason in step.reasons:
            print(f"             {reason}")
    return 0


def plan_data(project: Project, every: Sequence[Step]) -> dict[str, Any]:
    """Return a plan as programs read it; docs/shell.md describes it."""
    sweep = project.experiment.sweep
    return {
        "experiment": project.experiment.name,
        "results": project.storage.location(""),
        "sweep_points": sweep.size if sweep else None,
        "stages": [_step_data(step) for step in every],
    }


def _step_data(step: Step) -> dict[str, Any]:
    made = step.manifest
    return {
        "name": step.node.name,
        "use": step.node.stage.name,
        "state": step.state,
        "reasons": list(step.reasons),
        "tables": {name: table.rows for name, table in made.tables.items()} if made else {},
        "seconds": made.seconds if made else None,
        "created": made.created if made else None,
    }


def _rows(step: Step) -> str:
    tables = step.manifest.tables if step.manifest else {}
    return ", ".join(f"{name} {table.rows:,} rows" for name, table in tables.items())


def why(
    config: Config,
    stage: Annotated[str, typer.Argument(help="Name of the stage.")],
    settings: Settings = None,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Say which part of what a stage rests on has changed, from what to what."""
    project = check(config, runs=runs, data=data, settings=settings_of(settings))
    if stage not in project.nodes:
        remedy = did_you_mean(stage, project.nodes)
        raise ConfigError("why", [Problem(stage, "there is no such stage", remedy)])
    step = next(step for step in steps(project) if step.node.name == stage)
    if step.state == "done":
        print(f"{stage} is done: nothing that it rests on has changed")
    for reason in step.reasons:
        print(f"{stage}: {reason}")
    return 0


def status(
    config: Config,
    settings: Settings = None,
    as_json: AsJson = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Say how far an experiment is."""
    project = check(config, runs=runs, data=data, settings=settings_of(settings))
    every = list(steps(project))
    run = Run(project, {step.node.name: step.manifest for step in every if step.manifest})
    if as_json:
        print_json(status_data(run, every))
        return 0
    for line in _status_lines(run, every):
        print(line)
    return 0


def status_data(run: Run, every: Sequence[Step]) -> dict[str, Any]:
    """Return how far an experiment is as programs read it; docs/shell.md describes it."""
    remarks = [
        {"stage": name, **each.model_dump(mode="json")}
        for name, found in run.remarks.items()
        for each in found
    ]
    page = run.folder / "report" / "index.html"
    return {
        **plan_data(run.project, every),
        "done": len(run.manifests),
        "running": asdict(now) if (now := underway(run.project.storage)) else None,
        **sheet_data(run),
        "remarks": remarks,
        "report": str(page) if page.is_file() else None,
    }


def _underway_line(now: Underway) -> str:
    if not now.stage:
        return f"running    run {now.run}, between two stages"
    far = f"{now.done} of {now.total} shards" if now.unit == "shards" else ""
    far = far or f"{now.done / max(now.total, 1):.0%} of {shown(now.total)} read"
    since = datetime.now(UTC) - datetime.fromisoformat(now.since)
    return f"running    {now.stage:<24} {far}, for {in_words(since.total_seconds())}; run {now.run}"


def _status_lines(run: Run, every: Sequence[Step]) -> Iterator[str]:
    name, done = run.project.experiment.name, len(run.manifests)
    yield f"{name}: {done} of {len(every)} stages done, in {run.project.storage.location('')}"
    if now := underway(run.project.storage):
        yield _underway_line(now)
    for step in every:
        manifest = step.manifest
        spent = f"; {manifest.seconds:.1f} s, {manifest.created[:19]}" if manifest else ""
        detail = f"{_rows(step)}{spent}" if manifest else "; ".join(step.reasons)
        yield f"{_STATES[step.state]:<10} {step.node.name:<24} {detail}".rstrip()
    yield from sheet_lines(run)
    yield from (f"{stage}: {each}" for stage, found in run.remarks.items() for each in found)
    page = run.folder / "report" / "index.html"
    yield f"report: {page}" if page.is_file() else "report: not written yet"
