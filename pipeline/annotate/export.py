"""What was decided, as sheets and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.annotate.sheets import noted
from pipeline.annotate.work import Work
from pipeline.errors import ConfigError, Problem, StoreError
from pipeline.formats.decisions.database import opened, read_only
from pipeline.formats.decisions.log import append
from pipeline.formats.decisions.notes import written
from pipeline.formats.decisions.state import last_entry, standing_rows
from pipeline.formats.sheets.kinds import SHEETS
from pipeline.runner.delivery.sheets import REMEDY, content_of, write_sheet
from pipeline.runner.store import store
from pipeline.runner.store.storage import storage_at

KINDS = (".xlsx", ".csv", ".jsonl")


def export(work: Work, target: Path) -> int:
    """Write what is decided to a file; never over one that is there.

    Parameters
    ----------
    work : Work
        The work.
    target : Path
        ``.xlsx`` and ``.csv``: a sheet with all that is asked of everybody, answers filled in.
        ``.jsonl``: a line for each answer that stands, of both rounds, with time and seconds.

    Returns
    -------
    int
        How many answers there are.

    Raises
    ------
    ConfigError
        If the file's name ends otherwise.
    StoreError
        If there is such a file, or it cannot be written.
    """
    suffix = target.suffix.lower()
    if suffix not in KINDS:
        what = f"the ending {target.suffix or target.name!r} is none of {', '.join(KINDS)}"
        raise ConfigError("--export", [Problem("--export", what)])
    if suffix == ".jsonl":
        lines = [json.dumps(each, ensure_ascii=False) for each in answers(work)]
        content, count = "".join(f"{line}\n" for line in lines).encode(), len(lines)
    else:
        kind = SHEETS[f"{work.kind}_sheet"]
        rows = sheet_rows(work)
        wanted = replace(work.wanted, kind="csv" if suffix == ".csv" else "xlsx")
        content = content_of(rows.drop("version"), "everybody", wanted, kind)
        count = rows[kind.answer].count()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror}") from error
    return count


def hand_to_sheets(work: Work) -> list[str]:
    """Write a sheet for everybody with what is decided so far, to go on in a spreadsheet.

    The log notes what each sheet holds, so that the page and the sheet can go on side by side.

    Returns
    -------
    list of str
        Where the sheets are.
    """
    kind, places = SHEETS[f"{work.kind}_sheet"], []
    storage = storage_at(work.folder, remedy=REMEDY)
    with storage.guarded("the sheets", ""), storage.lock(store.LOCK, lambda: None):
        for (who,), part in sheet_rows(work).group_by("annotator", maintain_order=True):
            place = write_sheet(part.drop("version"), str(who), work.wanted, storage, kind)
            held = part.drop_nulls(kind.answer).select(
                "annotator", "id", kind.answer, "note", "version"
            )
            with opened(work.database) as connection:
                append(connection, noted(held, Path(place).name))
            places.append(place)
    return places


def answers(work: Work) -> Iterator[dict[str, Any]]:
    """Yield every answer that stands, as JSON lines have it."""
    name = SHEETS[f"{work.kind}_sheet"].answer
    with read_only(work.database) as connection:
        until = last_entry(connection)
        seconds = dict(connection.execute("SELECT entry, seconds FROM log").fetchall())
        for row in standing_rows(connection, until):
            yield {
                "annotator": row["annotator"], "id": row["id"],
                **json.loads(row["shown"])["units"], name: row["answer"],
                "unsure": bool(row["unsure"]), "note": row["note"] or None, "round": row["round"],
                "at": row["at"], "seconds": seconds[row["entry"]],
            }  # fmt: skip


def sheet_rows(work: Work) -> pl.DataFrame:
    """Return what is asked of everybody, as a sheet has it, with the answers that stand.

    Returns
    -------
    DataFrame
        annotator, order, id, the units, examples, answer, note, version (of the answer).
    """
    name = SHEETS[f"{work.kind}_sheet"].answer
    with read_only(work.database) as connection:
        stands = {
            row["task"]: row
            for row in standing_rows(connection, last_entry(connection), named="annotation")
        }
        tasks = connection.execute(
            """SELECT t.task, t.annotator, t.place, t.id, i.shown FROM tasks t JOIN items i
            USING (id) WHERE t.round = 'annotation' AND t.asked = 1
            ORDER BY t.annotator, t.place"""
        ).fetchall()
    rows = []
    for task in tasks:
        shown, own = json.loads(task["shown"]), stands.get(task["task"])
        examples = enumerate(shown.get("examples", []), 1)
        beside = {"lexicon_forms": shown["lexicon_forms"]} if shown.get("lexicon_forms") else {}
        rows.append({
            "annotator": task["annotator"], "order": task["place"], "id": task["id"],
            **shown["units"], **{f"example_{number}": text for number, text in examples}, **beside,
            **_answered(own, name),
        })  # fmt: skip
    names = {key: None for row in rows for key in row}
    schema = {
        each: pl.Int64 if each in {"order", "version"} else pl.String
        for each in names or ("annotator", "order", "id", name, "note", "version")
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _answered(own: Any, name: str) -> dict[str, Any]:
    """Return the cells of an answer, by the name of its column; null where there is none."""
    if own is None:
        return {name: None, "note": None, "version": 0}
    note = written(own["note"], unsure=bool(own["unsure"]))
    return {name: own["answer"], "note": note, "version": own["entry"]}
