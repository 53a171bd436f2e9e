"""The reference of the Python functions is that of their docstrings."""

from __future__ import annotations

from pathlib import Path

import pipeline as lx
from tests.docs.scripts import script

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "api.md").read_text(encoding="utf-8")


def test_the_reference_is_current() -> None:
    update = script("update_api")
    assert update.chapter() == TEXT, "run: python docs/update_api.py"


def test_every_public_name_has_a_section() -> None:
    assert [name for name in lx.__all__ if f"\n## {name}\n" not in TEXT] == []


def test_it_does_not_depend_on_where_it_was_made() -> None:
    assert " at 0x" not in TEXT
    assert "PosixPath" not in TEXT
