"""The reference of the command line is that of the commands."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from pipeline.cli.app import COMMANDS
from tests.docs.scripts import script

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "commands.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def update() -> ModuleType:
    return script("update_commands")


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
