"""Estimates of declared questions from the answers so far, recomputed in the background."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
from pydantic import ValidationError

from pipeline import errors
from pipeline.annotate.tasks import SheetQuestions, Work, questions_of_sheet
from pipeline.api.results import Run, open_run, perform
from pipeline.errors import LexassayError
from pipeline.formats.annotation_log import last_entry, read_only
from pipeline.runner.graph import Node
from pipeline.runner.store import artefacts
from pipeline.stages.base import Outputs, StageConfig, Tables
from pipeline.stages.collocations.evaluate_designed import anytime_limits_of_differences
from pipeline.stages.collocations.interim import InterimOptions

# Answers that count so far, in an order that does not depend on what they are

_TASKS = """
SELECT t.id, t.annotator, t.answered, coalesce(f.entry, 0) AS entry
FROM tasks t LEFT JOIN (
  SELECT task, min(entry) AS entry FROM log WHERE kind IN ('label', 'import') GROUP BY task
) f USING (task)
WHERE t.round = 'annotation' AND t.asked = 1 ORDER BY t.annotator, t.place
"""


@dataclass(frozen=True)
class CountedItems:
    """The items that count so far.

    Parameters
    ----------
    order : tuple of str
        Their ids, as they came to count.
    answered : int
        Items that all who are asked have answered, whether they count or not.
    asked : int
        Items that somebody is asked for.
    """

    order: tuple[str, ...]
    answered: int
    asked: int

    @property
    def held(self) -> int:
        """How many answered items do not count, since a card before them is open."""
        return self.answered - len(self.order)


@dataclass
class _ItemState:
    """What is known of an item while tasks are gone through."""

    people: int = 0
    answers: int = 0
    reached: int = 0
    entries: list[int] = field(default_factory=list)


def count_items(connection: sqlite3.Connection) -> CountedItems:
    """Return the items that count: limits of a growing sample are right for these.

    Everybody's cards are in random order, so those up to the first one without an answer are a
    random part of the sample. What comes after it does not count: who sets a card aside may do so
    for what it is. An item of several people counts once all of them have come by it.

    Parameters
    ----------
    connection : Connection
        Of the decisions.
    """
    seen: dict[str, _ItemState] = {}
    open_card: set[str] = set()
    for row in connection.execute(_TASKS):
        item = seen.setdefault(row["id"], _ItemState())
        item.people += 1
        if not row["answered"]:
            open_card.add(row["annotator"])
            continue
        item.answers += 1
        item.entries.append(row["entry"])
        item.reached += row["annotator"] not in open_card
    whole = {name: each for name, each in seen.items() if each.reached == each.people}
    order = sorted(whole, key=lambda name: (max(whole[name].entries), name))
    answered = sum(each.answers == each.people for each in seen.values())
    return CountedItems(tuple(order), answered, len(seen))


# Interim looks: when limits may be shown, and on which part of the sample

_NEAR = 1e-9
_METHOD_OPTIONS = {"interval", "test", "band", "band_range", "replicates", "recall"}
"""Options that say how, not what is asked: limits for any time have a method of their own."""


@dataclass(frozen=True)
class Look:
    """A stage may be looked at now.

    Parameters
    ----------
    config : StageConfig
        Its options for this look.
    tables : mapping
        Its input, cut to what counts.
    said : str
        What the limits hold for, and when the next look is.
    anytime : bool
        Whether they hold at any time.
    """

    config: StageConfig
    tables: Tables
    said: str
    anytime: bool = False


def look(config: StageConfig, tables: Tables, so_far: CountedItems) -> Look | str:
    """Return what can be looked at now, or a sentence that says when.

    Parameters
    ----------
    config : StageConfig
        The options of the stage, as the experiment has them.
    tables : mapping
        Its input; judgements of all that is judged.
    so_far : CountedItems
        What counts.
    """
    sample = tables["sample"].collect() if "sample" in tables else None
    left = so_far.asked - so_far.answered
    if sample is not None and _is_simple(sample) and isinstance(config, InterimOptions):
        if config.looks:
            return _declared_look(config, tables, sample, so_far)
        adapted = _for_any_time(config)
        if adapted is not None:
            return _anytime_look(adapted, tables, sample, so_far)
    if not left:
        return Look(config, tables, "All is judged: these are the limits of the one look.")
    why = "looks are declared" if getattr(config, "looks", ()) else "no looks are declared"
    remedy = (
        "" if getattr(config, "looks", ())
        else " Limits that hold before the end: declare looks."
        if isinstance(config, InterimOptions)
        else ""
    )  # fmt: skip
    return (
        f"The next look is when all is judged, {_items(left)} from now: {why}, and this sample"
        f" is none whose parts could be looked at.{remedy}"
    )


def _is_simple(sample: pl.DataFrame) -> bool:
    """Tell whether everybody had the same chance, and nobody could be drawn twice."""
    pi = sample["pi"]
    if not sample.height or pi.null_count() or sample["stratum"].n_unique() > 1:
        return False
    return bool(pi.max() - pi.min() <= _NEAR)  # type: ignore[operator]  # a column of numbers


def _for_any_time(config: InterimOptions) -> InterimOptions | None:
    """Return options whose limits hold at any time; None where the stage has none for these."""
    if config.anytime:
        return _declared_lists_only(config, {})
    try:
        return _declared_lists_only(config, {"anytime": True})
    except ValidationError:
        return None


def _declared_lists_only(config: InterimOptions, more: dict[str, Any]) -> InterimOptions:
    """Return the options of declared lists alone: the page shows no others."""
    dropped = _METHOD_OPTIONS if more else set()
    given = {name: getattr(config, name) for name in config.model_fields_set if name not in dropped}
    every = {"every": 0} if "every" in type(config).model_fields else {}
    return type(config).model_validate(given | every | more)


def _anytime_look(
    config: InterimOptions, tables: Tables, sample: pl.DataFrame, so_far: CountedItems
) -> Look:
    order = _without_open(tables, _in_sample(sample, so_far))
    rest = f"they rest on {_items(len(order))}"
    said = f"These limits hold at any time, however often one looks; {rest}."
    return Look(config, _cut(tables, sample, order), said, anytime=True)


def _declared_look(
    config: InterimOptions, tables: Tables, sample: pl.DataFrame, so_far: CountedItems
) -> Look | str:
    """Look at the last declared size that is judged in full."""
    order = _in_sample(sample, so_far)
    candidates = round(sample.height / float(sample["pi"][0]))
    sizes = config.planned(candidates)
    done = [size for size in sizes if size <= len(order)]
    to_come = [size for size in sizes if size > len(order)]
    ahead = _next_look(to_come, len(order), sample.height)
    if not done:
        return f"Limits are shown at the declared looks only. {ahead}"
    size = done[-1]
    first = sample.filter(pl.col("id").is_in(order[:size])).with_columns(
        pi=pl.lit(size / candidates)
    )
    cut = _cut(tables, first, order[:size])
    if "inclusion" in cut and "pi" in cut["inclusion"].collect_schema():
        cut["inclusion"] = cut["inclusion"].with_columns(pi=pl.lit(size / candidates))
    said = f"This is look {len(done)} of {len(sizes)}, at {_items(size)}. {ahead}"
    return Look(_declared_lists_only(config, {}), cut, said.strip())


def _next_look(to_come: Sequence[int], judged: int, drawn: int) -> str:
    if not to_come:
        return "It was the last one."
    following = to_come[0]
    said = f"The next look is at {_items(following)}, {following - judged:,} from now."
    more = f" This sample has {drawn:,}: draw a larger one." if following > drawn else ""
    return said + more


def _cut(tables: Tables, sample: pl.DataFrame, order: Sequence[str]) -> dict[str, pl.LazyFrame]:
    """Return the tables with these judgements alone, and the sample in the order of judging."""
    place = pl.DataFrame({"id": list(order), "_place": range(1, len(order) + 1)},
                         {"id": pl.String, "_place": pl.Int64})  # fmt: skip
    behind = pl.coalesce("_place", pl.lit(len(order)) + pl.col("position"))
    placed = sample.join(place, on="id", how="left").with_columns(position=behind.rank("ordinal"))
    typed = placed.select(pl.col(name).cast(kind) for name, kind in sample.schema.items())
    judged = tables["judgements"].join(place.lazy().select("id"), on="id", how="semi")
    return {**tables, "sample": typed.sort("position").lazy(), "judgements": judged}


def _in_sample(sample: pl.DataFrame, so_far: CountedItems) -> list[str]:
    drawn = set(sample["id"])
    return [each for each in so_far.order if each in drawn]


def _without_open(tables: Tables, order: Sequence[str]) -> list[str]:
    """Leave out those on which people differ: they have no judgement yet."""
    rows = tables["judgements"].group_by("id").agg(open=pl.col("tp").is_null().any()).collect()
    settled = set(rows.filter(~pl.col("open"))["id"])
    return [each for each in order if each in settled]


def _items(count: int) -> str:
    return f"{count:,} item{'s' * (count != 1)}"


# Declared questions with their limits, one row each

WHOLE = "all candidates"
"""The question of the share of true positives among them."""


@dataclass(frozen=True)
class Row:
    """A question and what is known of it.

    Parameters
    ----------
    stage, category, question : str
        Where it is declared, of which true positives, and what is asked.
    n : int
        Size of the lists.
    estimate, lower, upper : float or None
        A precision, or a difference of two.
    draws : int
        Judged draws that it rests on.
    members : float
        Candidates whose draws could say something of it.
    difference : bool
        Whether two measures are compared.
    """

    stage: str
    category: str
    question: str
    n: int
    estimate: float | None
    lower: float | None
    upper: float | None
    draws: int
    members: float
    difference: bool = False

    @property
    def half(self) -> float | None:
        """Half of the width between the limits."""
        if self.lower is None or self.upper is None:
            return None
        return (self.upper - self.lower) / 2.0

    @property
    def key(self) -> str:
        """What tells the question from all others."""
        return " | ".join((self.stage, self.category, self.question, str(self.n)))


def question_rows(
    node: Node, seen: Look, made: Outputs, *, categories: Sequence[str]
) -> tuple[Row, ...]:
    """Return the rows of a stage: lists, all candidates, differences.

    Parameters
    ----------
    node : Node
        The stage.
    seen : Look
        What was looked at.
    made : mapping
        Its tables.
    categories : sequence of str
        As the experiment orders them.
    """
    tables = {name: table.lazy() for name, table in made.items()}
    order = _ranks(list(dict.fromkeys(getattr(node.config, "measures", ()))))
    pairs = _ranks([tuple(each) for each in getattr(node.config, "pairs", ())])
    found = [
        *sorted(
            _precision_rows(node, tables.get("cuts")),
            key=lambda each: (order(each[0]), each[0], each[1].n),
        ),
        *_precision_rows(node, tables.get("baseline"), WHOLE),
        *sorted(
            _difference_rows(node, tables, seen),
            key=lambda each: (pairs(each[0]), each[0], each[1].n),
        ),
    ]
    place = _ranks(list(categories))
    # sorting keeps the order of what is equal
    return tuple(row for _, row in sorted(found, key=lambda each: place(each[1].category)))


def _ranks(names: Sequence[Any]) -> Callable[[Any], int]:
    place = {name: number for number, name in enumerate(names)}
    return lambda name: place.get(name, len(place))


def _precision_rows(
    node: Node, table: pl.LazyFrame | None, question: str | None = None
) -> Iterator[tuple[str, Row]]:
    """Yield the rows of each measure's lists, or that of one question about all candidates."""
    column, n = ("measure", "n") if question is None else ("precision", "n_candidates")
    if table is None or column not in table.collect_schema():
        return
    for row in table.collect().iter_rows(named=True):
        asked = question or row["measure"]
        yield asked, Row(
            node.name, row["category"], asked, row[n], row["precision"], row["lower"],
            row["upper"], row["n_sampled"], row[n],
        )  # fmt: skip


