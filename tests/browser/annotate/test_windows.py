"""Two windows of one person, and what another window has decided."""

from __future__ import annotations

from tests.browser.annotate.cards import answers, label, pairs, says, shows, waits
from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import Subject


def test_stale_opens_the_card_again(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    one = open_card(served.address())
    two = open_card(served.address())
    label(one, ["p000"])
    shows(one, "p001")
    label(two, ["p000"], "3")
    says(two, "Decided in another window: SVC. You chose free here.", "#trouble-text")
    shows(two, "p000")
    assert answers(served.log()) == [("p000", "SVC")]
    two.keyboard.press("3")
    shows(two, "p001")
    assert answers(served.log()) == [("p000", "SVC"), ("p000", "free")]
    assert two.locator("#trouble").is_hidden()


def test_leaving_it_as_it_stands(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    one = open_card(served.address())
    two = open_card(served.address())
    label(one, ["p000", "p001"])
    shows(one, "p002")
    label(two, ["p000"], "3")
    says(two, "Decided in another window", "#trouble-text")
    two.get_by_role("button", name="Leave it as it stands").click()
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


def test_undo_of_what_was_not_taken_reaches_nothing_else(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    one = open_card(served.address())
    two = open_card(served.address())
    label(one, ["p000"])
    shows(one, "p001")
    two.context.set_offline(True)
    label(two, ["p000"], "3")
    shows(two, "p001")
    two.keyboard.press("u")
    shows(two, "p000")
    waits(two, 2)
    two.context.set_offline(False)
    waits(two, 0)
    assert [(row["kind"], row["answer"]) for row in served.log()] == [("label", "SVC")]
    label(two, ["p000"], "3")
    says(two, "Decided in another window: SVC. You chose free here.", "#trouble-text")


def test_two_tabs_share_what_waits(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    one = open_card(served.address())
    context = one.context
    two = open_card(served.address(), context=context)
    label(two, ["p000"])
    shows(two, "p001")
    context.set_offline(True)
    label(two, ["p001", "p002"])
    waits(two, 2)
    one.bring_to_front()
    waits(one, 2)
    one.keyboard.press("r")
    one.keyboard.press("Escape")
    shows(one, "p000")
    one.keyboard.press("2")
    waits(one, 3)
    waits(two, 3)
    context.set_offline(False)
    says(one, "1 decision was not taken", "#waiting-text")
    says(two, "1 decision was not taken", "#waiting-text")
    rows = answers(served.log())
    assert rows == [("p000", "SVC"), ("p001", "SVC"), ("p002", "SVC")]
    one.bring_to_front()
    label(one, ["p003"])
    says(one, "Decided in another window: SVC. You chose figurative here.", "#trouble-text")


def test_a_tab_that_is_closed_leaves_what_waits_to_the_other(
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


def test_people_on_one_browser_share_nothing(serve: Serve, open_card: OpenCard) -> None:
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
    said = {(row["annotator"], row["answer"]) for row in served.log()}
    assert said == {("anna", "SVC"), ("bert", "figurative")}
    secret = served.address("anna").rpartition("/")[2]
    assert secret not in anna.evaluate("JSON.stringify(localStorage)")
