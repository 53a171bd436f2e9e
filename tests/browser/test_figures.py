"""Every figure: it can be read on a phone, and answers to the mouse and to the finger."""

from __future__ import annotations

import pytest

from tests.browser.pages import Open, answer, caption, charts, found, nothing
from tests.browser.reports import REPORTS

# --- In the light and in the dark, what is written can be read.

every_report = pytest.mark.parametrize("name", REPORTS)
FAINT = """() => {
  const canvas = document.createElement("canvas");
  const brush = canvas.getContext("2d", {willReadFrequently: true});
  const known = new Map();
  const parts = (colour) => {
    if (!known.has(colour)) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = colour;
      brush.fillRect(0, 0, 1, 1);
      known.set(colour, [...brush.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(colour);
  };
  const light = (colour) => {
    const linear = (part) => (part /= 255) <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
    const [red, green, blue] = parts(colour).map(linear);
    return .2126 * red + .7152 * green + .0722 * blue;
  };
  const filled = new Map();
  const shapes = (frame) => {
    if (!filled.has(frame)) {
      const all = [...frame.querySelectorAll(":scope > rect, .background, .mark-rect path")];
      filled.set(frame, all.map((each) => [getComputedStyle(each), each.getBoundingClientRect()])
        .filter(([style]) => style.fill !== "none" && parts(style.fill)[3] * style.fillOpacity > 127)
        .map(([style, box]) => [style.fill, box]).reverse());
    }
    return filled.get(frame);
  };
  const ground = (each) => {
    const frame = each.closest("svg");
    const box = each.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const holds = ([, b]) => b.left <= x && x <= b.right && b.top <= y && y <= b.bottom;
    const behind = frame ? shapes(frame).find(holds) : undefined;
    if (behind) return behind[0];
    for (let up = frame ?? each; up; up = up.parentElement) {
      const colour = getComputedStyle(up).backgroundColor;
      if (parts(colour)[3] > 127) return colour;
    }
    return "white";
  };
  const faint = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const each = walk.currentNode.parentElement;
    const seen = {visibilityProperty: true, opacityProperty: true};
    if (!walk.currentNode.data.trim() || !each.checkVisibility(seen)) continue;
    const style = getComputedStyle(each);
    const ink = each.closest("svg") ? style.fill : style.color;
    const [low, high] = [light(ink), light(ground(each))].sort((a, b) => a - b);
    const large = parseFloat(style.fontSize) >= (style.fontWeight >= 700 ? 18.66 : 24);
    const contrast = (high + .05) / (low + .05);
    if (contrast < (large ? 3 : 4.5))
      faint.set(`${ink} on ${ground(each)}: ${contrast.toFixed(2)}`, walk.currentNode.data.slice(0, 40));
  }
  return [...faint];
}"""
"""Texts that stand out too little from what is behind them: WCAG 2, level AA."""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@every_report
def test_texts_stand_out(read_report: Open, name: str, dark: bool) -> None:
    page = read_report(name, dark=dark)
    nothing(found(page, FAINT))


@every_report
def test_the_page_is_dark_where_that_is_preferred(read_report: Open, name: str) -> None:
    page = read_report(name, dark=True)
    ground = "() => getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number)"
    assert max(found(page, ground)[:3]) < 80


SMALLEST = 9
"""Pixels of the smallest text of a figure."""
every_drawn = pytest.mark.parametrize("name", [name for name in REPORTS if REPORTS[name].drawn])


@every_drawn
def test_texts_can_be_read_on_a_phone(read_report: Open, name: str) -> None:
    page = read_report(name, width=375)
    sizes = """() => {
      const texts = [...document.querySelectorAll(".chart svg text")]
        .filter((text) => text.textContent.trim() && text.checkVisibility({opacityProperty: true}));
      return texts.map((text) => {
        const scale = text.getScreenCTM();
        const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(scale.a, scale.b);
        return [Math.round(size * 10) / 10, text.textContent];
      });
    }"""
    texts = found(page, sizes)
    assert texts
    examples = {size: text for size, text in reversed(texts) if size < SMALLEST}
    nothing([f"{size} px, as {text!r}" for size, text in sorted(examples.items())])


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
@every_drawn
def test_every_figure_answers(open_report: Open, name: str, finger: bool) -> None:
    page = open_report(name, width=375 if finger else 1400, finger=finger)
    figures = charts(page)
    assert figures
    silent = [caption(each) for each in figures if not answer(page, each, finger=finger)]
    nothing(silent)