def _difference_rows(
    node: Node, tables: Mapping[str, pl.LazyFrame], seen: Look
) -> Iterator[tuple[Any, Row]]:
    for row in _differences(tables, seen).iter_rows(named=True):
        pair = (row["measure_1"], row["measure_2"])
        # of the two sets, as a share of the lists; half-widths are scaled by the same
        yield pair, Row(
            node.name, row["category"], " − ".join(pair), row["n"], row["difference"],
            row["lower"], row["upper"], row["n_1"] + row["n_2"], 2 * row["size"], difference=True,
        )  # fmt: skip


def _differences(tables: Mapping[str, pl.LazyFrame], seen: Look) -> pl.DataFrame:
    """Return the differences with limits that a stage has; those of these candidates, if asked."""
    table = tables.get("comparison" if "differences" not in tables else "differences")
    if table is None or "measure_1" not in table.collect_schema():
        return pl.DataFrame(schema={"measure_1": pl.String})
    found = table.collect()
    if found.is_empty() and seen.anytime and "p_adjusted" in tables["cuts"].collect_schema():
        confidence = getattr(seen.config, "confidence", 0.95)
        found = anytime_limits_of_differences(tables["cuts"].collect(), confidence=confidence)
    if "population" in found.columns and found["population"].n_unique() > 1:
        found = found.filter(population="finite")
    return found


