from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import fisher_exact

from pipeline.kernels.nbest.comparison import compare_with_baseline
from pipeline.kernels.nbest.precision import baseline, nbest_counts
from schemas import BaselineComparison
from tests.kernels.nbest.rank_frames import judged_of, krenn, ranks_of
from tests.valid import valid

SCORES = {"x": [5.0, 4.0, 3.0, 2.0, 1.0]}
DRAWS = {"TP": [(True, 2), (True, 1), None, (False, 1), (None, 3)]}


def compared(ranks: pl.DataFrame, judged: pl.DataFrame, **options: Any) -> pl.DataFrame:
    counts = nbest_counts(ranks.lazy(), judged.lazy())
    size = ranks["id"].n_unique()
    totals = baseline(
        judged, n_candidates=size, sampled=True, method="clopper_pearson", confidence=0.95
    )
    given: dict[str, Any] = {"n_candidates": size, "alpha": 0.05, "margin": 0.0, **options}
    table = compare_with_baseline(counts, totals, **given)
    return valid(table, BaselineComparison)


def test_by_hand() -> None:
    table = compared(ranks_of(SCORES), judged_of(DRAWS))
    assert table.select("n", "n_1", "k_1", "n_2", "k_2").rows() == [
        (1, 2, 2, 2, 1), (2, 3, 3, 1, 0), (3, 3, 3, 1, 0), (4, 4, 3, 0, 0), (5, 4, 3, 0, 0),
    ]  # fmt: skip
    assert table["difference"].to_list() == pytest.approx([0.8 / 2, 0.6, 0.4, None, 0.0])
    assert table["p_value"].to_list() == pytest.approx([1.0, 0.25, 0.25, None, None])
    assert not table["significant"].any()


def test_full_annotation_gives_precision_less_baseline() -> None:
    ranks, judged = krenn()
    table = compared(ranks.filter(pl.col("measure") == "t_score"), judged)
    row = table.filter(n=500).row(0, named=True)
    assert row["difference"] == pytest.approx(0.302 - 566 / 5102, abs=1e-12)
    cells = [[row["k_1"], row["k_2"]], [row["n_1"] - row["k_1"], row["n_2"] - row["k_2"]]]
    assert row["p_value"] == pytest.approx(fisher_exact(np.array(cells))[1], rel=1e-9, abs=0)
    assert row["significant"]
    assert table["difference"][-1] == 0.0


def test_test_side_margin_and_level_are_passed_on() -> None:
    ranks, judged = ranks_of(SCORES), judged_of({"TP": [(True, 9), (True, 9), *[(False, 9)] * 3]})
    plain = compared(ranks, judged)["p_value"][1]
    less = compared(ranks, judged, alternative="less")["p_value"][1]
    assert less == 1.0
    assert compared(ranks, judged, test="boschloo", alternative="greater")["p_value"][1] < plain
    assert compared(ranks, judged)["significant"].to_list() == [True, True, True, True, False]
    large = compared(ranks, judged, margin=0.5)["significant"].to_list()  # 0.6 at n = 1 and n = 2
    assert large == [True, True, False, False, False]
    assert not compared(ranks, judged, alpha=1e-20)["significant"].any()


def test_empty() -> None:
    table = compared(ranks_of(SCORES), judged_of({}))
    assert table.is_empty()
