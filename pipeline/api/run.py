"""Functions of notebooks and scripts: run an experiment or its tasks, show the results."""

from __future__ import annotations

import json
import logging
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from pipeline.api.report import add_report
from pipeline.api.report_options import check_report
from pipeline.api.results import Run, open_run, short
from pipeline.errors import ConfigError, DataError, Interruption, LexassayError, Problem
from pipeline.registry import as_names
from pipeline.runner.events import Event, Listener
from pipeline.runner.graph import RUNS, Project, load
from pipeline.runner.run import PhaseState, run_one, states
from pipeline.runner.run import run as run_project
from pipeline.runner.shards import range_text
from pipeline.runner.store import history

_LOG = logging.getLogger(__name__)


def check(
    experiment: str | Path,
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    stored: bool = False,
) -> Project:
    """Read an experiment and check it without reading data.

    Parameters
    ----------
    experiment : path
        The TOML file.
    runs : path, optional
        Results folder.
    data : path, optional
        The data root; defaults to the variable LEXASSAY_DATA.
    settings : mapping, optional
        Overrides: dotted path to value.
    stored : bool
        Accept absent files, with a warning, to read stored results.

    Raises
    ------
    ConfigError
        With every error in the file.
    """
    root, also = Path(data) if data else None, check_report
    project = load(
        Path(experiment), runs=Path(runs), data=root, settings=settings, also=also, stored=stored
    )
    for each in project.absent_files():
        _LOG.warning("warning: results of earlier runs are shown: %s", each)
    return project


