"""The section of conflicts on the coordinator's page, and a complete example with two people."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from pipeline.annotate.auth import COORDINATOR, Links
from pipeline.annotate.estimates import BackgroundEstimates
from pipeline.annotate.sync import hand_to_sheets
from pipeline.annotate.tasks import SheetWork, open_work
from pipeline.annotate.web import coordinator
from pipeline.annotate.web.app import app_of
from pipeline.cli.annotate import annotate
from pipeline.cli.run import run
from pipeline.formats.annotation_log import Decision, append, open_log
from tests.annotate.office import Office, decisions_of
from tests.annotate.served import HERE, ask, items, say
from tests.annotate.test_conflicts import Bench
from tests.annotate.test_tasks import EXPERIMENT, JOIN, id_of

_ROWS = 10


class Page:
    """The coordinator's page of a work, served with its guards."""

    def __init__(self, work: SheetWork, *, estimates: BackgroundEstimates | None = None) -> None:
        self.work, links = work, Links(work.folder)
        own = BackgroundEstimates(work) if estimates is None else estimates
        routes = coordinator.routes(work, address=lambda person: person.name, certainty=own)
        app = app_of(work, links, coordinator=routes)
        self.home = links.address(COORDINATOR)
        self.client = TestClient(app, base_url=HERE, raise_server_exceptions=False)

    def text(self, query: str = "") -> str:
        """Return the section."""
        answer = self.client.get(self.home + query)
        assert answer.status_code == 200
        return answer.text.partition('<section id="conflicts"')[2].partition("</section>")[0]

    def words(self, query: str = "") -> str:
        return unescape(" ".join(re.sub(r"<[^>]+>", " ", self.text(query)).split()))

    def buttons(self, query: str = "") -> list[dict[str, str]]:
        """Return the data that each button sends."""
        tags = re.findall(r"<button([^>]*)>", self.text(query))
        return [
            {name: unescape(value) for name, value in re.findall(r'data-(\w+)="([^"]*)"', each)}
            for each in tags
        ]

    def post(self, body: dict[str, Any], **more: Any) -> httpx.Response:
        headers = {"Origin": HERE, "Content-Type": "application/json"}
        path = more.pop("path", f"{self.home}/conflicts")
        return self.client.post(path, content=json.dumps(body), headers=headers)

    def press(self, number: int = 0, **data: str | None) -> str:
        """Press the button with this number among those with such data; return the message."""
        fitting = (
            each for each in self.buttons()
            if all(each.get(name) == value for name, value in data.items())
        )  # fmt: skip
        answer = self.post(list(fitting)[number])
        return str(answer.json().get("message", answer.text))


class _NoEstimates:
    """Estimates of a work without an experiment."""

    has_questions = False

    def state(self) -> Any:
        from pipeline.annotate.estimates import EstimateState

        return EstimateState(None, busy=False, error="", current=True, points=())


def page_of(bench: Bench) -> Page:
    none: Any = _NoEstimates()
    return Page(bench.work, estimates=none)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    conflicted = Bench(tmp_path)
    conflicted.sheet("001.csv", {"x0": "free"})
    conflicted.say("SVC")
    return conflicted


def test_a_conflict_is_shown_with_both_sides(bench: Bench) -> None:
    text = page_of(bench).words()
    assert "1 answer changed in a sheet and on the page, and differs: it counts as missing" in text
    assert re.search(
        r"left0 · right0 by ana 001\.csv, row 2 free Keep the sheet's answer"
        r" page, \d{4}-\d\d-\d\d [\d:]+ UTC SVC Keep the page's answer$", text,
    )  # fmt: skip
    assert "Keep all answers" not in text


