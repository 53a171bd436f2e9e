"""Still pictures drawn by another process: they are the same if the process dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any, Never

import pytest

from pipeline.engine.base import Worker
from pipeline.report.page import images as module
from pipeline.report.page.images import Drawing, draw_svg, still
from pipeline.report.view import Figure, Fold, Text
from schemas.errors import LexassayError


class WatchedWorker(Worker):
    """A process that the test can watch and kill."""

    made: list[WatchedWorker]

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.drawn = 0
        self.made.append(self)

    def do(self, task: Callable[[Any], Any], item: Any) -> Any:
        picture = super().do(task, item)
        self.drawn += 1
        return picture

    def kill(self) -> None:
        for pid in self._pool._processes:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[WatchedWorker]]:
    """Draw by processes, as a command does."""
    monkeypatch.setattr(WatchedWorker, "made", [], raising=False)
    monkeypatch.setattr(module, "Worker", WatchedWorker)
    yield WatchedWorker.made
    for process in WatchedWorker.made:
        assert not process._pool._processes


def bars(*heights: int) -> Figure:
    values = [{"a": f"{n}", "b": height} for n, height in enumerate(heights)]
    encoding = {"x": {"field": "a"}, "y": {"field": "b", "type": "quantitative"}}
    return Figure("bars", "Bars", {"data": {"values": values}, "mark": "bar", "encoding": encoding})


@pytest.mark.long
def test_pictures_of_a_process_equal_those_drawn_here(
    processes: list[WatchedWorker],
) -> None:
    figures = [bars(*range(1, n)) for n in range(2, 6)]
    with Drawing() as drawing:
        drawing.ahead([figures[0], Text("between"), Fold("more", [figures[1], figures[2]])])
        pictures = [drawing.of(figure) for figure in figures]
    assert [process.drawn for process in processes] == [len(figures)]
    assert len(set(pictures)) == len(figures)
    assert pictures == [draw_svg(still(figure.chart)) for figure in figures]


@pytest.mark.long
def test_a_figure_is_drawn_once(processes: list[WatchedWorker]) -> None:
    figure = bars(1)
    with Drawing() as drawing:
        drawing.ahead([figure, figure])
        assert drawing.of(figure) == drawing.of(figure)
    assert [process.drawn for process in processes] == [1]


@pytest.mark.long
def test_pictures_are_drawn_here_after_the_process_died(processes: list[WatchedWorker]) -> None:
    first, second, third = bars(1), bars(1, 2), bars(1, 2, 3)
    with Drawing() as drawing:
        drawing.of(first)
        processes[0].kill()
        pictures = [drawing.of(second), drawing.of(third)]
    assert [process.drawn for process in processes] == [1]
    assert pictures == [draw_svg(still(each.chart)) for each in (second, third)]


def test_pictures_are_drawn_here_if_no_process_can_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(threads: int) -> Never:
        raise OSError(f"no process with {threads} threads can be started")

    monkeypatch.setattr(module, "Worker", none)
    with Drawing() as drawing:
        assert drawing.of(bars(1, 2)).startswith("<svg")


@pytest.mark.long
def test_the_process_reports_charts_that_cannot_be_drawn(processes: list[WatchedWorker]) -> None:
    with Drawing() as drawing, pytest.raises(ValueError, match="SVG conversion failed"):
        drawing.of(Figure("wrong", "Wrong", {"mark": "no such"}))
    assert len(processes) == 1


def test_drawing_with_too_little_address_space_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library would end the process with a stack trace."""
    monkeypatch.setattr("resource.getrlimit", lambda _: (8 << 30, 8 << 30))
    monkeypatch.setattr("pipeline.memory.is_limited", lambda: True)
    message = "charts cannot be drawn: .* 68 GB of address space, .* ulimit -v allows 8.0 GB; raise"
    with Drawing() as drawing, pytest.raises(LexassayError, match=message):
        drawing.of(bars(1, 2))
