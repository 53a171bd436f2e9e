"""The chapter on measures names every registered measure, with what the registry says."""

from __future__ import annotations

from pathlib import Path

from pipeline.kernels.measure import MEASURES
from tests.docs.scripts import script

DOCS = Path(__file__).parents[2] / "docs"


def test_the_tables_are_those_of_the_registry() -> None:
    update = script("update_measures")
    text = (DOCS / "measures.md").read_text(encoding="utf-8")
    assert text == update.updated(text), "run: python docs/update_measures.py"


def test_every_measure_is_named() -> None:
    text = (DOCS / "measures.md").read_text(encoding="utf-8")
    assert [name for name in MEASURES if f"| `{name}` |" not in text] == []
