"""Tasks, answers and suggestions: to and from other annotation tools and files."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pipeline.annotate.exchange.tools import (
    ITEM,
    TOOLS,
    ExchangeTask,
    Fault,
    Tool,
    ToolAnswer,
    read_lines,
    read_list,
    table_rows,
)
from pipeline.annotate.records import add_decisions, units_of
from pipeline.annotate.tasks import SheetWork
from pipeline.errors import ConfigError, DataError, Problem, did_you_mean
from pipeline.formats.annotation_log import (
    Decision,
    Outcome,
    Standing,
    last_entry,
    not_written,
    open_log,
    read_only,
    read_setting,
    replay_task,
    standing_rows,
    transaction,
    write_setting,
)
from pipeline.kernels.annotation.sheets import fold
from schemas.errors import EXAMPLES, count_text

_KEY = 40


def tool_of(name: str, work: SheetWork) -> Tool:
    """Return the tool with a name that can hold the answers of a work.

    Raises
    ------
    ConfigError
        If there is no such tool, or it has no field for keyed forms.
    """
    if name not in TOOLS:
        what, remedy = f"unknown format {name!r}", did_you_mean(name, TOOLS)
        raise ConfigError("--format", [Problem("--format", what, remedy)])
    tool = TOOLS[name]
    if work.kind == "keying" and not tool.keying:
        what = f"{tool.title} classifies texts and has no field for keyed forms"
        others = [key for key, each in TOOLS.items() if each.keying]
        raise ConfigError("--format", [Problem("--format", what, f"use {', '.join(others)}")])
    return tool


def parse_people(entries: Sequence[str], work: SheetWork) -> dict[str, str]:
    """Return annotator to name in the tool, of ``anna=7,ben=ben@lab.org``.

    Raises
    ------
    ConfigError
        If an entry is not NAME=OTHER, or names nobody of the experiment, or somebody twice.
    """
    known = {fold(name): name for name in _people(work)}
    people: dict[str, str] = {}
    problems = []
    for entry in entries:
        name, _, other = (part.strip() for part in entry.partition("="))
        if not name or not other:
            problems.append(Problem("--annotator-map", f"{entry!r} is not NAME=NAME_IN_THE_TOOL"))
        elif fold(name) not in known:
            what = f"{name!r} is not an annotator of the experiment"
            problems.append(Problem("--annotator-map", what, did_you_mean(name, known.values())))
        elif known[fold(name)] in people:
            problems.append(Problem("--annotator-map", f"{name!r} is named twice"))
        else:
            people[known[fold(name)]] = other
    if problems:
        raise ConfigError("--annotator-map", problems)
    return people


def _people(work: SheetWork) -> list[str]:
    with read_only(work.database) as connection:
        rows = connection.execute(
            "SELECT DISTINCT annotator FROM tasks WHERE round = 'annotation' ORDER BY annotator"
        )
        return [row["annotator"] for row in rows]


# Export


def export_tasks(
    work: SheetWork, target: Path, name: str, people: Mapping[str, str] | None = None
) -> tuple[int, list[Path]]:
    """Write the tasks of the first round, with their current answers, in the form of a tool.

    Parameters
    ----------
    work : SheetWork
        The work; only the tasks of its annotators are written.
    target : Path
        The new file; further files of the tool lie beside it.
    name : str
        Name of the tool, in `TOOLS`.
    people : mapping of str to str, optional
        Annotator to name in the tool.

    Returns
    -------
    tuple of int and list of Path
        Number of tasks, and the files.

    Raises
    ------
    ConfigError
        As `tool_of`, or if the name is that of the configuration beside the tasks.
    StoreError
        If a file exists or cannot be written.
    """
    tool = tool_of(name, work)
    if tool.beside and target.suffix.lower() == tool.beside:
        what = f"{target}: {tool.title} has its configuration in a file with this ending"
        raise ConfigError("--export", [Problem("--export", what, "use .json or .jsonl for tasks")])
    tasks = _tasks(work)
    content = tool.write(work, tasks, target, people or {})
    there = [path for path in content if path.exists()]
    if there:
        raise not_written(there[0], FileExistsError(errno.EEXIST, "File exists"))
    for path, text in content.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
        except OSError as error:
            raise not_written(path, error) from error
    return len(tasks), list(content)


def _tasks(work: SheetWork) -> list[ExchangeTask]:
    with read_only(work.database) as connection:
        until = last_entry(connection)
        stands = {
            row["task"]: row for row in standing_rows(connection, until, round_name="annotation")
        }
        rows = connection.execute(
            """SELECT t.task, t.annotator, t.id, i.shown FROM tasks t JOIN items i USING (id)
            WHERE t.round = 'annotation' AND t.asked = 1 ORDER BY t.annotator, t.place"""
        ).fetchall()
    tasks = []
    for row in rows:
        if row["annotator"] not in work.annotators:
            continue
        item, own = json.loads(row["shown"]), stands.get(row["task"])
        beside = (item.get("keyed_forms"), item.get("lexicon_forms"))
        examples = (*item.get("examples", ()), *filter(None, beside))
        text = " ".join(units_of(row["shown"]))
        task = ExchangeTask(row["annotator"], row["id"], text, examples)
        if own is not None:
            task = ExchangeTask(
                row["annotator"], row["id"], text, examples, own["answer"], bool(own["unsure"]),
                own["note"], own["seconds"], own["at"],
            )  # fmt: skip
        tasks.append(task)
    return tasks


# Import


@dataclass(frozen=True)
class ToolImport:
    """What came of reading a file of a tool.

    Parameters
    ----------
    answers, duplicates : int
        Answers imported, and those that the log had already.
    skipped : tuple of str
        Tasks that people skipped, rejected or ignored there.
    conflicts : tuple of str
        Answers that contradict the log, and are not imported.
    """

    answers: int = 0
    duplicates: int = 0
    skipped: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


@dataclass
class _FileContent:
    """What a file gives: valid answers by person and item, and its mistakes by kind."""

    answers: dict[tuple[str, str], ToolAnswer] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    faults: dict[str, list[str]] = field(default_factory=dict)

    def fault(self, what: str, place: str, value: str = "") -> None:
        suffix = f": {value!r}" if value else ""
        self.faults.setdefault(what, []).append(f"{place}{suffix}")


def import_answers(
    work: SheetWork, source: Path, name: str, people: Mapping[str, str] | None = None
) -> ToolImport:
    """Import the answers of a file of another tool into the log, all or none.

    An answer counts if the log has none by this annotator for the item. The same answer again
    imports nothing but a new note; another one is a conflict, and the log's answer stays.

    Parameters
    ----------
    work : SheetWork
        The work.
    source : Path
        The file; of Potato also the folder of annotations.
    name : str
        Name of the tool, in `TOOLS`.
    people : mapping of str to str, optional
        Annotator to name in the tool; equal names need no entry.

    Raises
    ------
    ConfigError
        As `tool_of`.
    DataError
        If the file has mistakes: with the number of each kind, examples, and what to do.
    """
    tool = tool_of(name, work)
    answers = list(tool.read(source, work.kind == "keying"))
    with open_log(work.database) as connection:
        rows = connection.execute("SELECT task, annotator, id FROM tasks WHERE round='annotation'")
        tasks = {(row["annotator"], row["id"]): row["task"] for row in rows}
        content = _check(answers, work, tasks, _names(tasks, people or {}))
        if content.faults:
            raise _error(source, tool, content.faults)
        origin = f"{tool.title}: {source.name}"
        with transaction(connection):
            return _import(connection, content, tasks, origin)


def _names(tasks: Mapping[tuple[str, str], int], people: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the annotators of each name in the tool, folded."""
    names: dict[str, list[str]] = {}
    known = sorted({who for who, _ in tasks})
    for who, other in [*((name, name) for name in known), *people.items()]:
        if who not in names.setdefault(fold(other), []):
            names[fold(other)].append(who)
    return names


