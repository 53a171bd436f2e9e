"""Decisions on conflicts: what they write to the log and the sheets, and that they last."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.annotate import sync as module
from pipeline.annotate.sync import (
    ChangedConflicts,
    ConflictCounts,
    ConflictDecision,
    Conflicts,
    choices,
    import_sheets,
    token_of,
)
from pipeline.annotate.tasks import SheetWork
from pipeline.formats.annotation_log import Decision, append, open_log, replay_task
from pipeline.runner.config import SheetPlaces
from pipeline.runner.conflicts import Conflict, typed_answers
from pipeline.runner.inputs import entries
from tests.annotate.served import ask, items, say, work_in

_KEYS = count()
_LEMMAS = {"x0": {"units": {"lemma": "ra"}, "lexicon_forms": None}}


@dataclass
class Bench:
    """A work with sheets, without an experiment."""

    folder: Path
    kind: Literal["annotation", "keying"] = "annotation"
    contents: Mapping[str, dict[str, Any]] = field(default_factory=lambda: items(3))

    def __post_init__(self) -> None:
        places = SimpleNamespace(sheets=SheetPlaces(self.folder))
        plain = work_in(self.folder / "pairs", kind=self.kind)
        self.work: SheetWork = replace(plain, project=cast(Any, places))
        ask(self.work, "ana", "ben", contents=dict(self.contents))
        self.conflicts = Conflicts(self.work)

    def sheet(self, name: str, answers: Mapping[str, str | None], who: str = "ana") -> None:
        """Write a sheet of a person; nothing else is in it."""
        answer = "label" if self.kind == "annotation" else "forms"
        rows = [
            {**self.contents[each]["units"], answer: label or "", "note": "", "annotator": who,
             "id": each}
            for each, label in answers.items()
        ]  # fmt: skip
        with (self.work.folder / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)

    def say(self, answer: str | None, item: str = "x0", who: str = "ana") -> None:
        with open_log(self.work.database) as log:
            append(log, [Decision(f"page-{next(_KEYS)}", who, item, answer=answer)])

    def find_conflicts(self) -> list[Conflict]:
        return self.conflicts.find()[0]

    def keep(self, keep: Literal["sheet", "page"], *, item: str = "", file: str = "",
             who: str = "ana") -> ConflictCounts:  # fmt: skip
        conflicts = [
            each
            for each in self.find_conflicts()
            if each.annotator == who and item in {"", each.id}
        ]
        decision = ConflictDecision(
            keep=keep, annotator=who, id=item, file=file, token=token_of(conflicts)
        )
        return self.conflicts.keep(decision)

    def stands(self, item: str = "x0", who: str = "ana") -> str | None:
        with open_log(self.work.database) as log:
            (task,) = log.execute(
                "SELECT task FROM tasks WHERE round = 'annotation' AND annotator = ? AND id = ?",
                (who, item),
            ).fetchone()
            return replay_task(log, task).answer

    def log(self) -> list[tuple[Any, ...]]:
        with open_log(self.work.database) as log:
            return [tuple(row) for row in log.execute("SELECT * FROM log ORDER BY entry")]

    def counted_answers(self, item: str = "x0", who: str = "ana") -> set[str]:
        """Return the answers that a run counts."""
        files = self.work.project.sheets.files("pairs", f"{self.kind}_sheet")
        rows = entries(files).filter(id=item, annotator=who).collect()
        return set(rows["label" if self.kind == "annotation" else "forms"].drop_nulls())

    def sheets(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.work.folder.glob("*.csv")}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Ana labels three pairs SVC on the page and free in her sheet."""
    bench = Bench(tmp_path)
    bench.sheet("001.csv", dict.fromkeys(bench.contents, "free"))
    for item in bench.contents:
        bench.say("SVC", item)
    return bench


