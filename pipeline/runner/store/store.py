"""The content-addressed store: ``<stage>/<fingerprint>/`` of an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

import polars as pl

from pipeline.errors import StageFailed, StoreError
from pipeline.runner.events import Listener, tell
from pipeline.runner.store import manifest
from pipeline.runner.store.manifest import Manifest
from pipeline.runner.store.storage import scan_tables
from pipeline.runner.store.verbs import Storage

LOCK = ".lock"
COUNTS = "counts"
"""Folder of the counts of a stage, among its results."""
_DIGITS = 24
"""Hexadecimal digits of a fingerprint in a folder's name; the manifest has them all."""
_WAITING = "another run is at work on it; waiting"


def folder_of(stage: str, fingerprint: str) -> str:
    """Return the key where the artefact of a stage lies, or would lie."""
    return f"{stage}/{fingerprint[:_DIGITS]}"


def counts_of(stage: str) -> str:
    """Return what stands for a stage where its counts are looked for, which are artefacts too.

    Examples
    --------
    >>> folder_of(counts_of("candidates"), 64 * "a")
    'candidates/counts/aaaaaaaaaaaaaaaaaaaaaaaa'
    """
    return f"{stage}/{COUNTS}"


def find(
    storage: Storage, stage: str, fingerprint: str, *, thorough: bool = False
) -> Manifest | None:
    """Return the manifest of a whole artefact; None if there is none.

    Parameters
    ----------
    storage : Storage
        What holds the experiment's results.
    stage : str
        Name of the stage.
    fingerprint : str
        What it rests on.
    thorough : bool
        Whether to compare the content of every file, or sizes alone.
    """
    folder = folder_of(stage, fingerprint)
    artefact = manifest.read(storage, folder)
    if artefact is None or artefact.fingerprint != fingerprint:
        return None
    return None if manifest.damage(storage, folder, artefact, thorough=thorough) else artefact


def complaint(storage: Storage, stage: str, fingerprint: str) -> str | None:
    """Return what is wrong with an artefact that is there but cannot be used."""
    folder = folder_of(stage, fingerprint)
    if not any(storage.list(folder)):  # and not all folders of the stage, which may be very many
        return None
    name = folder.removeprefix(f"{stage}/")
    artefact = manifest.read(storage, folder)
    if artefact is None:
        return f"{name} has no readable {manifest.NAME}"
    if artefact.fingerprint != fingerprint:
        return f"its {manifest.NAME} is of another result"
    wrong = manifest.damage(storage, folder, artefact, thorough=True)
    return "; ".join(wrong[:3]) if wrong else None


def scan(storage: Storage, found: Manifest, table: str) -> pl.LazyFrame:
    """Return the query of a table of an artefact."""
    keys = found.keys(folder_of(found.stage, found.fingerprint), table)
    for key in keys:  # Polars would take an empty folder in its place for no rows
        storage.open(key).close()
    return scan_tables(storage, keys)


def artefacts(storage: Storage, stage: str) -> list[Manifest]:
    """Return every whole artefact of a stage, the newest first."""
    whole = [each for entry in storage.list(stage) if (each := manifest.read(storage, entry.key))]
    return sorted(whole, key=lambda each: each.created, reverse=True)


@contextmanager
def unharmed(storage: Storage, made: Iterable[Manifest]) -> Iterator[None]:
    """Say of results that cannot be read that they are damaged, and where they lie.

    Raises
    ------
    StoreError
        If that is why what was done with them failed.
    """
    try:
        yield
    except (OSError, pl.exceptions.PolarsError, StageFailed) as error:
        for each in made:
            folder = folder_of(each.stage, each.fingerprint)
            if wrong := manifest.damage(storage, folder, each, thorough=True):
                raise StoreError(
                    f"the results of stage {each.stage} in {storage.location(folder)} are damaged:"
                    f" {wrong[0]}; run again: they are made anew"
                ) from error
        raise


@contextmanager
def in_use(
    storage: Storage, listeners: Sequence[Listener], *, alone: bool = False
) -> Iterator[None]:
    """Hold an experiment's results, together with other runs or alone.

    A process that removes what is not needed must not do so under the hands of a run.
    """
    with ExitStack() as held:
        with storage.guarded("the run", ""):
            waiting = partial(tell, listeners, "message", text=_WAITING)
            held.enter_context(storage.lock(LOCK, waiting, shared=not alone))
        yield


@contextmanager
def locked(
    storage: Storage, stage: str, listeners: Sequence[Listener], *, shared: bool = False
) -> Iterator[None]:
    """Hold the lock of a stage; wait, and say so, while another process has it.

    Tasks of a stage share it: a run waits for them, and they wait for a run.
    """
    with ExitStack() as held:
        with storage.guarded(f"stage {stage}", stage):
            waiting = partial(tell, listeners, "message", stage, text=_WAITING)
            held.enter_context(storage.lock(f"{stage}/{LOCK}", waiting, shared=shared))
        yield
