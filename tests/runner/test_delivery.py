"""Deliveries that a stage declares: an object, or, as formerly, the name of a format."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import openpyxl
import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.formats.spreadsheets import list_sheets
from pipeline.runner import delivery
from pipeline.runner.inputs import sheet_files
from pipeline.stages.base import (
    STAGES,
    Delivery,
    NBestList,
    Of,
    Outputs,
    Sheets,
    Stage,
    StageConfig,
    Tables,
    stage,
)
from schemas import CandidateIds
from tests.runner.laboratory import Laboratory, write


class DeliveryConfig(StageConfig):
    """Deliver candidates."""

    candidates: Annotated[str, Of(CandidateIds)]
    folder: str = "desk"
    kind: Literal["xlsx", "csv"] = "csv"
    labels: tuple[str, ...] = ("yes", "no")


def nothing(_config: DeliveryConfig, tables: Tables) -> Outputs:
    return tables


@pytest.mark.parametrize(
    ("name", "delivery"),
    [
        ("list", NBestList("desk", "csv")),
        ("annotation_sheet", Sheets("desk", "csv", "annotation_sheet", labels=("yes", "no"))),
    ],
)
def test_a_delivery_may_be_named_by_its_format(
    name: str, delivery: Delivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered: list[Stage] = []
    monkeypatch.setattr(STAGES, "add", lambda _name, entry, _module: registered.append(entry))
    stage("hand.out", config=DeliveryConfig, outputs={"sheet": CandidateIds}, delivers=name)(
        nothing
    )
    assert registered[0].delivery(DeliveryConfig(candidates="a")) == delivery


def test_sheets_and_lists_are_delivered() -> None:
    giving = {name for name in STAGES if STAGES.get(name).delivers}
    assert {"sheet.annotation", "sheet.keying", "sheet.list"} <= giving


# The list for the lexicographer: written once, not with other settings, and only if one is chosen.

LIST = """
[stages.choice]
use = "evaluate.choice"
ranks = "ranks"
judgements = "gold"
size = 10

