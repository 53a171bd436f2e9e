"""Digests of input files and of code, remembered between runs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pipeline.formats.reading import reading
from pipeline.runner.plan import code_digests
from pipeline.runner.store.digest import file_digest
from pipeline.runner.store.remembered import Remembered
from pipeline.runner.store.verbs import Storage

FILES = ".files.json"
"""Digests of input files, remembered."""
CODE = ".code.json"
"""Digests and imports of modules, remembered."""


class Digests:
    """What a run has seen of input files and code; exists as long as the run."""

    def __init__(self, storage: Storage) -> None:
        mark = f"{sys.version} {file_digest(Path(code_digests.__file__))}"
        self._files = Remembered(storage, FILES, file_digest)
        self._sources = Remembered(storage, CODE, code_digests.read_source, mark)
        self._source_of = cache(self._sources.of)

    def of(self, path: Path) -> str:
        """Return the SHA-256 of a file's content; DataError where it cannot be read."""
        with reading(path):
            return self._files.of(path)

    def code(self, modules: Iterable[str]) -> dict[str, str]:
        """Return the digests of the modules that the given ones rest on, see `code_digests`."""
        return code_digests.code_digests(modules, self._source_of)

    def keep(self) -> None:
        """Remember them for the next run."""
        self._files.keep()
        self._sources.keep()
