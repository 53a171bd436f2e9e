"""Files and results that vanish or change under the hands of a run: which one, and what to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import pipeline as lx
from pipeline.errors import DataError, StageFailed, StoreError
from pipeline.runner import counting, task
from pipeline.runner.events import Event, Listener
from pipeline.stages.base import Outputs
from tests.runner.laboratory import Laboratory
from tests.test_causes import LIBRARY

SHEETS = """
[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
folder = "one"
labels = ["yes", "no"]

[stages.judged]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "one"
categories = { TP = ["yes"] }
"""


def at(kind: str, stage: str, act: Callable[[], object]) -> Listener:
    """Return a listener that acts when something happens to a stage."""

    def listen(event: Event) -> None:
        if (event.kind, event.stage) == (kind, stage):
            act()

    return listen


def run(laboratory: Laboratory, *listeners: Listener) -> str:
    """Return what is said of a run that fails."""
    with pytest.raises((DataError, StoreError)) as error:
        lx.run(laboratory.config, runs=laboratory.runs, report=False, listeners=listeners)
    said = str(error.value)
    assert not LIBRARY.search(said), said
    return said


def test_an_input_that_vanishes_before_it_is_read(laboratory: Laboratory) -> None:
    gold = laboratory.folder / "gold.tsv"
    said = run(laboratory, at("stage_started", "gold", gold.unlink))
    assert said == f"{gold}: cannot be read: it, or its folder, is not there"


def test_an_input_that_vanishes_while_it_is_read(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold, collected = laboratory.folder / "gold.tsv", counting.collected

    def late(outputs: Outputs) -> object:
        if "judgements" in outputs:
            gold.unlink()
        return collected(outputs)

    monkeypatch.setattr(task, "collected", late)
    assert run(laboratory) == f"{gold}: cannot be read: it, or its folder, is not there"


def test_an_input_that_is_a_folder_by_now(laboratory: Laboratory) -> None:
    gold = laboratory.folder / "gold.tsv"

    def replace() -> None:
        gold.unlink()
        gold.mkdir()

    said = run(laboratory, at("stage_done", "sample", replace))
    assert said == f"{gold}: cannot be read: it is a folder, and no file"


@pytest.mark.long
@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_results_that_are_damaged_during_the_run(laboratory: Laboratory, damage: str) -> None:
    def act() -> None:
        part = next(laboratory.root.glob("scores/*/scores/*.parquet"))
        content = part.read_bytes()
        part.unlink()
        if damage == "changed":
            part.write_bytes(content[:50] + bytes(50) + content[100:])

    said = run(laboratory, at("stage_done", "scores", act))
    assert said.startswith(f"the results of stage scores in {laboratory.root}/scores/")
    assert said.endswith("run again: they are made anew")
    laboratory.run()


def test_sheets_that_go_after_they_have_been_counted(laboratory: Laboratory) -> None:
    laboratory.config.write_text(laboratory.config.read_text() + SHEETS)
    config, runs = laboratory.config, laboratory.runs
    assert lx.run(config, runs=runs, report=False).waits
    sheet = next(laboratory.folder.glob("sheets/small/one/*"))
    with pytest.raises(DataError, match=r"came or went after .* looked at; .* run again"):
        lx.run(
            config,
            runs=runs,
            report=False,
            force=["judged"],
            listeners=[at("message", "judged", sheet.unlink)],
        )


def test_results_that_cannot_be_shown(done: Laboratory) -> None:
    results = lx.show(done.config, runs=done.runs)
    part = next(done.artefact("scores").rglob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-10])
    with pytest.raises(StoreError, match="the results of stage scores in .* are damaged"):
        results.table("scores")


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (MemoryError(), "stage gold failed: the memory is used up; close other programs"),
        (OSError(5, "Input/output error"), "stage gold failed: the disk fails"),
        (RecursionError(), "stage gold failed: something is nested"),
    ],
)
def test_what_fails_by_the_machine_is_no_defect(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, raised: Exception, said: str
) -> None:
    collected = counting.collected

    def fail(outputs: Outputs) -> object:
        if "judgements" in outputs:
            raise raised
        return collected(outputs)

    monkeypatch.setattr(task, "collected", fail)
    with pytest.raises(StageFailed) as error:
        lx.run(laboratory.config, runs=laboratory.runs, report=False)
    assert str(error.value).startswith(said)
    assert not LIBRARY.search(str(error.value))
