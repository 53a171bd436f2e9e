"""Sheets beside the pages: what is new in them is taken over, what is decided goes out to them."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from pipeline.annotate.adding import Settled, add
from pipeline.annotate.work import Work
from pipeline.formats.decisions.database import opened
from pipeline.formats.decisions.folding import Standing
from pipeline.formats.decisions.log import Decision, of_task, transaction
from pipeline.formats.decisions.notes import read_back, written
from pipeline.formats.decisions.reading import DecisionOptions, seen
from pipeline.formats.sheets.kinds import SHEETS
from pipeline.kernels.annotation.names import by_fold, fold
from pipeline.runner.config.sources import SourceFile

_KEY = 40


@dataclass(frozen=True)
class Taken:
    """What came of taking sheets over.

    Parameters
    ----------
    answers : int
        Answers of sheets that count now.
    conflicts : tuple of str
        Cells that differ from what was decided in the page since: both are kept, a person decides.
    strange : tuple of str
        Cells that hold no label.
    """

    answers: int = 0
    conflicts: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Cell:
    """An answer in a sheet, of a task; exists while sheets are taken over."""

    file: str
    line: int
    annotator: str
    id: str
    answer: str | None
    note: str = ""
    unsure: bool = False

    @property
    def of_whom(self) -> tuple[str, str]:
        return self.annotator, self.id

    @property
    def remark(self) -> str | None:
        return written(self.note, unsure=self.unsure)


@dataclass(frozen=True)
class _Held:
    """What a sheet held on a task when it was looked at last, its note if the log has had it."""

    answer: str | None = None
    note: str | None = None


def take_over_sheets(work: Work) -> Taken:
    """Take what is new in the sheets of a work into its log.

    A cell counts if the log holds nothing for it, or what it held when it was looked at last. What
    a sheet holds that the log holds as well is noted, so that a later change on either side is
    told from an old word. A first label that was shown to those who adjudicate stays. Nothing is
    written to a sheet.
    """
    files = [
        file
        for file in work.project.sheets.files(work.folder.name, f"{work.kind}_sheet")
        if not isinstance(file.options, DecisionOptions)
    ]
    with opened(work.database) as connection:
        people = sorted({who for who, _ in _tasks(connection)})
        cells = list(_cells(work, files, people))  # slow, so before anybody has to wait
        with transaction(connection):  # what is compared stands until it is written
            return _taken(connection, work, cells)


def _taken(connection: sqlite3.Connection, work: Work, cells: Sequence[_Cell]) -> Taken:
    """Compare cells with the log, in a transaction of the caller's, and add what is new."""
    taken, conflicts, strange = 0, [], []
    tasks, looked_at = _tasks(connection), _looked_at(work)
    for cell in cells:
        task = tasks.get((cell.annotator, cell.id))
        if task is None:
            continue
        where = f"{cell.file}, row {cell.line}: {cell.answer!r}"
        if work.labels and cell.answer is not None and cell.answer not in work.labels:
            strange.append(f"{where} is no label")
            continue
        stands, held = of_task(connection, task), looked_at.get((cell.file, *cell.of_whom))
        kind = _becomes(cell, stands, held)
        if kind == "conflict":
            said = f"but {cell.annotator} decided {stands.answer!r} in the page"
            conflicts.append(f"{where}, {said}")
        elif kind != "nothing":
            (outcome,) = add(connection, [_decision(cell, kind, stands)])
            if not isinstance(outcome, Settled):
                taken += kind == "import"
            elif cell.answer != stands.answer:
                said = f"but {stands.answer!r} has been shown to those who adjudicate, and stays"
                conflicts.append(f"{where}, {said}")
    return Taken(taken, tuple(conflicts), tuple(strange))


def _becomes(
    cell: _Cell, stands: Standing, held: _Held | None
) -> Literal["nothing", "seen", "import", "conflict"]:
    """Return what becomes of a cell: nothing new, known to the log, new to it, or against it."""
    before = _Held() if held is None else held
    if cell.answer == before.answer:
        return "import" if _has_new_note(cell, stands, before) else "nothing"
    if cell.answer == stands.answer:
        return "import" if _has_new_note(cell, stands, before) else "seen"
    return "import" if stands.answer == before.answer else "conflict"


def _has_new_note(cell: _Cell, stands: Standing, held: _Held) -> bool:
    """Return whether a note came to a label in the sheet, and none came in the page meanwhile."""
    new = cell.remark not in {None, held.note, _remark(stands)}
    kept = _remark(stands) in {None, held.note}
    return new and kept and cell.answer is not None and cell.answer == stands.answer


def noted(cells: pl.DataFrame, file: str) -> list[Decision]:
    """Return the entries that say what a sheet held when it was written.

    Parameters
    ----------
    cells : DataFrame
        annotator, id, answer, note, version.
    file : str
        The sheet's name.
    """
    return [
        _decision(_Cell(file, 0, annotator, item, answer, *remark), "seen",
                  Standing(answer, remark[1], remark[0], version))
        for annotator, item, answer, note, version in cells.iter_rows()
        for remark in [read_back(note)]
    ]  # fmt: skip


def _tasks(connection: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """Return the tasks of the first round, by who is asked for what."""
    rows = connection.execute("SELECT task, annotator, id FROM tasks WHERE round = 'annotation'")
    return {(row["annotator"], row["id"]): row["task"] for row in rows}


def _looked_at(work: Work) -> dict[tuple[str, str, str], _Held]:
    """Return what each sheet held on each task when it was looked at last."""
    rows = seen(work.database, DecisionOptions()).select(
        "file", "annotator", "id", "answer", "note"
    )
    return {(file, who, item): _Held(*held) for file, who, item, *held in rows.iter_rows()}


def _cells(work: Work, files: Sequence[SourceFile], asked: Sequence[str]) -> Iterator[_Cell]:
    """Yield the answers in sheets, people and labels spelt as the experiment spells them."""
    answer = SHEETS[f"{work.kind}_sheet"].answer
    labels = {label.strip().lower(): label for label in work.labels}
    for file in files:
        rows = file.scan().select("line", "annotator", "id", answer, "note").collect()
        people = by_fold([*asked, *rows["annotator"].drop_nulls().unique().sort()])
        for line, who, item, typed, note in rows.iter_rows():
            if who is None or item is None:
                continue
            said = (typed or "").strip() or None
            spelt = labels.get(said.lower(), said) if said and labels else said
            person, remark = people[fold(who)], read_back(note)
            yield _Cell(file.label, line, person, item.strip(), spelt, *remark)


def _remark(stands: Standing) -> str | None:
    return written(stands.note, unsure=stands.unsure)


def _decision(cell: _Cell, kind: Literal["seen", "import"], stands: Standing) -> Decision:
    """Return the entry of a cell; one that is only seen has the note that the log has."""
    given = cell if kind == "import" else stands
    content = "\x1f".join(
        [kind, cell.file, *cell.of_whom, cell.answer or "", str(stands.version)]
        + ([given.note] if given.note else [])
    )
    key = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY]
    return Decision(
        key, cell.annotator, cell.id, kind, answer=cell.answer, unsure=given.unsure,
        note=given.note, source=cell.file,
    )  # fmt: skip
