"""Everything that the command does, from Python: Arrow in, Arrow out."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import ConfigError, SchemaViolation

PAIRS = {
    "l1": ["a", "b"],
    "l2": ["x", "y"],
    "f": [3, 9],
    "f1": [5, 9],
    "f2": [4, 12],
    "N": [50, 50],
}
FRAME = pl.DataFrame(PAIRS)
EXPECTED = lx.score(FRAME, measures=["all"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"f": [3, 99]}, "marginals_bound_joint"), ({"N": [50, 5]}, "table_fits_sample_size"),
        ({"f": [1, 3.5]}, r"column f: is not a whole number \(give counts.* row 1: 3.5"),
        ({"f": [None, 1]}, r"column f: is not a whole number \(leave such rows.* row 0: None"),
        ({"f": ["3", "1"]}, "is String, not a whole number .*cast it"),
        ({"f": [-1, 1]}, "greater_than"),
    ],
)  # fmt: skip
def test_wrong_tables(change: dict[str, list[object]], said: str) -> None:
    with pytest.raises(SchemaViolation, match=f"(?s){said}"):
        lx.score(pl.DataFrame(PAIRS | change, strict=False))


def test_wrong_arguments() -> None:
    with pytest.raises(SchemaViolation, match="column f: missing"):
        lx.score(FRAME.drop("f"))
    with pytest.raises(ConfigError, match="did you mean t_score"):
        lx.score(FRAME, measures=["t_scor"])
    with pytest.raises(ConfigError, match="already has a column mi"):
        lx.score(EXPECTED, measures=["mi"])
    with pytest.raises(ConfigError, match="row by row"):
        lx.score(FRAME, measures=[], formulas={"x": "SUM(o11)"})
    with pytest.raises(AttributeError):
        lx.nothing  # noqa: B018  looked up, no more


def test_no_rows() -> None:
    assert lx.score(FRAME.clear()).height == 0


def test_run_and_show(tmp_path: Path) -> None:
    FRAME.with_columns(TP=pl.Series([1, 0])).write_parquet(tmp_path / "pairs.parquet")
    (tmp_path / "x.toml").write_text(
        """
        name = "x"
        [stages.pairs]
        use = "extract.table"
        path = "pairs.parquet"
        [stages.scores]
        use = "score.association"
        candidates = "pairs"
        """
    )
    done = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs")
    assert done.table("scores").select("mi").sort("mi").equals(EXPECTED.select("mi").sort("mi"))
    assert done.report is None
    again = lx.show(tmp_path / "x.toml", runs=tmp_path / "runs")
    assert again.table("scores.scores").equals(done.table("scores"))
    with pytest.raises(ConfigError, match="did you mean scores"):
        again.table("score")
