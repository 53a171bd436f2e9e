"""Estimates of declared questions from the answers so far, recomputed in the background."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
from pydantic import ValidationError

from pipeline import errors
from pipeline.annotate.sync import Conflicts
from pipeline.annotate.tasks import SheetQuestions, SheetWork, questions_of_sheet
from pipeline.annotate.texts import Text, join, text, text_n
from pipeline.api.results import Run, open_run, run_stages
from pipeline.errors import InputChanged, LexassayError
from pipeline.formats.annotation_log import given_cards, last_entry, read_only
from pipeline.kernels.measure import measure_title
from pipeline.runner.graph import Node
from pipeline.runner.store import artefacts
from pipeline.runner.task import run_stage
from pipeline.stages.base import Outputs, StageConfig, Tables, join_pieces
from pipeline.stages.collocations.evaluate_designed import anytime_limits_of_differences
from pipeline.stages.collocations.interim import InterimOptions

# Items that count so far, in an order that does not depend on their labels

_TASKS = """
SELECT t.id, t.annotator, t.place, t.answered, coalesce(f.entry, 0) AS entry
FROM tasks t LEFT JOIN (
  SELECT task, min(entry) AS entry FROM log WHERE kind IN ('label', 'import') GROUP BY task
) f USING (task)
WHERE t.round = 'annotation' AND t.asked = 1
"""


@dataclass(frozen=True)
class CountedItems:
    """The items that count so far.

    Parameters
    ----------
    order : tuple of str
        Their ids, in the order in which they began to count.
    answered : int
        Number of items that all their annotators have answered, whether they count or not.
    asked : int
        Number of items with annotators.
    """

    order: tuple[str, ...]
    answered: int
    asked: int

    @property
    def waiting(self) -> int:
        """How many answered items do not count yet, because an earlier card has no answer."""
        return self.answered - len(self.order)


@dataclass
class _ItemState:
    """The tasks of an item that were read so far, and their answers."""

    people: int = 0
    answers: int = 0
    in_order: int = 0
    entries: list[int] = field(default_factory=list)


def count_items(
    connection: sqlite3.Connection, contested: Collection[tuple[str, str]] = ()
) -> CountedItems:
    """Return the items that count: limits of a growing sample are valid for these.

    The cards of each annotator are in random order, so the cards before the first one without an
    answer are a random part of the sample. Later cards do not count, because an annotator may set
    a card aside for what it shows. An item of several annotators counts once it stands in this
    for all of them. A card that was given to somebody else keeps its place among those of the first
    person: otherwise the cards that a person set aside would leave this order.

    Parameters
    ----------
    connection : Connection
        Connection to the annotation log.
    contested : collection of tuple
        Annotator and id of answers that do not count because of a conflict with a sheet.
    """
    items: dict[str, _ItemState] = {}
    origins = {(each.id, each.to_annotator): each.annotator
             for each in given_cards(connection).values()}  # fmt: skip
    cards = [
        (origins.get((row["id"], row["annotator"]), row["annotator"]), row["place"], row)
        for row in connection.execute(_TASKS)
    ]
    behind_open_card: set[str] = set()
    for first_person, _, row in sorted(cards, key=lambda card: card[:2]):
        item = items.setdefault(row["id"], _ItemState())
        item.people += 1
        if not row["answered"] or (row["annotator"], row["id"]) in contested:
            behind_open_card.add(first_person)
            continue
        item.answers += 1
        item.entries.append(row["entry"])
        item.in_order += first_person not in behind_open_card
    whole = {name: each for name, each in items.items() if each.in_order == each.people}
    order = sorted(whole, key=lambda name: (max(whole[name].entries), name))
    answered = sum(each.answers == each.people for each in items.values())
    return CountedItems(tuple(order), answered, len(items))


# Interim looks: when the page may show limits, and from which part of the sample

_NEAR = 1e-9
_METHOD_OPTIONS = {"interval", "test", "band", "band_range", "replicates", "recall"}
"""Options of the method, not of the question: limits for any time have their own method."""


@dataclass(frozen=True)
class InterimLook:
    """Input of a stage for interim limits.

    Parameters
    ----------
    config : StageConfig
        The options of the stage for this look.
    tables : mapping
        Its input, restricted to the items that count.
    explanation : str
        Text on the coverage of the limits, and the time of the next look.
    anytime : bool
        Whether the limits hold at any time.
    """

    config: StageConfig
    tables: Tables
    explanation: str
    anytime: bool = False


def interim_look(config: StageConfig, tables: Tables, usable: CountedItems) -> InterimLook | str:
    """Return the input that the stage may use now, or a sentence on when it may.

    Parameters
    ----------
    config : StageConfig
        The options of the stage, as the experiment has them.
    tables : mapping
        Its input, with all judgements.
    usable : CountedItems
        The items that count.
    """
    sample = tables["sample"].collect() if "sample" in tables else None
    rest = usable.asked - usable.answered
    if sample is not None and _is_simple(sample) and isinstance(config, InterimOptions):
        if config.looks:
            return _declared_look(config, tables, sample, usable)
        adapted = _for_any_time(config)
        if adapted is not None:
            return _anytime_look(adapted, tables, sample, usable)
    if not rest:
        every = text("All items are judged: these are the final limits.")
        return InterimLook(config, tables, every)
    declared = bool(getattr(config, "looks", ()))
    why = text("looks are declared") if declared else text("no looks are declared")
    next_look = text_n(
        "The next look is when everything is judged, in {n} item: {why}, and this sample does not"
        " allow interim looks.",
        "The next look is when everything is judged, in {n} items: {why}, and this sample does not"
        " allow interim looks.", rest, why=why,
    )  # fmt: skip
    if declared or not isinstance(config, InterimOptions):
        return next_look
    return join(next_look, text("Declare looks to see valid limits earlier."))


def _is_simple(sample: pl.DataFrame) -> bool:
    """Return whether inclusion probabilities were equal, without replacement."""
    pi = sample["pi"]
    if not sample.height or pi.null_count() or sample["stratum"].n_unique() > 1:
        return False
    return bool(pi.max() - pi.min() <= _NEAR)  # type: ignore[operator]  # a column of numbers


def _for_any_time(config: InterimOptions) -> InterimOptions | None:
    """Return options for anytime-valid limits; None if the stage has none."""
    if config.anytime:
        return _declared_lists_only(config, {})
    try:
        return _declared_lists_only(config, {"anytime": True})
    except ValidationError:
        return None


def _declared_lists_only(config: InterimOptions, more: dict[str, Any]) -> InterimOptions:
    """Return the options without the lists that were not declared: the page does not show them."""
    dropped = _METHOD_OPTIONS if more else set()
    base = {name: getattr(config, name) for name in config.model_fields_set if name not in dropped}
    every = {"every": 0} if "every" in type(config).model_fields else {}
    return type(config).model_validate(base | every | more)


def _anytime_look(
    config: InterimOptions, tables: Tables, sample: pl.DataFrame, usable: CountedItems
) -> InterimLook:
    order = _drop_disagreements(tables, _sampled_ids(sample, usable))
    explanation = text_n(
        "These limits are valid at any time, for any number of looks; they are based on {n} item.",
        "These limits are valid at any time, for any number of looks; they are based on {n} items.",
        len(order),
    )  # fmt: skip
    return InterimLook(config, _restrict(tables, sample, order), explanation, anytime=True)


def _declared_look(
    config: InterimOptions, tables: Tables, sample: pl.DataFrame, usable: CountedItems
) -> InterimLook | str:
    """Return the look at the largest declared size whose items are all judged."""
    order = _sampled_ids(sample, usable)
    candidates = round(sample.height / float(sample["pi"][0]))
    sizes = config.looks_at(candidates)
    complete = [size for size in sizes if size <= len(order)]
    later = [size for size in sizes if size > len(order)]
    next_text = _next_look(later, len(order), sample.height)
    if not complete:
        return join(text("Limits are shown only at the declared looks."), next_text)
    size = complete[-1]
    first = sample.filter(pl.col("id").is_in(order[:size])).with_columns(
        pi=pl.lit(size / candidates)
    )
    restricted = _restrict(tables, first, order[:size])
    if "inclusion" in restricted and "pi" in restricted["inclusion"].collect_schema():
        restricted["inclusion"] = restricted["inclusion"].with_columns(pi=pl.lit(size / candidates))
    this_text = text_n(
        "This is look {look} of {looks}, at {n} item.",
        "This is look {look} of {looks}, at {n} items.", size,
        look=len(complete), looks=len(sizes),
    )  # fmt: skip
    explanation = join(this_text, next_text)
    return InterimLook(_declared_lists_only(config, {}), restricted, explanation)


def _next_look(later: Sequence[int], judged: int, drawn: int) -> Text:
    if not later:
        return text("It was the last look.")
    following = later[0]
    next_text = text_n(
        "The next look is at {n} item, after {more} more.",
        "The next look is at {n} items, after {more} more.", following, more=following - judged,
    )  # fmt: skip
    if following <= drawn:
        return next_text
    return join(next_text, text("This sample has {drawn}: draw a larger sample.", drawn=drawn))


def _restrict(
    tables: Tables, sample: pl.DataFrame, order: Sequence[str]
) -> dict[str, pl.LazyFrame]:
    """Return the tables with the judgements of these items only, the sample in their order."""
    place = pl.DataFrame({"id": list(order), "_place": range(1, len(order) + 1)},
                         {"id": pl.String, "_place": pl.Int64})  # fmt: skip
    position = pl.coalesce("_place", pl.lit(len(order)) + pl.col("position"))
    table = sample.join(place, on="id", how="left").with_columns(position=position.rank("ordinal"))
    subset = table.select(pl.col(name).cast(kind) for name, kind in sample.schema.items())
    judged = tables["judgements"].join(place.lazy().select("id"), on="id", how="semi")
    return {**tables, "sample": subset.sort("position").lazy(), "judgements": judged}


def _sampled_ids(sample: pl.DataFrame, usable: CountedItems) -> list[str]:
    drawn = set(sample["id"])
    return [each for each in usable.order if each in drawn]


def _drop_disagreements(tables: Tables, order: Sequence[str]) -> list[str]:
    """Return the items without those on which annotators disagree: they have no judgement yet."""
    rows = tables["judgements"].group_by("id").agg(open=pl.col("tp").is_null().any()).collect()
    resolved = set(rows.filter(~pl.col("open"))["id"])
    return [each for each in order if each in resolved]


# Estimates of declared questions, with their limits

ALL_CANDIDATES = text("all candidates")
"""Names the question about the share of true positives among all candidates."""


@dataclass(frozen=True)
class QuestionEstimate:
    """A question with its estimate and limits.

    Parameters
    ----------
    stage, category, question : str
        The stage that asks it, the category of true positives, and the text of the question.
    n : int
        Size of the lists.
    estimate, lower, upper : float or None
        A precision, or a difference of two precisions, with its limits.
    draws : int
        Number of judged draws that the estimate uses.
    members : float
        Number of candidates that could be drawn for it.
    difference : bool
        Whether it compares two measures.
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
    def half_width(self) -> float | None:
        """Half of the distance between the limits."""
        if self.lower is None or self.upper is None:
            return None
        return (self.upper - self.lower) / 2.0

    @property
    def key(self) -> str:
        """A text that identifies the question."""
        return " | ".join((self.stage, self.category, self.question, str(self.n)))


