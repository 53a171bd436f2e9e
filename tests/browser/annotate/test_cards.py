"""Cards in the browser: adjudication, an unreachable server, keying, access, two windows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.formats.annotation_log import read_only
from tests.annotate.office import PAIRS, build_office, desk
from tests.browser.annotate.conftest import Coordinate, OpenCard, Serve
from tests.browser.annotate.serving import (
    EXAMPLES,
    FORBIDDEN,
    CoordinatorServer,
    Subject,
    answers,
    faults,
    label,
    pairs,
    ready,
    says,
    shows,
    wait_until_saved,
    waits,
)
from tests.browser.pages import WIDTHS_PAGES, evaluate_list, expect_none

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route


FITS = "document.documentElement.scrollWidth <= innerWidth"


def press(page: Page, keys: dict[str, str], key: str = "1") -> None:
    """Press the key of the current card, and wait for the next."""
    page.locator("#card[data-ready]").wait_for()
    item = page.locator("#card").get_attribute("data-id") or ""
    page.keyboard.press(keys.get(item, key))
    page.locator(f'#card:not([data-id="{item}"])').wait_for()


def both_label(served: CoordinatorServer, open_card: OpenCard, ben: dict[str, str]) -> None:
    """Let both people label all cards in turns: SVC, except for ben's keys for some items."""
    pages = {who: open_card(served.address(who)) for who in ("anna", "ben")}
    for _ in PAIRS:
        for who, page in pages.items():
            press(page, ben if who == "ben" else {})
    for page in pages.values():
        says(page, "All done", "#rest")


@pytest.fixture
def served_work(tmp_path: Path, coordinate: Coordinate) -> CoordinatorServer:
    return coordinate(build_office(tmp_path).work())


def ids(served: CoordinatorServer) -> list[str]:
    with read_only(served.work.database) as log:
        return [row["id"] for row in log.execute("SELECT id FROM items ORDER BY shown")]