FOLDER = ".annotate"
"""Where it is made, beside the results of all experiments."""


@dataclass(frozen=True)
class StageEstimates:
    """What a stage says now.

    Parameters
    ----------
    stage : str
        Its title, or its name.
    text : str
        What its limits hold for, when the next look is, or why there are none.
    rows : tuple of Row
        Its questions.
    failed : bool
        Whether the text says why nothing could be made.
    """

    stage: str
    text: str
    rows: tuple[Row, ...] = ()
    failed: bool = False


@dataclass(frozen=True)
class Estimates:
    """What is known after a decision.

    Parameters
    ----------
    entry : int
        The last decision that is in it.
    at : str
        When it was made, UTC.
    stages : tuple of StageEstimates
        What each stage says.
    counted : CountedItems
        What counts.
    """

    entry: int
    at: str
    stages: tuple[StageEstimates, ...]
    counted: CountedItems

    @property
    def rows(self) -> tuple[Row, ...]:
        """All questions."""
        return tuple(row for each in self.stages for row in each.rows)


class Estimator:
    """Makes what is known so far in a folder of its own, which goes when it is closed.

    Parameters
    ----------
    work : Work
        The sheet.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._folder: TemporaryDirectory[str] | None = None
        self._asked: SheetQuestions | None = None

    @property
    def has_questions(self) -> bool:
        """Whether a stage of the experiment answers questions by this sheet."""
        return bool(questions_of_sheet(self._work, Path()).stages)

    def reckon(self) -> Estimates:
        """Answer the questions from what is judged now.

        Raises
        ------
        LexassayError
            If a stage that the questions rest on fails, or waits for people.
        """
        with read_only(self._work.database) as connection:
            entry, so_far = last_entry(connection), count_items(connection)
        questions = self._questions()
        _remove_outdated(questions)
        done = perform(questions.project, settings=questions.settings, deliver=False)
        categories = [
            name
            for join in questions.joins
            if join in questions.project.nodes
            for name in getattr(questions.project.nodes[join].config, "categories", ())
        ]
        said = [_stage_estimates(node, done, so_far, categories) for node in questions.stages]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return Estimates(entry, now, tuple(said), so_far)

    def close(self) -> None:
        """Remove the folder."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
            self._asked = None

    def _questions(self) -> SheetQuestions:
        if self._asked is None:
            place = self._work.project.root.parent / FOLDER
            place.mkdir(parents=True, exist_ok=True)
            self._folder = TemporaryDirectory(
                prefix=f"{self._work.project.root.name}-", dir=place, ignore_cleanup_errors=True
            )
            self._asked = questions_of_sheet(self._work, Path(self._folder.name))
            _copy_results(self._work, self._asked)
        return self._asked