def test_conflicts_can_be_decided_one_by_one(bench: Bench) -> None:
    before = bench.sheets()
    assert [each.id for each in bench.find_conflicts()] == ["x0", "x1", "x2"]
    assert bench.keep("sheet", item="x0") == ConflictCounts(1)
    assert bench.keep("page", item="x1") == ConflictCounts(1)
    assert [each.id for each in bench.find_conflicts()] == ["x2"]
    assert [bench.counted_answers(each) for each in bench.contents] == [{"free"}, {"SVC"}, set()]
    assert bench.stands("x0") == "free"
    assert bench.sheets() == before
    assert [key.partition("-")[0] for _, key, *_ in bench.log()[-2:]] == ["coordinator"] * 2


@pytest.mark.parametrize(("keep", "label"), [("sheet", "free"), ("page", "SVC")])
def test_all_conflicts_of_a_person_can_be_decided_at_once(
    bench: Bench, keep: Literal["sheet", "page"], label: str
) -> None:
    bench.sheet("002.csv", {"x0": "free"}, who="ben")
    bench.say("figurative", who="ben")
    assert bench.keep(keep) == ConflictCounts(3)
    assert [each.annotator for each in bench.find_conflicts()] == ["ben"]
    assert [bench.counted_answers(each) for each in bench.contents] == [{label}] * 3
    for _ in range(2):
        assert import_sheets(bench.work).answers == 0
    assert len(import_sheets(bench.work).conflicts) == 1  # that of ben


def test_a_decision_on_changed_answers_is_refused(bench: Bench) -> None:
    token = token_of(bench.find_conflicts())
    bench.say("figurative", "x2")
    entries = bench.log()
    for item in ("", "x0", "absent"):
        with pytest.raises(ChangedConflicts, match="an answer has changed meanwhile"):
            bench.conflicts.keep(
                ConflictDecision(keep="page", annotator="ana", id=item, token=token)
            )
    assert bench.log() == entries


def test_a_decision_is_accepted_once(bench: Bench) -> None:
    decision = ConflictDecision(
        keep="sheet", annotator="ana", token=token_of(bench.find_conflicts())
    )
    bench.conflicts.keep(decision)
    with pytest.raises(ChangedConflicts):
        bench.conflicts.keep(decision)


def test_a_resolved_conflict_returns_after_a_change(bench: Bench) -> None:
    bench.keep("page", item="x0")
    for label, conflict in (("figurative", True), ("free", False), ("SVC", False)):
        bench.sheet("001.csv", {"x0": label})
        assert bool(bench.find_conflicts()) == conflict
    import_sheets(bench.work)
    bench.say("figurative")
    assert bench.find_conflicts() == []  # the sheet agreed before, and has not changed
    bench.sheet("001.csv", {"x0": "free"})
    assert len(bench.find_conflicts()) == 1


def test_the_same_change_of_a_sheet_can_be_decided_repeatedly(bench: Bench) -> None:
    """A repeated decision is a new entry each time."""
    bench.sheet("001.csv", {"x0": "free"})
    for label in ("free", "figurative", "free", "figurative"):
        bench.sheet("001.csv", {"x0": label})
        assert bench.keep("page") == ConflictCounts(1)
        assert bench.find_conflicts() == []


def test_a_sheet_is_chosen_by_file_if_two_sheets_differ(bench: Bench) -> None:
    bench.sheet("002.csv", {"x0": "figurative", "x1": "free"})
    assert [each.answer for each in choices(bench.work, bench.find_conflicts()[0])] == [
        "free",
        "figurative",
    ]
    assert bench.keep("sheet") == ConflictCounts(2, left=1)
    assert bench.keep("sheet", item="x0", file="002.csv") == ConflictCounts(1)
    assert (bench.find_conflicts(), bench.counted_answers()) == ([], {"figurative"})
    assert import_sheets(bench.work).answers == 0