def _check(
    answers: Sequence[ToolAnswer | Fault],
    work: SheetWork,
    tasks: Mapping[tuple[str, str], int],
    names: Mapping[str, Sequence[str]],
) -> _FileContent:
    content = _FileContent()
    labels = {label.strip().lower(): label for label in work.labels}
    for each in answers:
        if isinstance(each, Fault):
            content.fault(each.what, each.place, each.value)
        elif each.skipped:
            content.skipped.append(f"{each.place}: {each.id}")
        elif each.answer is not None:
            answer = each.answer.strip()
            spelt = answer if work.kind == "keying" else labels.get(answer.lower())
            who = _who(each, names)
            if spelt is None:
                content.fault(f"is not a label ({', '.join(work.labels)})", each.place, answer)
            elif who is None:
                people = ", ".join(filter(None, (*each.people, each.assignee))) or "nobody"
                content.fault(_NOBODY, each.place, people)
            elif problem := _problem(each, who, tasks):
                content.fault(problem, each.place, f"{each.id} by {who}")
            elif (who, each.id) in content.answers:
                first = content.answers[who, each.id].place
                what = "answers an item twice: keep one"
                content.fault(what, f"{first} and {each.place}", f"{each.id} by {who}")
            else:
                content.answers[who, each.id] = replace(each, answer=spelt, note=each.note.strip())
    return content


