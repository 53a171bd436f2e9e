"""Verdicts from tables."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.errors import ConfigError
from pipeline.kernels.sampling import candidate_id
from tests.stages.run_stage import faults, run_stage

SHEET = pl.DataFrame(
    {"l1": ["a", "b", "c", "d"], "l2": ["x"] * 4, "TP": ["1", "no", None, "TRUE"],
     "idiom": ["0", "0", "", "1"]}
)  # fmt: skip
CANDIDATES = SHEET.head(3).select(candidate_id("l1", "l2"))


def judge(sheet: pl.DataFrame, **config: object) -> dict[str, pl.DataFrame]:
    return run_stage("join.table", config, path=sheet, candidates=CANDIDATES)


def test_null_is_not_judged_and_strangers_are_counted() -> None:
    made = judge(SHEET)
    assert made["judgements"].join(CANDIDATES, on="id").select("tp").sum().item() == 1
    assert made["judgements"].height == 2
    assert made["coverage"].rows() == [("TP", 3, 2, 1, 1)]
    assert faults(made) == []


def test_truth_values_are_judgements() -> None:
    typed = SHEET.with_columns(TP=pl.Series([True, False, None, True]))
    assert judge(typed)["judgements"].equals(judge(SHEET)["judgements"])
    assert faults(judge(typed)) == []


def test_several_categories() -> None:
    made = judge(SHEET, categories={"all": "TP", "idiom": "idiom"})
    assert made["coverage"].rows() == [("all", 3, 2, 1, 1), ("idiom", 3, 2, 0, 1)]


def test_same_verdict_twice_counts_once_another_is_a_fault() -> None:
    assert judge(pl.concat([SHEET, SHEET]))["coverage"].rows() == [("TP", 3, 2, 1, 1)]
    changed = SHEET.with_columns(TP=pl.lit("0"))
    made = judge(pl.concat([SHEET, changed]))
    assert faults(made) == [
        (2, "TP", "true"),
        (5, "TP", "true"),
        (6, "TP", "false"),
        (9, "TP", "false"),
    ]


def test_what_is_no_verdict_is_a_fault() -> None:
    made = judge(SHEET.with_columns(TP=pl.Series(["1", "maybe", None, "2"])))
    assert faults(made) == [(3, "TP", "maybe"), (5, "TP", "2")]


def test_columns() -> None:
    made = judge(SHEET.rename({"l1": "PP"}), columns={"l1": "PP"})
    assert made["judgements"].height == 2
    with pytest.raises(
        ConfigError, match="categories.TP: the file has no column 'b.TP'; did you mean TP"
    ):
        judge(SHEET, categories={"TP": "b.TP"})


def test_no_rows_keep_their_category() -> None:
    assert judge(SHEET.clear())["coverage"].rows() == [("TP", 3, 0, 0, 0)]


def test_labels_of_true_positives() -> None:
    sheet = SHEET.with_columns(kind=pl.Series(["SVC", "free", "", "idiom"]))
    category = {"column": "kind", "labels": ["SVC", "idiom"]}
    made = judge(sheet, categories={"TP": category})
    assert made["coverage"].rows() == [("TP", 3, 2, 1, 1)]
    assert faults(made) == []


def test_union_of_categories() -> None:
    sheet = pl.DataFrame(
        {"l1": ["a", "b", "c"], "l2": ["x"] * 3, "s": ["1", "0", "0"], "f": ["", "0", None]}
    )
    config = {"categories": {"s": "s", "f": "f"}, "unions": {"TP": ["s", "f"]}}
    made = judge(sheet, **config)["judgements"].filter(category="TP")
    names = {
        row[0]: row[1] for row in CANDIDATES.with_columns(l1=pl.Series(["a", "b", "c"])).rows()
    }
    found = {names[row[1]]: row[2] for row in made.rows()}
    assert found == {"a": True, "b": False}  # c: not in s, and f is open


def test_a_union_needs_parts_and_a_name() -> None:
    wrong: list[dict[str, list[str]]] = [{"TP": ["idiom"]}, {"other": ["idiom"]}, {"other": []}]
    for unions in wrong:
        with pytest.raises(ValueError, match="needs a name of its own and parts among TP"):
            judge(SHEET, unions=unions)
