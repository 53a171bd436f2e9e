"""A work served in a thread; the server can stop and restart at the same address."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from starlette.applications import Starlette

from pipeline.annotate.auth import COORDINATOR, Links, Person
from pipeline.annotate.estimates import BackgroundEstimates
from pipeline.annotate.quality import GoldItem, add_training, set_pass_mark
from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.web import coordinator
from pipeline.annotate.web.app import app_of, open_socket, server_of
from pipeline.formats import annotation_log
from pipeline.formats.annotation_log import Decision, Round, TaskRequest, update_tasks
from tests.browser.pages import AXE
from tests.browser.test_page import LOOK

if TYPE_CHECKING:
    from playwright.sync_api import Page


# Helpers for pages of annotation

FORBIDDEN = """for (const name of ["localStorage", "indexedDB"]) Object.defineProperty(window, name, {get() {
  throw new DOMException("no", "SecurityError"); }});"""
"""Script that takes a page its storage."""
EXAMPLES = [f"{word} Satz [[in]] der [[Frage]] ." for word in ("Ein", "Zwei", "Drei", "Vier")]


def pairs(count: int) -> Mapping[str, Mapping[str, Any]]:
    """Return so many pairs with ids from p000."""
    return {
        f"p{number:03}": {
            "units": {"l1": f"in:Frage{number}", "l2": f"stellen{number}"},
            "examples": EXAMPLES,
        }
        for number in range(count)
    }


def shows(page: Page, item: str) -> None:
    """Wait until the page shows the card of an item, or no card if the item is empty."""
    page.locator(f'#card[data-id="{item}"]').wait_for()


def ready(page: Page, item: str) -> None:
    """Wait until a card has been visible long enough to be decided."""
    page.locator(f'#card[data-id="{item}"][data-ready]').wait_for()


def wait_until_saved(page: Page) -> None:
    """Wait until the server has every decision of the page."""
    page.locator('#waiting[data-count="0"]').wait_for(state="attached")


def says(page: Page, text: str, place: str = "#message") -> None:
    """Wait until an element of the page contains a text."""
    page.locator(place).filter(has_text=text).wait_for()


def label(page: Page, items: Iterable[str], key: str = "1") -> None:
    """Press a key on each card once it accepts a decision."""
    for item in items:
        ready(page, item)
        page.keyboard.press(key)


def open_answer(page: Page, item: str, number: int = 0) -> None:
    """Open an answered card in the list of recent answers, which begins with the last."""
    page.keyboard.press("r")
    page.locator("#recent-box .cards button").nth(number).click()
    ready(page, item)


def label_in_both(one: Page, two: Page) -> None:
    """Label the first card in two windows: the server rejects the second decision."""
    label(one, ["p000"])
    shows(one, "p001")
    wait_until_saved(one)
    label(two, ["p000"], "3")
    says(two, "1 decision was not accepted", "#waiting-text")


def waits(page: Page, count: int) -> None:
    """Wait until the page shows so many unsaved decisions."""
    if count:
        word = "decision is" if count == 1 else "decisions are"
        says(page, f"{count} {word} not saved yet", "#waiting-text")
    else:
        page.locator("#waiting").wait_for(state="hidden")


def faults(page: Page, where: str = "") -> list[str]:
    """Return the faults that axe finds on a page, each with a name of the place."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return [f"{where}: {fault}" for fault in page.evaluate(LOOK)]


def answers(log: Iterable[Mapping[str, Any]], kind: str = "label") -> list[tuple[str, str]]:
    """Return item and answer of all entries of a kind, in order."""
    return [(row["id"], row["answer"]) for row in log if row["kind"] == kind]


LABELS = ("SVC", "figurative", "free")


@dataclass(frozen=True)
class Subject:
    """The items of a work by id, and its annotators."""

    items: Mapping[str, Mapping[str, Any]]
    kind: Literal["annotation", "keying"] = "annotation"
    title: str = "PP-verb pairs"
    instructions: str = "Label each pair."
    labels: Sequence[str] = LABELS
    guidelines: Mapping[str, str] = field(default_factory=dict)
    annotators: Sequence[str] = ("anna",)
    language: str = ""


