"""Browser, window and server are killed between keystrokes: confirmed decisions are saved once.

The browser stores a decision on disk before the next card appears. An unsent decision therefore
survives a killed browser.
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
from tests.browser.annotate.serving import answers, pairs, wait_until_saved
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.pages import PATIENCE_PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

KILLS = {"page": 10, "window": 8, "browser": 8, "server": 14}
LABELS = {"1": "SVC", "2": "figurative", "3": "free"}
WHO = "anna"
READY_ON = """(last) => { const {id, ready} = document.getElementById('card').dataset;
  return id && id !== last && ready !== undefined; }"""
GONE_ON = (
    "(last) => { const {id} = document.getElementById('card').dataset; return id && id !== last; }"
)


@dataclass
class Desk:
    """A person at a browser with a permanent profile, and the server."""

    browser: Browser
    folder: Path
    forks: Forks
    random: Random
    away: bool = False
    last: str = ""
    pressed: list[tuple[str, str]] = field(default_factory=list)
    observed: list[tuple[str, str]] = field(default_factory=list)
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
        """Open the page; start the server if it is stopped."""
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
        """Press a key on a card; with `look`, wait for the next card and record the decision."""
        self.page.wait_for_function(READY_ON, arg=self.last, polling=20)
        self.last = self.page.locator("#card").get_attribute("data-id") or ""
        key = self.random.choice(list(LABELS))
        self.pressed.append((self.last, LABELS[key]))
        self.page.keyboard.press(key)
        if look:
            self.page.wait_for_function(GONE_ON, arg=self.last, polling=5)
            self.observed.append(self.pressed[-1])

    def kill(self, what: str) -> None:
        if what == "page":
            self.page.close()
            self.show()
            self.watch_saving()
        elif what == "window":
            self.context.close()
            self.open()
            self.watch_saving()
        elif what == "browser":
            os.kill(self.process(), signal.SIGKILL)
            with suppress(Exception):  # it may have noticed the lost connection already
                self.context.close()
            self.open()
            self.watch_saving()
        elif self.away:
            self.forks.start()
            self.away = False
        else:
            self.forks.kill()
            self.away = True

    def watch_saving(self) -> None:
        """Wait, mostly, until all decisions are saved."""
        if self.random.random() < 0.7:
            wait_until_saved(self.page)

    def process(self) -> int:
        """Return the main process of the browser."""
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
    ask(work, WHO, contents={each: dict(content) for each, content in pairs(300).items()})
    forks = Forks(work.folder, [WHO], free_port())
    desk = Desk(chromium, tmp_path, forks, Random(40))
    yield desk
    desk.context.close()
    forks.close()


def test_observed_decisions_survive_forty_kills(desk: Desk) -> None:
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
    wait_until_saved(desk.page)
    rows = answers(log(desk.folder / "work" / "decisions.sqlite"))
    assert desk.faults == []
    assert set(desk.observed) <= set(rows)
    assert len({item for item, _ in rows}) == len(rows)
    order = iter(desk.pressed)
    assert all(row in order for row in rows), "not in the order of pressing, or never pressed"


def test_a_killed_server_loses_or_repeats_no_decision(desk: Desk) -> None:
    """LEXASSAY_KILLS sets the number of rounds; some decisions are sent during a kill."""
    for _ in range(int(os.environ.get("LEXASSAY_KILLS", "4"))):
        desk.press(look=desk.random.random() < 0.5)
        desk.kill("server")
        desk.press()
        desk.kill("server")
        if desk.random.random() < 0.3:
            wait_until_saved(desk.page)
    desk.press()
    wait_until_saved(desk.page)
    assert answers(log(desk.folder / "work" / "decisions.sqlite")) == desk.pressed
    assert desk.faults == []


def test_offline_decisions_survive_a_killed_browser(desk: Desk) -> None:
    rounds = int(os.environ.get("LEXASSAY_KILLS", "2"))
    for _ in range(rounds):
        desk.page.locator("#card[data-ready]").wait_for()
        desk.page.context.set_offline(True)
        for _ in range(9):
            desk.press()
        desk.kill("browser")
        wait_until_saved(desk.page)
    rows = answers(log(desk.folder / "work" / "decisions.sqlite"))
    assert rows == desk.observed
    assert len(rows) == 9 * rounds
