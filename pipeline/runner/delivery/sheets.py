"""Give sheets to people: outside the store, and never over a file that is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from pipeline.errors import StoreError
from pipeline.formats.sheets import listing, write_csv, write_xlsx
from pipeline.formats.sheets.kinds import SHEETS, SheetKind
from pipeline.runner.config.project import Project
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.store import store
from pipeline.runner.store.manifest import Manifest
from pipeline.runner.store.storage import storage_at
from pipeline.runner.store.verbs import Storage
from pipeline.stages.base import Sheets
from pipeline.stages.people import as_asked

REMEDY = 'name another folder in the experiment, above its stages: sheets = "DIR"'
_MOST = 10_000


def deliver_sheets(
    project: Project, manifest: Manifest, wanted: Sheets, *, write: bool = True
) -> list[str]:
    """Write a sheet for every annotator who has rows that stand in no sheet yet.

    What stands in a sheet that is there, filled or not, is not written again, and neither is a
    candidate that as many annotators have labelled as its sheets ask for. So a sample that
    grows gives a further sheet with the new rows alone.

    Parameters
    ----------
    project : Project
        The experiment.
    manifest : Manifest
        The artefact of the stage that made the sheet.
    wanted : Sheets
        Where they go, and what they look like.
    write : bool
        Whether to write them, or to say alone what would be written.

    Returns
    -------
    list of str
        Where the sheets written are.
    """
    kind, places = SHEETS[wanted.format], project.sheets
    rows = store.scan(project.storage, manifest, "sheet").collect()
    if not write:
        todo = _unwritten(rows, places.files(wanted.folder, kind.format), kind)
        folder = places.own / wanted.folder
        return [
            f"a sheet with {part.height:,} rows for {annotator} to {folder}"
            for annotator, part in _by_annotator(todo)
        ]
    storage = storage_at(places.own / wanted.folder, remedy=REMEDY)
    with storage.guarded("the sheets", ""), storage.lock(store.LOCK, lambda: None):
        todo = _unwritten(rows, places.files(wanted.folder, kind.format), kind)
        return [
            _write(part.sort("order"), annotator, wanted, storage, kind)
            for annotator, part in _by_annotator(todo)
        ]


def _by_annotator(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (annotator,), part in rows.sort("annotator").group_by("annotator", maintain_order=True):
        yield str(annotator), part


def _unwritten(rows: pl.DataFrame, files: Sequence[SourceFile], kind: SheetKind) -> pl.DataFrame:
    """Leave out the rows that stand in a sheet, and those that have answers enough."""
    if not files:
        return rows
    read = pl.concat(file.scan() for file in files)
    people = rows["annotator"].unique().sort().to_list()
    there = as_asked(read.select("id", "annotator", kind.answer), people).collect()
    votes = there.drop_nulls(kind.answer).group_by("id").agg(given=pl.col("annotator").n_unique())
    needed = rows.with_columns(needed=pl.col("annotator").n_unique().over("id"))
    counted = needed.join(votes, on="id", how="left", maintain_order="left")
    short = counted.filter(pl.col("given").fill_null(0) < pl.col("needed"))
    left = short.join(there, on=["id", "annotator"], how="anti", maintain_order="left")
    return left.select(rows.columns)


def _write(
    rows: pl.DataFrame, annotator: str, wanted: Sheets, storage: Storage, kind: SheetKind
) -> str:
    layout = kind.layout(wanted.labels, rows.columns)
    empty = (kind.answer, "note")
    shown = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in empty)
    if wanted.kind == "csv":
        content = write_csv(shown, layout)
    else:
        title = f"{wanted.folder}: {annotator}"
        content = write_xlsx(shown, layout, title=title, instructions=wanted.instructions)
    return _write_new(storage, annotator, wanted.kind, content)


def _write_new(storage: Storage, annotator: str, kind: str, content: bytes) -> str:
    """Write a file under the next free number; whole or not at all, never over another."""
    safe = "".join(each if each.isalnum() or each in "-_" else "_" for each in annotator)
    folder = Path(storage.location(""))
    used = {path.name[:3] for path in listing(folder)}
    for number in range(1, _MOST):
        if f"{number:03d}" not in used:
            name = f"{number:03d}-{safe}.{kind}"
            with suppress(FileExistsError):
                storage.write(name, content, new=True)
                return storage.location(name)
    raise StoreError(f"{folder} is full of sheets")
