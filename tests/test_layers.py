"""Imports go one way, and no family knows another: checked on every module.

A module's place is its folder below ``pipeline``: "kernels", "kernels/nbest". What a folder may
import stands in `MAY`; a folder below is held to what the one above it may, and to `FAMILIES`.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY = {
    "schemas": set(),
    "errors": {"schemas"},
    "templates": set(),
    "registry": {"errors", "templates"},
    "kernels": {"errors", "registry", "schemas", "templates"},
    "stages": {"errors", "registry", "schemas", "kernels"},
    "formats": {"errors", "registry", "schemas"},
    "engine": {"errors", "registry"},
    "runner": {"errors", "registry", "schemas", "stages", "formats", "engine"},
    "report": {"errors", "registry", "schemas"},
    "api": {"errors", "registry", "schemas", "kernels", "formats", "runner", "report"},
    "sizing": {"errors", "registry", "schemas", "kernels", "runner", "report", "api"},
    "cli": {
        *("errors", "registry", "schemas", "kernels", "stages", "formats", "runner", "report"),
        *("api", "sizing"),
    },
}
"""Each layer, and the layers that it may import."""

FAMILIES = {
    "collocations": {"association", "cooccurrence", "nbest", "collocations"},
    "clustering": {"clustering"},
    "lexicon": {"lexicon"},
}
"""The families, and the folders of kernels, stages and views that belong to each."""

WITHIN: dict[str, dict[str, set[str]]] = {
    "kernels": {"statistics": set(), "association": {"statistics"}, "cooccurrence": set()},
    "formats": {"corpora": set(), "tables": set(), "sheets": set()},
    "runner": {
        "store": set(),
        "config": {"store"},
        "plan": {"config", "store"},
        "delivery": {"config", "store"},
        "execution": {"config", "plan", "store", "delivery"},
    },
    "report": {"charts": set(), "page": {"charts"}, "views": {"charts", "page"}},
}
"""The folders of a layer that are floors of it, and the floors below that each may import."""

FILES = sorted([*ROOT.glob("schemas/**/*.py"), *ROOT.glob("pipeline/**/*.py")])


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path) for path in FILES}


def imported(path: Path) -> set[str]:
    """Return the modules of the project that a module imports, as far down as they are named."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else node.module for name in inside}
    return {name for name in found if name.partition(".")[0] in {"pipeline", "schemas"}}


def layer(module: str) -> str:
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] if top == "pipeline" else top


def floor(module: str) -> str:
    """Return the folder of a layer that a module stands in, empty at its top."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 and (ROOT / Path(*parts[:3])).is_dir() else ""


def family(module: str) -> str:
    folders = module.split(".")[2:]
    fitting = [name for name, own in FAMILIES.items() if own & set(folders)]
    return fitting[0] if layer(module) in {"kernels", "stages", "report"} and fitting else ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_layers(path: Path) -> None:
    own = name_of(path)
    if layer(own) in MAY:
        others = {layer(name) for name in imported(path)} - {""}
        assert others <= MAY[layer(own)] | {layer(own)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_families_do_not_know_each_other(path: Path) -> None:
    own = name_of(path)
    if layer(own) not in {"kernels", "stages", "report"}:
        return
    assert {family(name) for name in imported(path)} <= {family(own), ""}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down_the_floors_of_a_layer(path: Path) -> None:
    own = name_of(path)
    floors = WITHIN.get(layer(own), {})
    if floor(own) in floors:
        inside = {floor(name) for name in imported(path) if layer(name) == layer(own)} & set(floors)
        assert inside <= floors[floor(own)] | {floor(own)}


def test_every_folder_is_a_layer() -> None:
    assert {path.parent.name for path in ROOT.glob("pipeline/*/__init__.py")} <= set(MAY)


@pytest.mark.parametrize("layered", ["kernels", "stages"])
def test_kernels_and_stages_are_shared_or_of_one_family(layered: str) -> None:
    folders = {path.parent.name for path in ROOT.glob(f"pipeline/{layered}/*/__init__.py")}
    families = set().union(*FAMILIES.values())
    assert folders <= families | {"statistics", "annotation"}


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
