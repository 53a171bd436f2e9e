"""The reference of the command line is that of the commands."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from pipeline.cli.app import COMMANDS

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "commands.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def update() -> ModuleType:
    found = importlib.util.spec_from_file_location("update", DOCS / "update_commands.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_reference_is_current(update: ModuleType) -> None:
    assert update.chapter() == TEXT, "run: python docs/update_commands.py"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section(name: str) -> None:
    assert f"\n### lexassay {name}\n" in TEXT


def test_every_option_says_what_it_takes_or_is_a_switch() -> None:
    rows = [line.split(" | ") for line in TEXT.splitlines() if line.startswith("| `")]
    valued = [row for row in rows if " " in row[0].split("`")[1]]
    assert len(valued) > 20
    assert [row[0] for row in valued if not row[1].strip()] == []


def test_it_does_not_depend_on_where_it_was_made() -> None:
    assert "PosixPath" not in TEXT
    assert str(Path.home()) not in TEXT
