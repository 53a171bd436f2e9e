"""The coordinator decides conflicts in a browser: one by one, by annotator, by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.annotate.sync import hand_to_sheets
from pipeline.formats.annotation_log import Decision
from tests.annotate.office import Office, build_office, decisions_of
from tests.browser.annotate.conftest import Coordinate, OpenCard
from tests.browser.annotate.serving import CoordinatorServer, faults, says
from tests.browser.pages import expect_none

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Sheet and page of anna differ in all three pairs, those of ben in one."""
    office = build_office(tmp_path)
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids, "anna", "SSS"), *decisions_of(ids, "ben", "SSS"))
    hand_to_sheets(work)
    office.label("anna", dict.fromkeys(ids, "free"))
    office.label("ben", {ids[0]: "free"})
    office.decide(work, *decisions_of(ids, "anna", "fff", start=10))
    office.decide(work, *decisions_of(ids[:1], "ben", "f", start=10))
    return office


@pytest.fixture
def served_work(office: Office, coordinate: Coordinate) -> CoordinatorServer:
    return coordinate(office.work())


def conflict_count(page: Page) -> int:
    return page.locator(".conflicts > li").count()


def test_conflicts_are_decided_one_by_one_and_by_annotator(
    served_work: CoordinatorServer, office: Office, open_card: OpenCard
) -> None:
    page = open_card(served_work.coordinator, ready=".conflicts")
    assert conflict_count(page) == 4
    page.get_by_role("button", name="Keep the sheet's answer").first.click()
    says(page, "Kept 1 answer from anna's sheets.", "#conflicts-message")
    says(page, "3 answers changed in a sheet and on the page", "#conflict-list")
    assert conflict_count(page) == 3
    assert page.evaluate("document.activeElement.id") == "conflicts-message"
    page.wait_for_timeout(500)  # an immediate second click is ignored
    page.get_by_role("button", name="Keep all answers of anna's page").click()
    says(page, "Kept 2 answers from anna's page.", "#conflicts-message")
    says(page, "1 answer changed in a sheet and on the page", "#conflict-list")
    assert page.get_by_role("button", name="Keep all").count() == 0
    office.label("ben", {office.ids(served_work.work)[0]: "figurative"})
    says(page, "None: sheets and pages agree.", "#conflict-list")  # the page has updated
    kinds = [row["kind"] for row in served_work.log() if row["key"].startswith("coordinator")]
    assert kinds == ["import", "seen", "seen"]


def test_a_double_click_decides_one_conflict(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    page = open_card(served_work.coordinator, ready=".conflicts")
    page.get_by_role("button", name="Keep the page's answer").first.dblclick()
    says(page, "Kept 1 answer from anna's page.", "#conflicts-message")
    page.wait_for_timeout(300)
    assert conflict_count(page) == 3


def test_conflicts_are_decided_by_keyboard(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    page = open_card(served_work.coordinator, ready=".conflicts")
    button = page.get_by_role("button", name="Keep the page's answer").first
    button.focus()
    page.keyboard.press("Enter")
    says(page, "Kept 1 answer from anna's page.", "#conflicts-message")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Keep all answers of anna's sheets"


def test_a_conflict_that_changed_meanwhile_is_not_decided(
    served_work: CoordinatorServer, office: Office, open_card: OpenCard
) -> None:
    page = open_card(served_work.coordinator, ready=".conflicts")
    page.get_by_role(
        "button", name="Keep the page's answer"
    ).first.focus()  # the section does not update while it has the focus
    ids = office.ids(served_work.work)
    office.decide(
        served_work.work, *(Decision(f"late-{each}", "anna", each, answer="SVC") for each in ids)
    )
    page.keyboard.press("Enter")
    says(
        page,
        "Nothing was kept: an answer has changed meanwhile. Look at the list again.",
        "#conflicts-message",
    )
    assert not [row for row in served_work.log() if row["key"].startswith("coordinator")]


def test_an_unreachable_server_is_reported(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    page = open_card(served_work.coordinator, ready=".conflicts")
    served_work.stop()
    page.get_by_role("button", name="Keep the page's answer").first.click()
    says(page, "The server does not respond, and nothing may have been kept.", "#conflicts-message")
    served_work.start()
    page.wait_for_timeout(500)
    page.get_by_role("button", name="Keep the page's answer").first.click()
    says(page, "Kept 1 answer from anna's page.", "#conflicts-message")


@pytest.mark.parametrize(("width", "finger"), [(1400, False), (768, False), (375, True)])
def test_both_answers_of_a_conflict_are_in_sight(
    served_work: CoordinatorServer, open_card: OpenCard, width: int, finger: bool
) -> None:
    page = open_card(served_work.coordinator, width=width, finger=finger, ready=".conflicts")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#conflicts .scroll").count() == 0
    first = page.locator(".conflicts > li").first.bounding_box()
    assert first
    assert first["height"] < 200
    least = 44 if finger else 24
    boxes = [each.bounding_box() for each in page.locator("#conflicts button").all()]
    assert all(box and box["height"] >= least for box in boxes)


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_conflicts_have_no_serious_violation(
    served_work: CoordinatorServer, open_card: OpenCard, dark: bool
) -> None:
    page = open_card(served_work.coordinator, dark=dark, ready=".conflicts")
    expect_none(faults(page))