def _copy_results(work: Work, questions: SheetQuestions) -> None:
    """Link the results of the project into the folder, so that they are not computed again."""
    there = open_run(replace(questions.project, root=work.project.root)).manifests
    for name, manifest in there.items():
        key = artefacts.folder_of(name, manifest.fingerprint)
        source = work.project.root / key
        if source.is_dir():
            shutil.copytree(source, questions.project.root / key, copy_function=_link)


def _link(source: str, target: str) -> None:
    """Give a file a second name; what stands in a store is never written again."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _remove_outdated(questions: SheetQuestions) -> None:
    """Remove results of former labels, and the records of these runs."""
    root = questions.project.root
    for name in (*questions.joins, "history"):
        shutil.rmtree(root / name, ignore_errors=True)


def _stage_estimates(
    node: Node, done: Run, so_far: CountedItems, categories: list[str]
) -> StageEstimates:
    """Return the estimates of a stage; a sentence in place of its rows if it fails."""
    title = node.title or node.name
    try:
        waits = (done.why_not(ref.stage) for ref in node.inputs.values())
        wait = next(filter(None, waits), "")
        if wait:
            return StageEstimates(title, f"There are no limits yet: {wait}", failed=True)
        tables: Tables = {
            option: done.plan(f"{ref.stage}.{ref.table}") for option, ref in node.inputs.items()
        }
        seen = look(node.config, tables, so_far)
        if isinstance(seen, str):
            return StageEstimates(title, seen)
        made = node.stage.run(seen.config, seen.tables)
        return StageEstimates(
            title, seen.said, question_rows(node, seen, made, categories=categories)
        )
    except (LexassayError, ValueError, ArithmeticError, OSError, RuntimeError) as error:
        return StageEstimates(title, f"There are no limits: {reason(error)}", failed=True)


def reason(error: BaseException) -> str:
    r"""Return what is wrong in one line.

    Examples
    --------
    >>> reason(LexassayError("stage x: two rows are wrong\n  - row 1"))
    'stage x: two rows are wrong; row 1'
    """
    text = str(error) if isinstance(error, LexassayError) else errors.explain(error)
    lines = (line.strip().removeprefix("- ") for line in text.splitlines())
    return "; ".join(line for line in lines if line)


# Background computation: one at a time, its half-widths kept in a file

PAUSE = 10.0
"""Least seconds from the start of one computation to that of the next."""


@dataclass(frozen=True)
class Point:
    """How narrow limits were after a decision.

    Parameters
    ----------
    entry : int
        The decision.
    at : str
        When that was reckoned, UTC.
    counted : int
        Items that counted.
    halves : dict of str to float
        Question, see `Row.key`, to half-width.
    """

    entry: int
    at: str
    counted: int
    halves: dict[str, float]


@dataclass(frozen=True)
class State:
    """What the page can say.

    Parameters
    ----------
    reckoned : Estimates or None
        What is known; None: nothing has been reckoned yet.
    busy : bool
        Whether it is being reckoned.
    error : str
        Why the last reckoning came to nothing; empty if it did not.
    current : bool
        Whether all decisions are in it.
    points : tuple of Point
        How limits narrowed.
    """

    reckoned: Estimates | None
    busy: bool
    error: str
    current: bool
    points: tuple[Point, ...]


class BackgroundEstimates:
    """What is known now; a thread makes it anew when somebody asks and there are new decisions.

    Parameters
    ----------
    work : Work
        The sheet.
    pause : float
        As `PAUSE`.
    clock : callable
        Seconds that never go back.
    """

    def __init__(
        self, work: Work, *, pause: float = PAUSE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._work, self._pause, self._clock = work, pause, clock
        self._reckoner = Estimator(work)
        self._has_questions = self._reckoner.has_questions
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._begun: float | None = None
        self._tried = 0
        self._reckoned: Estimates | None = None
        self._error = ""
        self._points = read_points(self.file)

    @property
    def has_questions(self) -> bool:
        """Whether a stage of the experiment answers questions by this sheet."""
        return self._has_questions

    @property
    def file(self) -> Path:
        """Where it stands how limits narrowed: a line for each reckoning."""
        name = f"{self._work.project.root.name}-{self._work.stage}.jsonl"
        return self._work.project.root.parent / FOLDER / name

    def ask(self) -> State:
        """Return what is known, and have it made anew if there are decisions that are not in it."""
        if not self.has_questions:
            return State(None, busy=False, error="", current=True, points=())
        with read_only(self._work.database) as connection:
            entry = last_entry(connection)
        with self._lock:
            known = {0, self._tried, self._reckoned.entry if self._reckoned else 0}
            if entry not in known and self._may_begin():
                self._tried, self._begun = entry, self._clock()
                self._thread = threading.Thread(target=self._make, name="certainty", daemon=True)
                self._thread.start()
            return State(
                self._reckoned, busy=self._busy, error=self._error,
                current=not entry or (self._reckoned is not None and self._reckoned.entry >= entry),
                points=tuple(self._points),
            )  # fmt: skip

    def wait(self, seconds: float) -> None:
        """Wait until nothing is being reckoned, or so long."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        """Stop when what is being reckoned is done, and tidy up."""
        self.wait(60.0)
        if not self._busy:
            self._reckoner.close()

    @property
    def _busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _may_begin(self) -> bool:
        waited = self._begun is None or self._clock() - self._begun >= self._pause
        return waited and not self._busy

    def _make(self) -> None:
        made, error = None, ""
        try:
            made = self._reckoner.reckon()
        except Exception as failure:  # whatever it is, the page says it in a sentence
            error = reason(failure)
        with self._lock:
            self._error = error
            if made is not None:
                self._reckoned = made
                self._keep(made)

    def _keep(self, made: Estimates) -> None:
        halves = {row.key: row.half for row in made.rows if row.half is not None}
        if not halves or (self._points and self._points[-1].entry == made.entry):
            return
        point = Point(made.entry, made.at, len(made.counted.order), halves)
        self._points.append(point)
        line = json.dumps(vars(point), ensure_ascii=False)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
        except OSError as failure:
            self._error = f"how limits narrow cannot be kept: {reason(failure)}"


def read_points(path: Path) -> list[Point]:
    """Return how limits narrowed; a line that is broken off, by a power cut, is left out."""
    if not path.is_file():
        return []
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found.append(Point(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found
