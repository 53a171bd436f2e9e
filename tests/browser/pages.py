"""Helpers for pages of reports: wait until they are drawn, print them, point at figures.

A figure that a script draws has an element with the attribute `data-figure`. Once the figure is
drawn, this element contains one of the class `marks`, which Vega creates. Other elements are found
by names that every page has: `figure`, `.chart`, `table`, `h1`.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tests.browser.watch import Watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, PdfMargins


WIDTHS_PAGES = (375, 768, 1400)
"""Widths of a phone, a tablet and a screen in pixels."""
A4 = (794, 1123)
"""Width and height of a sheet of paper in CSS pixels."""
MARGIN = 57
"""15 mm in CSS pixels."""
AXE = Path(os.environ.get("LEXASSAY_AXE") or "axe.min.js").resolve()
"""The script of axe-core, which `make browser` installs with npm."""
PATIENCE_PAGES = 120_000
"""Milliseconds that any step may take on a busy machine."""


class Open(Protocol):
    """Opens a report in a new window, and waits until it is drawn."""

    def __call__(
        self,
        name: str,
        *,
        width: int = 1400,
        height: int = 900,
        dark: bool = False,
        scripts: bool = True,
        finger: bool = False,
        unfold: bool = True,
    ) -> Page:
        """Return the page."""


def pdf_pages(page: Page) -> int:
    """Print a page to A4, and count the pages."""
    edge = f"{MARGIN}px"
    margin: PdfMargins = {"top": edge, "right": edge, "bottom": edge, "left": edge}
    content = page.pdf(format="A4", margin=margin, print_background=True)
    return len(re.findall(rb"/Type\s*/Page\b", content))


def charts(page: Page) -> list[Locator]:
    """Return the visible figures with a chart."""
    return page.locator("figure:has(.chart):visible").all()


def caption(figure: Locator) -> str:
    """Return the beginning of a figure's caption, which identifies it."""
    return (figure.locator("figcaption, .caption").first.text_content() or "")[:60].strip()


_POINTS = """(figure) => {
  const inside = (x, y) => figure.contains(document.elementFromPoint(x, y));
  const middle = (shape) => {
    if (!shape.closest(".mark-line, .mark-trail")) {
      const box = shape.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    }
    const half = shape.getPointAtLength(shape.getTotalLength() / 2);
    const at = half.matrixTransform(shape.getScreenCTM());
    return [at.x, at.y];
  };
  const shapes = [...figure.querySelectorAll(".marks .role-mark :is(path, line, rect, text)")];
  const points = shapes.map(middle).filter(([x, y]) => inside(x, y));
  const step = Math.max(1, Math.ceil(points.length / 20));
  return points.filter((_, number) => number % step === 0);
}"""
_TOOLTIP = """async (patience) => {
  const wait = (time) => new Promise((resolve) => setTimeout(resolve, time));
  const shown = (each) => each.checkVisibility({visibilityProperty: true, opacityProperty: true});
  const places = "#vg-tooltip-element, .vg-tooltip, [role=tooltip]";
  const said = () => [...document.querySelectorAll(places)].filter(shown)
    .map((each) => each.innerText.trim()).join(" ");
  const end = performance.now() + patience;
  do {
    for (const frame of [1, 2]) await Promise.race([new Promise(requestAnimationFrame), wait(1000)]);
    if (said()) return said();
  } while (performance.now() < end);
  return "";
}"""
"""A window that is not painted gives no frames; each wait for a frame ends after a second."""


def marks_at(figure: Locator) -> list[tuple[float, float]]:
    """Return positions of marks in the window: at most twenty, spread over the figure."""
    figure.scroll_into_view_if_needed()
    points: list[tuple[float, float]] = figure.evaluate(_POINTS)
    return points


def tooltip(page: Page, *, patience: int = 0) -> str:
    """Return the text of a tooltip that is visible now or within some milliseconds, or ""."""
    text: str = page.evaluate(_TOOLTIP, patience)
    return text


def answer(page: Page, figure: Locator, *, finger: bool = False) -> str:
    """Point at the marks of a figure until a tooltip is shown, and return its text.

    The second pass waits at each mark, since two frames may not be enough on a busy machine.
    """
    for patience in (0, 500):
        page.mouse.move(0, 0)
        for x, y in marks_at(figure):
            if finger:
                page.touchscreen.tap(x, y)
            else:
                page.mouse.move(x, y)
            if text := tooltip(page, patience=patience):
                return text
    return ""


def expect_none(faults: list[Any]) -> None:
    """Fail and list the faults, if there are any."""
    assert not faults, f"{len(faults)} faults\n" + "\n".join(str(each) for each in faults[:40])


def evaluate_list(page: Page, question: str, *values: Any) -> list[Any]:
    """Return the result of a function in the page as a list."""
    answers: list[Any] = page.evaluate(question, *values)
    return answers


# A page is ready once all its figures are drawn, as for a reader who scrolls through it.

