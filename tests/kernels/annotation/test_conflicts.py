"""Answers of sheets and log that count: every case of one sheet, and of two."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import polars as pl
import pytest

from pipeline.kernels.annotation.adjudication import CONFLICT, compare_cells, merge_answers

TEXTS = pl.String
ROWS = {
    **dict.fromkeys(("file", "annotator", "id", "label", "note", "round"), TEXTS),
    "line": pl.Int64,
}  # fmt: skip


def frames(
    cells: Mapping[str, str | None],
    former: Mapping[str, str | None],
    stands: str | None,
    *,
    settled: bool = False,
) -> tuple[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame]:
    """Return the rows of sheets and log, the answers that the log imported, and its task."""
    own = [
        {"file": file, "annotator": " Ana", "id": "x ", "label": label, "line": number}
        for number, (file, label) in enumerate(cells.items(), 2)
    ]
    if stands is not None:
        own.append({"file": "log", "annotator": "ana", "id": "x", "label": stands, "line": 1})
    imports = [{"file": file, "annotator": "ana", "id": "x", "answer": each, "note": None}
               for file, each in former.items()]  # fmt: skip
    task = {"annotator": "ana", "id": "x", "answer": stands, "settled": settled}
    names = dict.fromkeys(("file", "annotator", "id", "answer", "note"), TEXTS)
    tasks = {**dict.fromkeys(("annotator", "id", "answer"), TEXTS), "settled": pl.Boolean}
    return (
        pl.LazyFrame(own, schema=ROWS), pl.LazyFrame(imports, schema=names),
        pl.LazyFrame([task], schema=tasks),
    )  # fmt: skip


def outcomes(*tables: pl.LazyFrame) -> list[str]:
    return compare_cells(*tables, log="log").collect().sort("file")["outcome"].to_list()


def counted_answers(*tables: pl.LazyFrame) -> set[str]:
    """Return the answers that count."""
    rows = merge_answers(*tables, log="log").collect()
    assert not rows.filter(CONFLICT)["label"].is_not_null().any()
    return {each.strip().lower() for each in rows["label"].drop_nulls()}


@pytest.mark.parametrize(
    ("cells", "former", "stands", "outcome", "counts"),
    [
        ("A", "A", "A", "old", {"a"}),
        ("A", "A", "B", "old", {"b"}),  # the page is newer
        (" a", "A", "B", "old", {"b"}),  # case and blanks are no change
        ("A", "A", None, "old", set()),  # withdrawn on the page
        ("B", "A", "A", "new", {"b"}),
        (None, "A", "A", "new", set()),  # withdrawn in the sheet
        ("A", None, None, "new", {"a"}),
        ("B", "A", "B", "same", {"b"}),
        (None, None, "A", "old", {"a"}),
        (None, "A", None, "same", set()),
        ("A", None, "B", "conflict", set()),
        ("B", "A", "C", "conflict", set()),
        (None, "A", "C", "conflict", set()),
        ("B", "A", None, "conflict", set()),
    ],
)
def test_one_sheet_has_the_expected_outcome(
    cells: str | None, former: str | None, stands: str | None, outcome: str, counts: set[str]
) -> None:
    tables = frames({"a.csv": cells}, {"a.csv": former} if former else {}, stands)
    assert outcomes(*tables) == [outcome]
    assert counted_answers(*tables) == counts


@pytest.mark.parametrize(
    ("cells", "former", "stands", "outcome", "counts"),
    [
        # Both changed in the same way, only one changed, or one agrees with the log.
        ("CC", "AB", "B", ["new", "new"], {"c"}),
        ("AC", "AA", "A", ["old", "new"], {"c"}),
        ("BC", "AB", "B", ["same", "new"], {"c"}),
        # Different answers in two sheets: also where the page has none.
        ("CD", "AA", "A", ["conflict", "conflict"], set()),
        ("CD", "  ", None, ["conflict", "conflict"], set()),
        # One conflict in two sheets, and one beside a sheet that agrees.
        ("CC", "AA", "B", ["conflict", "conflict"], set()),
        ("BC", "AA", "B", ["same", "conflict"], set()),
        ("AC", "AA", "B", ["old", "conflict"], set()),
    ],
)
def test_two_sheets_have_the_expected_outcomes(
    cells: str, former: str, stands: str | None, outcome: list[str], counts: set[str]
) -> None:
    names = ("a.csv", "b.csv")
    former_cells = {name: each for name, each in zip(names, former, strict=True) if each.strip()}
    tables = frames(dict(zip(names, cells, strict=True)), former_cells, stands)
    assert outcomes(*tables) == outcome
    assert counted_answers(*tables) == counts


def test_at_most_one_answer_counts() -> None:
    """Two sheets and the page never give a second answer."""
    answers_or_none = ("A", "B", None)
    parts = []
    for number, (one, two, was, before, stands) in enumerate(
        itertools.product(answers_or_none, repeat=5)
    ):
        former = {name: each for name, each in (("a", was), ("b", before)) if each}
        item = pl.lit(f"x{number}").alias("id")
        some = frames({"a": one, "b": two}, former, stands)
        parts.append([each.with_columns(item) for each in some])
    rows, imports, tasks = (pl.concat(each) for each in zip(*parts, strict=True))
    merged = merge_answers(rows, imports, tasks, log="log").drop_nulls("label")
    answers = merged.group_by("id").agg(pl.col("label").n_unique()).collect()
    assert answers["label"].max() == 1
    assert answers.height < 3**5


@pytest.mark.parametrize("cells", ["B", None])
def test_a_settled_answer_stays(cells: str | None) -> None:
    tables = frames({"a.csv": cells}, {"a.csv": "A"}, "A", settled=True)
    assert outcomes(*tables) == ["settled"]
    assert counted_answers(*tables) == {"a"}
    assert not merge_answers(*tables, log="log").collect()[CONFLICT].any()


def test_two_answers_in_one_sheet_stay_for_the_check_of_sheets() -> None:
    rows, imports, tasks = frames({"a.csv": "A"}, {}, "C")
    again = rows.filter(pl.col("file") == "a.csv").with_columns(label=pl.lit("B"))
    tables = pl.concat([rows, again]), imports, tasks
    assert outcomes(*tables) == ["several"]
    assert counted_answers(*tables) == {"a", "b", "c"}
    same = pl.concat([rows, again.with_columns(label=pl.lit(None, pl.String))])
    assert outcomes(same, imports, tasks) == ["conflict"]  # a copy of the row is empty


def test_rows_unknown_to_the_log_count() -> None:
    rows, imports, tasks = frames({"a.csv": "A", "b.csv": "B"}, {}, None)
    assert counted_answers(rows, imports, tasks.clear()) == {"a", "b"}


def test_decisions_of_adjudicators_are_not_compared() -> None:
    rows, imports, tasks = frames({"a.csv": "B"}, {"a.csv": "A"}, "A")
    decided = rows.with_columns(round=pl.lit("adjudication"), label=pl.lit("D"))
    merged = merge_answers(pl.concat([rows, decided]), imports, tasks, log="log").collect()
    assert merged.filter(round="adjudication")["label"].to_list() == ["D", "D"]
    assert merged.filter(pl.col("round").is_null())["label"].to_list() == ["B"]


def test_forms_are_equal_in_any_order_and_differ_in_case() -> None:
    def one(cells: str, stands: str) -> str:
        rows, imports, tasks = frames({"a.csv": cells}, {}, stands)
        keyed = rows.rename({"label": "forms"})
        result = compare_cells(keyed, imports, tasks, log="log", answer="forms").collect()
        return str(result["outcome"].item())

    assert one("rajt; ra", "ra, rajt") == one("–", "-") == "same"
    assert one("Ra", "ra") == "conflict"


def test_a_new_note_on_an_old_answer_stays() -> None:
    rows, imports, tasks = frames({"a.csv": "A"}, {"a.csv": "A"}, "B")
    for note, expected in (("!", None), ("?", "?")):
        noted = rows.with_columns(note=pl.lit(note))
        merged = merge_answers(noted, imports.with_columns(note=pl.lit("!")), tasks, log="log")
        assert merged.filter(file="a.csv").collect()["note"].to_list() == [expected]


def test_empty_tables_have_no_answers_and_conflicts() -> None:
    rows, imports, tasks = (each.clear() for each in frames({}, {}, "A"))
    assert merge_answers(rows, imports, tasks, log="log").collect().is_empty()
    assert compare_cells(rows, imports, tasks, log="log").collect().is_empty()
