"""Rules for source code: a heading has a section below it; participles are no names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import groupby, pairwise

import pytest

from tests.test_layers import ROOT

FILES = sorted(path for top in ("pipeline", "schemas") for path in ROOT.glob(f"{top}/**/*.py"))
MORE = sorted(
    path
    for top in ("tests", "benchmarks", "data", "docs", ".ci")
    for path in ROOT.glob(f"{top}/**/*.py")
)

VERBS = {"embed", "exceed", "feed", "need", "proceed", "seed", "speed", "bcubed"}
"""Verbs and nouns with the ending of a participle."""
IRREGULAR = {
    "begun", "bought", "built", "chosen", "done", "drawn", "found", "given", "grown", "held", "hidden",
    "kept", "known", "left", "lost", "made", "met", "said", "seen", "sent", "shown", "spent", "spoken",
    "taken", "told", "written",
}  # fmt: skip
EXACT = {"built", "drawn", "hidden", "known", "left", "lost"}
VAGUE = (IRREGULAR - EXACT) | {"asked", "named", "typed", "wanted", "wished"}
"""Names that do not say what a value is."""
REGISTERS = {"check", "property", "cached_property"}
"""Decorators of functions whose name is the code of a remark or is used like an attribute."""


def orphans(source: str) -> Iterator[tuple[int, str]]:
    """Yield separate comments that are followed by another such comment or by the end."""
    texts = groupby(enumerate(source.split("\n"), 1), key=lambda each: bool(each[1].strip()))
    parts = [list(lines) for is_text, lines in texts if is_text]
    headings = [all(line.startswith("#") for _, line in part) for part in parts]
    for part, (heading, end) in zip(parts, pairwise([*headings, True]), strict=True):
        if heading and end:
            yield part[0]


def participles(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of functions and classes that are named by a participle alone."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        calls = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
        if REGISTERS.isdisjoint(getattr(each, "id", "") for each in calls):
            words = re.findall("[A-Z]?[a-z0-9]+", node.name)
            word = words[0].lower() if len(words) == 1 else ""
            if (word.endswith("ed") and word not in VERBS) or word in IRREGULAR:
                yield node.lineno, node.name


def vague_names(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of parameters and variables of functions with a vague name."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.arg):
                name = node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            else:
                continue
            if name.strip("_") in VAGUE:
                yield node.lineno, name


def test_each_heading_has_a_section() -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in FILES
        for line, text in orphans(path.read_text(encoding="utf-8"))
    ]
    assert not faults, "\n" + "\n".join(faults)


def test_headings_without_a_section_are_found() -> None:
    source = "# A.\n\n\n# B,\n# of two lines.\n\n# Of c.\nc = 1\n# No heading.\nd = 2\n\n# E.\n"
    assert list(orphans(source)) == [(1, "# A."), (12, "# E.")]


def test_no_function_or_class_is_named_by_a_participle_alone() -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in [*FILES, *MORE]
        for line, name in participles(path.read_text(encoding="utf-8"))
    ]
    assert not faults, "\n" + "\n".join(faults)


def test_no_parameter_or_variable_has_a_vague_name() -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in [*FILES, *MORE]
        for line, name in sorted(set(vague_names(path.read_text(encoding="utf-8"))))
    ]
    assert not faults, "\n" + "\n".join(faults)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def _drawn(): ...\nclass Watched: ...\nclass LogDamaged:\n    def made(self): ...", ["_drawn", "Watched", "made"]),
        ("def draw(): ...\ndef drawn_sample(): ...\ndef seed(): ...\nfound = 1", []),
        ("@check(stages=())\ndef undecided(): ...\n@property\ndef named(self): ...", []),
    ],
)  # fmt: skip
def test_participles_are_found(source: str, names: list[str]) -> None:
    assert [name for _, name in participles(source)] == names


def test_vague_names_are_found() -> None:
    source = "class C:\n    made: int\ndef f(given, *, kept=1):\n    found_rows = [said for said in given]\n"
    assert [name for _, name in vague_names(source)] == ["given", "kept", "said"]
