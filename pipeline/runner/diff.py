"""Differences between two runs: settings, digests, rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from pipeline.errors import StoreError
from pipeline.runner.fingerprint import differences
from pipeline.runner.store import artefacts
from pipeline.runner.store.artefacts import Manifest
from pipeline.runner.store.history import RunRecord
from pipeline.runner.store.interface import Storage
from pipeline.stages.base import STAGES
from schemas import DrawnCandidates, Table
from schemas.candidates import arity

ID = "id"
_SECOND = " (second)"
EXAMPLES = 3
"""Rows of each kind that are shown."""
_COLUMNS = 5
"""Columns that are named."""
_CHANCE = "pi"
"""Says how a draw was made: at another rate all draws have another one, and are the same draws."""


@dataclass(frozen=True)
class ChangedRow:
    """A row of both runs: its key, and the values that differ, before and after."""

    key: dict[str, Any]
    values: dict[str, tuple[Any, Any]]


@dataclass(frozen=True)
class TableDifference:
    """How a table of one run differs from that of another.

    Parameters
    ----------
    table : str
        Its name.
    only_first, only_second, changed : int
        Rows in the first run only, in the second only, and in both with different values.
    removed, new : list of dict
        Keys of the first rows in one run only.
    examples : list of ChangedRow
        The first changed rows; of draws, those that differ in more than their probability.
    columns : dict of str to int
        Number of changed rows in which each column differs, most first; equal columns are omitted.
    """

    table: str
    only_first: int
    only_second: int
    changed: int
    removed: list[dict[str, Any]]
    new: list[dict[str, Any]]
    examples: list[ChangedRow]
    columns: dict[str, int]

    def example_keys(self) -> list[dict[str, Any]]:
        """Return the keys of all rows that are named."""
        return [*self.removed, *self.new, *(each.key for each in self.examples)]

    def with_words(self, words: Mapping[str, str]) -> TableDifference:
        """Return the same with the words of candidates after their ids."""

        def extend(key: dict[str, Any]) -> dict[str, Any]:
            extended: dict[str, Any] = {}
            for name, value in key.items():
                extended[name] = value
                if name == ID and value in words:
                    extended["words"] = words[value]
            return extended

        return replace(
            self,
            removed=[extend(key) for key in self.removed],
            new=[extend(key) for key in self.new],
            examples=[replace(each, key=extend(each.key)) for each in self.examples],
        )


def columns_text(columns: Mapping[str, int]) -> str:
    """Return the changed columns with their numbers of rows, in brackets; empty if none.

    Examples
    --------
    >>> columns_text({"pi": 510}), columns_text({})
    (' (pi in 510)', '')
    >>> columns_text(dict.fromkeys("abcdefg", 2))
    ' (a in 2, b in 2, c in 2, d in 2, e in 2, 2 more columns)'
    """
    parts = [f"{name} in {rows:,}" for name, rows in list(columns.items())[:_COLUMNS]]
    more = len(columns) - len(parts)
    parts += [f"{more} more column{'s' if more > 1 else ''}"] if more else []
    return f" ({', '.join(parts)})" if parts else ""


@dataclass(frozen=True)
class StageDifference:
    """How a stage of one run differs from that of another."""

    stage: str
    reasons: tuple[str, ...]
    tables: tuple[TableDifference, ...]


def settings_differ(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the settings that differ, as dotted paths from value to value."""
    return [f"{path}: {one} -> {other}" for path, one, other in settings_pairs(first, second)]


