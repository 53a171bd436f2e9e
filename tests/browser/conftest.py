"""A Chromium for all browser tests, a window for each, and the reports that they open.

A test fails if its page writes a warning or an error to the console, requests anything but itself,
or opens a dialog. If Chromium is installed, a skipped test is a failure. Tests in Firefox are
skipped if it is not installed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.pages import AXE, Open, Windows, page_of
from tests.browser.reports import REPORTS, build_report
from tests.groups import scheduler

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

    from tests.browser.watch import Watch

CHROMIUM = shutil.which(os.environ.get("LEXASSAY_CHROMIUM") or "chromium")
"""The path of Chromium, if it is installed."""
FIREFOX = shutil.which(os.environ.get("LEXASSAY_FIREFOX") or "firefox-esr")
"""The path of Firefox, which some tests of annotation use."""
FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
HERE = Path(__file__).parent


def group_of(nodeid: str) -> str:
    """Return the report in the name of a test, or "" if the name has none.

    Tests in Firefox form a separate group.

    >>> group_of("tests/browser/test_page.py::test_a_page_opens_without_faults[sweep-375]")
    'sweep'
    >>> group_of("tests/browser/test_page.py::test_hostile_texts_are_shown_unchanged[quotes]")
    'hostile'
    >>> group_of("tests/browser/annotate/test_firefox.py::test_a_double_click_labels_one_card")
    'firefox'
    >>> group_of("tests/browser/test_watch.py::test_faults_are_recorded[dialog]")
    ''
    """
    file, _, test = nodeid.partition("::")
    if file.endswith("/test_firefox.py"):
        return "firefox"
    parameters = test.partition("[")[2].removesuffix("]").split("-")
    words = [*parameters, *test.partition("[")[0].split("_")]
    return next((word for word in words if word in REPORTS), "")


def _has_own_window(item: pytest.Item) -> bool:
    fixtures: Sequence[str] = getattr(item, "fixturenames", ())
    return item.path.is_relative_to(HERE) and "read_report" not in fixtures


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    """Keep the tests of a report in one process, which shares its windows."""
    return scheduler(config, log, group_of)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark all tests of this folder; deselect those that need axe or Firefox if it is missing.

    Tests that only read come first, since a test with its own window closes all shared ones.
    """
    own = [item for item in items if item.path.is_relative_to(HERE)]
    items.sort(key=_has_own_window)
    for item in own:
        item.add_marker("browser")
    missing = [name for name, there in (("axe", AXE.is_file()), ("firefox", FIREFOX)) if not there]
    without = [item for item in own if any(map(item.get_closest_marker, missing))]
    if without:
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if item not in without]


def _own(reporter: pytest.TerminalReporter, kind: str) -> int:
    """Return the number of tests of this folder with an outcome."""
    folder = HERE.relative_to(HERE.parents[1]).as_posix()
    ends = reporter.stats.get(kind, [])
    return sum(getattr(each, "nodeid", "").startswith(folder) for each in ends)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the number of browser tests, and what is missing."""
    say = terminalreporter.write_line
    run = sum(_own(terminalreporter, kind) for kind in ("passed", "failed"))
    skipped = _own(terminalreporter, "skipped")
    if run:
        say(f"browser: {run} tests were run")
    if skipped and CHROMIUM:
        say(f"browser: {skipped} tests were skipped, though a Chromium is here: a failure")
    if (run or skipped) and not AXE.is_file():
        say("browser: axe-core is not here (`make browser` has it from npm): its tests are skipped")
    if (run or skipped) and not FIREFOX:
        say("browser: Firefox is not here (`make browser` installs it): its tests are skipped")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a test was skipped although Chromium is installed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if CHROMIUM and reporter is not None and _own(reporter, "skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Start Playwright, of which a process can have one instance."""
    api = pytest.importorskip("playwright.sync_api", reason="`make browser` installs Playwright")
    with api.sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def another_chromium(playwright: Playwright) -> Iterator[Callable[[], Browser]]:
    """Return a function that starts another Chromium; root cannot use the sandbox."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is here")
    started: list[Browser] = []

    def start() -> Browser:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, chromium_sandbox=os.getuid() != 0
        )
        started.append(browser)
        return browser

    yield start
    for browser in started:
        browser.close()


@pytest.fixture(scope="session")
def chromium(another_chromium: Callable[[], Browser]) -> Browser:
    """Return the one Chromium that all tests share."""
    return another_chromium()


@pytest.fixture(scope="session")
def report_page(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Callable[[str], Path]:
    """Return a function from a report's name to its page, which all processes share."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if hasattr(request.config, "workerinput") else folder
    return lambda name: build_report(name, shared)


@pytest.fixture(scope="session")
def windows(
    chromium: Browser, another_chromium: Callable[[], Browser], report_page: Callable[[str], Path]
) -> Iterator[Windows]:
    """Return the windows that open reports; see `Windows`."""
    windows = Windows(chromium, another_chromium, report_page)
    yield windows
    windows.close()


@pytest.fixture
def open_report(windows: Windows) -> Iterator[Open]:
    """Return a function that opens a report in a separate window; see `Open`."""
    watches: list[Watch] = []
    windows.close()

    def open_one(name: str, **how: Any) -> Page:
        watches.append(windows.open(name, **how))
        return page_of(watches[-1])

    yield open_one
    for watch in watches:
        watch.context.close()
    assert [fault for watch in watches for fault in watch.faults] == []


@pytest.fixture
def read_report(windows: Windows) -> Iterator[Open]:
    """Return a function like `open_report`, for tests that only read and share a window."""
    watches: list[Watch] = []

    def open_one(name: str, **how: Any) -> Page:
        watches.append(windows.keep(name, **how))
        return page_of(watches[-1])

    yield open_one
    assert [fault for watch in watches for fault in watch.faults] == []