def run(
    experiment: str | Path,
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    force: str | Collection[str] = (),
    deliver: bool | None = None,
    strict: bool = False,
    report: bool = True,
    progress: bool | None = None,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Run the stages of an experiment that are not done, and write the report.

    Parameters
    ----------
    experiment : path
        The TOML file.
    runs, data, settings
        As for `check`.
    force : str or collection of str
        Stages to rerun even if they are done.
    deliver : bool, optional
        Write sheets and lists for people; by default unless there are `settings`.
    strict : bool
        Treat data warnings as errors: dependent stages do not run, and no report is written.
    report : bool
        Write the report.
    progress : bool, optional
        Show progress; by default in notebooks only.
    listeners : sequence of callable
        Called with every event.

    Returns
    -------
    Run
        The results; a notebook displays them as a small page.

    Raises
    ------
    LexassayError
        If the experiment or its data are wrong, a stage fails, or the file has a sweep: `sweep`
        runs it. If other evaluations are done when a stage fails, the report shows them.
    """
    project = check(experiment, runs=runs, data=data, settings=settings)
    if project.experiment.sweep:
        what = "the experiment is a sweep, which lx.run does not run"
        remedy = "run it with lx.sweep, or remove [sweep]"
        raise ConfigError(str(experiment), [Problem("sweep", what, remedy)])
    with show_progress(
        project.experiment.name, stages=len(project.nodes), progress=progress
    ) as bar:
        every = [*bar, *listeners]
        try:
            outcome = run_project(  # not by `run_stages`: few frames lead to a stage's function
                project,
                settings=settings,
                force=as_names(force),
                deliver=deliver,
                strict=strict,
                listeners=every,
            )
        except (ConfigError, DataError):
            if report and not strict:
                _report_finished(project, every)
            raise
        result = Run(project, *outcome)
        return add_report(result, every) if report else result


def _report_finished(project: Project, listeners: Sequence[Listener]) -> None:
    """Write the report of a run that failed, if one of its evaluations is done."""
    with suppress(LexassayError):  # the error of the run is the one to raise
        finished = open_run(project)
        kinds = [project.nodes[name].stage.name for name in finished.manifests]
        if any(kind.startswith("evaluate.") for kind in kinds):
            record = next(history.newest_first(project.storage), None)
            add_report(replace(finished, record=record), listeners)


def show(
    experiment: str | Path,
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Run:
    """Return the stored results of an experiment; parameters as for `check`."""
    return open_run(check(experiment, runs=runs, data=data, settings=settings, stored=True))


# Slurm script: an array of jobs for each phase

_MOST = 1000
"""Jobs per array: the default limit of Slurm."""
_SCRIPT = """\
#!/bin/sh
# Submits the unfinished tasks of {what}; each phase waits until the previous one has succeeded.
# Set further options of sbatch with its variables, for example SBATCH_ACCOUNT.
set -eu
cd {folder}
submit() {{  # name, first task, numbers relative to it, jobs to wait for
    id=$(LEXASSAY_FIRST=$2 sbatch --parsable --export=ALL --job-name="$1" --array="$3"{options} \\
        ${{4:+--dependency=afterok:$4 --kill-on-invalid-dep=yes}} <<'END'
#!/bin/sh
exec {command} "$((LEXASSAY_FIRST + SLURM_ARRAY_TASK_ID))"
END
    ) || exit 1
    echo "${{id%%;*}}"
}}
{calls}
echo "submitted: $jobs"
"""


def slurm_script(
    phases: Sequence[PhaseState], words: Sequence[str], options: Mapping[str, str]
) -> str:
    """Return the Slurm script; empty if all tasks are done.

    Parameters
    ----------
    phases : sequence of PhaseState
        The phases of the stage.
    words : sequence of str
        The command of a task, without its number.
    options : mapping of str to str
        Further options of ``sbatch``.

    Examples
    --------
    >>> phase = PhaseState("run", 0, 2, (0, 2), ready=True)
    >>> made = slurm_script([phase], ["lexassay", "task", "a.toml", "scores"], {"time": "1:00:00"})
    >>> made.splitlines()[-2]
    'jobs=$(submit scores-run 0 0,2 "")'
    """
    stage = words[3]
    calls = list(_submissions(stage, [phase for phase in phases if phase.todo]))
    if not calls:
        return ""
    return _SCRIPT.format(
        what=" ".join(f"stage {stage} of {words[2]}".split()),
        folder=shlex.quote(str(Path.cwd())),
        options="".join(f" --{name}={shlex.quote(value)}" for name, value in options.items()),
        command=shlex.join(words),
        calls="\n".join(calls),
    )


def task_words(
    experiment: str | Path,
    stage: str,
    *,
    runs: str | Path,
    data: str | Path | None,
    settings: Mapping[str, Any],
) -> list[str]:
    """Return the command of a task, without its number.

    Examples
    --------
    >>> task_words("a.toml", "b", runs="runs", data=None, settings={"stages.b.measures": ["mi"]})
    ['lexassay', 'task', 'a.toml', 'b', '--set', 'stages.b.measures=["mi"]']
    """
    words = ["lexassay", "task", str(experiment), stage]
    words += [] if Path(runs) == Path(RUNS) else ["--runs", str(runs)]
    words += [] if data is None else ["--data", str(data)]
    for path, value in settings.items():
        words += ["--set", f"{path}={_toml(value)}"]
    return words


def _submissions(stage: str, phases: Sequence[PhaseState]) -> Iterator[str]:
    """Yield a line per job array; ``$jobs`` are those of the previous phase."""
    for at, phase in enumerate(phases):
        name = shlex.quote(f"{stage}-{phase.phase}")
        waits = '"$before"' if at else '""'
        if at:
            yield "before=$jobs"
        blocks: dict[int, list[int]] = {}
        for number in phase.todo:
            blocks.setdefault((number - phase.first) // _MOST, []).append(number)
        for turn, (which, numbers) in enumerate(blocks.items()):
            first = phase.first + which * _MOST
            array = range_text(number - first for number in numbers)
            earlier = "$jobs:" if turn else ""
            yield f"jobs={earlier}$(submit {name} {first} {array} {waits})"


def _toml(value: object) -> str:
    """Return a value as ``--set`` reads it."""
    if isinstance(value, Mapping):
        inside = (f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items())
        return f"{{{', '.join(inside)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str | bool):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


# The tasks of a stage for a job queue: list them, run one, write a Slurm script.


def tasks(
    experiment: str | Path,
    stage: str,
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> list[PhaseState]:
    """Return the tasks of a stage, by phase, and which are not done.

    The tasks of a phase can run in any order and in parallel once the previous phase is done.

    Parameters
    ----------
    experiment : path
        The TOML file.
    stage : str
        Name of the stage; the stages that it depends on must be done.
    runs, data, settings
        As for `check`.

    Raises
    ------
    ConfigError
        If the stage is unknown or a stage that it depends on is not done.
    """
    return states(check(experiment, runs=runs, data=data, settings=settings), stage)


def task(
    experiment: str | Path,
    stage: str,
    index: int,
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    listeners: Sequence[Listener] = (),
) -> bool:
    """Run one task of a stage; return whether it was not done before.

    It may be repeated at any time, also by parallel processes.

    Parameters
    ----------
    experiment : path
        The TOML file.
    stage : str
        Name of the stage.
    index : int
        Number of the task, see `tasks`.
    runs, data, settings
        As for `check`.
    listeners : sequence of callable
        Called with every event.

    Raises
    ------
    ConfigError
        If there is no such task, or tasks of earlier phases are not done.
    """
    project = check(experiment, runs=runs, data=data, settings=settings)
    return run_one(project, stage, index, listeners)


def slurm(
    experiment: str | Path,
    stage: str,
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    time: str | None = None,
    memory: str | None = None,
    partition: str | None = None,
) -> str:
    """Return a script that submits the unfinished tasks of a stage to Slurm.

    Parameters
    ----------
    experiment : path
        The TOML file.
    stage : str
        Name of the stage.
    runs, data, settings
        As for `check`.
    time, memory, partition : str, optional
        Limits per task and partition, as for ``sbatch``: "2:00:00", "4G", "long".

    Returns
    -------
    str
        A script for ``sh`` with one job array per phase; empty if all is done.

    Raises
    ------
    ConfigError
        As for `tasks`.
    """
    phases = tasks(experiment, stage, runs=runs, data=data, settings=settings)
    words = task_words(experiment, stage, runs=runs, data=data, settings=settings or {})
    limits = {"time": time, "mem": memory, "partition": partition}
    return slurm_script(phases, words, {name: value for name, value in limits.items() if value})


# Progress in a notebook or on standard error

_PATIENCE = 0.1
"""Seconds between minor updates of the bar."""
_LONGEST_MARKUP = 300
_WORDS = {
    "stage_done": "done",
    "stage_reused": "reused",
    "stage_waits": "waiting",
    "stage_skipped": "not run",
}
_VISITED = {*_WORDS, "failed"}

Say: TypeAlias = Callable[[str, str], None]
"""Shows a state, as plain text and HTML, in place of the previous one."""


@contextmanager
def show_progress(name: str, *, stages: int, progress: bool | None) -> Iterator[list[Listener]]:
    """Show the progress of a run.

    Parameters
    ----------
    name : str
        The experiment.
    stages : int
        Number of its stages.
    progress : bool or None
        Show progress; None: in notebooks only. Outside notebooks, print a line per stage to stderr.

    Yields
    ------
    list of callable
        Listeners of the run; empty if nothing is shown.
    """
    say = _display() if progress is not False else None
    if say is None and not progress:
        yield []
        return
    bar = Bar(name, say or _print_state, stages=stages, every=say is None)
    try:
        yield [bar]
    except BaseException as error:
        stopped = isinstance(error, KeyboardInterrupt | Interruption)
        bar.end("interrupted" if stopped else "failed")
        raise
    bar.end()


class Bar:
    """Listener that shows the progress of a run.

    Parameters
    ----------
    name : str
        The experiment.
    say : callable
        Shows a state.
    stages : int
        Number of stages.
    every : bool
        Show every stage when it ends, for output line by line.
    """

    def __init__(self, name: str, say: Say, *, stages: int, every: bool) -> None:
        self._name, self._say, self._stages, self._every = name, say, stages, every
        self._started = self._said = time.monotonic()
        self._outcomes: Counter[str] = Counter()
        self._waits: list[str] = []
        self._stage, self._parts, self._part = "", 1, 0
        if not every:
            self._show()

    def __call__(self, event: Event) -> None:
        """Record an event and update the display."""
        if event.kind == "stage_started":
            self._stage, self._part = event.stage, int(event.facts.get("resumed", 0))
            self._parts = int(event.facts.get("shards", 1))
        elif event.kind == "shard_done":
            self._part += 1
        elif event.kind in _VISITED:
            self._count_stage(event)
        elif event.kind == "run_done" and not event.facts.get("error"):
            self._stage = "report"
        else:
            return
        self._change(event)

    def _count_stage(self, event: Event) -> None:
        self._outcomes[event.kind] += 1
        self._stage, self._parts = event.stage, 1
        if event.kind == "stage_waits":
            self._waits.append(short(str(event.facts.get("note", "")), _LONGEST_MARKUP))

    def _change(self, event: Event) -> None:
        """Update the display: at once when a stage begins, else not too often."""
        now = time.monotonic()
        if self._every:
            is_due = event.kind in _VISITED
        else:
            is_due = event.kind in {"stage_started", "run_done"} or now - self._said >= _PATIENCE
        if is_due:
            self._said = now
            self._show()

    def _show(self) -> None:
        count = sum(self._outcomes.values())
        part = f", part {self._part} of {self._parts}" if self._parts > 1 else ""
        now = f", {short(self._stage)}{part}" if self._stage else ""
        text = f"{self._name}: {count} of {self._stages} stages{now}"
        value = count + (self._part / self._parts if self._parts > 1 else 0)
        bar = f'<progress value="{value:.2f}" max="{self._stages}"></progress>'
        self._say(text, f"{bar} {escape(text)}")

    def end(self, how: str = "") -> None:
        """Show the outcome in place of the bar."""
        counts = {word: self._outcomes[kind] for kind, word in _WORDS.items()}
        parts = [f"{count:,} {word}" for word, count in counts.items() if count or word == "done"]
        duration = f"{time.monotonic() - self._started:.1f} s"
        stages = f"{self._stages} stage{'s' * (self._stages != 1)}"
        where = " in ".join(filter(None, [how, short(self._stage)])) + ": " if how else ""
        text = f"{self._name}: {where}{stages}, {', '.join(parts)}, in {duration}"
        lines = [text, *self._waits]
        self._say("\n".join(lines), "<br>".join(map(escape, lines)))


def _display() -> Say | None:
    """Return a function that shows a state in a notebook's cell; None outside notebooks."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if getattr(shell, "kernel", None) is None:
        return None
    display = import_module("IPython.display").display
    handle: list[Any] = []

    def say(text: str, html: str) -> None:
        content = {"text/plain": text, "text/html": html}
        if handle:
            handle[0].update(content, raw=True)
        else:
            handle.append(display(content, raw=True, display_id=True))

    return say


def _print_state(text: str, _html: str) -> None:
    print(text, file=sys.stderr, flush=True)
