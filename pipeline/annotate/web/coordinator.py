"""The coordinator's page: progress, agreement, disagreements, adjudication and estimates."""

from __future__ import annotations

import math
import sqlite3
import threading
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipeline.annotate.adjudication import (
    ROUND,
    Adjudication,
    adjudications,
    agreement_so_far,
    forms_so_far,
    give_to_third,
    give_to_those_who_disagree,
    ready,
)
from pipeline.annotate.estimates import (
    BackgroundEstimates,
    Estimates,
    EstimateState,
    QuestionEstimate,
    StageEstimates,
    WidthRecord,
)
from pipeline.annotate.progress import (
    USUAL,
    all_candidates,
    further_judgements,
    progress_of_all,
    what_is_left,
)
from pipeline.annotate.records import (
    Answer,
    disagreements,
    standing_answers,
    unsure_items,
    with_units,
)
from pipeline.annotate.tasks import Work
from pipeline.errors import ConfigError
from pipeline.formats.annotation_log import last_entry, opened, read_only

# Lines of half-widths over the counted items

WIDTH, HEIGHT = 200, 60
_EDGE = 4


@dataclass(frozen=True)
class Line:
    """The half-widths of a question over the items that counted, to be drawn.

    Parameters
    ----------
    title, said : str
        Its question, and in words what the line shows.
    points : str
        As SVG has them, in a field of 200 by 60.
    last : tuple of float
        The last of them.
    wished : float or None
        Where the wished half-width lies; None: above the field.
    """

    title: str
    said: str
    points: str
    last: tuple[float, float]
    wished: float | None


def line(row: QuestionEstimate, points: Sequence[WidthRecord], *, wished: float) -> Line | None:
    """Return the line of a question; None where there are fewer than two points.

    Parameters
    ----------
    row : QuestionEstimate
        The question.
    points : sequence of WidthRecord
        The half-widths so far, from the first on.
    wished : float
        Half-width.
    """
    known = {each.counted: each.halves[row.key] for each in points if row.key in each.halves}
    steps = sorted(known.items())
    if len(steps) < 2:
        return None
    (first, begun), (last, ended) = steps[0], steps[-1]
    top = max(*known.values(), 1e-9)
    placed = [(_across(count, last), _down(half, top)) for count, half in steps]
    title = f"{row.category}, {row.question} at {row.n:,}"
    said = (
        f"{title}: ±{100 * begun:.1f} points after"
        f" {first:,} item{'s' * (first != 1)}, ±{100 * ended:.1f} after {last:,}"
    )
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    there = _down(wished, top) if wished <= top else None
    return Line(title, said, drawn, placed[-1], there)


def _across(count: int, last: int) -> float:
    return round(_EDGE + (WIDTH - 2 * _EDGE) * count / max(last, 1), 1)


def _down(half: float, top: float) -> float:
    return round(HEIGHT - _EDGE - (HEIGHT - 2 * _EDGE) * half / top, 1)


# Formatting of numbers and texts

_BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}
_LONG = 300


def plain(text: str, most: int = _LONG) -> str:
    r"""Return a text that cannot reorder its surroundings, nor fill the page.

    Examples
    --------
    >>> plain("ab\u202ecd\x07"), plain("x" * 9, 5)
    ('ab[U+202E]cd[U+0007]', 'xxxxx…')
    """
    cut = text if len(text) <= most else f"{text[:most]}…"
    return "".join(f"[U+{ord(each):04X}]" if _is_hidden(each) else each for each in cut)


def points(value: float | None, *, signed: bool = False) -> str:
    """Return a share in points; an em dash where there is none.

    Examples
    --------
    >>> points(0.25), points(-0.0312, signed=True), points(None)
    ('25.0', '−3.1', '—')
    """
    if value is None:
        return "—"
    rounded = round(100 * value, 1) + 0.0
    return f"{rounded:{'+' if signed else ''}.1f}".replace("-", "−")


def coefficient(value: float | None) -> str:
    """Return a coefficient of agreement.

    Examples
    --------
    >>> coefficient(0.69951), coefficient(-0.2), coefficient(None)
    ('0.70', '−0.20', '—')
    """
    return "—" if value is None else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def moment(at: str) -> str:
    """Return a time, UTC, as people read it; empty if there is none.

    Examples
    --------
    >>> moment("2026-03-01T20:51:33.123+00:00"), moment("")
    ('2026-03-01 20:51:33 UTC', '')
    """
    return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if at else ""


