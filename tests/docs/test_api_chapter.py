"""The reference of the Python functions is that of their docstrings."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pipeline as lx

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "api.md").read_text(encoding="utf-8")


def test_the_reference_is_current() -> None:
    found = importlib.util.spec_from_file_location("update", DOCS / "update_api.py")
    assert found is not None
    assert found.loader is not None
    update = importlib.util.module_from_spec(found)
    found.loader.exec_module(update)
    assert update.chapter() == TEXT, "run: python docs/update_api.py"


def test_every_public_name_has_a_section() -> None:
    assert [name for name in lx.__all__ if f"\n## {name}\n" not in TEXT] == []


def test_it_does_not_depend_on_where_it_was_made() -> None:
    assert " at 0x" not in TEXT
    assert "PosixPath" not in TEXT
