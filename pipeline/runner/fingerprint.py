"""The fingerprint of a stage: everything that its result depends on, and nothing else."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

from pipeline.formats.base import reading
from pipeline.runner.graph import Node
from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.digest import FILES, FileCache, canonical, file_digest, text_digest
from pipeline.runner.store.interface import Storage
from pipeline.stages.base import STAGES

CODE = "code"
"""The cache of digests and imports of modules: the folder in the cache of this user."""
LIBRARIES = ("numpy", "polars", "polars-hash", "scipy")
"""Libraries whose versions can change a result."""
_NAME = 16

Ingredients = dict[str, dict[str, Any]]


# Digests of input files and of code, cached between runs


_CODE: dict[tuple[str, ...], tuple[dict[str, str], dict[Path, Source]]] = {}
"""Digests of the code that roots can reach, and the modules they were found in, for the process."""


class Digests:
    """Digests of input files and code, for the duration of a run."""

    def __init__(self, storage: Storage) -> None:
        self._files = FileCache(storage, FILES, file_digest)
        self._sources = _sources(storage)
        self._source_of = cache(self._sources.of)

    def of(self, path: Path) -> str:
        """Return the SHA-256 of a file's content; DataError where it cannot be read."""
        with reading(path):
            return self._files.of(path)

    def code(self, modules: Iterable[str]) -> dict[str, str]:
        """Return the digests of the modules that the given ones depend on, see `code_digests`."""
        roots = tuple(sorted({*modules}))
        digests, sources = _CODE.get(roots, ({}, {}))
        if not sources or any(self._source_of(path) is not had for path, had in sources.items()):
            new: dict[Path, Source] = {}
            digests = code_digests(roots, lambda path: new.setdefault(path, self._source_of(path)))
            _CODE[roots] = digests, new
        return dict(digests)

    def keep(self) -> None:
        """Save them for the next run."""
        self._files.keep()
        self._sources.keep()


def _sources(storage: Storage) -> FileCache[Source]:
    """Return the cache of code digests, which all stores share."""
    folder = platformdirs.user_cache_path("lexassay", appauthor=False) / CODE
    if folder.is_absolute():
        return _sources_in(folder)
    return _source_cache(storage)  # "~" where there is no home


@cache  # a process opens many stores, and reads the file once
def _sources_in(folder: Path) -> FileCache[Source]:
    return _source_cache(storage_at(folder))


def _source_cache(place: Storage) -> FileCache[Source]:
    own = Path(__file__)
    mark = f"{sys.version} {own.parent} {file_digest(own)}"
    name = f"{text_digest(mark)[:_NAME]}.json"  # one for each installation
    return FileCache(place, name, read_source, mark)


# Fingerprints


def ingredients(
    node: Node,
    *,
    inputs: Mapping[str, str],
    files: Mapping[str, Any],
    readers: Iterable[str],
    digests: Digests,
) -> Ingredients:
    """Return everything a stage's result depends on, part by part.

    Threads, host, time and paths are not part of it.

    Parameters
    ----------
    node : Node
        The stage.
    inputs : mapping of str to str
        Option to the digest of the table that it refers to.
    files : mapping of str to value
        Option to format, options and content digests of the files that it reads.
    readers : iterable of str
        Modules of the readers of these files.
    digests : Digests
        Of the code.
    """
    modules = node.stage.places(node.config)
    code = digests.code([STAGES.place(node.stage.name), *readers, *modules])
    return {
        "config": {"use": node.stage.name, **node.own_config()},
        "inputs": {**inputs, **files},
        "schema": {name: each for name, each in code.items() if _is_schema(name)},
        "code": {name: each for name, each in code.items() if not _is_schema(name)},
        "versions": versions(),
    }


def of_counts(parts: Ingredients, late: Collection[str]) -> Ingredients:
    """Return the dependencies of a stage's counts: all but the options used after counting.

    Parameters
    ----------
    parts : Ingredients
        What its result depends on.
    late : collection of str
        Options to exclude, see `pipeline.stages.base.late_options`.

    Examples
    --------
    >>> of_counts({"config": {"fold": True, "min_frequency": 3}}, ["min_frequency"])
    {'config': {'fold': True}}
    """
    config = {name: value for name, value in parts["config"].items() if name not in late}
    return {**parts, "config": config}


def fingerprint(parts: Ingredients) -> str:
    """Return the SHA-256 of the canonical JSON of the ingredients."""
    return text_digest(canonical(parts))


@cache
def versions() -> dict[str, str]:
    """Return the versions of the libraries that can change a result."""
    return {name: version(name) for name in LIBRARIES}


