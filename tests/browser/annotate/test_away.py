"""The server goes and comes back, and no decision is lost or saved twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.browser.annotate.cards import answers, label, pairs, says, shows, waits
from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import Subject

if TYPE_CHECKING:
    from playwright.sync_api import Route

FORBIDDEN = """Object.defineProperty(window, "localStorage", {get() {
  throw new DOMException("no", "SecurityError"); }});"""
FULL = """Storage.prototype.setItem = () => {
  throw new DOMException("full", "QuotaExceededError"); };"""


def test_away_and_back(serve: Serve, open_card: OpenCard) -> None:
    items = list(pairs(60))
    served = serve(Subject(pairs(60)))
    page = open_card(served.address())
    label(page, items[:2])
    shows(page, items[2])
    served.stop()
    label(page, items[2:12], "2")
    shows(page, items[12])
    waits(page, 10)
    served.start()
    page.get_by_role("button", name="Send now").click()
    waits(page, 0)
    label(page, items[12:14], "3")
    shows(page, items[14])
    wanted = ["SVC"] * 2 + ["figurative"] * 10 + ["free"] * 2
    assert answers(served.log()) == list(zip(items[:14], wanted, strict=True))


def test_it_sends_again_by_itself(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    shows(page, "p000")
    served.stop()
    label(page, ["p000", "p001"])
    waits(page, 2)
    served.start()
    waits(page, 0)
    assert answers(served.log()) == [("p000", "SVC"), ("p001", "SVC")]


def test_the_network_comes_back(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    shows(page, "p000")
    page.context.set_offline(True)
    label(page, ["p000", "p001"])
    waits(page, 2)
    assert served.log() == []
    page.context.set_offline(False)
    waits(page, 0)
    assert answers(served.log()) == [("p000", "SVC"), ("p001", "SVC")]


def test_a_reload_loses_nothing(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    posts = "**/decisions*"
    page.route(posts, lambda route: route.fulfill(status=503, json={"error": "disk full"}))
    label(page, ["p000", "p001", "p002"])
    waits(page, 3)
    says(page, "disk full", "#waiting-text")
    page.reload()
    waits(page, 3)
    shows(page, "p003")
    label(page, ["p003"], "2")
    waits(page, 4)
    assert served.log() == []
    page.unroute(posts)
    page.reload()
    shows(page, "p004")
    waits(page, 0)
    wanted = [(f"p{number:03}", "SVC") for number in range(3)]
    assert answers(served.log()) == [*wanted, ("p003", "figurative")]


def test_leaving_warns_only_while_something_waits(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    asked: list[str] = []
    page.on("dialog", lambda dialog: asked.append(dialog.type))
    label(page, ["p000"])
    shows(page, "p001")
    page.reload()
    shows(page, "p001")
    assert asked == []
    page.context.set_offline(True)
    label(page, ["p001"])
    waits(page, 1)
    page.context.set_offline(False)
    page.route("**/decisions*", lambda route: route.abort())
    page.reload()
    assert asked == ["beforeunload"]


def test_an_answer_that_is_lost_is_not_saved_twice(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    lost: list[str] = []

    def lose(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch().text())
        route.abort()

    page.route("**/decisions*", lose)
    label(page, ["p000"])
    shows(page, "p001")
    waits(page, 0)
    label(page, ["p001"], "2")
    shows(page, "p002")
    assert json.loads(lost[0])["outcomes"][0]["status"] == "saved"
    assert answers(served.log()) == [("p000", "SVC"), ("p001", "figurative")]


def test_a_server_that_hangs_is_away_after_five_seconds(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())

    def hold(route: Route) -> None:
        """Never answer."""

    page.route("**/decisions*", hold)
    label(page, ["p000"])
    says(page, "Saving")
    shows(page, "p001")
    says(page, "did not answer in 5 seconds", "#waiting-text")
    waits(page, 1)
    page.unroute("**/decisions*")
    page.get_by_role("button", name="Send now").click()
    waits(page, 0)
    assert answers(served.log()) == [("p000", "SVC")]


def test_undo_and_change_while_away(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    label(page, ["p000"])
    shows(page, "p001")
    served.stop()
    label(page, ["p001", "p002"])
    shows(page, "p003")
    for item in ("p002", "p001"):
        page.keyboard.press("u")
        shows(page, item)
    label(page, ["p001"], "2")
    shows(page, "p002")
    waits(page, 5)
    page.keyboard.press("r")
    page.locator("#recent-box .cards button").first.click()
    label(page, ["p001"], "3")
    shows(page, "p002")
    served.start()
    waits(page, 0)
    page.reload()
    shows(page, "p002")
    rows = served.log()
    assert [(row["kind"], row["id"], row["answer"]) for row in rows[3:]] == [
        ("undo", "p002", None), ("undo", "p001", None),
        ("label", "p001", "figurative"), ("label", "p001", "free"),
    ]  # fmt: skip


@pytest.mark.parametrize("before", [FORBIDDEN, FULL], ids=["forbidden", "full"])
def test_a_browser_that_keeps_nothing(serve: Serve, open_card: OpenCard, before: str) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address(), before=before)
    label(page, ["p000"])
    shows(page, "p001")
    served.stop()
    label(page, ["p001", "p002"])
    waits(page, 2)
    says(page, "leave this page open", "#waiting-text")
    served.start()
    waits(page, 0)
    assert answers(served.log()) == [(f"p{number:03}", "SVC") for number in range(3)]


def test_all_cards_are_used_up(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(50)))
    page = open_card(served.address())
    items = list(pairs(50))
    shows(page, items[0])
    served.stop()
    label(page, items[:40])
    shows(page, "")
    says(page, "No more cards while the server is away", "#rest")
    waits(page, 40)
    served.start()
    label(page, items[40:])
    says(page, "All is done", "#rest")
    assert answers(served.log()) == [(item, "SVC") for item in items]


def test_one_refused_decision_holds_up_no_other(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())

    def refuse(route: Route) -> None:
        if '"id":"p001"' in (route.request.post_data or ""):
            route.fulfill(status=409, json={"error": "p001 is in the second round"})
        else:
            route.continue_()

    shows(page, "p000")
    page.context.set_offline(True)
    label(page, ["p000", "p001", "p002"])
    waits(page, 3)
    page.route("**/decisions*", refuse)
    page.context.set_offline(False)
    says(page, "1 decision was not taken", "#waiting-text")
    assert answers(served.log()) == [("p000", "SVC"), ("p002", "SVC")]
    label(page, ["p003"], "2")
    shows(page, "p001")
    says(page, "Not saved: p001 is in the second round. You chose SVC here.", "#trouble-text")
    page.reload()
    shows(page, "p001")
    page.get_by_role("button", name="Leave it as it stands").click()
    page.locator("#trouble").wait_for(state="hidden")
