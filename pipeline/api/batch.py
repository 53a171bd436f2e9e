"""The tasks of a stage for a queue of jobs: list them, do one, write a Slurm script."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.api.run import check
from pipeline.runner import batch
from pipeline.runner.batch import PhaseState
from pipeline.runner.events import Listener
from pipeline.runner.graph import RUNS
from pipeline.runner.shards import range_text

# Slurm script: an array of jobs for each phase

_MOST = 1000
"""Jobs of an array: as many as Slurm takes if nobody has told it otherwise."""
_SCRIPT = """\
#!/bin/sh
# Submits what is not done of {what}; each phase waits until all of the one before has ended well.
# Further options of sbatch can be given by its variables, such as SBATCH_ACCOUNT.
set -eu
cd {folder}
submit() {{  # name, first task, numbers counted from there, jobs to wait for
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


def script(phases: Sequence[PhaseState], words: Sequence[str], options: Mapping[str, str]) -> str:
    """Return the script, or nothing if all is done.

    Parameters
    ----------
    phases : sequence of PhaseState
        The phases of the stage.
    words : sequence of str
        The command that does a task, without its number.
    options : mapping of str to str
        Further options of ``sbatch``.

    Examples
    --------
    >>> phase = PhaseState("run", 0, 2, (0, 2), ready=True)
    >>> made = script([phase], ["lexassay", "task", "a.toml", "scores"], {"time": "1:00:00"})
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
    """Return the command that does a task, without its number.

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
    """Yield a line for each array of jobs; `jobs` are those of the phase before."""
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


def tasks(
    experiment: str | Path,
    stage: str,
    *,
    runs: str | Path = RUNS,
    data: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> list[PhaseState]:
    """Return the tasks of a stage, phase by phase, and which are not done.

    The tasks of a phase can be done in any order and at once, when all of the phase before are
    done. Their numbers stay the same while the experiment, its input and the results of the stages
    before do.

    Parameters
    ----------
    experiment : path
        The TOML file.
    stage : str
        Name of the stage; the stages that it rests on must be done.
    runs, data, settings
        As for `check`.

    Raises
    ------
    ConfigError
        If there is no such stage, or one that it rests on is not done: the message names it.
    """
    return batch.states(check(experiment, runs=runs, data=data, settings=settings), stage)


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
    """Do one task of a stage, and say whether there was anything to do.

    It can be done again at any time, also by two processes at once or after one was killed: what is
    done is found done, and nothing counts that is not finished.

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
        Are told if it has to wait for another process.

    Raises
    ------
    ConfigError
        If there is no such task, or if others come first: the message names them.
    """
    project = check(experiment, runs=runs, data=data, settings=settings)
    return batch.do(project, stage, index, listeners)


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
    """Return a script that submits the tasks of a stage that are not done to Slurm.

    Parameters
    ----------
    experiment : path
        The TOML file.
    stage : str
        Name of the stage.
    runs, data, settings
        As for `check`.
    time, memory, partition : str, optional
        Limits of each task and where it runs, as ``sbatch`` takes them: "2:00:00", "4G", "long".

    Returns
    -------
    str
        A script for ``sh``: an array of jobs for each phase, which waits for the one before. Empty
        if nothing is to be done.

    Raises
    ------
    ConfigError
        As for `tasks`.
    """
    found = tasks(experiment, stage, runs=runs, data=data, settings=settings)
    words = task_words(experiment, stage, runs=runs, data=data, settings=settings or {})
    limits = {"time": time, "mem": memory, "partition": partition}
    return script(found, words, {name: value for name, value in limits.items() if value})
