"""Exchange of answers between spreadsheets and the annotation log: import, export, sheets."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from pipeline.annotate.records import add_decisions
from pipeline.annotate.tasks import Work
from pipeline.errors import ConfigError, Problem, StoreError
from pipeline.formats.annotation_log import (
    Decision,
    DecisionOptions,
    Outcome,
    Standing,
    append,
    create_private,
    last_entry,
    opened,
    read_note,
    read_only,
    replay_task,
    sheet_answers,
    standing_rows,
    transaction,
    write_note,
)
from pipeline.formats.spreadsheets.kinds import SHEETS
from pipeline.kernels.annotation.sheets import by_fold, fold
from pipeline.runner.delivery import REMEDY, content_of, write_sheet
from pipeline.runner.inputs import SourceFile, entries
from pipeline.runner.store import artefacts
from pipeline.runner.store.backends import storage_at
from pipeline.stages.inputs import first_round

_KEY = 40


@dataclass(frozen=True)
class ImportResult:
    """What came of taking sheets over.

    Parameters
    ----------
    answers : int
        Answers of sheets that count now.
    conflicts : tuple of str
        Cells that contradict later decisions in the page: both are kept, for a person to resolve.
    strange : tuple of str
        Cells without a valid label.
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
        return write_note(self.note, unsure=self.unsure)


@dataclass(frozen=True)
class _Held:
    """Content of a sheet for a task when it was last read, with the note if the log has it."""

    answer: str | None = None
    note: str | None = None


def import_sheets(work: Work) -> ImportResult:
    """Import new answers from the sheets of a work into its log.

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
            return _import_cells(connection, work, cells)


def _import_cells(
    connection: sqlite3.Connection, work: Work, cells: Sequence[_Cell]
) -> ImportResult:
    """Compare cells with the log, in a transaction of the caller's, and add what is new."""
    taken, conflicts, strange = 0, [], []
    tasks, looked_at = _tasks(connection), _last_held(work)
    for cell in cells:
        task = tasks.get((cell.annotator, cell.id))
        if task is None:
            continue
        where = f"{cell.file}, row {cell.line}: {cell.answer!r}"
        if work.labels and cell.answer is not None and cell.answer not in work.labels:
            strange.append(f"{where} is not a label")
            continue
        stands, held = replay_task(connection, task), looked_at.get((cell.file, *cell.of_whom))
        kind = _action(cell, stands, held)
        if kind == "conflict":
            said = f"but {cell.annotator} decided {stands.answer!r} in the page"
            conflicts.append(f"{where}, {said}")
        elif kind != "nothing":
            (outcome,) = add_decisions(connection, [_decision(cell, kind, stands)])
            if isinstance(outcome, Outcome):
                taken += kind == "import"
            elif cell.answer != stands.answer:
                said = f"but adjudicators have seen {stands.answer!r}, which stays"
                conflicts.append(f"{where}, {said}")
    return ImportResult(taken, tuple(conflicts), tuple(strange))


