"""What programs and scripts rely on: ``--json``, ``--quiet``, no colours where nobody looks."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli.main import main
from tests.runner.commands import environment
from tests.small_experiment import SMALL

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
"""Codes of colours; bold and the like are none."""
STEP = {"name", "use", "state", "reasons", "tables", "seconds", "created"}
PLAN = {"experiment", "results", "sweep_points", "stages"}
PEOPLE = {"sheets", "people", "left_aside", "former"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.toml").write_text(SMALL)
    (tmp_path / "people.toml").write_text(SHEETS.replace("small", "people"))
    lines = [f"a{i}\tb{i % 3}\t{i + 1}\t{i + 3}\t{40 - i}\t90\t{i % 2}" for i in range(12)]
    head = "l1\tl2\tf\tf1\tf2\tN\tTP"
    (tmp_path / "pairs.tsv").write_text("\n".join([head, *lines]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return what a command says as JSON, the whole of its output."""
    capsys.readouterr()
    assert main(words) == 0
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    return said


def test_plan_and_status_before_and_after(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = told(["plan", "x.toml", "--json"], capsys)
    assert set(before) == PLAN
    assert all(set(step) == STEP for step in before["stages"])
    first, *_, last = before["stages"]
    assert (first["name"], first["use"], first["state"]) == (
        "candidates", "extract.table", "run",
    )  # fmt: skip
    assert first["reasons"] == ["it has never run"]
    assert (last["state"], last["tables"], last["seconds"]) == ("unknown", {}, None)
    assert main(["run", "x.toml", "--no-report"]) == 0
    after = told(["status", "x.toml", "--json"], capsys)
    assert set(after) >= {*PLAN, *PEOPLE, "done", "remarks", "report"}
    assert (after["done"], after["report"], after["people"]) == (4, None, [])
    assert {step["name"]: step["tables"] for step in after["stages"]}["ranks"] == {"ranks": 24}
    assert all(step["state"] == "done" and step["reasons"] == [] for step in after["stages"])
    assert main(["run", "x.toml"]) == 0
    page = told(["status", "x.toml", "--json"], capsys)["report"]
    assert (folder / page).is_file()


def test_points_of_a_sweep(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = '[sweep]\ncollect = ["ranks"]\n[sweep.over]\n"stages.ranks.seed" = ["a", "b", "c"]\n'
    (folder / "x.toml").write_text(SMALL + sweep)
    assert told(["plan", "x.toml", "--json"], capsys)["sweep_points"] == 3


def test_people_and_their_sheets(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "people.toml", "--no-report"]) == 3
    said = told(["sheets", "people.toml", "--json"], capsys)
    assert set(said) == {"experiment", *PEOPLE, "moved"}
    assert folder / said["sheets"] == folder / "sheets" / "people"
    (person,) = said["people"]
    assert (person["asked"], person["done"], person["saved"]) == (5, 0, None)
    assert Path(person["folder"]) == Path(said["sheets"]) / "pairs"
    assert (said["left_aside"], said["former"], said["moved"]) == ([], [], [])
    status = told(["status", "people.toml", "--json"], capsys)
    assert {name: status[name] for name in PEOPLE} == {name: said[name] for name in PEOPLE}


def test_quiet_says_only_errors_and_what_waits(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "x.toml", "--quiet"]) == 0
    assert (folder / "runs/small/report/index.html").is_file()
    assert main(["gc", "x.toml", "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["run", "people.toml", "--quiet"]) == 3
    waiting = capsys.readouterr()
    assert re.fullmatch(r"waiting: .*\n", waiting.out)
    assert waiting.err == ""
    with (folder / "pairs.tsv").open("a") as pairs:
        pairs.write("q\tr\tmany\t3\t4\t90\t1\n")
    assert main(["run", "x.toml", "--quiet"]) == 1
    failed = capsys.readouterr()
    assert failed.out == ""
    assert failed.err.startswith("lexassay: ")
    assert "'many'" in failed.err


def test_a_run_that_waits_says_how_to_label_in_the_browser(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "people.toml").rename(folder / "my people.toml")
    said = "in the browser: lexassay annotate 'my people.toml'\n"
    assert main(["run", "my people.toml", "--no-report"]) == 3
    assert capsys.readouterr().out.endswith(said)
    # A what-if asks nobody: the pages would be for other sheets.
    assert main(["run", "my people.toml", "--no-report", "--set", "seed=other"]) == 3
    assert "in the browser" not in capsys.readouterr().out


def seen(words: list[str], more: Mapping[str, str] | None = None) -> bytes:
    """Return all that a command writes to a terminal."""
    mine, theirs = pty.openpty()
    variables = environment(more={"TERM": "xterm", "COLUMNS": "100", **(more or {})})
    with subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", *words], stdin=subprocess.DEVNULL,
        stdout=theirs, stderr=theirs, env=variables,
    ) as process:  # fmt: skip
        os.close(theirs)
        written = b""
        while chunk := _read(mine):
            written += chunk
    os.close(mine)
    assert process.returncode == 0, written
    return written


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.usefixtures("folder")
@pytest.mark.long
def test_colours_are_for_terminals_that_want_them() -> None:
    assert seen(["run", "x.toml", "--quiet"]) == b""
    run = ["run", "x.toml", "--no-report", "--force", "ranks"]
    assert COLOUR.search(seen(run, {"NO_COLOR": ""}))
    assert not COLOUR.search(seen(run, {"NO_COLOR": "1"}))
    shown = ["show", "x.toml", "ranks", "--rows", "2"]
    assert b"\x1b[" in seen(shown, {"NO_COLOR": ""})
    assert b"\x1b" not in seen(shown, {"NO_COLOR": "1"})
    piped = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", *shown], capture_output=True, check=True
    )
    assert b"\x1b" not in piped.stdout + piped.stderr


@pytest.mark.long
@pytest.mark.parametrize("words", [["measures"], ["schema"], ["measures", "--format", "csv"]])
def test_who_reads_the_beginning_alone_is_told_of_no_failure(words: list[str]) -> None:
    command = [sys.executable, "-m", "pipeline.cli", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
