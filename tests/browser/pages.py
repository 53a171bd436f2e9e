"""What tests ask of a page: that it is settled, printed, pointed at.

A figure that a script draws stands in a place with the attribute `data-figure`; once it is drawn, the
place holds an element of the class `marks`, which Vega gives to what it draws. All else is found by
what every page has: `figure`, `.chart`, `table`, `h1`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, PdfMargins

WIDTHS = (375, 768, 1400)
"""A phone, a tablet, a screen, in pixels."""
A4 = (794, 1123)
"""Width and height of a page of paper, in CSS pixels."""
MARGIN = 57
"""15 mm."""
AXE = Path(os.environ.get("LEXASSAY_AXE") or "axe.min.js").resolve()
"""The script of axe-core, which `make browser` installs where npm is."""
PATIENCE = 240_000
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
  const shown = (each) => each.checkVisibility({visibilityProperty: true, opacityProperty: true});
  const places = "#vg-tooltip-element, .vg-tooltip, [role=tooltip]";
  const said = () => [...document.querySelectorAll(places)].filter(shown)
    .map((each) => each.innerText.trim()).join(" ");
  const end = performance.now() + patience;
  do {
    for (const frame of [1, 2]) await new Promise(requestAnimationFrame);
    if (said()) return said();
  } while (performance.now() < end);
  return "";
}"""


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


def found(page: Page, question: str, *given: Any) -> list[Any]:
    """Return what a function of the page's document finds, as a list."""
    answers: list[Any] = page.evaluate(question, *given)
    return answers
