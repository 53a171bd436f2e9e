"""Numbers of files: every stage, of every format, reads the same or refuses the same rows."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline.errors import ConfigError, DataError
from pipeline.formats.base import LINE, format_of
from pipeline.kernels.cells import NO_NUMBER
from pipeline.stages.base import FAULTS
from tests.stages.run_stage import TABLES, SmallRun, run_stage, write_table

DAY = datetime.datetime(2024, 1, 31, 5)


def written(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return what the reader of a format gives of a table."""
    write_table(table, path)
    found = format_of(path.name, kind="table")
    options = found.options()
    assert found.check(path, options) == ()
    return found.scan(path, options).collect().drop(LINE)


# Three cells, and the counts that they are: 3.50 is none, 10.00 is ten.
COUNTS: Mapping[str, tuple[pl.Series, list[int | None]]] = {
    "decimals": (
        pl.Series(["3.50", "10.90", "10.00"]).cast(pl.Decimal(12, 2)), [None, None, 10],
    ),
    "whole decimals": (pl.Series(["3.00", "4.00", "10.00"]).cast(pl.Decimal(9, 2)), [3, 4, 10]),
    "floats": (pl.Series([3.9, 4.5, 10.0]), [None, None, 10]),
    "whole floats": (pl.Series([6.0, 20.0, 5000.0]), [6, 20, 5000]),
    "truth values": (pl.Series([True, False, True]), [None] * 3),
    "dates": (pl.Series([DAY.date()] * 3), [None] * 3),
    "timestamps": (pl.Series([DAY] * 3), [None] * 3),
    "times": (pl.Series([DAY.time()] * 3), [None] * 3),
    "too large": (pl.Series([2**63, 7, 2**64 - 1], dtype=pl.UInt64), [None, 7, None]),
    "negative": (pl.Series([-3, 7, 6]), [None, 7, 6]),
}  # fmt: skip
LARGE = {"f1": 10**6, "f2": 10**6, "N": 10**9}
LARGE = {"f1": 10**6, "f2": 10**6, "N": 10**9}
COUNTED: Mapping[str, tuple[dict[str, Any], str]] = {
    "extract.table": ({"columns": {"l1": "w", "l2": "x"}}, "candidates"),
    "extract.word_table": ({"columns": {"word": "w"}}, "words"),
    "extract.clusters": ({"columns": {"item": "w", "cluster": "x"}, "system": "s"}, "entries"),
    "extract.gold_table": ({"columns": {"item": "w", "gold": "x"}}, "entries"),
    "extract.gold_table, wide": ({"columns": {"item": "w"}, "classes": ["f"]}, "entries"),
}
"""Stages that read the column f as counts: their options, and the table that they make."""
SCORED: Mapping[str, tuple[dict[str, Any], str]] = {
    "extract.scores": ({"columns": {"l1": "w", "l2": "x"}, "scores": {"s": "f"}}, "scores"),
    "extract.table, kept": (
        {"columns": {"l1": "w", "l2": "x", "f": "f1"}, "keep": {"s": "f"}}, "candidates",
    ),
}  # fmt: skip
"""Stages that read it as scores."""


def words(values: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"w": ["a", "b", "c"], "x": "y", "f": values}).with_columns(
        pl.lit(value).alias(name) for name, value in LARGE.items()
    )


def made_by(stage: str, values: pl.Series, path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the table that a stage makes of a file with these values, and the faults by line."""
    config, table = (COUNTED | SCORED)[stage]
    made = run_stage(stage.partition(",")[0], config, path=written(words(values), path))
    return made[table], made[FAULTS].sort("line")


@pytest.mark.long
@pytest.mark.parametrize("stage", COUNTED)
@pytest.mark.parametrize("name", TABLES)
def test_a_count_is_a_whole_number_in_every_format(name: str, stage: str, tmp_path: Path) -> None:
    for case, (values, counts) in COUNTS.items():
        table, faults = made_by(stage, values, tmp_path / name)
        refused = [(2 + place, "f") for place, count in enumerate(counts) if count is None]
        assert faults.select("line", "column").rows() == refused, case
        assert sorted(table["f"].drop_nulls()) == sorted(filter(None, counts)), case


SCORES: Mapping[str, tuple[pl.Series, list[float | None]]] = {
    "decimals": (pl.Series(["3.50", "-1.25", None]).cast(pl.Decimal(9, 2)), [3.5, -1.25, None]),
    "floats": (pl.Series([0.5, 6.0, None]), [0.5, 6.0, None]),
    "whole": (pl.Series([7, -7, 0]), [7.0, -7.0, 0.0]),
}
NO_SCORES = ("truth values", "dates", "timestamps", "times")


@pytest.mark.parametrize("stage", SCORED)
@pytest.mark.parametrize("name", TABLES)
def test_a_score_is_a_number_in_every_format(name: str, stage: str, tmp_path: Path) -> None:
    for case, (values, scores) in SCORES.items():
        table, faults = made_by(stage, values, tmp_path / name)
        assert faults.is_empty(), case
        assert table.sort("l1")["s"].to_list() == scores, case
    for case in NO_SCORES:
        _, faults = made_by(stage, COUNTS[case][0], tmp_path / name)
        refused = faults.select("line", "column", "problem").rows()
        assert refused == [(line, "f", NO_NUMBER) for line in (2, 3, 4)], case


@pytest.mark.parametrize("stage", [*COUNTED, *SCORED])
def test_spans_of_time_and_what_is_not_finite(stage: str, tmp_path: Path) -> None:
    """Text has no spans of time, and JSON neither NaN nor infinity."""
    with pytest.raises(ConfigError, match="column 'f' contains time spans"):
        made_by(stage, pl.Series([datetime.timedelta(1)] * 3), tmp_path / "t.parquet")
    _, faults = made_by(stage, pl.Series([math.nan, math.inf, 6.0]), tmp_path / "t.parquet")
    no_counts = [(2, "NaN"), (3, "inf")]
    assert faults.select("line", "value").rows() == no_counts[: 1 if stage in SCORED else 2]


@pytest.mark.parametrize("name", TABLES)
def test_a_run_says_file_row_column_and_value(name: str, tmp_path: Path) -> None:
    write_table(words(COUNTS["decimals"][0]), tmp_path / name)
    with pytest.raises(DataError) as error:
        SmallRun(tmp_path, {}).run(
            f'[stages.w]\nuse = "extract.word_table"\npath = "{name}"\ncolumns.word = "w"\n'
        )
    first, value = (
        1 if name in {"t.parquet", "t.jsonl"} else 2,
        "3.5" if name == "t.xlsx" else "3.50",
    )
    said = f"{name}: column f: 2 x is not a whole number >= 0, or is too large to sum"
    assert f"{said}\n      line {first}: '{value}'\n" in str(error.value)
