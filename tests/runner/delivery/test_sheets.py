"""Sheets get the next free number, and none that is taken."""

from __future__ import annotations

import pytest

from pipeline.formats.spreadsheets import listing
from pipeline.runner import delivery
from tests.runner.laboratory import Laboratory

SHEET = """
[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
folder = "desk"
labels = ["yes", "no"]
annotators = ["anna", "ben"]
kind = "csv"
"""


def test_a_folder_that_is_full_of_sheets(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    laboratory.config.write_text(laboratory.config.read_text() + SHEET)
    desk = laboratory.folder / "sheets" / "small" / "desk"
    monkeypatch.setattr(delivery, "_MOST", 2)
    done = laboratory.call("run")
    assert done.code == 1
    assert f"{desk} is full of sheets" in done.err
    (written,) = listing(desk)
    assert written.name == "001-anna.csv"
    before = written.read_bytes()
    monkeypatch.undo()
    laboratory.run()
    assert [path.name for path in listing(desk)] == ["001-anna.csv", "002-ben.csv"]
    assert written.read_bytes() == before