class Serving:
    """A served work, whose server can stop and restart at the same address."""

    def __init__(self, work: SheetWork) -> None:
        self.work = work
        self.links = Links(work.folder)
        self.port = 0
        self.start()
        self.origin = f"http://127.0.0.1:{self.port}"

    def address(self, person: str = "anna", round_name: Round = "annotation") -> str:
        """Return the address of a person's page."""
        annotates = person in self.work.annotators
        path = self.links.address(Person("annotator" if annotates else "adjudicator", person))
        query = "?round=adjudication" if round_name == "adjudication" else ""
        return f"{self.origin}{path}{query}"

    def app(self) -> Starlette:
        """Return the application."""
        return app_of(self.work, self.links)

    def start(self) -> None:
        """Start the server, and return once it answers."""
        listener = open_socket("127.0.0.1", self.port)
        self.port = listener.getsockname()[1]
        self._server = server_of(self.app())
        self._thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive(), "the server did not start"
            time.sleep(0.01)

    def stop(self) -> None:
        """Stop the server."""
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive(), "the server did not stop"

    def log(self) -> list[dict[str, Any]]:
        """Return all entries of the log, with the item and the person."""
        query = "SELECT l.*, t.id, t.annotator FROM log l JOIN tasks t USING (task) ORDER BY entry"
        with annotation_log.read_only(self.work.database) as connection:
            return [dict(row) for row in connection.execute(query)]


class SubjectServer(Serving):
    """A subject that is served from a separate folder."""

    def __init__(self, subject: Subject, folder: Path) -> None:
        self.work = SheetWork(
            project=cast(Any, None), stage="sheet", kind=subject.kind, title=subject.title,
            instructions=subject.instructions, labels=tuple(subject.labels),
            annotators=tuple(subject.annotators), folder=folder, guidelines=subject.guidelines,
            language=subject.language,
        )  # fmt: skip
        self.ask(subject.items, subject.annotators)
        super().__init__(self.work)

    def ask(
        self, items: Mapping[str, Mapping[str, Any]], people: Sequence[str],
        round_name: Round = "annotation",
    ) -> None:  # fmt: skip
        """Give everybody tasks for all items, in their order."""
        every = [
            TaskRequest(who, each, place) for who in people for place, each in enumerate(items)
        ]
        with annotation_log.open_log(self.work.database) as connection:
            update_tasks(connection, items, every, round_name=round_name)

    def answer_all(self, who: str, answer: str) -> None:
        """Answer all cards of a person in the log, without the page."""
        with annotation_log.open_log(self.work.database) as connection:
            cards = annotation_log.upcoming(connection, who, most=10_000)
            annotation_log.append(
                connection,
                [Decision(f"all {each.id}", who, each.id, answer=answer) for each in cards],
            )

    def train(self, labels: Sequence[str], *, mark: float) -> None:
        """Add a training round with these answers."""
        gold = [
            GoldItem({"l1": f"train{n}", "l2": "x"}, answer, f"because {n}")
            for n, answer in enumerate(labels)
        ]
        add_training(self.work, gold)
        set_pass_mark(self.work, mark)


class CoordinatorServer(Serving):
    """The work of an experiment, served with the coordinator's page."""

    def __init__(self, work: SheetWork) -> None:
        self.certainty = BackgroundEstimates(work)
        super().__init__(work)

    @property
    def coordinator(self) -> str:
        """The address of the coordinator's page."""
        return f"{self.origin}{self.links.address(COORDINATOR)}"

    def app(self) -> Starlette:
        """Return the application."""
        own = coordinator.routes(
            self.work,
            address=self.links.address,
            certainty=self.certainty,
        )
        return app_of(self.work, self.links, coordinator=own)

    def stop(self) -> None:
        """Stop the server and the computation of estimates."""
        super().stop()
        self.certainty.close()
