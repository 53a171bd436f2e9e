"""Requests of the page of cards: each person's own data, saved once, with valid labels only."""

from __future__ import annotations

import json
import logging
import re
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.annotate import people
from pipeline.annotate import records as writing
from pipeline.annotate.auth import Person
from pipeline.annotate.exchange.transfer import Suggestion, show_suggestions, store_suggestions
from pipeline.annotate.people import decisions_with_suggestion
from pipeline.annotate.tasks import SheetWork
from pipeline.annotate.web import annotator as reading
from pipeline.formats.annotation_log import (
    TaskRequest,
    connect,
    open_log,
    update_tasks,
    write_setting,
)
from tests.annotate.served import HERE, ServedWork, act, ask, entries, items, label, say, work_in

HOSTILE = "</script><script>alert(1)</script>\u2028\"'&<!--\u202e"


@pytest.fixture
def work(tmp_path: Path) -> SheetWork:
    work = work_in(tmp_path)
    ask(work, "ana", "ben")
    return work


@pytest.fixture
def served_work(work: SheetWork) -> Iterator[ServedWork]:
    with ServedWork(work) as served:
        yield served


def work_of(text: str) -> Any:
    """Return the data of the work that is embedded in a page."""
    scripts = re.findall(
        r'<script type="application/json" id="work">(.*?)</script>', text, re.DOTALL
    )
    assert len(scripts) == 1
    return json.loads(scripts[0])


def ids(served: ServedWork, who: str = "ana", query: str = "") -> list[str]:
    return [each["id"] for each in served.get(who, f"/cards{query}").json()["cards"]]


def test_the_page_holds_the_data_of_the_work(served_work: ServedWork) -> None:
    work = work_of(served_work.get("ana").text)
    assert re.fullmatch("[0-9a-f]{24}", work.pop("store"))
    assert work == {
        "kind": "annotation", "title": "Verbs", "person": "ana", "round": "annotation",
        "instructions": "Look closely.", "address": served_work.at("ana"), "categories": {}, "language": "",
        "labels": [
            {"label": "SVC", "key": "1", "letter": "s", "guideline": "a support verb"},
            {"label": "figurative", "key": "2", "letter": None, "guideline": ""},
            {"label": "free", "key": "3", "letter": None, "guideline": ""},
        ],
    }  # fmt: skip
    assert work_of(served_work.get("ana", "?round=adjudication").text)["round"] == "adjudication"


def test_hostile_texts_are_not_interpreted(tmp_path: Path) -> None:
    contents = {
        HOSTILE: {"units": {"l1": HOSTILE, "l10": "c", "l2": "b"}, "examples": [HOSTILE] * 2}
    }
    labels = (HOSTILE, *(f"label {n}" for n in range(10)))
    work = work_in(tmp_path, labels=labels, annotators=(HOSTILE,), title=HOSTILE,
                   instructions=HOSTILE, guidelines={HOSTILE: HOSTILE})  # fmt: skip
    ask(work, HOSTILE, contents=contents)
    with ServedWork(work, {"categories": {HOSTILE: [HOSTILE]}}) as served:
        page = served.get(HOSTILE)
        block = page.text.partition('id="work"')[2].partition("</script>")[0]
        assert not re.findall(r"<script>|<!--|[\u2028\u2029]", block)
        work_data = work_of(page.text)
        assert work_data["labels"][0] == {
            "label": HOSTILE,
            "key": "1",
            "letter": None,
            "guideline": HOSTILE,
        }
        assert [each["key"] for each in work_data["labels"]] == [*"123456789", "", ""]
        assert (work_data["title"], work_data["person"], work_data["instructions"]) == (
            HOSTILE,
        ) * 3
        assert work_data["categories"] == {HOSTILE: [HOSTILE]}
        (card,) = served.get(HOSTILE, "/cards").json()["cards"]
        assert card["units"] == [["l1", HOSTILE], ["l2", "b"], ["l10", "c"]]
        assert card["examples"] == [HOSTILE] * 2
        assert served.get(HOSTILE, "/cards").headers["content-type"] == "application/json"
        assert served.statuses(HOSTILE, label(HOSTILE, HOSTILE)) == ["saved"]


