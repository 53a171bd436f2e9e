"""What differs between two runs: settings, digests, rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from pipeline.runner.plan.fingerprint import differences
from pipeline.runner.store import store
from pipeline.runner.store.history import RunRecord
from pipeline.runner.store.manifest import Manifest
from pipeline.runner.store.verbs import Storage
from pipeline.stages.base import STAGES


@dataclass(frozen=True)
class TableDifference:
    """How a table of one run differs from that of another."""

    table: str
    only_first: int
    only_second: int
    changed: int
    examples: pl.DataFrame


@dataclass(frozen=True)
class StageDifference:
    """How a stage of one run differs from that of another."""

    stage: str
    reasons: tuple[str, ...]
    tables: tuple[TableDifference, ...]


def settings_differ(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the settings that differ, as dotted paths from value to value."""
    flat = [dict(_flatten(each)) for each in (first, second)]
    changed = []
    for path in sorted({*flat[0], *flat[1]}):
        before, after = (each.get(path, "(absent)") for each in flat)
        if before != after:
            changed.append(f"{path}: {before} -> {after}")
    return changed


def stages_differ(
    first: tuple[Storage, RunRecord], second: tuple[Storage, RunRecord]
) -> Iterator[StageDifference]:
    """Yield the stages whose results differ.

    Parameters
    ----------
    first, second : (Storage, RunRecord)
        Where the experiment's results are, and the record of the run.
    """
    (storage_1, run_1), (storage_2, run_2) = first, second
    for name in dict.fromkeys([*run_1.stages, *run_2.stages]):
        before, after = run_1.stages.get(name), run_2.stages.get(name)
        if before and after and before.digests == after.digests:
            continue
        manifests = _manifest(storage_1, run_1, name), _manifest(storage_2, run_2, name)
        if not (manifests[0] and manifests[1]):
            states = [record.outcome if record else "absent" for record in (before, after)]
            yield StageDifference(name, (f"{states[0]} -> {states[1]}",), ())
            continue
        reasons = tuple(differences(manifests[0].ingredients, manifests[1].ingredients))
        tables = tuple(_tables_differ((storage_1, manifests[0]), (storage_2, manifests[1])))
        yield StageDifference(name, reasons, tables)


def _manifest(storage: Storage, run: RunRecord, name: str) -> Manifest | None:
    record = run.stages.get(name)
    return store.find(storage, name, record.fingerprint) if record and record.fingerprint else None


def _tables_differ(
    first: tuple[Storage, Manifest], second: tuple[Storage, Manifest]
) -> Iterator[TableDifference]:

    before, after = first[1].digests(), second[1].digests()
    models = STAGES.get(second[1].use).outputs
    for table in sorted(set(before) & set(after)):
        if before[table] != after[table]:
            frames = store.scan(*first, table), store.scan(*second, table)
            yield _table_differs(table, *frames, list(models[table].key()))


def _table_differs(
    name: str, first: pl.LazyFrame, second: pl.LazyFrame, key: list[str]
) -> TableDifference:
    gone = first.join(second, on=key, how="anti").select(pl.len()).collect().item()
    new = second.join(first, on=key, how="anti").select(pl.len()).collect().item()
    shared = [
        c for c in first.collect_schema().names() if c in second.collect_schema() and c not in key
    ]
    both = first.join(second, on=key, how="inner", suffix=" (second)")
    unequal = [pl.col(c).ne_missing(pl.col(f"{c} (second)")) for c in shared]
    changed = both.filter(pl.any_horizontal(pl.lit(value=False), *unequal)).sort(key)
    count = changed.select(pl.len()).collect().item()
    return TableDifference(name, gone, new, count, changed.head(3).collect())


def _flatten(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{path}.")
        else:
            yield path, value
