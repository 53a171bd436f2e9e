"""Import names that readme, documentation and the example extension show keep working."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.moved import MOVED

ROOT = Path(__file__).parents[2]
KEPT = ("errors", "registry", "kernels.measure", "stages.base", "formats.base", "report.view")
"""Modules of ``pipeline`` that extensions import: where they are now is where they stay."""


def shown() -> Iterator[str]:
    """Yield every name of the project that is imported, as ``module`` or ``module:name``."""
    chapters = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    for chapter in chapters:
        text = chapter.read_text(encoding="utf-8") if chapter.exists() else ""
        for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
            yield from imports(block)
    for module in sorted((ROOT / "tests" / "runner" / "extension").rglob("*.py")):
        yield from imports(module.read_text(encoding="utf-8"))


def imports(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}:{alias.name}" for alias in node.names)


NAMES = sorted({name for name in shown() if re.match(r"(pipeline|schemas|lexassay)\b", name)})


def test_some_are_shown() -> None:
    assert "pipeline.kernels.measure:measure" in NAMES
    assert "schemas:Candidates" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_shown_name_can_be_imported(name: str) -> None:
    module, _, thing = name.partition(":")
    found = importlib.import_module(module)
    assert not thing or hasattr(found, thing)


@pytest.mark.parametrize("name", KEPT)
def test_module_of_extensions_is_where_it_was(name: str) -> None:
    assert importlib.import_module(f"pipeline.{name}").__name__ == f"pipeline.{name}"


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_module_that_has_moved_is_found_by_its_old_name(old: str, new: str) -> None:
    assert importlib.import_module(old) is importlib.import_module(new)
