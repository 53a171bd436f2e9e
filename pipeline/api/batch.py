"""The tasks of a stage, one by one: for a queue that runs commands on many machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.api.run import check
from pipeline.api.slurm_script import script, task_words
from pipeline.runner.config.project import RUNS
from pipeline.runner.events import Listener
from pipeline.runner.execution import batch
from pipeline.runner.execution.batch import PhaseState


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
