"""Exchange of answers between spreadsheets and the annotation log, and conflicts between them."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from pipeline.annotate.records import add_decisions
from pipeline.annotate.tasks import SheetWork
from pipeline.errors import ConfigError, DataError, LexassayError, Problem
from pipeline.formats.annotation_log import (
    Decision,
    Outcome,
    Standing,
    append,
    create_private,
    last_entry,
    not_written,
    open_log,
    read_note,
    read_only,
    replay_task,
    standing_rows,
    transaction,
    write_note,
)
from pipeline.formats.annotation_rows import DecisionOptions
from pipeline.formats.base import format_of
from pipeline.formats.spreadsheets.kinds import SHEETS
from pipeline.runner.conflicts import Conflict, SheetAnswer, compare, typed_answers
from pipeline.runner.delivery import REMEDY, content_of, write_sheet
from pipeline.runner.inputs import SourceFile, entries
from pipeline.runner.store import artefacts
from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.digest import Stamp, is_fresh
from pipeline.stages.inputs import answers_in_conflict, first_round


@dataclass(frozen=True)
class ImportResult:
    """What came of taking sheets over.

    Parameters
    ----------
    answers : int
        Answers of sheets that count now.
    conflicts : tuple of str
        Answers that changed in a sheet and in the page, and differ: a person must decide.
    strange : tuple of str
        Cells without a valid label.
    """

    answers: int = 0
    conflicts: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """An answer in a sheet, of a task.

    Parameters
    ----------
    file : str
        The sheet.
    annotator, id : str
        The task.
    answer : str or None
        The label, as the experiment spells it, or the forms; None: the cell is empty.
    note : str
        The note.
    unsure : bool
        Whether it is marked as unsure.
    """

    file: str
    annotator: str
    id: str
    answer: str | None
    note: str = ""
    unsure: bool = False


def import_sheets(work: SheetWork) -> ImportResult:
    """Import new answers from the sheets of a work into its log.

    A cell counts if the log has no answer for it, or still has the answer of the last comparison.
    Answers that are equal in both are noted, so that a later change on either side is recognised.
    Conflicts stay as they are, as does a first label that adjudicators have seen. Nothing is
    written to a sheet.
    """
    rows = typed_answers(sheet_files_of(work), SHEETS[f"{work.kind}_sheet"].answer)
    with open_log(work.database) as connection, transaction(connection):
        return _import_cells(connection, work, rows)  # what is compared stands until it is written


def sheet_files_of(work: SheetWork) -> list[SourceFile]:
    """Return the sheets of a work, without its log."""
    files = work.project.sheets.files(work.folder.name, f"{work.kind}_sheet")
    return [file for file in files if not isinstance(file.options, DecisionOptions)]


def log_of(work: SheetWork) -> SourceFile:
    """Return the log of a work, in its present state."""
    reader = format_of("", name=f"{work.kind}_decisions")
    return SourceFile(work.database.name, work.database, reader, DecisionOptions())


def spell_answer(work: SheetWork, cell: str | None) -> str | None:
    """Return the answer in a cell, a label as the experiment spells it; None if it is empty."""
    answer = (cell or "").strip() or None
    labels = {label.strip().lower(): label for label in work.labels}
    return labels.get(answer.lower(), answer) if answer else None


def is_answer(work: SheetWork, answer: str | None) -> bool:
    """Return whether an answer is a label of the work, or none; of keyed forms all are."""
    return answer is None or not work.labels or answer in work.labels


def entry_of(
    cell: Cell, kind: Literal["seen", "import"], stands: Standing, *, by: str = "sheet"
) -> Decision:
    """Return the entry of a cell; one that is only seen has the note that the log has."""
    basis = cell if kind == "import" else stands
    return Decision(
        f"{by}-{uuid4().hex}", cell.annotator, cell.id, kind, answer=cell.answer,
        unsure=basis.unsure, note=basis.note, source=cell.file,
    )  # fmt: skip


def counted_answers(work: SheetWork) -> set[tuple[str, str]]:
    """Return annotator and item of answers in the log or only in a sheet, and in conflict."""
    kind = SHEETS[f"{work.kind}_sheet"]
    rows = first_round(entries(work.project.sheets.files(work.folder.name, kind.format)))
    pairs = rows.drop_nulls(kind.answer).select("annotator", "id")
    contested = answers_in_conflict(rows).select("annotator", "id")
    return set(pl.concat([pairs, contested]).drop_nulls().collect().iter_rows())


def tasks_of(connection: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """Return the tasks of the first round, by annotator and item."""
    rows = connection.execute("SELECT task, annotator, id FROM tasks WHERE round = 'annotation'")
    return {(row["annotator"], row["id"]): row["task"] for row in rows}


def _import_cells(
    connection: sqlite3.Connection, work: SheetWork, rows: pl.DataFrame
) -> ImportResult:
    """Compare cells with the log, in a transaction of the caller's, and add what is new."""
    compared, conflicts = compare(rows, log_of(work))
    tasks, count, strange = tasks_of(connection), 0, []
    for row in compared.drop_nulls("annotator").iter_rows(named=True):
        outcome, answer = row["outcome"], spell_answer(work, row["answer"])
        cell = Cell(row["file"], row["annotator"], row["id"], answer, *read_note(row["note"]))
        remark = write_note(cell.note, unsure=cell.unsure)
        if outcome == "old" and remark is None:
            continue
        if outcome != "old" and not is_answer(work, answer):
            strange.append(f"{cell.file}, row {row['line']:,}: {answer!r} is not a label")
        elif outcome == "several":
            what = "is one of several answers to this item in the sheet"
            strange.append(f"{cell.file}, row {row['line']:,}: {answer!r} {what}")
        elif outcome not in {"conflict", "settled"}:
            stands = replay_task(connection, tasks[cell.annotator, cell.id])
            known = {None, row["noted"]}
            note = write_note(stands.note, unsure=stands.unsure)
            agrees = outcome == "same" or (answer is not None and answer == stands.answer)
            noted = agrees and remark not in {*known, note} and note in known
            new = outcome == "new" and answer != stands.answer  # not imported from another sheet
            kind: Literal["seen", "import"] = "import" if new or noted else "seen"
            if outcome != "old" or noted:
                (added,) = add_decisions(connection, [entry_of(cell, kind, stands)])
                count += kind == "import" and isinstance(added, Outcome)
    valid = (
        each for each in conflicts
        if all(is_answer(work, spell_answer(work, cell.answer)) for cell in each.sheets)
    )  # fmt: skip
    return ImportResult(count, tuple(map(str, valid)), tuple(strange))


