"""The coordinator's page: its contents, its requests, and that texts of people are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from pipeline.annotate.adjudication import ROUND
from pipeline.annotate.estimates import BackgroundEstimates
from pipeline.annotate.quality import GoldItem, add_gold
from pipeline.annotate.records import asked_tasks, standing_answers
from pipeline.annotate.tasks import SheetWork
from pipeline.formats.annotation_log import Decision, TaskRequest, add_tasks, append, open_log
from pipeline.stages.lexicon.sample import JoinKeying
from tests.annotate.office import PRECISION, Desk, desk, say_desk
from tests.annotate.served import ask, say
from tests.annotate.web.stand_in import SECRET, app_of

HOME = f"/c/{SECRET}"
_LONG = 120.0


class Place:
    """A desk with the page of its coordinator."""

    def __init__(self, folder: Path, stages: str = PRECISION) -> None:
        self.desk: Desk = desk(folder, stages)
        self.certainty = BackgroundEstimates(self.desk.work, min_interval=0.0)
        self.client = TestClient(app_of(self.desk.work, self.certainty))

    def text(self, query: str = "") -> str:
        answer = self.client.get(HOME + query)
        assert answer.status_code == 200
        return answer.text

    def compute(self) -> None:
        self.certainty.state()
        self.certainty.wait(_LONG)

    def differ(self, count: int) -> list[str]:
        """Judge everything, with different answers to so many items."""
        self.desk.judge_all()
        shared = sorted(set(self.desk.cards("ana")) & set(self.desk.cards("ben")))[:count]
        for each in shared:
            self.desk.judge("ben", [each], "no" if self.desk.truth[each] == "yes" else "yes")
        return shared

    def open(self, **options: object) -> tuple[int, dict[str, object]]:
        answer = self.client.post(f"{HOME}/adjudication", json=options)
        return answer.status_code, answer.json()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.certainty.close()


def words_of(page: str) -> str:
    """Return the words of a page in one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_the_page_says_that_there_are_no_judgements(place: Place) -> None:
    page = words_of(place.text())
    for text in ("No judgements yet.", "None yet: fewer than two items",
                 "None so far.", "The round has not been opened."):  # fmt: skip
        assert text in page
    assert "ana 0 84 0 0 — — never" in page


def test_the_page_says_how_often_a_suggestion_was_followed(place: Place) -> None:
    assert "suggestion" not in words_of(place.text())
    first, second, *_ = place.desk.cards("ana")
    with open_log(place.desk.work.database) as log:
        append(log, [Decision("k-1", "ana", first, answer="yes", suggested="yes")])
        text = "1 decision was made with a suggestion visible; in agreement with it: 1 (100.0%)."
        assert text in words_of(place.text()).replace("\u00a0", " ").replace("&nbsp;", " ")
        append(log, [Decision("k-2", "ana", second, answer="no", suggested="yes")])
    text = "2 decisions were made with a suggestion visible; in agreement with it: 1 (50.0%)."
    assert text in words_of(place.text()).replace("&nbsp;", " ")


def test_hidden_gold_is_counted_as_on_the_page_of_its_annotator(place: Place) -> None:
    assert "Hidden gold" not in words_of(place.text())
    assert add_gold(place.desk.work, [GoldItem({"l1": "gold", "l2": "x"}, "yes", "why")]) == (1, 0)
    page = words_of(place.text())
    assert "ana 0 85 0 0" in page
    assert "Hidden gold" in page


@pytest.mark.long
def test_the_page_shows_estimates_once_they_are_computed(place: Place) -> None:
    place.desk.judge_all(40)
    assert "Computing …" in words_of(place.text())
    place.certainty.wait(_LONG)
    page = words_of(place.text())
    assert "Computing …" not in page
    assert re.search(r"About [\d,]+ more judgements until all limits are within ±5", page)
    assert re.search(r"Computed \d+ seconds? ago, on \d{4}-", page)
    assert re.search(r"TP all candidates 600 \d+\.\d \d+\.\d \d+\.\d", page)
    assert "ana 40 84 0 0 3.0 3.0 to 3.0" in page
    assert re.search(r"Observed agreement Cohen.+s kappa Gwet.+s AC1 ana and ben [1-9]", page)


@pytest.mark.long
def test_the_target_width_is_given_in_points(place: Place) -> None:
    place.desk.judge_all(40)
    place.compute()
    assert "Done: all limits are within ±50 points" in place.text("?points=50")
    wrong = words_of(place.text("?points=%3Cb%3E"))
    assert "must be between 0.1 and 50 points, not &lt;b&gt;; showing 5." in wrong