def settings_pairs(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> list[tuple[str, Any, Any]]:
    """Return the settings that differ: dotted path, value before, value after.

    Examples
    --------
    >>> settings_pairs({"stages": {"a": {"rate": 0.1}}}, {"stages": {"a": {"rate": 0.2, "n": 9}}})
    [('stages.a.n', '(absent)', 9), ('stages.a.rate', 0.1, 0.2)]
    """
    flat = [dict(_flatten(each)) for each in (first, second)]
    changed = []
    for path in sorted({*flat[0], *flat[1]}):
        before, after = (each.get(path, "(absent)") for each in flat)
        if before != after:
            changed.append((path, before, after))
    return changed


def stages_differ(
    first: tuple[Storage, RunRecord], second: tuple[Storage, RunRecord]
) -> Iterator[StageDifference]:
    """Yield the stages whose results differ.

    Parameters
    ----------
    first, second : (Storage, RunRecord)
        Storage of the experiment's results, and the record of the run.
    """
    (storage_1, run_1), (storage_2, run_2) = first, second
    for name in dict.fromkeys([*run_1.stages, *run_2.stages]):
        before, after = run_1.stages.get(name), run_2.stages.get(name)
        if before and after and before.digests == after.digests:
            continue
        manifests = _manifest(storage_1, run_1, name), _manifest(storage_2, run_2, name)
        if not (manifests[0] and manifests[1]):
            states = [record.outcome if record else "absent" for record in (before, after)]
            reason = f"{states[0]} -> {states[1]}"
            sides = [
                side
                for side, record, manifest in zip(
                    ("first", "second"), (before, after), manifests, strict=True
                )
                if record and record.fingerprint and manifest is None
            ]
            if sides:
                reason = f"the results of the {' and the '.join(sides)} run are gone or damaged"
            yield StageDifference(name, (reason,), ())
            continue
        reasons = tuple(differences(manifests[0].ingredients, manifests[1].ingredients))
        tables = list(_tables_differ((storage_1, manifests[0]), (storage_2, manifests[1])))
        words = _words(
            (first, second),
            {key[ID] for each in tables for key in each.example_keys() if ID in key},
        )
        yield StageDifference(name, reasons, tuple(each.with_words(words) for each in tables))


def _manifest(storage: Storage, run: RunRecord, name: str) -> Manifest | None:
    mark = run.stages[name].fingerprint if name in run.stages else ""
    return artefacts.find_stored(storage, name, mark) if mark else None


def _words(runs: Iterable[tuple[Storage, RunRecord]], ids: Set[str]) -> dict[str, str]:
    """Return the words of candidates, from the first tables of the runs that have them."""
    words: dict[str, str] = {}
    for storage, run in runs:
        for manifest in (_manifest(storage, run, name) for name in run.stages):
            if manifest is None or not ids - words.keys():
                continue
            for table in manifest.tables:
                with suppress(StoreError):  # a damaged table: another one may have the words
                    words |= _words_in(artefacts.scan(storage, manifest, table), ids)
    return words


def _words_in(query: pl.LazyFrame, ids: Set[str]) -> dict[str, str]:
    names = query.collect_schema().names()
    if ID not in names or not (units := arity(names)):
        return {}
    text = pl.concat_str([f"l{place + 1}" for place in range(units)], separator=" ")
    rows = query.filter(pl.col(ID).is_in([*ids])).select(ID, text.alias("text")).unique()
    return dict(rows.collect().iter_rows())


def _tables_differ(
    first: tuple[Storage, Manifest], second: tuple[Storage, Manifest]
) -> Iterator[TableDifference]:
    before, after = first[1].digests(), second[1].digests()
    models = STAGES.get(second[1].use).outputs
    for table in sorted(set(before) & set(after)):
        if before[table] != after[table]:
            frames = artefacts.scan(*first, table), artefacts.scan(*second, table)
            yield _table_differs(table, *frames, models[table])


def _table_differs(
    name: str, first: pl.LazyFrame, second: pl.LazyFrame, model: type[Table]
) -> TableDifference:
    key = list(model.key())
    both = first.join(second, on=key, how="inner", suffix=_SECOND)
    pairs = {
        column: f"{column}{_SECOND}"
        for column in first.collect_schema().names()
        if column in second.collect_schema() and column not in key
    }
    unequal = {column: pl.col(column).ne_missing(pl.col(other)) for column, other in pairs.items()}
    changed = both.filter(pl.any_horizontal(pl.lit(value=False), *unequal.values()))
    relevant = [
        differs for column, differs in unequal.items()
        if column != _CHANCE or not issubclass(model, DrawnCandidates)
    ]  # fmt: skip
    relevant_rows = changed.filter(pl.any_horizontal(pl.lit(value=False), *relevant))
    only = first.join(second, on=key, how="anti"), second.join(first, on=key, how="anti")
    sizes = [rows.select(pl.len()).collect().item() for rows in (*only, changed)]
    keys = [rows.select(key).sort(key).head(EXAMPLES).collect().to_dicts() for rows in only]
    some = relevant_rows.sort(key).head(EXAMPLES).collect().to_dicts()
    return TableDifference(
        table=name,
        only_first=sizes[0],
        only_second=sizes[1],
        changed=sizes[2],
        removed=keys[0],
        new=keys[1],
        examples=[_changed_row(row, key, pairs) for row in some],
        columns=_columns(changed, unequal),
    )


def _columns(changed: pl.LazyFrame, unequal: Mapping[str, pl.Expr]) -> dict[str, int]:
    """Count the rows that differ in each column."""
    if not unequal:
        return {}
    counts = changed.select(each.sum().alias(name) for name, each in unequal.items()).collect()
    some = {name: count for name, count in counts.row(0, named=True).items() if count}
    return dict(sorted(some.items(), key=lambda each: -each[1]))


def _changed_row(row: Mapping[str, Any], key: list[str], pairs: Mapping[str, str]) -> ChangedRow:
    values = {column: (row[column], row[other]) for column, other in pairs.items()}
    differ = {column: both for column, both in values.items() if both[0] != both[1]}
    return ChangedRow({column: row[column] for column in key}, differ)


def _flatten(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{path}.")
        else:
            yield path, value
