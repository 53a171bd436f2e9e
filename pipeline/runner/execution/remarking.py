"""What the checks say of an artefact: kept beside it, heard again when the checks change."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import polars as pl

from pipeline import room, spill
from pipeline.registry import modules
from pipeline.remarks.base import CHECKS, Look
from pipeline.remarks.hearing import heard
from pipeline.remarks.remark import Remark
from pipeline.runner.execution.origins import scanned
from pipeline.runner.execution.shards import Task
from pipeline.runner.plan.digests import Digests
from pipeline.runner.store import store
from pipeline.runner.store.digest import canonical, text_digest
from pipeline.runner.store.manifest import Manifest, Record
from pipeline.runner.store.sealed import sealed, unsealed
from pipeline.runner.store.storage import folder_at, scan_tables
from pipeline.runner.store.verbs import Storage, beside

NAME = "remarks.json"
_BLOCK = 1 << 20
"""Bytes of a corpus that are read at a time for its first tokens."""


class Kept(Record):
    """The remarks on an artefact; `mark` says of which thresholds and checks they are."""

    mark: str
    remarks: tuple[Remark, ...]


def mark_of(thresholds: Mapping[str, float | bool], digests: Digests) -> str:
    """Return what remarks rest on besides the artefact: thresholds, and the code of all checks."""
    further = {name for name in CHECKS.registered().values() if not name.startswith("pipeline.")}
    code = digests.code([*modules("pipeline.remarks"), *further])
    return text_digest(canonical([dict(thresholds), code]))


def kept(storage: Storage, made: Manifest, mark: str = "") -> tuple[Remark, ...] | None:
    """Return the remarks that lie beside an artefact; None if there are none of this mark."""
    key = f"{store.folder_of(made.stage, made.fingerprint)}/{NAME}"
    try:
        with storage.open(key) as opened:
            found = unsealed(opened.read(), Kept)
    except (OSError, ValueError):
        return None
    return found.remarks if mark in {"", found.mark} else None


def remarks_of(
    task: Task, made: Manifest, thresholds: Mapping[str, float | bool], mark: str
) -> tuple[Remark, ...]:
    """Return the remarks on an artefact, heard now if they are not there.

    Parameters
    ----------
    task : Task
        The stage on all its input.
    made : Manifest
        What it made.
    thresholds : mapping of str to float or False
        Those that the experiment sets.
    mark : str
        Of these thresholds, see `mark_of`.
    """
    known = kept(task.storage, made, mark)
    if known is not None:
        return known
    aside = folder_at(task.storage, beside(task.folder, "staging-spill"))
    with room.limited(task.budget.memory), spill.within(aside):
        found = heard(_look(task, made), thresholds)
    # What cannot be kept, as the disk is full or read-only, is heard again at the next run.
    with suppress(OSError):
        task.storage.write(f"{task.folder}/{NAME}", sealed(Kept(mark=mark, remarks=found)))
    return found


def _look(task: Task, made: Manifest) -> Look:
    """Open what the stage was given and what it made; nothing is read before a check asks."""
    storage, stage = task.storage, task.stage
    tables = {option: scan_tables(storage, keys) for option, keys in task.tables.items()}
    corpus = stage.shards if stage.reads_corpus else None
    files = {
        option: scanned(stage, option, each)
        for option, each in task.sources.items()
        if option != corpus
    }
    return Look(
        task.use,
        task.config,
        {**tables, **files},
        {table: store.scan(storage, made, table) for table in made.tables},
        tokens=lambda option, most: _first_tokens(task, option, most),
        left_out=made.skipped,
        left_out_examples=made.skipped_examples,
    )


def _first_tokens(task: Task, option: str, most: int) -> pl.DataFrame:
    read = (
        batch.tokens
        for file in task.sources[option]
        for batch in file.batches(set(file.schema()), _BLOCK)
    )
    held, rows = [pl.DataFrame()], 0
    while rows < most and (tokens := next(read, None)) is not None:
        held.append(tokens)
        rows += tokens.height
    return pl.concat(held, how="diagonal_relaxed").head(most)