def question_rows(
    node: Node, interim: InterimLook, outputs: Outputs, *, categories: Sequence[str]
) -> tuple[QuestionEstimate, ...]:
    """Return the estimates of a stage: lists, then all candidates, then differences.

    Parameters
    ----------
    node : Node
        The stage.
    interim : InterimLook
        The input of the stage.
    outputs : mapping
        Its tables.
    categories : sequence of str
        The categories in the order of the experiment.
    """
    tables = {name: table.lazy() for name, table in outputs.items()}
    order = _position_in(list(dict.fromkeys(getattr(node.config, "measures", ()))))
    pairs = _position_in([tuple(each) for each in getattr(node.config, "pairs", ())])
    rows = [
        *sorted(
            _precision_rows(node, tables.get("cuts")),
            key=lambda each: (order(each[0]), each[0], each[1].n),
        ),
        *_precision_rows(node, tables.get("baseline"), ALL_CANDIDATES),
        *sorted(
            _difference_rows(node, tables, interim),
            key=lambda each: (pairs(each[0]), each[0], each[1].n),
        ),
    ]
    place = _position_in(list(categories))
    # sorting keeps the order of what is equal
    return tuple(row for _, row in sorted(rows, key=lambda each: place(each[1].category)))


def _position_in(names: Sequence[Any]) -> Callable[[Any], int]:
    place = {name: number for number, name in enumerate(names)}
    return lambda name: place.get(name, len(place))


