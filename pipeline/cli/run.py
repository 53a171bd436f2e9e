"""Commands that run an experiment or a task of it, report its state, or start a new one."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from pipeline.api import run as api
from pipeline.api.report import add_report, leading_findings
from pipeline.api.results import Run, remark_count, run_stages, steps
from pipeline.api.run import check
from pipeline.api.sweep import check_points, missing_points, points, sweep
from pipeline.cli import output
from pipeline.cli.inspect import NO_RESULTS, has_results, sheet_data, sheet_lines
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
from pipeline.cli.output import RunProgress, duration_text, row_counts
from pipeline.errors import (
    ConfigError,
    Interruption,
    LexassayError,
    PointsFailed,
    Problem,
    did_you_mean,
)
from pipeline.formats.base import FORMATS
from pipeline.formats.compression import without_suffix
from pipeline.formats.content import table_format
from pipeline.memory import format_bytes
from pipeline.runner.config import Experiment
from pipeline.runner.events import Listener
from pipeline.runner.graph import TITLE, Project
from pipeline.runner.plan import NEVER, Step
from pipeline.runner.problems import require_stage
from pipeline.runner.run import PhaseState
from pipeline.runner.shards import range_text
from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.history import (
    PAGE,
    CurrentRun,
    Garbage,
    RunRecord,
    collect,
    current_run,
    garbage,
    newest_first,
)
from pipeline.stages.base import STAGES

# ``tasks``, ``task``, ``slurm``

_PHASES = {
    "run": "each makes a part of the result",
    "count": "each counts a shard",
    "merge": "each adds up the counts of a bucket",
    "counts": "joins the counts",
    "sum": "each sums columns over all buckets",
    "combine": "each makes the result of a bucket",
    "result": "joins the result",
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
    """List the tasks of a stage, by phase, for a job queue."""
    phases = api.tasks(config, stage, runs=runs, data=data, settings=settings_of(settings))
    if as_json:
        print_json({"stage": stage, "phases": [asdict(each) for each in phases]})
    else:
        _print(stage, phases)
    return 0


def task(
    config: Config,
    stage: StageName,
    index: Annotated[int, typer.Argument(metavar="I", help="Number of the task (see tasks).")],
    settings: Settings = None,
    quiet: Quiet = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Run one task of a stage unless it is done."""
    console = Console(stderr=True, quiet=quiet)
    worked = api.task(
        config,
        stage,
        index,
        runs=runs,
        data=data,
        settings=settings_of(settings),
        listeners=[lambda event: console.print(event.facts.get("text", ""), markup=False)],
    )
    if not quiet:
        print(f"{stage}: task {index} {'done' if worked else 'was already done'}")
    return 0


