"""Imports follow the layers, families are separate, files are short: checked for every module."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY = {
    "schemas": (),
    "allocator": (),
    "config_model": (),
    "release": (),
    "errors": ("release", "schemas"),
    "expressions": (),
    "memory": ("errors",),
    "registry": ("errors", "release"),
    "kernels": ("errors", "expressions", "memory", "registry", "schemas"),
    "stages": ("config_model", "errors", "expressions", "kernels", "memory", "registry", "schemas"),
    "remarks": ("errors", "kernels", "memory", "registry", "schemas"),
    "formats": ("config_model", "errors", "memory", "registry", "release", "schemas"),
    "engine": ("allocator", "errors", "registry", "release"),
    "runner": (
        *("allocator", "config_model", "engine", "errors", "expressions", "formats", "memory"),
        *("registry", "release", "remarks", "schemas", "stages"),
    ),
    "findings": ("errors", "kernels", "registry", "remarks", "schemas"),
    "report": (
        *("config_model", "engine", "errors", "findings", "formats", "kernels", "memory"),
        *("registry", "remarks", "schemas"),
    ),
    "api": (
        *("allocator", "errors", "expressions", "findings", "formats", "kernels", "memory"),
        *("registry", "release", "remarks", "report", "runner", "schemas"),
    ),
    "recipes": (
        *("api", "config_model", "errors", "formats", "kernels", "registry", "runner", "schemas"),
        "stages",
    ),
    "annotate": (
        *("api", "errors", "formats", "kernels", "registry", "report", "runner", "schemas"),
        "stages",
    ),
    "sizing": ("api", "errors", "kernels", "registry", "report", "runner", "schemas", "stages"),
    "cli": (
        *("allocator", "annotate", "api", "errors", "expressions", "formats", "kernels", "memory"),
        *("recipes", "registry", "release", "remarks", "report", "runner", "schemas", "sizing"),
        "stages",
    ),
}
"""Each layer, a folder or a file of ``pipeline``, and the layers that it may import."""

FAMILIES = {
    "collocations": {"association", "cooccurrence", "nbest", "collocations"},
    "clustering": {"clustering"},
    "lexicon": {"lexicon"},
}
"""The families, and the folders of kernels, stages and views that belong to each."""

TITLES = {
    "pipeline.kernels.clustering.measure",
    "pipeline.kernels.measure",
    "pipeline.kernels.statistics.exact_tests",
    "pipeline.kernels.statistics.intervals",
}
"""All that the report may import from kernels: modules that define titles."""
MOST = 700
"""Maximal number of lines of code in a file."""

FILES = sorted([*ROOT.glob("schemas/**/*.py"), *ROOT.glob("pipeline/**/*.py")])


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path) for path in FILES}


@cache
def imported_modules(path: Path) -> set[str]:
    """Return the modules of the project that a module imports, as deep as it names them."""
    result: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            result |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            result |= {name if name in MODULES else node.module for name in inside}
    return {name for name in result if name.partition(".")[0] in {"pipeline", "schemas"}}


def layer(module: str) -> str:
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] if top == "pipeline" else top


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
        others = {layer(name) for name in imported_modules(path)} - {""}
        if own in MAY and (beyond := others - {*MAY[own], own}):
            wrong[name_of(path)] = beyond
    assert wrong == {}


def test_families_do_not_import_each_other() -> None:
    wrong = {}
    for path in FILES:
        own = name_of(path)
        others = {family(name) for name in imported_modules(path)} - {family(own), ""}
        if others and layer(own) in {"kernels", "stages", "findings", "report"}:
            wrong[own] = others
    assert wrong == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    left = {name_of(path): imported_modules(path) & MODULES - {name_of(path)} for path in FILES}
    while free := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in free}
    assert left == {}


def test_the_report_imports_only_titles_from_kernels() -> None:
    names = {
        name
        for path in FILES
        if layer(name_of(path)) == "report"
        for name in imported_modules(path)
    }
    assert {name for name in names if layer(name) == "kernels"} == TITLES


def test_every_module_is_in_a_layer() -> None:
    assert {layer(name) for name in MODULES} - {""} == set(MAY)


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
    lengths = {name_of(path): code_lines(path) for path in FILES}
    assert {name: lines for name, lines in lengths.items() if lines > MOST} == {}


def code_lines(path: Path) -> int:
    """Return how many lines of a file hold code: no docstrings, no comments, no blank lines."""
    text = path.read_text()
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }  # fmt: skip
    return sum(
        number not in docstrings and bool(line.strip()) and not line.strip().startswith("#")
        for number, line in enumerate(text.splitlines(), start=1)
    )
