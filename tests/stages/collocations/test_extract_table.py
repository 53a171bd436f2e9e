"""Candidates from tables."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.errors import ConfigError
from pipeline.kernels.sampling import candidate_id
from tests.stages.run_stage import faults, run_stage

PAIRS = pl.DataFrame(
    {"l1": ["a", "b"], "l2": ["x", "y"], "f": ["3", "9"], "f1": ["5", "9"], "f2": ["4", "12"],
     "N": ["50", "50"], "am.x": ["0.5", "-inf"]}
)  # fmt: skip


def test_texts_become_counts() -> None:
    made = run_stage("extract.table", {}, path=PAIRS)["candidates"].sort("l1")
    assert made.select("f", "f1", "f2", "N").rows() == [(3, 5, 4, 50), (9, 9, 12, 50)]
    assert made["id"].n_unique() == 2


def test_typed_columns_do_too() -> None:
    typed = PAIRS.with_columns(pl.col("f").cast(pl.UInt8), pl.col("f1", "N").cast(pl.Float64))
    made = run_stage("extract.table", {}, path=typed)["candidates"]
    assert made.equals(run_stage("extract.table", {}, path=PAIRS)["candidates"])


def test_other_names_and_kept_columns() -> None:
    renamed = PAIRS.rename({"l1": "PP", "f": "freq"})
    config = {"columns": {"l1": "PP", "f": "freq"}, "keep": {"ucs_x": "am.x"}}
    made = run_stage("extract.table", config, path=renamed)["candidates"].sort("l1")
    assert made["ucs_x"].to_list() == [0.5, float("-inf")]
    assert made["f"].to_list() == [3, 9]


def test_threshold_leaves_the_marginals_alone() -> None:
    made = run_stage("extract.table", {"min_frequency": 4}, path=PAIRS)["candidates"]
    assert made.select("l1", "f1", "N").rows() == [("b", 9, 50)]


def test_faults_name_line_column_and_value() -> None:
    wrong = PAIRS.with_columns(
        f=pl.Series(["3.5", "x"]),
        N=pl.Series([None, "50"]),
        l1=pl.Series(["", "b"]).replace("", None),
    )
    made = run_stage("extract.table", {}, path=wrong)
    assert faults(made) == [(2, "N", None), (2, "f", "3.5"), (2, "l1", None), (3, "f", "x")]
    assert made["candidates"].height == 0


def test_negative_counts_are_not_taken_for_low_ones() -> None:
    made = run_stage("extract.table", {}, path=PAIRS.with_columns(f=pl.Series(["-1", "9"])))
    assert faults(made) == [(2, "f", "-1")]
    typed = PAIRS.with_columns(pl.col("f").cast(pl.Int64) * -1)
    assert [value for *_, value in faults(run_stage("extract.table", {}, path=typed))] == [
        "-3",
        "-9",
    ]


def test_missing_column_lists_those_there_are() -> None:
    with pytest.raises(
        ConfigError, match=r"columns.f2: the file has no column 'f2'; did you mean f1?"
    ):
        run_stage("extract.table", {}, path=PAIRS.drop("f2"))
    with pytest.raises(ConfigError, match=r"keep.mine: the file has no column 'am.y'"):
        run_stage("extract.table", {"keep": {"mine": "am.y"}}, path=PAIRS)


def test_no_rows() -> None:
    assert run_stage("extract.table", {}, path=PAIRS.clear())["candidates"].height == 0


@pytest.mark.parametrize("blank", [" ", "", "\u00a0", None])
@pytest.mark.parametrize(
    "use", ["extract.table", "extract.pair_tokens", "join.table", "sheet.simulated"]
)
def test_a_blank_unit_is_a_fault(use: str, blank: str | None) -> None:
    rows = PAIRS.with_columns(l1=pl.Series(["a", blank], dtype=pl.String), TP=pl.lit("1"))
    known = PAIRS.select("l1", "l2").with_columns(candidate_id("l1", "l2"))
    sheet = known.select(
        pl.lit("a").alias("annotator"), pl.lit(1, pl.Int64).alias("order"), "id", "l1", "l2"
    )
    tables: dict[str, dict[str, pl.DataFrame]] = {
        "join.table": {"candidates": known}, "sheet.simulated": {"sheet": sheet},
    }  # fmt: skip
    config = {"label": "TP"} if use == "sheet.simulated" else {}
    made = run_stage(use, config, path=rows, **tables.get(use, {}))
    assert faults(made) == [(3, "l1", blank)]
