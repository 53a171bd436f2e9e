"""Files of other annotation tools, as documented: export, import, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.annotate.adjudication import give_to_those_who_disagree
from pipeline.annotate.exchange.tools import TOOLS, people_of
from pipeline.annotate.exchange.transfer import (
    ToolImport,
    export_tasks,
    import_answers,
    import_suggestions,
    parse_people,
    suggested_answers,
    suggestions_shown,
    switch_suggestions,
    tool_of,
)
from pipeline.annotate.sync import answers
from pipeline.annotate.tasks import SheetWork
from pipeline.cli.main import main
from pipeline.errors import ConfigError, DataError, StoreError
from pipeline.formats.annotation_log import Decision, append, open_log, read_only
from tests.annotate.office import Office
from tests.annotate.served import ask, entries, say, work_in

FILES = {
    "label-studio": "tasks.json",
    "doccano": "tasks.jsonl",
    "prodigy": "tasks.jsonl",
    "potato": "tasks.jsonl",
}


@pytest.fixture
def work(tmp_path: Path) -> SheetWork:
    """A work in which two people label x0 to x4."""
    work = work_in(tmp_path / "work")
    ask(work, "ana", "ben")
    return work


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str, *lines: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = (each if isinstance(each, str) else json.dumps(each) for each in lines)
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return path

    return write


def counted_answers(work: SheetWork) -> list[tuple[str, str, str, bool, str | None]]:
    """Return the answers that count: annotator, item, label, unsure, note."""
    return sorted(
        (each["annotator"], each["id"], each["label"], each["unsure"], each["note"])
        for each in answers(work)
    )


# Exports of the tools, in their documented forms and with additional fields.

LABEL_STUDIO: dict[str, Any] = {
    "id": 1, "created_at": "2021-03-09T21:52:49.513742Z", "updated_at": "2021-03-09T22:16:08.746926Z",
    "project": 83, "data": {"item": "x0", "annotator": "ana", "text": "left0 right0"},
    "annotations": [{
        "id": "1001", "was_cancelled": False, "ground_truth": False, "lead_time": 4.288,
        "created_at": "2021-03-09T22:16:08.728353Z", "updated_at": "2021-03-09T22:16:08.728378Z",
        "result_count": 0, "task": 1, "completed_by": 10,
        "result": [
            {"from_name": "label", "id": "Dx_aB91ISN", "to_name": "text", "type": "choices",
             "origin": "manual", "value": {"choices": ["SVC"]}},
            {"from_name": "unsure", "id": "a2", "to_name": "text", "type": "choices",
             "value": {"choices": ["unsure"]}},
            {"from_name": "note", "id": "a3", "to_name": "text", "type": "textarea",
             "value": {"text": ["or free?", "ask"]}},
            {"from_name": "stars", "id": "a4", "to_name": "text", "type": "rating",
             "value": {"rating": 4}},
        ],
    }],
    "predictions": [{"created_ago": "3 hours", "model_version": "model 1", "result": [
        {"from_name": "label", "id": "t5", "to_name": "text", "type": "choices",
         "value": {"choices": ["free"]}}]}],
    "drafts": [],
}  # fmt: skip
DOCCANO = {
    "id": 33, "text": "left0 right0", "item": "x0", "annotator": "ana",
    "label": ["SVC", "unsure"], "Comments": ["or free?", "ask"],
}  # fmt: skip
PRODIGY = {
    "html": "left0 right0<br>[[left0]]", "meta": {"item": "x0", "annotator": "ana"},
    "options": [{"id": "SVC", "text": "SVC"}, {"id": "free", "text": "free"}],
    "_input_hash": 1886699658, "_task_hash": -1952856502, "_is_binary": False,
    "_view_id": "blocks", "config": {"choice_style": "single"}, "accept": ["SVC"],
    "answer": "accept", "flagged": True, "note": "or free?\nask", "_timestamp": 1667313635,
    "_annotator_id": "verbs-ana", "_session_id": "verbs-ana",
}  # fmt: skip
POTATO = {
    "user_id": "ana", "instance_id_ordering": ["x0", "x1"], "current_instance_index": 1,
    "current_phase_and_page": ["annotation", "annotation"], "max_assignments": -1,
    "instance_id_to_behavioral_data": {"x0": {"total_time_ms": 3100}},
    "instance_id_to_label_to_value": {"x0": [
        [{"schema": "label", "name": "SVC"}, "true"],
        [{"schema": "unsure", "name": "unsure"}, "true"],
        [{"schema": "note", "name": "text_box"}, "or free?\nask"],
    ], "x1": []},
    "instance_id_to_span_to_value": {},
}  # fmt: skip
POTATO_CSV = """\
instance_id,user_id,label.SVC,label.free,unsure.unsure,note.text_box
x0,ana,true,,true,"or free?
ask\""""
POTATO_TSV = """\
user\tinstance_id\tdisplayed_text\tlabel:::SVC\tunsure:::unsure\tnote:::text_box
ana\tx0\tleft0\t1\t1\t"or free?
ask\""""
EXPECTED = [("ana", "x0", "SVC", True, "or free?\nask")]


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("label-studio", "export.json", [LABEL_STUDIO]),
        ("doccano", "ana.jsonl", DOCCANO),
        ("doccano", "all.jsonl", DOCCANO),
        ("prodigy", "verbs.jsonl", PRODIGY),
        ("potato", "user_state.json", POTATO),
        ("potato", "out/annotations.jsonl", {
            "instance_id": "x0", "user_id": "ana", "spans": {}, "links": {},
            "labels": {"label": {"SVC": "true", "free": "false"}, "unsure": {"unsure": "true"},
                       "note": {"text_box": "or free?\nask"}}}),
        ("potato", "annotated_instances.jsonl", {
            "id": "x0", "user": "ana", "displayed_text": "left0", "span_annotations": [],
            "label_annotations": {"label": {"SVC": "1"}, "unsure": {"unsure": "1"},
                                  "note": {"text_box": "or free?\nask"}},
            "behavioral_data": {"time_string": "Time spent: 0d 0h 0m 5s "}}),
        ("potato", "annotations.csv", POTATO_CSV),
        ("potato", "annotated_instances.tsv", POTATO_TSV),
    ],
    ids=lambda each: each if isinstance(each, str) and len(each) < 40 else "",
)  # fmt: skip
def test_documented_forms_of_export_are_imported(
    work: SheetWork, write: Callable[..., Path], name: str, file: str, content: Any
) -> None:
    path = write(file, content)
    people = {"ana": "10"} if name == "label-studio" else {}
    assert import_answers(work, path, name, people) == ToolImport(answers=1)
    assert counted_answers(work) == EXPECTED
    assert entries(work, "kind") == ["import"]
    if name == "label-studio":
        assert entries(work, "seconds") == [4.288]
    # The same file under another name adds no answer.
    again = path.with_name("ana." + file.rpartition(".")[2])
    path.rename(again)
    if not file.startswith("annotated_instances"):
        assert import_answers(work, again, name, people) == ToolImport(duplicates=1)
        assert entries(work, "kind") == ["import"]


def test_potato_answers_are_read_from_a_folder_per_person(
    work: SheetWork, write: Callable[..., Path], tmp_path: Path
) -> None:
    documented = {"user_id": "Ben ", "instance_id_to_label_to_value": {
        "x1": {"label": {"labels": {"free": True, "SVC": False}}}}}  # fmt: skip
    write("out/ana/user_state.json", POTATO)
    write("out/ben/user_state.json", documented)
    assert import_answers(work, tmp_path / "out", "potato") == ToolImport(answers=2)
    assert counted_answers(work) == [*EXPECTED, ("ben", "x1", "free", False, None)]
    with pytest.raises(DataError, match=r"has no folders with user_state\.json"):
        import_answers(work, tmp_path / "out" / "ana", "potato")


# Export to a tool and import from it


def annotate_there(name: str, target: Path, label: str) -> Path:
    """Add ana's label to her first task in the file, in the format of the tool."""
    if name == "label-studio":
        tasks = json.loads(target.read_text(encoding="utf-8"))
        value = {"from_name": "label", "to_name": "text", "type": "choices",
                 "value": {"choices": [label]}}  # fmt: skip
        annotation = {"completed_by": {"id": 3, "email": "ANA"}, "result": [value]}
        tasks[0] |= {"id": 7, "annotations": [annotation]}
        text = json.dumps(tasks)
    elif name == "potato":
        items = [json.loads(line) for line in target.read_text(encoding="utf-8").split("\n")[:-1]]
        row = {
            "instance_id": items[0]["id"],
            "user_id": "ana",
            "labels": {"label": {label: "true"}},
        }
        text = json.dumps(row) + "\n"
    else:
        tasks = [json.loads(line) for line in target.read_text(encoding="utf-8").split("\n")[:-1]]
        tasks[0] |= (
            {"id": 1, "label": [label], "Comments": []}
            if name == "doccano"
            else {"accept": [label], "answer": "accept", "_session_id": "2022-11-01_12-00-35"}
        )
        text = "".join(json.dumps(each) + "\n" for each in tasks)
    back = target.with_name(f"back-{target.name}")
    back.write_text(text, encoding="utf-8")
    return back