def slurm(
    config: Config,
    stage: StageName,
    to: Annotated[
        Path | None,
        typer.Option("--output", help="Output file; must not exist yet."),
    ] = None,
    time: Annotated[
        str | None, typer.Option("--time", help="Time limit per task: 2:00:00.")
    ] = None,
    memory: Annotated[str | None, typer.Option("--memory", help="Memory per task: 4G.")] = None,
    partition: Annotated[str | None, typer.Option("--partition", help="Slurm partition.")] = None,
    settings: Settings = None,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Write a script that submits the tasks of a stage to Slurm."""
    if to:
        _require_free(to)
    text = api.slurm(
        config,
        stage,
        runs=runs,
        data=data,
        settings=settings_of(settings),
        time=time,
        memory=memory,
        partition=partition,
    )
    if not text:
        Console(stderr=True).print(f"{stage} is done: nothing to submit", markup=False)
    elif to:
        with output.writing(to), to.open("x", encoding="utf-8") as file:
            file.write(text)
        print(f"script: {to}")
    else:
        print(text, end="")
    return 0


def _print(stage: str, phases: Sequence[PhaseState]) -> None:
    total, rest = phases[-1].last + 1, sum(len(phase.todo) for phase in phases)
    print(f"{stage}: {total:,} task{'s' * (total != 1)}, {total - rest:,} done")
    for phase in phases:
        numbers = range_text(range(phase.first, phase.last + 1))
        print(f"  {phase.phase:<8} {numbers:<12} {_PHASES[phase.phase]:<48} {_state(phase)}")


def _state(phase: PhaseState) -> str:
    if not phase.todo:
        return "done"
    if not phase.ready:
        return "after the previous phase"
    every = len(phase.todo) == phase.last - phase.first + 1
    return "to do" if every else f"to do: {range_text(phase.todo)}"


def _require_free(to: Path) -> None:
    """Refuse an existing file and a missing folder."""
    with output.writing(to):
        if to.exists() or to.is_symlink():
            problem = Problem(str(to), "already exists", "choose another file or remove it")
            raise ConfigError("--output", [problem])
    output.require_place(to, overwrite=False)


# ``plan``, ``why``, ``status``

_POINTS = 3
"""Missing points of a sweep that are named."""
_STATES = {"done": "done", "run": "would run", "unknown": "depends"}


def plan(
    config: Config,
    settings: Settings = None,
    as_json: AsJson = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Show which stages would run, and why."""
    overrides = settings_of(settings)
    project = check(config, runs=runs, data=data, settings=overrides, stored=True)
    check_points(project, config, runs=runs, data=data, settings=overrides)
    missing = missing_points(project, config, runs=runs, data=data, settings=overrides)
    if as_json:
        print_json(plan_data(project, list(steps(project)), missing))
        return 0
    return print_plan(project, missing)


def print_plan(project: Project, missing: Sequence[str]) -> int:
    """Print what a run would do with each stage, and the points of a sweep that are missing."""
    if options := project.experiment.sweep:
        number = len(options.combinations())
        print(f"sweep: {number:,} points, all checked; {_done_points(number, missing)}")
        print("the stages without the settings of the sweep:")
    for step in steps(project):
        rows = f": {counts}" if (counts := _rows(step)) else ""
        print(f"{_STATES[step.state]:<10} {step.node.name:<24} {step.node.stage.name}{rows}")
        for reason in step.reasons:
            print(f"             {reason}")
    return 0


def _done_points(number: int, missing: Sequence[str]) -> str:
    """Return how many points are done, and the first of the others."""
    first = "; ".join(missing[:_POINTS]) + ("; ..." if len(missing) > _POINTS else "")
    return f"{number - len(missing):,} done" + (f", missing: {first}" if missing else "")


def plan_data(project: Project, every: Sequence[Step], missing: Sequence[str]) -> dict[str, Any]:
    """Return a plan as data for JSON; docs/shell.md describes it."""
    sweep = project.experiment.sweep
    return {
        "experiment": project.experiment.name,
        "results": project.storage.location(""),
        "sweep_points": len(sweep.combinations()) if sweep else None,
        "sweep_missing": list(missing) if sweep else None,
        "stages": [_step_data(step) for step in every],
    }


def _step_data(step: Step) -> dict[str, Any]:
    manifest = step.manifest
    return {
        "name": step.node.name,
        "use": step.node.stage.name,
        "state": step.state,
        "reasons": list(step.reasons),
        "tables": {name: table.rows for name, table in manifest.tables.items()} if manifest else {},
        "seconds": manifest.seconds if manifest else None,
        "created": manifest.created if manifest else None,
    }


def _rows(step: Step) -> str:
    tables = step.manifest.tables if step.manifest else {}
    return row_counts({name: table.rows for name, table in tables.items()})


def why(
    config: Config,
    stage: Annotated[str, typer.Argument(help="Name of the stage.")],
    settings: Settings = None,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Show what has changed since a stage last ran."""
    project = check(config, runs=runs, data=data, settings=settings_of(settings), stored=True)
    require_stage(stage, project.nodes, "why")
    step = next(step for step in steps(project) if step.node.name == stage)
    if step.state == "done":
        print(f"{stage} is done: nothing has changed")
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
    """Show the state of an experiment."""
    overrides = settings_of(settings)
    project = check(config, runs=runs, data=data, settings=overrides, stored=True)
    missing = missing_points(project, config, runs=runs, data=data, settings=overrides)
    every = list(steps(project))
    run = Run(project, {step.node.name: step.manifest for step in every if step.manifest})
    if as_json:
        print_json(status_data(run, every, missing))
        return 0
    for line in _status_lines(run, every, missing):
        print(line)
    return 0


def status_data(run: Run, every: Sequence[Step], missing: Sequence[str]) -> dict[str, Any]:
    """Return the state of an experiment as data for JSON; docs/shell.md describes it."""
    remarks = [
        {"stage": name, **each.model_dump(mode="json")}
        for name, group in run.remarks.items()
        for each in group
    ]
    page = run.folder / "report" / "index.html"
    return {
        **plan_data(run.project, every, missing),
        "done": len(run.manifests),
        "running": asdict(now) if (now := current_run(run.project.storage)) else None,
        **sheet_data(run),
        "remarks": remarks,
        "report": str(page) if page.is_file() else None,
    }


def _running_line(now: CurrentRun) -> str:
    if not now.stage:
        return f"running    run {now.run}, between stages"
    far = f"{now.done} of {now.total} shards" if now.unit == "shards" else ""
    far = far or f"{now.done / max(now.total, 1):.0%} of {format_bytes(now.total)} read"
    since = datetime.now(UTC) - datetime.fromisoformat(now.since)
    duration = duration_text(since.total_seconds())
    return f"running    {now.stage:<24} {far}, for {duration}; run {now.run}"


def _status_lines(run: Run, every: Sequence[Step], missing: Sequence[str]) -> Iterator[str]:
    name, count = run.project.experiment.name, len(run.manifests)
    place = run.project.storage.location("")
    nothing = "" if count or has_results(run.project) else f"; {NO_RESULTS}"
    yield f"{name}: {count} of {len(every)} stages done, in {place}{nothing}"
    if options := run.project.experiment.sweep:
        number = len(options.combinations())
        yield f"sweep: {number:,} points, {_done_points(number, missing)}"
    if now := current_run(run.project.storage):
        yield _running_line(now)
    last = next(newest_first(run.project.storage), None)
    for step in every:
        manifest = step.manifest
        notes: Sequence[str] = step.reasons
        if not manifest and (outcome := _last_outcome(last, step.node.name)):
            notes = [outcome, *(reason for reason in notes if reason != NEVER)]
        if manifest:
            created = datetime.fromisoformat(manifest.created)
            notes = [f"{manifest.seconds:.1f} s, {created:%Y-%m-%d %H:%M} UTC"]
        detail = "; ".join(filter(None, [_rows(step), *notes]))
        yield f"{_STATES[step.state]:<10} {step.node.name:<24} {detail}".rstrip()
    yield from sheet_lines(run)
    if last:
        for stage, record in last.stages.items():
            unmade = stage in run.project.nodes and stage not in run.manifests
            if record.outcome == "waits" and unmade:
                yield f"{'waited':<10} {stage:<24} {record.note}"
    yield from (f"{stage}: {each}" for stage, group in run.remarks.items() for each in group)
    page = run.folder / "report" / "index.html"
    if not page.is_file():
        yield "report: not yet written"
        return
    older = last is not None and last.outcome == "failed"  # that run wrote none
    yield f"report: {page}" + ("; older than the last run, which failed" if older else "")


def _last_outcome(last: RunRecord | None, stage: str) -> str:
    """Return that a stage waited or failed in the last run, with its first error; else nothing."""
    record = None if last is None else last.stages.get(stage)
    if record is None or record.outcome not in {"waits", "failed"}:
        return ""
    if record.outcome == "waits":
        return "it waited in the last run"
    text, *problems = record.reason(stage).splitlines() or [""]
    if problems and re.fullmatch(r"\d+ errors|.*:", text):  # a line for each error follows
        first = problems[0].strip(" -")
        text = f"{text} {first}" if text.endswith(":") else first
    return f"it failed in the last run: {text}"


_WAITS = 3


def run(
    config: Config,
    settings: Settings = None,
    force: Annotated[
        list[str] | None,
        typer.Option("--force", metavar="STAGE", help="Rerun this stage even if it is done."),
    ] = None,
    dry: Annotated[bool, typer.Option("--dry", help="Only check and plan.")] = False,
    report: Annotated[bool, typer.Option(help="Write the report.")] = True,
    deliver: Annotated[
        bool | None,
        typer.Option(help="Write sheets and lists for people; default: unless --set is given."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Treat data warnings as errors.")
    ] = False,
    quiet: Quiet = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Run the stages of an experiment that are not done, and write the report."""
    overrides = settings_of(settings)
    project = check(config, runs=runs, data=data, settings=overrides)
    if dry:
        check_points(project, config, runs=runs, data=data, settings=overrides)
        missing = missing_points(project, config, runs=runs, data=data, settings=overrides)
        return print_plan(project, missing)
    console = Console(stderr=True, quiet=quiet)
    if project.experiment.sweep:
        say = _printer(console)
        swept = sweep(
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
            print(f"sweep: {swept.folder}")
            if report and project.experiment.sweep.report:
                print(f"report: {swept.folder / PAGE}")
        if swept.failed:
            raise PointsFailed(swept.failed, len(swept.points))
        return _WAITS if swept.conflicts else 0
    with RunProgress(console, stages=len(project.nodes)) as progress:
        with _mention_older_report(project, console):
            result = run_stages(
                project,
                settings=overrides,
                force=force or (),
                deliver=deliver,
                strict=strict,
                listeners=[progress],
            )
        result = add_report(result, [progress]) if report else result
    # With --set the sheets may differ from those that the pages serve.
    return _conclude(result, quiet=quiet, config=None if overrides else config)


@contextmanager
def _mention_older_report(project: Project, console: Console) -> Iterator[None]:
    """If a run fails, say that the report that exists is that of an earlier run."""
    try:
        yield
    except LexassayError as error:
        page = project.folder / "report" / "index.html"
        if page.is_file() and not isinstance(error, Interruption):
            _printer(console)(f"the report is not written again: {page} is of an earlier run")
        raise


def _printer(console: Console) -> Callable[[str], None]:
    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    return say


def _print_events(console: Console) -> Listener:
    say = _printer(console)
    return lambda event: say(str(event.facts.get("text", event.kind)))


_FINDINGS = 3
"""Findings printed after a run; the report and `show CONFIG findings` have all."""


def _conclude(result: Run, *, quiet: bool, config: Path | None) -> int:
    if result.report and not quiet:
        for text in leading_findings(result)[:_FINDINGS]:
            print(text)
        print(f"report: {result.report}")
    for wait in result.waits:
        print(wait)
    if config and result.waits and not quiet:
        print(f"in the browser: lexassay annotate {shlex.quote(str(config))}")
    if (text := remark_count(result)) and not quiet:
        print(text)
    return _WAITS if result.waits else 0


def gc(
    config: Config,
    settings: Settings = None,
    dry: Annotated[bool, typer.Option("--dry", help="List what would be removed.")] = False,
    quiet: Quiet = False,
    runs: Runs = DEFAULT_RUNS,
    data: Data = None,
) -> int:
    """Remove results that the experiment no longer uses."""
    overrides = settings_of(settings)
    project = check(config, runs=runs, data=data, settings=overrides)
    keep: set[str] = set()
    unknown: set[str] = set()
    discarded = project.experiment.sweep.discard if project.experiment.sweep else ()
    for point in points(project, overrides):
        for step in steps(check(config, runs=runs, data=data, settings=point), discarded):
            keep |= step.fingerprints
            unknown |= set() if step.manifest else {step.node.name}
    log = [_print_events(Console(stderr=True, quiet=quiet))]
    storage = project.storage
    items = list(garbage(storage, keep, unknown)) if dry else collect(storage, keep, unknown, log)
    if not quiet:
        _print_gone(items, unknown, verb="would be removed" if dry else "removed")
    return 0


def _print_gone(items: Sequence[Garbage], unknown: Collection[str], *, verb: str) -> None:
    if unknown:
        names = ", ".join(sorted(unknown))
        print(f"kept: all results of {names}, which are not done and may reuse them")
    for each in items:
        print(f"{each.size / 1e6:10,.2f} MB  {each.path}  ({each.reason})")
    count = f"{len(items)} folder{'s' * (len(items) != 1)}"
    print(f"{sum(each.size for each in items) / 1e6:10,.2f} MB  {verb}, {count}")


# ``new`` and ``schema``

_STARTERS = files("pipeline.cli") / "starters"


def new(
    family: Annotated[
        str,
        typer.Argument(help="corpus, collocations, clustering or lexicon [asks]."),
    ] = "",
    folder: Annotated[Path, typer.Argument(help="Folder to write to.")] = Path(),
    inputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="FILE", help="A file or folder of your own to evaluate; repeatable."
        ),
    ] = None,
) -> int:
    """Write a commented experiment to start from.

    With --from it evaluates your own files: a corpus; a table of candidates; a gold standard and
    systems; dictionaries and a lexicon. Columns, attributes and relations are filled in.
    """
    known = families()
    family = family or _ask_family(known)
    if family not in known:
        what, remedy = f"unknown family {family!r}", did_you_mean(family, known)
        raise ConfigError("new", [Problem("FAMILY", what, remedy)])
    if inputs:
        from pipeline.recipes.templates import experiment_template

        corpora = [path for path in inputs if _is_corpus(path)]
        if corpora and family == "collocations":
            is_ = "is a folder" if corpora[0].is_dir() else "is a corpus"
            what = f"{corpora[0]} {is_}, and {family} begins with a table of candidates"
            remedy = f"for a corpus: lexassay new corpus NAME --from {shlex.quote(str(corpora[0]))}"
            raise ConfigError("new", [Problem("--from", what, remedy)])
        try:
            contents = {"experiment.toml": experiment_template(family, inputs, folder).encode()}
        except ConfigError as error:
            problems = [
                replace(each, where="--from") if each.where == "PATH" else each
                for each in error.problems
            ]
            raise ConfigError("new", problems) from error
    else:
        contents = {each.name: each.read_bytes() for each in known[family].iterdir()}
    there = [name for name in contents if (folder / name).exists()]
    if there:
        what = f"{', '.join(sorted(there))} already exist{'s' * (len(there) == 1)}"
        raise ConfigError("new", [Problem(str(folder), what, "choose another folder")])
    _write(folder, contents)
    print(f"lexassay run {shlex.quote(str(folder / 'experiment.toml'))}")
    return 0


def _is_corpus(path: Path) -> bool:
    """Return true for a folder, and for a file that only a corpus reader can read."""
    if path.is_dir():
        return True
    name = without_suffix(path.name)
    if name.endswith(".txt"):
        return path.is_file() and table_format(path) is None
    formats = map(FORMATS.get, FORMATS)
    return {each.kind for each in formats if name.endswith(tuple(each.suffixes))} == {"corpus"}


def _ask_family(known: Iterable[str]) -> str:
    """Ask for the family if standard input is a terminal."""
    if not sys.stdin.isatty():
        raise ConfigError(
            "new", [Problem("FAMILY", "is missing", f"give one of {', '.join(known)}")]
        )
    return str(typer.prompt(f"Family ({', '.join(known)})")).strip()


def families() -> dict[str, Traversable]:
    """Return the folder of template files of each family."""
    folders = {each.name: each for each in _STARTERS.iterdir() if each.is_dir()}
    return dict(sorted(folders.items()))


def _write(folder: Path, contents: Mapping[str, bytes]) -> None:
    storage = storage_at(folder, remedy="choose another folder")
    with storage.explain_errors("new", ""):
        for name, starter in sorted(contents.items()):
            storage.write(name, starter)
            print(f"wrote {folder / name}")


def schema() -> int:
    """Print the JSON Schema of experiments, for editors."""
    print(json.dumps(json_schema(), indent=2))
    return 0


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of experiments, with every registered kind of stage."""
    whole = Experiment.model_json_schema()
    definitions = whole.setdefault("$defs", {})
    kinds = []
    for name in STAGES:
        options = STAGES.get(name).config.model_json_schema(ref_template="#/$defs/{model}")
        definitions |= options.pop("$defs", {})
        own = {"use": {"const": name}, TITLE: {"type": "string"}}
        options["properties"] = {**own, **options["properties"]}
        options["required"] = ["use", *options.get("required", [])]
        definitions[name] = options
        kinds.append({"$ref": f"#/$defs/{name}"})
    whole["properties"]["stages"]["additionalProperties"] = {"anyOf": kinds}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}