def test_suggestions_are_sent_only_if_switched_on(work: SheetWork, served_work: ServedWork) -> None:
    with open_log(work.database) as log:
        store_suggestions(log, [Suggestion("x0", "free")])
        assert "suggestion" not in served_work.get("ana", "/cards").json()["cards"][0]
        show_suggestions(log, visible=True)
        cards = served_work.get("ana", "/cards?most=2").json()["cards"]
        assert [each["suggestion"] for each in cards] == ["free", None]
        assert served_work.get("ana", "/cards/x0").json()["card"]["suggestion"] == "free"
        assert served_work.statuses("ana", label("x0", "free", suggested="free")) == ["saved"]
        tasks = [TaskRequest("ana", "x0", 1)]
        update_tasks(log, {}, tasks, round_name="adjudication")
        (card,) = served_work.get("ana", "/cards?round=adjudication").json()["cards"]
        assert "suggestion" not in card
        again = label("x0", "SVC", suggested="free")
        assert served_work.post("ana", again, query="?round=adjudication").is_success
        assert decisions_with_suggestion(log) == (1, 1)


def test_cards_are_listed_until_they_are_decided(served_work: ServedWork) -> None:
    page = served_work.get("ana", "/cards?most=2").json()
    assert page["progress"] == {"asked": 5, "done": 0, "unsure": 0, "aside": 0}
    assert page["cards"][0] == {
        "id": "x0", "place": 1, "units": [["l1", "left0"], ["l2", "right0"]],
        "examples": ["[[left0]] …"], "lexicon_forms": None, "keyed_forms": None,
        "answer": None, "unsure": False, "note": "", "version": 0,
    }  # fmt: skip
    assert len(page["cards"]) == 2
    first = label("x0", unsure=True, note="hm")
    answer = served_work.post("ana", first, act("skip", "x1"), label("x2", "free")).json()
    assert answer["progress"] == {"asked": 5, "done": 2, "unsure": 1, "aside": 1}
    assert answer["outcomes"][0] == {
        "key": first["key"], "status": "saved", "entry": 1, "id": "x0",
        "standing": {"answer": "SVC", "unsure": True, "note": "hm", "version": 1},
    }  # fmt: skip
    assert ids(served_work) == ["x3", "x4", "x1"]
    assert ids(served_work, "ben") == ["x0", "x1", "x2", "x3", "x4"]
    recent = served_work.get("ana", "/recent?most=1").json()["cards"]
    assert [(each["id"], each["answer"]) for each in recent] == [("x2", "free")]
    assert [
        each["id"] for each in served_work.get("ana", "/search?text=LEFT0").json()["cards"]
    ] == ["x0"]
    card = served_work.get("ana", "/cards/x0").json()["card"]
    assert (card["answer"], card["unsure"], card["note"], card["version"]) == ("SVC", True, "hm", 1)


def test_an_undo_restores_the_answer_and_the_progress(served_work: ServedWork) -> None:
    assert (
        served_work.statuses("ana", label("x0", unsure=True), label("x0", "free", replaces=1))
        == ["saved"] * 2
    )
    assert served_work.get("ana", "/cards").json()["progress"]["unsure"] == 0
    back = served_work.post("ana", act("undo")).json()
    assert back["outcomes"][0]["id"] == "x0"
    assert back["outcomes"][0]["standing"]["answer"] == "SVC"
    assert back["progress"]["unsure"] == 1
    assert served_work.statuses("ana", act("undo"), act("undo")) == ["saved", "nothing"]
    assert served_work.get("ana", "/cards").json()["progress"] == {
        "asked": 5,
        "done": 0,
        "unsure": 0,
        "aside": 0,
    }


