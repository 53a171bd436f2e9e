"""Training, hidden gold items and repeated cards, as annotators and the coordinator see them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.annotate.exchange.transfer import Suggestion, show_suggestions, store_suggestions
from pipeline.annotate.quality import (
    GoldItem,
    add_gold,
    add_training,
    repeat_cards,
    set_pass_mark,
)
from pipeline.annotate.web.languages import LANGUAGES
from pipeline.formats.annotation_log import open_log
from tests.annotate.office import desk
from tests.browser.annotate.conftest import Coordinate, OpenCard, Serve
from tests.browser.annotate.serving import (
    CoordinatorServer,
    Subject,
    faults,
    label,
    pairs,
    ready,
    says,
    shows,
    wait_until_saved,
)
from tests.browser.pages import expect_none

if TYPE_CHECKING:
    pass

GOLD = [GoldItem({"l1": f"gold{n}", "l2": "b"}, "yes", f"why {n}") for n in range(2)]
TRAINING = [GoldItem({"l1": f"train{n}", "l2": "b"}, "yes", f"because {n}") for n in range(2)]


@pytest.fixture
def served_work(tmp_path: Path, coordinate: Coordinate) -> CoordinatorServer:
    """All cards of the sample are answered; gold items and repeated cards are open."""
    work = desk(tmp_path, "")
    work.judge_all()
    assert add_gold(work.work, GOLD) == (2, 0)
    assert repeat_cards(work.work, 0.08) > 2
    return coordinate(work.work)


def open_cards(served: CoordinatorServer, who: str) -> dict[str, str]:
    """Return the open checks of a person by id, with their kinds."""
    with open_log(served.work.database) as log:
        rows = log.execute(
            "SELECT id, kind FROM tasks JOIN checks USING (id) WHERE annotator = ? AND answered = 0"
            " AND round = 'check'", (who,),
        )  # fmt: skip
        return {row["id"]: row["kind"] for row in rows}


SHAPE = """() => [...document.querySelectorAll("#card, #card *")].map((each) =>
  `${each.tagName}.${each.className}[${each.getAttributeNames().sort()}]`)"""


def test_quality_checks_look_like_other_cards(serve: Serve, open_card: OpenCard) -> None:
    subject = serve(Subject(pairs(24)))
    work = subject.work
    examples = tuple(pairs(1)["p000"]["examples"])
    add_gold(work, [GoldItem({"l1": "in:gold", "l2": "stellen"}, "SVC", "why", examples)])
    assert repeat_cards(work, 0.4) > 2
    page = open_card(subject.address())
    shapes: dict[bool, set[str]] = {True: set(), False: set()}
    for _ in range(40):
        card = page.locator('#card[data-ready], #card[data-id=""]')
        card.wait_for()
        item = card.get_attribute("data-id")
        if not item:
            break
        shapes[item.startswith("p")].add("\n".join(page.evaluate(SHAPE)))
        page.keyboard.press("1")
        page.locator(f'#card:not([data-id="{item}"])').wait_for()
    assert shapes[True] == shapes[False] != set()


def test_the_coordinator_sees_answers_to_quality_checks(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    whole = open_card(served_work.coordinator, ready="#people")
    kinds = open_cards(served_work, "ana")
    page = open_card(served_work.address("ana"))
    wrong = next(item for item, kind in kinds.items() if kind == "gold")
    for _ in kinds:
        card = page.locator("#card[data-ready]")
        card.wait_for()
        item = card.get_attribute("data-id") or ""
        page.keyboard.press("2" if item == wrong else "1")
        page.locator(f'#card:not([data-id="{item}"])').wait_for()
    wait_until_saved(page)
    repeats = sum(kind == "repeat" for kind in kinds.values())
    row = whole.locator("#quality tbody tr").filter(has_text="ana")
    row.filter(has_text="1 of 2").filter(has_text=f"of {repeats} (").wait_for()


def test_the_coordinator_excuses_a_person_who_failed_training(
    served_work: CoordinatorServer, open_card: OpenCard
) -> None:
    add_training(served_work.work, TRAINING)
    set_pass_mark(served_work.work, 1.0)
    page = open_card(served_work.address("ben"))
    for key in ("1", "2"):
        page.locator("#card[data-ready]").wait_for()
        page.keyboard.press(key)
        page.get_by_role("button", name="Continue").click()
    says(page, "the pass mark is 100%", "#rest")
    whole = open_card(served_work.coordinator, ready="#quality table")
    says(whole, "not passed: 1 right, attempt 1", "#quality")
    whole.locator('button[data-person="ben"]').click()
    whole.locator('#person-actions [data-act="excuse"]').click()
    says(whole, "passed: 1 right", "#quality")
    page.reload()
    page.locator("#card[data-ready]").wait_for()
    assert page.locator("#card").get_attribute("data-id") in open_cards(served_work, "ben")


# Languages: only data is the same on two pages.

TEXTS = """() => {
  const texts = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const skipped = "script, style, noscript, #language, bdi, kbd, .unit, .examples, time";
  while (walk.nextNode()) {
    if (!walk.currentNode.parentElement.closest(skipped)) texts.push(walk.currentNode.data);
  }
  for (const each of document.querySelectorAll("[aria-label], [title], [placeholder]")) {
    if (each.closest(".unit, .examples, #language")) continue;
    texts.push(...["aria-label", "title", "placeholder"].map((name) => each.getAttribute(name)));
  }
  return texts.filter(Boolean).map((text) => text.replace(/\\s+/g, " ").trim())
    .filter((text) => /\\p{L}{3}/u.test(text) && !/^[\\d: -]+ UTC$/.test(text));
}"""


@pytest.mark.parametrize("code", [each for each in LANGUAGES if each != "en"])
def test_every_text_changes_with_the_chosen_language(
    served_work: CoordinatorServer, open_card: OpenCard, code: str
) -> None:
    for address, place in (
        (served_work.coordinator, "#people"),
        (served_work.address("ana"), "#card"),
    ):
        page = open_card(address, ready=place)
        english = set(page.evaluate(TEXTS))
        page.locator("#language").select_option(code)
        page.locator(f'html[lang="{code}"]').wait_for(state="attached")
        page.locator(place).first.wait_for()
        same = english & set(page.evaluate(TEXTS)) - {served_work.work.title}
        assert same <= SAME[code], same - SAME[code]


SAME = {"de": {"Labels", "Link", "Name"}, "fr": {"Actions", "Note", "Quartiles"}, "es": set[str]()}
"""Words that a language shares with English."""


# Accessibility


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_training_and_suggestions_have_no_serious_violation(
    serve: Serve, open_card: OpenCard, dark: bool
) -> None:
    subject = serve(Subject(pairs(9), language="ar"))
    subject.train(["SVC", "free"], mark=0.9)
    with open_log(subject.work.database) as log:
        store_suggestions(log, [Suggestion("p000", "SVC", 0.9, "model")])
        show_suggestions(log, visible=True)
    page = open_card(subject.address(), dark=dark)
    violations = faults(page, "training")
    for key in ("1", "1"):
        page.locator("#card[data-ready]").wait_for()
        page.keyboard.press(key)
        violations += faults(page, "feedback")
        page.get_by_role("button", name="Continue").click()
    says(page, "the pass mark is 90%", "#rest")
    violations += faults(page, "failed")
    page.get_by_role("button", name="Try again").click()
    for key in ("1", "3"):
        page.locator("#card[data-ready]").wait_for()
        page.keyboard.press(key)
        page.get_by_role("button", name="Continue").click()
    violations += faults(page, "passed")
    page.get_by_role("button", name="Begin").click()
    ready(page, "p000")
    violations += faults(page, "suggestion")
    label(page, ["p000"])
    shows(page, "p001")
    expect_none(violations)


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_table_of_quality_has_no_serious_violation(
    served_work: CoordinatorServer, open_card: OpenCard, dark: bool
) -> None:
    add_training(served_work.work, TRAINING)
    whole = open_card(served_work.coordinator, dark=dark, ready="#quality table")
    expect_none(faults(whole, "quality"))
