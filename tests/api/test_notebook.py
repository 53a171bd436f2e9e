"""The bar of a notebook, with a stand-in for IPython; scripts show nothing unless asked."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import pipeline as lx
from pipeline.api.results import watching
from pipeline.errors import DataError, Interrupted
from pipeline.runner.events import Event
from tests.small_experiment import SMALL

Shown = list[dict[str, str]]


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """A notebook: every state that its one display has been given."""
    states: Shown = []

    class Handle:
        def update(self, content: dict[str, str], *, raw: bool) -> None:
            assert raw
            states.append(content)

    def display(content: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        assert not states, "a second place for one bar"
        states.append(content)
        return Handle()

    install(monkeypatch, SimpleNamespace(kernel=object()), display)
    return states


def install(monkeypatch: pytest.MonkeyPatch, shell: object, display: Any) -> None:
    package, module = ModuleType("IPython"), ModuleType("IPython.display")
    vars(package).update(get_ipython=lambda: shell, display=module)
    vars(module).update(display=display)
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    rows = ["l1\tl2\tf\tf1\tf2\tN\tTP", "a\tx\t3\t5\t4\t50\t1", "b\ty\t9\t9\t12\t50\t0"]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    return tmp_path / "small.toml"


def test_a_notebook_shows_a_bar_and_then_one_line(
    small: Path, cell: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    lx.run(small, runs=small.parent / "runs")
    first, *_, last = cell
    assert first["text/plain"] == "small: 0 of 4 stages"
    assert first["text/html"].startswith('<progress value="0.00" max="4"></progress> small: 0 of 4')
    running = [each["text/plain"] for each in cell if "<progress" in each["text/html"]]
    assert len(running) == len(cell) - 1
    assert "small: 2 of 4 stages, scores" in running
    assert re.fullmatch(r"small: 4 stages, 4 done, in \d+\.\d s", last["text/plain"])
    assert last["text/html"] == last["text/plain"]
    assert capsys.readouterr() == ("", "")


def test_what_is_there_already_is_counted_apart(small: Path, cell: Shown) -> None:
    lx.run(small, runs=small.parent / "runs", progress=False)
    assert not cell
    lx.run(small, runs=small.parent / "runs", force=["ranks"])
    assert "small: 4 stages, 1 done, 3 reused, in " in cell[-1]["text/plain"]


def test_a_script_shows_nothing_unless_asked(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lx.run(small, runs=small.parent / "runs")
    assert capsys.readouterr() == ("", "")
    lx.run(small, runs=small.parent / "runs", progress=True)
    said = capsys.readouterr()
    assert said.out == ""
    *lines, last = said.err.splitlines()
    names = ("candidates", "judgements", "scores", "ranks")
    assert lines == [f"small: {n} of 4 stages, {name}" for n, name in enumerate(names, start=1)]
    assert last.startswith("small: 4 stages, 0 done, 4 reused, in ")


def test_ipython_in_a_terminal_is_no_notebook(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for shell in (None, SimpleNamespace()):
        install(monkeypatch, shell, pytest.fail)
        lx.run(small, runs=small.parent / "runs")
    assert capsys.readouterr() == ("", "")


def test_parts_of_a_stage_and_names_as_text(cell: Shown) -> None:
    with watching("<b>", stages=2, progress=None) as (bar,):
        bar(Event("stage_started", "count & sort", {"shards": 4, "resumed": 1}))
        bar(Event("stage_done", "count & sort"))
    assert cell[1]["text/html"] == (
        '<progress value="0.25" max="2"></progress> '
        "&lt;b&gt;: 0 of 2 stages, count &amp; sort, part 1 of 4"
    )
    assert cell[-1]["text/html"].startswith("&lt;b&gt;: 2 stages, 1 done, in ")


def test_many_quick_events_are_few_changes(cell: Shown) -> None:
    with watching("x", stages=10_000, progress=None) as (bar,):
        for number in range(10_000):
            bar(Event("stage_reused", f"s{number}"))
    assert len(cell) < 5_000
    assert "0 done, 10,000 reused" in cell[-1]["text/plain"]


def test_what_waits_is_said(cell: Shown) -> None:
    with watching("x", stages=3, progress=None) as (bar,):
        bar(Event("stage_done", "sample"))
        bar(Event("stage_waits", "sheets", {"note": "sheets/<x> waits for 3 labels: 3 of anna"}))
        bar(Event("stage_skipped", "precision", {"note": "rests on sheets"}))
        bar(Event("run_done", facts={"outcome": "waits", "error": ""}))
    first, second = cell[-1]["text/plain"].splitlines()
    assert first.startswith("x: 3 stages, 1 done, 1 waiting, 1 not run, in ")
    assert second == "waiting: sheets/<x> waits for 3 labels: 3 of anna"
    assert "<br>waiting: sheets/&lt;x&gt; waits" in cell[-1]["text/html"]
    assert cell[-2]["text/plain"] == "x: 3 of 3 stages, report"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DataError("no"), "x: failed in scores: 2 stages"),
        (Interrupted(""), "x: interrupted in sco"),
    ],
)
def test_how_it_ended_otherwise(cell: Shown, error: Exception, said: str) -> None:
    def run() -> None:
        with watching("x", stages=2, progress=None) as (bar,):
            bar(Event("stage_started", "scores"))
            bar(Event("failed", "scores", {"error": "no"}))
            bar(Event("run_done", facts={"outcome": "failed", "error": "no"}))
            raise error

    with pytest.raises(type(error)):
        run()
    assert cell[-1]["text/plain"].startswith(said)