# Export as sheets and JSON lines

KINDS = (".xlsx", ".csv", ".jsonl")


def export(work: SheetWork, target: Path, *, annotators: Sequence[str] = ()) -> int:
    """Export all answers to a new file.

    Parameters
    ----------
    work : SheetWork
        The work.
    target : Path
        ``.xlsx`` and ``.csv``: a sheet with all tasks of all annotators and their answers, and with
        the decisions of adjudicators. ``.jsonl``: a line per current answer of both rounds. All
        have whether the annotator was unsure, the round, time and seconds, and the suggestion that
        the annotator saw. Training, gold items and repeated cards are not in an export.
    annotators : sequence of str
        The annotators whose answers are written; all if not given.

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
        lines = [
            json.dumps(each, ensure_ascii=False)
            for each in answers(work)
            if not annotators or each["annotator"] in annotators
        ]
        content, count = "".join(f"{line}\n" for line in lines).encode(), len(lines)
    else:
        kind = SHEETS[f"{work.kind}_sheet"]
        rows = sheet_rows(work, history=True)
        if annotators:
            rows = rows.filter(pl.col("annotator").is_in(annotators))
        layout = replace(work.wanted, kind="csv" if suffix == ".csv" else "xlsx")
        content = content_of(rows, "everybody", layout, kind)
        count = rows[kind.answer].count()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with create_private(target) as file:
            file.write(content)
    except OSError as error:
        raise not_written(target, error) from error
    return count


def hand_to_sheets(work: SheetWork) -> list[str]:
    """Write a sheet per annotator with the answers so far, to continue in a spreadsheet.

    The log notes what each sheet holds, so that the page and the sheet can go on side by side.

    Returns
    -------
    list of str
        Paths of the sheets.
    """
    kind, places = SHEETS[f"{work.kind}_sheet"], []
    storage = storage_at(work.folder, remedy=REMEDY)
    with storage.explain_errors("the sheets", ""), storage.lock(artefacts.LOCK, lambda: None):
        for (who,), part in sheet_rows(work).group_by("annotator", maintain_order=True):
            place = write_sheet(part, str(who), work.wanted, storage, kind)
            cells = part.drop_nulls(kind.answer).select("annotator", "id", kind.answer, "note")
            with open_log(work.database) as connection:
                append(connection, [
                    entry_of(Cell(Path(place).name, *cell), "seen", Standing(cell[2], unsure, text))
                    for *cell, note in cells.iter_rows()
                    for text, unsure in [read_note(note)]
                ])  # fmt: skip
            places.append(place)
    return places


def answers(work: SheetWork) -> Iterator[dict[str, Any]]:
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


def sheet_rows(work: SheetWork, *, history: bool = False) -> pl.DataFrame:
    """Return all tasks with their current answers, in the format of a sheet.

    Parameters
    ----------
    work : SheetWork
        The work.
    history : bool
        Add the decisions of adjudicators, and the columns unsure (yes or null), round, at, seconds
        and suggested.

    Returns
    -------
    DataFrame
        annotator, order, id, the units, examples, answer, note.
    """
    name = SHEETS[f"{work.kind}_sheet"].answer
    with read_only(work.database) as connection:
        stands = {row["task"]: row for row in standing_rows(connection, last_entry(connection))}
        tasks = connection.execute(
            """SELECT t.task, t.round, t.annotator, t.place, t.id, i.shown FROM tasks t JOIN items i
            USING (id) WHERE t.asked = 1 AND (t.round = 'annotation'
            OR ? AND t.round = 'adjudication' AND t.answered = 1)
            ORDER BY t.round DESC, t.annotator, t.place""",
            (history,),
        ).fetchall()
    rows = []
    for task in tasks:
        item, own = json.loads(task["shown"]), stands.get(task["task"])
        examples = enumerate(item.get("examples", []), 1)
        beside = {name: item[name] for name in ("keyed_forms", "lexicon_forms") if item.get(name)}
        rows.append({
            "annotator": task["annotator"], "order": task["place"], "id": task["id"],
            **item["units"], **{f"example_{number}": text for number, text in examples}, **beside,
            **_answer_cells(own, name), **(_history_cells(own, task["round"]) if history else {}),
        })  # fmt: skip
    names = {key: None for row in rows for key in row}
    schema = {
        each: pl.Int64 if each == "order" else pl.String
        for each in names or ("annotator", "order", "id", name, "note")
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _answer_cells(own: Any, name: str) -> dict[str, Any]:
    """Return the cells of an answer by column; null where missing."""
    if own is None:
        return {name: None, "note": None}
    note = write_note(own["note"], unsure=bool(own["unsure"]))
    return {name: own["answer"], "note": note}


def _history_cells(own: Any, round_name: str) -> dict[str, Any]:
    """Return the further cells of an export by column; all but the round null without an answer."""
    if own is None:
        return {"unsure": None, "round": round_name, "at": None, "seconds": None, "suggested": None}
    seconds = own["seconds"]
    return {
        "unsure": "yes" if own["unsure"] else None, "round": round_name, "at": own["at"],
        "seconds": None if seconds is None else str(seconds), "suggested": own["suggested"],
    }  # fmt: skip


# Conflicts between sheets and pages of a work, as the files are now, and decisions on them.


_BY = "coordinator"
"""What the keys of these entries begin with, unlike those of imports."""


class ChangedConflicts(LexassayError):
    """The conflicts to decide are not those that the person has seen."""


class ConflictDecision(BaseModel):
    """A decision between answers of sheets and the page.

    Parameters
    ----------
    keep : str
        The answer that counts.
    annotator : str
        The annotator.
    id : str
        The item; empty: all of this annotator.
    file : str
        The sheet with the answer to keep; empty: the only answer in sheets.
    token : str
        The conflicts that the person has seen, see `token_of`.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    keep: Literal["sheet", "page"]
    annotator: str = Field(max_length=1000)
    id: str = Field(default="", max_length=1000)
    file: str = Field(default="", max_length=1000)
    token: str = Field(max_length=100)


