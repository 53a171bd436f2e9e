"""The files of Label Studio, doccano, Prodigy and Potato: tasks written, answers read.

Label Studio: https://labelstud.io/guide/export#Label-Studio-JSON-format-of-annotated-tasks and
https://labelstud.io/guide/tasks#Basic-Label-Studio-JSON-format; tags Text, Choices and TextArea.
doccano: https://doccano.github.io/doccano/tutorial/; the text classification examples of its import
and export. Prodigy: https://prodi.gy/docs/api-interfaces#choice and #text_input, and
https://prodi.gy/docs/api-web-app. Potato:
https://potatoannotator.readthedocs.io/en/latest/configuration/data_format/ and
https://potatoannotator.readthedocs.io/en/latest/data-export/export_formats/.

Every file has the id of the item: in a field ``item``, since most tools number tasks themselves.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pipeline.annotate.tasks import SheetWork
from pipeline.errors import DataError, no_file
from pipeline.formats.base import reading

LABEL, FORMS, UNSURE, NOTE = "label", "forms", "unsure", "note"
"""Names of the fields that annotators fill in, in tools with several."""
ITEM, ANNOTATOR = "item", "annotator"
"""Names of the fields that identify a task."""


@dataclass(frozen=True)
class ExchangeTask:
    """A task with its current answer, to be written.

    Parameters
    ----------
    annotator, id : str
        The person and the item.
    text : str
        The units: what is judged.
    examples : tuple of str
        Examples, or what else is shown.
    answer : str or None
        The label or the forms; None if there is none.
    unsure, note, seconds, at
        Attributes of the answer.
    """

    annotator: str
    id: str
    text: str
    examples: tuple[str, ...] = ()
    answer: str | None = None
    unsure: bool = False
    note: str = ""
    seconds: float | None = None
    at: str = ""

    @property
    def content(self) -> str:
        """Text and examples."""
        return "\n".join([self.text, *([""] if self.examples else []), *self.examples])


@dataclass(frozen=True)
class ToolAnswer:
    """What a file says of a task.

    Parameters
    ----------
    place : str
        Place in the file.
    id : str
        The item.
    people : tuple of str
        Name, number and e-mail address of the person in the tool; empty if it names nobody.
    file : str
        The name of the file, in tools that write one for each person.
    assignee : str
        The annotator for whom the task was written.
    answer : str or None
        The answer as written there; None if there is none.
    skipped : bool
        True if the person skipped, rejected or ignored the task.
    unsure, note, seconds
        Attributes of the answer.
    """

    place: str
    id: str
    people: tuple[str, ...] = ()
    file: str = ""
    assignee: str = ""
    answer: str | None = None
    skipped: bool = False
    unsure: bool = False
    note: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Fault:
    """A mistake in a file: place, what is wrong (one text for each kind), and the value."""

    place: str
    what: str
    value: str = ""


Content = dict[Path, str]
"""Texts by file."""


@dataclass(frozen=True)
class Tool:
    """An annotation tool.

    Parameters
    ----------
    title : str
        Its name.
    write : callable
        (work, tasks, file, annotator to name in the tool) -> the texts of all files.
    read : callable
        (file, whether forms are keyed in) -> what it says of each task, and its mistakes.
    keying : bool
        Whether forms can be keyed in there.
    beside : str
        Ending of the configuration that is written beside the tasks; empty if there is none.
    """

    title: str
    write: Callable[[SheetWork, Sequence[ExchangeTask], Path, Mapping[str, str]], Content]
    read: Callable[[Path, bool], Iterator[ToolAnswer | Fault]]
    keying: bool = True
    beside: str = ""


# Reading JSON and its values


class _Wrong(Exception):
    """A value is not as documented."""


def read_text(path: Path) -> str:
    """Return the text of a file, which must be UTF-8."""
    with reading(path):
        if path.exists() and not path.is_file():
            raise DataError(f"{path}: {'; '.join(no_file(path))}")
        return path.read_text(encoding="utf-8-sig")


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]] | Fault]:
    """Yield place and object of each line of a JSON lines file."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            place = f"line {number}"
            try:
                yield place, _object(json.loads(line))
            except (ValueError, RecursionError, _Wrong):
                yield Fault(place, "is not a JSON object", line.strip()[:40])