def _action(
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
    """Return whether the sheet has a new note on a label, and the page has none."""
    new = cell.remark not in {None, held.note, _note_text(stands)}
    kept = _note_text(stands) in {None, held.note}
    return new and kept and cell.answer is not None and cell.answer == stands.answer


def seen_entries(cells: pl.DataFrame, file: str) -> list[Decision]:
    """Return the entries with the content of a sheet when it was written.

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
        for remark in [read_note(note)]
    ]  # fmt: skip


def counted_answers(work: Work) -> set[tuple[str, str]]:
    """Return annotator and item of all answers that count, in the log or only in a sheet."""
    kind = SHEETS[f"{work.kind}_sheet"]
    files = work.project.sheets.files(work.folder.name, kind.format)
    rows = first_round(entries(files)).select("annotator", "id", kind.answer).drop_nulls()
    return set(rows.select("annotator", "id").collect().iter_rows())


def _tasks(connection: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """Return the tasks of the first round, by annotator and item."""
    rows = connection.execute("SELECT task, annotator, id FROM tasks WHERE round = 'annotation'")
    return {(row["annotator"], row["id"]): row["task"] for row in rows}


def _last_held(work: Work) -> dict[tuple[str, str, str], _Held]:
    """Return the content of each sheet for each task when it was last read."""
    rows = sheet_answers(work.database, DecisionOptions()).select(
        "file", "annotator", "id", "answer", "note"
    )
    return {(file, who, item): _Held(*held) for file, who, item, *held in rows.iter_rows()}


def _cells(work: Work, files: Sequence[SourceFile], asked: Sequence[str]) -> Iterator[_Cell]:
    """Yield the answers in sheets, people and labels spelt as the experiment spells them."""
    answer = SHEETS[f"{work.kind}_sheet"].answer
    labels = {label.strip().lower(): label for label in work.labels}
    for file in files:
        scanned = first_round(file.scan())  # exports have decisions of adjudicators, too
        rows = scanned.select("line", "annotator", "id", answer, "note").collect()
        people = by_fold([*asked, *rows["annotator"].drop_nulls().unique().sort()])
        for line, who, item, typed, note in rows.iter_rows():
            if who is None or item is None:
                continue
            said = (typed or "").strip() or None
            spelt = labels.get(said.lower(), said) if said and labels else said
            person, remark = people[fold(who)], read_note(note)
            yield _Cell(file.label, line, person, item.strip(), spelt, *remark)


def _note_text(stands: Standing) -> str | None:
    return write_note(stands.note, unsure=stands.unsure)


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


# Export as sheets and JSON lines

KINDS = (".xlsx", ".csv", ".jsonl")


def export(work: Work, target: Path) -> int:
    """Export all answers to a new file.

    Parameters
    ----------
    work : Work
        The work.
    target : Path
        ``.xlsx`` and ``.csv``: a sheet with all tasks of all annotators and their answers, and with
        the decisions of adjudicators. ``.jsonl``: a line per current answer of both rounds. All
        have whether the annotator was unsure, the round, time and seconds, and the suggestion that
        the annotator saw.

    Returns
    -------
    int
        Number of answers.

    Raises
    ------
    ConfigError
        If the file's name ends otherwise.
    StoreError
        If the file exists or cannot be written.
    """
    suffix = target.suffix.lower()
    if suffix not in KINDS:
        what = f"unknown ending {target.suffix or target.name!r}: use {', '.join(KINDS)}"
        raise ConfigError("--export", [Problem("--export", what)])
    if suffix == ".jsonl":
        lines = [json.dumps(each, ensure_ascii=False) for each in answers(work)]
        content, count = "".join(f"{line}\n" for line in lines).encode(), len(lines)
    else:
        kind = SHEETS[f"{work.kind}_sheet"]
        rows = sheet_rows(work, history=True)
        wanted = replace(work.wanted, kind="csv" if suffix == ".csv" else "xlsx")
        content = content_of(rows.drop("version"), "everybody", wanted, kind)
        count = rows[kind.answer].count()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with create_private(target) as file:
            file.write(content)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror}") from error
    return count


def hand_to_sheets(work: Work) -> list[str]:
    """Write a sheet per annotator with the answers so far, to continue in a spreadsheet.

    The log notes what each sheet holds, so that the page and the sheet can go on side by side.

    Returns
    -------
    list of str
        Where the sheets are.
    """
    kind, places = SHEETS[f"{work.kind}_sheet"], []
    storage = storage_at(work.folder, remedy=REMEDY)
    with storage.guarded("the sheets", ""), storage.lock(artefacts.LOCK, lambda: None):
        for (who,), part in sheet_rows(work).group_by("annotator", maintain_order=True):
            place = write_sheet(part.drop("version"), str(who), work.wanted, storage, kind)
            held = part.drop_nulls(kind.answer).select(
                "annotator", "id", kind.answer, "note", "version"
            )
            with opened(work.database) as connection:
                append(connection, seen_entries(held, Path(place).name))
            places.append(place)
    return places


def answers(work: Work) -> Iterator[dict[str, Any]]:
    """Yield every current answer for JSON lines."""
    name = SHEETS[f"{work.kind}_sheet"].answer
    with read_only(work.database) as connection:
        for row in standing_rows(connection, last_entry(connection)):
            yield {
                "annotator": row["annotator"], "id": row["id"],
                **json.loads(row["shown"])["units"], name: row["answer"],
                "unsure": bool(row["unsure"]), "note": row["note"] or None, "round": row["round"],
                "at": row["at"], "seconds": row["seconds"], "suggested": row["suggested"],
            }  # fmt: skip


def sheet_rows(work: Work, *, history: bool = False) -> pl.DataFrame:
    """Return all tasks with their current answers, in the format of a sheet.

    Parameters
    ----------
    work : Work
        The work.
    history : bool
        Add the decisions of adjudicators, and the columns unsure (yes or null), round, at, seconds
        and suggested.

    Returns
    -------
    DataFrame
        annotator, order, id, the units, examples, answer, note, version (of the answer).
    """
    name = SHEETS[f"{work.kind}_sheet"].answer
    with read_only(work.database) as connection:
        stands = {row["task"]: row for row in standing_rows(connection, last_entry(connection))}
        tasks = connection.execute(
            """SELECT t.task, t.round, t.annotator, t.place, t.id, i.shown FROM tasks t JOIN items i
            USING (id) WHERE t.asked = 1 AND (t.round = 'annotation' OR ? AND t.answered = 1)
            ORDER BY t.round DESC, t.annotator, t.place""",
            (history,),
        ).fetchall()
    rows = []
    for task in tasks:
        shown, own = json.loads(task["shown"]), stands.get(task["task"])
        examples = enumerate(shown.get("examples", []), 1)
        beside = {name: shown[name] for name in ("keyed_forms", "lexicon_forms") if shown.get(name)}
        rows.append({
            "annotator": task["annotator"], "order": task["place"], "id": task["id"],
            **shown["units"], **{f"example_{number}": text for number, text in examples}, **beside,
            **_answer_cells(own, name), **(_history_cells(own, task["round"]) if history else {}),
        })  # fmt: skip
    names = {key: None for row in rows for key in row}
    schema = {
        each: pl.Int64 if each in {"order", "version"} else pl.String
        for each in names or ("annotator", "order", "id", name, "note", "version")
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _answer_cells(own: Any, name: str) -> dict[str, Any]:
    """Return the cells of an answer by column; null where missing."""
    if own is None:
        return {name: None, "note": None, "version": 0}
    note = write_note(own["note"], unsure=bool(own["unsure"]))
    return {name: own["answer"], "note": note, "version": own["entry"]}


def _history_cells(own: Any, named: str) -> dict[str, Any]:
    """Return the further cells of an export by column; all but the round null without an answer."""
    if own is None:
        return {"unsure": None, "round": named, "at": None, "seconds": None, "suggested": None}
    seconds = own["seconds"]
    return {
        "unsure": "yes" if own["unsure"] else None, "round": named, "at": own["at"],
        "seconds": None if seconds is None else str(seconds), "suggested": own["suggested"],
    }  # fmt: skip
