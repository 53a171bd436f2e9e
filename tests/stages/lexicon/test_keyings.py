"""Lemmas that are keyed in twice, by whom, and what is noted."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import FAULTS
from schemas import KeyedEntries
from tests.stages.run_stage import run_stage

Row = tuple[str | None, str, str | None, str | None]


def join(*rows: Row, **options: Any) -> dict[str, pl.DataFrame]:
    """Join rows of annotator, lemma, forms, note; anna and ben are asked for ra and dar."""
    names = ("annotator", "lemma", "forms", "note")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    line = pl.int_range(2, pl.len() + 2, dtype=pl.Int64)
    entries = frame.with_columns(file=pl.lit("k.csv"), line=line).with_columns(
        candidate_id("lemma")
    )
    sheet = pl.DataFrame({"annotator": ["anna", "ben"], "order": [1, 1], "lemma": ["ra", "dar"]})
    return run_stage(
        "join.keying", {"partial": True} | options,
        sheet=sheet.with_columns(candidate_id("lemma")).select("annotator", "order", "id", "lemma"),
        entries=entries.select(list(KeyedEntries.columns())),
    )  # fmt: skip


def problems(made: dict[str, pl.DataFrame]) -> list[tuple[Any, ...]]:
    return made[FAULTS].sort("line").select("file", "line", "column", "problem").rows()


def test_a_typo_of_a_second_keying_is_no_gold_form() -> None:
    found = problems(join(("anna", "ra", "ra, rajt", None), ("Anna ", "ra", "ra, rjat", None)))
    assert [each[:3] for each in found] == [("k.csv", 2, "forms"), ("k.csv", 3, "forms")]
    said = "ra, rajt (k.csv, line 2); ra, rjat (k.csv, line 3); keep one"
    assert {each[3] for each in found} == {f"anna keys this lemma in differently: {said}"}


@pytest.mark.parametrize("again", ["ra, rajt", "rajt; ra", " rajt\nra "])
def test_equal_keyings_are_one(again: str) -> None:
    made = join(("anna", "ra", "ra, rajt", None), ("anna", "ra", again, None))
    assert not problems(made)
    assert made["gold"].height == 2


def test_equal_by_the_spelling_of_the_stage() -> None:
    rows: list[Row] = [("anna", "ra", "ra", None), ("anna", "ra", "RA", None)]
    assert len(problems(join(*rows))) == 2
    assert not problems(join(*rows, case="lower"))


def test_two_people_may_key_in_one_lemma() -> None:
    made = join(("anna", "ra", "ra", None), ("ben", "ra", "rajt", None))
    assert not problems(made)
    assert made["gold"].height == 2


def test_strangers_and_nobody_have_their_places() -> None:
    found = problems(join(("anne", "ra", "ra", None), (None, "dar", "dar", None)))
    assert [each[:3] for each in found] == [("k.csv", 2, "annotator"), ("k.csv", 3, "annotator")]
    assert "did you mean anna, ben?" in found[0][3]
    assert "say who gave the forms" in found[1][3]
    assert not problems(join(("anne", "ra", "ra", None), former=("anne",)))


def test_a_note_on_a_lemma_without_forms_is_kept() -> None:
    made = join(("anna", "ra", None, "page is torn"))
    assert made["notes"].select("lemma", "note").rows() == [("ra", "page is torn")]
