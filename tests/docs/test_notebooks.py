"""Notebooks are kept as docs/update_notebooks.py writes them: run, and without traces of where."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(ROOT.glob("docs/notebooks/*.ipynb"))
TRACE = re.compile(r"/(?:tmp|home|root|Users|var|private)/|site-packages|\bin \d+\.\d+ s\b")


def read(notebook: Path) -> dict[str, Any]:
    return json.loads(notebook.read_text(encoding="utf-8"))


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_was_run_in_order(notebook: Path) -> None:
    cells = [cell for cell in read(notebook)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert any(cell["outputs"] for cell in cells)
    assert not [out for cell in cells for out in cell["outputs"] if out["output_type"] == "error"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_says_where_and_when_it_was_run(notebook: Path) -> None:
    content = read(notebook)
    assert set(content["metadata"]) == {"kernelspec", "language_info"}
    assert content["metadata"]["kernelspec"]["name"] == "python3"
    assert [cell["id"] for cell in content["cells"]] == [
        f"cell-{place}" for place in range(1, len(content["cells"]) + 1)
    ]
    assert all(set(cell["metadata"]) <= {"tags"} for cell in content["cells"])
    shown = [cell.get("outputs", []) for cell in content["cells"]]
    assert TRACE.findall(json.dumps(shown)) == []
