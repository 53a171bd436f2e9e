"""When a page is settled: all its figures are drawn, as for a reader who scrolls through it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tests.browser.pages import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Page

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


class NothingPainted(Exception):
    """The browser has stopped painting this window, though asked to: the page is not to blame."""


def settled(page: Page, *, patience: int = PATIENCE, still: int = _STILL) -> None:
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
    while (found := _found(page)) is None:
        if time.monotonic() > end:
            raise NothingPainted(f"no answer in {most} milliseconds")
        page.wait_for_timeout(20)
    if found["stopped"]:
        raise NothingPainted(f"{found['missing']}: no frame after the first {found['painted']}")
    assert found["missing"] == "", f"this figure was not drawn in {found['painted']} frames"


def _found(page: Page) -> dict[str, Any] | None:
    found: dict[str, Any] | None = page.evaluate("() => window.settling")
    return found