def read_list(path: Path) -> list[Any]:
    """Return the list of a JSON file.

    Raises
    ------
    DataError
        With the line of the mistake.
    """
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(
            f"{path}{line}: is not JSON\nExport it again, or name its tool with --format."
        ) from error
    if not isinstance(value, list):
        raise DataError(f"{path}: is not a list of tasks\nExport all tasks as JSON.")
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Wrong
    return value


def _name(value: Any) -> str:
    """Return a text or a number as text; empty for null."""
    if value is None:
        return ""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return str(value)
    raise _Wrong


def _names(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise _Wrong
    return [_name(each) for each in value]


def _seconds(value: Any) -> float | None:
    ok = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e6
    return float(value) if ok else None


_NO_FORM = "is not in the documented form"
_TWO = "has several labels"


def _read_entries(
    entries: Iterator[tuple[str, dict[str, Any]] | Fault],
    read: Callable[[str, dict[str, Any]], ToolAnswer | Fault],
) -> Iterator[ToolAnswer | Fault]:
    for each in entries:
        if isinstance(each, Fault):
            yield each
            continue
        place, entry = each
        try:
            yield read(place, entry)
        except _Wrong:
            yield Fault(place, _NO_FORM, json.dumps(entry, ensure_ascii=False)[:60])


def _one(answer: ToolAnswer, labels: Sequence[str]) -> ToolAnswer | Fault:
    """Return an answer with its only label, if any; a fault for several."""
    if len(labels) > 1:
        return Fault(answer.place, _TWO, ", ".join(labels))
    label = labels[0] if labels and not answer.skipped else None
    return replace(answer, answer=label if label and label.strip() else None)


def _lines(entries: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in entries)


def _answer_field(work: SheetWork) -> str:
    return FORMS if work.kind == "keying" else LABEL


# Label Studio

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _write_label_studio(
    work: SheetWork, tasks: Sequence[ExchangeTask], target: Path, people: Mapping[str, str]
) -> Content:
    entries = []
    for each in tasks:
        entry: dict[str, Any] = {
            "data": {ITEM: each.id, ANNOTATOR: each.annotator, "text": each.content}
        }
        if each.answer is not None:
            entry["annotations"] = [_annotation(work, each, people.get(each.annotator))]
        entries.append(entry)
    return {
        target: json.dumps(entries, ensure_ascii=False, indent=1) + "\n",
        target.with_suffix(".xml"): _label_config(work),
    }


def _annotation(work: SheetWork, task: ExchangeTask, person: str | None) -> dict[str, Any]:
    result = [
        _result(_answer_field(work), "textarea" if work.kind == "keying" else "choices",
                task.answer),
        *([_result(UNSURE, "choices", UNSURE)] if task.unsure else []),
        *([_result(NOTE, "textarea", task.note)] if task.note else []),
    ]  # fmt: skip
    annotation: dict[str, Any] = {"result": result, "was_cancelled": False, "ground_truth": False}
    if task.seconds is not None:
        annotation["lead_time"] = task.seconds
    if person is not None:  # Label Studio refuses a file with a person that it does not know
        annotation["completed_by"] = int(person) if person.isdecimal() else {"email": person}
    return annotation


def _result(name: str, kind: str, value: str | None) -> dict[str, Any]:
    key = "choices" if kind == "choices" else "text"
    return {
        "id": name, "from_name": name, "to_name": "text", "type": kind, "origin": "manual",
        "value": {key: [value]},
    }  # fmt: skip


def _label_config(work: SheetWork) -> str:
    """Return the labelling configuration of a project."""
    view = ElementTree.Element("View")
    for text in filter(None, (work.title, work.instructions)):
        ElementTree.SubElement(view, "Header", value=_NO_XML.sub(" ", text))
    style = ElementTree.SubElement(view, "Style")
    style.text = ".htx-text{ white-space: pre-wrap; }"
    ElementTree.SubElement(view, "Text", name="text", value="$text")
    if work.kind == "keying":
        ElementTree.SubElement(
            view, "TextArea", name=FORMS, toName="text", required="true", maxSubmissions="1"
        )
    else:
        choices = ElementTree.SubElement(
            view, "Choices", name=LABEL, toName="text", choice="single", required="true"
        )
        for label in work.labels:
            ElementTree.SubElement(choices, "Choice", value=label)
    doubt = ElementTree.SubElement(view, "Choices", name=UNSURE, toName="text", choice="multiple")
    ElementTree.SubElement(doubt, "Choice", value=UNSURE)
    ElementTree.SubElement(
        view, "TextArea", name=NOTE, toName="text", placeholder="Note", maxSubmissions="1"
    )
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _read_label_studio(path: Path, keying: bool) -> Iterator[ToolAnswer | Fault]:
    for number, task in enumerate(read_list(path), 1):
        place = f"task {number}"
        try:
            data = _object(_object(task).get("data"))
            answer = ToolAnswer(place, _name(data.get(ITEM)), assignee=_name(data.get(ANNOTATOR)))
            annotations = task.get("annotations") or []
            if not isinstance(annotations, list):
                raise _Wrong
        except _Wrong:
            excerpt = json.dumps(task, ensure_ascii=False)[:60]
            yield Fault(place, "has no data; export as JSON, not JSON-MIN", excerpt)
            continue
        if not annotations:
            yield answer
        for position, annotation in enumerate(annotations, 1):
            where = f"{place}, annotation {position}" if len(annotations) > 1 else place
            try:
                yield _read_annotation(where, answer, _object(annotation), keying=keying)
            except _Wrong:
                excerpt = json.dumps(annotation, ensure_ascii=False)[:60]
                yield Fault(where, _NO_FORM, excerpt)


def _read_annotation(
    place: str, task: ToolAnswer, annotation: dict[str, Any], *, keying: bool
) -> ToolAnswer | Fault:
    choices: dict[str, list[str]] = {}  # by the name of the tag; other kinds of tags do not count
    texts: dict[str, list[str]] = {}
    for each in annotation.get("result") or []:
        result = _object(each)
        value, name = _object(result.get("value")), _name(result.get("from_name"))
        if result.get("type") == "choices":
            choices.setdefault(name, []).extend(_names(value.get("choices")))
        elif result.get("type") == "textarea":
            text = value.get("text")
            texts.setdefault(name, []).extend(_names([text] if isinstance(text, str) else text))
    unsure = bool(choices.pop(UNSURE, None))
    forms = texts.pop(FORMS, []) if keying else []
    answer = ToolAnswer(
        place, task.id, people_of(annotation.get("completed_by")), assignee=task.assignee,
        skipped=annotation.get("was_cancelled") is True, unsure=unsure,
        note="\n".join(chain(*texts.values())), seconds=_seconds(annotation.get("lead_time")),
    )  # fmt: skip
    if keying:
        return _one(answer, [", ".join(forms)])
    return _one(answer, choices.get(LABEL) or list(chain(*choices.values())))


def people_of(completed_by: Any) -> tuple[str, ...]:
    """Return how Label Studio names a person: number, e-mail address, and name.

    Examples
    --------
    >>> people_of(7), people_of({"id": 7, "email": "ben@lab.org", "first_name": "Ben"})
    (('7',), ('7', 'ben@lab.org', 'Ben'))
    """
    if not isinstance(completed_by, dict):
        return tuple(filter(None, [_name(completed_by)]))
    first, last = (_name(completed_by.get(each)) for each in ("first_name", "last_name"))
    names = (_name(completed_by.get("id")), _name(completed_by.get("email")))
    return tuple(filter(None, [*names, f"{first} {last}".strip()]))


# doccano: a document per task; the export has a file for each member, named after it


def _write_doccano(
    work: SheetWork, tasks: Sequence[ExchangeTask], target: Path, _people: Mapping[str, str]
) -> Content:
    entries = [
        {
            "text": each.content,
            "label": _categories(work, each),
            ITEM: each.id, ANNOTATOR: each.annotator,
        }
        for each in tasks
    ]  # fmt: skip
    return {target: _lines(entries)}


def _categories(work: SheetWork, task: ExchangeTask) -> list[str]:
    if task.answer is None:
        return []
    return [task.answer, UNSURE] if task.unsure and UNSURE not in work.labels else [task.answer]


def _read_doccano(path: Path, _keying: bool) -> Iterator[ToolAnswer | Fault]:
    def read(place: str, entry: dict[str, Any]) -> ToolAnswer | Fault:
        meta = entry.get("meta")
        data = {**(meta if isinstance(meta, dict) else {}), **entry}
        labels = _names(data.get("label", data.get("labels")))
        unsure = len(labels) > 1 and UNSURE in labels
        answer = ToolAnswer(
            place, _name(data.get(ITEM)), file=path.stem, assignee=_name(data.get(ANNOTATOR)),
            unsure=unsure, note="\n".join(_names(data.get("Comments") or [])),
        )  # fmt: skip
        return _one(answer, [each for each in labels if not (unsure and each == UNSURE)])

    return _read_entries(read_lines(path), read)


# Prodigy

_SESSION = re.compile(r"\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}$")
"""A session without a name is named after the time."""
_ANSWERS = ("accept", "reject", "ignore")


def _write_prodigy(
    work: SheetWork, tasks: Sequence[ExchangeTask], target: Path, people: Mapping[str, str]
) -> Content:
    entries = []
    for each in tasks:
        entry: dict[str, Any] = {"text": each.text}
        if each.examples:  # only HTML has several lines
            entry = {"html": "<br>".join(html.escape(line) for line in each.content.split("\n"))}
        entry["meta"] = {ITEM: each.id, ANNOTATOR: each.annotator}
        if work.kind == "keying":
            entry |= {"field_id": FORMS, "field_label": FORMS}
        else:
            entry["options"] = [{"id": label, "text": label} for label in work.labels]
        if each.answer is not None:
            name = people.get(each.annotator, each.annotator)
            entry |= {FORMS: each.answer} if work.kind == "keying" else {"accept": [each.answer]}
            entry |= {
                "answer": "accept", "flagged": each.unsure, "_annotator_id": name,
                "_session_id": name, "_timestamp": int(datetime.fromisoformat(each.at).timestamp()),
            }  # fmt: skip
            entry |= {NOTE: each.note} if each.note else {}
        entries.append(entry)
    return {target: _lines(entries)}


def _read_prodigy(path: Path, keying: bool) -> Iterator[ToolAnswer | Fault]:
    def read(place: str, entry: dict[str, Any]) -> ToolAnswer | Fault:
        meta = _object(entry.get("meta") or {})
        decided = entry.get("answer")
        if decided is not None and decided not in _ANSWERS:
            raise _Wrong
        answer = ToolAnswer(
            place, _name(meta.get(ITEM)), _session(entry), assignee=_name(meta.get(ANNOTATOR)),
            skipped=decided in {"reject", "ignore"}, unsure=entry.get("flagged") is True,
            note=_name(entry.get(NOTE)),
        )  # fmt: skip
        if decided is None:
            return answer
        if keying:
            return _one(answer, [_name(entry.get(_name(entry.get("field_id")) or FORMS))])
        label = entry.get("label")  # one label to accept or reject
        return _one(answer, _names(entry.get("accept", [] if label is None else [label])))

    return _read_entries(read_lines(path), read)


def _session(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Return whose session it is: its name, alone and after that of the data set."""
    name = _name(entry.get("_annotator_id")) or _name(entry.get("_session_id"))
    if not name or _SESSION.search(name):
        return ()
    parts = name.split("-")
    return tuple("-".join(parts[start:]) for start in range(len(parts)))


# Potato: items once, with those who are asked; answers in a folder for each person


def _write_potato(
    work: SheetWork, tasks: Sequence[ExchangeTask], target: Path, people: Mapping[str, str]
) -> Content:
    by_item: dict[str, list[ExchangeTask]] = {}
    own: dict[str, list[ExchangeTask]] = {}
    for each in tasks:
        by_item.setdefault(each.id, []).append(each)
        own.setdefault(people.get(each.annotator, each.annotator), []).append(each)
    items = [
        {
            "id": item, "text": html.escape(mine[0].content, quote=False).replace("\n", "<br>"),
            "annotators": [people.get(each.annotator, each.annotator) for each in mine],
        }
        for item, mine in by_item.items()
    ]  # fmt: skip
    folder = f"{target.stem}-annotations"
    content = {target: _lines(items), target.with_suffix(".yaml"): _potato_config(work, target)}
    for person, mine in own.items():
        if any(each.answer is not None for each in mine):
            safe = "".join(sign if sign.isalnum() or sign in "-_.@" else "_" for sign in person)
            content[target.with_name(folder) / safe / "user_state.json"] = _user_state(
                work, person, mine
            )
    return content


def _potato_config(work: SheetWork, target: Path) -> str:
    """Return the configuration of a project; JSON, which is YAML as well."""
    if work.kind == "keying":
        scheme: dict[str, Any] = {"annotation_type": "text", "name": FORMS}
    else:
        scheme = {"annotation_type": "radio", "name": LABEL, "labels": list(work.labels),
                  "sequential_key_binding": True}  # fmt: skip
    described = {**scheme, "description": work.instructions or work.title or "?"}
    config = {
        "annotation_task_name": work.title or target.stem, "task_dir": ".",
        "output_annotation_dir": f"{target.stem}-annotations/", "data_files": [target.name],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "assignment_strategy": "batch", "batch_assignment": {"annotator_key": "annotators"},
        "annotation_schemes": [
            described,
            {"annotation_type": "multiselect", "name": UNSURE, "description": "Not sure?",
             "labels": [UNSURE], "sequential_key_binding": False},
            {"annotation_type": "text", "name": NOTE, "description": "Note", "multiline": True},
        ],
    }  # fmt: skip
    return json.dumps(config, ensure_ascii=False, indent=1) + "\n"


def _user_state(work: SheetWork, person: str, tasks: Sequence[ExchangeTask]) -> str:
    """Return the answers of a person so far, as Potato keeps them."""
    labels: dict[str, list[Any]] = {}
    for each in tasks:
        if each.answer is None:
            continue
        own = [[FORMS, "text_box", each.answer] if work.kind == "keying" else
               [LABEL, each.answer, "true"]]  # fmt: skip
        own += [[UNSURE, UNSURE, "true"]] if each.unsure else []
        own += [[NOTE, "text_box", each.note]] if each.note else []
        labels[each.id] = [[{"schema": scheme, "name": name}, value] for scheme, name, value in own]
    state = {
        "user_id": person, "instance_id_ordering": [each.id for each in tasks],
        "current_instance_index": 0, "current_phase_and_page": ["annotation", "annotation"],
        "completed_phase_and_pages": [], "max_assignments": len(tasks),
        "instance_id_to_behavioral_data": {}, "instance_id_to_label_to_value": labels,
        "instance_id_to_span_to_value": {}, "phase_to_page_to_label_to_value": {},
        "phase_to_page_to_span_to_value": {},
    }  # fmt: skip
    return json.dumps(state, ensure_ascii=False, indent=1) + "\n"


def _read_potato(path: Path, keying: bool) -> Iterator[ToolAnswer | Fault]:
    """Read a folder of annotations, a user's state, or an export as JSONL, CSV or TSV."""
    if path.is_dir():
        states = sorted(path.glob("*/user_state.json")) or sorted(
            path.glob("*/annotated_instances.jsonl")
        )
        if not states:
            raise DataError(
                f"{path}: has no folders with user_state.json\nGive the folder"
                " output_annotation_dir of the project, or a file that Potato exported."
            )
        for state in states:
            for each in _read_potato(state, keying):
                place = f"{state.relative_to(path)}, {each.place}"
                yield replace(each, place=place)
    elif path.suffix.lower() == ".json":
        yield from _read_user_state(path, keying)
    elif path.suffix.lower() in {".csv", ".tsv"}:
        yield from _read_entries(_potato_rows(path), _potato_reader(path, keying))
    else:
        yield from _read_entries(read_lines(path), _potato_reader(path, keying))


def _read_user_state(path: Path, keying: bool) -> Iterator[ToolAnswer | Fault]:
    try:
        state = _object(json.loads(read_text(path)))
        instances = _object(state["instance_id_to_label_to_value"])
    except (ValueError, KeyError, RecursionError, _Wrong) as error:
        raise DataError(f"{path}: is not a user_state.json of Potato") from error
    person = state.get("user_id", path.parent.name)
    entries = (
        (f"instance {item}", {"instance_id": item, "user_id": person, "labels": labels})
        for item, labels in instances.items()
    )
    yield from _read_entries(entries, _potato_reader(path, keying))


def _potato_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]] | Fault]:
    """Yield the rows of a table as in JSON: columns are scheme.label, earlier scheme:::label."""
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    for place, row in table_rows(path, delimiter):
        if row is None:
            yield Fault(place, "has more or fewer fields than the header")
            continue
        labels: dict[str, dict[str, str]] = {}
        for column, value in row.items():
            scheme, _, name = column.partition(":::" if ":::" in column else ".")
            if name and value:
                labels.setdefault(scheme, {})[name] = value
        yield place, {**row, "labels": labels}