def age(at: str, now: datetime) -> str:
    """Return how long ago something was.

    Examples
    --------
    >>> now = datetime(2026, 3, 1, 21, 0, tzinfo=UTC)
    >>> [age(f"2026-03-01T{time}+00:00", now) for time in ("20:59:52", "20:51:33", "17:00:00")]
    ['8 seconds', '8 minutes', '4 hours']
    """
    passed = max(0, int((now - datetime.fromisoformat(at)).total_seconds()))
    for size, unit in ((3600, "hour"), (60, "minute")):
        if passed >= size:
            return _count(passed // size, unit)
    return _count(passed, "second")


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'s' * (number != 1)}"


def _is_hidden(sign: str) -> bool:
    return ord(sign) in _BIDI or (unicodedata.category(sign) == "Cc" and sign not in "\n\t")


# Estimates so far

_LINES = 12
"""Lines that are drawn: those of the questions that are declared first."""


@dataclass(frozen=True)
class Question:
    """A row of the table.

    Parameters
    ----------
    row : QuestionEstimate
        The question.
    left : str
        How many more judgements it takes, about.
    """

    row: QuestionEstimate
    left: str


@dataclass(frozen=True)
class Stage:
    """The text of a stage, with the rows of its table."""

    said: StageEstimates
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class EstimatesSection:
    """All that the section shows.

    Parameters
    ----------
    sentences : tuple of str
        What comes first: what is left to do, how old it is, what does not count.
    stages : tuple of Stage
        The tables.
    lines : tuple of Line
        How limits narrowed.
    wished : str
        The wished half-width in points.
    error : str
        Why the last computation failed; empty if it did not.
    has_questions, busy : bool
        Whether there are questions; whether a computation is running.
    """

    sentences: tuple[str, ...]
    stages: tuple[Stage, ...]
    lines: tuple[Line, ...]
    wished: str
    error: str
    has_questions: bool
    busy: bool


def wish_of(given: str | None, usual: float) -> tuple[float, str]:
    """Return the target half-width, and a sentence if the given one is invalid.

    Examples
    --------
    >>> wish_of("2.5", 0.05), wish_of(None, 0.05)
    ((0.025, ''), (0.05, ''))
    >>> wish_of("nan", 0.05)[1]
    'The half-width must be between 0.1 and 50 points, not nan; showing 5.'
    """
    if given is None or not given.strip():
        return usual, ""
    try:
        points = float(given.replace(",", "."))
    except ValueError:
        points = math.nan
    if 0.1 <= points <= 50:
        return points / 100, ""
    what = "The half-width must be between 0.1 and 50 points"
    return usual, f"{what}, not {given[:20]}; showing {100 * usual:.3g}."


def estimates_section(
    known: EstimateState, *, entry: int, wished: float, now: datetime, has_questions: bool
) -> EstimatesSection:
    """Return what is shown.

    Parameters
    ----------
    known : EstimateState
        The estimates.
    entry : int
        The last decision.
    wished : float
        Half-width.
    now : datetime
        The time.
    has_questions : bool
        Whether a stage answers questions by this sheet.
    """
    made = known.latest
    stages: tuple[Stage, ...] = ()
    lines: tuple[Line, ...] = ()
    if made is not None:
        stages = tuple(_stage(each, made, wished) for each in made.stages)
        drawn = (line(row, known.points, wished=wished) for row in _plotted_rows(made.rows))
        lines = tuple(each for each in drawn if each)
    sentences = _sentences(known, entry=entry, wished=wished, now=now) if has_questions else ()
    shown = f"{100 * wished:.3g}"
    return EstimatesSection(sentences, stages, lines, shown, known.error, has_questions, known.busy)


def _plotted_rows(rows: Sequence[QuestionEstimate]) -> list[QuestionEstimate]:
    """Return the questions that lines are drawn of, each once though several stages ask it."""
    first: dict[tuple[str, str, int], QuestionEstimate] = {}
    for row in rows:
        first.setdefault((row.category, row.question, row.n), row)
    return list(first.values())[:_LINES]


def _stage(said: StageEstimates, made: Estimates, wished: float) -> Stage:
    judged = len(made.counted.order)
    every = all_candidates(made.rows)
    more = (
        further_judgements(row, judged=judged, wished=wished, candidates=every) for row in said.rows
    )
    return Stage(said, tuple(map(Question, said.rows, map(_remaining_text, more))))