def test_stale_and_repeated_decisions_are_reported(served_work: ServedWork) -> None:
    first = label("x0")
    assert served_work.statuses("ana", first, first) == ["saved", "repeated"]
    assert served_work.statuses("ana", first) == ["repeated"]
    late = served_work.post("ana", label("x0", "free")).json()["outcomes"][0]
    assert (late["status"], late["standing"]) == (
        "stale", {"answer": "SVC", "unsure": False, "note": "", "version": 1},
    )  # fmt: skip
    assert entries(served_work.work) == ["SVC"]


def test_an_unknown_secret_gets_the_same_response_as_no_page(served_work: ServedWork) -> None:
    mine = served_work.at("ana")
    nowhere = served_work.client.get("/nowhere")
    wrong = [mine[:-1], f"{mine}A", mine.replace("/a/", "/c/"), f"{mine}/", f"{mine}/%2e", "/a/%00",
             f"{mine}/nothing", "/a/" + "%C3%A9" * 32, mine.swapcase().replace("/A/", "/a/")]  # fmt: skip
    for path in wrong:
        answer = served_work.client.get(path)
        assert (answer.status_code, answer.content) == (404, nowhere.content), path
        assert dict(answer.headers) == dict(nowhere.headers)
    for path in ("/cards", "/recent", "/search?text=x", "/cards/x0", "/cards?round=no"):
        assert served_work.client.get(f"/a/{'A' * 32}{path}").content == nowhere.content
    post = served_work.client.post(
        f"/a/{'A' * 32}/decisions", json={"decisions": [label("x0")]}, headers={"Origin": HERE}
    )
    assert (post.status_code, post.content) == (404, nowhere.content)
    assert entries(served_work.work) == []


def test_a_person_cannot_read_or_write_answers_of_another(served_work: ServedWork) -> None:
    ask(served_work.work, "ben", contents={**items(), "only": items()["x0"]})
    mine = label("x0", note="of ana")
    assert served_work.statuses("ana", mine) == ["saved"]
    # ben's decision with ana's key is his own and reveals nothing of hers
    his = served_work.post("ben", {**mine, "answer": "free", "note": ""}).json()["outcomes"][0]
    assert (his["status"], his["standing"]["answer"], his["standing"]["note"]) == (
        "saved",
        "free",
        "",
    )
    assert served_work.statuses("ana", label("only")) == ["unknown"]
    assert served_work.get("ana", "/cards/only").status_code == 404
    assert served_work.get("ben", "/search?text=of ana").json()["cards"] == []
    assert served_work.statuses("ben", act("undo"), act("undo")) == ["saved", "nothing"]
    for name in ("annotator", "who", "round", "source", "at"):
        assert served_work.post("ben", label("x1", **{name: "ana"})).status_code == 400
    path = (
        f"{served_work.at('ben')}/cards/../../../{served_work.at('ana').rpartition('/')[2]}/cards"
    )
    assert served_work.client.get(path.replace("..", "%2e%2e")).status_code == 404
    with open_log(served_work.work.database) as log:
        rows = log.execute(
            "SELECT annotator, answer FROM log JOIN tasks USING (task) WHERE kind = 'label'"
        )
        assert [tuple(row) for row in rows] == [("ana", "SVC"), ("ben", "free")]


def test_ids_of_items_may_contain_any_characters(tmp_path: Path) -> None:
    work = work_in(tmp_path)
    names = ["a/b", "../x", "ü ?#%", "a//b/"]
    ask(work, "ana", contents={each: items()["x0"] for each in names})
    with ServedWork(work) as served:
        for name in names:
            quoted = "".join(f"%{byte:02X}" for byte in name.encode())
            assert served.get("ana", f"/cards/{quoted}").json()["card"]["id"] == name
        assert served.statuses("ana", *map(label, names)) == ["saved"] * 4