def table_rows(path: Path, delimiter: str) -> Iterator[tuple[str, dict[str, str] | None]]:
    """Yield place and cells of each row of a table; None for one that does not fit the header."""
    text = io.StringIO(read_text(path), newline="")
    rows = csv.reader(text, delimiter=delimiter, strict=True)
    with reading(path):
        header = [name.strip() for name in next(rows, [])]
        for row in rows:
            if row:
                fits = len(row) == len(header)
                place = f"line {rows.line_num}"
                yield place, dict(zip(header, row, strict=True)) if fits else None


def _potato_reader(path: Path, keying: bool) -> Callable[[str, dict[str, Any]], ToolAnswer | Fault]:
    own = path.parent.name if path.name.startswith("annotated_instances.") else ""

    def read(place: str, entry: dict[str, Any]) -> ToolAnswer | Fault:
        values = _schemes(entry.get("labels", entry.get("label_annotations")))
        note = "\n".join(_name(value) for value in values.pop(NOTE, {}).values() if value)
        unsure = any(map(_is_chosen, values.pop(UNSURE, {}).values()))
        if keying:
            labels = [_name(value) for value in values.get(FORMS, {}).values()]
        else:
            marks = values.get(LABEL) or (next(iter(values.values())) if len(values) == 1 else {})
            labels = [name for name, value in marks.items() if _is_chosen(value)]
        person = _name(entry.get("user_id", entry.get("user", own)))
        answer = ToolAnswer(
            place, _name(entry.get("instance_id", entry.get("id"))), (person,) if person else (),
            unsure=unsure, note=note,
        )  # fmt: skip
        return _one(answer, labels)

    return read


