"""Digests of input files and of code, remembered between runs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import platformdirs

from pipeline.formats.reading import reading
from pipeline.runner.plan import code_digests
from pipeline.runner.store.digest import file_digest, text_digest
from pipeline.runner.store.remembered import Remembered
from pipeline.runner.store.storage import storage_at
from pipeline.runner.store.verbs import Storage

FILES = ".files.json"
"""Digests of input files, remembered."""
CODE = "code"
"""Digests and imports of modules, remembered: the folder in the cache of this user."""
_NAME = 16


class Digests:
    """What a run has seen of input files and code; exists as long as the run."""

    def __init__(self, storage: Storage) -> None:
        self._files = Remembered(storage, FILES, file_digest)
        self._sources = _sources(storage)
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


def _sources(storage: Storage) -> Remembered[code_digests.Source]:
    """Return what is known of the code, which is the same whatever the store."""
    own = Path(code_digests.__file__)
    mark = f"{sys.version} {own.parent} {file_digest(own)}"
    folder = platformdirs.user_cache_path("lexassay", appauthor=False) / CODE
    name = f"{text_digest(mark)[:_NAME]}.json"  # one for each installation
    place = storage_at(folder) if folder.is_absolute() else storage  # "~" where there is no home
    return Remembered(place, name, code_digests.read_source, mark)