def _precision_rows(
    node: Node, table: pl.LazyFrame | None, question: str | None = None
) -> Iterator[tuple[str, QuestionEstimate]]:
    """Yield the estimates of each measure's lists, or the one of a question on all candidates."""
    column, n = ("measure", "n") if question is None else ("precision", "n_candidates")
    if table is None or column not in table.collect_schema():
        return
    for row in table.collect().iter_rows(named=True):
        key = question or row["measure"]
        title = question or measure_title(key)
        yield key, QuestionEstimate(
            node.name, row["category"], title, row[n], row["precision"], row["lower"],
            row["upper"], row["n_sampled"], row[n],
        )  # fmt: skip


def _difference_rows(
    node: Node, tables: Mapping[str, pl.LazyFrame], interim: InterimLook
) -> Iterator[tuple[Any, QuestionEstimate]]:
    for row in _differences(tables, interim).iter_rows(named=True):
        pair = (row["measure_1"], row["measure_2"])
        # of the two sets, as a share of the lists; half-widths are scaled by the same
        yield pair, QuestionEstimate(
            node.name, row["category"], " − ".join(map(measure_title, pair)), row["n"],
            row["difference"],
            row["lower"], row["upper"], row["n_1"] + row["n_2"], 2 * row["size"], difference=True,
        )  # fmt: skip