_NOBODY = "is by nobody whom the experiment asks: say with --annotator-map anna=NAME who it is"


def _problem(answer: ToolAnswer, who: str, tasks: Mapping[tuple[str, str], int]) -> str | None:
    """Return why there is no task for an answer, or why it cannot be stored."""
    if not answer.id:
        return "has no id of an item: annotate the tasks that --export wrote"
    if (who, answer.id) not in tasks:
        if any(item == answer.id for _, item in tasks):
            return "is an item that was not assigned to this annotator"
        return "is not the id of an item of this sheet"
    text = f"{answer.answer}{answer.note}"
    if any("\ud800" <= sign <= "\udfff" for sign in text):  # JSON can write half a character
        return "has a character that is not text"
    return None


def _who(answer: ToolAnswer, names: Mapping[str, Sequence[str]]) -> str | None:
    """Return the annotator: the person who answered, else the one for whom the task was written.

    A name in the tool that several annotators share means the one for whom the task was written.
    """
    annotators = names.get(fold(answer.assignee), ())
    called = (*answer.people, answer.file)
    candidates = next((names[fold(each)] for each in called if fold(each) in names), ())
    if not answer.people and not candidates:
        candidates = annotators
    if len(candidates) > 1:
        candidates = [each for each in candidates if each in annotators]
    return candidates[0] if len(candidates) == 1 else None


def _error(source: Path, tool: Tool, faults: Mapping[str, Sequence[str]]) -> DataError:
    return mistakes(
        source, faults, "nothing was imported",
        f"Correct this in {tool.title}, or in the file, and import it again. If the file is of"
        " another tool, name that with --format.",
    )  # fmt: skip


def mistakes(source: Path, faults: Mapping[str, Sequence[str]], so: str, remedy: str) -> DataError:
    """Return the error for the mistakes of a file, by kind: how many, and some places.

    Examples
    --------
    >>> print(mistakes(Path("a.json"), {"is not a label": ["task 2: 'SVG'"]}, "nothing", "Go."))
    a.json: 1 mistake, so nothing
      - is not a label: 1, task 2: 'SVG'
    Go.
    """
    count = sum(map(len, faults.values()))
    lines = ""
    for what, places in faults.items():
        some = "; ".join(places[:EXAMPLES])
        several = f"{len(places):,}, for example {some}" if len(places) > 1 else f"1, {some}"
        lines += f"\n  - {what}: {several}"
    return DataError(f"{source}: {count_text(count, 'mistake')}, so {so}{lines}\n{remedy}")


def _import(
    connection: sqlite3.Connection,
    content: _FileContent,
    tasks: Mapping[tuple[str, str], int],
    origin: str,
) -> ToolImport:
    """Compare answers with the log, in a transaction of the caller's, and add what is new."""
    counts: Counter[str] = Counter()
    conflicts = []
    for (who, item), answer in content.answers.items():
        stands = replay_task(connection, tasks[who, item])
        decision = _decision(answer, who, stands, origin)
        where = f"{answer.place}: {answer.answer!r} for {item}"
        if stands.answer not in {None, answer.answer}:
            conflicts.append(f"{where}, but {who} decided {stands.answer!r}")
        elif decision is None:
            counts["duplicates"] += 1
        elif stands.note and decision.note != stands.note:
            conflicts.append(f"{where}, with another note than {who}'s {stands.note!r}")
        else:
            (outcome,) = add_decisions(connection, [decision])
            if not isinstance(outcome, Outcome):
                conflicts.append(f"{where}: {outcome.message}")
            elif outcome.status == "repeated":
                conflicts.append(f"{where}, which {who} has withdrawn since it was imported")
            else:
                counts["new"] += 1
    return ToolImport(counts["new"], counts["duplicates"], tuple(content.skipped), tuple(conflicts))


