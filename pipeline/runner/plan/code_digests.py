"""Fingerprint of code: the syntax trees of a module and of all that it imports.

Comments, docstrings and layout do not count; every other change does, however many imports
away. Only modules of the project and of extension packages are followed; libraries count by
their versions.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

OWN = ("lexassay", "pipeline", "schemas")
"""Top-level packages whose modules are followed."""


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where statements stand within others."""


class Statement(NamedTuple):
    """A statement that imports: ``from module import name as exported``, at the top or within.

    Of a plain ``import`` the level is -1 and the names are modules.
    """

    module: str
    level: int
    names: list[tuple[str, str]]
    top: bool


Source = tuple[str, list[Statement]]
"""Digest of a module's syntax tree, and what it imports."""


def read_source(path: Path) -> Source:
    """Return digest and imports of a module; JSON may turn tuples into lists."""
    return _source(path.read_bytes())


@cache  # runs and reports of one process rest on the same modules
def _source(content: bytes) -> Source:
    tree = ast.parse(content)
    nodes = [tree, *_statements_of(tree)]  # expressions hold neither imports nor docstrings
    statements = [found for node in nodes if (found := _statement(node))]
    for node in nodes:
        _drop_docstrings(node)
    text = ast.unparse(tree)
    return hashlib.sha256(text.encode()).hexdigest(), statements


def code_digests(
    modules: Iterable[str], source_of: Callable[[Path], Source] = read_source
) -> dict[str, str]:
    """Return the digest of every module that the given ones rest on, themselves included.

    Parameters
    ----------
    modules : iterable of str
        Dotted names of modules.
    source_of : callable
        Reads a module, or knows it already.

    Returns
    -------
    dict of str to str
        Module name to the SHA-256 of its syntax tree, sorted by name.

    Examples
    --------
    >>> found = code_digests(["pipeline.kernels.nbest.ranking"])
    >>> "pipeline.kernels.hashing" in found, "pipeline.kernels.sampling" in found
    (True, False)
    """
    roots = list(modules)
    own = frozenset(OWN) | {root.partition(".")[0] for root in roots}
    seen: dict[str, str] = {}
    source_of = cache(source_of)
    while roots:
        name = roots.pop()
        origin = None if name in seen else _origin(name)
        if origin is None:
            continue
        seen[name], statements = source_of(origin)
        package = name if origin.name == "__init__.py" else name.rpartition(".")[0]
        for one in statements:
            roots += _targets(Statement(*one), package, own, source_of)
    return dict(sorted(seen.items()))


def _statement(node: ast.AST) -> Statement | None:
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return None
    names = [(alias.name, alias.asname or alias.name) for alias in node.names]
    if isinstance(node, ast.Import):
        return Statement("", -1, names, not node.col_offset)
    return Statement(node.module or "", node.level, names, not node.col_offset)


def _statements_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements below a node, and what else holds statements, level by level."""
    level: list[ast.AST] = [node]
    while level:
        level = [
            child
            for each in level
            for block in _BLOCKS
            for child in getattr(each, block, ())
            if isinstance(child, ast.AST)
        ]
        yield from level


def _drop_docstrings(node: ast.AST) -> None:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        kept = [child for child in node.body if not _is_text(child)]
        node.body = kept or [ast.Pass()]


def _is_text(node: ast.stmt) -> bool:
    """Tell whether a statement is a bare string: a docstring of a thing or an attribute."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


@cache
def _origin(name: str) -> Path | None:
    parent = name.rpartition(".")[0]
    above = _origin(parent) if parent else None
    if above is not None and above.name != "__init__.py":
        return None  # to look for a module in a module would import that, and all that it needs
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin)


def _targets(
    statement: Statement, package: str, own: frozenset[str], source_of: Callable[[Path], Source]
) -> list[str]:
    """Return the modules that an import statement names; a name of a module is that module."""
    if statement.level < 0:
        targets = [name for name, _ in statement.names]
    else:
        parents = package.split(".")
        above = parents[: len(parents) - statement.level + 1] if statement.level else []
        base = ".".join([*above, *([statement.module] if statement.module else [])])
        if base.partition(".")[0] not in own:
            return []
        inside = ((name, f"{base}.{name}") for name, _ in statement.names)
        targets = [
            each if _origin(each) else _definer(base, name, source_of) for name, each in inside
        ]
    return [name for name in targets if name.partition(".")[0] in own]


def _definer(package: str, name: str, source_of: Callable[[Path], Source]) -> str:
    """Return the module that a package re-exports a name from, or the package itself."""
    origin = _origin(package)
    if origin is None or origin.name != "__init__.py":
        return package
    for module, level, names, top in source_of(origin)[1]:
        exported = top and module and not level and name in {shown for _, shown in names}
        if exported and not _origin(f"{module}.{name}"):
            return module
    return package
