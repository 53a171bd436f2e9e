from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
import scipy

from pipeline.kernels.nbest.comparison import adjust, best_measures, compare, difference_counts
from pipeline.kernels.nbest.precision import nbest_counts, positives, precision_columns
from schemas import BestMeasures
from tests.kernels.nbest.rank_frames import krenn
from tests.valid import valid

PRECISION = pl.DataFrame({
    "category": "TP", "n": [100] * 3 + [200] * 3, "measure": ["a", "b", "c"] * 2,
    "precision": [0.2, 0.5, 0.5, None, 0.3, 0.1],
})  # fmt: skip
PAIRS = pl.DataFrame({
    "category": "TP", "n": [100] * 3 + [200] * 3,
    "measure_1": ["a", "c", "b"] * 2, "measure_2": ["b", "a", "c"] * 2,
    "difference": [-0.3, 0.3, 0.0, None, None, 0.2],
    "p_adjusted": [0.01, 0.02, None, None, None, 0.001],
    "significant": [True, True, False, False, False, True],
})  # fmt: skip


def found(precision: pl.DataFrame = PRECISION, comparison: pl.DataFrame = PAIRS) -> pl.DataFrame:
    return valid(best_measures(precision, comparison), BestMeasures)


def test_by_hand() -> None:
    # b and c tie at 100, where a is worse; at 200 the precision of a is not known
    rows = found().select("n", "measure", "best", "best_measure", "difference", "p_adjusted").rows()
    assert rows == [
        (100, "b", True, "b", None, None), (100, "c", False, "b", 0.0, None),
        # nobody judged a draw of a's list: it may be as good
        (200, "a", False, "b", None, None), (200, "b", True, "b", None, None),
    ]  # fmt: skip


def test_marks_of_the_other_direction_do_not_exclude() -> None:
    # the estimates of single measures can point the other way than their difference sets
    turned = PAIRS.with_columns(difference=-pl.col("difference"))
    assert found(comparison=turned).filter(n=100)["measure"].to_list() == ["a", "b", "c"]


def test_without_marks_all_stay() -> None:
    none = PAIRS.with_columns(significant=False)
    assert found(comparison=none)["measure"].to_list() == ["a", "b", "c", "a", "b", "c"]


def test_rows_in_any_order_and_other_list_sizes() -> None:
    shuffled = found(PRECISION.reverse(), PAIRS.sample(fraction=1, shuffle=True, seed=1))
    assert shuffled.equals(found())
    assert found(comparison=PAIRS.filter(n=200))["n"].unique().to_list() == [200]


def test_missing_pairs_are_refused() -> None:
    some = PAIRS.filter(pl.col("measure_1") != "a")
    with pytest.raises(ValueError, match="2 comparisons are missing, such as a with b"):
        best_measures(PRECISION, some)


def test_empty() -> None:
    assert found(PRECISION.clear(), PAIRS.clear()).is_empty()


def test_krenn() -> None:
    ranks, judged = krenn()
    cuts = [100, 500, 1000, 2000]
    pairs = list(itertools.combinations(ranks["measure"].unique().sort(), 2))
    counts = difference_counts(ranks, judged, pairs=pairs, at=cuts)
    tests = adjust(
        compare(counts, alpha=0.05, margin=0.0), correction="holm", alpha=0.05, margin=0.0
    )
    lists = nbest_counts(ranks.lazy(), judged.lazy())
    precision = precision_columns(
        lists, positives=positives(judged), method="wilson", confidence=0.95
    )
    best = found(precision, tests).filter("best")  # 23.35 % at 2000 like log-likelihood
    assert best.select("n", "measure").rows() == [
        (100, "log_likelihood"), (500, "log_likelihood"), (1000, "t_score"), (2000, "chi_squared_corr"),
    ]  # fmt: skip


@pytest.mark.parametrize(("measures", "left_out"), [(6, 0.103), (20, 0.227)])
def test_alpha_over_measures_less_one_calls_equal_measures_worse(
    measures: int, left_out: float
) -> None:
    estimates = np.random.default_rng(1).normal(size=(100_000, measures))
    behind = (estimates.max(axis=1) - estimates.min(axis=1)) / np.sqrt(2.0)
    seen, pairs = (
        scipy.stats.norm.isf(0.025 / count)
        for count in (measures - 1, measures * (measures - 1) / 2)
    )
    assert (behind > seen).mean() == pytest.approx(left_out, abs=0.004)
    assert (behind > pairs).mean() < 0.04
