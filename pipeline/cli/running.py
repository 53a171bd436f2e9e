"""``run``, ``gc``: act on an experiment."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pipeline.api.report import PAGE, add_report
from pipeline.api.results import Run, perform, steps
from pipeline.api.run import check
from pipeline.api.shown import remark_count
from pipeline.api.sweep import points, sweep
from pipeline.api.sweep_check import check_points
from pipeline.cli.options import (
    DEFAULT_RUNS,
    Config,
    Data,
    Quiet,
    Runs,
    Settings,
    settings_of,
)
from pipeline.cli.progress import RunProgress
from pipeline.cli.states import print_plan
from pipeline.runner.events import Listener
from pipeline.runner.store.garbage import Garbage, collect, garbage

_WAITS = 3


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
    quiet: Quiet = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Run an experiment: every stage that is not done yet, then the report."""
    overrides = settings_of(settings)
    project = check(config, runs=runs, data=data, settings=overrides)
    if dry:
        check_points(project, config, runs=runs, data=data, settings=overrides)
        return print_plan(project)
    console = Console(stderr=True, quiet=quiet)
    if project.experiment.sweep:
        say = _say(console)
        folder = sweep(
            config,
            runs=runs,
            data=data,
            settings=overrides,
            deliver=bool(deliver),
            strict=strict,
            report=report,
            say=say,
        )
        if not quiet:
            print(f"sweep: {folder}")
            if report and project.experiment.sweep.report:
                print(f"report: {folder / PAGE}")
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
    # With --set other sheets may be meant than those that the pages are for.
    return _conclude(done, quiet=quiet, config=None if overrides else config)


def _say(console: Console) -> Callable[[str], None]:
    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    return say


def _teller(console: Console) -> Listener:
    say = _say(console)
    return lambda event: say(str(event.facts.get("text", event.kind)))


def _conclude(done: Run, *, quiet: bool, config: Path | None) -> int:
    if done.report and not quiet:
        print(f"report: {done.report}")
    for wait in done.waits:
        print(f"waiting: {wait}")
    if config and done.waits and not quiet:
        print(f"in the browser: lexassay annotate {shlex.quote(str(config))}")
    if (text := remark_count(done)) and not quiet:
        print(text)
    return _WAITS if done.waits else 0


def gc(
    config: Config,
    settings: Settings = None,
    dry: Annotated[bool, typer.Option("--dry", help="Say what would go, remove nothing.")] = False,
    quiet: Quiet = False,
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
    tell = [_teller(Console(stderr=True, quiet=quiet))]
    storage = project.storage
    gone = list(garbage(storage, keep, unknown)) if dry else collect(storage, keep, unknown, tell)
    if not quiet:
        _print_gone(gone, unknown, verb="would go" if dry else "removed")
    return 0


def _print_gone(gone: Sequence[Garbage], unknown: Collection[str], *, verb: str) -> None:
    if unknown:
        names = ", ".join(sorted(unknown))
        print(f"kept: all results of {names}: not done, so what they will reuse is not known yet")
    for each in gone:
        print(f"{each.size / 1e6:10,.2f} MB  {each.path}  ({each.reason})")
    print(f"{sum(each.size for each in gone) / 1e6:10,.2f} MB  {verb}, {len(gone)} folder(s)")
