"""Progress where nobody looks: a line every ten seconds and not more; and what status says of it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from pipeline.cli.main import main
from pipeline.cli.output import RunProgress
from pipeline.runner.events import Event
from pipeline.runner.store.backends import storage_at
from tests.small_experiment import SMALL


class Clock:
    """A time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("pipeline.cli.output.time.monotonic", clock)
    return clock


def listening(*, terminal: bool = False) -> tuple[RunProgress, io.StringIO]:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=100, color_system=None)
    return RunProgress(console, stages=2), file


def test_a_line_every_ten_seconds(clock: Clock) -> None:
    listener, file = listening()
    listener(Event("stage_started", "candidates", {"shards": 1}))
    for second in range(1, 36):
        clock.now += 1
        listener(Event("progress", "candidates", {"done": second, "total": 100}))
    assert file.getvalue().splitlines() == [
        "  candidates: 10% read, about 2 min left",
        "  candidates: 20% read, about 1 min left",
        "  candidates: 30% read, about 1 min left",
    ]


def test_shards_where_several_processes_read(clock: Clock) -> None:
    listener, file = listening()
    listener(Event("stage_started", "candidates", {"shards": 4, "resumed": 1}))
    for _ in range(2):
        clock.now += 11
        listener(Event("shard_done", "candidates"))
    assert file.getvalue().splitlines()[1:] == [
        "  candidates: 2/4, about 22 s left",
        "  candidates: 3/4, about 11 s left",
    ]


def test_a_bar_in_a_terminal(clock: Clock) -> None:
    listener, file = listening(terminal=True)
    with listener:
        listener(Event("stage_started", "candidates", {"shards": 1}))
        clock.now += 30
        listener(Event("progress", "candidates", {"done": 25, "total": 100}))
        assert listener._bars is not None
        listener._bars.refresh()
        listener(Event("stage_done", "candidates", {"rows": {"candidates": 3}, "seconds": 9.0}))
    assert "25% read, about 2 min left" in file.getvalue()


def test_status_says_what_is_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.toml").write_text(SMALL)
    (tmp_path / "pairs.tsv").write_text("l1\tl2\tf\tf1\tf2\tN\tTP\na\tb\t1\t2\t3\t99\t1\n")
    monkeypatch.chdir(tmp_path)
    history = tmp_path / "runs" / "small" / "history"
    history.mkdir(parents=True)
    events: list[dict[str, object]] = [
        {"event": "run_started"},
        {"event": "stage_started", "stage": "scores", "shards": 1, "resumed": 0},
        {"event": "progress", "stage": "scores", "done": 1 << 20, "total": 4 << 20},
    ]
    lines = [json.dumps({"time": "2026-01-02T03:04:05.000+00:00", **each}) for each in events]
    (history / "r1.jsonl").write_text("\n".join(lines) + "\n")
    assert main(["status", "x.toml"]) == 0
    assert "running" not in capsys.readouterr().out  # the run has died: nobody holds its lock
    with storage_at(tmp_path / "runs" / "small").lock("scores/.lock", lambda: None):
        assert main(["status", "x.toml"]) == 0
        said = capsys.readouterr().out
        assert main(["status", "x.toml", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)["running"]
    assert "running    scores                   25% of 4.0 MB read, for " in said
    assert (told["run"], told["stage"], told["unit"]) == ("r1", "scores", "bytes")
    assert (told["done"], told["total"]) == (1 << 20, 4 << 20)
