"""Windows in which tests open reports: one of its own for a test, or one that many tests read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browser.pages import PATIENCE, WIDTHS
from tests.browser.settling import NothingPainted, settled
from tests.browser.watch import Watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


class Windows:
    """Opens reports in windows, each with a watch on what its page does.

    Parameters
    ----------
    chromium : playwright Browser
        The browser of all windows.
    another : callable
        Starts one more, for a window that the first one does not paint.
    report_page : callable
        From the name of a report to its page.
    """

    def __init__(
        self, chromium: Browser, another: Callable[[], Browser], report_page: Callable[[str], Path]
    ) -> None:
        self._chromium = chromium
        self._another = another
        self._report_page = report_page
        self._kept: dict[tuple[str, int, tuple[tuple[str, Any], ...]], Watch] = {}

    def open(self, name: str, **how: Any) -> Watch:
        """Open a report in a window of its own, and wait until it is settled; see `Open`."""
        try:
            return self._opened(self._chromium, name, **how)
        except NothingPainted:
            return self._opened(self._another(), name, **how)

    def keep(self, name: str, *, width: int = WIDTHS[-1], **how: Any) -> Watch:
        """Open a report, or return the window that has it open; those of other reports are closed."""
        key = (name, width, tuple(sorted(how.items())))
        if key not in self._kept:
            self.close(but=name)
            self._kept[key] = self.open(name, width=width, **how)
        return self._kept[key]

    def close(self, *, but: str = "") -> None:
        """Close the windows that are kept, but those of one report."""
        for key in [key for key in self._kept if key[0] != but]:
            self._kept.pop(key).context.close()

    def _opened(
        self, browser: Browser, name: str, *, width: int = WIDTHS[-1], height: int = 900,
        dark: bool = False, scripts: bool = True, finger: bool = False,
    ) -> Watch:  # fmt: skip
        address = self._report_page(name).as_uri()
        context = browser.new_context(
            viewport={"width": width, "height": height}, java_script_enabled=scripts,
            color_scheme="dark" if dark else "light", has_touch=finger,
        )  # fmt: skip
        context.set_default_timeout(PATIENCE)
        watch = Watch(context, address)
        try:
            page = context.new_page()
            page.goto(address)
            if scripts:
                settled(page)
        except BaseException:
            context.close()
            raise
        return watch


def page_of(watch: Watch) -> Page:
    """Return the one page of a window, at its top."""
    (page,) = watch.context.pages
    page.evaluate("scrollTo(0, 0)")
    return page
