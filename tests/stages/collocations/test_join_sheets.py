"""Whose labels and notes are joined: one person under every spelling, strangers refused."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import FAULTS, StageConfig
from pipeline.stages.collocations.sheets import JoinSheets, SheetAnnotation
from pipeline.stages.lexicon.sample import SheetKeying
from schemas import Annotations, SheetEntries
from tests.stages.run_stage import run_stage

LABELS = pl.DataFrame({"label": ["SVC", "free"]})
CONFIG = {"categories": {"TP": ["SVC"]}, "partial": True}
Row = tuple[str | None, str, str | None, str | None]


def entries(*rows: Row) -> pl.DataFrame:
    """Return what stands in a sheet: annotator, l1, label, note of each row."""
    names = ("annotator", "l1", "label", "note")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    line = pl.int_range(2, pl.len() + 2, dtype=pl.Int64)
    full = frame.with_columns(l2=pl.lit("v"), file=pl.lit("s.csv"), line=line)
    return full.with_columns(candidate_id("l1", "l2")).select(list(SheetEntries.columns()))


def join(
    *rows: Row,
    asked: tuple[str, ...] = ("a1", "b"),
    earlier: pl.DataFrame | None = None,
    **options: Any,
) -> dict[str, pl.DataFrame]:
    """Join rows, of which all people are asked for x and y."""
    pairs = entries(*(("", unit, None, None) for unit in "xy")).select("id", "l1", "l2")
    people = pl.DataFrame({"annotator": asked}).join(pairs, how="cross")
    sheet = people.select(
        "annotator", order=pl.int_range(1, pl.len() + 1), id="id", l1="l1", l2="l2"
    )
    more = {} if earlier is None else {"earlier": earlier}
    return run_stage(
        "join.sheets", CONFIG | options, sheet=sheet, labels=LABELS, entries=entries(*rows), **more
    )


def problems(made: dict[str, pl.DataFrame]) -> list[tuple[Any, ...]]:
    return made[FAULTS].sort("line").select("file", "line", "column", "problem").rows()


def test_blanks_around_an_id_make_no_other_row() -> None:
    rows = entries(("a1", "x", "SVC", "seen"), ("b", "y", "free", None))
    spaced = rows.with_columns(id=pl.format("\u00a0{} ", "id"))
    pairs = entries(*(("", unit, None, None) for unit in "xy")).select("id", "l1", "l2")
    sheet = pl.DataFrame({"annotator": ["a1", "b"]}).join(pairs, how="cross")
    sheet = sheet.select(
        "annotator", order=pl.int_range(1, pl.len() + 1), id="id", l1="l1", l2="l2"
    )
    made = run_stage("join.sheets", CONFIG, sheet=sheet, labels=LABELS, entries=spaced)
    assert made["others"].height == 0
    assert made["annotations"].height == 2
    assert made["notes"]["id"].to_list() == rows["id"].to_list()[:1]


@pytest.mark.parametrize("spelling", ["A1", " a1", "a1\u00a0"])
def test_one_person_in_two_spellings_contradicts_himself(spelling: str) -> None:
    found = problems(join(("a1", "x", "SVC", None), (spelling, "x", "free", None)))
    assert [each[:3] for each in found] == [("s.csv", 2, "label"), ("s.csv", 3, "label")]
    assert "a1 gives this id several labels" in found[0][3]


def test_one_person_in_two_spellings_counts_once() -> None:
    made = join(("A1 ", "x", "SVC", None), ("a1", "x", "SVC", None), ("b", "x", "SVC", None))
    assert not problems(made)
    assert sorted(made["annotations"]["annotator"]) == ["a1", "b"]
    assert made["adjudicated"]["annotators"].to_list() == [2]


def test_who_was_not_asked_is_refused_with_place_and_nearest_name() -> None:
    found = problems(join(("b", "y", "free", None), ("a2", "x", "SVC", None)))
    assert [each[:3] for each in found] == [("s.csv", 3, "annotator")]
    assert "did you mean a1, b?" in found[0][3]


def test_who_was_asked_formerly_counts() -> None:
    made = join(("A2", "x", "SVC", None), former=("a2",))
    assert not problems(made)
    assert made["annotations"]["annotator"].to_list() == ["a2"]


def test_a_stranger_without_a_label_or_on_another_sample_is_no_fault() -> None:
    assert not problems(join(("c", "x", None, None), ("c", "of another sample", "SVC", None)))


def test_a_label_of_nobody_has_a_place() -> None:
    assert problems(join((" ", "x", "SVC", None)))[0][:3] == ("s.csv", 2, "annotator")


def test_an_earlier_round_is_of_the_same_people() -> None:
    given = pl.DataFrame({"id": join(("a1", "x", "SVC", None))["annotations"]["id"]}).select(
        "id", annotator=pl.lit(" A1"), label=pl.lit("free"), note=pl.lit(None, pl.String)
    )  # fmt: skip
    made = join(("a1", "x", "SVC", None), earlier=given)
    assert made["annotations"].select("annotator", "label").rows() == [("a1", "SVC")]
    both = pl.concat([given, given.with_columns(annotator=pl.lit("a1"))])
    assert not problems(join(earlier=both))
    assert join(earlier=both)["annotations"].height == 1
    differ = pl.concat([given, given.with_columns(annotator=pl.lit("a1"), label=pl.lit("SVC"))])
    assert "a1 gives" in problems(join(earlier=differ.select(list(Annotations.columns()))))[0][3]


def test_the_expert_is_known_in_any_spelling() -> None:
    rows: list[Row] = [("a1", "x", "SVC", None), ("b", "x", "free", None)]
    made = join(*rows, rule="expert", expert="B ")
    assert made["adjudicated"]["label"].to_list() == ["free"]


def test_every_note_is_kept() -> None:
    made = join(
        ("a1", "x", "SVC", "first"), ("a1", "x", None, "in a copy"), ("a1", "x", "SVC", "first"),
        ("b", "y", None, "cannot say"), ("b", "x", None, " "),
    )  # fmt: skip
    assert made["annotations"]["note"].to_list() == ["first; in a copy"]
    assert made["notes"].select("line", "annotator", "note").rows() == [
        (2, "a1", "first"), (3, "a1", "in a copy"), (4, "a1", "first"), (5, "b", "cannot say"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "names", [("a1", "A1"), ("a b", "a  b"), ("é", "e\u0301"), ("a", " "), ("a\x07",)]
)
def test_names_that_mean_the_same_are_refused_at_the_model(names: tuple[str, ...]) -> None:
    sheet = {"candidates": "c", "sample": "s", "folder": "f", "labels": ("l",)}
    keying = {"lexicon": "l", "sample": "s", "folder": "f"}
    join = {"sheet": "s", "labels": "l", "folder": "f", "categories": {"TP": ("l",)}}
    wrong: list[tuple[type[StageConfig], dict[str, Any], str]] = [
        (SheetAnnotation, sheet, "annotators"),
        (SheetAnnotation, sheet, "labels"),
        (SheetKeying, keying, "annotators"),
        (JoinSheets, join, "former"),
    ]
    for model, options, option in wrong:
        model.model_validate(options)
        with pytest.raises(ValidationError, match="two names differ|is no name"):
            model.model_validate(options | {option: names})
