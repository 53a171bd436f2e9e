"""What is left of a limit of memory for counting, and limits that cannot be kept."""

from __future__ import annotations

import pytest

from pipeline.errors import Problem
from pipeline.runner import inputs
from pipeline.runner.config import RunOptions, parse
from pipeline.runner.inputs import Budget

MB = 1 << 20
STAGES = {"stages": {"a": {"use": "extract.words"}}}


@pytest.fixture(autouse=True)
def _as_for_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the libraries, which other tests leave out."""
    monkeypatch.delenv(inputs.LIBRARIES_VARIABLE)


def problems(**run: object) -> list[Problem]:
    return parse({"name": "x", **STAGES, "run": run})[1]


def test_the_libraries_of_all_processes_are_taken_off() -> None:
    two = RunOptions(engine="processes", workers=2, memory=1000 * MB)
    assert two.budget.memory == (1000 - 3 * 230) * MB // 2
    assert RunOptions(memory=1000 * MB).budget.memory == 770 * MB
    assert RunOptions().budget.memory is None
    assert RunOptions(workers=8, memory=500 * MB).budget.memory == 270 * MB  # "local": one process


def test_another_machine_may_say_what_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(inputs.LIBRARIES_VARIABLE, str(100 * MB))
    assert Budget(500 * MB).shared(3, 4).memory == 100 * MB // 3
    assert not problems(memory="101MB")


@pytest.mark.parametrize(
    ("run", "least", "said"),
    [
        ({}, 231, "a process takes some 230.0 MB with the libraries alone; give"),
        ({"engine": "processes", "workers": 1}, 461, "there would be 2, 1 of them workers; give"),
        (
            {"engine": "processes", "workers": 2},
            691,
            "3, 2 of them workers; give 691MB or more, or",
        ),
    ],
)
def test_less_than_the_libraries_take_is_refused(
    run: dict[str, object], least: int, said: str
) -> None:
    (problem,) = problems(memory=f"{least - 1}MB", **run)
    assert problem.where == "run.memory"
    assert f"{least - 1}.0 MB cannot be kept to" in problem.what
    assert said in problem.what
    assert f"give {least}MB or more" in problem.what
    assert not problems(memory=f"{least}MB", **run)


def test_other_mistakes_are_said_as_before() -> None:
    assert "no amount of memory" in problems(memory="much")[0].what
    (workers,) = problems(engine="processes", workers=0, memory="500MB")
    assert workers.where == "run.workers"


def test_without_a_limit_nothing_is_refused() -> None:
    assert not parse({"name": "x", **STAGES})[1]