def test_two_servers_on_one_folder_act_as_one(work: SheetWork) -> None:
    with ServedWork(work) as one, ServedWork(work) as other:
        assert one.at("ana") == other.at("ana")
        first = label("x0")
        assert one.statuses("ana", first) == ["saved"]
        assert other.statuses("ana", first) == ["repeated"]
        assert other.statuses("ana", label("x0", "free")) == ["stale"]
        assert other.statuses("ana", label("x0", "free", replaces=1)) == ["saved"]
        assert one.get("ana", "/cards/x0").json()["card"]["answer"] == "free"
        assert one.statuses("ana", act("undo")) == ["saved"]
        assert ids(one) == ids(other) == ["x1", "x2", "x3", "x4"]
        one.links.renew()
        assert other.client.get(f"/a/{'A' * 32}").status_code == 404
        assert one.at("ana") == other.at("ana")
        assert ids(other) == ["x1", "x2", "x3", "x4"]


def test_a_full_disk_is_reported_with_status_503(
    served_work: ServedWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, **how: bool) -> sqlite3.Connection:
        connection = connect(path, **how)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    decision = label("x0", note="x" * 9_000)
    with monkeypatch.context() as patch:
        patch.setattr(writing, "connect", full)
        answer = served_work.post("ana", decision)
        assert (answer.status_code, answer.json()) == (
            503, {"error": "not saved: database or disk is full"},
        )  # fmt: skip
    assert entries(served_work.work) == []
    served_work.writer._close()
    assert served_work.statuses("ana", decision) == ["saved"]


def test_an_unreadable_log_is_reported_without_its_path(
    served_work: ServedWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "connect", lambda path, **_: connect(path.parent))
    answer = served_work.get("ana", "/cards")
    assert answer.status_code == 503
    assert str(served_work.work.folder) not in answer.text
    monkeypatch.undo()
    assert ids(served_work) == ["x0", "x1", "x2", "x3", "x4"]


def test_fifty_people_at_once_are_saved_in_few_transactions(tmp_path: Path) -> None:
    people = tuple(f"person {n}" for n in range(50))
    work = work_in(tmp_path, annotators=people)
    ask(work, *people)
    answers: dict[str, list[str]] = {}
    with ServedWork(work) as served, open_log(work.database) as other:
        other.execute("BEGIN IMMEDIATE")

        def send(who: str) -> None:
            answers[who] = served.statuses(who, label("x0"), label("x1"), label("x2", "free"))

        threads = [threading.Thread(target=send, args=(who,)) for who in people]
        for each in threads:
            each.start()
        pause = threading.Event()
        while served.writer.waiting < 45:  # the writer may already have the first few
            pause.wait(0.01)
        other.execute("COMMIT")
        for each in threads:
            each.join()
        assert answers == {who: ["saved"] * 3 for who in people}
        assert len(entries(work)) == 150
        assert served.writer.transactions <= 7


def test_adjudication_shows_the_first_answers(served_work: ServedWork) -> None:
    work = served_work.work
    say(work, "ben", "x0", "free", note="no")
    say(work, "ana", "x0", "SVC", unsure=True)
    ask(work, "cleo", "ana", ids=["x0", "x1"], round_name="adjudication")
    first = [
        {"annotator": "ana", "answer": "SVC", "unsure": True, "note": ""},
        {"annotator": "ben", "answer": "free", "unsure": False, "note": "no"},
    ]  # fmt: skip
    cards = served_work.get("ana", "/cards?round=adjudication").json()["cards"]
    assert [(each["id"], each["first"], each["answer"]) for each in cards] == [
        ("x0", first, None), ("x1", [], None),
    ]  # fmt: skip
    assert "first" not in served_work.get("ana", "/cards/x0").json()["card"]
    assert served_work.get("ben", "/cards/x0?round=adjudication").status_code == 404
    assert ids(served_work, "ben", "?round=adjudication") == []
    third = served_work.at("cleo", "adjudicator")
    assert work_of(served_work.client.get(third).text)["round"] == "adjudication"
    page = served_work.client.get(f"{third}/cards").json()
    assert (page["cards"][0]["first"], page["progress"]["asked"]) == (first, 2)
    assert served_work.client.get(f"{third}/cards?round=annotation").status_code == 400
    assert served_work.get("cleo").status_code == 404  # she is no annotator of the first round
    assert served_work.client.get(served_work.at("ben", "adjudicator")).status_code == 404
    answer = served_work.client.post(
        f"{third}/decisions", json={"decisions": [label("x0", "free")]}, headers={"Origin": HERE}
    )
    assert answer.json()["outcomes"][0]["status"] == "saved"
    assert served_work.get("ana", "/cards/x0").json()["card"]["answer"] == "SVC"