def test_the_section_says_that_there_are_no_conflicts(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert page_of(bench).words().endswith("None: sheets and pages agree.")


def test_the_section_shows_the_current_sheet(bench: Bench) -> None:
    page = page_of(bench)
    before = page.client.get(f"{page.home}/state").json()
    assert f'data-stamp="{before["stamp"]}"' in page.client.get(page.home).text
    bench.sheet("001.csv", {"x0": "figurative"})
    assert page.client.get(f"{page.home}/state").json() != before
    assert "row 2 figurative" in page.words()
    bench.sheet("001.csv", {"x0": "SVC"})
    assert "None" in page.words()


def test_a_button_decides_a_conflict_and_removes_it_from_the_list(bench: Bench) -> None:
    page = page_of(bench)
    sheet, other = page.buttons()
    assert [each["keep"] for each in (sheet, other)] == ["sheet", "page"]
    assert page.post(sheet).json() == {"message": "Kept 1 answer from ana's sheets."}
    assert bench.stands() == "free"
    late = page.post(other)
    assert late.status_code == 409
    assert "Nothing was kept: an answer has changed meanwhile" in late.json()["error"]
    assert "None" in page.words()


@pytest.mark.parametrize(
    "changes",
    [
        {"keep": "both"}, {"token": None}, {"more": "x"}, {"annotator": "x" * 1001}, {"id": 3},
    ],
)  # fmt: skip
def test_invalid_decisions_are_refused(bench: Bench, changes: dict[str, Any]) -> None:
    page = page_of(bench)
    answer = page.post({**page.buttons()[0], **changes})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("Nothing was kept: ")
    assert "Traceback" not in answer.text
    assert bench.stands() == "SVC"


def test_a_body_that_is_too_long_is_refused(bench: Bench) -> None:
    assert page_of(bench).post({"keep": "x" * 20_000}).status_code == 413


def test_only_the_coordinators_page_can_decide(bench: Bench) -> None:
    page = page_of(bench)
    button = page.buttons()[0]
    for path in (
        "/c/wrong/conflicts",
        "/conflicts",
        page.home.replace("/c/", "/a/") + "/conflicts",
    ):
        assert page.post(button, path=path).status_code == 404
    for headers in ({}, {"Origin": "http://elsewhere"}):
        answer = page.client.post(f"{page.home}/conflicts", json=button, headers=headers)
        assert answer.status_code == 403
    assert page.client.get(f"{page.home}/conflicts").status_code in {404, 405}
    assert bench.stands() == "SVC"


def test_long_lists_of_conflicts_have_pages(tmp_path: Path) -> None:
    many = 2 * _ROWS + 1
    bench = Bench(tmp_path, contents=items(many))
    bench.sheet("001.csv", dict.fromkeys(bench.contents, "free"))
    with open_log(bench.work.database) as log:
        append(log, [Decision(f"k{each}", "ana", each, answer="SVC") for each in bench.contents])
    page = page_of(bench)
    assert page.text().count("<li>") == _ROWS + 1  # and one for all of ana
    assert "Keep all answers of ana 's sheets" in page.words()
    assert page.words("?points=3").endswith("1 to 10 of 21 Next")
    assert 'href="?points=3&amp;conflicts=2#conflicts"' in page.text("?points=3")
    assert page.words("?conflicts=2").endswith("Previous 11 to 20 of 21 Next")
    for last in ("3", "99", "9" * 400):
        assert page.words(f"?conflicts={last}").endswith("Previous 21 to 21 of 21")
    for wrong in ("0", "-1", "x", "²", ""):
        assert page.words(f"?conflicts={wrong}").endswith("1 to 10 of 21 Next")
    assert page.press(1) == "Kept 21 answers from ana's page."
    assert "None" in page.words("?conflicts=3")


def test_conflicts_of_two_sheets_are_decided_one_by_one(bench: Bench) -> None:
    bench.sheet("002.csv", {"x0": "figurative", "x1": "free"})
    bench.say("SVC", "x1")
    page = page_of(bench)
    assert [each.get("file") for each in page.buttons()] == [
        None, None, "001.csv", "002.csv", None, "002.csv", None,
    ]  # fmt: skip
    assert page.press(0).startswith(
        "Kept 1 answer from ana's sheets. 1 more must be decided one by one: two sheets differ"
    )
    assert page.press(1) == "Kept 1 answer from ana's sheets."
    assert (bench.stands("x0"), bench.stands("x1")) == ("figurative", "free")


def test_an_answer_that_adjudicators_saw_can_only_be_kept(bench: Bench) -> None:
    say(bench.work, "ben", "x0", "free")
    ask(bench.work, "carla", ids=["x0"], round_name="adjudication", contents=dict(bench.contents))
    page = page_of(bench)
    assert "counts and cannot change, since adjudicators have seen it" in page.words()
    assert [each["keep"] for each in page.buttons()] == ["page"]
    assert page.press(0) == "Kept 1 answer from ana's page."


def test_texts_of_people_are_escaped(bench: Bench) -> None:
    hostile = "<script>alert(1)</script>\"'&\u202e"
    bench.sheet("001.csv", {"x0": hostile})
    bench.say(hostile[::-1])
    page = page_of(bench)
    assert "<script>" not in page.text()
    assert "\u202e" not in page.text()
    assert "not a label" in page.words()
    assert page.press(0) == "Kept 1 answer from ana's page."


def test_an_unreadable_sheet_is_reported_on_the_page(bench: Bench) -> None:
    (bench.work.folder / "000.xlsx").write_bytes(b"half a workbook")
    text = page_of(bench).words()
    assert "000.xlsx: " in text
    assert "conflicts of this sheet are not shown" in text
    assert "left0" in text


# Two people, two sheets each, from the sheets to the evaluation

_EVALUATION = """partial = true

[stages.agreement]
use = "evaluate.agreement"
annotations = "judged.annotations"
"""


@pytest.mark.long
def test_a_run_resumes_once_all_conflicts_are_decided(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    office.config.write_text(office.config.read_text() + _EVALUATION)

    def run_again() -> tuple[int, list[str]]:
        capsys.readouterr()
        code = run(office.config, report=False, quiet=True, runs=office.runs)
        return code, capsys.readouterr().out.splitlines()

    def start_text() -> str:
        capsys.readouterr()
        annotate(
            office.config, runs=office.runs, sheets=False, backup=office.folder / "copy.sqlite"
        )
        (office.folder / "copy.sqlite").unlink()
        return capsys.readouterr().out.partition("wrote")[0]

    assert run_again() == (0, [])  # empty sheets: the run does not wait
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids, "anna", "SSS"), *decisions_of(ids, "ben", "SSS"))
    hand_to_sheets(work)
    office.label("anna", {ids[0]: "free", ids[1]: "figurative"})  # 003-anna.csv
    office.label("ben", {ids[0]: "free"})
    office.label("anna", {ids[0]: "free"}, number="001")
    contents = {path: path.read_bytes() for path in office.desk.glob("*.csv")}
    office.decide(work, *decisions_of(ids[:2], "anna", "fr", start=10))
    office.decide(work, *decisions_of(ids[:1], "ben", "f", start=10))

    code, lines = run_again()
    assert code == 3
    assert len([line for line in lines if "on the page" in line]) == 3
    assert lines[0].endswith(
        "waiting for 3 decisions; sheets and pages differ, and count as missing:"
    )
    (twice,) = (line for line in lines if "auf:Tisch" in line and "anna" in line)
    assert re.fullmatch(
        r"  anna, auf:Tisch legen: 'free' in 001-anna\.csv, row \d and 003-anna\.csv, row \d;"
        r" 'figurative' on the page",
        twice,
    )
    finished = office.run()
    counted = finished.table("judged.annotations").select("annotator", "id").sort("annotator", "id")
    assert counted.rows() == sorted([("anna", ids[2]), ("ben", ids[1]), ("ben", ids[2])])
    assert finished.table("agreement.agreement").height

    assert start_text().startswith("3 answers in sheets and on the page differ")
    page = Page(work)
    text = page.words()
    assert "anna : 2 Keep all answers" in text
    message = page.press(keep="sheet", annotator="anna", id=ids[0])
    assert message == "Kept 1 answer from anna's sheets."
    assert page.press(keep="page", annotator="ben") == "Kept 1 answer from ben's page."
    assert run_again()[0] == 3
    office.decide(work, Decision("anna-again", "anna", ids[2], answer="SVC"))
    assert page.press(keep="page", annotator="anna") == "Kept 1 answer from anna's page."

    for _ in range(2):
        assert run_again() == (0, [])
        assert start_text() == ""
    labels = office.run().table("judged.annotations").select("annotator", "id", "label")
    assert dict(labels.filter(annotator="anna").select("id", "label").iter_rows()) == {
        ids[0]: "free", ids[1]: "free", ids[2]: "SVC",
    }  # fmt: skip
    assert labels.filter(annotator="ben", id=ids[0])["label"].item() == "figurative"
    assert {path: path.read_bytes() for path in office.desk.glob("*.csv")} == contents
    with open_log(work.database) as log:
        rows = log.execute("SELECT answer FROM log WHERE kind = 'label'").fetchall()
    assert len(rows) == 10