@pytest.mark.parametrize("name", TOOLS)
def test_exported_tasks_are_imported_with_their_answers(
    work: SheetWork, tmp_path: Path, name: str
) -> None:
    count, places = export_tasks(work, tmp_path / FILES[name], name)
    assert count == 10
    assert all(path.is_file() for path in places)
    assert "[[left0]]" in places[0].read_text(encoding="utf-8")  # an example
    back = annotate_there(name, places[0], "free")
    assert import_answers(work, back, name).answers == 1
    assert counted_answers(work) == [("ana", "x0", "free", False, None)]
    with pytest.raises(StoreError, match="File exists"):
        export_tasks(work, tmp_path / FILES[name], name)


texts = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from("\n\r\t\"\\,;<>&'\u2028\u05d0\u0627\u202e\U0001f600\x00\x1f"),
    max_size=12,
)


@pytest.mark.parametrize("name", TOOLS)
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.tuples(texts, texts, texts, st.booleans()))
def test_any_text_survives_export_and_import(
    tmp_path_factory: pytest.TempPathFactory, name: str, text: tuple[str, str, str, bool]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    item, unit, note, unsure = f"i{text[0]}", *text[1:]
    cards = {item: {"units": {"l1": unit, "l2": "b"}, "examples": [note]}}
    for part in ("before", "after"):
        ask(work_in(folder / part, annotators=("Ana \u05d0",)), "Ana \u05d0", contents=cards)
    work, other = (
        work_in(folder / part, annotators=("Ana \u05d0",)) for part in ("before", "after")
    )
    say(work, "Ana \u05d0", item, "SVC", note=note.strip(), unsure=unsure)
    _, places = export_tasks(work, folder / FILES[name], name)
    source = folder / "tasks-annotations" if name == "potato" else places[0]
    assert import_answers(other, source, name) == ToolImport(answers=1)
    if name == "label-studio":
        ElementTree.fromstring(places[1].read_text(encoding="utf-8"))  # well-formed
    (row,) = counted_answers(other)
    assert row[:4] == ("Ana \u05d0", item, "SVC", unsure)
    if name != "doccano":  # its import format has no field for notes
        assert (row[4] or "") == note.strip()


def test_only_tasks_of_the_selected_annotators_are_exported(tmp_path: Path) -> None:
    work = work_in(tmp_path / "work", annotators=("ben",))
    ask(work, "ana", "ben")
    export_tasks(work, tmp_path / "ben.jsonl", "doccano")
    lines = (tmp_path / "ben.jsonl").read_text().splitlines()
    assert {json.loads(line)["annotator"] for line in lines} == {"ben"}


@pytest.mark.parametrize(("name", "file"), [("label-studio", "t.xml"), ("potato", "t.YAML")])
def test_the_configuration_does_not_overwrite_the_tasks(
    work: SheetWork, tmp_path: Path, name: str, file: str
) -> None:
    with pytest.raises(ConfigError, match=r"configuration in a file with this ending; use \.json"):
        export_tasks(work, tmp_path / file, name)
    assert not (tmp_path / file).exists()


def test_a_file_name_needs_no_ending(work: SheetWork, tmp_path: Path) -> None:
    assert export_tasks(work, tmp_path / "tasks", "prodigy")[1] == [tmp_path / "tasks"]


def test_people_are_exported_under_their_names_in_the_tool(work: SheetWork, tmp_path: Path) -> None:
    say(work, "ana", "x0", "SVC", seconds=2.5)
    say(work, "ben", "x0", "free")
    people = parse_people(["ANA=7", "ben = ben@lab.org"], work)
    assert people == {"ana": "7", "ben": "ben@lab.org"}
    _, (tasks, config) = export_tasks(work, tmp_path / "t.json", "label-studio", people)
    every = [each for task in json.loads(tasks.read_text()) for each in task.get("annotations", [])]
    assert [each["completed_by"] for each in every] == [7, {"email": "ben@lab.org"}]
    assert every[0]["lead_time"] == 2.5
    assert [each.get("value") for each in ElementTree.parse(config).iter("Choice")] == [
        "SVC", "figurative", "free", "unsure",
    ]  # fmt: skip
    assert import_answers(work, tasks, "label-studio", people) == ToolImport(duplicates=2)
    with pytest.raises(ConfigError, match=r"(?s)'cara' is not an annot.*'x' is not NAME=.*twice"):
        parse_people(["cara=1", "x", "ana=1", "Ana=2"], work)


def test_people_of_a_tool_are_known_by_id_address_or_name() -> None:
    account = {"id": 7, "email": "b@x.org", "first_name": "Ben", "last_name": "Ek"}
    assert people_of(account) == ("7", "b@x.org", "Ben Ek")
    assert people_of(None) == ()


def test_answers_of_a_shared_account_go_to_the_annotator_of_the_task(
    work: SheetWork, write: Callable[..., Path]
) -> None:
    both = {"ana": "10", "ben": "10"}
    path = write("t.json", [LABEL_STUDIO])
    assert import_answers(work, path, "label-studio", both).answers == 1
    assert counted_answers(work) == EXPECTED  # the task was written for her


# Skipped tasks, conflicts, and mistakes


def test_skipped_tasks_are_reported(work: SheetWork, write: Callable[..., Path]) -> None:
    skipped = {
        **LABEL_STUDIO,
        "annotations": [{**LABEL_STUDIO["annotations"][0], "was_cancelled": True}],
    }
    path = write("t.json", [skipped, {"data": {"item": "x1"}, "annotations": []}])
    outcome = import_answers(work, path, "label-studio")
    assert outcome == ToolImport(skipped=("task 1: x0",))
    lines = [{**PRODIGY, "answer": each} for each in ("reject", "ignore")]
    open_task = {"text": "b", "meta": {"item": "x1"}, "options": []}
    outcome = import_answers(work, write("t.jsonl", *lines, "", open_task), "prodigy")
    assert outcome == ToolImport(skipped=("line 1: x0", "line 2: x0"))
    assert counted_answers(work) == []


def test_a_single_accepted_label_of_prodigy_is_imported(
    work: SheetWork, write: Callable[..., Path]
) -> None:
    meta = {"item": "x0", "annotator": "ana"}
    line = {"text": "left0", "label": "SVC", "answer": "accept", "meta": meta}
    assert import_answers(work, write("t.jsonl", line), "prodigy").answers == 1


def test_an_answer_that_differs_from_the_log_is_a_conflict(
    work: SheetWork, write: Callable[..., Path]
) -> None:
    path = write("ana.jsonl", DOCCANO)
    say(work, "ana", "x0", "free")
    (conflict,) = import_answers(work, path, "doccano").conflicts
    assert conflict == "line 1: 'SVC' for x0, but ana decided 'free'"
    assert counted_answers(work) == [("ana", "x0", "free", False, None)]
    say(work, "ana", "x0", "SVC")
    assert import_answers(work, path, "doccano") == ToolImport(answers=1)  # its note is new
    assert counted_answers(work) == EXPECTED
    say(work, "ana", "x0", "SVC", note="sure")
    (conflict,) = import_answers(work, path, "doccano").conflicts
    assert conflict.endswith("with another note than ana's 'sure'")


def test_a_withdrawn_answer_is_not_imported_again(
    work: SheetWork, write: Callable[..., Path]
) -> None:
    path = write("ana.jsonl", DOCCANO)
    import_answers(work, path, "doccano")
    with open_log(work.database) as log:
        append(log, [Decision("k-1", "ana", "x0", answer=None)])
    (conflict,) = import_answers(work, path, "doccano").conflicts
    assert conflict.endswith("which ana has withdrawn since it was imported")
    assert counted_answers(work) == []


def test_an_answer_that_adjudicators_have_seen_stays(
    work: SheetWork, write: Callable[..., Path]
) -> None:
    say(work, "ana", "x0", "SVC")
    say(work, "ben", "x0", "free")
    with open_log(work.database) as log:
        assert give_to_those_who_disagree(log) == 1
    (conflict,) = import_answers(work, write("ana.jsonl", DOCCANO), "doccano").conflicts
    assert "adjudicators have seen them" in conflict


def test_all_mistakes_are_reported_and_nothing_is_imported(
    work: SheetWork, write: Callable[..., Path]
) -> None:
    def line(**other: Any) -> dict[str, Any]:
        return {**DOCCANO, "label": ["SVC"], "Comments": [], **other}

    path = write(
        "all.jsonl",
        line(), line(item="x1", label=["SVG"]), line(item="x1", label=["SVC", "free"]),
        line(item="x9"), line(item="x2", annotator="cara"), line(item=None), line(),
        line(item="x3", Comments=["\ud800"]), "{", "[1]", line(item="x4", label="SVC"),
    )  # fmt: skip
    with pytest.raises(DataError) as raised:
        import_answers(work, path, "doccano")
    message = str(raised.value)
    assert "10 mistakes, so nothing was imported" in message
    for one in (
        "is not a label (SVC, figurative, free): 1, line 2: 'SVG'",
        "has several labels: 1, line 3: 'SVC, free'",
        "is not the id of an item of this sheet: 1, line 4: 'x9 by ana'",
        "is by nobody whom the experiment asks: say with --annotator-map",
        "line 5: 'cara'",
        "has no id of an item: annotate the tasks that --export wrote: 1, line 6",
        "answers an item twice: keep one: 1, line 1 and line 7: 'x0 by ana'",
        "has a character that is not text: 1, line 8",
        "is not a JSON object: 2, for example line 9: '{'; line 10: '[1]'",
        "is not in the documented form: 1, line 11",
        "Correct this in doccano, or in the file, and import it again.",
    ):
        assert one in message
    assert counted_answers(work) == []


@pytest.mark.parametrize(
    "case",
    [
        ("label-studio", "t.json", "[\n{", "t.json, line 3: is not JSON"),
        ("label-studio", "t.json", '{"data": {}}', "is not a list of tasks"),
        ("label-studio", "t.json", "[" * 100_000, "is not JSON"),
        ("label-studio", "t.json", '[{"id": 1, "text": "a", "label": "SVC"}]', "not JSON-MIN"),
        ("potato", "user_state.json", '{"user_id": "ana"}', "is not a user_state.json of Potato"),
        ("potato", "a.csv", "instance_id,user_id,label.SVC\nx0,ana", "line 2"),
        ("prodigy", "t.jsonl", '{"text": "a", "answer": "yes"}', "documented form"),
        ("doccano", "missing", None, "does not exist|not found"),
    ],
)
def test_files_that_the_tool_did_not_write_are_refused(
    work: SheetWork, write: Callable[..., Path], case: tuple[str, str, str | None, str]
) -> None:
    name, file, content, message = case
    path = work.folder / file if content is None else write(file, content)
    with pytest.raises(DataError, match=message):
        import_answers(work, path, name)


def test_answers_of_a_person_without_the_task_are_refused(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    work = work_in(tmp_path / "work")
    ask(work, "ana")
    ask(work, "ben", contents={"y0": {"units": {"l1": "a", "l2": "b"}}})
    with pytest.raises(
        DataError, match="was not assigned to this annotator: 1, line 1: 'x0 by ben'"
    ):
        import_answers(work, write("ben.jsonl", DOCCANO), "doccano")


# Keyed forms


@pytest.mark.parametrize("name", ["label-studio", "prodigy", "potato"])
def test_keyed_forms_survive_export_and_import(tmp_path: Path, name: str) -> None:
    contents = {"g": {"units": {"lemma": "gehen"}, "lexicon_forms": "gehe, ging"}}
    works = [work_in(tmp_path / part, kind="keying", labels=()) for part in ("before", "after")]
    for each in works:
        ask(each, "ana", contents=contents)
    say(works[0], "ana", "g", "gehe, ging, gegangen", note="p. 7")
    _, places = export_tasks(works[0], tmp_path / FILES[name], name)
    source = tmp_path / "tasks-annotations" if name == "potato" else places[0]
    assert import_answers(works[1], source, name) == ToolImport(answers=1)
    (row,) = answers(works[1])
    assert (row["lemma"], row["forms"], row["note"]) == ("gehen", "gehe, ging, gegangen", "p. 7")


def test_tools_without_a_field_for_keyed_forms_are_refused(tmp_path: Path) -> None:
    work = work_in(tmp_path, kind="keying", labels=())
    with pytest.raises(ConfigError, match="has no field for keyed forms; use label-studio, prod"):
        tool_of("doccano", work)
    with pytest.raises(ConfigError, match="unknown format 'prodgy'; did you mean prodigy"):
        tool_of("prodgy", work)


# Suggestions of a model


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        ("m.csv", ["id,label,score", "x0,svc,0.9", "x1,free,", "zz,free,0.1"]),
        ("m.tsv", ["l1\tl2\tlabel", "left0\tright0\tSVC", "left1\tright1\tfree", "a\tb\tfree"]),
        ("m.jsonl", [{"id": "x0", "label": "SVC", "score": 0.9}, {"l1": "left1", "l2": "right1",
         "label": "free"}, {"id": "zz", "label": "free"}]),
        ("m.json", [[{"data": {"item": item}, "predictions": [{"model_version": "m", "score": 0.9,
         "result": [{"from_name": "label", "to_name": "text", "type": "choices",
                     "value": {"choices": [label]}}]}]}
         for item, label in (("x0", "SVC"), ("x1", "free"), ("zz", "free"))]]),
    ],
)  # fmt: skip
def test_suggestions_are_stored_and_can_be_shown_or_hidden(
    work: SheetWork, write: Callable[..., Path], file: str, lines: list[Any]
) -> None:
    outcome = import_suggestions(work, write(file, *lines))
    assert (outcome.stored, outcome.others) == (2, 1)
    with open_log(work.database) as log:
        assert suggested_answers(log, ["x0", "x1", "x2"]) == {"x0": "SVC", "x1": "free"}
        assert not suggestions_shown(log)
    assert switch_suggestions(work, visible=True) == 2
    with read_only(work.database) as log:
        assert suggestions_shown(log)
    switch_suggestions(work, visible=False)
    with read_only(work.database) as log:
        assert not suggestions_shown(log)


