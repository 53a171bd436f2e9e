"""Conflicts between sheets and pages of a work, as the files are now, and decisions on them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from pipeline.annotate.records import add_decisions
from pipeline.annotate.sync import (
    Cell,
    entry_of,
    is_answer,
    log_of,
    sheet_files_of,
    spell_answer,
    tasks_of,
)
from pipeline.annotate.tasks import Work
from pipeline.errors import DataError, LexassayError
from pipeline.formats.annotation_log import opened, read_note, replay_task, transaction
from pipeline.formats.spreadsheets.kinds import SHEETS
from pipeline.runner.conflicts import Conflict, SheetAnswer, compare, typed_answers
from pipeline.runner.inputs import SourceFile
from pipeline.runner.store.digest import Stamp, is_fresh

_BY = "coordinator"
"""What the keys of these entries begin with, unlike those of imports."""


class Changed(LexassayError):
    """The conflicts to decide are not those that the person has seen."""


class Keep(BaseModel):
    """A decision between answers of sheets and the page.

    Parameters
    ----------
    keep : str
        Which answer counts.
    annotator : str
        Whose.
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
class Kept:
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


def choices(work: Work, conflict: Conflict) -> list[SheetAnswer]:
    """Return the answers in sheets that can be kept, each once.

    None can for an item that adjudicators have seen; nor can one that is not a label.
    """
    found: dict[str | None, SheetAnswer] = {}
    for each in () if conflict.settled else conflict.sheets:
        answer = spell_answer(work, each.answer)
        if is_answer(work, answer):
            found.setdefault(answer, each)
    return list(found.values())


class Conflicts:
    """The conflicts of a work; a sheet is read again when it has changed.

    Parameters
    ----------
    work : Work
        The work.
    """

    def __init__(self, work: Work) -> None:
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

    def keep(self, wanted: Keep) -> Kept:
        """Log a decision; the sheets stay as they are.

        The answer of a sheet is imported, and that of the page stays; what each sheet has is noted
        in both cases, so that the conflict does not return until somebody changes it again.

        Raises
        ------
        Changed
            If the conflicts are not those of the token.
        """
        rows, _ = self._rows()
        with opened(self.work.database) as connection, transaction(connection):
            cells, conflicts = compare(rows, log_of(self.work))
            every = [
                each
                for each in conflicts
                if each.annotator == wanted.annotator and wanted.id in {"", each.id}
            ]
            if not every or token_of(every) != wanted.token:
                raise Changed("an answer has changed meanwhile")
            # Sheets that agree with the page would differ from it when another answer is kept.
            agreeing: dict[str, list[SheetAnswer]] = {}
            same = cells.filter(outcome="same", annotator=wanted.annotator)
            for row in same.select("id", "file", "line", "answer", "note").iter_rows():
                agreeing.setdefault(row[0], []).append(SheetAnswer(*row[1:]))
            tasks, left = tasks_of(connection), 0
            for each in every:
                kept = self._kept(each, wanted)
                if kept is None:
                    left += 1
                    continue
                stands = replay_task(connection, tasks[each.annotator, each.id])
                add_decisions(connection, [
                    entry_of(self._cell(each, typed), "import" if typed in kept else "seen",
                             stands, by=_BY)
                    for typed in (*each.sheets, *agreeing.get(each.id, ()))
                ])  # fmt: skip
        return Kept(len(every) - left, left)

    def _kept(self, conflict: Conflict, wanted: Keep) -> list[SheetAnswer] | None:
        """Return the answer of a sheet to import, if any; None if it is not clear which."""
        if wanted.keep == "page":
            return []
        offered = choices(self.work, conflict)
        if wanted.file:
            offered = [each for each in offered if each.file == wanted.file]
        return offered if len(offered) == 1 else None

    def _cell(self, conflict: Conflict, typed: SheetAnswer) -> Cell:
        answer = spell_answer(self.work, typed.answer)
        return Cell(typed.file, conflict.annotator, conflict.id, answer, *read_note(typed.note))

    def _rows(self) -> tuple[pl.DataFrame, list[str]]:
        """Return the rows of all sheets; of those that cannot be read, the reasons."""
        nothing, unreadable = typed_answers([], self._answer), []
        found: dict[str, tuple[Stamp | None, pl.DataFrame]] = {}
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
                    found[file.label] = known
            self._read = found
        rows = pl.concat([nothing, *(rows for _, rows in found.values())], how="diagonal")
        return rows, unreadable


def _stamp_of(file: SourceFile) -> Stamp | None:
    try:
        return file.stamp()
    except DataError:
        return None
