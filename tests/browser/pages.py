"""What tests ask of a page: that it is settled, printed, pointed at.

A figure that a script draws stands in a place with the attribute `data-figure`; once it is drawn, the
place holds an element of the class `marks`, which Vega gives to what it draws. All else is found by
what every page has: `figure`, `.chart`, `table`, `h1`.
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
"""A phone, a tablet, a screen, in pixels."""
A4 = (794, 1123)
"""Width and height of a page of paper, in CSS pixels."""
MARGIN = 57
"""15 mm."""
AXE = Path(os.environ.get("LEXASSAY_AXE") or "axe.min.js").resolve()
"""The script of axe-core, which `make browser` installs where npm is."""
PATIENCE_PAGES = 120_000
"""Milliseconds that anything may take on a machine that does much else."""


class Open(Protocol):
    """Opens a report in a window of its own, and waits until it is settled."""

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
    """Return the figures with a chart that can be seen."""
    return page.locator("figure:has(.chart):visible").all()


def caption(figure: Locator) -> str:
    """Return the beginning of a figure's caption, to name it."""
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
"""A window that is painted no more gives no frame, so that each wait for one ends after a second."""


def marks_at(figure: Locator) -> list[tuple[float, float]]:
    """Return where marks of a figure stand in the window: twenty at most, all over the figure."""
    figure.scroll_into_view_if_needed()
    points: list[tuple[float, float]] = figure.evaluate(_POINTS)
    return points


def tooltip(page: Page, *, patience: int = 0) -> str:
    """Return what the tooltip says that is shown now or within some milliseconds, or nothing."""
    text: str = page.evaluate(_TOOLTIP, patience)
    return text


def answer(page: Page, figure: Locator, *, finger: bool = False) -> str:
    """Point at the marks of a figure until a tooltip is shown; return what it says.

    A second time it waits at each mark: on a busy machine two frames may not be enough.
    """
    for patience in (0, 500):
        page.mouse.move(0, 0)
        for x, y in marks_at(figure):
            if finger:
                page.touchscreen.tap(x, y)
            else:
                page.mouse.move(x, y)
            if said := tooltip(page, patience=patience):
                return said
    return ""


def nothing(faults: list[Any]) -> None:
    """Fail, and name all faults, if there are any."""
    assert not faults, f"{len(faults)} faults\n" + "\n".join(str(each) for each in faults[:40])


def evaluate_list(page: Page, question: str, *given: Any) -> list[Any]:
    """Return what a function of the page's document finds, as a list."""
    answers: list[Any] = page.evaluate(question, *given)
    return answers


# When a page is settled: all its figures are drawn, as for a reader who scrolls through it.

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
"""Draws figure after figure as a reader would who scrolls; tells one that never came, how many frames
were painted, and whether they had stopped. A busy machine may paint no frame for half a minute, so
nothing here waits for one for ever, nor for fonts, which come with a frame; a step of a pixel asks for
one."""
_STILL = 45_000
"""Milliseconds without a frame after which a window is given up: it learns nothing of what is in view."""


class NothingPaintedSettling(Exception):
    """The browser has stopped painting this window, though asked to: the page is not to blame."""


def settled_settling(page: Page, *, patience: int = PATIENCE_PAGES, still: int = _STILL) -> None:
    """Wait until all figures that can be seen are drawn; then go back to the top of the page.

    Raises
    ------
    NothingPainted
        If the window has not been painted for `still` milliseconds, or its clock stands still.
    AssertionError
        If it is painted, and a figure has not come in `patience` milliseconds.
    """
    page.evaluate(_SETTLE, [patience, still])
    most = patience + 2 * still
    end = time.monotonic() + most / 1000
    while (found := _settle_result(page)) is None:
        if time.monotonic() > end:
            raise NothingPaintedSettling(f"no answer in {most} milliseconds")
        page.wait_for_timeout(20)
    if found["stopped"]:
        raise NothingPaintedSettling(
            f"{found['missing']}: no frame after the first {found['painted']}"
        )
    assert found["missing"] == "", f"this figure was not drawn in {found['painted']} frames"


def _settle_result(page: Page) -> dict[str, Any] | None:
    found: dict[str, Any] | None = page.evaluate("() => window.settling")
    return found


# Windows in which tests open reports: one of its own for a test, or one that many tests read.


UNFOLD = (
    """() => document.querySelectorAll("details.stage").forEach((each) => { each.open = true; })"""
)
"""Opens the sections of a report, which are folded under its overview."""


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
            return self._open_window(self._chromium, name, **how)
        except NothingPaintedSettling:
            return self._open_window(self._another(), name, **how)

    def keep(self, name: str, *, width: int = WIDTHS_PAGES[-1], **how: Any) -> Watch:
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
                settled_settling(page)
        except BaseException:
            context.close()
            raise
        return watch


def page_of(watch: Watch) -> Page:
    """Return the one page of a window, at its top."""
    (page,) = watch.context.pages
    page.evaluate("scrollTo(0, 0)")
    return page