@pytest.mark.long
def test_conflicts_of_keyed_forms_are_decided_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "computed.tsv").write_text("lemma\tform\nдом\tдом\nкот\tкот\n")
    text = EXPERIMENT.replace('["еж", "ель", "дом", "кот", "лес"]', '["дом", "кот"]')
    text += JOIN.format(name="keyed") + 'partial = true\nundecided = "exclude"\n'
    config = tmp_path / "printed.toml"
    config.write_text(text)
    assert run(config, report=False, quiet=True, runs=tmp_path / "runs") == 0
    work = open_work(config, runs=tmp_path / "runs")
    for who in ("anna", "ben"):
        for lemma in ("дом", "кот"):
            say(work, who, id_of(lemma), f"{lemma}а")
    for path in hand_to_sheets(work):
        sheet = Path(path)
        sheet.write_text(
            sheet.read_text("utf-8-sig").replace("дома", "дому").replace("кота", "КОТ")
        )
    for who in ("anna", "ben"):
        say(work, who, id_of("дом"), "домом")
    page = Page(work)
    assert run(config, report=False, quiet=True, runs=tmp_path / "runs") == 3
    assert "дом by anna 00" in page.words()
    for number in (0, 1):
        page.press(number)
    assert "None" in page.words()
    assert run(config, report=False, quiet=True, runs=tmp_path / "runs") == 0