def test_a_settled_answer_is_refused_and_the_others_are_saved(served_work: ServedWork) -> None:
    work = served_work.work
    say(work, "ana", "x0", "SVC")
    ask(work, "cleo", ids=["x0"], round_name="adjudication")
    decisions = label("x1"), label("x0", "free", replaces=1), label("x2")
    answer = served_work.post("ana", *decisions)
    assert answer.status_code == 409
    response = answer.json()
    assert "first answers to left0 · right0 can no longer be changed" in response["error"]
    assert response["refused"] == [decisions[1]["key"]]
    assert [each["key"] for each in response["outcomes"]] == [
        decisions[0]["key"],
        decisions[2]["key"],
    ]
    assert entries(work) == ["SVC", "SVC", "SVC"]
    assert served_work.get("ana", "/cards/x0").json()["card"]["answer"] == "SVC"


def test_secrets_do_not_appear_in_log_messages(
    served_work: ServedWork, caplog: pytest.LogCaptureFixture
) -> None:
    mine = served_work.at("ana")
    with caplog.at_level(logging.DEBUG, "pipeline"), caplog.at_level(logging.DEBUG, "uvicorn"):
        served_work.post("ana", label("x0"), label("x0", "no such label"))
        served_work.get("ana", "/cards?most=x")
        served_work.client.get(mine + "x")
    assert mine.rpartition("/")[2] not in "".join(
        each.getMessage() for each in caplog.records if each.name.partition(".")[0] != "httpx"
    )


def test_the_link_of_a_former_adjudicator_does_not_work(served_work: ServedWork) -> None:
    third = served_work.at("cleo", "adjudicator")
    assert served_work.client.get(third).status_code == 404
    ask(served_work.work, "cleo", round_name="adjudication")
    assert served_work.client.get(third).status_code == 200
    ask(served_work.work, "dan", round_name="adjudication")
    assert served_work.client.get(third).status_code == 404


# Limits of requests: invalid decisions are refused with a reason, and nothing is saved.


@pytest.fixture
def served_bodies(tmp_path: Path) -> Iterator[ServedWork]:
    work = work_in(tmp_path)
    ask(work, "ana", "ben")
    with ServedWork(work) as served:
        yield served


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"answer": "svc"}, "'x1' has the label 'svc'; valid labels: 'SVC', 'figurative', 'free'"),
        ({"answer": None}, "'x1' has the label none"),
        ({"answer": ""}, "has the label ''"),
        ({"answer": 1}, "answer"),
        ({"id": ""}, "a label needs an item"),
        ({"id": 7}, "id"),
        ({"kind": "import"}, "kind"),
        ({"kind": "seen"}, "kind"),
        ({"kind": "skip", "answer": "SVC"}, "a decision to skip takes no answer, but has 'SVC'"),
        ({"kind": "undo", "id": "", "answer": "SVC"}, "a decision to undo takes no answer"),
        ({"key": "short"}, "key"),
        ({"key": "x" * 65}, "key"),
        ({"key": "with/slash"}, "key"),
        ({"key": "newline-at-end\n"}, "key"),
        ({"note": "x" * 10_001}, "note"),
        ({"note": None}, "note"),
        ({"unsure": "yes"}, "unsure"),
        ({"unsure": 1}, "unsure"),
        ({"seconds": -1}, "seconds"),
        ({"seconds": "2"}, "seconds"),
        ({"replaces": -1}, "replaces"),
        ({"replaces": 2**63}, "replaces"),
        ({"replaces": 1.5}, "replaces"),
        ({"more": 1}, "more"),
    ],
)  # fmt: skip
def test_an_invalid_decision_is_refused_with_its_reason(
    served_bodies: ServedWork, wrong: dict[str, Any], message: str
) -> None:
    answer = served_bodies.post("ana", label("x0"), label("x1", **wrong))
    assert answer.status_code == 400
    assert message in answer.json()["error"]
    assert "Nothing was saved" in answer.json()["error"]
    assert entries(served_bodies.work) == []


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"null", b'{"decisions": 1}', b'{"decisions": [], "more": 1}', b"\xff",
     b'{"decisions": [{"key": "abcdefgh", "id": "\\ud800", "kind": "skip"}]}',
     b'{"decisions": [{"key": "abcdefgh", "id": "x0", "kind": "label", "answer": "SVC", "seconds": NaN}]}',
     b'{"decisions": ' + b"[" * 100_000],
)  # fmt: skip
def test_an_invalid_request_body_is_refused(served_bodies: ServedWork, text: bytes) -> None:
    headers = {"Origin": HERE, "Content-Type": "application/json"}
    answer = served_bodies.client.post(
        f"{served_bodies.at('ana')}/decisions", content=text, headers=headers
    )
    assert answer.status_code == 400
    assert "Traceback" not in answer.text
    assert entries(served_bodies.work) == []


