"""What a page may send: wrong decisions are refused with their reason, and nothing is saved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.annotate.served import HERE, Served, ask, entries, label, work_in


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    work = work_in(tmp_path)
    ask(work, "ana", "ben")
    with Served(work) as served:
        yield served


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"answer": "svc"}, "'x1' has the label 'svc', and there are 'SVC', 'figurative', 'free'"),
        ({"answer": None}, "'x1' has the label none"),
        ({"answer": ""}, "has the label ''"),
        ({"answer": 1}, "answer"),
        ({"id": ""}, "a label needs an item"),
        ({"id": 7}, "id"),
        ({"kind": "import"}, "kind"),
        ({"kind": "seen"}, "kind"),
        ({"kind": "skip", "answer": "SVC"}, "a decision to skip has no answer, but has 'SVC'"),
        ({"kind": "undo", "id": "", "answer": "SVC"}, "a decision to undo has no answer"),
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
def test_one_wrong_decision_is_refused_with_its_reason(
    served: Served, wrong: dict[str, Any], said: str
) -> None:
    answer = served.post("ana", label("x0"), label("x1", **wrong))
    assert answer.status_code == 400
    assert said in answer.json()["error"]
    assert "Nothing was saved" in answer.json()["error"]
    assert entries(served.work) == []


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"null", b'{"decisions": 1}', b'{"decisions": [], "more": 1}', b"\xff",
     b'{"decisions": [{"key": "abcdefgh", "id": "\\ud800", "kind": "skip"}]}',
     b'{"decisions": [{"key": "abcdefgh", "id": "x0", "kind": "label", "answer": "SVC", "seconds": NaN}]}',
     b'{"decisions": ' + b"[" * 100_000],
)  # fmt: skip
def test_a_body_that_is_no_decisions_is_refused(served: Served, text: bytes) -> None:
    headers = {"Origin": HERE, "Content-Type": "application/json"}
    answer = served.client.post(f"{served.at('ana')}/decisions", content=text, headers=headers)
    assert answer.status_code == 400
    assert "Traceback" not in answer.text
    assert entries(served.work) == []


def test_the_keys_of_wrong_labels_are_told(served: Served) -> None:
    wrong = [label("x0", "gone"), label("x1"), label("x2", "gone")]
    answer = served.post("ana", *wrong).json()
    assert answer["refused"] == [wrong[0]["key"], wrong[2]["key"]]
    assert "2 of 3 decisions cannot be taken" in answer["error"]


def test_what_fits_is_taken(served: Served) -> None:
    longest = label("x0", key="k" * 64, note="ß" * 10_000, seconds=None, replaces=None)
    assert served.statuses("ana", longest) == ["saved"]
    assert served.get("ana", "/cards/x0").json()["card"]["note"] == "ß" * 10_000
    assert served.statuses("ana", label("x1", note="\x00\x0b\u202e\r\n")) == ["saved"]
    assert served.get("ana", "/cards/x1").json()["card"]["note"] == "\x00\x0b\u202e\r\n"
    assert served.statuses("ana") == []


@pytest.mark.parametrize(
    "query", ["/cards?most=0", "/cards?most=101", "/cards?most=-1", "/cards?most=x", "/recent?most=1e1",
              "/cards?most=" + "9" * 5000, "/cards?most=٣", "/cards?round=third", "?round=", "/search?text=" + "x" * 1001]
)  # fmt: skip
def test_wrong_questions_are_told_so(served: Served, query: str) -> None:
    answer = served.get("ana", query)
    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}


def test_keying_takes_any_text_but_none(tmp_path: Path) -> None:
    work = work_in(tmp_path, kind="keying")
    ask(work, "ana", shown={"gehen": {"units": {"lemma": "gehen"}, "lexicon_forms": "gehe, ging"}})
    with Served(work) as served:
        (card,) = served.get("ana", "/cards").json()["cards"]
        assert (card["units"], card["examples"], card["lexicon_forms"]) == (
            [["lemma", "gehen"]], [], "gehe, ging",
        )  # fmt: skip
        for empty in (None, "", " \n\u00a0"):
            assert served.post("ana", label("gehen", empty)).status_code == 400
        assert served.post("ana", label("gehen", "x" * 100_001)).status_code == 400
        assert served.statuses("ana", label("gehen", "-")) == ["saved"]
        assert served.statuses("ana", label("gehen", "ging, " * 10_000, replaces=1)) == ["saved"]
