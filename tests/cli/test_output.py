"""Output: tables that fit a terminal, JSON, quiet runs, colours, progress."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.cli.main import main
from pipeline.cli.output import RunProgress, boxed_table, fit_table, print_table
from pipeline.runner.events import Event
from pipeline.runner.store.backends import storage_at
from tests.runner.commands import environment
from tests.small_experiment import SMALL

TEXTS = st.text("ab日é \n\t", max_size=30)
NUMBERS = st.integers(0, 10**9).map("{:,}".format)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]], list[bool]]:
    right = draw(st.lists(st.booleans(), min_size=1, max_size=7))
    head = [draw(st.text("abc_", min_size=1, max_size=20)) for _ in right]
    row = st.tuples(*(NUMBERS if flush else TEXTS for flush in right)).map(list)
    return head, draw(st.lists(row, min_size=1, max_size=4)), right


@given(tables(), st.integers(20, 120))
def test_tables_fit_the_width_and_keep_numbers_whole(
    case: tuple[list[str], list[list[str]], list[bool]], width: int
) -> None:
    head, rows, right = case
    fitted = fit_table(head, rows, right=right, width=width)
    count = len(fitted.head)
    assert count >= 1
    assert fitted.omitted == head[count:]
    assert fitted.right == right[:count]
    text = boxed_table(fitted.head, fitted.rows, right=fitted.right, title="")
    assert text is not None
    assert max(map(cell_len, text.splitlines())) <= width
    for before, after in zip([head, *rows], [fitted.head, *fitted.rows], strict=True):
        for place, cell in enumerate(after):
            whole = before[place]
            if right[place] and before is not head:
                assert cell == whole
            elif cell != whole and whole.isprintable():
                assert cell.endswith("…")
                assert whole.startswith(cell[:-1].rstrip())
                assert cell_len(cell) >= 8


def test_a_table_that_fits_is_not_changed() -> None:
    head, rows = ["l1", "f"], [["Verfügung", "1,200"], ["in", "7"]]
    fitted = fit_table(head, rows, right=[False, True], width=21 + 2)
    assert (fitted.head, fitted.rows, fitted.omitted) == (head, rows, [])


def test_the_widest_text_is_shortened_first() -> None:
    rows = [["a" * 30, "b" * 12, "5"]]
    fitted = fit_table(["l1", "l2", "f"], rows, right=[False, False, True], width=37)
    assert fitted.rows == [["a" * 13 + "…", "b" * 12, "5"]]


def test_control_characters_are_escaped() -> None:
    assert fit_table(["n"], [["a\nb\x1b[1m"]], right=[False], width=80).rows == [["a\\nb\\x1b[1m"]]


def test_a_table_without_columns_is_fitted() -> None:
    assert fit_table([], [], right=[], width=80).head == []


# Tables in a pipe look as rich draws them.

NAMES = st.text("abc日é_", min_size=1, max_size=8)


def table_text(head: list[str], rows: list[list[str]], right: list[bool]) -> str:
    table = Table()
    for name, flush in zip(head, right, strict=True):
        table.add_column(name, justify="right" if flush else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    file = io.StringIO()
    Console(width=1000, file=file).print(table)
    return file.getvalue().removesuffix("\n")


@given(
    st.integers(1, 4).flatmap(
        lambda size: st.tuples(
            st.lists(NAMES, min_size=size, max_size=size),
            st.lists(st.lists(st.text(max_size=9), min_size=size, max_size=size), max_size=4),
            st.lists(st.booleans(), min_size=size, max_size=size),
            st.sampled_from(["", "t", "precision: 3 rows"]),
        )
    )
)
def test_piped_tables_look_as_rich_draws_them(
    case: tuple[list[str], list[list[str]], list[bool], str],
) -> None:
    head, rows, right, title = case
    # rich drops trailing spaces of right-aligned cells; numbers have none
    rows = [[c.rstrip() if f else c for c, f in zip(r, right, strict=True)] for r in rows]
    text = boxed_table(head, rows, right=right, title=title)
    if text is None:
        whole = "".join([*head, *(cell for row in rows for cell in row)])
        assert not whole.isprintable() or title
    else:
        above, table = text[: text.index("┏")], text[text.index("┏") :]
        assert above.rstrip() == title
        assert table == table_text(head, rows, right)


def test_a_title_longer_than_the_table_stays_on_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for cell in ("a", "a\nb"):
        print_table(pl.DataFrame({"n": [cell]}), title="longer than all columns")
        assert capsys.readouterr().out.startswith("longer than all columns\n┏━━━┓\n")


def test_tables_with_line_breaks_are_left_to_rich() -> None:
    assert boxed_table(["n"], [["a\nb"]], right=[False], title="") is None
    assert boxed_table(["n"], [["a" * 1000]], right=[False], title="") is None
    assert boxed_table([], [], right=[], title="") is None


# Output for programs and scripts: ``--json``, ``--quiet``, no colours outside terminals

SHEETS = (
    SMALL
    + """