def _remaining_text(more: int | None) -> str:
    if more is None:
        return "—"
    return f"about {more:,}" if more else "done"


def _sentences(
    known: EstimateState, *, entry: int, wished: float, now: datetime
) -> tuple[str, ...]:
    made = known.latest
    if made is None and not entry:
        return ("No judgements yet.",)
    said = []
    if made is not None:
        usable = made.counted
        left = usable.asked - usable.answered
        rests = len(usable.order)
        said += [what_is_left(made.rows, judged=rests, left=left, wished=wished)]
        said += [_waiting_sentence(usable.waiting)] if usable.waiting else []
        since = entry - made.entry
        more = f"; {since:,} decision{'s' * (since != 1)} since then" if since > 0 else ""
        said += [f"Computed {age(made.at, now)} ago, at {moment(made.at)}{more}."]
    if known.busy:
        said += ["Computing ..."]
    return tuple(each for each in said if each)


def _waiting_sentence(count: int) -> str:
    items = f"{count:,} judged item{'s do' if count != 1 else ' does'} not count yet"
    return (
        f"{items}: an earlier card has no answer, for example one set aside, or not all annotators"
        " have answered."
    )


Address = Callable[[Literal["annotator", "adjudicator"], str], str]
"""Role and name to the path of a person's page."""
_BODY = 10_000
"""Bytes of a form: a name, and two words."""
_SHOWN = 200
"""Maximum number of items in a list."""


class Pages(Protocol):
    """What makes pages of templates; ``app.state.pages`` of the server."""

    def page(self, template: str, **values: Any) -> Response:
        """Return a page."""