def test_suggestions_with_mistakes_are_not_stored(
    work: SheetWork, write: Callable[..., Path]
) -> None:
    lines = ["id,label,score", "x0,SVG,1", "x1,free,high", "x2,free,1", "x2,SVC,1", "x3,free"]
    with pytest.raises(DataError, match="4 mistakes, so no suggestion was stored") as raised:
        import_suggestions(work, write("m.csv", *lines))
    for one in ("is not a label (SVC, figurative, free): 1, line 2: 'SVG'",
                "has a score that is not a number: 1, line 3: 'high'",
                "is a second suggestion for an item: 1, line 5: x2",
                "has more or fewer fields than the header: 1, line 6"):  # fmt: skip
        assert one in str(raised.value)
    with pytest.raises(DataError, match="no row is for an item of this sheet"):
        import_suggestions(work, write("n.csv", "id,label", "zz,SVC"))
    with pytest.raises(ConfigError, match="unknown ending"):
        import_suggestions(work, write("n.txt", ""))
    with pytest.raises(ConfigError, match="there are no suggestions"):
        switch_suggestions(work, visible=True)


# The command line


@pytest.mark.long
@pytest.mark.parametrize("name", TOOLS)
def test_the_command_exports_and_imports_a_complete_annotation(
    office: Office, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(office.folder)
    file = FILES[name]
    common = ["annotate", "desk.toml", "--format", name]
    assert main([*common, "--export", file]) == 0
    assert f"wrote 6 tasks to {file}" in capsys.readouterr().out
    source = label_all(name, tmp_path / file)
    people = ["--annotator-map", "anna=1,ben=2"] if name == "label-studio" else []
    assert main([*common, "--import", str(source), *people]) == 0
    assert "6 answers imported" in capsys.readouterr().out
    run = office.run()
    assert not run.waits
    assert run.table("judged.judgements")["tp"].to_list() == [True] * 3
    assert main([*common, "--import", str(source), *people]) == 0
    assert "0 answers imported" in capsys.readouterr().out
    office.decide(office.work(), Decision("k-1", "anna", office.ids(office.work())[0],
                                          answer="free"))  # fmt: skip
    assert main([*common, "--import", str(source), *people]) == 3
    assert "1 answer not imported, since the log has another" in capsys.readouterr().out


def label_all(name: str, target: Path) -> Path:
    """Label all tasks SVC in the tool, and return its export."""
    back = target.with_name(f"back{target.suffix}")
    if name == "label-studio":
        tasks = json.loads(target.read_text())
        for number, task in enumerate(tasks, 1):
            result = [{"from_name": "label", "to_name": "text", "type": "choices", "id": "a",
                       "value": {"choices": ["SVC"]}}]  # fmt: skip
            person = {"anna": 1, "ben": 2}[task["data"]["annotator"]]
            task |= {"id": number, "annotations": [
                {"id": number, "completed_by": person, "result": result, "lead_time": 1.5}]}  # fmt: skip
        back.write_text(json.dumps(tasks))
        return back
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    if name == "doccano":
        rows = [{**each, "id": n, "label": ["SVC"], "Comments": []} for n, each in enumerate(lines)]
    elif name == "prodigy":
        rows = [{**each, "accept": ["SVC"], "answer": "accept", "_view_id": "choice",
                 "_session_id": f"verbs-{each['meta']['annotator']}"} for each in lines]  # fmt: skip
    else:
        rows = [{"instance_id": each["id"], "user_id": who, "labels": {"label": {"SVC": "true"}}}
                for each in lines for who in each["annotators"]]  # fmt: skip
    back.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return back


@pytest.mark.long
def test_the_command_stores_suggestions(
    office: Office, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(office.folder)
    rows = ["l1,l2,label", "in:Frage,stellen,SVC", "a,b,free"]
    (office.folder / "model.csv").write_text("\n".join(rows))
    command = ["annotate", "desk.toml", "--suggestions", "model.csv", "--show-suggestions"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "1 suggestion stored from model.csv; 1 row for other items" in out
    assert "1 suggestion shown on the cards" in out
    assert main(["annotate", "desk.toml", "--hide-suggestions"]) == 0
    assert "1 suggestion hidden on the cards" in capsys.readouterr().out
    assert main(command[:-1]) == 0
    assert "cards do not show them; --show-suggestions does" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--import", "x.json"], "needs --format"),
        (["--format", "doccano"], "has no effect"),
        (["--export", "x.csv", "--annotator-map", "a=b"], "has no effect"),
    ],
)
def test_options_without_effect_are_refused(
    office: Office, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["annotate", str(office.config), *options]) == 2
    assert message in capsys.readouterr().err
