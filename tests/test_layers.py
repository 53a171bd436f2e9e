"""Imports go one way: the layers of the architecture, checked on every module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED = {
    "schemas": set(),
    "errors": {"schemas"},
    "registry": {"errors"},
    "kernels": {"errors", "registry", "schemas"},
    "stages": {"errors", "registry", "schemas", "kernels"},
    "formats": {"errors", "registry", "schemas"},
    "engine": {"errors"},
    "runner": {"errors", "registry", "schemas", "stages", "formats", "engine"},
    "report": {"errors", "registry", "schemas"},
}
FILES = sorted([*ROOT.glob("schemas/**/*.py"), *ROOT.glob("pipeline/**/*.py")])


def layer(module: str) -> str:
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] if top == "pipeline" else top


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            if node.module == "pipeline":
                found |= {f"pipeline.{alias.name}" for alias in node.names}
    return {layer(name) for name in found if name.split(".")[0] in {"pipeline", "schemas"}} - {""}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_layers(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    own = layer(name)
    if own in ALLOWED:
        assert imported(path) <= ALLOWED[own] | {own}


def test_every_folder_is_a_layer() -> None:
    folders = {path.parent.name for path in ROOT.glob("pipeline/*/__init__.py")}
    assert folders - {"cli", "planning"} <= set(ALLOWED)  # both know people


@pytest.mark.parametrize("package", ["kernels", "stages"])
def test_kernels_and_stages_touch_no_file(package: str) -> None:
    words = {
        "open",
        "read_csv",
        "scan_csv",
        "scan_parquet",
        "read_parquet",
        "write_parquet",
        "Path",
    }
    for path in (ROOT / "pipeline" / package).glob("**/*.py"):
        names = {n.id for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Name)}
        attributes = {
            n.attr for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Attribute)
        }
        assert not (names | attributes) & words, path.name


def test_no_file_is_too_long() -> None:
    long = [path for path in FILES if len(path.read_text().splitlines()) > 400]
    assert not long