@pytest.mark.parametrize("keep", ["sheet", "page"])
def test_a_decision_covers_a_second_sheet_that_agrees_with_the_page(
    tmp_path: Path, keep: Literal["sheet", "page"]
) -> None:
    bench = Bench(tmp_path)
    bench.sheet("001.csv", {"x0": "free"})
    bench.sheet("002.csv", {"x0": "SVC"})
    bench.say("SVC")
    assert bench.keep(keep) == ConflictCounts(1)
    assert (bench.find_conflicts(), bench.counted_answers()) == (
        [],
        {"free" if keep == "sheet" else "SVC"},
    )


def test_two_sheets_conflict_without_an_answer_on_the_page(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.sheet("001.csv", {"x0": "free"})
    bench.sheet("002.csv", {"x0": "SVC"})
    assert bench.counted_answers() == set()
    assert import_sheets(bench.work).answers == 0
    assert bench.keep("page") == ConflictCounts(1)
    assert (bench.find_conflicts(), bench.counted_answers()) == ([], set())  # open again
    bench.say("figurative")
    assert (bench.find_conflicts(), bench.counted_answers()) == ([], {"figurative"})


def test_an_empty_cell_can_be_kept(bench: Bench) -> None:
    bench.keep("sheet", item="x0")
    bench.say("figurative")
    bench.sheet("001.csv", {"x0": None})
    assert bench.keep("sheet") == ConflictCounts(1)
    assert (bench.find_conflicts(), bench.counted_answers(), bench.stands()) == ([], set(), None)


def test_a_text_that_is_no_label_cannot_be_kept(bench: Bench) -> None:
    bench.sheet("001.csv", {"x0": "SVG"})
    outcome = import_sheets(bench.work)
    assert (outcome.conflicts, outcome.strange) == ((), ("001.csv, row 2: 'SVG' is not a label",))
    assert choices(bench.work, bench.find_conflicts()[0]) == []
    assert bench.keep("sheet") == ConflictCounts(0, left=1)
    assert bench.keep("page") == ConflictCounts(1)
    assert import_sheets(bench.work).strange == ()


def test_an_answer_that_adjudicators_have_seen_stays(bench: Bench) -> None:
    say(bench.work, "ben", "x0", "free")
    ask(bench.work, "carla", ids=["x0"], round_name="adjudication", contents=dict(bench.contents))
    assert bench.find_conflicts()[0].settled
    assert bench.counted_answers() == {"SVC"}
    assert bench.keep("sheet") == ConflictCounts(2, left=1)
    assert bench.keep("page") == ConflictCounts(1)
    assert (bench.find_conflicts(), bench.counted_answers()) == ([], {"SVC"})


def test_two_answers_in_one_sheet_are_reported(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.sheet("001.csv", {"x0": "free"})
    text = (bench.work.folder / "001.csv").read_text()
    (bench.work.folder / "001.csv").write_text(text + text.splitlines()[1].replace("free", "SVC"))
    (strange,) = import_sheets(bench.work).strange
    assert strange == "001.csv, row 2: 'free' is one of several answers to this item in the sheet"
    assert bench.counted_answers() == {"free", "SVC"}  # the run reports both rows


def test_conflicts_of_keyed_forms_are_decided(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "keying", _LEMMAS)
    bench.sheet("001.csv", {"x0": "rajt; ra"})
    bench.say("ra, rajt")
    assert bench.find_conflicts() == []
    bench.sheet("001.csv", {"x0": "ra"})
    assert import_sheets(bench.work).conflicts == (
        "ana, ra: 'ra' in 001.csv, row 2; 'ra, rajt' on the page",
    )
    assert bench.counted_answers() == set()
    assert bench.keep("sheet") == ConflictCounts(1)
    assert (bench.find_conflicts(), bench.counted_answers()) == ([], {"ra"})


# Sheets are read again when they change.


def old(bench: Bench) -> None:
    for path in bench.work.folder.glob("*.csv"):
        os.utime(path, (1e9, 1e9))


def test_a_sheet_is_read_when_it_changed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    def count_reads(files: Any, answer: str) -> Any:
        names.extend(file.label for file in files)
        return typed_answers(files, answer)

    monkeypatch.setattr(module, "typed_answers", count_reads)
    monkeypatch.setattr(module, "is_fresh", lambda _: False)
    bench.sheet("002.csv", {"x0": "free"}, who="ben")
    for _ in range(3):
        assert len(bench.find_conflicts()) == 3
    assert names == ["001.csv", "002.csv"]
    before = bench.conflicts.stamp()
    bench.sheet("002.csv", {"x0": "SVC", "x1": "free"}, who="ben")
    assert bench.conflicts.stamp() != before
    bench.find_conflicts()
    assert names == ["001.csv", "002.csv", "002.csv"]
    (bench.work.folder / "001.csv").unlink()
    assert bench.find_conflicts() == []


def test_a_recently_saved_sheet_is_read_again(bench: Bench) -> None:
    """A second change may leave the size and the time stamp of the file unchanged."""
    assert bench.find_conflicts()[0].sheets[0].answer == "free"
    path = bench.work.folder / "001.csv"
    stat = path.stat()
    path.write_text(path.read_text().replace("free", "FREE"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert bench.find_conflicts()[0].sheets[0].answer == "FREE"


def test_an_unreadable_sheet_is_reported(bench: Bench) -> None:
    (bench.work.folder / "000.xlsx").write_bytes(b"half a workbook")
    conflicts, (problem,) = bench.conflicts.find()
    assert len(conflicts) == 3
    assert problem.startswith("000.xlsx: ")
    assert str(bench.work.folder) not in problem


# Any sequence of events

ANSWERS = st.sampled_from(["SVC", "free", "figurative", None])
EVENTS = st.one_of(
    st.tuples(st.just("page"), ANSWERS),
    st.tuples(st.sampled_from(["001.csv", "002.csv"]), ANSWERS),
    st.tuples(st.just("import"), st.none()),
    st.tuples(st.just("keep"), st.sampled_from(["page", "sheet", "001.csv", "002.csv"])),
)


@pytest.mark.long
@given(st.lists(EVENTS, max_size=12))
def test_no_answer_is_lost_and_no_conflict_returns(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[str, str | None]]
) -> None:
    bench = Bench(tmp_path_factory.mktemp("bench"), contents=items(1))
    for name in ("001.csv", "002.csv"):
        bench.sheet(name, {"x0": None})
    given_answers: list[str] = []
    resolved = False
    for kind, value in events:
        log, contents, counted = bench.log(), bench.sheets(), bench.counted_answers()
        conflict = bool(bench.find_conflicts())
        if kind == "page":
            bench.say(value)
            given_answers += [value] if value else []
            resolved = False
        elif kind.endswith(".csv"):
            bench.sheet(kind, {"x0": value})
            resolved = False
        elif kind == "import":
            import_sheets(bench.work)
            assert bench.counted_answers() == counted  # as a run had counted before
            assert bool(bench.find_conflicts()) == conflict
            assert conflict or bench.counted_answers() == {bench.stands()} - {None}
        elif conflict and value:
            file = value if value.endswith(".csv") else ""
            side: Literal["page", "sheet"] = "page" if value == "page" else "sheet"
            offered = choices(bench.work, bench.find_conflicts()[0])
            possible = side == "page" or (
                file in {each.file for each in offered} if file else len(offered) == 1
            )
            assert bench.keep(side, item="x0", file=file) == ConflictCounts(
                possible, left=not possible
            )
            resolved = resolved or possible
            if possible:
                assert bench.counted_answers() == {bench.stands()} - {None}
        assert bench.log()[: len(log)] == log
        assert kind.endswith(".csv") or bench.sheets() == contents
        assert not (resolved and bench.find_conflicts())
        assert len(bench.counted_answers()) <= 1
    logged = [row[4] for row in bench.log()]
    assert all(each in logged for each in given_answers)
