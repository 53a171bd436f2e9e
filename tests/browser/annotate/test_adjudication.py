"""Two people differ, the coordinator opens the round, somebody decides: all in windows of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.formats.annotation_log import read_only
from tests.annotate.experiment import desk
from tests.annotate.office import PAIRS, furnished
from tests.browser.annotate.cards import answers, label, says
from tests.browser.annotate.conftest import Coordinate, OpenCard
from tests.browser.annotate.serving import Coordinated
from tests.browser.pages import AXE, nothing
from tests.browser.test_axe import LOOK

if TYPE_CHECKING:
    from playwright.sync_api import Page

FITS = "document.documentElement.scrollWidth <= innerWidth"


def press(page: Page, keys: dict[str, str], key: str = "1") -> None:
    """Press the key of the card that is shown, and wait for the next."""
    item = page.locator("#card").get_attribute("data-id") or ""
    page.keyboard.press(keys.get(item, key))
    page.locator(f'#card:not([data-id="{item}"])').wait_for()


def both_label(served: Coordinated, open_card: OpenCard, ben: dict[str, str]) -> None:
    """Let both label all in turns, card by card: anna says SVC, ben says it but for some."""
    pages = {who: open_card(served.address(who)) for who in ("anna", "ben")}
    for _ in PAIRS:
        for who, page in pages.items():
            press(page, ben if who == "ben" else {})
    for page in pages.values():
        says(page, "All is done", "#rest")


@pytest.fixture
def served(tmp_path: Path, coordinate: Coordinate) -> Coordinated:
    return coordinate(furnished(tmp_path).work())


def ids(served: Coordinated) -> list[str]:
    with read_only(served.work.database) as log:
        return [row["id"] for row in log.execute("SELECT id FROM items ORDER BY shown")]


def test_a_third_person(served: Coordinated, open_card: OpenCard) -> None:
    whole = open_card(served.coordinator, ready="#people")
    says(whole, "None so far.", "#disagreements")
    item = ids(served)[0]
    both_label(served, open_card, {item: "3"})
    says(whole, "1 item with different labels", "#disagreements")  # it follows by itself
    says(whole, "1 item is answered by all who are asked, with different labels", "#ready")
    told = whole.locator("#disagreements .said li").all_inner_texts()
    assert told == ["anna: SVC", "ben: free"]
    whole.locator("#name").fill("carla")
    whole.get_by_role("button", name="Open the round").click()
    says(whole, "1 item is new in the round.", "#opened")
    says(whole, "waits for carla", "#rounds")
    link = whole.locator("#rounds a").get_attribute("href") or ""
    assert link == served.address("carla", "adjudication").partition("?")[0]
    third = open_card(link)
    cells = third.locator("#first tbody tr").all_inner_texts()
    assert [row.split("\t")[:2] for row in cells] == [["anna", "SVC"], ["ben", "free"]]
    label(third, [item], "2")
    says(third, "All is done", "#rest")
    says(whole, "1 of 1 resolved, 0 open.", "#rounds")
    assert whole.locator("#rounds tbody tr td:last-child").inner_text() == "figurative"
    told = whole.locator("#disagreements .said li").all_inner_texts()
    assert told == ["anna: SVC", "ben: free"]  # the first labels stay
    assert answers(served.log())[-1] == (item, "figurative")
    assert [row["annotator"] for row in served.log()].count("carla") == 1


def test_those_who_disagree(served: Coordinated, open_card: OpenCard) -> None:
    both = ids(served)[:2]
    both_label(served, open_card, dict.fromkeys(both, "2"))
    whole = open_card(served.coordinator, ready="#people")
    whole.get_by_label("to those who disagree").check()
    whole.get_by_role("button", name="Open the round").click()
    says(whole, "2 items are new in the round.", "#opened")
    whole.locator("#rounds a").first.wait_for()
    links = [each.get_attribute("href") or "" for each in whole.locator("#rounds a").all()]
    assert links == [served.address(who, "adjudication") for who in ("anna", "ben")]
    anna = open_card(links[0])
    for _ in both:
        press(anna, {}, "3")
    says(anna, "All is done", "#rest")
    says(whole, "waits for ben", "#rounds")
    ben = open_card(links[1])
    press(ben, {}, "3")
    press(ben, {}, "1")
    says(ben, "All is done", "#rest")
    says(whole, "1 of 2 resolved, 1 open.", "#rounds")
    says(whole, "still differs: give it to a third person", "#rounds")
    whole.locator("#name").fill("Carla")
    whole.get_by_role("button", name="Open the round").click()
    says(whole, "1 item is new in the round.", "#opened")


def test_a_name_that_annotates_is_refused(served: Coordinated, open_card: OpenCard) -> None:
    both_label(served, open_card, {ids(served)[0]: "3"})
    whole = open_card(served.coordinator, ready="#people")
    whole.locator("#name").fill(" ANNA")
    whole.keyboard.press("Enter")
    says(whole, "Nothing was opened: anna annotates, and is no third person", "#opened")
    says(whole, "The round has not been opened.", "#rounds")


def looked_at(page: Page) -> None:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    nothing(page.evaluate(LOOK))


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_serious_violation(served: Coordinated, open_card: OpenCard, dark: bool) -> None:
    empty = open_card(served.coordinator, dark=dark, ready="#people")
    looked_at(empty)
    both_label(served, open_card, {ids(served)[0]: "3"})
    whole = open_card(served.coordinator, dark=dark, ready="#people")
    whole.locator("#name").fill("carla")
    whole.get_by_role("button", name="Open the round").click()
    says(whole, "waits for carla", "#rounds")
    looked_at(whole)


@pytest.fixture
def sure(tmp_path: Path, coordinate: Coordinate) -> Coordinated:
    """An experiment with questions, half of it judged."""
    made = desk(tmp_path)
    made.judge_all(40)
    return coordinate(made.work)


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_serious_violation_with_limits(
    sure: Coordinated, open_card: OpenCard, dark: bool
) -> None:
    page = open_card(sure.coordinator, dark=dark, ready="#certainty table")
    looked_at(page)


def test_no_sideways_scrolling_on_a_phone(
    served: Coordinated, sure: Coordinated, open_card: OpenCard
) -> None:
    both_label(served, open_card, {ids(served)[0]: "3"})
    page = open_card(served.coordinator, width=375, height=740, finger=True, ready="#people")
    page.locator("#name").fill("carla")
    page.get_by_role("button", name="Open the round").tap()
    page.locator("#rounds table").wait_for()
    assert page.evaluate(FITS)
    page = open_card(sure.coordinator, width=375, finger=True, ready="#certainty table")
    assert page.evaluate(FITS)
