"""Krenn's candidates by verbs: what is left of the differences if true positives cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import pipeline as lx

pytestmark = pytest.mark.long
STAGES = """
name = "verbs"
[stages.c]
use = "extract.table"
path = "{path}"
[stages.j]
use = "join.table"
path = "{path}"
candidates = "c"
categories = {{ TP = "b.TP" }}
[stages.s]
use = "score.association"
candidates = "c"
measures = ["t_score", "log_likelihood", "chi_squared"]
[stages.r]
use = "score.rank"
scores = "s"
[stages.p]
use = "evaluate.precision"
ranks = "r"
judgements = "j"
clusters = "c"
[stages.t]
use = "evaluate.comparison"
ranks = "r"
judgements = "j"
clusters = "c"
every = 0
"""


@pytest.fixture
def done(tmp_path: Path, public_data: Callable[[str], Path]) -> lx.Run:
    path = public_data("collocations/krenn_pp_verb.ds")
    (tmp_path / "x.toml").write_text(STAGES.format(path=path))
    return lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)


def test_design_effects_of_the_lists_by_t_score(done: lx.Run) -> None:
    lists = done.table("p.clustered").filter(measure="t_score").sort("n")
    assert lists["clusters"].to_list() == [51, 165, 280, 469]
    assert lists["design_effect"].to_list() == pytest.approx([3.1, 8.6, 12.2, 17], rel=0.1)


@pytest.mark.parametrize(
    ("pair", "n", "fisher", "clustered"),
    [(("chi_squared", "t_score"), 1000, 0.00063, (0.14, 0.26)),
     (("log_likelihood", "t_score"), 2000, 0.0008, (0.0004, 0.002))],
)  # fmt: skip
def test_differences(
    done: lx.Run, pair: tuple[str, str], n: int, fisher: float, clustered: tuple[float, float]
) -> None:
    at = (pl.col("measure_1") == pair[0], pl.col("measure_2") == pair[1], pl.col("n") == n)
    assert done.table("t.cuts").filter(*at)["p_value"].item() == pytest.approx(fisher, rel=0.01)
    assert clustered[0] < done.table("t.clustered").filter(*at)["p_value"].item() < clustered[1]