def differences(old: Ingredients, new: Ingredients) -> list[str]:
    """Return the differences between two sets of ingredients.

    Examples
    --------
    >>> differences({"config": {"rate": 0.1}}, {"config": {"rate": 0.2}})
    ['config rate: 0.1 -> 0.2']
    >>> differences({"inputs": {"files": ["a", "b"]}}, {"inputs": {"files": ["b", "a"]}})
    ['inputs files: the same in another order, as their names have changed']
    """
    changed: list[str] = []
    for part in (*new, *(each for each in old if each not in new)):
        before, after = old.get(part, {}), new.get(part, {})
        for name in sorted({*before, *after}):
            one, two = before.get(name), after.get(name)
            if isinstance(one, dict) and isinstance(two, dict):
                keys = sorted(key for key in {*one, *two} if one.get(key) != two.get(key))
                changed += [_difference(f"{part} {name}", key, one, two) for key in keys]
            elif one != two:
                changed.append(_difference(part, name, before, after))
    return changed


def _difference(part: str, name: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    if name not in before:
        value = "" if part in {"code", "schema"} else f", {_short(after[name])}"
        return f"{part} {name}: new{value}"
    if name not in after:
        return f"{part} {name}: removed"
    one, two = before[name], after[name]
    if part.startswith("inputs") and name == "files" and sorted(one) == sorted(two):
        return f"{part} {name}: the same in another order, as their names have changed"
    return f"{part} {name}: {_short(one)} -> {_short(two)}"


def _short(value: Any) -> str:
    """Show a value; a digest by its first digits."""
    if isinstance(value, str) and len(value) == 64:
        return value[:10]
    if isinstance(value, list) and value:
        text = ", ".join(_short(each) for each in value[:3])
        return f"{text} ... ({len(value)})" if len(value) > 3 else text
    return canonical(value)


def _is_schema(module: str) -> bool:
    return module.partition(".")[0] == "schemas"


# Digests of the code that a stage can reach, per definition, through any number of imports.


OWN = ("lexassay", "pipeline", "schemas")
"""Top-level packages whose modules are followed."""


class Import(NamedTuple):
    """One name of an import: ``from module import name as local``; of a module, no name."""

    module: str
    level: int
    name: str
    local: str


class Statement(NamedTuple):
    """A top-level statement of a module.

    Parameters
    ----------
    names : list of str
        Names that it binds; none for a call.
    digest : str
        SHA-256 of its syntax tree without docstrings; "" for an import.
    uses : list of str
        Names that it reads, except those before a dot.
    attributes : list of (str, str)
        ``a.b`` as (a, b).
    imports : list of Import
        Imports in it, at any depth.
    checked : bool
        Whether only type checkers see it.
    """

    names: list[str]
    digest: str
    uses: list[str]
    attributes: list[tuple[str, str]]
    imports: list[Import]
    checked: bool


Source = list[Statement]
"""The top-level statements of a module."""
Place = tuple[str, str]
"""A module and a name in it; "" for all of the module."""


def read_source(path: Path) -> Source:
    """Return the statements of a module; JSON may turn tuples into lists."""
    return _source(path.read_bytes())


@cache  # runs and reports of one process rest on the same modules
def _source(content: bytes) -> Source:
    tree = ast.parse(content)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [child for child in node.body if not _is_text(child)] or [ast.Pass()]
    return [_statement(node, checked=checked) for node, checked in _top_level(tree.body)]


def code_digests(
    roots: Iterable[str], source_of: Callable[[Path], Any] = read_source
) -> dict[str, str]:
    """Return the digest of the reachable definitions of every module that the roots can reach.

    Parameters
    ----------
    roots : iterable of str
        Dotted names of modules, or ``module:name`` for one definition.
    source_of : callable
        Reads the statements of a module, or knows them already.

    Returns
    -------
    dict of str to str
        Module name to the SHA-256 of the reached statements, sorted by name.

    Examples
    --------
    >>> found = code_digests(["pipeline.kernels.nbest.ranking"])
    >>> "pipeline.kernels.sampling" in found, "pipeline.kernels.nbest.comparison" in found
    (True, False)
    >>> part = code_digests(["pipeline.kernels.nbest.ranking:rank"])
    >>> part["pipeline.kernels.nbest.ranking"] == found["pipeline.kernels.nbest.ranking"]
    False
    """
    places = [(module, name) for module, _, name in (root.partition(":") for root in roots)]
    reach = _Reach({*OWN, *(module.partition(".")[0] for module, _ in places)}, source_of)
    closure: set[Place] = set()
    while places:
        if (place := places.pop()) not in closure:
            closure.add(place)
            places += reach.visit(*place)
    return reach.digests()


class _Module:
    """The statements of a module by the names that they bind."""

    def __init__(self, name: str, origin: Path, source: Iterable[Any]) -> None:
        self.statements = [Statement(*each) for each in source]
        self.package = name if origin.name == "__init__.py" else name.rpartition(".")[0]
        self.reached: set[int] = set()
        self.every = {index for index, one in enumerate(self.statements) if one.digest}
        self._calls = {index for index in self.every if not self.statements[index].names}
        self._bound: dict[str, set[int]] = {}
        self._imports: tuple[dict[str, Import], dict[str, Import]] = ({}, {})
        for index, one in enumerate(self.statements):
            for bound in one.names if one.digest else ():
                self._bound.setdefault(bound, set()).add(index)
            for each in () if one.digest else one.imports:
                self._imports[one.checked].setdefault(each[-1], Import(*each))

    def meaning(self, name: str) -> tuple[set[int], list[Import]]:
        """Return the statements behind a name, and the imports that bind it.

        Statements that bind nothing are always included. A name bound for type checkers only is
        found by ``__getattr__``; an unbound one means the module.
        """
        bound = self._bound.get(name, set())
        for imports in self._imports:
            if bound or name in imports:
                return self._calls | bound, [imports[name]] if name in imports else []
        return self.every, [each for imports in self._imports for each in imports.values()]

    def names_in(self, index: int) -> Iterator[tuple[str, Import | None, list[str]]]:
        """Yield the names that a statement uses, the imports that bind them, and attributes."""
        statement = self.statements[index]
        within = {each[-1]: Import(*each) for each in statement.imports}
        after: dict[str, list[str]] = {}
        for base, attribute in statement.attributes:
            after.setdefault(base, []).append(attribute)
        for name in {*statement.uses, *after, *within}:
            if name not in within and name in self._bound:
                yield name, None, []
            elif entry := within.get(name) or self._imports[False].get(name):
                yield name, entry, [] if name in statement.uses else after.get(name, [])


class _Reach:
    """The reached modules, and the names reached in each."""

    def __init__(self, own: set[str], source_of: Callable[[Path], Any]) -> None:
        self._own = own
        self._source_of = source_of
        self._modules: dict[str, _Module] = {}

    def digests(self) -> dict[str, str]:
        """Return the digest of the reachable definitions of each module."""
        return {
            name: text_digest(
                "".join(each.statements[index].digest for index in sorted(each.reached))
            )
            for name, each in sorted(self._modules.items())
            if each.reached
        }

    def visit(self, module: str, name: str) -> Iterator[Place]:
        """Reach a name of a module, and yield the places that it uses."""
        if not self._is_own(module) or (origin := _origin(module)) is None:
            return
        if module not in self._modules:
            self._modules[module] = _Module(module, origin, self._source_of(origin))
        code = self._modules[module]
        bound, imports = code.meaning(name)
        for each in imports:
            yield from self._import_targets(each, code.package, [])
        for index in bound - code.reached:
            code.reached.add(index)
            for used, by, attributes in code.names_in(index):
                if by is None:
                    yield module, used
                else:
                    yield from self._import_targets(by, code.package, attributes)

    def _import_targets(self, entry: Import, package: str, names: Iterable[str]) -> Iterator[Place]:
        """Yield the targets of an import: a name, a module, or names of a module."""
        if not entry.name:
            yield entry.module, ""
            return
        parents = package.split(".")
        above = parents[: len(parents) - entry.level + 1] if entry.level else []
        base = ".".join([*above, *([entry.module] if entry.module else [])])
        inner = f"{base}.{entry.name}"
        if not self._is_own(base):
            return
        if _origin(inner) is None:
            yield base, entry.name
        else:
            yield from ((inner, name) for name in names or [""])

    def _is_own(self, module: str) -> bool:
        return module.partition(".")[0] in self._own


def _top_level(body: Iterable[ast.stmt]) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements of a module, those only for type checkers separately."""
    for node in body:
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from ((each, True) for each in node.body)
            yield from ((each, False) for each in node.orelse)
        else:
            yield node, False


def _statement(node: ast.stmt, *, checked: bool) -> Statement:
    every = list(ast.walk(node))
    bases = {id(each.value): each.attr for each in every if isinstance(each, ast.Attribute)}
    loaded = [each for each in every if isinstance(each, ast.Name)]
    is_import = isinstance(node, ast.Import | ast.ImportFrom)
    imports = [entry for each in every for entry in _imports(each)]
    return Statement(
        names=[entry.local for entry in imports] if is_import else sorted(_bound(node)),
        digest="" if is_import else text_digest(ast.unparse(node)),
        uses=sorted({each.id for each in loaded if id(each) not in bases}),
        attributes=sorted({(each.id, bases[id(each)]) for each in loaded if id(each) in bases}),
        imports=imports,
        checked=checked,
    )


def _imports(node: ast.AST) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import(each.name, 0, "", each.asname or each.name) for each in node.names)
    elif isinstance(node, ast.ImportFrom):
        for each in node.names:
            yield Import(node.module or "", node.level, each.name, each.asname or each.name)


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds directly, not within functions or classes."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _bound(child)


def _is_text(node: ast.stmt) -> bool:
    """Return whether a statement is a bare string: a docstring of a thing or an attribute."""
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
