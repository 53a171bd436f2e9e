"""Outcomes of mutated cases are classified correctly."""

from __future__ import annotations

import zipfile
from pathlib import Path

import openpyxl
import pytest

from tests.mutation import oracles
from tests.mutation.__main__ import read, report
from tests.mutation.outcomes import BAD, GOOD, MEMORY, CommandEnd, outcome, reached_rows
from tests.mutation.subjects import SUBJECTS
from tests.mutation.worker import prepare, run, run_all

REFUSED = "lexassay: a.tsv: 1 line(s) do not have 3 fields: line 5\nCorrect these lines."


@pytest.mark.parametrize(
    ("ended", "expected"),
    [
        (CommandEnd(0, "done"), "accepted"),
        (CommandEnd(0, "done", expected=(3, 4), observed=(3, 4)), "right"),
        (CommandEnd(3, "waits", expected=(3, 4), observed=(3, 3)), "silent loss"),
        (CommandEnd(0, "done", expected=(3, 4), observed="KeyError: 'x'"), "silent loss"),
        (CommandEnd(0, "done", peak=MEMORY + 1), "memory"),
        (CommandEnd(1, "lexassay: unexpected MemoryError: "), "memory"),
        (CommandEnd(-6, "abort"), "died"),
        (CommandEnd(1, "Traceback (most recent call last):\n  ..."), "traceback"),
        (CommandEnd(0, "thread 'x' panicked at y.rs"), "traceback"),
        (CommandEnd(1, f"{REFUSED} ComputeError: ..."), "library message"),
        (CommandEnd(2, "a.tsv: input should be a valid string"), "library message"),
        (CommandEnd(1, "lexassay: stage x failed: ValueError: a.tsv"), "library message"),
        (CommandEnd(1, "lexassay: something is wrong; mend it"), "unclear"),
        (CommandEnd(1, "lexassay: a.tsv is wrong"), "unclear"),
        (CommandEnd(1, REFUSED), "refused"),
    ],
)
def test_endings_are_classified(ended: CommandEnd, expected: str) -> None:
    assert outcome(ended, ["a.tsv"]) == expected


def test_good_and_bad_outcomes_are_distinct() -> None:
    assert not set(GOOD) & set(BAD)


@pytest.mark.parametrize(
    ("ended", "reached"),
    [
        (CommandEnd(0, ""), True),
        (CommandEnd(1, REFUSED), True),
        (CommandEnd(1, "a.tsv:7: not a number"), True),
        (CommandEnd(1, "a.tsv: the header names a column twice"), False),
        (CommandEnd(2, "no such command"), False),
    ],
)
def test_reading_of_rows_is_recognised(ended: CommandEnd, reached: bool) -> None:
    assert reached_rows(ended) == reached


def test_names_of_subjects_are_unique() -> None:
    assert len({each.name for each in SUBJECTS}) == len(SUBJECTS)


@pytest.mark.long
def test_cases_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    """A case depends only on seed and number, also in the processes of a pool."""
    outcomes = []
    for workers, name in ((2, "a"), (1, "b")):
        folder = tmp_path / name
        (folder / "cases").mkdir(parents=True)
        prepare(folder / "bases")
        records: list[dict[str, object]] = []
        run_all("pool", range(1, 7), folder, records.append, workers)
        keys = ("number", "subject", "mutated", "outcome", "code")
        outcomes.append(sorted(tuple(str(each[key]) for key in keys) for each in records))
        assert list((folder / "cases").iterdir()) == []
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0]) == 6


def test_a_report_is_made_from_a_truncated_log(tmp_path: Path) -> None:
    record = '{"number": 1, "kind": "tables", "outcome": "memory", "reached": true, "peak": 1, "seconds": 2,'
    log = tmp_path / "x.jsonl"
    log.write_text(
        record + ' "subject": "a.tsv", "mutated": "b", "said": "far too much"}\n' + record
    )
    records = read(log)
    assert [each["number"] for each in records] == [1]
    lines = report(records)
    assert lines[0].split() == ["memory", "all", "reached", "rows"]
    assert lines[1].split() == ["tables", "1", "1", "100%"]
    assert lines[-2:] == ["1: memory: a.tsv (b):", "    far too much"]


@pytest.mark.parametrize("above", ["", "\n", " \n# a\n\n"])
def test_lines_above_a_header_are_no_tokens(above: str, tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text(f"{above}form\ttag\nthe\tX\n\ndog\tX\n")
    assert oracles.table_tokens(tmp_path / "c.tsv") == 2


def test_a_sheet_missing_from_the_list_of_sheets_is_counted(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["id", "label"], ["a", "TP"], ["b", None], ["c", "no"]):
        book.active.append(row)
    whole, listless = tmp_path / "whole.xlsx", tmp_path / "listless.xlsx"
    book.save(whole)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(listless, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "xl/_rels/workbook.xml.rels":
                content = content.replace(b"worksheets/sheet1.xml", b"worksheets/gone.xml")
                content = content.replace(b"relationships/worksheet", b"relationships/none")
            new.writestr(name, content)
    assert openpyxl.load_workbook(listless).worksheets == []
    assert (
        oracles.sheet_entries(listless, "label")
        == oracles.sheet_entries(whole, "label")
        == {"a": ["tp"], "c": ["no"]}
    )


# Two hundred mutated cases of a fixed seed; `make torture` runs any number.

_SEED = "two hundred"
_AT_ONCE = 25


@pytest.fixture(scope="session")
def folder_two_hundred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with every unchanged subject."""
    whole = tmp_path_factory.mktemp("mutation")
    (whole / "cases").mkdir()
    prepare(whole / "bases")
    return whole


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 200, _AT_ONCE))
def test_no_mutated_case_ends_badly(folder_two_hundred: Path, first: int) -> None:
    records = [run(_SEED, number, folder_two_hundred) for number in range(first, first + _AT_ONCE)]
    assert [each for each in records if each["outcome"] in BAD] == []
