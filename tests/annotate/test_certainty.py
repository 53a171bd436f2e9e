"""Reckoned behind the page's back: one at a time, not too often, and never with a trace."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from pipeline.annotate.estimates import Certainty, Reckoned, Reckoner, read_points
from pipeline.errors import StoreError
from tests.annotate.experiment import desk

_LONG = 120.0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_it_is_reckoned_after_decisions_and_remembered(tmp_path: Path) -> None:
    work = desk(tmp_path)
    clock = Clock()
    certainty = Certainty(work.work, clock=clock)
    nothing = certainty.ask()
    assert (nothing.reckoned, nothing.busy, nothing.current) == (None, False, True)
    work.judge_all(20)
    begun = certainty.ask()
    assert (begun.busy, begun.current) == (True, False)
    certainty.wait(_LONG)
    found = certainty.ask()
    assert found.reckoned is not None
    assert (found.busy, found.current, found.error) == (False, True, "")
    work.judge_all(30)
    clock.now = 9.9
    assert (certainty.ask().busy, certainty.ask().current) == (False, False)  # too soon
    clock.now = 10.0
    assert certainty.ask().busy
    certainty.wait(_LONG)
    again = certainty.ask()
    assert again.reckoned is not None
    assert again.reckoned.entry > found.reckoned.entry
    assert [each.entry for each in again.points] == [found.reckoned.entry, again.reckoned.entry]
    assert again.points[1].counted > again.points[0].counted
    certainty.close()
    # another server goes on where this one stopped
    assert Certainty(work.work).ask().points == again.points


def test_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = desk(tmp_path)
    work.judge_all(5)
    go, calls = threading.Event(), []

    def slow(self: Reckoner) -> Reckoned:
        calls.append(1)
        go.wait(_LONG)
        raise StoreError("the disk is full\n  - really")

    monkeypatch.setattr(Reckoner, "reckon", slow)
    certainty = Certainty(work.work, pause=0.0)
    assert certainty.ask().busy
    work.judge_all(6)
    assert certainty.ask().busy
    go.set()
    certainty.wait(_LONG)
    assert len(calls) == 1
    failed = certainty.ask()
    assert failed.error == "the disk is full; really"
    certainty.wait(_LONG)
    assert len(calls) == 2
    certainty.ask()
    assert len(calls) == 2  # nothing new


def test_an_experiment_without_questions_reckons_nothing(tmp_path: Path) -> None:
    work = desk(tmp_path, "")
    work.judge_all(5)
    certainty = Certainty(work.work)
    assert not certainty.has_questions
    assert not certainty.ask().busy


def test_a_line_that_is_broken_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "points.jsonl"
    line = json.dumps({"entry": 3, "at": "2026", "counted": 2, "halves": {"a": 0.5}})
    path.write_text(f'{line}\n{line[:20]}\n{{"other": 1}}\n[]\n', encoding="utf-8")
    (point,) = read_points(path)
    assert (point.entry, point.counted, point.halves) == (3, 2, {"a": 0.5})
    assert read_points(tmp_path / "none") == []
