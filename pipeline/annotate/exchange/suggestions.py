"""Suggestions of a model for the cards: read from a table, JSON lines, or Label Studio's form."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.annotate.exchange.tools import ITEM, Fault, read_lines, read_list, table_rows
from pipeline.annotate.exchange.transfer import mistakes
from pipeline.annotate.tasks import Work
from pipeline.errors import ConfigError, DataError, Problem
from pipeline.formats.annotation_log import (
    opened,
    read_only,
    read_setting,
    transaction,
    write_setting,
)

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json")
_UNITS = ("l1", "l2", "l3", "l4", "l5", "l6", "lemma")

# In the log: they are shown beside cards only if the coordinator wishes, since they bias.


@dataclass(frozen=True)
class Suggestion:
    """The answer of a model to an item.

    Parameters
    ----------
    id, answer : str
        The item, and the answer.
    score : float or None
        How sure the model is.
    source : str
        The file that it comes from.
    """

    id: str
    answer: str
    score: float | None = None
    source: str = ""


def store_suggestions(connection: sqlite3.Connection, suggestions: Sequence[Suggestion]) -> None:
    """Replace all suggestions; those that decisions were made with stay known."""
    rows = [(each.id, each.answer, each.score, each.source) for each in suggestions]
    with transaction(connection):
        connection.execute("DELETE FROM suggestions")
        connection.executemany("INSERT INTO suggestions VALUES (?, ?, ?, ?)", rows)


def show_suggestions(connection: sqlite3.Connection, *, shown: bool) -> None:
    """Switch suggestions on the pages on or off, for now and for later starts."""
    with transaction(connection):
        write_setting(connection, "show_suggestions", shown)


def suggestions_shown(connection: sqlite3.Connection) -> bool:
    """Return whether cards show suggestions; false unless switched on."""
    return read_setting(connection, "show_suggestions", False) is True


def suggested_answers(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, str]:
    """Return the suggestions for items, by id."""
    query = "SELECT answer FROM suggestions WHERE id = ?"
    rows = ((each, connection.execute(query, (each,)).fetchone()) for each in ids)
    return {name: row["answer"] for name, row in rows if row is not None}


# From a file


@dataclass(frozen=True)
class StoredSuggestions:
    """What came of a file of suggestions.

    Parameters
    ----------
    stored : int
        Suggestions for items of the sheet.
    others : int
        Rows for other items, which were ignored.
    shown : bool
        Whether cards show suggestions.
    """

    stored: int
    others: int
    shown: bool


def import_suggestions(work: Work, source: Path) -> StoredSuggestions:
    """Replace the suggestions of a work by those of a file.

    Parameters
    ----------
    work : Work
        The work.
    source : Path
        A table (``.csv``, ``.tsv``) or JSON lines with ``id``, or the units, ``label`` (of keyed
        forms ``forms``) and optionally ``score``; or tasks with ``predictions``, see
        https://labelstud.io/guide/predictions, as ``.json``.

    Raises
    ------
    ConfigError
        If the file's name ends otherwise.
    DataError
        If the file has mistakes, or nothing for this sheet.
    """
    if source.suffix.lower() not in SUFFIXES:
        what = f"unknown ending {source.suffix or source.name!r}: use {', '.join(SUFFIXES)}"
        raise ConfigError("--suggestions", [Problem("--suggestions", what)])
    ids, by_units = _items(work)
    labels = {label.strip().lower(): label for label in work.labels}
    found: dict[str, Suggestion] = {}
    faults: dict[str, list[str]] = {}
    others = 0
    for each in _entries(source):
        if isinstance(each, Fault):
            faults.setdefault(each.what, []).append(each.place)
            continue
        place, entry = each
        named = str(entry.get("id") or "").strip()
        units = tuple(str(entry[name]) for name in _UNITS if entry.get(name))
        item = (named if named in ids else None) if named else by_units.get(units)
        answer = str(entry.get("forms" if work.kind == "keying" else "label") or "").strip()
        spelt = labels.get(answer.lower()) if work.kind == "annotation" else answer
        score = _score(entry.get("score"))
        if item is None:
            others += 1
        elif not spelt:
            valid = f" ({', '.join(work.labels)})" if work.labels else ""
            faults.setdefault(f"is not a label{valid}", []).append(f"{place}: {answer!r}")
        elif score is not None and math.isnan(score):
            given = f"{place}: {str(entry['score'])!r}"
            faults.setdefault("has a score that is not a number", []).append(given)
        elif item in found:
            faults.setdefault("is a second suggestion for an item", []).append(f"{place}: {item}")
        else:
            found[item] = Suggestion(item, spelt, score, source.name)
    if faults:
        raise mistakes(source, faults, "no suggestion was stored", "Correct the file.")
    if not found:
        names = "id, or the units," if source.suffix.lower() != ".json" else f"data.{ITEM}"
        raise DataError(
            f"{source}: no row is for an item of this sheet\nName items by {names} as in an export."
        )
    with opened(work.database) as connection:
        store_suggestions(connection, list(found.values()))
        return StoredSuggestions(len(found), others, suggestions_shown(connection))


def switch_suggestions(work: Work, *, shown: bool) -> int:
    """Switch suggestions on the pages on or off; return how many there are.

    Raises
    ------
    ConfigError
        If they are to be shown and there are none.
    """
    with opened(work.database) as connection:
        count = int(connection.execute("SELECT count(*) FROM suggestions").fetchone()[0])
        if shown and not count:
            problem = Problem(
                "--show-suggestions", "there are no suggestions", "give --suggestions FILE"
            )
            raise ConfigError("--show-suggestions", [problem])
        show_suggestions(connection, shown=shown)
        return count


def _items(work: Work) -> tuple[set[str], dict[tuple[str, ...], str]]:
    """Return the ids of the items, and the id of each by its units."""
    with read_only(work.database) as connection:
        rows = connection.execute("SELECT id, shown FROM items").fetchall()
    by_units = {}
    for row in rows:
        units = json.loads(row["shown"])["units"]
        by_units[tuple(units[name] for name in _UNITS if name in units)] = row["id"]
    return set(by_units.values()), by_units


def _score(value: Any) -> float | None:
    """Return a score; NaN if it is not a finite number."""
    if value is None or value == "":
        return None
    try:
        score = float(value)
    except (TypeError, ValueError):
        return math.nan
    return score if math.isfinite(score) else math.nan


def _entries(source: Path) -> Iterator[tuple[str, Mapping[str, Any]] | Fault]:
    suffix = source.suffix.lower()
    if suffix == ".jsonl":
        yield from read_lines(source)
    elif suffix == ".json":
        yield from _predictions(source)
    else:
        for place, row in table_rows(source, "\t" if suffix == ".tsv" else ","):
            yield (
                (place, row)
                if row is not None
                else Fault(place, "has more or fewer fields than the header")
            )


def _predictions(source: Path) -> Iterator[tuple[str, Mapping[str, Any]] | Fault]:
    """Yield the predictions of Label Studio's tasks."""
    for number, task in enumerate(read_list(source), 1):
        place = f"task {number}"
        try:
            for each in task.get("predictions") or []:
                values = [result["value"] for result in each["result"]]
                (label,) = [
                    label for value in values
                    for label in (*value.get("choices", ()), *value.get("text", ()))
                ]  # fmt: skip
                entry = {"id": task["data"][ITEM], "label": label, "forms": label}
                yield place, {**entry, "score": each.get("score")}
        except (AttributeError, KeyError, TypeError, ValueError):
            yield Fault(place, f"has no data.{ITEM}, or a prediction without exactly one choice")
