"""The browser, its window and the server are killed between keystrokes: what was shown as kept is in the log once.

A Chromium writes what a page keeps to its disk some seconds later. What waits for a server that is away
when the browser itself is killed may be gone: its page said so many decisions were not saved yet, and the
card comes again. So it is not lost unseen; all else is in the log.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from pipeline.annotate.auth import Links, Person
from tests.annotate.served import Forks, ask, free_port, log, work_in
from tests.browser.annotate.serving import answers, pairs, waits
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.pages import PATIENCE_PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

KILLS = {"page": 10, "window": 8, "browser": 8, "server": 14}
LABELS = {"1": "SVC", "2": "figurative", "3": "free"}
WHO = "anna"
GONE_ON = (
    "(last) => { const {id} = document.getElementById('card').dataset; return id && id !== last; }"
)


@dataclass
class Desk:
    """Somebody at a browser of their own, whose folder outlives it, and the server."""

    browser: Browser
    folder: Path
    forks: Forks
    random: Random
    away: bool = False
    last: str = ""
    pressed: list[tuple[str, str]] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)
    waiting: list[tuple[str, str]] = field(default_factory=list)
    """What the page has said to be not saved yet, since all was."""
    given_up: list[tuple[str, str]] = field(default_factory=list)
    """What waited when the browser was killed, whose card may come again."""
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        path = Links(self.folder / "work").address(Person("annotator", WHO))
        self.address = f"http://127.0.0.1:{self.forks.port}{path}"
        self.forks.start()
        self.open()

    def open(self) -> None:
        self.context: BrowserContext = self.browser.browser_type.launch_persistent_context(
            self.folder / "profile", executable_path=CHROMIUM, args=list(FLAGS),
            chromium_sandbox=os.getuid() != 0,
        )  # fmt: skip
        self.context.set_default_timeout(PATIENCE_PAGES)
        self.context.on("weberror", lambda error: self.faults.append(str(error.error)))
        self.show()

    def show(self) -> None:
        """Open the page, which a server must give."""
        if self.away:
            self.forks.start()
            self.away = False
        self.page: Page = self.context.new_page()
        for _ in range(100):  # the server may not listen yet
            with suppress(Exception):
                self.page.goto(self.address)
                break
            self.page.wait_for_timeout(50)
        self.last = ""

    def press(self, *, look: bool = True) -> None:
        """Press a key on a card; if somebody looks, what the next card says of it counts."""
        self.page.wait_for_function(GONE_ON, arg=self.last, polling=20)
        self.last = self.page.locator("#card").get_attribute("data-id") or ""
        key = self.random.choice(list(LABELS))
        self.pressed.append((self.last, LABELS[key]))
        self.page.keyboard.press(key)
        if look:
            self.page.wait_for_function(GONE_ON, arg=self.last, polling=20)
            said = self.page.locator("#said").inner_text()
            assert said.startswith(("Saved: ", "Not saved yet: ")), said
            self.kept.append(self.pressed[-1])
            if said.startswith("Not"):
                self.waiting.append(self.pressed[-1])

    def kill(self, what: str) -> None:
        if what == "page":
            self.page.close()
            self.show()
            self.sent()
        elif what == "window":
            self.context.close()
            self.open()
            self.sent()
        elif what == "browser":
            self.given_up += self.waiting
            os.kill(self.process(), signal.SIGKILL)
            with suppress(Exception):  # it may have seen already that nobody is there
                self.context.close()
            self.open()
            self.sent()
        elif self.away:
            self.forks.start()
            self.away = False
        else:
            self.forks.kill()
            self.away = True

    def sent(self) -> None:
        """See that all is saved which waited, if somebody looks long enough."""
        if self.random.random() < 0.7:
            waits(self.page, 0)
            self.waiting = []

    def process(self) -> int:
        """Return the process of the browser itself."""
        own = f"--user-data-dir={self.folder / 'profile'}"
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                words = path.read_text(errors="replace").split("\0")
                if own in words and not any(word.startswith("--type=") for word in words):
                    return int(path.parent.name)
        raise AssertionError("there is no such browser")


@pytest.fixture
def desk(chromium: Browser, tmp_path: Path) -> Iterator[Desk]:
    work = work_in(tmp_path / "work", annotators=(WHO,))
    ask(work, WHO, shown={each: dict(shown) for each, shown in pairs(300).items()})
    forks = Forks(work.folder, [WHO], free_port())
    made = Desk(chromium, tmp_path, forks, Random(40))
    yield made
    made.context.close()
    forks.close()


def test_forty_kills(desk: Desk) -> None:
    whats = desk.random.sample(list(KILLS), sum(KILLS.values()), counts=list(KILLS.values()))
    for what in whats:
        for _ in range(desk.random.randrange(5)):
            desk.press()
        if desk.random.random() < 0.5:
            desk.press(look=False)
        desk.kill(what)
    desk.page.close()
    desk.show()
    desk.press()
    waits(desk.page, 0)
    rows = answers(log(desk.folder / "work" / "decisions.sqlite"))
    assert desk.faults == []
    assert set(desk.kept) - set(rows) <= set(desk.given_up)
    assert len({item for item, _ in rows}) == len(rows)
    order = iter(desk.pressed)
    assert all(row in order for row in rows), "not in the order of pressing, or never pressed"
    items = [item for item, _ in rows]
    assert {item for item, _ in desk.kept} <= set(items)  # what was lost was asked again
