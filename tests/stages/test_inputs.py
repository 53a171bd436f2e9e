"""Numbers in files: every stage, with every format, reads or refuses the same rows."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.errors import ConfigError, DataError, SchemaViolation
from pipeline.formats.base import LINE, format_of
from pipeline.kernels.cells import NO_NUMBER
from pipeline.stages.base import FAULTS
from tests.stages.run_stage import TABLES, SmallRun, run_stage, write_table

DAY = datetime.datetime(2024, 1, 31, 5)


def write_and_read(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return a table as the reader of a format reads it."""
    write_table(table, path)
    result = format_of(path.name, kind="table")
    options = result.options()
    assert result.check(path, options) == ()
    return result.scan(path, options).collect().drop(LINE)


# Three cells and their counts: 3.50 is not a count, 10.00 is ten.
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
COUNT_STAGES: Mapping[str, tuple[dict[str, Any], str]] = {
    "extract.table": ({"columns": {"l1": "w", "l2": "x"}}, "candidates"),
    "extract.word_table": ({"columns": {"word": "w"}}, "words"),
    "extract.clusters": ({"columns": {"item": "w", "cluster": "x"}, "system": "s"}, "entries"),
    "extract.gold_table": ({"columns": {"item": "w", "gold": "x"}}, "entries"),
    "extract.gold_table, wide": ({"columns": {"item": "w"}, "classes": ["f"]}, "entries"),
}
"""Stages that read the column f as counts: their options, and the table that they make."""
SCORE_STAGES: Mapping[str, tuple[dict[str, Any], str]] = {
    "extract.scores": ({"columns": {"l1": "w", "l2": "x"}, "scores": {"s": "f"}}, "scores"),
    "extract.table, kept": (
        {"columns": {"l1": "w", "l2": "x", "f": "f1"}, "keep": {"s": "f"}}, "candidates",
    ),
}  # fmt: skip
"""Stages that read the column f as scores."""


def words(values: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"w": ["a", "b", "c"], "x": "y", "f": values}).with_columns(
        pl.lit(value).alias(name) for name, value in LARGE.items()
    )