def test_the_response_lists_the_keys_of_invalid_decisions(served_bodies: ServedWork) -> None:
    wrong = [label("x0", "gone"), label("x1"), label("x2", "gone")]
    answer = served_bodies.post("ana", *wrong).json()
    assert answer["refused"] == [wrong[0]["key"], wrong[2]["key"]]
    assert "2 of 3 decisions are invalid" in answer["error"]


def test_decisions_within_the_limits_are_accepted(served_bodies: ServedWork) -> None:
    longest = label("x0", key="k" * 64, note="ß" * 10_000, seconds=None, replaces=None)
    assert served_bodies.statuses("ana", longest) == ["saved"]
    assert served_bodies.get("ana", "/cards/x0").json()["card"]["note"] == "ß" * 10_000
    assert served_bodies.statuses("ana", label("x1", note="\x00\x0b\u202e\r\n")) == ["saved"]
    assert served_bodies.get("ana", "/cards/x1").json()["card"]["note"] == "\x00\x0b\u202e\r\n"
    assert served_bodies.statuses("ana") == []


@pytest.mark.parametrize(
    "query", ["/cards?most=0", "/cards?most=101", "/cards?most=-1", "/cards?most=x", "/recent?most=1e1",
              "/cards?most=" + "9" * 5000, "/cards?most=٣", "/cards?round=third", "?round=", "/search?text=" + "x" * 1001]
)  # fmt: skip
def test_invalid_queries_are_refused(served_bodies: ServedWork, query: str) -> None:
    answer = served_bodies.get("ana", query)
    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}


def test_keying_accepts_any_text_that_is_not_empty(tmp_path: Path) -> None:
    work = work_in(tmp_path, kind="keying")
    ask(
        work,
        "ana",
        contents={"gehen": {"units": {"lemma": "gehen"}, "lexicon_forms": "gehe, ging"}},
    )
    with ServedWork(work) as served:
        (card,) = served.get("ana", "/cards").json()["cards"]
        assert (card["units"], card["examples"], card["lexicon_forms"]) == (
            [["lemma", "gehen"]], [], "gehe, ging",
        )  # fmt: skip
        for empty in (None, "", " \n\u00a0"):
            assert served.post("ana", label("gehen", empty)).status_code == 400
        assert served.post("ana", label("gehen", "x" * 100_001)).status_code == 400
        assert served.statuses("ana", label("gehen", "-")) == ["saved"]
        assert served.statuses("ana", label("gehen", "ging, " * 10_000, replaces=1)) == ["saved"]


# Revoked links and stopped people


