"""Seconds from seeing a card to deciding."""

from __future__ import annotations

from tests.browser.annotate.cards import label, pairs, shows
from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import Subject

TURN = """(hidden) => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_seconds_stand_still_while_the_tab_is_hidden(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    page.clock.install()
    page.reload()
    shows(page, "p000")
    page.clock.fast_forward(20_000)
    page.evaluate(TURN, True)
    page.clock.fast_forward(300_000)
    page.evaluate(TURN, False)
    page.clock.fast_forward(20_000)
    label(page, ["p000"])
    shows(page, "p001")
    page.clock.fast_forward(2_000_000)
    label(page, ["p001"])
    shows(page, "p002")
    first, second = [row["seconds"] for row in served.log()]
    assert 40 <= first < 300
    assert second == 600
