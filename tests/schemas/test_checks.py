"""What is checked of each table, in full: nothing that was ever checked is lost unseen."""

from __future__ import annotations

import difflib

import schemas
from tests.schemas.write_checks import CHECKS, lines, tables


def test_every_table_is_handed_out() -> None:
    missing = [
        f"from {table.__module__} import {table.__name__} as {table.__name__}"
        for table in tables()
        if getattr(schemas, table.__name__, None) is not table
    ]
    assert missing == [], "add it to schemas/__init__.py"


def test_as_much_is_checked_as_ever() -> None:
    """A new table or a new check adds its lines to the list; what goes is checked no more."""
    listed = CHECKS.read_text(encoding="utf-8").splitlines()
    changed = list(difflib.unified_diff(listed, lines(), "checks.txt", "schemas", n=0, lineterm=""))
    assert not changed, "\n".join(["run: python -m tests.schemas.write_checks", *changed])
