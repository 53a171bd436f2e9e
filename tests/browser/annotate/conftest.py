"""Works that are served for a test, and windows that open their pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from pipeline.annotate.tasks import SheetWork
from tests.browser.annotate.serving import CoordinatorServer, Subject, SubjectServer
from tests.browser.pages import PATIENCE_PAGES
from tests.browser.watch import HARMLESS, Watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page

Serve = Callable[[Subject], SubjectServer]
Coordinate = Callable[[SheetWork], CoordinatorServer]
CARD = ".unit, #rest h2"
"""The elements that a loaded page of cards shows."""


class OpenCard(Protocol):
    """Opens the page of a person in a new window, or in an existing one."""

    def __call__(
        self,
        address: str,
        *,
        context: BrowserContext | None = None,
        width: int = 1400,
        height: int = 900,
        dark: bool = False,
        finger: bool = False,
        before: str = "",
        ready: str = CARD,
    ) -> Page:
        """Return the page once it shows a card or says why there is none."""


class CardWatch(Watch):
    """A watch that allows an unreachable server and a question before leaving the page."""

    def _own(self, address: str) -> bool:
        return address.startswith((f"{self.address}/", *HARMLESS))

    def _console(self, message: ConsoleMessage) -> None:
        if not message.text.startswith("Failed to load resource"):
            super()._console(message)

    def _dialog(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":
            dialog.accept()
        else:
            super()._dialog(dialog)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Return a function that serves a subject until the test ends."""
    served: list[SubjectServer] = []

    def one(subject: Subject) -> SubjectServer:
        served.append(SubjectServer(subject, tmp_path / str(len(served))))
        return served[-1]

    yield one
    for each in served:
        each.stop()


@pytest.fixture
def coordinate() -> Iterator[Coordinate]:
    """Return a function that serves an experiment's work, with the coordinator's page."""
    served: list[CoordinatorServer] = []

    def one(work: SheetWork) -> CoordinatorServer:
        served.append(CoordinatorServer(work))
        return served[-1]

    yield one
    for each in served:
        each.stop()


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """Return the browser that opens the pages; a test file can override it."""
    return chromium


@pytest.fixture
def open_card(browser: Browser) -> Iterator[OpenCard]:
    """Return a function that opens a page of annotation; see `OpenCard`."""
    watches: list[CardWatch] = []

    def open_one(
        address: str, *, context: BrowserContext | None = None, width: int = 1400,
        height: int = 900, dark: bool = False, finger: bool = False, before: str = "",
        ready: str = CARD,
    ) -> Page:  # fmt: skip
        if context is None:
            context = browser.new_context(
                viewport={"width": width, "height": height}, has_touch=finger, is_mobile=finger,
                color_scheme="dark" if dark else "light",
            )  # fmt: skip
            context.set_default_timeout(PATIENCE_PAGES)
            watches.append(CardWatch(context, "/".join(address.split("/")[:3])))
            if before:
                context.add_init_script(before)
        page = context.new_page()
        page.goto(address)
        page.locator(ready).first.wait_for()
        return page

    yield open_one
    for watch in watches:
        watch.context.close()
    assert [fault for watch in watches for fault in watch.faults] == []