class Opening(BaseModel):
    """What the form of the adjudication round sends."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    who: Literal["third", "those"]
    name: str = Field(default="", max_length=1000)
    unsure: bool = False


class Coordinator:
    """Answers what the coordinator's page asks for.

    Parameters
    ----------
    work : Work
        The work.
    certainty : BackgroundEstimates
        How sure we are now.
    address : callable
        Role and name to the path of a person's page.
    half_width : float
        Target if the page's address has none.
    public : str
        What the links of adjudicators begin with; what the browser asked for if empty.
    """

    def __init__(
        self,
        work: Work,
        certainty: BackgroundEstimates,
        *,
        address: Address,
        half_width: float = USUAL,
        public: str = "",
    ) -> None:
        self.work, self.certainty, self.address = work, certainty, address
        self.half_width, self.public = half_width, public
        self._one = threading.Lock()

    def page(self, request: Request) -> Response:
        """Answer with the page."""
        pages: Pages = request.app.state.pages
        wished, notice = wish_of(request.query_params.get("points"), self.half_width)
        return pages.page("coordinator.html", **self._values(request, wished, notice))

    def state(self, _request: Request) -> Response:
        """Answer with what changes when there is something new to show."""
        with read_only(self.work.database) as connection:
            entry = last_entry(connection)
        known = self.certainty.state()
        return JSONResponse({"stamp": _stamp(entry, known)})

    async def adjudicate(self, request: Request) -> Response:
        """Open the adjudication round, or add to it what is new."""
        body = await request.body()
        if len(body) > _BODY:
            return JSONResponse({"error": "The name is too long."}, 413)
        try:
            wanted = Opening.model_validate_json(body)
            new = await run_in_threadpool(self._open, wanted)
        except ValidationError as error:
            wrong = "; ".join(each["msg"] for each in error.errors()[:3])
            return JSONResponse({"error": f"Nothing was opened: {wrong}. Reload the page."}, 400)
        except ConfigError as error:
            said = "; ".join(f"{each.what}; {each.remedy}" for each in error.problems)
            return JSONResponse({"error": f"Nothing was opened: {said}."}, 400)
        return JSONResponse({"new": new, "said": _added(new)})

    def _open(self, wanted: Opening) -> int:
        with self._one, opened(self.work.database) as connection:
            if wanted.who == "third":
                return give_to_third(
                    connection, wanted.name, unsure=wanted.unsure, keying=self.work.keying
                )
            return give_to_those_who_disagree(
                connection, unsure=wanted.unsure, keying=self.work.keying
            )

    def _values(self, request: Request, wished: float, notice: str) -> dict[str, Any]:
        known = self.certainty.state()
        with read_only(self.work.database) as connection:
            entry = last_entry(connection)
            answers = standing_answers(connection, keying=self.work.keying)
            people = progress_of_all(connection, answers)
            decided = standing_answers(connection, named=ROUND, keying=self.work.keying)
            deciding = progress_of_all(connection, decided, named=ROUND)
            labels = self.work.kind == "annotation"
            several = labels or _is_shared(connection)
            lists = self._lists(connection, answers) if several else {}
        base = self.public or str(request.base_url).rstrip("/")
        return {
            "work": self.work, "stamp": _stamp(entry, known), "shown": _SHOWN,
            "address": request.url.path.rstrip("/"), "labels": labels, "several": several,
            "answers": "labels" if labels else "forms",
            "people": people, "deciding": deciding,
            "agreement": agreement_so_far(answers, labels=self.work.labels) if labels
            else forms_so_far(answers),
            **lists,
            "links": {each.annotator: f"{base}{self._page_of(each.annotator)}"
                      for each in deciding},
            "decided_by": _decided_by, "notice": notice,
            "sure": estimates_section(known, entry=entry, wished=wished, now=datetime.now(UTC),
                             has_questions=self.certainty.has_questions),
            "plain": plain, "points": points, "coefficient": coefficient, "moment": moment,
        }  # fmt: skip

    def _lists(self, connection: sqlite3.Connection, answers: list[Answer]) -> dict[str, Any]:
        """Return what there is to look at, its beginning with units, and how many there are."""
        differing, unsure = disagreements(answers), unsure_items(answers)
        rounds = adjudications(connection, answers=answers, keying=self.work.keying)
        done = sum(each.label is not None for each in rounds)
        first = rounds[:_SHOWN]
        known = with_units(connection, [each.item for each in first])
        waiting = (len(ready(connection, unsure=each, answers=answers)) for each in (False, True))
        return {
            "disagreements": with_units(connection, differing[:_SHOWN]),
            "doubtful": with_units(connection, unsure[:_SHOWN]),
            "adjudications": [
                replace(each, item=item) for each, item in zip(first, known, strict=True)
            ],
            "waiting": tuple(waiting),
            "counts": {"differing": len(differing), "unsure": len(unsure), "rounds": len(rounds),
                       "done": done},
        }  # fmt: skip

    def _page_of(self, name: str) -> str:
        if name in self.work.annotators:
            return f"{self.address('annotator', name)}?round={ROUND}"
        return self.address("adjudicator", name)


def routes(
    work: Work,
    *,
    address: Address,
    half_width: float = USUAL,
    certainty: BackgroundEstimates | None = None,
    public: str = "",
) -> list[Route]:
    """Return the coordinator's routes, to be mounted below the coordinator's secret.

    Parameters
    ----------
    work : Work
        The work.
    address : callable
        Role and name to the path of a person's page.
    half_width : float
        The target half-width, if the page's address has none.
    certainty : BackgroundEstimates, optional
        The current estimates; the caller closes them.
    public : str
        What the links of adjudicators begin with; what the browser asked for if empty.
    """
    own = BackgroundEstimates(work) if certainty is None else certainty
    made = Coordinator(work, own, address=address, half_width=half_width, public=public)
    return [
        Route("/", made.page),
        Route("/state", made.state),
        Route("/adjudication", made.adjudicate, methods=["POST"]),
    ]


def _is_shared(connection: sqlite3.Connection) -> bool:
    """Return whether an item is assigned to several annotators."""
    shared = connection.execute(
        "SELECT 1 FROM tasks WHERE round = 'annotation' AND asked = 1"
        " GROUP BY id HAVING count(*) > 1 LIMIT 1"
    )
    return shared.fetchone() is not None


def _decided_by(each: Adjudication) -> str:
    """Return in a few words how far an item of the adjudication round is."""
    if each.label is not None:
        return "resolved"
    if each.waits_for:
        return f"waiting for {', '.join(each.waits_for)}"
    return "still disagree: ask a third person"


def _stamp(entry: int, known: Any) -> str:
    made = known.latest.entry if known.latest else 0
    return f"{entry}-{made}-{int(known.busy)}-{len(known.error)}"


def _added(new: int) -> str:
    if not new:
        return "Nothing new: all items to adjudicate are already in the round."
    return f"{new:,} new item{'s' * (new != 1)} in the round."
