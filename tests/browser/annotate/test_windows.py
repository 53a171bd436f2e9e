"""Two windows of one person: no decision replaces or undoes one that the person has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import (
    Subject,
    SubjectServer,
    answers,
    label,
    label_in_both,
    open_answer,
    pairs,
    ready,
    says,
    shows,
    wait_until_saved,
    waits,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page


def kinds(served: SubjectServer) -> list[tuple[str, str, str]]:
    return [(row["kind"], row["id"], row["answer"]) for row in served.log()]


def label_in_two_windows_offline(one: Page, two: Page) -> None:
    """Label the first card differently in two windows of a browser without network."""
    one.context.set_offline(True)
    for page, key in ((one, "1"), (two, "3")):
        page.bring_to_front()
        label(page, ["p000"], key)
        shows(page, "p001")
    waits(one, 2)
    waits(two, 2)


def test_a_decision_of_another_window_is_not_replaced_offline(
    serve: Serve, open_card: OpenCard
) -> None:
    served = serve(Subject(pairs(4)))
    one = open_card(served.address())
    two = open_card(served.address(), context=one.context)
    label_in_two_windows_offline(one, two)
    one.context.set_offline(False)
    says(two, "1 decision was not accepted", "#waiting-text")
    assert answers(served.log()) == [("p000", "SVC")]
    label(two, ["p001"])
    says(two, "Decided in another window: SVC. You chose free here.", "#trouble-text")
    label(two, ["p000"], "3")
    shows(two, "p002")
    wait_until_saved(two)
    assert answers(served.log())[-1] == ("p000", "free")


def test_undo_offline_means_the_decision_of_its_window(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    one = open_card(served.address())
    two = open_card(served.address(), context=one.context)
    label_in_two_windows_offline(one, two)
    one.bring_to_front()
    ready(one, "p001")
    one.keyboard.press("u")
    says(one, "Undone: SVC")
    one.context.set_offline(False)
    says(two, "1 decision was not accepted", "#waiting-text")
    wait_until_saved(two)
    assert kinds(served) == [("label", "p000", "SVC"), ("undo", "p000", None)]


def test_a_window_that_sends_for_another_has_not_shown_its_decisions(
    serve: Serve, open_card: OpenCard
) -> None:
    served = serve(Subject(pairs(4)))
    one = open_card(served.address())
    two = open_card(served.address(), context=one.context)
    ready(two, "p000")
    one.context.set_offline(True)
    one.bring_to_front()
    label(one, ["p000"])
    waits(two, 1)
    one.close()
    two.context.set_offline(False)
    waits(two, 0)
    label(two, ["p000"], "3")
    says(two, "1 decision was not accepted", "#waiting-text")
    assert answers(served.log()) == [("p000", "SVC")]


def test_a_decision_that_a_list_has_shown_can_be_replaced_offline(
    serve: Serve, open_card: OpenCard
) -> None:
    served = serve(Subject(pairs(4)))
    one = open_card(served.address())
    two = open_card(served.address(), context=one.context)
    one.context.set_offline(True)
    one.bring_to_front()
    label(one, ["p000"])
    waits(two, 1)
    two.bring_to_front()
    open_answer(two, "p000")
    says(two, "Your answer: SVC", "#current-answer")
    ready(two, "p000")
    two.keyboard.press("3")
    waits(two, 2)
    two.context.set_offline(False)
    wait_until_saved(two)
    assert answers(served.log()) == [("p000", "SVC"), ("p000", "free")]


def test_undo_of_a_rejected_decision_drops_it(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    one = open_card(served.address())
    label(one, ["p000"])
    ready(one, "p001")
    wait_until_saved(one)
    two = open_card(served.address())
    ready(two, "p001")
    for page in (one, two):
        open_answer(page, "p000")
    label(two, ["p000"], "3")
    shows(two, "p001")
    wait_until_saved(two)
    label(one, ["p000"], "2")
    says(one, "1 decision was not accepted", "#waiting-text")
    ready(one, "p001")
    one.keyboard.press("u")
    says(one, "Undone: figurative")
    says(one, "Your answer: free", "#current-answer")
    one.locator("#waiting").wait_for(state="hidden")
    assert answers(served.log()) == [("p000", "SVC"), ("p000", "free")]
    assert len(served.log()) == 2


def test_undo_does_not_mean_a_decision_that_was_dropped(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    one = open_card(served.address())
    two = open_card(served.address())
    label(two, ["p000"], "3")
    shows(two, "p001")
    wait_until_saved(two)
    label(one, ["p000"], "2")
    says(one, "1 decision was not accepted", "#waiting-text")
    label(one, ["p001"])
    says(one, "You chose figurative here", "#trouble-text")
    one.get_by_role("button", name="Leave it unchanged").click()
    for item in ("p002", "p001"):
        ready(one, item)
        one.keyboard.press("u")
    shows(one, "p000")  # the decision before, which the other window made
    assert one.locator("#message").inner_text() == "Undone"
    wait_until_saved(one)
    assert kinds(served)[:3] == [
        ("label", "p000", "free"), ("label", "p001", "SVC"), ("undo", "p001", None),
    ]  # fmt: skip


def test_a_rejected_last_decision_returns(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(1)))
    one = open_card(served.address())
    two = open_card(served.address())
    label(one, ["p000"])
    says(one, "All done", "#rest")
    label(two, ["p000"], "3")
    says(two, "Decided in another window: SVC. You chose free here.", "#trouble-text")
    assert two.locator("#rest").is_hidden()
    two.get_by_role("button", name="Leave it unchanged").click()
    says(two, "All done", "#rest")


def test_a_rejected_last_decision_returns_in_an_empty_page(
    serve: Serve, open_card: OpenCard
) -> None:
    served = serve(Subject(pairs(1)))
    one = open_card(served.address())
    two = open_card(served.address())
    two.context.set_offline(True)
    label(two, ["p000"], "3")
    says(two, "No more cards", "#rest")
    label(one, ["p000"])
    says(one, "All done", "#rest")
    two.context.set_offline(False)
    says(two, "Decided in another window: SVC. You chose free here.", "#trouble-text")


def test_an_answer_that_adjudicators_have_seen_returns(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(1), annotators=("anna", "ben")))
    served.answer_all("ben", "free")
    page = open_card(served.address())
    label(page, ["p000"])
    says(page, "All done", "#rest")
    text = page.locator("#rest").inner_text()
    assert "change answers that no adjudicator has seen" in text
    served.ask({"p000": pairs(1)["p000"]}, ("ben",), "adjudication")
    open_answer(page, "p000")
    page.keyboard.press("2")
    says(page, "adjudicators have seen them", "#trouble-text")
    page.get_by_role("button", name="Leave it unchanged").click()
    says(page, "All done", "#rest")


def test_a_rejected_card_is_shown_with_the_progress(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(3)))
    one = open_card(served.address())
    two = open_card(served.address())
    label_in_both(one, two)
    two.reload()
    says(two, "You chose free here", "#trouble-text")
    says(two, "1 of 3", "#progress-text")