def test_a_third_person_resolves_a_disagreement(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    whole = open_card(served_work.coordinator, ready="#people")
    says(whole, "None so far.", "#disagreements")
    item = ids(served_work)[0]
    both_label(served_work, open_card, {item: "3"})
    says(whole, "1 item with different answers", "#disagreements")  # the page updates by itself
    says(whole, "Everybody has answered 1 item on which they disagree", "#ready")
    labels = whole.locator("#disagreements .answers > span").all_inner_texts()
    assert labels == ["anna: SVC", "ben: free"]
    whole.locator("#open-round summary").click()
    whole.locator("#name").fill("carla")
    whole.get_by_role("button", name="Open the round").click()
    says(whole, "1 new item in the round.", "#adjudication-message")
    says(whole, "waiting for carla", "#rounds")
    link = whole.locator("#rounds a").get_attribute("href") or ""
    assert link == served_work.address("carla", "adjudication").partition("?")[0]
    third = open_card(link)
    cells = third.locator("#first-answers tbody tr").all_inner_texts()
    assert [row.split("\t")[:2] for row in cells] == [["anna", "SVC"], ["ben", "free"]]
    label(third, [item], "2")
    says(third, "All done", "#rest")
    says(whole, "1 of 1 resolved, 0 open.", "#rounds")
    assert whole.locator("#outcome tbody tr td:last-child").inner_text() == "figurative"
    labels = whole.locator("#disagreements .answers > span").all_inner_texts()
    assert labels == ["anna: SVC", "ben: free"]  # the first labels stay
    assert answers(served_work.log())[-1] == (item, "figurative")
    assert [row["annotator"] for row in served_work.log()].count("carla") == 1


def test_those_who_disagree_can_resolve_it_themselves(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    both = ids(served_work)[:2]
    both_label(served_work, open_card, dict.fromkeys(both, "2"))
    whole = open_card(served_work.coordinator, ready="#people")
    whole.locator("#open-round summary").click()
    whole.get_by_label("to the annotators who disagree").check()
    whole.get_by_role("button", name="Open the round").click()
    says(whole, "2 new items in the round.", "#adjudication-message")
    whole.locator("#rounds a").first.wait_for()
    links = [each.get_attribute("href") or "" for each in whole.locator("#rounds a").all()]
    assert links == [served_work.address(who, "adjudication") for who in ("anna", "ben")]
    anna = open_card(links[0])
    for _ in both:
        press(anna, {}, "3")
    says(anna, "All done", "#rest")
    says(whole, "waiting for ben", "#rounds")
    ben = open_card(links[1])
    press(ben, {}, "3")
    press(ben, {}, "1")
    says(ben, "All done", "#rest")
    says(whole, "1 of 2 resolved, 1 open.", "#rounds")
    says(whole, "still disagree: ask a third person", "#rounds")
    whole.locator("#name").fill("Carla")
    whole.get_by_role("button", name="Open the round").click()
    says(whole, "1 new item in the round.", "#adjudication-message")


def test_an_annotator_is_refused_as_third_person(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    both_label(served_work, open_card, {ids(served_work)[0]: "3"})
    whole = open_card(served_work.coordinator, ready="#people")
    whole.locator("#open-round summary").click()
    whole.locator("#name").fill(" ANNA")
    whole.keyboard.press("Enter")
    says(
        whole,
        "Nothing was opened: anna is an annotator, not a third person",
        "#adjudication-message",
    )
    says(whole, "The round has not been opened.", "#rounds")


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_coordinators_page_has_no_serious_violation(
    served_work: CoordinatorServer, open_card: OpenCard, dark: bool
) -> None:
    empty = open_card(served_work.coordinator, dark=dark, ready="#people")
    expect_none(faults(empty))
    both_label(served_work, open_card, {ids(served_work)[0]: "3"})
    whole = open_card(served_work.coordinator, dark=dark, ready="#people")
    whole.locator("#open-round summary").click()
    whole.locator("#name").fill("carla")
    whole.get_by_role("button", name="Open the round").click()
    says(whole, "waiting for carla", "#rounds")
    expect_none(faults(whole))


@pytest.fixture
def sure(tmp_path: Path, coordinate: Coordinate) -> CoordinatorServer:
    """An experiment with evaluations, half of it judged."""
    work = desk(tmp_path)
    work.judge_all(40)
    return coordinate(work.work)


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_estimates_have_no_serious_violation(
    sure: CoordinatorServer, open_card: OpenCard, dark: bool
) -> None:
    page = open_card(sure.coordinator, dark=dark, ready="#certainty table")
    expect_none(faults(page))


def test_the_coordinators_page_fits_a_phone(
    served_work: CoordinatorServer, sure: CoordinatorServer, open_card: OpenCard
) -> None:
    both_label(served_work, open_card, {ids(served_work)[0]: "3"})
    page = open_card(served_work.coordinator, width=375, height=740, finger=True, ready="#people")
    page.locator("#open-round summary").click()
    page.locator("#name").fill("carla")
    page.get_by_role("button", name="Open the round").tap()
    page.locator("#outcome table").wait_for()
    assert page.evaluate(FITS)
    page = open_card(sure.coordinator, width=375, finger=True, ready="#certainty table")
    assert page.evaluate(FITS)


# The server stops and restarts: no decision is lost or saved twice.

FULL = """IDBObjectStore.prototype.put = () => {
  throw new DOMException("full", "QuotaExceededError"); };"""


def test_decisions_are_sent_when_the_server_is_back(serve: Serve, open_card: OpenCard) -> None:
    items = list(pairs(60))
    served = serve(Subject(pairs(60)))
    page = open_card(served.address())
    label(page, items[:2])
    shows(page, items[2])
    wait_until_saved(page)
    served.stop()
    label(page, items[2:12], "2")
    shows(page, items[12])
    waits(page, 10)
    served.start()
    waits(page, 0)
    label(page, items[12:14], "3")
    shows(page, items[14])
    wait_until_saved(page)
    expected = ["SVC"] * 2 + ["figurative"] * 10 + ["free"] * 2
    assert answers(served.log()) == list(zip(items[:14], expected, strict=True))


def test_unsent_decisions_are_sent_again_automatically(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    shows(page, "p000")
    wait_until_saved(page)
    served.stop()
    label(page, ["p000", "p001"])
    waits(page, 2)
    served.start()
    waits(page, 0)
    assert answers(served.log()) == [("p000", "SVC"), ("p001", "SVC")]


def test_decisions_are_sent_when_the_network_is_back(serve: Serve, open_card: OpenCard) -> None:
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


def test_a_reload_keeps_unsaved_decisions(serve: Serve, open_card: OpenCard) -> None:
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
    expected = [(f"p{number:03}", "SVC") for number in range(3)]
    assert answers(served.log()) == [*expected, ("p003", "figurative")]


def test_leaving_the_page_warns_only_of_unsaved_decisions(
    serve: Serve, open_card: OpenCard
) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.type))
    label(page, ["p000"])
    shows(page, "p001")
    page.reload()
    shows(page, "p001")
    assert dialogs == []
    page.context.set_offline(True)
    label(page, ["p001"])
    waits(page, 1)
    page.context.set_offline(False)
    page.route("**/decisions*", lambda route: route.abort())
    page.reload()
    assert dialogs == ["beforeunload"]


def test_a_decision_is_saved_once_if_the_response_is_lost(
    serve: Serve, open_card: OpenCard
) -> None:
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
    wait_until_saved(page)
    assert json.loads(lost[0])["outcomes"][0]["status"] == "saved"
    assert answers(served.log()) == [("p000", "SVC"), ("p001", "figurative")]


def test_a_server_counts_as_unreachable_after_five_seconds(
    serve: Serve, open_card: OpenCard
) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())

    def hold(route: Route) -> None:
        """Never answer."""

    page.route("**/decisions*", hold)
    label(page, ["p000"])
    shows(page, "p001")
    says(page, "Saving")
    says(page, "no answer within 5 seconds", "#waiting-text")
    waits(page, 1)
    page.unroute("**/decisions*")
    page.get_by_role("button", name="Send now").click()
    waits(page, 0)
    assert answers(served.log()) == [("p000", "SVC")]


def test_undo_and_changes_work_while_offline(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    label(page, ["p000"])
    shows(page, "p001")
    wait_until_saved(page)
    served.stop()
    label(page, ["p001", "p002"])
    ready(page, "p003")
    for item in ("p002", "p001"):
        page.keyboard.press("u")
        ready(page, item)
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
    wait_until_saved(page)
    rows = served.log()
    assert [(row["kind"], row["id"], row["answer"]) for row in rows[3:]] == [
        ("undo", "p002", None), ("undo", "p001", None),
        ("label", "p001", "figurative"), ("label", "p001", "free"),
    ]  # fmt: skip


@pytest.mark.parametrize("before", [FORBIDDEN, FULL], ids=["forbidden", "full"])
def test_cards_work_without_storage_in_the_browser(
    serve: Serve, open_card: OpenCard, before: str
) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address(), before=before)
    label(page, ["p000"])
    shows(page, "p001")
    wait_until_saved(page)
    served.stop()
    label(page, ["p001", "p002"])
    waits(page, 2)
    says(page, "leave this page open", "#waiting-text")
    served.start()
    waits(page, 0)
    assert answers(served.log()) == [(f"p{number:03}", "SVC") for number in range(3)]


def test_the_page_says_when_its_cards_are_used_up_offline(
    serve: Serve, open_card: OpenCard
) -> None:
    served = serve(Subject(pairs(50)))
    page = open_card(served.address())
    items = list(pairs(50))
    shows(page, items[0])
    wait_until_saved(page)
    served.stop()
    label(page, items[:40])
    shows(page, "")
    says(page, "No more cards while the server is unreachable", "#rest")
    waits(page, 40)
    served.start()
    label(page, items[40:])
    says(page, "All done", "#rest")
    assert answers(served.log()) == [(item, "SVC") for item in items]


def test_a_refused_decision_does_not_block_others(serve: Serve, open_card: OpenCard) -> None:
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
    says(page, "1 decision was not accepted", "#waiting-text")
    assert answers(served.log()) == [("p000", "SVC"), ("p002", "SVC")]
    label(page, ["p003"], "2")
    shows(page, "p001")
    says(page, "Not saved: p001 is in the second round. You chose SVC here.", "#trouble-text")
    page.reload()
    shows(page, "p001")
    page.get_by_role("button", name="Leave it unchanged").click()
    page.locator("#trouble").wait_for(state="hidden")


# Seconds between the display of a card and its decision

TURN = """(hidden) => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_seconds_are_not_counted_while_the_tab_is_hidden(serve: Serve, open_card: OpenCard) -> None:
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
    wait_until_saved(page)
    first, second = [row["seconds"] for row in served.log()]
    assert 40 <= first < 300
    assert second == 600


# Keying from print, and adjudication with first labels

LEMMAS = ("gehen", "stehen", "sehen", "drehen")
KEYING = Subject(
    {
        each: {"units": {"lemma": each}, "lexicon_forms": f"{each[:-1]}, {each[:-2]}t"}
        for each in LEMMAS
    },
    kind="keying", labels=(), instructions="ß as printed.",
)  # fmt: skip


def test_forms_are_keyed_with_the_keyboard(serve: Serve, open_card: OpenCard) -> None:
    served = serve(KEYING)
    page = open_card(served.address())
    ready(page, "gehen")
    says(page, "In the lexicon: gehe, geht", "#lexicon")
    says(page, "ß as printed.", "#forms-instructions")
    page.keyboard.type("gehe, gehst, u")
    page.keyboard.press("Enter")
    shows(page, "stehen")
    page.keyboard.type(" , ")
    page.keyboard.press("Enter")
    says(page, "Type the forms, or choose “Not found”.")
    ready(page, "stehen")
    page.keyboard.press("Alt+0")
    ready(page, "sehen")
    page.keyboard.press("Alt+s")
    ready(page, "drehen")
    page.keyboard.type("drehe")
    page.keyboard.press("Alt+u")
    ready(page, "sehen")
    page.keyboard.type("sehe")
    page.keyboard.press("Enter")
    ready(page, "drehen")
    assert page.locator("#forms").input_value() == "drehe"
    page.get_by_role("button", name="Not found").click()
    says(page, "All done", "#rest")
    expected = [("gehen", "gehe, gehst, u"), ("stehen", "-"), ("sehen", "sehe"), ("drehen", "-")]
    assert answers(served.log()) == expected
    page.keyboard.press("Alt+r")
    page.locator("#recent-box .cards button").last.click()
    shows(page, "gehen")
    assert page.locator("#forms").input_value() == "gehe, gehst, u"


def test_pasted_lines_become_forms(serve: Serve, open_card: OpenCard) -> None:
    served = serve(KEYING)
    page = open_card(served.address())
    ready(page, "gehen")
    page.locator("#forms").fill("gehe\ngehst\r\n\ngeht\n")
    page.keyboard.press("Enter")
    shows(page, "stehen")
    wait_until_saved(page)
    assert answers(served.log()) == [("gehen", "gehe, gehst, geht")]


def test_adjudication_shows_first_labels(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(3), annotators=("anna", "bert")))
    for person, key in (("anna", "1"), ("bert", "3")):
        page = open_card(served.address(person))
        shows(page, "p000")
        assert page.locator("#first-answers").is_hidden()
        page.keyboard.press("n")
        page.keyboard.type(f"by {person}")
        page.keyboard.press("Escape")
        label(page, ["p000"], key)
        shows(page, "p001")
    served.ask({"p000": pairs(1)["p000"]}, ("anna",), "adjudication")
    page = open_card(served.address("anna", "adjudication"))
    cells = page.locator("#first-answers tbody tr").all_inner_texts()
    assert [row.split("\t") for row in cells] == [
        ["anna", "SVC", "by anna"], ["bert", "free", "by bert"],
    ]  # fmt: skip
    label(page, ["p000"], "2")
    says(page, "All done", "#rest")
    assert page.locator("#progress-text").text_content() == "1 of 1"
    assert answers(served.log())[-1] == ("p000", "figurative")


# Keyboard, touch, phones, dark mode, screen readers

LONG = {"units": {"l1": "w" * 300, "l2": "في السؤال", "l3": "lang " * 60}, "examples": EXAMPLES}
WIDE = Subject({"a": LONG, **pairs(4)}, labels=("w" * 80, "ein langes Etikett", "free", "x" * 30))
KEYING_WAYS = Subject(
    {"k1": {"units": {"lemma": "gehen"}, "lexicon_forms": "gehe, ging"}, "k2": {"units": {"lemma": "l" * 300}}},
    kind="keying", labels=(), instructions="As printed.",
)  # fmt: skip
SMALL = """() => [...document.querySelectorAll("button, input, textarea")]
  .filter((each) => each.checkVisibility()).map((each) => [each.textContent, each.getBoundingClientRect()])
  .filter(([, {width, height}]) => width < 44 || height < 44).map(([text]) => text)"""
NO_FOCUS = """() => { const each = document.activeElement;
  return each === document.body || getComputedStyle(each).outlineStyle === "none"; }"""


@pytest.mark.parametrize("width", WIDTHS_PAGES)
@pytest.mark.parametrize("subject", [WIDE, KEYING_WAYS], ids=["annotation", "keying"])
def test_cards_do_not_scroll_sideways(
    serve: Serve, open_card: OpenCard, subject: Subject, width: int
) -> None:
    page = open_card(serve(subject).address(), width=width, height=700)
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits)
    for key in ("h", "g", "r", "/"):
        page.keyboard.press("Escape")
        page.keyboard.press(key if subject is WIDE else f"Alt+{key}")
        assert page.locator("dialog[open]").count() == 1
        assert page.evaluate(fits), key
        page.keyboard.press("Escape")


def test_messages_are_in_sight_and_words_whole_on_a_phone(
    serve: Serve, open_card: OpenCard
) -> None:
    units = {"l1": "zur:Verfügung", "l2": "bereitstellen"}
    long = {"units": units, "examples": [" ".join(EXAMPLES * 9)] * 3}
    page = open_card(
        serve(Subject({"p0": long, "p1": long})).address(), width=360, height=640, finger=True
    )
    ready(page, "p0")
    page.get_by_role("button", name="SVC").tap()
    page.get_by_role("button", name="SVC").tap()
    for place, text in (("#refused", "Press again"), ("#message", "Saved: SVC")):
        says(page, text, place)
        box = page.locator(place).bounding_box()
        assert box
        assert box["y"] + box["height"] <= 640
    heights = page.locator(".unit").evaluate_all("(every) => every.map((one) => one.clientHeight)")
    assert max(heights) < 60  # one line each


@pytest.mark.smoke
def test_cards_can_be_labelled_by_touch_alone(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    page = open_card(served.address(), width=375, height=740, finger=True)
    assert evaluate_list(page, SMALL) == []
    page.get_by_role("button", name="1 more example").tap()
    page.get_by_role("button", name="Unsure").tap()
    ready(page, "p000")
    page.get_by_role("button", name="free").tap()
    ready(page, "p001")
    page.get_by_role("button", name="Skip").tap()
    ready(page, "p002")
    page.get_by_role("button", name="Undo").tap()
    ready(page, "p001")
    page.get_by_role("button", name="Note", exact=True).tap()
    page.locator("#note").fill("by finger")
    assert evaluate_list(page, SMALL) == []
    page.get_by_role("button", name="SVC").tap()
    shows(page, "p002")
    page.get_by_role("button", name="Recent").tap()
    assert evaluate_list(page, SMALL) == []
    page.locator("#recent-box .cards button").last.tap()
    shows(page, "p000")
    wait_until_saved(page)
    rows = [row for row in served.log() if row["kind"] == "label"]
    labels = [(row["id"], row["answer"], row["unsure"], row["note"]) for row in rows]
    assert labels == [("p000", "free", 1, ""), ("p001", "SVC", 0, "by finger")]


def test_labels_are_visible_on_a_phone(serve: Serve, open_card: OpenCard) -> None:
    long = {"units": {"l1": "in Frage", "l2": "stellen"}, "examples": ["lang " * 300] * 3}
    page = open_card(serve(Subject({"a": long})).address(), width=375, height=740)
    visible = "(each) => { const {top, bottom} = each.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }"
    for button in page.locator(".label").all():
        assert button.evaluate(visible)


BROKEN = """() => [...document.querySelectorAll(".label .text, #help-box td button")].filter((each) => {
  const range = document.createRange();
  range.selectNodeContents(each);
  return new Set([...range.getClientRects()].map(({top}) => top)).size > 1; }).map((each) => each.textContent)"""


@pytest.mark.parametrize("width", WIDTHS_PAGES)
def test_words_of_labels_are_not_broken(serve: Serve, open_card: OpenCard, width: int) -> None:
    labels = ("SVC", "figurative", "free", "idiom", "other")
    page = open_card(serve(Subject(pairs(1), labels=labels)).address(), width=width)
    page.keyboard.press("h")
    page.locator("#help-box td button").first.wait_for()
    assert evaluate_list(page, BROKEN) == []


def test_cards_can_be_labelled_with_tab_and_enter_alone(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(3)))
    page = open_card(served.address())
    shows(page, "p000")
    for item, text in (("p000", "figurative"), ("p001", "Skip"), ("p002", "free")):
        ready(page, item)
        _tab_to(page, text)
        page.keyboard.press("Enter")
    says(page, "except the cards you set aside", "#rest")
    _tab_to(page, "Show")
    page.keyboard.press("Enter")
    ready(page, "p001")
    _tab_to(page, "SVC")
    page.keyboard.press("Space")
    says(page, "All done", "#rest")
    expected = [("p000", "figurative"), ("p002", "free"), ("p001", "SVC")]
    assert answers(served.log()) == expected


def _tab_to(page: Page, text: str) -> None:
    """Press Tab until a button with this text has the focus, which must always be visible."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            continue  # the focus is on buttons of the browser
        assert not page.evaluate(NO_FOCUS)
        if text in str(page.evaluate("document.activeElement.textContent")):
            return
    raise AssertionError(f"no Tab leads to {text}")


def test_the_page_announces_whether_a_decision_is_saved(serve: Serve, open_card: OpenCard) -> None:
    page = open_card(serve(Subject(pairs(9))).address())
    assert page.locator("#message, #waiting-text").evaluate_all(
        "(all) => all.map((each) => each.getAttribute('role'))"
    ) == ["status", "status"]
    label(page, ["p000"])
    says(page, "Saved: SVC")
    page.context.set_offline(True)
    label(page, ["p001"])
    says(page, "Not saved yet: SVC")
    waits(page, 1)


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_cards_and_dialogs_have_no_serious_violation(
    serve: Serve, open_card: OpenCard, dark: bool
) -> None:
    served = serve(Subject(pairs(9), guidelines={"SVC": "Support verb"}))
    page = open_card(served.address(), dark=dark)
    label(page, ["p000"])
    shows(page, "p001")
    violations = faults(page, "card")
    for key in ("h", "g", "r", "/"):
        page.keyboard.press(key)
        if key == "r":
            page.locator("#recent-box .cards").wait_for()
        violations += faults(page, key)
        page.keyboard.press("Escape")
    page.context.set_offline(True)
    label(page, ["p001"])
    waits(page, 1)
    page.keyboard.press("n")
    page.keyboard.type("a note")
    violations += faults(page, "away")
    expect_none(violations)


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_other_states_of_cards_have_no_serious_violation(
    serve: Serve, open_card: OpenCard, dark: bool
) -> None:
    served = serve(Subject(pairs(2), labels=("a", "b")))
    other = open_card(served.address())
    page = open_card(served.address(), dark=dark)
    label(other, ["p000"])
    shows(other, "p001")
    label(page, ["p000"], "2")
    says(page, "1 decision was not accepted", "#waiting-text")
    label(page, ["p001"], "s")
    says(page, "Decided in another window", "#trouble-text")
    violations = faults(page, "stale")
    label(page, ["p000"], "2")
    says(page, "except the cards you set aside", "#rest")
    violations += faults(page, "aside")
    violations += faults(open_card(serve(KEYING_WAYS).address(), dark=dark), "keying")
    expect_none(violations)


# Two windows of one person


def test_a_stale_decision_reopens_the_card(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    one = open_card(served.address())
    two = open_card(served.address())
    label(one, ["p000"])
    shows(one, "p001")
    label(two, ["p000"], "3")
    says(two, "1 decision was not accepted and returns after this card", "#waiting-text")
    label(two, ["p001"], "2")
    says(two, "Decided in another window: SVC. You chose free here.", "#trouble-text")
    wait_until_saved(two)
    assert answers(served.log()) == [("p000", "SVC"), ("p001", "figurative")]
    label(two, ["p000"], "3")
    shows(two, "p002")
    wait_until_saved(two)
    assert answers(served.log())[2:] == [("p000", "free")]
    assert two.locator("#trouble").is_hidden()


def test_a_stale_decision_can_be_dropped(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    one = open_card(served.address())
    two = open_card(served.address())
    label(one, ["p000", "p001"])
    shows(one, "p002")
    label(two, ["p000"], "3")
    says(two, "1 decision was not accepted", "#waiting-text")
    label(two, ["p001"])
    says(two, "Decided in another window", "#trouble-text")
    two.get_by_role("button", name="Leave it unchanged").click()
    shows(two, "p002")
    assert answers(served.log()) == [("p000", "SVC"), ("p001", "SVC")]


def test_the_same_answer_is_no_conflict(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    one = open_card(served.address())
    two = open_card(served.address())
    label(one, ["p000"])
    shows(one, "p001")
    label(two, ["p000"])
    shows(two, "p001")
    assert two.locator("#trouble").is_hidden()


def test_undo_of_a_refused_decision_changes_nothing_else(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    one = open_card(served.address())
    two = open_card(served.address())
    label(one, ["p000"])
    shows(one, "p001")
    two.context.set_offline(True)
    label(two, ["p000"], "3")
    ready(two, "p001")
    two.keyboard.press("u")
    shows(two, "p000")
    waits(two, 2)
    two.context.set_offline(False)
    waits(two, 0)
    assert [(row["kind"], row["answer"]) for row in served.log()] == [("label", "SVC")]
    label(two, ["p000"], "3")
    says(two, "1 decision was not accepted", "#waiting-text")


def test_two_tabs_share_unsaved_decisions(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    one = open_card(served.address())
    context = one.context
    two = open_card(served.address(), context=context)
    label(two, ["p000"])
    shows(two, "p001")
    wait_until_saved(two)
    context.set_offline(True)
    label(two, ["p001", "p002"])
    waits(two, 2)
    one.bring_to_front()
    waits(one, 2)
    one.keyboard.press("r")
    one.keyboard.press("Escape")
    ready(one, "p000")
    one.keyboard.press("2")
    waits(one, 3)
    waits(two, 3)
    context.set_offline(False)
    says(one, "1 decision was not accepted", "#waiting-text")
    says(two, "1 decision was not accepted", "#waiting-text")
    wait_until_saved(one)
    rows = answers(served.log())
    assert rows == [("p000", "SVC"), ("p001", "SVC"), ("p002", "SVC")]
    one.bring_to_front()
    label(one, ["p003"])
    says(one, "Decided in another window: SVC. You chose figurative here.", "#trouble-text")


def test_a_closed_tab_leaves_unsaved_decisions_to_the_other(
    serve: Serve, open_card: OpenCard
) -> None:
    served = serve(Subject(pairs(9)))
    one = open_card(served.address())
    two = open_card(served.address(), context=one.context)
    one.context.set_offline(True)
    label(one, ["p000", "p001"])
    waits(one, 2)
    one.close()
    waits(two, 2)
    two.context.set_offline(False)
    waits(two, 0)
    assert answers(served.log()) == [("p000", "SVC"), ("p001", "SVC")]


def test_people_in_one_browser_do_not_share_data(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9), annotators=("anna", "bert")))
    anna = open_card(served.address("anna"))
    bert = open_card(served.address("bert"), context=anna.context)
    anna.context.set_offline(True)
    label(anna, ["p000"])
    waits(anna, 1)
    label(bert, ["p000"], "2")
    waits(bert, 1)
    anna.context.set_offline(False)
    waits(anna, 0)
    waits(bert, 0)
    labels = {(row["annotator"], row["answer"]) for row in served.log()}
    assert labels == {("anna", "SVC"), ("bert", "figurative")}
    secret = served.address("anna").rpartition("/")[2]
    storage = anna.evaluate(
        "indexedDB.databases().then((all) => JSON.stringify([all, localStorage]))"
    )
    assert "lexassay:" in storage
    assert secret not in storage
