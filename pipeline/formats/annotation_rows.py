"""Readers of the annotation log: valid answers, contents of sheets, and transfers, as tables."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field

from pipeline.formats.annotation_log import (
    last_entry,
    last_transfer,
    read_only,
    standing_rows,
    transfers,
    write_note,
)
from pipeline.formats.base import LINE, FormatOptions, SkippedPart, reader

_PAIR = ("l1", "l2")


class DecisionOptions(FormatOptions):
    """The state of the log to read."""

    until: int | None = Field(default=None, exclude=True)
    """Last entry [all]."""
    given: int | None = Field(default=None, exclude=True)
    """Last transfer [all]."""


def current_options(path: Path) -> DecisionOptions:
    """Return options that read the present state of the log."""
    with read_only(path) as connection:
        return DecisionOptions(until=last_entry(connection), given=last_transfer(connection))


def digest(path: Path, options: DecisionOptions) -> str:
    """Return the SHA-256 of the valid answers, of outdated answers in sheets, and of given cards.

    It does not depend on the file or the history.
    """
    with read_only(path) as connection:
        until = _until(connection, options)
        counts = [
            [row["round"], row["annotator"], row["id"], row["answer"], _note(row) or ""]
            for row in standing_rows(connection, until)
        ]
        tasks = {(row["annotator"], row["id"]): row for row in _first_answers(connection, until)}
        overruled = sorted(
            [row["source"], row["annotator"], row["id"], row["answer"] or ""]
            for row in _last_answers(connection, until)
            for task in [tasks[(row["annotator"], row["id"])]]
            if row["answer"] != task["answer"] or task["settled"]
        )
        cards = [
            [each.id, each.annotator, each.to_annotator]
            for each in transfers(connection, options.given)
        ]
    settled = sorted([*who] for who, row in tasks.items() if row["settled"])
    # Without given cards and adjudication it is the digest of earlier versions.
    more = [each for each in (cards, settled) if each]
    text = json.dumps([sorted(counts), overruled, *more], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sheet_answers(path: Path, options: DecisionOptions) -> pl.DataFrame:
    """Return the last known contents of each sheet.

    Returns
    -------
    DataFrame
        file (name of the sheet), annotator, id, answer (null: empty cell), note (remark known to
        the log).
    """
    with read_only(path) as connection:
        rows = [
            (row["source"], row["annotator"], row["id"], row["answer"], _note(row))
            for row in _last_answers(connection, _until(connection, options))
        ]
    schema = dict.fromkeys(("file", "annotator", "id", "answer", "note"), pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row")


def first_answers(path: Path, options: DecisionOptions) -> pl.DataFrame:
    """Return all tasks of the first round with their valid answers.

    Returns
    -------
    DataFrame
        annotator, id, answer (null: none), note, source (the sheet that it came from; empty: the
        page), at (when it was given or withdrawn, UTC; null: never), settled (true if it cannot
        change, since adjudicators have seen it).
    """
    names = ("annotator", "id", "answer", "note", "source", "at", "settled")
    with read_only(path) as connection:
        tasks = _first_answers(connection, _until(connection, options))
        rows = [tuple(row[name] for name in names) for row in tasks]
    schema = {name: pl.Boolean if name == "settled" else pl.String for name in names}
    return pl.DataFrame(rows, schema=schema, orient="row")


def units_of_items(path: Path, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the units of items by id."""
    query = "SELECT shown FROM items WHERE id = ?"
    with read_only(path) as connection:
        texts = {id_: connection.execute(query, (id_,)).fetchone()["shown"] for id_ in ids}
    return {
        id_: tuple(str(unit) for _, unit in sorted(json.loads(text)["units"].items()))
        for id_, text in texts.items()
    }


def transfer_rows(path: Path, options: DecisionOptions) -> pl.DataFrame:
    """Return all transfers of cards in their order; of a card the last counts.

    Returns
    -------
    DataFrame
        line (number of the transfer), annotator (who is asked), id, instead_of (whose card it is
        by the table of sheets).
    """
    with read_only(path) as connection:
        rows = [
            (each.number, each.to_annotator, each.id, each.annotator)
            for each in transfers(connection, options.given)
        ]
    schema = {LINE: pl.Int64, "annotator": pl.String, "id": pl.String, "instead_of": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _check(path: Path, options: DecisionOptions) -> Sequence[SkippedPart]:
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
    names = [LINE, "annotator", "id", *units, answer, "note"]
    names += [*sorted({name for row in rows for name in row} - {*names, "round"}), "round"]
    schema = {name: pl.Int64 if name == LINE else pl.String for name in names}
    return pl.DataFrame(rows, schema=schema, orient="row").lazy()


def _entry(row: sqlite3.Row, answer: str) -> dict[str, Any]:
    units: dict[str, str] = json.loads(row["shown"])["units"]
    return {
        LINE: row["task"], "annotator": row["annotator"], "id": row["id"], **units,
        answer: row["answer"], "note": _note(row), "round": row["round"],
    }  # fmt: skip


def _note(row: sqlite3.Row) -> str | None:
    return write_note(row["note"], unsure=bool(row["unsure"]))


def _until(connection: sqlite3.Connection, options: DecisionOptions) -> int:
    return last_entry(connection) if options.until is None else options.until


def _last_answers(connection: sqlite3.Connection, until: int) -> list[sqlite3.Row]:
    """Return the last answer of each sheet for each task."""
    return connection.execute(
        """SELECT l.source, t.annotator, t.id, l.answer, l.note, l.unsure
        FROM log l JOIN tasks t USING (task)
        JOIN (SELECT max(entry) AS entry FROM log WHERE entry <= ? AND source <> ''
        GROUP BY task, source) USING (entry)""",
        (until,),
    ).fetchall()


_FIRST = """
SELECT t.task, t.annotator, t.id, l.at FROM tasks t LEFT JOIN (
  SELECT task, max(entry) AS entry FROM log
  WHERE entry <= ? AND kind IN ('label', 'undo', 'import') GROUP BY task
) last USING (task) LEFT JOIN log l ON l.entry = last.entry
WHERE t.round = 'annotation' ORDER BY t.annotator, t.place
"""


def _first_answers(connection: sqlite3.Connection, until: int) -> Iterator[dict[str, Any]]:
    """Yield the tasks of the first round, see `first_answers`."""
    stands = {row["task"]: row for row in standing_rows(connection, until, round_name="annotation")}
    decides: dict[str, set[str]] = {}
    for row in connection.execute(
        "SELECT id, annotator FROM tasks WHERE round = 'adjudication' AND asked = 1"
    ):
        decides.setdefault(row["id"], set()).add(row["annotator"])
    for row in connection.execute(_FIRST, (until,)):
        own, deciders = stands.get(row["task"]), decides.get(row["id"], ())
        yield {
            **dict(row), "answer": own and own["answer"], "note": own and _note(own),
            "source": own["source"] if own else "",
            "settled": bool(deciders and own) or row["annotator"] in deciders,
        }  # fmt: skip
