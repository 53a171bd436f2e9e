from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.precision import (
    cut_lists,
    local_counts,
    local_precision,
    nbest_counts,
    positives,
    precision_columns,
    recall_columns,
    stays_below,
)
from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from pipeline.kernels.statistics.finite_population import hypergeometric
from tests.kernels.nbest.rank_frames import Draws, Scores, judged_of, krenn, ranks_of, studies

SCORES: Scores = {"x": [5.0, 4.0, 3.0, 2.0, 1.0], "y": [1.0, 2.0, 3.0, 4.0, 5.0]}
DRAWS: Draws = {"TP": [(True, 2), (True, 1), None, (False, 1), (None, 3)]}


def counted(scores: Scores = SCORES, draws: Draws = DRAWS) -> pl.DataFrame:
    return nbest_counts(ranks_of(scores).lazy(), judged_of(draws).lazy())


def test_windows_by_hand() -> None:
    found = local_counts(counted(), window=3).filter(measure="x")
    assert found.drop("category", "measure").rows() == [
        (2, 1, 3, 3, 3, 3), (3, 2, 4, 3, 2, 1), (4, 3, 5, 3, 1, 0),
    ]  # fmt: skip


@given(studies(largest=7), st.integers(1, 8))
def test_windows_agree_with_a_loop(study: tuple[Scores, Draws], window: int) -> None:
    scores, draws = study
    ranks = ranks_of(scores)
    rows = []
    for category, every in sorted(draws.items()):
        if not any(every):
            continue
        for measure in sorted(scores):
            order = ranks.filter(measure=measure).sort("rank")["tie_key"].to_list()
            for start in range(len(order) - window + 1):
                inside = [every[c] for c in order[start : start + window]]
                judged = [d for d in inside if d and d[0] is not None]
                sums = sum(d[1] for d in judged), sum(d[1] for d in judged if d[0])
                rows.append((category, measure, start + 1, start + window, *sums))
    found = local_counts(counted(scores, draws), window=window)
    columns = ("category", "measure", "first_rank", "last_rank", "n_sampled", "k_sampled")
    assert found.select(columns).rows() == rows


def test_one_window_over_all_is_the_list_and_rows_may_come_in_any_order() -> None:
    counts = counted()
    whole = local_counts(counts.sample(fraction=1, shuffle=True, seed=2), window=5)
    last = counts.filter(n=5).sort("measure")
    assert whole.select("n_sampled", "k_sampled").equals(last.select("n_sampled", "k_sampled"))
    assert local_counts(counts, window=6).is_empty()
    assert local_counts(counts.clear(), window=2).is_empty()


def test_local_precision_and_its_intervals() -> None:
    for method, limits in (("clopper_pearson", clopper_pearson([3, 1, 0], [3, 2, 1])),
                           ("hypergeometric", hypergeometric([3, 1, 0], [3, 2, 1], population=3))):  # fmt: skip
        found = local_precision(counted(), window=3, method=method, confidence=0.95)
        row = found.filter(measure="x")
        assert row["precision"].to_list() == [1.0, 0.5, 0.0]
        assert row["lower"].to_list() == limits[0].tolist()
        assert row["upper"].to_list() == limits[1].tolist()
    alone = local_precision(counted(), window=1, method="wilson", confidence=0.9)
    assert alone["precision"].null_count() == 4


def test_mistaken_windows() -> None:
    with pytest.raises(ValueError, match="not 0"):
        local_counts(counted(), window=0)
    gap = counted().filter((pl.col("n") != 2) | (pl.col("measure") != "y"))
    with pytest.raises(ValueError, match="missing before n = 3 of y"):
        local_counts(gap, window=2)


def test_recall() -> None:
    found = recall_columns(
        counted(), positives=positives(judged_of(DRAWS)),
        method="clopper_pearson", confidence=0.95,
    )  # fmt: skip
    row = found.filter(measure="x")
    assert row["recall"].to_list() == [2 / 3, 1.0, 1.0, 1.0, 1.0]
    lower, upper = clopper_pearson([2, 3, 3, 3, 3], 3)
    assert (row["lower"].to_list(), row["upper"].to_list()) == (lower.tolist(), upper.tolist())
    none = recall_columns(
        counted(draws={"TP": [(False, 1)] * 5}), positives=pl.DataFrame({"category": "TP", "positives": 0}),
        method="wilson", confidence=0.95,
    )  # fmt: skip
    assert none["recall"].is_null().all()
    assert set(none["lower"].to_list() + none["upper"].to_list()) == {0.0, 1.0}
    with pytest.raises(ValueError, match="number of all true positives"):
        recall_columns(counted(), positives=pl.DataFrame({"category": "TP", "positives": 0}),
                       method="hypergeometric", confidence=0.95)  # fmt: skip


def test_cut_lists() -> None:
    found = cut_lists(counted(), cut=2)
    columns = ("measure", "n", "k_sampled", "positives", "baseline")
    assert found.select(columns).rows() == [
        ("x", 1, 2, 3, 1.0), ("x", 2, 3, 3, 1.0), ("y", 1, 0, 0, 0.0), ("y", 2, 0, 0, 0.0),
    ]  # fmt: skip
    whole = cut_lists(counted(), cut=99)
    assert whole["positives"].unique().to_list() == [3]
    assert whole.select(counted().columns).equals(counted().sort("category", "measure", "n"))
    unseen = cut_lists(counted(draws={"TP": [None, None, None, (True, 1), None]}), cut=1)
    assert unseen["baseline"].to_list() == [None, None]


def test_stays_below() -> None:
    frame = pl.DataFrame({
        "category": "TP", "measure": list("aaabbbccc"), "n": [3, 1, 2] * 3,
        "lower": [0.1, 0.5, 0.3, 0.4, 0.0, 0.1, 0.1, 0.2, 0.2],
    })  # fmt: skip
    found = stays_below(frame, threshold=0.3)
    assert found.rows() == [("TP", "a", 3), ("TP", "b", None), ("TP", "c", 1)]
    assert stays_below(frame.clear(), threshold=0.3).is_empty()


def test_krenn_lower_limit_of_t_score() -> None:
    ranks, judged = krenn()
    counts = nbest_counts(ranks.lazy(), judged.lazy())
    table = precision_columns(counts, positives=positives(judged), method="wilson", confidence=0.95)
    n = stays_below(table, threshold=0.25).filter(measure="t_score")["n"][0]
    row = table.filter(measure="t_score").filter(pl.col("n").is_in([n - 1, n])).sort("n")
    assert row["lower"][0] >= 0.25 > row["lower"][1]
    assert table.filter(measure="t_score").filter(pl.col("n") >= n)["lower"].max() < 0.25