def table_and_faults(
    stage: str, values: pl.Series, path: Path
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the table that a stage reads from a file with these values, and the faults by line."""
    config, table = (COUNT_STAGES | SCORE_STAGES)[stage]
    tables = run_stage(stage.partition(",")[0], config, path=write_and_read(words(values), path))
    return tables[table], tables[FAULTS].sort("line")


@pytest.mark.long
@pytest.mark.parametrize("stage", COUNT_STAGES)
@pytest.mark.parametrize("name", TABLES)
def test_a_count_is_a_whole_number_in_every_format(name: str, stage: str, tmp_path: Path) -> None:
    for case, (values, counts) in COUNTS.items():
        table, faults = table_and_faults(stage, values, tmp_path / name)
        refused = [(2 + place, "f") for place, count in enumerate(counts) if count is None]
        assert faults.select("line", "column").rows() == refused, case
        assert sorted(table["f"].drop_nulls()) == sorted(filter(None, counts)), case


SCORES: Mapping[str, tuple[pl.Series, list[float | None]]] = {
    "decimals": (pl.Series(["3.50", "-1.25", None]).cast(pl.Decimal(9, 2)), [3.5, -1.25, None]),
    "floats": (pl.Series([0.5, 6.0, None]), [0.5, 6.0, None]),
    "whole": (pl.Series([7, -7, 0]), [7.0, -7.0, 0.0]),
}
NO_SCORES = ("truth values", "dates", "timestamps", "times")


@pytest.mark.parametrize("stage", SCORE_STAGES)
@pytest.mark.parametrize("name", TABLES)
def test_a_score_is_a_number_in_every_format(name: str, stage: str, tmp_path: Path) -> None:
    for case, (values, scores) in SCORES.items():
        table, faults = table_and_faults(stage, values, tmp_path / name)
        assert faults.is_empty(), case
        assert table.sort("l1")["s"].to_list() == scores, case
    for case in NO_SCORES:
        _, faults = table_and_faults(stage, COUNTS[case][0], tmp_path / name)
        refused = faults.select("line", "column", "problem").rows()
        assert refused == [(line, "f", NO_NUMBER) for line in (2, 3, 4)], case


@pytest.mark.parametrize("stage", [*COUNT_STAGES, *SCORE_STAGES])
def test_time_spans_and_infinite_numbers_are_refused(stage: str, tmp_path: Path) -> None:
    """Text has no time spans, and JSON neither NaN nor infinity."""
    with pytest.raises(ConfigError, match="column 'f' contains time spans"):
        table_and_faults(stage, pl.Series([datetime.timedelta(1)] * 3), tmp_path / "t.parquet")
    _, faults = table_and_faults(
        stage, pl.Series([math.nan, math.inf, 6.0]), tmp_path / "t.parquet"
    )
    no_counts = [(2, "NaN"), (3, "inf")]
    assert faults.select("line", "value").rows() == no_counts[: 1 if stage in SCORE_STAGES else 2]


@pytest.mark.parametrize("name", TABLES)
def test_a_run_reports_file_row_column_and_value(name: str, tmp_path: Path) -> None:
    write_table(words(COUNTS["decimals"][0]), tmp_path / name)
    with pytest.raises(DataError) as error:
        SmallRun(tmp_path, {}).run(
            f'[stages.w]\nuse = "extract.word_table"\npath = "{name}"\ncolumns.word = "w"\n'
        )
    first, value = (
        1 if name in {"t.parquet", "t.jsonl"} else 2,
        "3.5" if name == "t.xlsx" else "3.50",
    )
    message = f"{name}: column f (2 values): is not a whole number >= 0, or is too large to sum"
    assert f"{message}\n      line {first}: '{value}'\n" in str(error.value)


# Every dtype in every reader of counts: two cells and their counts. No number is cut
# off, and a dtype that holds no numbers is refused.

WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
WIDE = "cannot be read: f [(](Int128|UInt128|decimal256.*)[)]"
DTYPES: Mapping[str, tuple[Any, list[int | None] | str]] = {
    **{str(dtype): (pl.Series([3, 10], dtype=dtype), [3, 10]) for dtype in WHOLE},
    **{str(dtype): (pl.Series([3, 10], dtype=dtype), WIDE) for dtype in (pl.Int128, pl.UInt128)},
    "wide decimals": (pa.array([Decimal("3.50"), Decimal(10)], pa.decimal256(50, 2)), WIDE),
    "decimals": (pl.Series(["3.50", "10.00"]).cast(pl.Decimal(9, 2)), [None, 10]),
    "decimals without fraction": (pl.Series(["3.00", "10.00"]).cast(pl.Decimal(9, 2)), [3, 10]),
    "large decimals": (pl.Series([Decimal(3), Decimal(10) ** 25], dtype=pl.Decimal(38, 0)), [3, None]),
    "Float64": (pl.Series([3.0, 10.9]), [3, None]),
    "Float32": (pl.Series([3.5, 10.0], dtype=pl.Float32), [None, 10]),
    "Float16": (pa.array(np.array([3.5, 10.0], np.float16)), [None, 10]),
    "not finite": (pl.Series([math.nan, math.inf]), [None, None]),
    "large floats": (pl.Series([2.0**53, 10.0]), [None, 10]),
    "beyond 2^63": (pl.Series([3, 2**63], dtype=pl.UInt64), [3, None]),
    "negative": (pl.Series([-3, 10]), [None, 10]),
    "Boolean": (pl.Series([True, False]), [None, None]),
    "Date": (pl.Series([DAY.date()] * 2), [None, None]),
    "Datetime": (pl.Series([DAY] * 2), [None, None]),
    "Time": (pl.Series([DAY.time()] * 2), [None, None]),
    "Null": (pl.Series([None, None]), [None, None]),
    "Categorical": (pl.Series(["3", "x"], dtype=pl.Categorical), [3, None]),
    "Enum": (pl.Series(["3", "3.5"], dtype=pl.Enum(["3", "3.5"])), [3, None]),
    "String": (pl.Series(["3", "3.5"]), [3, None]),
    "Duration": (pl.Series([datetime.timedelta(1)] * 2), "time spans"),
    "Binary": (pl.Series([b"3", b"10"]), "bytes"),
    "List": (pl.Series([[3], [10]]), "lists"),
    "Array": (pl.Series([[3], [10]], dtype=pl.Array(pl.Int64, 1)), "lists"),
    "Struct": (pl.Series([{"n": 3}, {"n": 10}]), "structures"),
    "Map": (pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())), "Map"),
    "Extension": (pa.ExtensionArray.from_storage(pa.json_(), pa.array(["3", "4"])), "Extension"),
}  # fmt: skip


def in_parquet(values: Any, path: Path) -> pl.DataFrame:
    """Write a file with words and these values as f; return the table that its reader reads."""
    others = {"w": ["a", "b"], "x": ["y", "y"], **{name: [n] * 2 for name, n in LARGE.items()}}
    if isinstance(values, pl.Series):
        pl.DataFrame({**others, "f": values}).write_parquet(path)
    else:
        pq.write_table(pa.table({**others, "f": values}), path)
    result = format_of(path.name, kind="table")
    options = result.options()
    result.check(path, options)
    return result.scan(path, options).collect().drop(LINE)


@pytest.mark.parametrize("stage", COUNT_STAGES)
@pytest.mark.parametrize("case", DTYPES)
def test_every_dtype_is_read_as_counts_or_refused(stage: str, case: str, tmp_path: Path) -> None:
    values, counts = DTYPES[case]
    config, table = COUNT_STAGES[stage]

    def run_on_parquet() -> dict[str, pl.DataFrame]:
        frame = in_parquet(values, tmp_path / "t.parquet")
        return run_stage(stage.partition(",")[0], config, path=frame)

    if isinstance(counts, str):
        with pytest.raises((ConfigError, DataError), match=counts):
            run_on_parquet()
        return
    result = run_on_parquet()
    # A gold table with a column for each class may leave a class of an item empty.
    may_be_null = case == "Null" and stage.endswith("wide")
    refused = [] if may_be_null else [2 + at for at, n in enumerate(counts) if n is None]
    assert sorted(result[FAULTS]["line"]) == refused
    assert sorted(result[table]["f"].drop_nulls()) == [n for n in counts if n is not None]


@pytest.mark.long
@pytest.mark.parametrize("case", DTYPES)
def test_every_dtype_in_a_list_of_keywords_is_read_or_refused(case: str, tmp_path: Path) -> None:
    values, counts = DTYPES[case]
    path, other = tmp_path / "t.parquet", tmp_path / "other.parquet"
    with suppress(DataError):
        in_parquet(values, path)
    pl.DataFrame({"w": ["a", "b"], "f": [300, 20]}).write_parquet(other)
    ask = partial(
        lx.keywords, path, other, columns={"word": "w"}, min_frequency=1, runs=tmp_path / "runs"
    )
    if isinstance(counts, list) and None not in counts:
        assert sorted(ask()["f"]) == counts
    else:
        with pytest.raises(
            (ConfigError, DataError), match=r"t.parquet.*(f|'f'|Int128|decimal256)\b"
        ):
            ask()


@pytest.mark.parametrize("case", DTYPES)
def test_every_dtype_in_a_table_to_score_is_read_or_refused(case: str, tmp_path: Path) -> None:
    """Texts are counts in a file, whose format is known, but not in a frame."""
    values, counts = DTYPES[case]
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"l1": ["a", "b"], "l2": "y", **LARGE})
    if isinstance(values, pl.Series):
        table = frame.with_columns(f=values)
        if counts == WIDE:
            counts = [3, 10]
        if isinstance(counts, list) and None not in counts:
            assert lx.score(table, measures=["frequency"])["frequency"].to_list() == counts
        else:
            with pytest.raises(SchemaViolation, match=r"column f: "):
                lx.score(table, measures=["frequency"])
        values, counts = DTYPES[case]
    with suppress(DataError):
        in_parquet(values, path)
    words = ["score", str(path), "--measures", "frequency", "--columns", "l1=w,l2=x"]
    wrong = isinstance(counts, str) or None in counts
    assert main(words) == (1 if wrong else 0)


# Columns that a file lacks


@pytest.mark.parametrize(
    ("name", "separator", "remedy"),
    [
        ("t.csv", ";", 'separated by semicolons: write { path = ..., separator = ";" }'),
        ("t.csv", "\t", r'separated by tabs: write { path = ..., separator = "\t" }'),
        ("t.tsv", ",", 'separated by commas: write { path = ..., separator = "," }'),
        ("t.tsv", "|", "valid: l1|l2|f|f1|f2|N"),
    ],
)
def test_a_header_with_another_separator_is_recognised(
    name: str, separator: str, remedy: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(separator.join(["l1", "l2", "f", "f1", "f2", "N"]) + "\n")
    (tmp_path / "x.toml").write_text(
        f'name = "x"\n[stages.c]\nuse = "extract.table"\npath = "{name}"\n'
    )
    with pytest.raises(ConfigError) as error:
        lx.check(tmp_path / "x.toml")
    assert f"the file has no column 'l1' ({name})" in str(error.value)
    assert remedy in str(error.value)
