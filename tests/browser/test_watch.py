"""The watch records forbidden acts of a page, and the helpers read a page correctly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.pages import (
    WindowNotPainted,
    answer,
    charts,
    pdf_pages,
    tooltip,
    wait_until_drawn,
)
from tests.browser.watch import Watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FAULTS = {
    "console": "console.warn('careful')",
    "error": "throw new Error('broken')",
    "dialog": "alert('look')",
    "request": "new Image().src = 'https://example.org/a.png'",
}
DRAWN = """<figure><div class="chart" data-figure="a"></div><figcaption>A figure</figcaption></figure>
<div role="tooltip" style="visibility: hidden">42 %</div>
<script>
setTimeout(() => {
  document.querySelector(".chart").innerHTML = `<svg class="marks" width="200" height="100">
    <g class="mark-symbol role-mark"><path d="M50,50h20v20h-20z"></path></g></svg>`;
  const tip = document.querySelector("[role=tooltip]").style;
  document.querySelector("path").addEventListener("mousemove", () => tip.visibility = "STYLE");
}, 300);
</script>"""


@pytest.fixture
def watch(chromium: Browser, tmp_path: Path) -> Iterator[Watch]:
    with chromium.new_context(has_touch=True) as context:
        yield Watch(context, (tmp_path / "page.html").as_uri())


def show(watch: Watch, folder: Path, body: str) -> None:
    (folder / "page.html").write_text(f"<!DOCTYPE html><title>t</title><body>{body}")
    watch.context.new_page().goto(watch.address)


@pytest.mark.parametrize("kind", FAULTS)
def test_faults_are_recorded(watch: Watch, tmp_path: Path, kind: str) -> None:
    show(watch, tmp_path, f"<script>{FAULTS[kind]}</script>")
    assert [fault.partition(":")[0] for fault in watch.faults][:1] == [kind]


def test_a_request_for_a_file_beside_the_page_is_a_fault(watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "beside.css").write_text("body { color: red }")
    show(watch, tmp_path, '<link rel="stylesheet" href="beside.css"><p>a')
    assert watch.faults[0] == f"request: {(tmp_path / 'beside.css').as_uri()}"


def test_a_correct_page_has_no_faults(watch: Watch, tmp_path: Path) -> None:
    show(watch, tmp_path, "<script>console.log(1)</script><img alt='' src='data:,'>")
    assert watch.faults == []


def test_printed_pages_are_counted(watch: Watch, tmp_path: Path) -> None:
    show(watch, tmp_path, "<p style='break-after: page'>a</p>" * 2 + "<p>b")
    assert pdf_pages(watch.context.pages[0]) == 3


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
@pytest.mark.parametrize(("style", "text"), [("visible", "42 %"), ("hidden", "")])
def test_a_figure_is_drawn_and_shows_its_tooltip(
    watch: Watch, tmp_path: Path, style: str, text: str, finger: bool
) -> None:
    show(watch, tmp_path, DRAWN.replace("STYLE", style))
    page = watch.context.pages[0]
    wait_until_drawn(page)
    (figure,) = charts(page)
    assert answer(page, figure, finger=finger) == text


NEVER = '<figure><div data-figure="a">never</div></figure>'
FEW_FRAMES = """<script>
const ask = requestAnimationFrame.bind(window);
let left = 4;
window.requestAnimationFrame = (then) => (left-- > 0 ? ask(then) : 0);
</script>"""
NO_FRAMES = "<script>window.requestAnimationFrame = () => 0;</script>"
CLOCK_STOPS = """<script>
window.setTimeout = () => 0;
window.requestAnimationFrame = () => 0;
</script>"""
NO_FONTS = """<script>
Object.defineProperty(document, "fonts", { value: { ready: new Promise(() => {}) } });
</script>"""


def test_a_figure_that_is_never_drawn_is_a_fault_of_the_page(watch: Watch, tmp_path: Path) -> None:
    show(watch, tmp_path, NEVER)
    with pytest.raises(AssertionError, match="not drawn in"):
        wait_until_drawn(watch.context.pages[0], patience=1000)


@pytest.mark.parametrize(
    ("body", "times", "message"),
    [
        (FEW_FRAMES + NEVER, {"still": 1000}, "a: no frame after the first 4"),
        (CLOCK_STOPS + NEVER, {"patience": 500, "still": 200}, "no answer in 900 milliseconds"),
        (NO_FONTS + "<p>a", {"still": 300}, "fonts: no frame after"),
    ],
    ids=["few frames", "the clock stops", "no fonts"],
)
def test_a_window_that_is_not_painted_is_no_fault_of_the_page(
    watch: Watch, tmp_path: Path, body: str, times: dict[str, int], message: str
) -> None:
    show(watch, tmp_path, body)
    with pytest.raises(WindowNotPainted, match=message):
        wait_until_drawn(watch.context.pages[0], **times)


def test_tooltip_does_not_wait_in_a_window_without_frames(watch: Watch, tmp_path: Path) -> None:
    show(watch, tmp_path, NO_FRAMES + "<p>a")
    assert tooltip(watch.context.pages[0]) == ""
