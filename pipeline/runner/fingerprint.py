"""The fingerprint of a stage: everything that its result depends on, and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import platformdirs

from pipeline.formats.base import reading
from pipeline.runner import code_digests
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


_CODE: dict[tuple[str, ...], tuple[dict[str, str], dict[Path, code_digests.Source]]] = {}
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
        found, sources = _CODE.get(roots, ({}, {}))
        if not sources or any(self._source_of(path) is not had for path, had in sources.items()):
            read: dict[Path, code_digests.Source] = {}
            found = code_digests.code_digests(
                roots, lambda path: read.setdefault(path, self._source_of(path))
            )
            _CODE[roots] = found, read
        return dict(found)

    def keep(self) -> None:
        """Save them for the next run."""
        self._files.keep()
        self._sources.keep()


def _sources(storage: Storage) -> FileCache[code_digests.Source]:
    """Return the cache of code digests, which all stores share."""
    folder = platformdirs.user_cache_path("lexassay", appauthor=False) / CODE
    if folder.is_absolute():
        return _sources_in(folder)
    return _source_cache(storage)  # "~" where there is no home


@cache  # a process opens many stores, and reads the file once
def _sources_in(folder: Path) -> FileCache[code_digests.Source]:
    return _source_cache(storage_at(folder))


def _source_cache(place: Storage) -> FileCache[code_digests.Source]:
    own = Path(code_digests.__file__)
    mark = f"{sys.version} {own.parent} {file_digest(own)}"
    name = f"{text_digest(mark)[:_NAME]}.json"  # one for each installation
    return FileCache(place, name, code_digests.read_source, mark)


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


def of_counts(found: Ingredients, late: Collection[str]) -> Ingredients:
    """Return the dependencies of a stage's counts: all but the options used after counting.

    Parameters
    ----------
    found : Ingredients
        What its result depends on.
    late : collection of str
        Options to exclude, see `pipeline.stages.base.late_options`.

    Examples
    --------
    >>> of_counts({"config": {"fold": True, "min_frequency": 3}}, ["min_frequency"])
    {'config': {'fold': True}}
    """
    config = {name: value for name, value in found["config"].items() if name not in late}
    return {**found, "config": config}


def fingerprint(found: Ingredients) -> str:
    """Return the SHA-256 of the canonical JSON of the ingredients."""
    return text_digest(canonical(found))


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
    return f"{part} {name}: {_short(before[name])} -> {_short(after[name])}"


def _short(value: Any) -> str:
    """Show a value; a digest by its first digits."""
    if isinstance(value, str) and len(value) == 64:
        return value[:10]
    if isinstance(value, list) and value:
        shown = ", ".join(_short(each) for each in value[:3])
        return f"{shown} ... ({len(value)})" if len(value) > 3 else shown
    return canonical(value)


def _is_schema(module: str) -> bool:
    return module.partition(".")[0] == "schemas"