def _differences(tables: Mapping[str, pl.LazyFrame], interim: InterimLook) -> pl.DataFrame:
    """Return the differences that have limits; of several populations the finite one."""
    table = tables.get("comparison" if "differences" not in tables else "differences")
    if table is None or "measure_1" not in table.collect_schema():
        return pl.DataFrame(schema={"measure_1": pl.String})
    frame = table.collect()
    if frame.is_empty() and interim.anytime and "p_adjusted" in tables["cuts"].collect_schema():
        confidence = getattr(interim.config, "confidence", 0.95)
        frame = anytime_limits_of_differences(tables["cuts"].collect(), confidence=confidence)
    if "population" in frame.columns and frame["population"].n_unique() > 1:
        frame = frame.filter(population="finite")
    return frame


FOLDER = ".annotate"
"""The folder of the estimates, beside the results of all experiments."""


@dataclass(frozen=True)
class StageEstimates:
    """The estimates of a stage.

    Parameters
    ----------
    stage : str
        Its title, or its name.
    text : str
        Coverage of the limits and time of the next look, or the reason why there are no limits.
    rows : tuple of QuestionEstimate
        Its questions.
    failed : bool
        Whether the text is a reason for missing estimates.
    """

    stage: str
    text: str
    rows: tuple[QuestionEstimate, ...] = ()
    failed: bool = False


@dataclass(frozen=True)
class Estimates:
    """All estimates after a decision.

    Parameters
    ----------
    entry : int
        The last decision that they include.
    at : str
        When they were computed, UTC.
    stages : tuple of StageEstimates
        The estimates of each stage.
    counted : CountedItems
        The items that count.
    """

    entry: int
    at: str
    stages: tuple[StageEstimates, ...]
    counted: CountedItems

    @property
    def rows(self) -> tuple[QuestionEstimate, ...]:
        """The questions of all stages."""
        return tuple(row for each in self.stages for row in each.rows)


