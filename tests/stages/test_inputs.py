"""Columns that a file lacks, or that hold what no stage can use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import ConfigError
from tests.runner.commands import call

COUNTS = {
    "l1": ["a", "b"],
    "l2": ["x", "y"],
    "f": [1, 2],
    "f1": [5, 6],
    "f2": [9, 9],
    "N": [99, 99],
}
CONFIG = 'name = "x"\n[stages.c]\nuse = "extract.table"\npath = "x*.parquet"\n'


def mistakes(folder: Path) -> str:
    (folder / "x.toml").write_text(CONFIG)
    with pytest.raises(ConfigError) as error:
        lx.check(folder / "x.toml", runs=folder / "runs")
    return str(error.value)


@pytest.mark.parametrize(
    ("column", "values", "held"),
    [
        ("l1", [["a"], ["b"]], "lists"),
        ("l1", [b"a", b"\xff"], "bytes"),
        ("f", [{"a": 1}, {"a": 2}], "structures"),
    ],
)
def test_a_column_without_plain_values(
    column: str, values: list[Any], held: str, tmp_path: Path
) -> None:
    pl.DataFrame({**COUNTS, column: values}).write_parquet(tmp_path / "x.parquet")
    what = f"column {column!r} holds {held}, neither text nor numbers (x*.parquet (x.parquet))"
    assert f"stages.c.columns.{column}: {what}; write it as text" in mistakes(tmp_path)


def test_which_of_several_files_lacks_a_column(tmp_path: Path) -> None:
    whole = pl.DataFrame(COUNTS)
    whole.write_parquet(tmp_path / "x1.parquet")
    whole.rename({"l1": "left"}).write_parquet(tmp_path / "x2.parquet")
    said = "stages.c.columns.l1: the file has no column 'l1' (x*.parquet (x2.parquet)); valid: N, f"
    assert said in mistakes(tmp_path)


def test_categories_are_text(tmp_path: Path) -> None:
    as_text = pl.DataFrame(COUNTS)
    as_categories = as_text.cast({"l1": pl.Categorical(), "l2": pl.Enum(["x", "y"])})
    tables = []
    for name, frame in (("text", as_text), ("categories", as_categories)):
        (folder := tmp_path / name).mkdir()
        frame.write_parquet(folder / "x.parquet")
        (folder / "x.toml").write_text(CONFIG)
        done = lx.run(folder / "x.toml", runs=folder / "runs", report=False)
        tables.append(done.table("c"))
    assert tables[0].equals(tables[1])


def test_score_says_what_its_columns_hold(tmp_path: Path) -> None:
    pl.DataFrame({**COUNTS, "f": [[1], [2]]}).write_parquet(tmp_path / "x.parquet")
    done = call(["score", str(tmp_path / "x.parquet")])
    assert done.code == 1
    assert f"{tmp_path / 'x.parquet'} breaks its schema:" in done.err
    assert "column f: holds lists, not whole numbers" in done.err