def _schemes(labels: Any) -> dict[str, dict[str, Any]]:
    """Return the values by scheme and label, from either form in which Potato writes them."""
    schemes: dict[str, dict[str, Any]] = {}
    if isinstance(labels, list):  # [{"schema": ..., "name": ...}, value]
        for pair in labels:
            if not isinstance(pair, list) or len(pair) != 2:
                raise _Wrong
            key, value = _object(pair[0]), pair[1]
            schemes.setdefault(_name(key.get("schema")), {})[_name(key.get("name"))] = value
        return schemes
    for scheme, values in _object(labels).items():
        inner = _object(values)
        schemes[scheme] = _object(inner["labels"]) if set(inner) == {"labels"} else inner
    return schemes


def _is_chosen(value: Any) -> bool:
    return value not in (None, False, 0, "", "0", "false", "False")


TOOLS: Mapping[str, Tool] = {
    "label-studio": Tool("Label Studio", _write_label_studio, _read_label_studio, beside=".xml"),
    "doccano": Tool("doccano", _write_doccano, _read_doccano, keying=False),
    "prodigy": Tool("Prodigy", _write_prodigy, _read_prodigy),
    "potato": Tool("Potato", _write_potato, _read_potato, beside=".yaml"),
}
"""By the name for the option --format."""