[stages.sample]
use = "sample.random"
candidates = "candidates"
size = 5

[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
folder = "pairs"
labels = ["yes", "no"]

[stages.labels]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "pairs"
categories = { TP = ["yes"] }
"""
)
COLOUR = re.compile(rb"\x1b\[(?:[0-9;]*;)?[349][0-8][0-9;]*m")
"""Codes of colours, not of bold and similar styles."""
STEP = {"name", "use", "state", "reasons", "tables", "seconds", "created"}
PLAN = {"experiment", "results", "sweep_points", "sweep_missing", "stages"}
PEOPLE = {"sheets", "people", "conflicts", "ignored", "former"}


@pytest.fixture
def folder_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.toml").write_text(SMALL)
    (tmp_path / "people.toml").write_text(SHEETS.replace("small", "people"))
    lines = [f"a{i}\tb{i % 3}\t{i + 1}\t{i + 3}\t{40 - i}\t90\t{i % 2}" for i in range(12)]
    head = "l1\tl2\tf\tf1\tf2\tN\tTP"
    (tmp_path / "pairs.tsv").write_text("\n".join([head, *lines]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def json_output(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the complete output of a command, parsed as JSON."""
    capsys.readouterr()
    assert main(words) == 0
    output: dict[str, Any] = json.loads(capsys.readouterr().out)
    return output


@pytest.mark.long
def test_plan_and_status_print_json(
    folder_programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = json_output(["plan", "x.toml", "--json"], capsys)
    assert set(before) == PLAN
    assert all(set(step) == STEP for step in before["stages"])
    first, *_, last = before["stages"]
    assert (first["name"], first["use"], first["state"]) == (
        "candidates", "extract.table", "run",
    )  # fmt: skip
    assert first["reasons"] == ["it has never run"]
    assert (last["state"], last["tables"], last["seconds"]) == ("unknown", {}, None)
    assert main(["run", "x.toml", "--no-report"]) == 0
    after = json_output(["status", "x.toml", "--json"], capsys)
    assert set(after) >= {*PLAN, *PEOPLE, "done", "remarks", "report"}
    assert (after["done"], after["report"], after["people"]) == (4, None, [])
    assert {step["name"]: step["tables"] for step in after["stages"]}["ranks"] == {"ranks": 24}
    assert all(step["state"] == "done" and step["reasons"] == [] for step in after["stages"])
    assert main(["run", "x.toml"]) == 0
    page = json_output(["status", "x.toml", "--json"], capsys)["report"]
    assert (folder_programs / page).is_file()


def test_plan_counts_the_points_of_a_sweep(
    folder_programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = '[sweep]\ncollect = ["ranks"]\n[sweep.over]\n"stages.ranks.seed" = ["a", "b", "c"]\n'
    (folder_programs / "x.toml").write_text(SMALL + sweep)
    assert json_output(["plan", "x.toml", "--json"], capsys)["sweep_points"] == 3


def test_sheets_and_status_report_people_as_json(
    folder_programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "people.toml", "--no-report"]) == 3
    sheets = json_output(["sheets", "people.toml", "--json"], capsys)
    assert set(sheets) == {"experiment", *PEOPLE, "moved"}
    assert folder_programs / sheets["sheets"] == folder_programs / "sheets" / "people"
    (person,) = sheets["people"]
    assert (person["asked"], person["done"], person["saved"]) == (5, 0, None)
    assert Path(person["folder"]) == Path(sheets["sheets"]) / "pairs"
    assert (sheets["ignored"], sheets["former"], sheets["moved"]) == ([], [], [])
    status = json_output(["status", "people.toml", "--json"], capsys)
    assert {name: status[name] for name in PEOPLE} == {name: sheets[name] for name in PEOPLE}
    assert main(["status", "people.toml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (waited,) = (line for line in lines if line.startswith("waited"))
    assert "waiting for 5 labels from" in waited
    (planned,) = (line for line in lines if line.startswith("would run"))
    assert planned.endswith("it waited in the last run")


def test_stored_results_can_be_used_without_a_data_root(
    folder_programs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder_programs / "public").mkdir()
    (folder_programs / "pairs.tsv").rename(folder_programs / "public/pairs.tsv")
    config = folder_programs / "x.toml"
    config.write_text(SMALL.replace('"pairs.tsv"', '"data:pairs.tsv"'))
    monkeypatch.delenv("LEXASSAY_DATA", raising=False)
    needed = "data:pairs.tsv: needs the data root: give --data DIR or set LEXASSAY_DATA"
    assert main(["plan", "x.toml"]) == 0
    assert needed in capsys.readouterr().out
    assert main(["run", "x.toml", "--no-report", "--data", "public"]) == 0
    for words in (["plan"], ["status"], ["why", "ranks"], ["show"], ["show", "ranks"], ["sheets"]):
        assert main([words[0], "x.toml", *words[1:]]) == 0
        output = capsys.readouterr().out
        assert "would run" not in output
        assert "needs the data root" not in output
    assert json_output(["status", "x.toml", "--json"], capsys)["done"] == 4
    # Other options of a later stage, other files, and a run still need the files.
    assert main(["plan", "x.toml", "--set", "stages.ranks.seed=b"]) == 0
    assert "would run  ranks" in capsys.readouterr().out
    config.write_text(config.read_text().replace("data:pairs.tsv", "data:other.tsv", 1))
    stages = json_output(["plan", "x.toml", "--json"], capsys)["stages"]
    assert stages[0]["reasons"] == [needed.replace("pairs", "other")]
    assert main(["show", "x.toml", "ranks"]) == 2
    assert main(["run", "x.toml"]) == 2
    output = capsys.readouterr().err
    assert "2 errors" in output
    assert "needs the data root: give --data DIR or set LEXASSAY_DATA" in output


def test_stored_results_can_be_shown_without_their_files(
    folder_programs: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    (folder_programs / "x.toml").write_text(SMALL)
    assert main(["run", "x.toml", "--no-report"]) == 0
    (folder_programs / "pairs.tsv").rename(folder_programs / "pairs2.tsv")
    for words in (["plan"], ["status"], ["why", "ranks"], ["show"], ["show", "ranks"], ["sheets"]):
        caplog.clear()
        assert main([words[0], "x.toml", *words[1:]]) == 0
        assert "would run" not in capsys.readouterr().out
        warning, _ = caplog.messages
        assert warning.startswith("warning: results of earlier runs are shown: stages.candidates")
        assert "pairs.tsv: file not found; check the path, in " in warning
        assert warning.endswith(f"{folder_programs}; did you mean pairs2.tsv?")
    assert main(["run", "x.toml"]) == 2
    assert "did you mean pairs2.tsv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "facts", "text"),
    [
        ("stage_done", {"rows": {"a": 1200, "b": 0, "c": 1}, "seconds": 0.1},
         "done: a 1,200 rows, c 1 row in 0.1 s"),
        ("stage_done", {"rows": {"a": 0}, "seconds": 2}, "done in 2.0 s"),
        ("stage_reused", {"rows": {"a": 0}}, "reused"),
        ("stage_skipped", {"note": "depends on b"}, "not run: depends on b"),
        ("stage_waits", {"note": "x", "count": "waiting for 1 label"}, "waiting for 1 label"),
    ],
)  # fmt: skip
def test_the_line_of_a_stage_names_only_tables_with_rows(
    kind: str, facts: dict[str, Any], text: str
) -> None:
    output = io.StringIO()
    RunProgress(Console(file=output), stages=1)(Event(kind, "s", facts))  # type: ignore[arg-type]
    assert output.getvalue() == f"[1/1] {'s':<20} {text}\n"


@pytest.mark.long
def test_quiet_prints_only_errors_and_waits(
    folder_programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "x.toml", "--quiet"]) == 0
    assert (folder_programs / "runs/small/report/index.html").is_file()
    assert main(["gc", "x.toml", "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["run", "people.toml", "--quiet"]) == 3
    waiting = capsys.readouterr()
    assert re.fullmatch(r".*: waiting for 5 labels.*\n", waiting.out)
    assert waiting.err == ""
    with (folder_programs / "pairs.tsv").open("a") as pairs:
        pairs.write("q\tr\tmany\t3\t4\t90\t1\n")
    assert main(["run", "x.toml", "--quiet"]) == 1
    failed = capsys.readouterr()
    assert failed.out == ""
    assert failed.err.startswith("lexassay: ")
    assert "'many'" in failed.err


def test_a_waiting_run_says_how_to_label_in_the_browser(
    folder_programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder_programs / "people.toml").rename(folder_programs / "my people.toml")
    hint = "in the browser: lexassay annotate 'my people.toml'\n"
    assert main(["run", "my people.toml", "--no-report"]) == 3
    assert capsys.readouterr().out.endswith(hint)
    # No hint with --set: the pages would be for other sheets.
    assert main(["run", "my people.toml", "--no-report", "--set", "seed=other"]) == 3
    assert "in the browser" not in capsys.readouterr().out


def terminal_output(words: list[str], more: Mapping[str, str] | None = None) -> bytes:
    """Return the output of a command in a terminal."""
    mine, theirs = pty.openpty()
    variables = environment(more={"TERM": "xterm", "COLUMNS": "100", **(more or {})})
    with subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", *words], stdin=subprocess.DEVNULL,
        stdout=theirs, stderr=theirs, env=variables,
    ) as process:  # fmt: skip
        os.close(theirs)
        output = b""
        while chunk := _read(mine):
            output += chunk
    os.close(mine)
    assert process.returncode == 0, output
    return output


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.usefixtures("folder_programs")
@pytest.mark.long
def test_colours_are_used_only_in_terminals_that_allow_them() -> None:
    assert terminal_output(["run", "x.toml", "--quiet"]) == b""
    run = ["run", "x.toml", "--no-report", "--force", "ranks"]
    assert COLOUR.search(terminal_output(run, {"NO_COLOR": ""}))
    assert not COLOUR.search(terminal_output(run, {"NO_COLOR": "1"}))
    show = ["show", "x.toml", "ranks", "--rows", "2"]
    assert b"\x1b[" in terminal_output(show, {"NO_COLOR": ""})
    assert b"\x1b" not in terminal_output(show, {"NO_COLOR": "1"})
    piped = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", *show], capture_output=True, check=True
    )
    assert b"\x1b" not in piped.stdout + piped.stderr


@pytest.mark.long
@pytest.mark.parametrize("words", [["measures"], ["schema"], ["measures", "--format", "csv"]])
def test_a_closed_pipe_causes_no_error_message(words: list[str]) -> None:
    command = [sys.executable, "-m", "pipeline.cli", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


# Progress outside terminals, a line every ten seconds, and in the output of status


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("pipeline.cli.output.time.monotonic", clock)
    return clock


def progress_listener(*, terminal: bool = False) -> tuple[RunProgress, io.StringIO]:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=100, color_system=None)
    return RunProgress(console, stages=2), file


def test_progress_is_printed_every_ten_seconds(clock: Clock) -> None:
    listener, file = progress_listener()
    listener(Event("stage_started", "candidates", {"shards": 1}))
    for second in range(1, 36):
        clock.now += 1
        listener(Event("progress", "candidates", {"done": second, "total": 100}))
    assert file.getvalue().splitlines() == [
        "  candidates: 10% read, about 2 min left",
        "  candidates: 20% read, about 1 min left",
        "  candidates: 30% read, about 1 min left",
    ]


def test_progress_of_several_processes_counts_shards(clock: Clock) -> None:
    listener, file = progress_listener()
    listener(Event("stage_started", "candidates", {"shards": 4, "resumed": 1}))
    for _ in range(2):
        clock.now += 11
        listener(Event("shard_done", "candidates"))
    assert file.getvalue().splitlines()[1:] == [
        "  candidates: 2/4, about 22 s left",
        "  candidates: 3/4, about 11 s left",
    ]


def test_a_stage_without_progress_is_reported_as_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.cli.output._SILENCE", 0.04)
    listener, file = progress_listener()
    with listener:
        listener(Event("stage_started", "types", {"shards": 1}))
        while not file.getvalue():
            time.sleep(0.01)
    assert file.getvalue().startswith("  types: still running after 1 s\n")


def test_a_terminal_shows_a_progress_bar(clock: Clock) -> None:
    listener, file = progress_listener(terminal=True)
    with listener:
        listener(Event("stage_started", "candidates", {"shards": 1}))
        clock.now += 30
        listener(Event("progress", "candidates", {"done": 25, "total": 100}))
        assert listener._bars is not None
        listener._bars.refresh()
        listener(Event("stage_done", "candidates", {"rows": {"candidates": 3}, "seconds": 9.0}))
    assert "25% read, about 2 min left" in file.getvalue()


def test_status_reports_the_running_stage(
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
    assert "running" not in capsys.readouterr().out  # the run has died: no process holds its lock
    with storage_at(tmp_path / "runs" / "small").lock("scores/.lock", lambda: None):
        assert main(["status", "x.toml"]) == 0
        output = capsys.readouterr().out
        assert main(["status", "x.toml", "--json"]) == 0
        running = json.loads(capsys.readouterr().out)["running"]
    assert "running    scores                   25% of 4.0 MB read, for " in output
    assert (running["run"], running["stage"], running["unit"]) == ("r1", "scores", "bytes")
    assert (running["done"], running["total"]) == (1 << 20, 4 << 20)