_SETTLE = """([patience, still]) => {
  const wait = (time) => new Promise((resolve) => setTimeout(resolve, time));
  const started = performance.now();
  let painted = 0, last = started, asked;
  const ask = () => { asked = requestAnimationFrame(count); };
  const count = () => { painted += 1; last = performance.now(); ask(); };
  const draw = async (place) => {
    place.scrollIntoView({ block: "center", behavior: "instant" });
    for (let turn = 1; !place.querySelector(".marks"); turn++) {
      const now = performance.now(), missing = place.dataset.figure;
      if (now - last > still) return { painted, missing, stopped: true };
      if (now - started > patience) return { painted, missing, stopped: false };
      if (turn % 50 === 0) scrollBy(0, turn % 100 ? 1 : -1);
      await wait(20);
    }
  };
  const settle = async () => {
    ask();
    for (const place of document.querySelectorAll("[data-figure]")) {
      const fault = place.checkVisibility() && await draw(place);
      if (fault) return fault;
    }
    cancelAnimationFrame(asked);  // or the window would be painted for as long as it is open
    scrollTo(0, 0);
    const late = wait(still).then(() => "late");
    if (await Promise.race([document.fonts.ready, late]) === "late")
      return { painted, missing: "fonts", stopped: true };
    await Promise.race([new Promise(requestAnimationFrame), wait(1000)]);
    await wait(20);
    return { painted, missing: "", stopped: false };
  };
  window.settling = null;
  settle().then((found) => { window.settling = found; });
}"""
"""Scrolls to one figure after the other; returns a figure that was not drawn, the number of painted
frames, and whether painting has stopped. A busy machine may paint no frame for half a minute, so no
wait for a frame, or for fonts, which need one, is unlimited. A scroll by a pixel requests one."""
_STILL = 45_000
"""Milliseconds without a frame after which a window is abandoned."""


class WindowNotPainted(Exception):
    """The browser does not paint this window any more, which is no fault of the page."""


def wait_until_drawn(page: Page, *, patience: int = PATIENCE_PAGES, still: int = _STILL) -> None:
    """Wait until all visible figures are drawn; then scroll to the top of the page.

    Raises
    ------
    WindowNotPainted
        If the window has not been painted for `still` milliseconds, or its clock has stopped.
    AssertionError
        If it is painted, but a figure is missing after `patience` milliseconds.
    """
    page.evaluate(_SETTLE, [patience, still])
    most = patience + 2 * still
    end = time.monotonic() + most / 1000
    while (result := _settle_result(page)) is None:
        if time.monotonic() > end:
            raise WindowNotPainted(f"no answer in {most} milliseconds")
        page.wait_for_timeout(20)
    if result["stopped"]:
        raise WindowNotPainted(f"{result['missing']}: no frame after the first {result['painted']}")
    assert result["missing"] == "", f"this figure was not drawn in {result['painted']} frames"


def _settle_result(page: Page) -> dict[str, Any] | None:
    result: dict[str, Any] | None = page.evaluate("() => window.settling")
    return result


# Windows for reports: one for a single test, or one that many tests read.


UNFOLD = (
    """() => document.querySelectorAll("details.stage").forEach((each) => { each.open = true; })"""
)
"""Opens the sections of a report, which are collapsed below its overview."""


class Windows:
    """Opens reports in windows, each with a watch on its page.

    Parameters
    ----------
    chromium : playwright Browser
        The browser of all windows.
    another : callable
        Starts another browser, for a window that the first one does not paint.
    report_page : callable
        A function from the name of a report to its page.
    """

    def __init__(
        self, chromium: Browser, another: Callable[[], Browser], report_page: Callable[[str], Path]
    ) -> None:
        self._chromium = chromium
        self._another = another
        self._report_page = report_page
        self._kept: dict[tuple[str, int, tuple[tuple[str, Any], ...]], Watch] = {}

    def open(self, name: str, **how: Any) -> Watch:
        """Open a report in a new window, and wait until it is drawn; see `Open`."""
        try:
            return self._open_window(self._chromium, name, **how)
        except WindowNotPainted:
            return self._open_window(self._another(), name, **how)

    def keep(self, name: str, *, width: int = WIDTHS_PAGES[-1], **how: Any) -> Watch:
        """Return the window of a report, opened if necessary; close those of other reports."""
        key = (name, width, tuple(sorted(how.items())))
        if key not in self._kept:
            self.close(but=name)
            self._kept[key] = self.open(name, width=width, **how)
        return self._kept[key]

    def close(self, *, but: str = "") -> None:
        """Close the shared windows except those of one report."""
        for key in [key for key in self._kept if key[0] != but]:
            self._kept.pop(key).context.close()

    def _open_window(
        self, browser: Browser, name: str, *, width: int = WIDTHS_PAGES[-1], height: int = 900,
        dark: bool = False, scripts: bool = True, finger: bool = False, unfold: bool = True,
    ) -> Watch:  # fmt: skip
        address = self._report_page(name).as_uri()
        context = browser.new_context(
            viewport={"width": width, "height": height}, java_script_enabled=scripts,
            color_scheme="dark" if dark else "light", has_touch=finger,
        )  # fmt: skip
        context.set_default_timeout(PATIENCE_PAGES)
        watch = Watch(context, address)
        try:
            page = context.new_page()
            page.goto(address)
            if unfold:
                page.evaluate(UNFOLD)
            if scripts:
                wait_until_drawn(page)
        except BaseException:
            context.close()
            raise
        return watch


def page_of(watch: Watch) -> Page:
    """Return the single page of a window, scrolled to its top."""
    (page,) = watch.context.pages
    page.evaluate("scrollTo(0, 0)")
    return page
