"""``tasks``, ``task``, ``slurm``: a stage one task at a time, for a queue of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pipeline.api import batch
from pipeline.cli import output
from pipeline.cli.options import (
    DEFAULT_RUNS,
    AsJson,
    Config,
    Data,
    Quiet,
    Runs,
    Settings,
    print_json,
    settings_of,
)
from pipeline.errors import ConfigError, Problem
from pipeline.runner.execution.batch import PhaseState
from pipeline.runner.execution.ranges import in_words

_WHAT = {
    "run": "make a part of the result each",
    "count": "count a shard each",
    "merge": "add up what the shards counted, a bucket each",
    "counts": "puts the counts together",
    "sum": "sum up over all buckets, some columns each",
    "combine": "make the result of a bucket of the counts each",
    "result": "puts the result together",
}
StageName = Annotated[str, typer.Argument(metavar="STAGE", help="Name of the stage.")]


def tasks(
    config: Config,
    stage: StageName,
    as_json: AsJson = False,
    settings: Settings = None,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """List the tasks of a stage, phase by phase, for a queue of jobs."""
    found = batch.tasks(config, stage, runs=runs, data=data, settings=settings_of(settings))
    if as_json:
        print_json({"stage": stage, "phases": [asdict(each) for each in found]})
    else:
        _print(stage, found)
    return 0


def task(
    config: Config,
    stage: StageName,
    index: Annotated[int, typer.Argument(metavar="I", help="Number of the task, see tasks.")],
    settings: Settings = None,
    quiet: Quiet = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Do one task of a stage, unless it is done."""
    console = Console(stderr=True, quiet=quiet)
    worked = batch.task(
        config,
        stage,
        index,
        runs=runs,
        data=data,
        settings=settings_of(settings),
        listeners=[lambda event: console.print(event.facts.get("text", ""), markup=False)],
    )
    if not quiet:
        print(f"{stage}: task {index} {'done' if worked else 'was done before'}")
    return 0


def slurm(
    config: Config,
    stage: StageName,
    to: Annotated[
        Path | None,
        typer.Option("--output", help="Write to this file, which must not be there yet."),
    ] = None,
    time: Annotated[
        str | None, typer.Option("--time", help="Limit of each task, such as 2:00:00.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", help="Memory of each task, such as 4G.")
    ] = None,
    partition: Annotated[
        str | None, typer.Option("--partition", help="Where the tasks run.")
    ] = None,
    settings: Settings = None,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Write a script that submits the tasks of a stage to Slurm; never over a file."""
    if to:
        _require_free(to)
    made = batch.slurm(
        config,
        stage,
        runs=runs,
        data=data,
        settings=settings_of(settings),
        time=time,
        memory=memory,
        partition=partition,
    )
    if not made:
        Console(stderr=True).print(f"{stage} is done: nothing to submit", markup=False)
    elif to:
        with output.writing(to), to.open("x", encoding="utf-8") as file:
            file.write(made)
        print(f"script: {to}")
    else:
        print(made, end="")
    return 0


def _print(stage: str, phases: Sequence[PhaseState]) -> None:
    total, left = phases[-1].last + 1, sum(len(phase.todo) for phase in phases)
    print(f"{stage}: {total:,} task(s), {total - left:,} done")
    for phase in phases:
        numbers = in_words(range(phase.first, phase.last + 1))
        print(f"  {phase.phase:<8} {numbers:<12} {_WHAT[phase.phase]:<48} {_state(phase)}")


def _state(phase: PhaseState) -> str:
    if not phase.todo:
        return "done"
    if not phase.ready:
        return "after the phase before"
    every = len(phase.todo) == phase.last - phase.first + 1
    return "to do" if every else f"to do: {in_words(phase.todo)}"


def _require_free(to: Path) -> None:
    """Refuse to write over a file, or into a folder that is not there."""
    with output.writing(to):
        if to.exists() or to.is_symlink():
            problem = Problem(str(to), "is there already", "name another file, or remove it")
            raise ConfigError("--output", [problem])
    output.require_place(to, overwrite=False)
