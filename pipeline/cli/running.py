"""``run``, ``plan``, ``why``, ``status``, ``gc``: act on an experiment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console

from pipeline.api.report import add_report
from pipeline.api.results import Run, perform, steps
from pipeline.api.run import check
from pipeline.api.sweep import points, sweep
from pipeline.api.sweep_check import check_points
from pipeline.cli.options import DEFAULT_RUNS, Config, Data, Runs, Settings, settings_of
from pipeline.cli.progress import RunProgress
from pipeline.cli.sheets import sheet_lines
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.remarks.remark import LEVELS
from pipeline.runner.config.project import Project
from pipeline.runner.events import Listener
from pipeline.runner.plan.plan import Step
from pipeline.runner.store.garbage import collect, garbage

_WAITS = 3
_STATES = {"done": "done", "run": "would run", "unknown": "depends"}


def run(
    config: Config,
    settings: Settings = None,
    force: Annotated[
        list[str] | None,
        typer.Option("--force", metavar="STAGE", help="Run this stage even if it is done."),
    ] = None,
    dry: Annotated[bool, typer.Option("--dry", help="Check and plan only.")] = False,
    report: Annotated[bool, typer.Option(help="Write the report.")] = True,
    deliver: Annotated[
        bool | None,
        typer.Option(help="Write sheets and lists for people; by default not with --set."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Take warnings on the data for errors.")
    ] = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Run an experiment: every stage that is not done yet, then the report."""
    overrides = settings_of(settings)
    project = check(config, runs=runs, data=data, settings=overrides)
    if dry:
        check_points(project, config, runs=runs, data=data, settings=overrides)
        return _print_plan(project)
    console = Console(stderr=True)
    if project.experiment.sweep:
        say = _say(console)
        folder = sweep(
            config,
            runs=runs,
            data=data,
            settings=overrides,
            deliver=bool(deliver),
            strict=strict,
            say=say,
        )
        print(f"sweep: {folder}")
        return 0
    with RunProgress(console, stages=len(project.nodes)) as progress:
        done = perform(
            project,
            settings=overrides,
            force=force or (),
            deliver=deliver,
            strict=strict,
            listeners=[progress],
        )
        done = add_report(done, [progress]) if report else done
    return _conclude(done)


def _say(console: Console) -> Callable[[str], None]:
    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    return say


def _teller(console: Console) -> Listener:
    say = _say(console)
    return lambda event: say(str(event.facts.get("text", event.kind)))


def _conclude(done: Run) -> int:
    if done.report:
        print(f"report: {done.report}")
    for wait in done.waits:
        print(f"waiting: {wait}")
    if text := remark_count(done):
        print(text)
    return _WAITS if done.waits else 0


def remark_count(done: Run) -> str:
    """Say how many remarks there are on which stages; nothing if there are none."""
    levels = Counter(each.level for found in done.remarks.values() for each in found)
    counts = [f"{levels[each]:,} {each}{'s' * (levels[each] > 1)}" for each in LEVELS
              if levels[each] and each != "info"]  # fmt: skip
    named = [
        name for name, found in done.remarks.items() if any(each.level != "info" for each in found)
    ]
    return f"remarks: {', '.join(counts)}, on {', '.join(named)}" if counts else ""


def plan(
    config: Config, settings: Settings = None, runs: Runs = DEFAULT_RUNS, data: Data = None
) -> int:
    """Say what would run, and why."""
    overrides = settings_of(settings)
    project = check(config, runs=runs, data=data, settings=overrides)
    check_points(project, config, runs=runs, data=data, settings=overrides)
    return _print_plan(project)


def _print_plan(project: Project) -> int:
    if options := project.experiment.sweep:
        print(f"sweep: {options.size:,} points, all of them checked; without their settings:")
    for step in steps(project):
        rows = f": {_rows(step)}" if step.manifest else ""
        print(f"{_STATES[step.state]:<10} {step.node.name:<24} {step.node.stage.name}{rows}")
        for reason in step.reasons:
            print(f"             {reason}")
    return 0


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
    config: Config, settings: Settings = None, runs: Runs = DEFAULT_RUNS, data: Data = None
) -> int:
    """Say how far an experiment is."""
    project = check(config, runs=runs, data=data, settings=settings_of(settings))
    every = list(steps(project))
    done = [step for step in every if step.manifest]
    print(f"{project.experiment.name}: {len(done)} of {len(every)} stages done, in {project.root}")
    for step in every:
        manifest = step.manifest
        spent = f"; {manifest.seconds:.1f} s, {manifest.created[:19]}" if manifest else ""
        detail = f"{_rows(step)}{spent}" if manifest else "; ".join(step.reasons)
        print(f"{_STATES[step.state]:<10} {step.node.name:<24} {detail}".rstrip())
    artefacts = {step.node.name: step.manifest for step in every if step.manifest}
    run = Run(project, artefacts)
    for line in sheet_lines(run):
        print(line)
    for name, remarks in run.remarks.items():
        for each in remarks:
            print(f"{name}: {each}")
    page = project.root / "report" / "index.html"
    print(f"report: {page}" if page.is_file() else "report: not written yet")
    return 0


def gc(
    config: Config,
    settings: Settings = None,
    dry: Annotated[bool, typer.Option("--dry", help="Say what would go, remove nothing.")] = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Remove results that the experiment, as it is now, does not use."""
    overrides = settings_of(settings)
    project = check(config, runs=runs, data=data, settings=overrides)
    keep: set[str] = set()
    unknown: set[str] = set()
    for point in points(project, overrides):
        for step in steps(check(config, runs=runs, data=data, settings=point)):
            keep |= step.fingerprints
            unknown |= set() if step.manifest else {step.node.name}
    if unknown:
        names = ", ".join(sorted(unknown))
        print(f"kept: all results of {names}: not done, so what they will reuse is not known yet")
    tell, storage = [_teller(Console(stderr=True))], project.storage
    gone = list(garbage(storage, keep, unknown)) if dry else collect(storage, keep, unknown, tell)
    for each in gone:
        print(f"{each.size / 1e6:10,.2f} MB  {each.path}  ({each.reason})")
    verb = "would go" if dry else "removed"
    print(f"{sum(each.size for each in gone) / 1e6:10,.2f} MB  {verb}, {len(gone)} folder(s)")
    return 0
