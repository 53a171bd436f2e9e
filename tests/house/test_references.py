"""Names in docstrings and comments exist: `module.name`, `pipeline.a.b.name`, `Class.name`, `name`.

A single name must be a module, a definition or member anywhere, or occur in the same file.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_layers import ROOT

FILES = sorted(path for top in ("pipeline", "schemas") for path in ROOT.glob(f"{top}/**/*.py"))
_NAME = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.\w+)*)(?:\([^`]*\))?`(?!`)")
OTHERS = {
    *(
        "np",
        "pl",
        "time",
        "name",
        "prop",
        "spark",
        "index",
        "a",
    ),  # of other packages or of none
    *("run", "stage", "option", "systems"),  # a Run, tables of stages, inputs
}
"""First parts of dotted names that are neither modules nor classes of the project."""


class Modules:
    """The definitions of modules, read without importing them."""

    def __init__(self, files: list[Path]) -> None:
        self.names: dict[str, set[str]] = {}
        self.classes: dict[str, set[str]] = defaultdict(set)
        self.kinds: set[str] = set()
        for path in files:
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            self._add(".".join(parts), ast.parse(path.read_text(encoding="utf-8")))
        self.stems: dict[str, set[str]] = defaultdict(set)
        for module in self.names:
            self.stems[module.rpartition(".")[2]].add(module)
        self.all = set().union(self.stems, *self.names.values(), *self.classes.values())

    def _add(self, module: str, tree: ast.Module) -> None:
        self.names.setdefault(module, set()).update(_defined_names(tree.body))
        while "." in module:
            module, _, child = module.rpartition(".")
            self.names.setdefault(module, set()).add(child)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self.classes[node.name] |= _members(node)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "stage":
                self.kinds |= {
                    str(each.value) for each in node.args if isinstance(each, ast.Constant)
                }

    def has(self, name: str) -> bool:
        """Return whether a name exists; of several modules with one stem, one must have it."""
        first, _, rest = name.partition(".")
        if not rest:
            return name in self.all
        if name in self.kinds or first in OTHERS:
            return True
        if first in ("pipeline", "schemas"):
            return self._in_module(first, rest)
        if first in self.classes:
            return rest.partition(".")[0] in self.classes[first]
        return any(self._in_module(module, rest) for module in self.stems.get(first, ()))

    def _in_module(self, module: str, rest: str) -> bool:
        first, _, further = rest.partition(".")
        if f"{module}.{first}" in self.names:
            return not further or self._in_module(f"{module}.{first}", further)
        if first not in self.names[module]:
            return False
        return not further or first not in self.classes or further in self.classes[first]


def _defined_names(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements define."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (each.asname or each.name for each in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (each for target in targets for each in ast.walk(target))
            yield from (each.id for each in names if isinstance(each, ast.Name))
        elif isinstance(node, ast.If | ast.Try):
            yield from _defined_names(node.body)


def _members(node: ast.ClassDef) -> set[str]:
    """Return the members of a class, with attributes that its methods set on `self`."""
    members = set(_defined_names(node.body))
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            members.add(each.attr)
    return members


def identifiers(source: str) -> Iterator[str]:
    """Yield the names in code, and the strings that look like names: columns and options."""
    for node in ast.walk(ast.parse(source)):
        values = (getattr(node, field, None) for field in ("id", "arg", "attr", "value"))
        yield from (each for each in values if isinstance(each, str) and each.isidentifier())


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments and docstrings, also of attributes, with their first lines."""
    if any("#" in line and "`" in line for line in source.splitlines()):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.lineno, str(node.value.value)


def references(source: str) -> Iterator[tuple[int, str]]:
    """Yield the names in backticks, each with its line."""
    for line, text in prose(source):
        for match in _NAME.finditer(text):
            yield line + text.count("\n", 0, match.start()), match[1]


MODULES = Modules(FILES)


def test_names_in_docstrings_and_comments_exist() -> None:
    missing = []
    for path in FILES:
        source = path.read_text(encoding="utf-8")
        unknown = [each for each in references(source) if not MODULES.has(each[1])]
        own = set(identifiers(source)) if unknown else set()
        where = path.relative_to(ROOT)
        missing += [f"{where}:{line}: {name}" for line, name in unknown if name not in own]
    assert not missing, "\n" + "\n".join(missing)


def test_references_are_found_in_docstrings_and_comments() -> None:
    source = '"""Of `a.b`.\n\nAnd `c.d(1)`, not ``e.f``.\n"""\nx = 1  # `g`\n"""As `i.j`."""\n'
    assert sorted(references(source)) == [(1, "a.b"), (3, "c.d"), (5, "g"), (6, "i.j")]


def test_identifiers_are_found_in_code() -> None:
    source = '"""Of `a`."""\ndef b(c):  # `d`\n    return e.f(g="h", i="j k")\n'
    assert sorted(identifiers(source)) == ["c", "e", "f", "g", "h", "i"]


@pytest.mark.parametrize(
    ("name", "exists"),
    [
        ("sequential.SPENDING", True),
        ("pipeline.registry.NameIn", True),
        ("schemas.Precision", True),
        ("evaluate.precision", True),
        ("Registry.get", True),
        ("pair_key", True),
        ("registry", True),
        ("sequential.nothing", False),
        ("pipeline.nothing.Named", False),
        ("Registry.nothing", False),
        ("nothing_of_this_name", False),
        ("alpha_spending.SPENDING", False),
    ],
)
def test_existing_and_missing_names_are_distinguished(name: str, exists: bool) -> None:
    assert MODULES.has(name) == exists
