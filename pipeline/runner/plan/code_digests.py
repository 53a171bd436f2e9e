"""Fingerprint of code: the syntax trees of a module and of all that it imports.

Comments, docstrings and layout do not count; every other change does, however many imports
away. Only modules of the project and of extension packages are followed; libraries count by
their versions.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

_Statement: TypeAlias = ast.Import | ast.ImportFrom

OWN = ("pipeline", "schemas")
"""Top-level packages whose modules are followed."""


def code_digests(modules: Iterable[str]) -> dict[str, str]:
    """Return the digest of every module that the given ones rest on, themselves included.

    Parameters
    ----------
    modules : iterable of str
        Dotted names of modules.

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
    while roots:
        name = roots.pop()
        origin = None if name in seen else _origin(name)
        if origin is None:
            continue
        seen[name] = _digest(origin, *_stamp(origin))
        roots += _imports(name, own)
    return dict(sorted(seen.items()))


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4096)
def _digest(path: Path, _modified: int, _size: int) -> str:
    tree = _without_docstrings(ast.parse(path.read_bytes()))
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        kept = [child for child in node.body if not _is_text(child)]
        node.body = kept or [ast.Pass()]
    return tree


def _is_text(node: ast.stmt) -> bool:
    """Tell whether a statement is a bare string: a docstring of a thing or an attribute."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


@cache
def _origin(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin)


def _imports(name: str, own: frozenset[str]) -> Iterator[str]:
    origin = _origin(name)
    if origin is None:
        return
    package = name if origin.name == "__init__.py" else name.rpartition(".")[0]
    for node in _import_statements(origin, *_stamp(origin)):
        for found in _targets(node, package):
            if found.partition(".")[0] in own:
                yield found


@lru_cache(maxsize=4096)
def _import_statements(path: Path, _modified: int, _size: int) -> tuple[_Statement, ...]:
    nodes = ast.walk(ast.parse(path.read_bytes()))
    return tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))


def _targets(node: _Statement, package: str) -> Iterator[str]:
    """Yield the modules that an import statement names; a name of a module is that module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    else:
        parents = package.split(".")
        above = parents[: len(parents) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            inside = f"{base}.{alias.name}"
            yield inside if _origin(inside) else _definer(base, alias.name)


def _definer(package: str, name: str) -> str:
    """Return the module that a package re-exports a name from, or the package itself."""
    origin = _origin(package)
    if origin is None or origin.name != "__init__.py":
        return package
    for node in _import_statements(origin, *_stamp(origin)):
        if not isinstance(node, ast.ImportFrom) or node.col_offset:
            continue
        if node.module and not node.level:
            exported = {alias.asname or alias.name for alias in node.names}
            if name in exported and not _origin(f"{node.module}.{name}"):
                return node.module
    return package
