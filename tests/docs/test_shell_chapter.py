"""The keys that docs/shell.md lists are those that are printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pipeline.cli.main import main

CHAPTER = (Path(__file__).parents[2] / "docs" / "shell.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the experiment that every family starts with, run."""
    made = tmp_path_factory.mktemp("shell")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        assert main(["new", "collocations"]) == 0
        assert main(["run", "experiment.toml", "--no-report", "--quiet"]) == 0
    return made


@pytest.mark.parametrize("command", ["plan", "status", "sheets"])
def test_keys_are_described(
    command: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert main([command, "experiment.toml", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    tables = [table for table in CHAPTER.split("\n\n") if table.startswith("| `")]
    named = [table for table in tables if f"`{command}`" in table.splitlines()[0]]
    listed = set(re.findall(r"`([a-z_]+)`", " ".join(
        line.split("|")[1] for table in named for line in table.splitlines()[2:]
    )))  # fmt: skip
    assert set(printed) <= listed
    inner = set(re.findall(r"`(?:stages\[\])?\.([a-z]+)`", " ".join(named)))
    for stage in printed.get("stages", []):
        assert set(stage) == inner