@pytest.mark.long
def test_graphs_of_limits_have_a_description(place: Place) -> None:
    for most in (10, 40):
        place.desk.judge_all(most)
        place.compute()
    page = place.text()
    (description,) = re.findall(
        r'<svg [^>]*role="img" aria-label="(TP, all candidates[^"]+)"', page
    )
    assert re.fullmatch(
        r"TP, all candidates at 600: ±\d+\.\d points after \d+ items,"
        r" ±\d+\.\d after \d+", description,
    )  # fmt: skip
    assert len(re.findall("<polyline ", page)) == 5


def test_an_experiment_without_evaluations_has_no_estimates(tmp_path: Path) -> None:
    place = Place(tmp_path, "")
    place.desk.judge_all(10)
    assert "No stage of this experiment evaluates these answers" in place.text()


@pytest.mark.long
def test_the_round_can_be_opened_for_a_third_person(place: Place) -> None:
    ids = place.differ(3)
    assert "Everybody has answered 3 items on which they disagree (3 with" in place.text()
    assert place.open(who="third", name="Eva", unsure=False) == (
        200, {"new": 3, "message": "3 new items in the round."},
    )  # fmt: skip
    with open_log(place.desk.work.database) as connection:
        before = standing_answers(connection)
        say_desk(connection, "Eva", [(ids[0], "no")], round_name=ROUND, note="clear")
    text = place.text()
    page = words_of(text)
    assert "The adjudication round has all items with different answers." in page
    assert "1 of 3 resolved, 2 open." in page
    assert page.count("waiting for Eva") == 2
    assert 'href="http://testserver/a/adjudicator-Eva"' in text
    with open_log(place.desk.work.database) as connection:
        assert standing_answers(connection) == before
    code, again = place.open(who="third", name="Eva")
    assert (code, again["new"]) == (200, 0)
    place.differ(4)
    words = words_of(place.text()).partition("What needs attention")[2]
    words = words.partition("Open the round")[0]
    assert words.count("1 item with different answers is not in the adjudication round yet.") == 2


@pytest.mark.long
def test_the_round_can_be_opened_for_those_who_disagree(place: Place) -> None:
    place.differ(2)
    assert place.open(who="those")[1]["new"] == 2
    text = place.text()
    page = words_of(text)
    assert 'href="http://testserver/a/annotator-ana?round=adjudication"' in text
    assert page.count("waiting for ana, ben") == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"who": "third", "name": "Ana"}, "ana is an annotator, not a third person; give another"),
        ({"who": "third"}, "'' is not a valid name"),
        ({"who": "everybody"}, "Input should be 'third' or 'those'"),
        ({"who": "those", "more": 1}, "Extra inputs are not permitted"),
        ({"who": "third", "name": "Eva", "unsure": "yes"}, "Input should be a valid boolean"),
    ],
)
def test_an_invalid_round_is_refused_and_changes_nothing(
    place: Place, options: dict[str, object], message: str
) -> None:
    place.differ(1)
    code, answer = place.open(**options)
    assert code == 400
    assert message in str(answer["error"])
    assert "Traceback" not in str(answer)
    with open_log(place.desk.work.database) as connection:
        assert asked_tasks(connection, round_name=ROUND) == []


def test_refusals_and_sentences_on_limits_are_translated(place: Place) -> None:
    place.desk.judge_all(40)
    place.compute()
    place.client.headers["Accept-Language"] = "de"
    page = words_of(place.text())
    assert "Diese Grenzen gelten jederzeit" in page
    assert "TP alle Kandidaten 600" in page
    assert place.open(who="third", name="Ana")[1] == {
        "error": "Nichts wurde eröffnet: ana annotiert und ist keine dritte Person; geben Sie einen"
        " anderen Namen an oder fragen Sie die Annotierenden, die abweichen."
    }
    assert act(place, "add", "ben")[1]["error"].startswith("Nichts wurde geändert: ben annotiert")
    assert "zu lang" in act(place, "add", "x" * 201)[1]["error"]
    assert act(place, "reassign", "ana", to=["ana"])[1]["error"].endswith(
        "nennen Sie jemand anderen."
    )


def test_a_body_that_is_too_long_is_refused(place: Place) -> None:
    assert place.open(who="third", name="x" * 20_000)[0] == 413


