"""Quality control: a training round, hidden gold items, repeated cards, and alerts.

Cards that measure quality are items of their own in the log, in the rounds ``training`` and
``check``; no reader of answers takes these for results. Cards of the round ``check`` stand among
those of the first round, and nothing on the page tells them apart.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.texts import Text, text
from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.formats.annotation_log import (
    Decision,
    Round,
    TaskRequest,
    add_tasks,
    log_id,
    open_log,
    read_setting,
    transaction,
    write_setting,
)
from pipeline.formats.base import LINE
from pipeline.kernels.statistics.intervals import clopper_pearson
from pipeline.runner.inputs import Places, find
from pipeline.stages.base import Source

TRAINING: Round = "training"
CHECK: Round = "check"
PASS_MARK = 0.8
"""Share of training items that must be right."""
_FEW = 3

# Gold items from a table


@dataclass(frozen=True)
class GoldItem:
    """An item with a known answer.

    Parameters
    ----------
    units : mapping of str to str
        Name of a unit to its text.
    label : str
        The answer.
    explanation : str
        Why; shown in the training round.
    examples : tuple of str
        Shown as those of other cards.
    """

    units: Mapping[str, str]
    label: str
    explanation: str = ""
    examples: tuple[str, ...] = ()


def read_gold(path: Path, work: SheetWork, *, option: str) -> list[GoldItem]:
    """Return the gold items of a table.

    Parameters
    ----------
    path : Path
        CSV, TSV, JSONL or another table: a column per unit, named as on the sheets (l1, l2), and
        label; optional are explanation and columns whose names begin with ``example``.
    work : SheetWork
        The work, for the names of units and the labels.
    option : str
        For messages.

    Raises
    ------
    ConfigError
        If a column is missing, a label is not one of the work, or a pair occurs twice.
    DataError
        If the file cannot be read.
    """
    (file, *_) = find(Source(path=(str(path),)), Places(Path.cwd()), where=option)
    file.check()
    rows = file.scan().collect()
    with open_log(work.database) as connection:
        units = next((list(content["units"]) for _, content in _items(connection)), [])
    missing = [name for name in [*units, "label"] if name not in rows.columns]
    if missing:
        what = f"{path}: no column {', '.join(missing)}"
        own = [name for name in rows.columns if name not in {"file", LINE}]  # added by the reader
        remedy = f"the table has {', '.join(own)}; name the columns as on the sheets"
        raise ConfigError(option, [Problem(option, what, remedy)])
    columns = [name for name in rows.columns if name.startswith("example")]
    spelt = {label.casefold(): label for label in work.labels}
    items: list[GoldItem] = []
    wrong: list[Problem] = []
    pairs: set[tuple[str, ...]] = set()
    for row in rows.iter_rows(named=True):
        text = str(row["label"] or "").strip()
        pair = tuple(str(row[name] or "") for name in units)
        where = f"{path}, row {row[LINE]}"
        if text.casefold() not in spelt:
            wrong.append(Problem(where, f"label {text!r}", did_you_mean(text, work.labels)))
        elif not all(pair):
            wrong.append(Problem(where, "an empty unit", f"fill in {', '.join(units)}"))
        elif pair in pairs:
            wrong.append(Problem(where, f"{' '.join(pair)} occurs twice", "keep one"))
        else:
            pairs.add(pair)
            texts = tuple(str(row[name]) for name in columns if row[name])
            explanation = str(row.get("explanation") or "")
            label = spelt[text.casefold()]
            items.append(GoldItem(dict(zip(units, pair, strict=True)), label, explanation, texts))
    if wrong:
        raise ConfigError(option, wrong)
    if not items:
        raise ConfigError(option, [Problem(option, f"{path} has no rows", "add gold items")])
    return items


def add_training(work: SheetWork, gold: Sequence[GoldItem]) -> int:
    """Make a training round of gold items; return how many it has.

    A new table replaces the items that nobody needs any more; whoever has passed stays so.

    Raises
    ------
    ConfigError
        If a pair is in the sample: its label would be given away.
    """
    with open_log(work.database) as connection, transaction(connection):
        sample = _sample_by_units(connection)
        both = [each for each in gold if tuple(each.units.values()) in sample]
        if both:
            examples = ", ".join(" ".join(each.units.values()) for each in both[:_FEW])
            what = f"{len(both):,} of {len(gold):,} pairs are in the sample, for example {examples}"
            remedy = "train with other pairs: feedback would give these labels away"
            raise ConfigError("--training", [Problem("--training", what, remedy)])
        _keep_passes(connection)
        connection.execute("UPDATE tasks SET asked = 0 WHERE round = ?", (TRAINING,))
        connection.execute("DELETE FROM checks WHERE kind = 'training'")
        for place, each in enumerate(gold, 1):
            _add_check(connection, "training", each, place=place)
        _assign(connection)
    return len(gold)


def set_pass_mark(work: SheetWork, mark: float) -> None:
    """Set the share of training items that must be right; whoever has passed stays so."""
    with open_log(work.database) as connection, transaction(connection):
        _keep_passes(connection)
        write_setting(connection, "pass_mark", mark)


def _keep_passes(connection: sqlite3.Connection) -> None:
    """Keep who has passed, whatever the round and its mark will be."""
    excused = set(read_setting(connection, "excused", []))
    people = connection.execute("SELECT DISTINCT annotator FROM tasks WHERE round = 'training'")
    for (who,) in people.fetchall():
        training = training_of(connection, who)
        if training and training.passed:
            excused.add(who)
    write_setting(connection, "excused", sorted(excused))


def add_gold(work: SheetWork, gold: Sequence[GoldItem]) -> tuple[int, int]:
    """Hide gold items among the cards; return how many are new, and how many are in the sample.

    A pair of the sample needs no card of its own: its answers are compared with the gold label.
    """
    with open_log(work.database) as connection, transaction(connection):
        sample = _sample_by_units(connection)
        before = connection.execute("SELECT count(*) FROM checks WHERE kind = 'gold'").fetchone()[0]
        inside = 0
        for each in gold:
            original = sample.get(tuple(each.units.values()), "")
            inside += bool(original)
            _add_check(connection, "gold", each, original=original)
        _assign(connection)
        after = connection.execute("SELECT count(*) FROM checks WHERE kind = 'gold'").fetchone()[0]
    return int(after - before), inside


def repeat_cards(work: SheetWork, share: float) -> int:
    """Show a share of the cards once more to the same person; return how many that are in all."""
    with open_log(work.database) as connection, transaction(connection):
        write_setting(connection, "repeat_share", share)
        _assign(connection)
        (count,) = connection.execute(
            "SELECT count(*) FROM tasks JOIN checks USING (id) WHERE kind = 'repeat' AND asked = 1"
        ).fetchone()
    return int(count)


def assign_checks(connection: sqlite3.Connection) -> None:
    """Ask everybody for the cards that measure quality, also those who came or got cards later."""
    with transaction(connection):
        _assign(connection)


def _items(connection: sqlite3.Connection) -> list[tuple[str, dict[str, Any]]]:
    rows = connection.execute(
        "SELECT id, shown FROM items WHERE id NOT IN (SELECT id FROM checks WHERE original = '')"
        " AND id NOT IN (SELECT id FROM checks WHERE kind = 'repeat')"
    )
    return [(row["id"], json.loads(row["shown"])) for row in rows]


def _sample_by_units(connection: sqlite3.Connection) -> dict[tuple[str, ...], str]:
    return {tuple(content["units"].values()): id_ for id_, content in _items(connection)}


def _add_check(
    connection: sqlite3.Connection, kind: str, gold: GoldItem, *, original: str = "", place: int = 0
) -> None:
    id_ = original or _id(connection, kind, *gold.units.values())
    if not original:
        content = {"units": dict(gold.units), "examples": list(gold.examples)}
        connection.execute(
            "INSERT INTO items (id, shown) VALUES (?, ?)"
            " ON CONFLICT (id) DO UPDATE SET shown = excluded.shown",
            (id_, json.dumps(content, ensure_ascii=False, sort_keys=True)),
        )
    connection.execute(
        "INSERT INTO checks (id, kind, original, answer, explanation, place)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE"
        " SET answer = excluded.answer, explanation = excluded.explanation",
        (id_, kind, original, gold.label, gold.explanation, place),
    )


def _id(connection: sqlite3.Connection, *words: str) -> str:
    """Return an id that looks like that of a candidate, and is another one."""
    content = "\x1f".join([log_id(connection), *words]).encode("utf-8", "surrogatepass")
    return "x" + hashlib.sha256(content).hexdigest()[:16]


def _uniform(*words: str) -> float:
    """Return a number in [0, 1) that depends on words alone."""
    digest = hashlib.sha256("\x1f".join(words).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / 2**64


def _assign(connection: sqlite3.Connection) -> None:
    orders: dict[str, list[tuple[int, str]]] = {}
    for row in connection.execute(
        "SELECT annotator, place, id FROM tasks WHERE round = 'annotation' AND asked = 1"
        " ORDER BY annotator, place"
    ):
        orders.setdefault(row["annotator"], []).append((row["place"], row["id"]))
    known = {(row["annotator"], row["id"]) for row in connection.execute(
        "SELECT annotator, id FROM tasks WHERE round IN ('training', 'check') AND asked = 1"
    )}  # fmt: skip
    kinds = connection.execute("SELECT id, kind, place FROM checks WHERE original = ''").fetchall()
    share = float(read_setting(connection, "repeat_share", 0.0))
    for who, order in orders.items():
        _add_new(connection, known, TRAINING, (
            TaskRequest(who, row["id"], row["place"]) for row in kinds if row["kind"] == "training"
        ))  # fmt: skip
        _add_new(connection, known, CHECK, (
            TaskRequest(who, row["id"], order[int(_uniform(who, row["id"]) * len(order))][0])
            for row in kinds if row["kind"] == "gold"
        ))  # fmt: skip
        _add_new(connection, known, CHECK, _repeats(connection, who, order, share))


def _add_new(
    connection: sqlite3.Connection,
    known: set[tuple[str, str]],
    round_name: Round,
    tasks: Iterable[TaskRequest],
) -> None:
    add_tasks(
        connection,
        [each for each in tasks if (each.annotator, each.id) not in known],
        round_name=round_name,
    )


def _repeats(
    connection: sqlite3.Connection, who: str, order: Sequence[tuple[int, str]], share: float
) -> Iterable[TaskRequest]:
    """Yield tasks that repeat some of a person's cards, a quarter of the order later or more."""
    gap = max(10, len(order) // 4)
    for number, (_, original) in enumerate(order):
        if number + gap >= len(order) or _uniform("repeat", who, original) >= share:
            continue
        id_ = _id(connection, "repeat", original)
        connection.execute(
            "INSERT OR IGNORE INTO items SELECT ?, shown FROM items WHERE id = ?", (id_, original)
        )
        connection.execute(
            "INSERT OR IGNORE INTO checks (id, kind, original) VALUES (?, 'repeat', ?)",
            (id_, original),
        )
        later = number + gap
        place = later + int(_uniform("place", who, original) * (len(order) - later))
        yield TaskRequest(who, id_, order[place][0])


# The training round of a person


@dataclass(frozen=True)
class Training:
    """How far a person is in the training round.

    Parameters
    ----------
    asked, done, correct : int
        Items of the round; answered in this attempt; answered as the gold says, first answers.
    attempts : int
        This attempt's number.
    mark : float
        The share that must be right.
    excused : bool
        Whether the coordinator lets the person annotate without passing.
    """

    asked: int
    done: int
    correct: int
    attempts: int
    mark: float
    excused: bool = False

    @property
    def passed(self) -> bool:
        """Whether the person may annotate."""
        return self.excused or (
            self.done == self.asked and self.correct >= self.mark * self.asked - 1e-9
        )


_ATTEMPTS = """
SELECT t.id, l.answer, l.entry FROM tasks t LEFT JOIN log l ON l.task = t.task AND l.kind = 'label'
WHERE t.round = 'training' AND t.annotator = ? AND t.asked = 1 ORDER BY l.entry
"""


def training_of(connection: sqlite3.Connection, annotator: str) -> Training | None:
    """Return how far a person is in the training round; None if there is no such round.

    Of each item the first answer of the present attempt counts: what is changed after the feedback
    does not.
    """
    first: dict[str, str | None] = {}
    withdrawn: dict[str, int] = {}
    for row in connection.execute(_ATTEMPTS, (annotator,)):
        first.setdefault(row["id"], None)
        if row["entry"] is not None and row["answer"] is None:  # a new attempt
            first[row["id"]] = None
            withdrawn[row["id"]] = withdrawn.get(row["id"], 0) + 1
        elif first[row["id"]] is None:
            first[row["id"]] = row["answer"]
    if not first:
        return None
    gold = {row["id"]: row["answer"] for row in connection.execute("SELECT * FROM checks")}
    answers = {id_: answer for id_, answer in first.items() if answer is not None}
    correct = sum(answer == gold.get(id_) for id_, answer in answers.items())
    excused = annotator in read_setting(connection, "excused", [])
    mark = float(read_setting(connection, "pass_mark", PASS_MARK))
    attempts = 1 + max(withdrawn.values(), default=0)
    return Training(len(first), len(answers), correct, attempts, mark, excused)


def withdrawals(connection: sqlite3.Connection, annotator: str) -> list[Decision]:
    """Return the decisions that withdraw all answers of the training round, for a new attempt."""
    training = training_of(connection, annotator)
    rows = connection.execute(
        "SELECT id FROM tasks WHERE round = 'training' AND annotator = ? AND asked = 1",
        (annotator,),
    )
    number = training.attempts if training else 1
    return [
        Decision(
            f"training/{annotator}/{number}/{row['id']}", annotator, row["id"], round_name=TRAINING
        )
        for row in rows
    ]


def feedback(connection: sqlite3.Connection, id_: str, answer: str | None) -> dict[str, Any]:
    """Return what the page says of an answer in the training round."""
    gold = connection.execute("SELECT * FROM checks WHERE id = ?", (id_,)).fetchone()
    right = gold["answer"] == answer
    return {"correct": right, "answer": gold["answer"], "explanation": gold["explanation"]}


# Quality of everybody so far

_FASTEST = 1.0
"""Seconds: nobody reads a pair and decides in less."""
_LAST = 50
"""Decisions that the alerts look at."""
_HASTY = 0.2
"""Share of hasty decisions that raises an alert."""
_UNLIKELY = 0.01
"""Expected number of equally long runs by chance, below which a run raises an alert."""


@dataclass(frozen=True)
class Share:
    """Hits among cases, with 95 % limits (Clopper and Pearson).

    Parameters
    ----------
    hits, cases : int
        The counts.
    """

    hits: int
    cases: int

    @property
    def limits(self) -> tuple[float, float]:
        """Lower and upper limit.

        Examples
        --------
        >>> [round(each, 3) for each in Share(9, 10).limits]
        [0.555, 0.997]
        """
        lower, upper = clopper_pearson(
            np.array([self.hits], float), np.array([self.cases], float), confidence=0.95
        )
        return float(lower[0]), float(upper[0])


@dataclass(frozen=True)
class PersonQuality:
    """What is known of the quality of a person's answers.

    Parameters
    ----------
    annotator : str
        The annotator.
    training : Training or None
        None without a training round.
    gold, repeats : Share or None
        Hidden gold items answered as the gold says; repeated cards answered as before. None without
        such answers.
    alerts : tuple of Text
        Alerts for the coordinator.
    """

    annotator: str
    training: Training | None
    gold: Share | None
    repeats: Share | None
    alerts: tuple[Text, ...] = ()


_ANSWERS = """
SELECT t.annotator, t.id, l.answer, l.seconds, l.entry FROM tasks t JOIN log l ON l.entry = (
  SELECT max(e.entry) FROM log e WHERE e.task = t.task AND e.kind IN ('label', 'import')
  AND NOT EXISTS (SELECT 1 FROM log u WHERE u.undoes = e.entry))
WHERE t.round IN ('annotation', 'check') AND t.asked = 1 AND t.answered = 1
ORDER BY t.annotator, l.entry
"""


def has_checks(connection: sqlite3.Connection) -> bool:
    """Return whether there is a training round, hidden gold, or a repeated card."""
    return connection.execute("SELECT 1 FROM checks LIMIT 1").fetchone() is not None


def quality_of_all(connection: sqlite3.Connection) -> list[PersonQuality]:
    """Return the quality so far of everybody who annotates, by name."""
    answers: dict[str, dict[str, sqlite3.Row]] = {}
    for row in connection.execute(_ANSWERS):
        answers.setdefault(row["annotator"], {})[row["id"]] = row
    people = [row["annotator"] for row in connection.execute(
        "SELECT DISTINCT annotator FROM tasks WHERE round = 'annotation' AND asked = 1"
        " ORDER BY annotator"
    )]  # fmt: skip
    checks = connection.execute("SELECT * FROM checks").fetchall()
    return [
        PersonQuality(
            who,
            training_of(connection, who),
            _share(
                mine[row["id"]]["answer"] == row["answer"]
                for row in checks if row["kind"] == "gold" and row["id"] in mine
            ),
            _share(
                mine[row["id"]]["answer"] == mine[row["original"]]["answer"]
                for row in checks
                if row["kind"] == "repeat" and row["id"] in mine and row["original"] in mine
            ),
            alerts(
                [(row["answer"], row["seconds"]) for row in mine.values()],
                _usual(rows for other, rows in answers.items() if other != who),
            ),
        )
        for who in people for mine in [answers.get(who, {})]
    ]  # fmt: skip


def _usual(others: Iterable[Mapping[str, sqlite3.Row]]) -> dict[str, float]:
    """Return the share of each answer."""
    counts = Counter(row["answer"] for rows in others for row in rows.values())
    return {answer: count / counts.total() for answer, count in counts.items()}


def _share(hits: Iterable[bool]) -> Share | None:
    every = list(hits)
    return Share(sum(every), len(every)) if every else None


def alerts(
    decisions: Sequence[tuple[str, float | None]], usual: Mapping[str, float] = MappingProxyType({})
) -> tuple[Text, ...]:
    """Return what is striking about a person's decisions, in their order.

    Pace: over a fifth of the last 50 timed decisions, and at least 5, took less than a second.
    Equal answers: the last answers are equal, in a run of ``k`` that has by chance an expected
    number below 0.01 among ``n`` answers, ``n p^k``. ``p`` is the share of this answer among those
    of other people or the person's own before the run, whichever is larger; 0.9 without either.

    Parameters
    ----------
    decisions : sequence of (str, float or None)
        Answer and seconds.
    usual : mapping of str to float
        Answer to its share among those of other people.

    Examples
    --------
    >>> alerts([("a", 3.0), ("b", 4.0)] * 20)
    ()
    >>> found = alerts([("a", 3.0), ("b", 4.0)] * 10 + [("a", 0.4)] * 20)
    >>> list(found)
    ['20 of the last 40 decisions took less than 1 second.', 'the last 20 answers are all a.']
    """
    result = []
    timed = [seconds for _, seconds in decisions if seconds is not None][-_LAST:]
    hasty = sum(seconds < _FASTEST for seconds in timed)
    if hasty >= 5 and hasty > _HASTY * len(timed):
        result.append(text(
            "{hasty} of the last {decisions} decisions took less than 1 second.",
            hasty=hasty, decisions=len(timed),
        ))  # fmt: skip
    answers = [answer for answer, _ in decisions]
    run = 0
    while run < len(answers) and answers[-1 - run] == answers[-1]:
        run += 1
    before = answers[: len(answers) - run]
    shares = [usual.get(answers[-1], 0.0)] if usual and answers else []
    shares += [before.count(answers[-1]) / len(before)] if len(before) >= 10 else []
    if run >= 10 and len(answers) * max(*shares, 0.05, 0.0 if shares else 0.9) ** run < _UNLIKELY:
        result.append(text("the last {run} answers are all {answer}.", run=run, answer=answers[-1]))
    return tuple(result)
