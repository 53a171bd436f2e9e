"""A file or folder whose name looks like a pattern is that file or folder, and no other."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.runner.commands import call
from tests.small_experiment import SMALL

ROWS = [(f"a{i}", f"b{i % 3}", 3 + i, 40, 60, 1000, i % 2) for i in range(12)]
PAIRS = pl.DataFrame(ROWS, schema=["l1", "l2", "f", "f1", "f2", "N", "TP"], orient="row")


@pytest.mark.parametrize("name", ["pairs[1].tsv", "pairs[1].csv", "pairs[1].parquet", "?.tsv"])
@pytest.mark.parametrize("runs", ["runs[1]", "runs*", "r?ns"])
def test_of_tables_and_results(
    name: str, runs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, rows in ((name, PAIRS), (name.replace("[1]", "1").replace("?", "x"), PAIRS.head(2))):
        write(tmp_path / path, rows)
    escaped = name.replace("[", "[[]").replace("?", "[?]")
    (tmp_path / "x.toml").write_text(SMALL.replace("pairs.tsv", escaped))
    done = call(["run", "x.toml", "--runs", runs, "--no-report"])
    assert done.code == 0, done.text
    assert call(["show", "x.toml", "candidates", "--runs", runs, "--output", "shown.csv"]).code == 0
    assert call(["score", name, "--measures", "mi", "--output", "scored.csv"]).code == 0
    assert [len(pl.read_csv(tmp_path / f"{made}.csv")) for made in ("shown", "scored")] == [12, 12]


def write(path: Path, rows: pl.DataFrame) -> None:
    if path.suffix == ".parquet":
        rows.write_parquet(path)
    else:
        rows.write_csv(path, separator="," if path.suffix == ".csv" else "\t")
