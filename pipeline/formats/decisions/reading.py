"""Decisions read as a sheet is read: the answers that stand, in the order of their tasks."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field

from pipeline.formats.base import LINE, FormatOptions, Skipped, reader
from pipeline.formats.decisions.database import read_only
from pipeline.formats.decisions.notes import written
from pipeline.formats.decisions.state import last_entry, standing_rows

_PAIR = ("l1", "l2")


class DecisionOptions(FormatOptions):
    """Which state of the log is read."""

    until: int | None = Field(default=None, exclude=True)
    """The last entry that counts; all if None. So a run reads one state while people go on; since
    the answers are the same or not whatever this number is, results do not rest on it."""


def pinned(path: Path) -> DecisionOptions:
    """Return options that read the log as it is now, whatever comes after."""
    with read_only(path) as connection:
        return DecisionOptions(until=last_entry(connection))


def digest(path: Path, options: DecisionOptions) -> str:
    """Return the SHA-256 of the answers that stand, and of what sheets say that no longer does.

    Neither the file nor the history changes it, only what counts.
    """
    with read_only(path) as connection:
        until = _until(connection, options)
        counts = [_counted(row) for row in standing_rows(connection, until)]
        overruled = sorted(
            [row["source"], row["annotator"], row["id"], row["answer"] or ""]
            for row in _seen(connection, until)
            if row["answer"] != row["standing"] or row["shown"]
        )
    text = json.dumps([sorted(counts), overruled], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def seen(path: Path, options: DecisionOptions) -> pl.DataFrame:
    """Return what each sheet said when it was looked at last.

    Returns
    -------
    DataFrame
        file (the sheet's name), annotator, id, answer (null: the cell was empty), note (what stood
        beside it that the log has had), standing (the answer that stands in the log now; null:
        none), shown (whether that has been shown to those who adjudicate, and stays).
    """
    names = ("file", "annotator", "id", "answer", "note", "standing", "shown")
    with read_only(path) as connection:
        rows = [
            (row["source"], *(row[name] for name in names[1:]))
            for row in _seen(connection, _until(connection, options))
        ]
    schema = {name: pl.Boolean if name == "shown" else pl.String for name in names}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _check(path: Path, options: DecisionOptions) -> Sequence[Skipped]:
    with read_only(path) as connection:
        standing_rows(connection, _until(connection, options))
    return ()


@reader(
    "annotation_decisions", suffixes=[], check=_check, kind="sheet", options=DecisionOptions,
    digest=digest,
)  # fmt: skip
def scan_annotation(path: Path, options: DecisionOptions) -> pl.LazyFrame:
    """Read labels from decisions, as from annotation sheets; ``line`` is the task's number."""
    return _scan(path, options, answer="label")


@reader(
    "keying_decisions", suffixes=[], check=_check, kind="sheet", options=DecisionOptions,
    digest=digest,
)  # fmt: skip
def scan_keying(path: Path, options: DecisionOptions) -> pl.LazyFrame:
    """Read keyed forms from decisions, as from keying sheets; ``line`` is the task's number."""
    return _scan(path, options, answer="forms")


def _scan(path: Path, options: DecisionOptions, *, answer: str) -> pl.LazyFrame:
    with read_only(path) as connection:
        rows = [
            _entry(row, answer) for row in standing_rows(connection, _until(connection, options))
        ]
    units = ["lemma"] if answer == "forms" else list(_PAIR)
    further = sorted({name for row in rows for name in row} - {*units, *_entry_names(answer)})
    names = [LINE, "annotator", "id", *units, answer, "note", *further]
    if answer == "label":
        names.append("round")
    schema = {name: pl.Int64 if name == LINE else pl.String for name in names}
    return pl.DataFrame(rows, schema=schema, orient="row").lazy()


def _entry_names(answer: str) -> tuple[str, ...]:
    return (LINE, "annotator", "id", answer, "note", "round")


def _entry(row: sqlite3.Row, answer: str) -> dict[str, Any]:
    units: dict[str, str] = json.loads(row["shown"])["units"]
    return {
        LINE: row["task"], "annotator": row["annotator"], "id": row["id"], **units,
        answer: row["answer"], "note": _note(row), "round": row["round"],
    }  # fmt: skip


def _note(row: sqlite3.Row) -> str | None:
    return written(row["note"], unsure=bool(row["unsure"]))


def _counted(row: sqlite3.Row) -> list[str]:
    return [row["round"], row["annotator"], row["id"], row["answer"], _note(row) or ""]


def _until(connection: sqlite3.Connection, options: DecisionOptions) -> int:
    return last_entry(connection) if options.until is None else options.until


def _seen(connection: sqlite3.Connection, until: int) -> list[dict[str, Any]]:
    """Return the last word of each sheet on each task, with the answer that stands."""
    stands = {row["task"]: row["answer"] for row in standing_rows(connection, until)}
    rows = connection.execute(
        """SELECT l.source, t.annotator, t.id, l.answer, l.note, l.unsure, l.task,
        t.round = 'annotation' AND EXISTS (SELECT 1 FROM tasks a
        WHERE a.round = 'adjudication' AND a.id = t.id AND a.asked = 1) AS open
        FROM log l JOIN tasks t USING (task)
        JOIN (SELECT max(entry) AS entry FROM log WHERE entry <= ? AND source <> ''
        GROUP BY task, source) USING (entry)""",
        (until,),
    ).fetchall()
    found = []
    for row in rows:
        standing = stands.get(row["task"])
        shown = bool(row["open"]) and standing is not None
        found.append({**dict(row), "note": _note(row), "standing": standing, "shown": shown})
    return found