class Estimator:
    """Computes estimates in a folder of its own, which `close` removes.

    Parameters
    ----------
    work : SheetWork
        The sheet.
    """

    def __init__(self, work: SheetWork) -> None:
        self._work = work
        self._folder: TemporaryDirectory[str] | None = None
        self._asked: SheetQuestions | None = None

    @property
    def has_questions(self) -> bool:
        """Whether a stage of the experiment answers questions by this sheet."""
        return bool(questions_of_sheet(self._work, Path()).stages)

    def compute(self) -> Estimates:
        """Return the estimates of all questions from the judgements so far.

        Raises
        ------
        LexassayError
            If a stage that the questions depend on fails, or waits for people.
        """
        conflicts, _ = Conflicts(self._work).find()
        contested = {(each.annotator, each.id) for each in conflicts if not each.settled}
        with read_only(self._work.database) as connection:
            entry, usable = last_entry(connection), count_items(connection, contested)
        questions = self._questions()
        _remove_outdated(questions)
        run = run_stages(questions.project, settings=questions.settings, deliver=False)
        categories = [
            name
            for join in questions.joins
            if join in questions.project.nodes
            for name in getattr(questions.project.nodes[join].config, "categories", ())
        ]
        stages = [_stage_estimates(node, run, usable, categories) for node in questions.stages]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return Estimates(entry, now, tuple(stages), usable)

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
            _link_results(self._work, self._asked)
        return self._asked


def _link_results(work: SheetWork, questions: SheetQuestions) -> None:
    """Link the results of the project into the folder, so that no stage runs again."""
    there = open_run(replace(questions.project, root=work.project.root)).manifests
    for name, manifest in there.items():
        key = artefacts.folder_of(name, manifest.fingerprint)
        source = work.project.root / key
        if source.is_dir():
            shutil.copytree(source, questions.project.root / key, copy_function=_link)


