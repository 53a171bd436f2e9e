"""Give sheets to people: outside the store, and never over a file that is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from pipeline.errors import StoreError
from pipeline.formats.sheets import listing, write_csv, write_xlsx
from pipeline.formats.sheets.kinds import SHEETS, SheetKind
from pipeline.runner.config.filled import entries
from pipeline.runner.config.project import Project
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.store import store
from pipeline.runner.store.manifest import Manifest
from pipeline.runner.store.storage import storage_at
from pipeline.runner.store.verbs import Storage
from pipeline.stages.base import Sheets
from pipeline.stages.people import as_asked, first_round

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
            write_sheet(part.sort("order"), annotator, wanted, storage, kind)
            for annotator, part in _by_annotator(todo)
        ]


def _by_annotator(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (annotator,), part in rows.sort("annotator").group_by("annotator", maintain_order=True):
        yield str(annotator), part


def still_asked(rows: pl.DataFrame, files: Sequence[SourceFile], kind: SheetKind) -> pl.DataFrame:
    """Return the rows that still ask somebody, and those that this person has answered.

    What as many annotators have labelled as its rows ask for needs nobody else.

    Parameters
    ----------
    rows : DataFrame
        The table ``sheet`` of a stage.
    files : sequence of SourceFile
        The sheets and decisions that there are.
    kind : SheetKind
        Their kind.
    """
    if not files:
        return rows
    there = _there(rows, files, kind)
    own = there.drop_nulls(kind.answer).select("id", "annotator").unique()
    mine = rows.join(own, on=["id", "annotator"], how="semi", maintain_order="left")
    short = _short(rows, there, kind).join(own, on=["id", "annotator"], how="anti")
    return pl.concat([mine, short]).sort("annotator", "order")


def _unwritten(rows: pl.DataFrame, files: Sequence[SourceFile], kind: SheetKind) -> pl.DataFrame:
    """Leave out the rows that stand in a sheet, and those that have answers enough."""
    if not files:
        return rows
    there = _there(rows, files, kind)
    short = _short(rows, there, kind)
    return short.join(there, on=["id", "annotator"], how="anti", maintain_order="left")


def _there(rows: pl.DataFrame, files: Sequence[SourceFile], kind: SheetKind) -> pl.DataFrame:
    """Return id, annotator and answer of all that stands in sheets and decisions."""
    people = rows["annotator"].unique().sort().to_list()
    read = first_round(entries(files)).select("id", "annotator", kind.answer)
    return as_asked(read, people).collect()


def _short(rows: pl.DataFrame, there: pl.DataFrame, kind: SheetKind) -> pl.DataFrame:
    """Return the rows of what fewer people have answered than are asked."""
    votes = there.drop_nulls(kind.answer).group_by("id").agg(given=pl.col("annotator").n_unique())
    needed = rows.with_columns(needed=pl.col("annotator").n_unique().over("id"))
    counted = needed.join(votes, on="id", how="left", maintain_order="left")
    short = counted.filter(pl.col("given").fill_null(0) < pl.col("needed"))
    return short.select(rows.columns)


def write_sheet(
    rows: pl.DataFrame, annotator: str, wanted: Sheets, storage: Storage, kind: SheetKind
) -> str:
    """Write a sheet of one person under the next free number, and return where it is.

    Parameters
    ----------
    rows : DataFrame
        Its rows in order; answers and notes where there are some already.
    annotator : str
        Whose it is.
    wanted : Sheets
        What it looks like.
    storage : Storage
        Of the folder of sheets.
    kind : SheetKind
        Its kind.
    """
    return _write_new(storage, annotator, wanted.kind, content_of(rows, annotator, wanted, kind))


def content_of(rows: pl.DataFrame, whose: str, wanted: Sheets, kind: SheetKind) -> bytes:
    """Return the bytes of a sheet; see `write_sheet`."""
    layout = kind.layout(wanted.labels, rows.columns)
    empty = [name for name in (kind.answer, "note") if name not in rows.columns]
    shown = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in empty)
    if wanted.kind == "csv":
        return write_csv(shown, layout)
    return write_xlsx(
        shown,
        layout,
        title=f"{wanted.folder}: {whose}",
        instructions=wanted.instructions,
        guidelines=wanted.guidelines,
    )


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