@pytest.mark.long
def test_texts_of_people_are_escaped(place: Place) -> None:
    (one,) = place.differ(1)
    hostile = "<script>alert(1)</script>\"'&\u202e"
    with open_log(place.desk.work.database) as connection:
        say_desk(connection, "ana", [(one, hostile)], unsure=True, note=hostile)
    assert place.open(who="third", name=hostile.replace("\u202e", ""))[0] == 200
    page = place.text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\u202e" not in page
    # the content security policy forbids these
    assert re.findall(r"<[^>]*\sstyle=", page) == re.findall(r"<[^>]*\son\w+=", page) == []
    scripts = re.findall(r"<script(?![^>]*\ssrc=)[^>]*>", page)
    assert scripts == ['<script type="application/json" id="messages">']


@pytest.mark.long
def test_the_stamp_changes_with_new_answers(place: Place) -> None:
    def stamp() -> str:
        return str(place.client.get(f"{HOME}/state").json()["stamp"])

    first = stamp()
    assert f'data-stamp="{first}"' in place.text()
    assert stamp() == first
    place.desk.judge_all(5)
    place.compute()
    assert stamp() != first


@pytest.mark.long
def test_every_live_part_of_the_page_has_an_id(place: Place) -> None:
    place.differ(1)
    place.open(who="those")
    parts = re.findall(r"<[^>]*\bdata-live\b[^>]*>", place.text())
    assert len(parts) == 9
    assert all(re.search(r'\bid="[\w-]+"', each) for each in parts)


# People, and lists with pages


def act(place: Place, what: str, name: str, **more: object) -> tuple[int, dict[str, str]]:
    answer = place.client.post(f"{HOME}/people", json={"act": what, "name": name, **more})
    return answer.status_code, answer.json()


def test_people_are_managed_on_the_page(place: Place) -> None:
    code, added = act(place, "add", "carla")
    assert (code, added["link"]) == (200, "http://testserver/a/annotator-carla")
    assert "carla 0 0 0 0 — — never" in words_of(place.text())
    assert act(place, "stop", "ANA")[1]["message"] == (
        "ana can no longer answer, and the link now says so."
        " Open cards: 84; you can give them to others."
    )
    page = words_of(place.text())
    assert "ana is finished and has 84 open cards: give them to others." in page
    code, answer = act(place, "reassign", "ana", to=["ben", "carla"], cards=40)
    assert re.fullmatch(
        r"\d+ open cards of ana are now ben's\. \d+ open cards of ana are now carla's\.",
        answer["message"],
    )
    assert "ana finished 0 44 0 0" in words_of(place.text())
    assert act(place, "resume", "ana")[1] == {"message": "ana can continue, with the same link."}
    assert act(place, "link", "ana")[1]["link"] == "http://testserver/a/annotator-ana"
    assert "no longer works" in act(place, "revoke", "ana")[1]["message"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("stop", "anna"), "'anna' is nobody's name in this work; did you mean ana?"),
        (("add", "ANA"), "ana is an annotator of this work already; give another name."),
        (("add", " "), "is not a valid name"),
        (("reassign", "ana"), "nobody is named to get the cards"),
        (("reassign", "ana", "ana"), "ana has these cards already; name somebody else."),
        (("banish", "ana"), "Input should be 'link', 'revoke'"),
    ],
)
def test_invalid_acts_on_people_are_refused_with_a_reason(
    place: Place, words: tuple[str, ...], message: str
) -> None:
    code, answer = act(place, words[0], words[1], to=list(words[2:]))
    assert code == 400
    assert answer["error"].startswith("Nothing was changed: ")
    assert message in answer["error"]


def test_an_unreadable_sheet_is_named(place: Place) -> None:
    sheet = place.desk.work.folder / "009-ana.xlsx"
    sheet.write_bytes(b"no sheet")
    code, answer = act(place, "reassign", "ana", to=["ben"])
    assert code == 400
    assert answer["error"].startswith("Nothing was changed: ")
    assert "009-ana.xlsx" in answer["error"]


def test_the_stamp_changes_with_people_and_cards(place: Place) -> None:
    stamps = set()
    for what in ("add", "link", "stop", "resume"):
        act(place, what, "carla")
        stamps.add(place.client.get(f"{HOME}/state").json()["stamp"])
    act(place, "reassign", "ana", to=["carla"], cards=1)
    stamps.add(place.client.get(f"{HOME}/state").json()["stamp"])
    assert len(stamps) == 4


