"""Pages and sheets side by side: the newer answer counts, and contradictions are reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pipeline as lx
from pipeline.annotate import sync, tasks
from pipeline.annotate.adjudication import give_to_third, give_to_those_who_disagree
from pipeline.annotate.records import asked_tasks
from pipeline.annotate.sync import ImportResult, answers, export, hand_to_sheets, import_sheets
from pipeline.annotate.tasks import SheetWork
from pipeline.api.run import run
from pipeline.cli.main import main
from pipeline.errors import ConfigError, DataError, StoreError
from pipeline.formats.annotation_log import Decision, TaskRequest, copy, open_log, update_tasks
from pipeline.formats.spreadsheets import read
from pipeline.runner.conflicts import typed_answers
from pipeline.runner.store.history import StageRecord
from tests.annotate.office import Office, build_office, decisions_of


def judgements(run: lx.Run) -> dict[str, bool | None]:
    return dict(run.table("judged.judgements").select("id", "tp").iter_rows())


@pytest.mark.long
def test_labels_from_the_page_alone_are_judgements(office: Office) -> None:
    work = office.work()
    assert work.annotators == ("anna", "ben")
    assert dict(work.categories) == {"TP": ("SVC", "figurative")}
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids, "anna", "SSr"))
    (waits,) = office.run().waits
    assert waits.missing == 3
    office.decide(work, *decisions_of(ids, "ben", "SfS"))
    assert judgements(office.run()) == dict(zip(ids, [True, None, None], strict=True))


@pytest.mark.long
def test_work_begun_in_the_sheet_can_continue_on_the_page(office: Office) -> None:
    assert office.run().waits
    work = office.work()
    ids = office.ids(work)
    office.label("anna", {ids[0]: "svc ", ids[1]: "SVC"})
    assert import_sheets(work) == ImportResult(answers=2)
    assert import_sheets(work) == ImportResult()
    # On the page, anna changes the second answer and gives the third.
    office.decide(work, *decisions_of(ids[1:], "anna", "rr"), *decisions_of(ids, "ben", "Srr"))
    run = office.run()
    assert not run.waits
    assert judgements(run) == dict(zip(ids, [True, False, False], strict=True))
    annotations = run.table("judged.annotations").filter(annotator="anna").sort("id")
    assert annotations["label"].to_list() == [
        dict(zip(ids, ["SVC", "free", "free"], strict=True))[each] for each in annotations["id"]
    ]


@pytest.mark.long
def test_work_begun_on_the_page_can_continue_in_the_sheet(office: Office) -> None:
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids[:2], "anna", "SS"), *decisions_of(ids, "ben", "SSS"))
    assert len(hand_to_sheets(work)) == 2
    office.label("anna", {ids[1]: "free", ids[2]: "figurative"})
    run = office.run()
    assert not run.waits
    annotations = run.table("judged.annotations").filter(annotator="anna")
    assert dict(annotations.select("id", "label").iter_rows()) == {
        ids[0]: "SVC", ids[1]: "free", ids[2]: "figurative",
    }  # fmt: skip
    # The page imports these answers, and the work continues there.
    assert import_sheets(work).answers == 2
    assert {each["answer"] for each in history(office)} >= {"free", "figurative"}
    office.decide(work, Decision("again-1", "anna", ids[1], answer="SVC"))
    again = office.run().table("judged.annotations").filter(annotator="anna", id=ids[1])
    assert again["label"].to_list() == ["SVC"]


SWEEP = """partial = true

[sweep]
collect = ["judged"]