[stages.list]
use = "sheet.list"
choice = "choice"
ranks = "ranks"
candidates = "candidates"
folder = "best"
kind = "csv"
"""
OTHER = ("--set", "stages.choice.size=20")


@pytest.fixture
def delivering(laboratory: Laboratory) -> Laboratory:
    laboratory.config.write_text(laboratory.config.read_text() + LIST)
    return laboratory


def lists(laboratory: Laboratory) -> dict[str, bytes]:
    folder = laboratory.folder / "sheets" / "small" / "best"
    return {path.name: path.read_bytes() for path in folder.glob("*-best-*")}


@pytest.mark.long
def test_a_list_is_written_once(delivering: Laboratory) -> None:
    assert delivering.run().err.count("wrote ") == 2
    names = lists(delivering)
    assert sorted(Path(name).suffix for name in names) == [".csv", ".txt"]
    assert "wrote" not in delivering.run().err
    assert lists(delivering) == names


@pytest.mark.long
def test_a_run_with_other_settings_states_what_it_would_write(delivering: Laboratory) -> None:
    delivering.run()
    before = lists(delivering)
    output = delivering.run(*OTHER).err
    assert output.count("would write the list ") == 2
    assert output.count("(with --deliver)") == 2
    assert lists(delivering) == before
    delivering.run(*OTHER, "--deliver")
    new = set(lists(delivering)) - set(before)
    assert len(new) == 2
    assert all(name in output for name in new)
    assert "would write" not in delivering.run(*OTHER).err


@pytest.mark.long
def test_of_several_lists_the_current_one_is_named(delivering: Laboratory) -> None:
    delivering.run()
    (old,) = (name for name in lists(delivering) if name.endswith(".csv"))
    output = delivering.run(*OTHER, "--deliver").err
    (new,) = (name for name in lists(delivering) if name.endswith(".csv") and name != old)
    assert f"the current list is {new}; of other results: {old}" in output
    output = delivering.run().err
    assert f"the current list is {old}; of other results: {new}" in output


@pytest.mark.long
def test_without_judgements_there_is_no_list_to_write(delivering: Laboratory) -> None:
    gold = delivering.folder / "gold.tsv"
    header, *rows = gold.read_text().splitlines()
    write(gold, [header, *(row.rpartition("\t")[0] + "\t" for row in rows)])
    assert "wrote" not in delivering.run().err
    assert delivering.outcomes()["list"] == "done"
    assert lists(delivering) == {}


# The text beside the list of a combination describes this list, not the chosen one.

CHOICE = {
    "category": "TP", "measure": "combination", "n": 9, "criterion": "size = 9", "considered": 3,
    "precision": 0.9, "lower": 0.8, "upper": 0.95, "recall": 0.5, "confidence": 0.95,
}  # fmt: skip
LIMITS = ("precision", "lower", "upper", "lower_simultaneous", "upper_simultaneous")


def text_about(
    choice: dict[str, Any],
    rows: pl.DataFrame,
    parts: pl.DataFrame | None = None,
    **sources: Any,
) -> str:
    by_part = {} if parts is None else {row["part"]: row for row in parts.to_dicts()}
    about = delivery._about(choice, rows, by_part, sources)
    files = delivery._files(rows, choice, about, title="Pairs", kind="csv")
    (text,) = (content.decode() for name, content in files.items() if name.endswith(".txt"))
    return text


def test_the_text_names_the_pool_and_the_labels() -> None:
    def source(use: str, **config: Any) -> Any:
        return SimpleNamespace(stage=SimpleNamespace(name=use), config=SimpleNamespace(**config))

    more = {"n_sampled": 4, "k_sampled": 3, "lower_simultaneous": 0.7, "upper_simultaneous": 0.95}
    rows = pl.DataFrame({"rank": [1], "score": [1.0], "verdict": None})
    text = text_about(
        {**CHOICE, **more},
        rows,
        ranks=source("score.pool", depth=1500),
        judgements=source("join.sheets", categories={"TP": ("collocation", "idiom")}),
    )
    assert (
        "estimated recall: 50.0 % of the true positives in the pool of the 1,500 best of each"
        " measure; those outside are not counted\n" in text
    )
    assert "category: TP: collocation, idiom\n" in text


def test_the_text_describes_the_parts_of_a_list() -> None:
    rows = pl.DataFrame({"rank": range(1, 9), "verdict": ["+"] * 3 + [None] * 5})
    counts = {"n_sampled": 4, "k_sampled": 3, "depth": 12, "confidence": 0.95}
    parts = pl.DataFrame([
        {"part": part, "n": n, **dict(zip(LIMITS, values, strict=True)), **counts}
        for part, n, values in (
            ("judged", 3, (1.0,) * 5), ("list", 8, (0.85, 0.8, 0.9, 0.7, 0.95)),
            ("unjudged", 5, (0.75, 0.6, 0.8, 0.5, 0.9)),
        )
    ])  # fmt: skip
    text = text_about(CHOICE, rows, parts)
    for message in (
        "listed: 8; no other candidate is unjudged or a true positive",
        "first: 3 candidates judged as true positives",
        "then: 5 unjudged candidates, the most probable first",
        "estimated precision of these: 75.0 %, from 4 judged candidates in the list of 12 by models",
        "limits of the precision: 50.0 % to 90.0 % (95 % clopper_pearson)",
        "limits of this list alone: 60.0 % to 80.0 %",
        "precision of the whole list: 85.0 %, limits 70.0 % to 95.0 %",
        "already judged: 3 candidates",
    ):
        assert message in text
    assert "90.0 %," not in text
    assert "recall" not in text


@pytest.mark.parametrize(
    ("scores", "message"),
    [([5.0, 4.0, 4.0, 4.0], "equal scores: the last 3 rows have the same score"), ([2.0, 1.0], "")],
)
def test_the_text_names_rows_with_equal_scores_at_the_end(
    scores: list[float], message: str
) -> None:
    rows = pl.DataFrame({"rank": range(1, len(scores) + 1), "score": scores, "verdict": None})
    more = {"n_sampled": 4, "k_sampled": 3, "lower_simultaneous": 0.7, "upper_simultaneous": 0.95}
    text = text_about({**CHOICE, **more}, rows)
    assert "estimated recall: 50.0 % of the true positives among the ranked candidates" in text
    assert "category: TP\n" in text
    assert message in text
    assert ("equal scores" in text) == bool(message)


# Sheets get the next free number, and never one in use.

SHEET = """
[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
folder = "desk"
labels = ["yes", "no"]
annotators = ["anna", "ben"]
kind = "csv"
"""


@pytest.mark.long
def test_sheets_get_the_next_free_number(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    laboratory.config.write_text(laboratory.config.read_text() + SHEET)
    desk = laboratory.folder / "sheets" / "small" / "desk"
    monkeypatch.setattr(delivery, "_MOST", 2)
    outcome = laboratory.call("run")
    assert outcome.code == 1
    assert f"{desk} has too many sheets" in outcome.err
    (names,) = list_sheets(desk)
    assert names.name == "001-anna.csv"
    before = names.read_bytes()
    monkeypatch.undo()
    laboratory.run()
    assert [path.name for path in list_sheets(desk)] == ["001-anna.csv", "002-ben.csv"]
    assert names.read_bytes() == before


# Half-filled sheets of an earlier version are still read.

OLD = Path(__file__).with_name("upgrade")
MISSING = {"pairs": "7 labels", "tuples": "3 labels", "keying": "3 lemmas"}
COLUMN = {"pairs": "label", "tuples": "label", "keying": "forms in the dictionary"}


@pytest.fixture(params=MISSING)
def name(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An experiment with half-filled sheets, in the working folder."""
    shutil.copytree(OLD / str(request.param), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return str(request.param)


def complete(path: Path, column: str, value: str) -> int:
    """Enter a value in every empty row; return the number of rows."""
    return (complete_csv if path.suffix == ".csv" else complete_xlsx)(path, column, value)


def complete_csv(path: Path, column: str, value: str) -> int:
    with path.open(encoding="utf-8-sig", newline="") as opened:
        rows = list(csv.DictReader(opened))
    empty = [row for row in rows if not row[column]]
    for row in empty:
        row[column] = value
    with path.open("w", encoding="utf-8-sig", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    return len(empty)


def complete_xlsx(path: Path, column: str, value: str) -> int:
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    header = next(row for row in page.iter_rows() if any(cell.value == "id" for cell in row))
    at = {cell.value: cell.column for cell in header}
    empty = [
        number
        for number in range(header[0].row + 1, page.max_row + 1)
        if page.cell(number, at["id"]).value and not page.cell(number, at[column]).value
    ]
    for number in empty:
        page.cell(number, at[column]).value = value
    book.save(path)
    return len(empty)


def test_only_missing_labels_are_requested(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in list_sheets(Path("sheets") / name)}
    assert before
    assert main(["run", f"{name}.toml", "--no-report"]) == 3
    assert f"waiting for {MISSING[name]}" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in list_sheets(Path("sheets") / name)} == before


def test_labels_in_sheets_of_an_earlier_version_count(name: str) -> None:
    value = "-" if name == "keying" else "free"
    counts = [complete(path, COLUMN[name], value) for path in list_sheets(Path("sheets") / name)]
    assert f"{sum(counts)} " in f"{MISSING[name]} "
    assert main(["run", f"{name}.toml", "--no-report"]) == 0
    run = lx.show(f"{name}.toml")
    if name == "keying":
        keyed = run.table("keyed.keyed").filter(pl.col("found"))
        assert keyed["lemma"].n_unique() == 2
        forms = run.table("keyed.gold")["form"].drop_nulls().to_list()
        assert sum(form.endswith("en") for form in forms) == 1
    else:
        judged = run.table("judgements.judgements")
        assert judged.height == {"pairs": 8, "tuples": 6}[name]
        assert judged["tp"].sum() == 1
        assert judged["tp"].null_count() == {"pairs": 1, "tuples": 0}[name]  # they differ on one


def test_the_line_on_an_unreadable_sheet_has_an_example(tmp_path: Path) -> None:
    (tmp_path / "anna.csv").write_bytes(b"id;l1;l2;label\na;sch\xf6n;b;x\n")
    (file,) = sheet_files(tmp_path)
    problem = delivery.problem_of(file)
    assert "1 line cannot be decoded as UTF-8: line 2: byte 0xf6 in " in problem
