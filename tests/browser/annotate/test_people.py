"""The coordinator manages people in a menu; long lists have pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.annotate.adjudication import give_to_third
from pipeline.annotate.people import resume, stop
from pipeline.annotate.records import asked_tasks
from pipeline.formats.annotation_log import Decision, append, open_log, read_only
from tests.annotate.office import build_office, desk
from tests.browser.annotate.conftest import Coordinate, OpenCard
from tests.browser.annotate.serving import (
    FORBIDDEN,
    CoordinatorServer,
    faults,
    says,
    shows,
    wait_until_saved,
    waits,
)
from tests.browser.pages import expect_none

if TYPE_CHECKING:
    from playwright.sync_api import Page

FITS = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture
def served_work(tmp_path: Path, coordinate: Coordinate) -> CoordinatorServer:
    return coordinate(build_office(tmp_path).work())


def manage(page: Page, who: str, act: str) -> None:
    """Open the menu of a person and choose an act."""
    if page.locator("#person").is_visible():
        page.get_by_role("button", name="Close", exact=True).click()
    page.locator(f'button[data-person="{who}"]').click()
    page.locator(f'#person-actions [data-act="{act}"]').click()


def expect_text(page: Page, text: str) -> None:
    says(page, text, "#person-message")


def test_a_link_is_shown_and_replaced(served_work: CoordinatorServer, open_card: OpenCard) -> None:
    whole = open_card(served_work.coordinator, ready="#people")
    manage(whole, "anna", "link")
    expect_text(whole, "anyone who has it answers in that name")
    assert whole.locator("#link").input_value() == served_work.address("anna")
    anna = open_card(served_work.address("anna"))
    manage(whole, "anna", "revoke")
    expect_text(whole, "Replace the link of anna?")
    whole.locator('[data-act="no"]').click()
    assert whole.locator("#person-actions").is_visible()
    whole.locator('#person-actions [data-act="revoke"]').click()
    whole.locator('[data-act="yes"]').click()
    expect_text(whole, "The old link of anna no longer works.")
    new = whole.locator("#link").input_value()
    assert new.startswith(f"{served_work.origin}/a/")
    assert new != served_work.address("anna")
    anna.keyboard.press("1")
    says(anna, "the coordinator has replaced it", "body")
    assert served_work.log() == []
    with read_only(served_work.work.database) as log:
        first = next(item for item, who in asked_tasks(log) if who == "anna")
    shows(open_card(new), first)


def test_a_person_is_stopped_and_the_cards_go_to_an_added_one(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    whole = open_card(served_work.coordinator, ready="#people")
    whole.locator("#new-name").fill("carla")
    whole.get_by_role("button", name="Add").click()
    expect_text(whole, "carla is an annotator now.")
    link = whole.locator("#link").input_value()
    manage(whole, "anna", "stop")
    whole.locator('[data-act="yes"]').click()
    expect_text(whole, "Open cards: 3; you can give them to others.")
    says(whole, "anna is finished and has 3 open cards", "#attention")
    manage(whole, "anna", "give")
    assert whole.locator("#recipients").inner_text().split() == ["ben", "carla"]
    whole.get_by_role("button", name="Reassign").click()
    expect_text(whole, "Choose who gets the cards.")
    whole.locator("#recipients").get_by_label("carla").check()
    whole.locator("#cards").fill("2")
    whole.get_by_role("button", name="Reassign").click()
    expect_text(whole, "Give 2 open cards of anna to carla?")
    whole.locator('[data-act="yes"]').click()
    expect_text(whole, "2 open cards of anna are now carla's.")
    says(whole, "anna is finished and has 1 open card:", "#attention")
    whole.keyboard.press("Escape")
    whole.locator('button[data-person="anna"]:focus').wait_for()
    says(open_card(link), "0 of 2", ".progress-row")
    page = open_card(served_work.address("anna"), ready="#finished")
    says(page, "You are finished: thank you", "h1")
    manage(whole, "anna", "resume")
    expect_text(whole, "anna can continue, with the same link.")
    open_card(served_work.address("anna"))


def test_a_person_stopped_during_work_is_informed(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    page = open_card(served_work.address("anna"))
    page.locator("#card[data-ready]").wait_for()
    with open_log(served_work.work.database) as log:
        stop(log, served_work.work, "anna")
    page.keyboard.press("1")
    says(page, "You are finished: thank you", "h1")
    with open_log(served_work.work.database) as log:
        resume(log, served_work.work, "anna")
    assert served_work.log() == []
    page.reload()
    page.locator("#card[data-ready]").wait_for()
    wait_until_saved(page)
    assert [each["annotator"] for each in served_work.log()] == ["anna"]


def test_a_finished_part_names_decisions_that_are_not_saved(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    page = open_card(served_work.address("anna"))
    page.context.set_offline(True)
    for count in (1, 2):
        page.locator("#card[data-ready]").wait_for()
        page.keyboard.press("1")
        waits(page, count)
    with open_log(served_work.work.database) as log:
        stop(log, served_work.work, "anna")
    page.context.set_offline(False)
    says(page, "You are finished: thank you", "h1")
    says(page, "2 decisions are not saved. They stay in this browser.", "#unsaved")
    says(page, "Ask the coordinator to resume your part", "#unsaved")
    assert "You can close this window" not in page.locator("main").inner_text()
    with open_log(served_work.work.database) as log:
        resume(log, served_work.work, "anna")
    page.reload()
    page.locator("#card[data-ready]").wait_for()
    wait_until_saved(page)
    assert len(served_work.log()) == 2
    with open_log(served_work.work.database) as log:
        stop(log, served_work.work, "anna")
    page.reload()
    says(page, "You can close this window", "main")
    assert page.locator("#unsaved").is_hidden()


def test_a_browser_without_storage_keeps_the_page_when_a_part_ends(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    page = open_card(served_work.address("anna"), before=FORBIDDEN)
    page.context.set_offline(True)
    page.locator("#card[data-ready]").wait_for()
    page.keyboard.press("1")
    waits(page, 1)
    with open_log(served_work.work.database) as log:
        stop(log, served_work.work, "anna")
    page.context.set_offline(False)
    says(page, "You are finished", "#waiting-text")
    says(page, "1 decision is not saved yet", "#waiting-text")
    with open_log(served_work.work.database) as log:
        resume(log, served_work.work, "anna")
    page.get_by_role("button", name="Send now").click()
    wait_until_saved(page)
    assert len(served_work.log()) == 1


@pytest.fixture
def many(tmp_path: Path, coordinate: Coordinate) -> CoordinatorServer:
    """Everybody has answered, with 30 disagreements."""
    work = desk(tmp_path, "")
    work.judge_all()
    shared = sorted(set(work.cards("ana")) & set(work.cards("ben")))[:30]
    for each in shared:
        work.judge("ben", [each], "no" if work.truth[each] == "yes" else "yes")
    contents = '{"units": {"l1": "a", "l2": "b"}, "examples": ["ein [[a]] und [[b]]"]}'
    with open_log(work.work.database) as log:
        log.execute("UPDATE items SET shown = ?", (contents,))
    return coordinate(work.work)


def test_live_updates_keep_the_list_page_and_open_details(
    many: CoordinatorServer, open_card: OpenCard
) -> None:
    whole = open_card(many.coordinator, ready="#people")
    count = whole.locator("#disagreements .items > li").count()
    assert count == 10
    whole.get_by_role("link", name="Next").click()
    says(whole, "11 to ", "#disagreements .pages")
    one = whole.locator("#disagreements summary").first
    one.click()
    says(whole, "ein a und b", "#disagreements details[open]")
    with open_log(many.work.database) as log:
        item = next(item for item, who in asked_tasks(log) if who == "ana")
        append(log, [Decision("a-note-of-ana", "ana", item, answer="yes", unsure=True)])
    says(whole, "1 item marked unsure", "#disagreements")
    says(whole, "11 to ", "#disagreements .pages")
    assert whole.locator("#disagreements .items details[open]").count() == 1


def test_a_table_with_the_focus_is_updated_and_keeps_it(
    many: CoordinatorServer, open_card: OpenCard
) -> None:
    whole = open_card(many.coordinator, ready="#people")
    row = whole.locator('#progress tr:has(button[data-person="ana"])')
    before = row.inner_text()
    whole.locator('button[data-person="ana"]').click()
    whole.get_by_role("button", name="Close", exact=True).click()
    whole.locator('button[data-person="ana"]:focus').wait_for()
    with open_log(many.work.database) as log:
        item = next(item for item, who in asked_tasks(log) if who == "ana")
        append(log, [Decision("marked-unsure", "ana", item, answer="yes", unsure=True)])
    says(whole, "1 item marked unsure", "#disagreements")
    assert row.inner_text() != before
    whole.locator('button[data-person="ana"]:focus').wait_for()


def test_a_section_in_use_is_updated_once_it_is_left(
    many: CoordinatorServer, open_card: OpenCard
) -> None:
    whole = open_card(many.coordinator, ready="#people")
    whole.evaluate("document.querySelector('#progress').append(document.createElement('input'))")
    whole.locator("#progress input").fill("typed")
    with open_log(many.work.database) as log:
        item = next(item for item, who in asked_tasks(log) if who == "ana")
        append(log, [Decision("marked-unsure", "ana", item, answer="yes", unsure=True)])
    says(whole, "1 item marked unsure", "#disagreements")
    assert whole.locator("#progress input").input_value() == "typed"
    whole.locator("#progress input").blur()
    whole.locator("#progress input").wait_for(state="detached")


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_menu_has_no_serious_violation(
    many: CoordinatorServer, open_card: OpenCard, dark: bool
) -> None:
    whole = open_card(many.coordinator, dark=dark, ready="#people")
    whole.locator("#disagreements summary").first.click()
    whole.locator('button[data-person="ana"]').click()
    expect_none(faults(whole))


def test_neither_links_nor_controls_are_printed(
    many: CoordinatorServer, open_card: OpenCard
) -> None:
    with open_log(many.work.database) as log:
        give_to_third(log, "eva")
    whole = open_card(many.coordinator, ready="#rounds table")
    secret = whole.locator("#rounds td a").get_attribute("href")
    assert secret
    whole.emulate_media(media="print")
    controls = "button, select, input, progress, .pages a, .contents a"
    assert whole.locator(controls).locator("visible=true").count() == 0
    assert whole.locator(f'a[href="{secret}"]').locator("visible=true").count() == 0
    says(whole, "1 to 10 of 30", "#disagreements")


def test_the_menu_fits_a_phone(many: CoordinatorServer, open_card: OpenCard) -> None:
    whole = open_card(many.coordinator, width=375, height=740, finger=True, ready="#people")
    whole.locator('button[data-person="ana"]').tap()
    whole.locator("#person").wait_for()
    assert whole.evaluate(FITS)