def _decision(answer: ToolAnswer, who: str, stands: Standing, origin: str) -> Decision | None:
    """Return the entry of an answer; None if the log has it already."""
    note, unsure = answer.note or stands.note, answer.unsure or stands.unsure
    if (answer.answer, note, unsure) == (stands.answer, stands.note, stands.unsure):
        return None
    content = json.dumps([who, answer.id, answer.answer, note, unsure])  # whatever the file's name
    key = hashlib.sha256(content.encode()).hexdigest()[:_KEY]
    return Decision(
        key, who, answer.id, "import", answer=answer.answer, unsure=unsure, note=note,
        seconds=answer.seconds, source=origin,
    )  # fmt: skip


# Suggestions of a model for the cards: read from a table, JSON lines, or Label Studio's form.


SUFFIXES = (".csv", ".tsv", ".jsonl", ".json")
_UNITS = ("l1", "l2", "l3", "l4", "l5", "l6", "lemma")

# In the log: they are shown beside cards only if the coordinator turns them on, since they bias.


@dataclass(frozen=True)
class Suggestion:
    """The answer of a model to an item.

    Parameters
    ----------
    id, answer : str
        The item, and the answer.
    score : float or None
        Certainty of the model.
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


def show_suggestions(connection: sqlite3.Connection, *, visible: bool) -> None:
    """Switch suggestions on the pages on or off, for now and for later starts."""
    with transaction(connection):
        write_setting(connection, "show_suggestions", visible)


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
    visible : bool
        Whether cards show suggestions.
    """

    stored: int
    others: int
    visible: bool


def import_suggestions(work: SheetWork, source: Path) -> StoredSuggestions:
    """Replace the suggestions of a work by those of a file.

    Parameters
    ----------
    work : SheetWork
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
    suggestions: dict[str, Suggestion] = {}
    faults: dict[str, list[str]] = {}
    others = 0
    for each in _entries(source):
        if isinstance(each, Fault):
            faults.setdefault(each.what, []).append(each.place)
            continue
        place, entry = each
        id_ = str(entry.get("id") or "").strip()
        units = tuple(str(entry[name]) for name in _UNITS if entry.get(name))
        item = (id_ if id_ in ids else None) if id_ else by_units.get(units)
        answer = str(entry.get("forms" if work.kind == "keying" else "label") or "").strip()
        spelt = labels.get(answer.lower()) if work.kind == "annotation" else answer
        score = _score(entry.get("score"))
        if item is None:
            others += 1
        elif not spelt:
            valid = f" ({', '.join(work.labels)})" if work.labels else ""
            faults.setdefault(f"is not a label{valid}", []).append(f"{place}: {answer!r}")
        elif score is not None and math.isnan(score):
            example = f"{place}: {str(entry['score'])!r}"
            faults.setdefault("has a score that is not a number", []).append(example)
        elif item in suggestions:
            faults.setdefault("is a second suggestion for an item", []).append(f"{place}: {item}")
        else:
            suggestions[item] = Suggestion(item, spelt, score, source.name)
    if faults:
        raise mistakes(source, faults, "no suggestion was stored", "Correct the file.")
    if not suggestions:
        names = "id, or the units," if source.suffix.lower() != ".json" else f"data.{ITEM}"
        raise DataError(
            f"{source}: no row is for an item of this sheet\nName items by {names} as in an export."
        )
    with open_log(work.database) as connection:
        store_suggestions(connection, list(suggestions.values()))
        return StoredSuggestions(len(suggestions), others, suggestions_shown(connection))


def switch_suggestions(work: SheetWork, *, visible: bool) -> int:
    """Switch suggestions on the pages on or off; return how many there are.

    Raises
    ------
    ConfigError
        If they are to be shown and there are none.
    """
    with open_log(work.database) as connection:
        count = int(connection.execute("SELECT count(*) FROM suggestions").fetchone()[0])
        if visible and not count:
            problem = Problem(
                "--show-suggestions", "there are no suggestions", "give --suggestions FILE"
            )
            raise ConfigError("--show-suggestions", [problem])
        show_suggestions(connection, visible=visible)
        return count


def _items(work: SheetWork) -> tuple[set[str], dict[tuple[str, ...], str]]:
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