def test_disagreements_are_listed_in_pages_with_examples(place: Place) -> None:
    shared = place.differ(13)
    with open_log(place.desk.work.database) as log:
        contents = '{"units": {"l1": "a", "l2": "b"}, "examples": ["<i> [[a]] und [[b]]"]}'
        log.execute("UPDATE items SET shown = ? WHERE id = ?", (contents, shared[0]))
    first = place.text("?points=7")
    section = first[first.index('<section id="disagreements"') :]
    assert section.count('<span class="units">') == 10
    assert "1 to 10 of 13" in words_of(first)
    assert '<a href="?points=7&amp;differing=2#disagreements" rel="next">Next</a>' in first
    assert "&lt;i&gt; <mark>a</mark> und <mark>b</mark>" in first
    assert f'<details id="different-{shared[0]}">' in first
    last = place.text("?differing=2")
    assert "11 to 13 of 13" in words_of(last)
    assert 'rel="next"' not in last


LEMMAS = {
    lemma: {"units": {"lemma": lemma}, "lexicon_forms": None} for lemma in ("gehen", "ra", "xi")
}


def keying(
    folder: Path, *, shared: bool, joined: JoinKeying | None = None
) -> tuple[SheetWork, TestClient]:
    office = desk(folder).work
    work = replace(office, kind="keying", labels=(), folder=folder / "keying", keying=joined)
    ask(work, "ana", contents=LEMMAS)
    with open_log(work.database) as log:
        both = [TaskRequest("ben", each, n) for n, each in enumerate(LEMMAS, 1)]
        add_tasks(log, both if shared else [], round_name="annotation")
    return work, TestClient(app_of(work, BackgroundEstimates(work)))


def test_keying_by_one_person_shows_no_agreement(tmp_path: Path) -> None:
    _, client = keying(tmp_path, shared=False)
    page = words_of(client.get(HOME).text)
    assert "Each lemma has a single annotator, so there is no agreement to show." in page
    assert "ana 0 3" in page
    for absent in ("Estimates", "Disagreements", "Adjudication", "Open the round"):
        assert absent not in page
    assert client.post(f"{HOME}/adjudication", json={"who": "those"}).json()["new"] == 0


def test_keying_by_two_people_shows_agreement_and_disagreements(tmp_path: Path) -> None:
    """Forms in another order are equal; the round has only the others."""
    work, client = keying(tmp_path, shared=True)
    for who, forms in {
        "ana": ("geht, ging", "ra", "-"),
        "ben": ("ging;geht", "ra, rajt", "–"),
    }.items():
        for lemma, text in zip(LEMMAS, forms, strict=True):
            say(work, who, lemma, text)
    page = words_of(client.get(HOME).text)
    assert "Who Items Lemmas with equal forms Agreement of forms ana and ben 3 0.67" in page
    assert re.search(
        "ana and ben 3 0.67 [^a-z]+ to [^a-z]+ 0.86", page
    )  # 2 (2 + 1) of 2 + 2 + 1 + 2 forms
    assert "1 item with different answers" in page
    assert "Estimates" not in page
    body = {"who": "third", "name": "carla"}
    assert client.post(f"{HOME}/adjudication", json=body).json()["new"] == 1
    say(work, "carla", "ra", "rajt, ra", round_name="adjudication")
    page = words_of(client.get(HOME).text)
    assert "1 of 1 resolved" in page
    assert "carla : ra, rajt ra, rajt" in page


def test_keyed_forms_are_compared_after_the_rules_of_the_stage(tmp_path: Path) -> None:
    joined = JoinKeying(sheet="sheet", folder="keying", case="lower")
    work, client = keying(tmp_path, shared=True, joined=joined)
    for who, forms in {"ana": ("Geht", "ra", "-"), "ben": ("geht", "rajt", "-")}.items():
        for lemma, text in zip(LEMMAS, forms, strict=True):
            say(work, who, lemma, text)
    page = words_of(client.get(HOME).text)
    assert "ana and ben 3 0.67" in page
    assert "1 item with different answers" in page
    for body in ({"who": "third", "name": "carla"}, {"who": "those"}):
        new = client.post(f"{HOME}/adjudication", json=body).json()["new"]
        assert new == (1 if body["who"] == "third" else 0)  # ra is in the round already
    for who, decision in (("carla", "RAJT"), ("dan", "rajt")):
        with open_log(work.database) as log:
            add_tasks(log, [TaskRequest(who, "ra", 1)], round_name=ROUND)
        say(work, who, "ra", decision, round_name=ROUND)
    assert "1 of 1 resolved" in words_of(client.get(HOME).text)