@dataclass(frozen=True)
class ConflictCounts:
    """What came of a decision.

    Parameters
    ----------
    decided : int
        Conflicts that are decided.
    left : int
        Those that need a decision of their own: sheets differ, or the answer is not a label.
    """

    decided: int
    left: int = 0


def token_of(conflicts: Sequence[Conflict]) -> str:
    """Return a short text that is different for different conflicts."""
    return hashlib.sha256(repr(conflicts).encode("utf-8", "surrogatepass")).hexdigest()[:20]


def choices(work: SheetWork, conflict: Conflict) -> list[SheetAnswer]:
    """Return the answers in sheets that can be kept, each once.

    None can for an item that adjudicators have seen; nor can one that is not a label.
    """
    options: dict[str | None, SheetAnswer] = {}
    for each in () if conflict.settled else conflict.sheets:
        answer = spell_answer(work, each.answer)
        if is_answer(work, answer):
            options.setdefault(answer, each)
    return list(options.values())


class Conflicts:
    """The conflicts of a work; a sheet is read again when it has changed.

    Parameters
    ----------
    work : SheetWork
        The work.
    """

    def __init__(self, work: SheetWork) -> None:
        self.work = work
        self._answer = SHEETS[f"{work.kind}_sheet"].answer
        self._read: dict[str, tuple[Stamp | None, pl.DataFrame]] = {}
        self._lock = threading.Lock()

    def stamp(self) -> str:
        """Return a text that changes when a sheet does."""
        stamps = [(file.label, _stamp_of(file)) for file in sheet_files_of(self.work)]
        return hashlib.sha256(repr(stamps).encode("utf-8", "surrogatepass")).hexdigest()[:20]

    def find(self) -> tuple[list[Conflict], list[str]]:
        """Return the conflicts, and why sheets cannot be read at present."""
        rows, unreadable = self._rows()
        return compare(rows, log_of(self.work))[1], unreadable

    def keep(self, decision: ConflictDecision) -> ConflictCounts:
        """Log a decision; the sheets stay as they are.

        The answer of a sheet is imported, and that of the page stays; what each sheet has is noted
        in both cases, so that the conflict does not return until somebody changes it again.

        Raises
        ------
        ChangedConflicts
            If the conflicts are not those of the token.
        """
        rows, _ = self._rows()
        with open_log(self.work.database) as connection, transaction(connection):
            cells, conflicts = compare(rows, log_of(self.work))
            every = [
                each
                for each in conflicts
                if each.annotator == decision.annotator and decision.id in {"", each.id}
            ]
            if not every or token_of(every) != decision.token:
                raise ChangedConflicts("an answer has changed meanwhile")
            # Sheets that agree with the page would differ from it when another answer is kept.
            agreeing: dict[str, list[SheetAnswer]] = {}
            same = cells.filter(outcome="same", annotator=decision.annotator)
            for row in same.select("id", "file", "line", "answer", "note").iter_rows():
                agreeing.setdefault(row[0], []).append(SheetAnswer(*row[1:]))
            tasks, rest = tasks_of(connection), 0
            for each in every:
                imports = self._answers_to_import(each, decision)
                if imports is None:
                    rest += 1
                    continue
                stands = replay_task(connection, tasks[each.annotator, each.id])
                add_decisions(connection, [
                    entry_of(self._cell(each, sheet), "import" if sheet in imports else "seen",
                             stands, by=_BY)
                    for sheet in (*each.sheets, *agreeing.get(each.id, ()))
                ])  # fmt: skip
        return ConflictCounts(len(every) - rest, rest)

    def _answers_to_import(
        self, conflict: Conflict, decision: ConflictDecision
    ) -> list[SheetAnswer] | None:
        """Return the answer of a sheet to import, if any; None if it is not clear which."""
        if decision.keep == "page":
            return []
        offered = choices(self.work, conflict)
        if decision.file:
            offered = [each for each in offered if each.file == decision.file]
        return offered if len(offered) == 1 else None

    def _cell(self, conflict: Conflict, sheet: SheetAnswer) -> Cell:
        answer = spell_answer(self.work, sheet.answer)
        return Cell(sheet.file, conflict.annotator, conflict.id, answer, *read_note(sheet.note))

    def _rows(self) -> tuple[pl.DataFrame, list[str]]:
        """Return the rows of all sheets; of those that cannot be read, the reasons."""
        nothing, unreadable = typed_answers([], self._answer), []
        tables: dict[str, tuple[Stamp | None, pl.DataFrame]] = {}
        with self._lock:
            for file in sheet_files_of(self.work):
                stamp = _stamp_of(file)
                known = self._read.get(file.label)
                try:
                    if known is None or stamp is None or known[0] != stamp:
                        rows = typed_answers([file], self._answer)
                        known = None if stamp is None or is_fresh(stamp) else stamp, rows
                except DataError as error:
                    reason = str(error).splitlines()[0].removeprefix(f"{file.path}: ")
                    unreadable.append(f"{file.label}: {reason}")
                else:
                    tables[file.label] = known
            self._read = tables
        rows = pl.concat([nothing, *(rows for _, rows in tables.values())], how="diagonal")
        return rows, unreadable


def _stamp_of(file: SourceFile) -> Stamp | None:
    try:
        return file.stamp()
    except DataError:
        return None