def test_a_revoked_link_stops_working_at_once_in_every_server(work: SheetWork) -> None:
    with ServedWork(work) as served, ServedWork(work) as other:
        say(work, "ana", "x0", "SVC")
        with open_log(work.database) as log:
            people.revoke(log, work, "ana")
        for server in (served, other):
            for answer in (
                server.get("ana"),
                server.get("ana", "/cards"),
                server.post("ana", label("x1")),
            ):
                assert answer.status_code == 404
                assert "the coordinator has replaced it" in answer.json()["error"]
            new = server.links.address(Person("annotator", "ana", 1))
            assert len(server.client.get(f"{new}/cards").json()["cards"]) == 4
            assert server.get("ben").status_code == 200
            assert (
                "exactly as you received it" in server.client.get(f"/a/{'x' * 32}").json()["error"]
            )


def test_a_stopped_person_is_thanked_and_can_resume(
    work: SheetWork, served_work: ServedWork
) -> None:
    assert served_work.statuses("ana", label("x0")) == ["saved"]
    with open_log(work.database) as log:
        people.stop(log, work, "ana")
    page = served_work.get("ana")
    assert page.status_code == 200
    assert "You are finished: thank you" in page.text
    assert "card.js" not in page.text  # the page shows no cards
    late = label("x1")
    for answer in (served_work.get("ana", "/cards"), served_work.post("ana", late)):
        assert answer.status_code == 409
        assert answer.json()["finished"]
        assert answer.json()["error"].startswith("You are finished: thank you.")
    assert entries(work) == ["SVC"]
    with open_log(work.database) as log:
        people.resume(log, work, "ana")
    assert served_work.statuses("ana", late) == ["saved"]


def test_a_request_is_refused_if_its_person_is_stopped_meanwhile(
    work: SheetWork, served_work: ServedWork
) -> None:
    """The transaction of the writer decides."""
    decision = label("x0")
    real = served_work.writer.add

    async def later(decisions: Any) -> Any:
        with open_log(work.database) as log:
            people.stop(log, work, "ana")
        return await real(decisions)

    served_work.writer.add = later  # type: ignore[method-assign]
    answer = served_work.post("ana", decision)
    assert answer.status_code == 409
    assert answer.json()["refused"] == [decision["key"]]
    assert entries(work) == []


def test_an_added_person_has_a_page_with_reassigned_cards(
    work: SheetWork, served_work: ServedWork
) -> None:
    with open_log(work.database) as log:
        people.add(log, work, "carla")
        people.reassign(log, work, "ana", ["carla"], cards=2)
    assert ids(served_work, "carla") == ["x3", "x4"]
    assert ids(served_work) == ["x0", "x1", "x2"]
    assert served_work.statuses("carla", label("x3")) == ["saved"]
    assert served_work.statuses("ana", label("x3")) == ["unknown"]


def test_an_anonymous_round_shows_letters_shuffled_for_each_card(tmp_path: Path) -> None:
    work = work_in(tmp_path, annotators=("ana", "ben", "eva"))
    ask(work, "ana", "ben", "eva", contents=items(20))
    labels = {"ana": "SVC", "ben": "free", "eva": "figurative"}
    for who, answer in labels.items():
        for item in items(20):
            say(work, who, item, answer, note=f"{answer} fits", unsure=who == "ben")
    ask(work, "ana", contents=items(20), round_name="adjudication")
    with ServedWork(work) as served:

        def first() -> list[list[dict[str, Any]]]:
            cards = served.get("ana", "/cards?round=adjudication").json()["cards"]
            return [each["first"] for each in cards]

        assert {one["annotator"] for card in first() for one in card} == set(labels)
        with open_log(work.database) as log:
            write_setting(log, writing.ANONYMOUS, value=True)
        cards = first()
        assert cards == first()
        assert all([one["annotator"] for one in card] == ["A", "B", "C"] for card in cards)
        assert all(sorted(one["answer"] for one in card) == ["SVC", "figurative", "free"]
                   for card in cards)  # fmt: skip
        assert len({tuple(one["answer"] for one in card) for card in cards}) == 6
        assert cards[0][0]["note"] == f"{cards[0][0]['answer']} fits"
