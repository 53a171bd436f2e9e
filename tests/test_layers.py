"""Imports go one way, and no family knows another: checked on every module.

What a layer may import, a folder of ``pipeline`` with all in it, stands in `MAY`; the order of all
folders, with those inside a layer, is that of the map in CONTRIBUTING.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAP = [
    line.split()[0] for line in GUIDE.partition("\n## How")[0].splitlines() if line[:4] == "    "
]
"""The folders in the order of their imports: what stands below imports what stands above."""
MAY = {
    "schemas": set(),
    "allocation": set(),
    "causes": set(),
    "described": set(),
    "errors": {"schemas"},
    "templates": set(),
    "plugins": {"errors"},
    "room": {"errors"},
    "spill": set(),
    "registry": {"errors", "plugins", "templates"},
    "expressions": set(),
    "kernels": {
        "causes",
        "errors",
        "room",
        "spill",
        "expressions",
        "registry",
        "schemas",
        "templates",
    },
    "stages": {
        "causes",
        "described",
        "errors",
        "room",
        "spill",
        "expressions",
        "registry",
        "schemas",
        "kernels",
    },
    "remarks": {"causes", "errors", "spill", "registry", "schemas", "kernels"},
    "formats": {"causes", "described", "errors", "room", "spill", "registry", "schemas"},
    "engine": {"allocation", "errors", "registry"},
    "runner": {
        "allocation",
        "causes",
        "described",
        "errors",
        "room",
        "spill",
        "expressions",
        "registry",
        "schemas",
        "stages",
        "remarks",
        "formats",
        "engine",
    },
    "findings": {"errors", "registry", "schemas", "kernels", "remarks"},
    "report": {
        "described",
        "errors",
        "room",
        "registry",
        "schemas",
        "kernels",
        "remarks",
        "formats",
        "engine",
        "findings",
    },
    "api": {
        "allocation",
        "causes",
        "errors",
        "room",
        "expressions",
        "registry",
        "schemas",
        "kernels",
        "remarks",
        "formats",
        "runner",
        "findings",
        "report",
    },
    "recipes": {"described", "errors", "schemas", "kernels", "stages", "formats", "runner", "api"},
    "annotate": {
        *("causes", "errors", "registry", "schemas", "kernels", "stages", "formats"),
        *("runner", "report", "api"),
    },
    "sizing": {"errors", "registry", "schemas", "kernels", "stages", "runner", "report", "api"},
    "cli": {
        *("allocation", "causes", "errors", "room", "registry", "schemas", "kernels"),
        *("stages", "remarks", "formats"),
        "runner",
        *("report", "api", "recipes", "annotate", "sizing"),
    },
}
"""Each layer, and the layers that it may import."""

FAMILIES = {
    "collocations": {"association", "cooccurrence", "nbest", "collocations"},
    "clustering": {"clustering"},
    "lexicon": {"lexicon"},
}
"""The families, and the folders of kernels, stages and views that belong to each."""

APART = {
    "formats": ("corpora", "tables", "sheets", "decisions"),
    "kernels": ("association", "cooccurrence"),
    "runner": ("plan", "delivery"),
}
"""The folders of a layer that import nothing of each other."""

TITLED = {
    "pipeline.kernels.clustering.measure",
    "pipeline.kernels.measure_titles",
    "pipeline.kernels.statistics.exact_tests",
    "pipeline.kernels.statistics.intervals",
    "pipeline.kernels.statistics.multiplicity",
}
"""All that the report may import of kernels: where things say what they are called."""

FILES = sorted([*ROOT.glob("schemas/**/*.py"), *ROOT.glob("pipeline/**/*.py")])


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path) for path in FILES}


@cache
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


def folder(module: str) -> str:
    """Return the folder that a module stands in, as the map has it."""
    path = ROOT / Path(*module.split("."))
    return (path if path.is_dir() else path.parent).relative_to(ROOT).as_posix()


def inside(one: str, other: str) -> bool:
    """Return whether a folder is another one or stands in it."""
    return f"{one}/".startswith(f"{other}/")


def family(module: str) -> str:
    folders = module.split(".")[2:]
    fitting = [name for name, own in FAMILIES.items() if own & set(folders)]
    return (
        fitting[0]
        if layer(module) in {"kernels", "stages", "findings", "report"} and fitting
        else ""
    )


def test_imports_follow_the_layers() -> None:
    wrong = {}
    for path in FILES:
        own = layer(name_of(path))
        others = {layer(name) for name in imported(path)} - {""}
        if own in MAY and (beyond := others - MAY[own] - {own}):
            wrong[name_of(path)] = beyond
    assert wrong == {}


def test_families_do_not_know_each_other() -> None:
    wrong = {}
    for path in FILES:
        own = name_of(path)
        others = {family(name) for name in imported(path)} - {family(own), ""}
        if others and layer(own) in {"kernels", "stages", "findings", "report"}:
            wrong[own] = others
    assert wrong == {}


def test_imports_go_up_the_map() -> None:
    wrong = {}
    for path in FILES:
        own = folder(name_of(path))
        others = {folder(name) for name in imported(path)}
        aside = {other for other in others if not inside(own, other) and not inside(other, own)}
        if below := {other for other in aside if MAP.index(other) > MAP.index(own)}:
            wrong[name_of(path)] = below
    assert wrong == {}


@pytest.mark.parametrize(("layered", "folders"), APART.items(), ids=list(APART))
def test_some_folders_do_not_know_each_other(layered: str, folders: tuple[str, ...]) -> None:
    for name in folders:
        files = (ROOT / "pipeline" / layered / name).glob("**/*.py")
        known = {folder(each).split("/")[2] for path in files for each in imported(path)
                 if folder(each).startswith(f"pipeline/{layered}/")}  # fmt: skip
        assert known & set(folders) <= {name}


def test_the_report_takes_titles_alone_from_kernels() -> None:
    found = {name for path in FILES if layer(name_of(path)) == "report" for name in imported(path)}
    assert {name for name in found if layer(name) == "kernels"} == TITLED


def test_every_folder_is_a_layer() -> None:
    assert {path.parent.name for path in ROOT.glob("pipeline/*/__init__.py")} <= set(MAY)


@pytest.mark.parametrize("layered", ["kernels", "stages"])
def test_kernels_and_stages_are_shared_or_of_one_family(layered: str) -> None:
    folders = {path.parent.name for path in ROOT.glob(f"pipeline/{layered}/*/__init__.py")}
    families = set().union(*FAMILIES.values())
    assert folders <= families | {
        "statistics",
        "annotation",
        "design",
        "estimates",
        "machine",
        "planning",
    }


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