def _link(source: str, target: str) -> None:
    """Make a hard link, or a copy; files of a store never change."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _remove_outdated(questions: SheetQuestions) -> None:
    """Remove results based on older labels, and the records of these runs."""
    root = questions.project.root
    for name in (*questions.joins, "history"):
        shutil.rmtree(root / name, ignore_errors=True)


def _stage_estimates(
    node: Node, run: Run, usable: CountedItems, categories: list[str]
) -> StageEstimates:
    """Return the estimates of a stage; if it fails, a sentence instead of its rows."""
    title = node.title or node.name
    try:
        waits = (run.why_not(ref.stage) for ref in node.inputs.values())
        wait = next(filter(None, waits), "")
        if wait:
            return StageEstimates(
                title, text("There are no limits yet: {why}", why=wait), failed=True
            )
        tables: Tables = {
            option: run.query(f"{ref.stage}.{ref.table}") for option, ref in node.inputs.items()
        }
        interim = interim_look(node.config, tables, usable)
        if isinstance(interim, str):
            return StageEstimates(title, interim)
        outputs = join_pieces(run_stage(node.name, node.stage, interim.config, interim.tables))
        return StageEstimates(
            title, interim.explanation, question_rows(node, interim, outputs, categories=categories)
        )
    except (LexassayError, ValueError, ArithmeticError, OSError, RuntimeError) as error:
        return StageEstimates(
            title, text("There are no limits: {why}", why=reason(error)), failed=True
        )


def reason(error: BaseException) -> str:
    r"""Return what is wrong, in one line.

    Examples
    --------
    >>> reason(LexassayError("stage x: two rows are wrong\n  - row 1"))
    'stage x: two rows are wrong; row 1'
    """
    text = str(error) if isinstance(error, LexassayError) else errors.explain(error)
    lines = (line.strip().removeprefix("- ") for line in text.splitlines())
    return "; ".join(line for line in lines if line)


# Background computation: one at a time; a file records its half-widths

MIN_INTERVAL = 10.0
"""Least seconds between the starts of two computations."""


@dataclass(frozen=True)
class WidthRecord:
    """The half-widths after a decision; a line of the file, with the same names.

    Parameters
    ----------
    entry : int
        The decision.
    at : str
        When they were computed, UTC.
    counted : int
        Number of items that counted.
    halves : dict of str to float
        Question (`QuestionEstimate.key`) to half-width.
    """

    entry: int
    at: str
    counted: int
    halves: dict[str, float]


@dataclass(frozen=True)
class EstimateState:
    """What the page can show.

    Parameters
    ----------
    latest : Estimates or None
        The last estimates; None if there are none yet.
    busy : bool
        Whether a computation is running.
    error : str
        Why the last computation failed; empty if it did not.
    current : bool
        Whether the estimates include all decisions.
    points : tuple of WidthRecord
        The half-widths so far.
    """

    latest: Estimates | None
    busy: bool
    error: str
    current: bool
    points: tuple[WidthRecord, ...]


class BackgroundEstimates:
    """The estimates now; a thread computes them again when `state` finds new decisions.

    Parameters
    ----------
    work : SheetWork
        The sheet.
    min_interval : float
        Least seconds between the starts of two computations.
    clock : callable
        Returns seconds that never decrease.
    """

    def __init__(
        self,
        work: SheetWork,
        *,
        min_interval: float = MIN_INTERVAL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._work, self._min_interval, self._clock = work, min_interval, clock
        self._estimator = Estimator(work)
        self._has_questions = self._estimator.has_questions
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._begun: float | None = None
        self._tried = 0
        self._latest: Estimates | None = None
        self._error = ""
        self._points = read_points(self.file)

    @property
    def has_questions(self) -> bool:
        """Whether a stage of the experiment answers questions by this sheet."""
        return self._has_questions

    @property
    def file(self) -> Path:
        """The file of the half-widths: a line for each computation."""
        name = f"{self._work.project.root.name}-{self._work.stage}.jsonl"
        return self._work.project.root.parent / FOLDER / name

    def state(self) -> EstimateState:
        """Return the estimates; start a computation if they do not include all decisions."""
        if not self.has_questions:
            return EstimateState(None, busy=False, error="", current=True, points=())
        with read_only(self._work.database) as connection:
            entry = last_entry(connection)
        with self._lock:
            known = {0, self._tried, self._latest.entry if self._latest else 0}
            if entry not in known and self._may_begin():
                self._tried, self._begun = entry, self._clock()
                self._thread = threading.Thread(target=self._compute, name="certainty", daemon=True)
                self._thread.start()
            return EstimateState(
                self._latest, busy=self._busy, error=self._error,
                current=not entry or (self._latest is not None and self._latest.entry >= entry),
                points=tuple(self._points),
            )  # fmt: skip

    def wait(self, seconds: float) -> None:
        """Wait until no computation is running, up to a timeout."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        """Wait for the computation that is running, and remove the folder."""
        self.wait(60.0)
        if not self._busy:
            self._estimator.close()

    @property
    def _busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _may_begin(self) -> bool:
        waited = self._begun is None or self._clock() - self._begun >= self._min_interval
        return waited and not self._busy

    def _compute(self) -> None:
        estimates, error = None, ""
        try:
            estimates = self._estimator.compute()
        except InputChanged:  # somebody opened a round, or saved a sheet: try again soon
            with self._lock:
                self._tried = 0
            return
        except Exception as failure:  # the page shows any error as a sentence
            error = reason(failure)
        with self._lock:
            self._error = error
            if estimates is not None:
                self._latest = estimates
                self._record(estimates)

    def _record(self, estimates: Estimates) -> None:
        half_widths = {
            row.key: row.half_width for row in estimates.rows if row.half_width is not None
        }
        if not half_widths or (self._points and self._points[-1].entry == estimates.entry):
            return
        point = WidthRecord(
            estimates.entry, estimates.at, len(estimates.counted.order), half_widths
        )
        self._points.append(point)
        line = json.dumps(vars(point), ensure_ascii=False)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
        except OSError as failure:
            self._error = f"the history of limits cannot be saved: {reason(failure)}"


def read_points(path: Path) -> list[WidthRecord]:
    """Return the records of a file, without incomplete lines as after a power cut."""
    if not path.is_file():
        return []
    records = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            records.append(WidthRecord(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return records