[sweep.over]
"stages.judged.categories.TP" = [["SVC"], ["free"]]
"""


@pytest.mark.long
def test_a_sweep_reports_conflicts_and_waits(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    office.run()
    work = office.work()
    ids = office.ids(work)
    office.label("anna", {ids[0]: "SVC"})
    office.decide(work, *decisions_of(ids, "anna", "rrr"))
    with office.config.open("a") as file:
        file.write(SWEEP)
    call = ["run", str(office.config), "--runs", str(office.runs), "--no-report"]
    assert main(call) == 3
    assert capsys.readouterr().err.count("waiting for 1 decision; sheets and pages differ") == 1
    where = [str(office.config), "--runs", str(office.runs)]
    assert main(["sheets", *where, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["conflicts"] == {"pairs": 1}
    assert main(["sheets", *where]) == 0
    assert "1 conflict of sheets and pages, which count as missing" in capsys.readouterr().out
    office.label("anna", {ids[0]: "free"})
    assert main(call) == 0
    assert main(["sheets", *where]) == 0
    assert "of sheets and pages" not in capsys.readouterr().out


def history(office: Office) -> list[dict[str, str]]:
    return [{"answer": each["label"]} for each in answers(office.work())]


@pytest.mark.long
def test_different_changes_in_sheet_and_page_are_a_conflict(office: Office) -> None:
    assert office.run().waits
    work = office.work()
    ids = office.ids(work)
    office.label("anna", {ids[0]: "SVC"})
    office.decide(work, *decisions_of(ids, "anna", "rrr"), *decisions_of(ids, "ben", "rrr"))
    outcome = import_sheets(work)
    assert outcome.answers == 0
    message = (
        f"anna, auf:Tisch legen: 'SVC' in 001-anna.csv, row {row_of(office, ids[0])};"
        " 'free' on the page"
    )
    assert outcome.conflicts == (message,)
    decision, label = office.run().waits
    assert (
        f"pairs: waiting for 1 decision; sheets and pages differ, and count as missing:\n  {message}\n"
        in str(decision)
    )
    assert label.text.startswith('waiting for 1 label from "anna"; 1 of them in conflict')
    office.label("anna", {ids[0]: "free"})
    assert not office.run().waits


def row_of(office: Office, item: str) -> int:
    lines = office.sheets()["anna"].read_text(encoding="utf-8-sig").splitlines()
    return next(number for number, line in enumerate(lines, 1) if item in line)


def test_an_invalid_label_in_a_sheet_is_reported(office: Office) -> None:
    assert office.run().waits
    work = office.work()
    office.label("anna", {office.ids(work)[0]: "SVG"})
    (strange,) = import_sheets(work).strange
    assert strange.endswith("'SVG' is not a label")


@pytest.mark.long
def test_results_depend_on_the_labels_not_on_the_log_file(office: Office) -> None:
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids, "anna", "SSr"), *decisions_of(ids, "ben", "SSr"))
    office.run()
    # The file changes, but no answer that counts does: nothing runs again.
    skip = Decision("skip-0001", "anna", ids[0], "skip")
    undo = [
        Decision("there-001", "anna", ids[0], answer="free"),
        Decision("undo-0001", "anna", "", "undo"),
    ]
    for decisions in ([skip], undo):
        office.decide(work, *decisions)
        assert all(each.outcome == "reused" for each in stages(office.run()))
    # A label changes, although the time stamp of the file may not.
    office.decide(work, Decision("other-001", "anna", ids[0], answer="free"))
    ran = {each.outcome for each in stages(office.run())}
    assert "done" in ran


def stages(run: lx.Run) -> list[StageRecord]:
    assert run.record is not None
    return list(run.record.stages.values())


def test_a_run_writes_no_sheet_for_a_person_who_has_finished(office: Office) -> None:
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids, "anna", "SSr"))
    office.run()
    assert set(office.sheets()) == {"ben"}


@pytest.mark.long
def test_answers_of_former_annotators_are_not_requested_again(office: Office) -> None:
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids, "anna", "SSr"), *decisions_of(ids, "ben", "SSr"))
    text = office.config.read_text().replace('"anna", "ben"', '"carla", "ben"')
    office.config.write_text(
        text.replace('folder = "pairs"\ncat', 'former = ["anna"]\nfolder = "pairs"\ncat')
    )
    with open_log(office.work().database) as connection:
        assert [who for _, who in asked_tasks(connection)] == ["ben"] * 3


def test_answers_are_exported_to_all_formats(office: Office, tmp_path: Path) -> None:
    work = office.work()
    ids = office.ids(work)
    office.decide(
        work, Decision("k-1", "anna", ids[0], answer="SVC", unsure=True, note="=1+1", seconds=2.5)
    )
    for name in ("all.xlsx", "all.csv", "all.jsonl"):
        assert export(work, tmp_path / name) == 1
        with pytest.raises(StoreError, match="File exists"):
            export(work, tmp_path / name)
    (line,) = map(json.loads, (tmp_path / "all.jsonl").read_text().splitlines())
    assert line["label"] == "SVC"
    assert (line["unsure"], line["note"], line["seconds"], line["round"]) == (
        True,
        "=1+1",
        2.5,
        "annotation",
    )
    for name in ("all.xlsx", "all.csv"):
        rows = read(tmp_path / name)
        assert rows.height == 6
        own = rows.filter(pl.col("label").is_not_null())
        assert own.select("annotator", "id", "note").rows() == [("anna", ids[0], "unsure: =1+1")]
        assert own.select("unsure", "round", "at", "seconds", "suggested").rows() == [
            ("yes", "annotation", line["at"], "2.5", None)
        ]
    assert export(work, tmp_path / "ben.jsonl", annotators=["ben"]) == 0
    assert export(work, tmp_path / "ben.csv", annotators=["ben"]) == 0
    assert set(read(tmp_path / "ben.csv")["annotator"]) == {"ben"}
    with pytest.raises(ConfigError, match=r"\.doc"):
        export(work, tmp_path / "all.doc")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_an_export_can_be_read_as_a_sheet_with_both_rounds(
    office: Office, tmp_path: Path, kind: str
) -> None:
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids, "anna", "SSr"), *decisions_of(ids, "ben", "rSr"))
    with open_log(work.database) as log:
        assert give_to_those_who_disagree(log) == 1
    for who in ("anna", "ben"):
        decided = Decision(f"d-{who}", who, ids[0], answer="SVC", round_name="adjudication")
        assert office.decide(work, decided)[0].status == "saved"
    export(work, tmp_path / f"all.{kind}")
    assert (
        read(tmp_path / f"all.{kind}")["round"].to_list()
        == ["annotation"] * 6 + ["adjudication"] * 2
    )
    before = office.run()
    # A second copy of the experiment has only the export.
    (tmp_path / "copy").mkdir()
    other = build_office(tmp_path / "copy")
    other.desk.mkdir(parents=True)
    (tmp_path / f"all.{kind}").rename(other.desk / f"001-all.{kind}")
    again = other.run()
    assert not again.waits
    for table in ("judged.judgements", "judged.resolutions", "judged.annotations"):
        assert (
            again.table(table)
            .drop("file", "line", strict=False)
            .equals(before.table(table).drop("file", "line", strict=False))
        )
    assert import_sheets(other.work()).answers == 6  # those of the first round
    assert other.run().table("judged.resolutions").height == 1


def test_a_copy_of_the_log_is_complete_and_overwrites_no_file(
    office: Office, tmp_path: Path
) -> None:
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids, "anna", "SSr"))
    copy(work.database, tmp_path / "copy.sqlite")
    assert [path.name for path in tmp_path.glob("copy*")] == ["copy.sqlite"]
    with pytest.raises(StoreError, match="cannot be written"):
        copy(work.database, tmp_path / "copy.sqlite")
    (office.desk / "decisions.sqlite").write_bytes((tmp_path / "copy.sqlite").read_bytes())


def test_only_annotators_of_the_experiment_have_pages(office: Office) -> None:
    with pytest.raises(ConfigError, match="'bem' is not an annotator"):
        office.work("anna", "bem")
    assert office.work("ben").annotators == ("ben",)


@pytest.mark.long
def test_decisions_of_a_third_person_keep_the_first_labels(office: Office) -> None:
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids, "anna", "SSr"), *decisions_of(ids, "ben", "rSS"))
    with open_log(work.database) as connection:
        tasks = [TaskRequest("carla", each, n) for n, each in enumerate([ids[0], ids[2]], 1)]
        update_tasks(connection, {}, tasks, round_name="adjudication")
    decision = Decision("carla-01", "carla", ids[0], answer="SVC", round_name="adjudication")
    assert office.decide(work, decision)[0].status == "saved"
    run = office.run()
    assert judgements(run) == dict(zip(ids, [True, True, None], strict=True))
    assert run.table("judged.resolutions")["id"].to_list() == [ids[0]]
    first = run.table("judged.annotations").filter(id=ids[0])
    assert sorted(first.select("annotator", "label").rows()) == [("anna", "SVC"), ("ben", "free")]
    assert office.work().annotators == ("anna", "ben")


# Imports of sheets during other work: notes, settled answers, two writers at once.


@pytest.fixture
def labelled_office(office: Office) -> tuple[Office, SheetWork, list[str]]:
    """Both people have labelled everything on the page, and have sheets with these labels."""
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids, "anna", "SSr"), *decisions_of(ids, "ben", "rSS"))
    hand_to_sheets(work)
    return office, work, ids


def notes(office: Office) -> list[tuple[str, str]]:
    return office.run().table("judged.notes").select("id", "note").sort("note").rows()


def page(work: SheetWork, item: str) -> str | None:
    (note,) = [a["note"] for a in answers(work) if (a["annotator"], a["id"]) == ("anna", item)]
    return None if note is None else str(note)


@pytest.mark.long
def test_a_note_added_in_the_sheet_is_kept(
    labelled_office: tuple[Office, SheetWork, list[str]],
) -> None:
    office, work, ids = labelled_office
    office.label("anna", {ids[0]: "a later thought"}, column="note")
    assert notes(office) == [(ids[0], "a later thought")]
    assert import_sheets(work) == ImportResult(answers=1)
    assert page(work, ids[0]) == "a later thought"
    assert import_sheets(work) == ImportResult()
    assert notes(office) == [(ids[0], "a later thought")]  # once


@pytest.mark.long
def test_notes_in_the_sheet_and_on_the_page_are_both_kept(
    labelled_office: tuple[Office, SheetWork, list[str]],
) -> None:
    office, work, ids = labelled_office
    office.label("anna", {ids[0]: "of the sheet"}, column="note")
    decision = Decision("noted-01", "anna", ids[0], answer="SVC", note="of the page")
    office.decide(work, decision)
    assert import_sheets(work) == ImportResult()
    assert page(work, ids[0]) == "of the page"
    assert notes(office) == [(ids[0], "of the page"), (ids[0], "of the sheet")]


@pytest.mark.long
def test_a_note_changed_on_the_page_replaces_that_of_the_sheet(office: Office) -> None:
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *decisions_of(ids, "ben", "SSr"), *decisions_of(ids[1:], "anna", "SS"))
    office.decide(work, Decision("noted-01", "anna", ids[0], answer="SVC", note="old"))
    hand_to_sheets(work)
    office.decide(work, Decision("noted-02", "anna", ids[0], answer="SVC", note="new"))
    assert import_sheets(work) == ImportResult()
    assert notes(office) == [(ids[0], "new")]


@pytest.mark.long
def test_a_label_that_adjudicators_saw_cannot_change_in_a_sheet(
    labelled_office: tuple[Office, SheetWork, list[str]],
) -> None:
    office, work, ids = labelled_office
    with open_log(work.database) as log:
        assert give_to_third(log, "carla") == 2
    office.label("anna", {ids[0]: "free", ids[1]: "free"})
    outcome = import_sheets(work)
    assert outcome.answers == 1  # adjudicators have not seen the second
    (conflict,) = outcome.conflicts
    assert conflict.endswith("'SVC' on the page, which counts: adjudicators have seen it")
    labels = {a["id"]: a["label"] for a in answers(work) if a["annotator"] == "anna"}
    assert labels == {ids[0]: "SVC", ids[1]: "free", ids[2]: "free"}
    for label, waits in (("free", 1), ("SVC", 0)):
        office.label("anna", {ids[0]: label})
        run = office.run()
        assert len(run.waits) == waits
        first = run.table("judged.annotations").filter(id=ids[0])
        assert sorted(first["label"]) == ["SVC", "free"]


def test_answers_during_an_import_of_sheets_are_not_overwritten(
    labelled_office: tuple[Office, SheetWork, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    office, work, ids = labelled_office
    office.label("anna", {ids[0]: "free"})

    def slowly(*values: Any) -> pl.DataFrame:
        rows = typed_answers(*values)
        office.decide(work, Decision("quick-01", "anna", ids[0], answer="figurative"))
        return rows

    monkeypatch.setattr(sync, "typed_answers", slowly)
    outcome = import_sheets(work)
    assert outcome.answers == 0
    assert len(outcome.conflicts) == 1


def test_a_failure_of_a_later_stage_does_not_stop_annotation(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*values: Any, **more: Any) -> None:
        raise DataError("the choice asks for longer lists than there are")

    def fails_late(*values: Any, **more: Any) -> None:
        run(*values, **more)
        fails()

    monkeypatch.setattr(tasks, "run", fails)
    with pytest.raises(DataError, match="longer lists"):
        office.work()
    monkeypatch.setattr(tasks, "run", fails_late)
    assert office.work().annotators == ("anna", "ben")
