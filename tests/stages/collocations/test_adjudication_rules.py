"""What the rules make of annotators who differ, category by category."""

from __future__ import annotations

import polars as pl
import pytest

from tests.stages.run_stage import run_stage

LABELS = pl.DataFrame({"label": ["SVC", "figurative", "no"]})
GIVEN: dict[str, list[str | None]] = {
    "x1": ["SVC", "SVC", "SVC"],
    "x2": ["SVC", "figurative", "SVC"],
    "x3": ["SVC", "no", "SVC"],
    "x4": ["no", "no", "no"],
    "x5": ["figurative", None, None],
}
ROWS = [
    (each, who, label)
    for each, given in GIVEN.items()
    for who, label in zip("abc", given, strict=True)
]
CATEGORIES = {"SVC": ["SVC"], "figurative": ["figurative"], "TP": ["SVC", "figurative"]}


def join(rule: str) -> dict[tuple[str, str], bool | None]:
    entries = pl.DataFrame(
        {
            "file": "001.csv", "line": range(2, len(ROWS) + 2),
            "annotator": [row[1] for row in ROWS], "id": [row[0] for row in ROWS], "l1": "l",
            "l2": "r", "label": [row[2] for row in ROWS], "note": pl.Series([None] * len(ROWS), dtype=pl.String),
        }
    )  # fmt: skip
    sheet = entries.select(
        "annotator", order=pl.int_range(1, pl.len() + 1, dtype=pl.Int64), id="id", l1="l1", l2="l2"
    )
    config = {"rule": rule, "categories": CATEGORIES, "partial": True}
    made = run_stage("join.sheets", config, sheet=sheet, labels=LABELS, entries=entries)
    return {(row[0], row[1]): row[2] for row in made["judgements"].rows()}


@pytest.mark.parametrize(
    ("rule", "svc", "figurative", "union"),
    [
        ("majority", [True, True, True, False, False], [False] * 4 + [True],
         [True, True, True, False, True]),
        ("unanimous", [True, None, None, False, False], [False, None, None, False, True],
         [True, None, None, False, True]),
        ("intersection", [True, False, False, False, False], [False] * 4 + [True],
         [True, True, False, False, True]),
    ],
)  # fmt: skip
def test_rules(
    rule: str, svc: list[bool | None], figurative: list[bool | None], union: list[bool | None]
) -> None:
    judged = join(rule)
    assert [judged["SVC", each] for each in GIVEN] == svc
    assert [judged["figurative", each] for each in GIVEN] == figurative
    assert [judged["TP", each] for each in GIVEN] == union
