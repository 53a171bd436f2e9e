""""""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_series_equal
from scipy.stats import fisher_exact

from pipeline.kernels.nbest.comparison import (
    DifferenceSettings,
    adjust,
    best_measures,
    compare,
    compare_with_baseline,
    difference_counts,
    pair_differences,
    subset_difference_counts,
)
from pipeline.kernels.nbest.precision import baseline, nbest_counts, positives, precision_columns
from pipeline.kernels.statistics.exact_tests import (
    ALTERNATIVES,
    CORRECTIONS,
    TESTS,
    Alternative,
    holm,
)
from schemas import (
    BaselineComparison,
    BestMeasures,
    Comparison,
    CutComparison,
    MeasureDifferences,
    Ranks,
)
from tests.kernels.nbest.rank_frames import (
    JUDGED,
    Draws,
    Scores,
    judged_of,
    krenn,
    name,
    ranks_of,
    studies,
)
from tests.valid import valid

SCORES = {"x": [5.0, 4.0, 3.0, 2.0, 1.0]}
DRAWS = {"TP": [(True, 2), (True, 1), None, (False, 1), (None, 3)]}


def compare_baseline(ranks: pl.DataFrame, judged: pl.DataFrame, **options: Any) -> pl.DataFrame:
    counts = nbest_counts(ranks.lazy(), judged.lazy())
    size = ranks["id"].n_unique()
    totals = baseline(
        judged, n_candidates=size, sampled=True, method="clopper_pearson", confidence=0.95
    )
    arguments: dict[str, Any] = {"n_candidates": size, "alpha": 0.05, "margin": 0.0, **options}
    table = compare_with_baseline(counts, totals, **arguments)
    return valid(table, BaselineComparison)


def test_baseline_comparisons_agree_with_those_by_hand() -> None:
    table = compare_baseline(ranks_of(SCORES), judged_of(DRAWS))
    assert table.select("n", "n_1", "k_1", "n_2", "k_2").rows() == [
        (1, 2, 2, 2, 1), (2, 3, 3, 1, 0), (3, 3, 3, 1, 0), (4, 4, 3, 0, 0), (5, 4, 3, 0, 0),
    ]  # fmt: skip
    assert table["difference"].to_list() == pytest.approx([0.8 / 2, 0.6, 0.4, None, 0.0])
    assert table["p_value"].to_list() == pytest.approx([1.0, 0.25, 0.25, None, None])
    assert not table["significant"].any()


def test_full_annotation_gives_precision_minus_baseline() -> None:
    ranks, judged = krenn()
    table = compare_baseline(ranks.filter(pl.col("measure") == "t_score"), judged)
    row = table.filter(n=500).row(0, named=True)
    assert row["difference"] == pytest.approx(0.302 - 566 / 5102, abs=1e-12)
    cells = [[row["k_1"], row["k_2"]], [row["n_1"] - row["k_1"], row["n_2"] - row["k_2"]]]
    assert row["p_value"] == pytest.approx(fisher_exact(np.array(cells))[1], rel=1e-9, abs=0)
    assert row["significant"]
    assert table["difference"][-1] == 0.0


def test_test_side_margin_and_level_are_passed_on() -> None:
    ranks, judged = ranks_of(SCORES), judged_of({"TP": [(True, 9), (True, 9), *[(False, 9)] * 3]})
    plain = compare_baseline(ranks, judged)["p_value"][1]
    less = compare_baseline(ranks, judged, alternative="less")["p_value"][1]
    assert less == 1.0
    assert (
        compare_baseline(ranks, judged, test="boschloo", alternative="greater")["p_value"][1]
        < plain
    )
    assert compare_baseline(ranks, judged)["significant"].to_list() == [
        True,
        True,
        True,
        True,
        False,
    ]
    large = compare_baseline(ranks, judged, margin=0.5)[
        "significant"
    ].to_list()  # 0.6 at n = 1 and n = 2
    assert large == [True, True, False, False, False]
    assert not compare_baseline(ranks, judged, alpha=1e-20)["significant"].any()


def test_an_empty_sample_has_no_comparison_with_the_baseline() -> None:
    table = compare_baseline(ranks_of(SCORES), judged_of({}))
    assert table.is_empty()


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


def best_rows(
    precision: pl.DataFrame = PRECISION, comparison: pl.DataFrame = PAIRS
) -> pl.DataFrame:
    return valid(best_measures(precision, comparison), BestMeasures)


def test_best_measures_agree_with_those_by_hand() -> None:
    # b and c tie at 100, where a is worse; at 200 the precision of a is not known
    rows = (
        best_rows()
        .select("n", "measure", "best", "best_measure", "difference", "p_adjusted")
        .rows()
    )
    assert rows == [
        (100, "b", True, "b", None, None), (100, "c", True, "c", None, None),
        # nobody judged a draw of a's list: it may be as good
        (200, "a", False, "b", None, None), (200, "b", True, "b", None, None),
    ]  # fmt: skip


def test_marks_in_the_other_direction_do_not_exclude() -> None:
    # the estimates of single measures can point the other way than their difference sets
    turned = PAIRS.with_columns(difference=-pl.col("difference"))
    assert best_rows(comparison=turned).filter(n=100)["measure"].to_list() == ["a", "b", "c"]


def test_all_measures_are_best_without_marks() -> None:
    none = PAIRS.with_columns(significant=False)
    assert best_rows(comparison=none)["measure"].to_list() == ["a", "b", "c", "a", "b", "c"]


def test_row_order_and_other_list_sizes_do_not_matter() -> None:
    shuffled = best_rows(PRECISION.reverse(), PAIRS.sample(fraction=1, shuffle=True, seed=1))
    assert shuffled.equals(best_rows())
    assert best_rows(comparison=PAIRS.filter(n=200))["n"].unique().to_list() == [200]


def test_missing_pairs_are_refused() -> None:
    some = PAIRS.filter(pl.col("measure_1") != "a")
    with pytest.raises(ValueError, match="2 comparisons are missing, for example a with b"):
        best_measures(PRECISION, some)


def test_an_empty_table_has_no_best_measures() -> None:
    assert best_rows(PRECISION.clear(), PAIRS.clear()).is_empty()


def test_krenns_data_have_these_best_measures() -> None:
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
    best = best_rows(precision, tests).filter("best")  # 23.35 % at 2000 like log-likelihood
    assert best.select("n", "measure").rows() == [
        (100, "log_likelihood"), (500, "log_likelihood"), (1000, "t_score"), (2000, "chi_squared_corr"),
        (2000, "log_likelihood"),
    ]  # fmt: skip


@pytest.mark.parametrize(("measures", "omitted"), [(6, 0.103), (20, 0.227)])
def test_too_lax_a_level_calls_equal_measures_worse(measures: int, omitted: float) -> None:
    estimates = np.random.default_rng(1).normal(size=(100_000, measures))
    behind = (estimates.max(axis=1) - estimates.min(axis=1)) / np.sqrt(2.0)
    counts, pairs = (
        scipy.stats.norm.isf(0.025 / count)
        for count in (measures - 1, measures * (measures - 1) / 2)
    )
    assert (behind > counts).mean() == pytest.approx(omitted, abs=0.004)
    assert (behind > pairs).mean() < 0.04


COUNTS = ("n", "size", "n_1", "k_1", "n_2", "k_2")
SCORES_DIFFERENCE_SETS = {"x": [5.0, 4.0, 3.0, 2.0, 1.0], "y": [5.0, 1.0, 2.0, 3.0, 4.0]}
DRAWS_DIFFERENCE_SETS = {"TP": [(True, 1), (True, 2), (None, 9), (False, 3), (True, 1)]}
PAIR = [("x", "y")]


def count(scores: Scores, draws: Draws, at: list[int] | None = None) -> pl.DataFrame:
    return difference_counts(ranks_of(scores), judged_of(draws), pairs=PAIR, at=at)


def test_difference_counts_agree_with_those_by_hand() -> None:
    # x lists 0 1 2 3 4, y lists 0 4 3 2 1; candidate 2 is not judged
    assert count(SCORES_DIFFERENCE_SETS, DRAWS_DIFFERENCE_SETS).select(COUNTS).rows() == [
        (1, 0, 0, 0, 0, 0),
        (2, 1, 2, 2, 1, 1),
        (3, 2, 2, 2, 4, 1),
        (4, 1, 2, 2, 1, 1),
        (5, 0, 0, 0, 0, 0),
    ]


def slow_counts(ranks: pl.DataFrame, draws: Draws) -> list[tuple[object, ...]]:
    """Take the difference of the sets themselves."""
    lists = {
        m: ranks.filter(pl.col("measure") == m).sort("rank")["id"].to_list() for m in ("x", "y")
    }
    rows: list[tuple[object, ...]] = []
    for category in sorted(c for c, every in draws.items() if any(every)):
        drawn = {name(c): d for c, d in enumerate(draws[category]) if d and d[0] is not None}
        for n in range(1, len(lists["x"]) + 1):
            x, y = set(lists["x"][:n]), set(lists["y"][:n])
            row: list[object] = [category, "x", "y", n, len(x - y)]
            for only in (x - y, y - x):
                judged = [drawn[c] for c in only if c in drawn]
                row += [sum(d[1] for d in judged), sum(d[1] for d in judged if d[0])]
            rows.append(tuple(row))
    return rows


@given(studies(largest=15))
def test_difference_counts_agree_with_sets(study: tuple[Scores, Draws]) -> None:
    scores, draws = study
    assert count(scores, draws).rows() == slow_counts(ranks_of(scores), draws)


@given(studies(largest=15))
def test_both_directions_of_a_pair_mirror_each_other(study: tuple[Scores, Draws]) -> None:
    ranks, judged = ranks_of(study[0]), judged_of(study[1])
    there, back = (
        compare(difference_counts(ranks, judged, pairs=[pair]), alpha=0.5, margin=0.0)
        for pair in (("x", "y"), ("y", "x"))
    )
    assert valid(there, Comparison).shape == back.shape
    assert_series_equal(there["difference"], -back["difference"])
    assert_series_equal(there["p_value"], back["p_value"], rel_tol=1e-12)
    assert_series_equal(there["significant"], back["significant"])


def test_only_the_requested_sizes_are_counted() -> None:
    some = count(SCORES_DIFFERENCE_SETS, DRAWS_DIFFERENCE_SETS, at=[4, 2, 4])
    assert some.equals(
        count(SCORES_DIFFERENCE_SETS, DRAWS_DIFFERENCE_SETS).filter(pl.col("n").is_in([2, 4]))
    )


def test_rows_are_sorted_in_any_order_of_input() -> None:
    ranks = ranks_of({**SCORES_DIFFERENCE_SETS, "z": [1.0, 2.0, 3.0, 4.0, 5.0]})
    judged = judged_of({"b": DRAWS_DIFFERENCE_SETS["TP"], "a": DRAWS_DIFFERENCE_SETS["TP"]})
    pairs = [("z", "x"), ("x", "y")]
    expected = difference_counts(ranks, judged, pairs=pairs)
    assert expected.equals(expected.sort(*Comparison.key()))
    assert expected.height == 2 * 2 * 5
    shuffled = difference_counts(
        ranks.sample(fraction=1, shuffle=True, seed=3).lazy(), judged.reverse().lazy(),
        pairs=pairs[::-1],
    )  # fmt: skip
    assert shuffled.equals(expected)


@pytest.mark.parametrize(("pairs", "at", "message"), [
    ([("x", "w")], None, r"no ranks for w; available: x, y"),
    (PAIR, [0, 3, 6], r"outside 1\.\.5: 0, 6"),
])  # fmt: skip
def test_wrong_pairs_and_sizes_are_refused(
    pairs: list[tuple[str, str]], at: list[int] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        difference_counts(
            ranks_of(SCORES_DIFFERENCE_SETS), judged_of(DRAWS_DIFFERENCE_SETS), pairs=pairs, at=at
        )


def test_measures_must_rank_the_same_candidates() -> None:
    with pytest.raises(ValueError, match="y and x do not rank the same candidates"):
        count({"x": [1.0, 2.0], "y": [1.0]}, DRAWS_DIFFERENCE_SETS)


@pytest.mark.parametrize(
    ("scores", "draws"), [({}, DRAWS_DIFFERENCE_SETS), (SCORES_DIFFERENCE_SETS, {}), ({}, {})]
)
@pytest.mark.parametrize("at", [None, [100]])
def test_empty_tables_have_no_comparisons(
    scores: Scores, draws: Draws, at: list[int] | None
) -> None:
    if scores and at:
        at = [1]
    counts = count(scores, draws, at)
    compared = compare(counts, alpha=0.05, margin=0.01)
    assert valid(compared, Comparison).is_empty()
    adjusted = adjust(compared, correction="holm", alpha=0.05, margin=0.01)
    assert valid(adjusted, CutComparison).is_empty()


def test_tables_without_rows_or_pairs_are_valid() -> None:
    ranks, judged = Ranks.zero_rows(), pl.LazyFrame(schema=JUDGED)
    counts = difference_counts(ranks, judged, pairs=[], at=[100])
    assert counts.schema == count({}, {}).schema


def test_an_unjudged_category_has_no_differences() -> None:
    counts = count(SCORES_DIFFERENCE_SETS, {"TP": [(None, 1)] * 5})
    compared = compare(counts, alpha=0.05, margin=0.0)
    assert compared["n_1"].to_list() == [0] * 5
    assert compared["difference"].to_list() == [0.0, None, None, None, 0.0]
    assert compared["p_value"].is_null().all()
    assert not compared["significant"].any()


def counts_of(rows: Sequence[tuple[int, ...]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=COUNTS, orient="row")
    keys = {"category": "TP", "measure_1": "x", "measure_2": "y"}
    return frame.select(*(pl.lit(v).alias(k) for k, v in keys.items()), pl.all())


def test_comparisons_agree_with_those_by_hand() -> None:
    counts = counts_of([(100, 50, 12, 2, 18, 15), (200, 0, 0, 0, 0, 0), (300, 4, 0, 0, 2, 1)])
    compared = valid(compare(counts, alpha=0.05, margin=0.01), Comparison)
    assert compared["difference"].to_list() == pytest.approx([0.5 * (2 / 12 - 15 / 18), 0.0, None])
    assert compared["p_value"][0] == pytest.approx(0.0005367241, rel=1e-6, abs=0)
    assert compared["p_value"].is_null().to_list() == [False, True, True]
    assert compared["significant"].to_list() == [True, False, False]


@pytest.mark.parametrize(("alpha", "margin", "mark"), [
    (0.05, 1 / 3, True), (0.05, 0.34, False), (0.0005, 0.0, False),
])  # fmt: skip
def test_a_mark_needs_significance_and_relevance(alpha: float, margin: float, mark: bool) -> None:
    counts = counts_of([(100, 50, 12, 2, 18, 15)])  # p = 0.00054, difference -1/3
    assert compare(counts, alpha=alpha, margin=margin)["significant"].to_list() == [mark]


def test_a_difference_that_equals_the_margin_is_large_enough() -> None:
    # (40/100) (27/28 - 20/28) is 0.1 on paper and 0.09999999999999996 in Float64
    counts = counts_of([(100, 40, 28, 27, 28, 20)])
    compared = compare(counts, alpha=0.05, margin=0.1)
    assert compared["difference"][0] < 0.1
    assert compared["significant"].to_list() == [True]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_test_and_side_can_be_chosen(test: str, alternative: Alternative) -> None:
    counts = counts_of([(100, 50, 12, 2, 18, 15), (200, 0, 0, 0, 0, 0)])
    compared = compare(counts, alpha=0.05, margin=0.0, test=test, alternative=alternative)
    expected = TESTS.get(test).p_values([2], [12], [15], [18], alternative=alternative)[0]
    assert compared["p_value"].to_list() == [expected, None]
    assert compared["significant"].to_list() == [alternative != "greater", False]


def test_adjust_takes_each_category_as_a_family() -> None:
    rows = [(100, 50, 12, 2, 18, 15), (200, 40, 20, 9, 20, 2), (300, 4, 0, 0, 2, 1)]
    counts = pl.concat([counts_of(rows), counts_of(rows[:1]).with_columns(category=pl.lit("A"))])
    compared = compare(counts, alpha=0.05, margin=0.01)
    table = adjust(compared, correction="holm", alpha=0.05, margin=0.01)
    valid(table, CutComparison)
    alone, family = table["p_adjusted"][0], table["p_adjusted"][1:].to_list()
    assert alone == table["p_value"][0]
    assert family[:2] == holm(table["p_value"][1:3]).tolist()
    assert family[0] == 2 * alone
    assert family[2] is None
    assert table["correction"].unique().to_list() == ["holm"]


def test_adjusted_p_values_decide_about_marks() -> None:
    # p = 0.0310 each: significant alone, not after Holm for two tests
    compared = compare(
        counts_of([(100, 50, 20, 9, 20, 2), (200, 50, 20, 9, 20, 2)]), alpha=0.05, margin=0.01
    )
    assert compared["significant"].to_list() == [True, True]
    strict = adjust(compared, correction="holm", alpha=0.05, margin=0.01)
    assert strict["significant"].to_list() == [False, False]
    mild = adjust(compared, correction="benjamini_hochberg", alpha=0.05, margin=0.01)
    assert mild["significant"].to_list() == [True, True]
    relevant = adjust(compared, correction="benjamini_hochberg", alpha=0.05, margin=0.2)
    assert relevant["significant"].to_list() == [False, False]


def test_an_unknown_correction_is_refused_with_the_valid_names() -> None:
    with pytest.raises(ValueError, match=f"'sidak'.*{', '.join(CORRECTIONS)}"):
        adjust(compare(count({}, {}), alpha=0.05, margin=0), correction="sidak",
               alpha=0.05, margin=0)  # fmt: skip


def test_krenns_data_have_these_differences_of_precision() -> None:
    ranks, judged = krenn()
    cuts = [100, 500, 1000, 2000]
    counts = difference_counts(ranks, judged, pairs=[("log_likelihood", "t_score")], at=cuts)
    table = valid(compare(counts, alpha=0.05, margin=0.01), Comparison)
    # after full annotation it is the difference of the two precisions
    assert table["difference"].to_list() == pytest.approx([0.04, 0.002, -0.01, 0.014], abs=1e-12)
    for row in table.rows(named=True):
        cells = [[row["k_1"], row["k_2"]], [row["n_1"] - row["k_1"], row["n_2"] - row["k_2"]]]
        assert row["p_value"] == pytest.approx(fisher_exact(np.array(cells))[1], rel=1e-10, abs=0)
        assert row["n_1"] == row["n_2"] == row["size"]


SETTINGS = DifferenceSettings(
    confidence=0.95, alpha=0.05, margin=0.0, equivalence=0.1, correction="holm"
)
ROWS = [  # category, pair, n, size, n_1, k_1, n_2, k_2, difference, p
    ("figur", "a", "b", 100, 40, 40, 12, 40, 9, 0.03, 0.6),  # judged as a whole
    ("figur", "a", "b", 200, 0, 0, 0, 0, 0, 0.0, None),  # the same lists
    ("figur", "a", "c", 100, 40, 20, 12, 20, 5, 0.14, 0.05),
    ("fvg", "a", "b", 100, 40, 20, 12, 0, 0, None, None),  # nothing judged in D2
]
TESTS_PAIR_DIFFERENCES = pl.DataFrame(
    [(*row, False) for row in ROWS], schema=Comparison.columns(), orient="row"
)  # fmt: skip


def differences_of(population: str, settings: DifferenceSettings = SETTINGS) -> pl.DataFrame:
    method = {"finite": "hypergeometric", "super": "clopper_pearson"}[population]
    table = pair_differences(
        TESTS_PAIR_DIFFERENCES, population=population, method=method, settings=settings
    )
    return valid(table, MeasureDifferences)


def test_differences_for_these_candidates_have_finite_limits() -> None:
    whole, same, part, unknown = differences_of("finite").iter_rows(named=True)
    assert (whole["lower"], whole["upper"], whole["p_value"]) == pytest.approx((0.03, 0.03, 0.0))
    assert whole["equivalent"]
    assert (same["lower"], same["upper"], same["p_value"], same["p_margin"]) == (0, 0, None, 1)
    assert same["equivalent"]
    assert (part["lower"], part["upper"]) == pytest.approx((0.03, 0.22))
    assert part["p_value"] == pytest.approx(0.0026, abs=5e-5)
    assert not part["equivalent"]
    assert (unknown["p_value"], unknown["p_margin"]) == (None, 1.0)
    # 12 of 20, of 40: 14 to 32 true positives; D2 may have none and may be all true positives
    assert unknown["lower"] < 0 < unknown["upper"]


@pytest.mark.long
@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_fully_judged_sets_have_exact_differences(size: int, k_1: int, k_2: int, same: int) -> None:
    """The difference is exactly (k_1 - k_2) / n, and so are its limits."""
    k_1, k_2, n = min(k_1, size), min(k_2, size), size + same
    counts = pl.DataFrame(
        {"category": "TP", "measure_1": "a", "measure_2": "b", "n": n, "size": size, "n_1": size,
         "k_1": k_1, "n_2": size, "k_2": k_2}
    )  # fmt: skip
    tests = compare(counts, alpha=0.05, margin=0.0)
    result = pair_differences(
        tests, population="finite", method="hypergeometric", settings=SETTINGS
    )
    assert result.select("difference", "lower", "upper").row(0) == ((k_1 - k_2) / n,) * 3


def test_differences_for_candidates_to_come_have_wider_limits() -> None:
    rows = differences_of("super")
    assert rows["p_value"].to_list() == [0.6, None, 0.05, None]
    assert rows["upper"][0] - rows["lower"][0] > 0.1
    assert rows["interval"].unique().to_list() == ["clopper_pearson"]


@pytest.mark.parametrize("population", ["finite", "super"])
def test_each_category_and_question_is_a_family(population: str) -> None:
    rows = differences_of(population)
    for column in ("p_value", "p_margin", "p_equivalent"):
        adjusted = f"{column}_adjusted".replace("value_", "")
        for part in rows.partition_by("category"):
            expected = holm(part[column].to_numpy())
            assert part[adjusted].fill_null(-1).to_list() == pytest.approx(
                np.nan_to_num(expected, nan=-1.0)
            )


def test_equivalence_is_decided_by_the_adjusted_p_value() -> None:
    rows = differences_of("super", replace(SETTINGS, equivalence=0.25))
    level = rows["p_equivalent_adjusted"][2]
    for alpha, expected in ((level * 1.001, True), (level * 0.999, False)):
        again = differences_of("super", replace(SETTINGS, equivalence=0.25, alpha=alpha))
        assert again["equivalent"][2] == expected
    assert (
        differences_of("super", replace(SETTINGS, equivalence=None))["p_equivalent"].null_count()
        == 4
    )


def test_a_table_without_tests_is_empty() -> None:
    table = pair_differences(
        TESTS_PAIR_DIFFERENCES.clear(),
        population="finite",
        method="hypergeometric",
        settings=SETTINGS,
    )
    assert valid(table, MeasureDifferences).is_empty()


COLUMNS = ("category", "measure_2", "n", "size", "n_1", "k_1", "n_2", "k_2")


def ids(members: list[int]) -> pl.DataFrame:
    return pl.DataFrame({"id": [name(c) for c in members]}, schema={"id": pl.String})


@given(studies(largest=8), st.sets(st.integers(0, 9)))
def test_subset_counts_agree_with_sets(study: tuple[Scores, Draws], members: set[int]) -> None:
    scores, draws = study
    ranks, rows = ranks_of(scores), []
    subset = {c for c in members if c < len(scores["x"])}  # the others are no candidates
    for category, every in sorted(draws.items()):
        for measure in sorted(scores):
            order = ranks.filter(measure=measure).sort("rank")["tie_key"].to_list()
            best = set(order[: len(subset)])
            sums: list[int] = []
            for difference in (subset - best, best - subset):
                drawn = [draw for c in difference if (draw := every[c])]
                judged = [(int(d[1]), bool(d[0])) for d in drawn if d[0] is not None]
                sums += [
                    sum(times for times, _ in judged),
                    sum(times for times, hit in judged if hit),
                ]
            if subset and any(every):
                rows.append((category, measure, len(subset), len(subset - best), *sums))
    result = subset_difference_counts(ids(sorted(members)), ranks, judged_of(draws), name="rule")
    assert result.select(COLUMNS).rows() == rows


def test_an_nbest_list_can_be_a_subset() -> None:
    scores: Scores = {"x": [5.0, 4.0, 3.0, 2.0, 1.0], "y": [1.0, 5.0, 3.0, 4.0, 2.0]}
    draws: Draws = {"TP": [(True, 2), (True, 1), (False, 4), (False, 1), (None, 3)]}
    ranks, judged = ranks_of(scores), judged_of(draws)
    best = ranks.filter(pl.col("measure") == "x", pl.col("rank") <= 2).select("id")
    result = subset_difference_counts(best, ranks.filter(measure="y"), judged, name="x")
    assert result.equals(difference_counts(ranks, judged, pairs=[("x", "y")], at=[2]))
    compared = compare(result, alpha=0.05, margin=0.0)
    valid(compared, Comparison)


def test_names_of_measures_are_refused_as_names_of_subsets() -> None:
    ranks = ranks_of({"x": [1.0]})
    with pytest.raises(ValueError, match="'x' is the name of a measure"):
        subset_difference_counts(ids([0]), ranks, judged_of({}), name="x")


# Limits of the family: they agree with the tests, and hold together


def random_families(rng: np.random.Generator, families: int, *, equal: bool) -> pl.DataFrame:
    """Return tests of eight pairs in each of many families, with the true differences."""
    rows = 8 * families
    size = rng.integers(1, 200, rows)
    n_1, n_2 = (rng.binomial(size, rng.uniform(0, 1, rows)) for _ in range(2))
    p_1 = rng.uniform(0, 1, rows)
    p_2 = p_1 if equal else rng.uniform(0, 1, rows)
    k_1, k_2 = rng.binomial(n_1, p_1), rng.binomial(n_2, p_2)
    n = size + rng.integers(0, 300, rows)
    place = np.arange(rows)
    counts = pl.DataFrame({
        "category": [f"{each:05}" for each in place // 8], "measure_1": "a",
        "measure_2": [f"b{each}" for each in place % 8], "n": n, "size": size, "n_1": n_1,
        "k_1": k_1, "n_2": n_2, "k_2": k_2, "true": size / n * (p_1 - p_2),
    })  # fmt: skip
    tests = compare(counts.drop("true"), alpha=0.05, margin=0.0)
    return tests.join(
        counts.select("category", "measure_2", "true"), on=["category", "measure_2"], how="left"
    )


@pytest.mark.long
@pytest.mark.parametrize("correction", ["bonferroni", "holm", "benjamini_hochberg"])
def test_no_verdict_contradicts_its_limits(correction: str) -> None:
    """In 10,000 random tables; the schema refuses rows with a contradiction."""
    tests = random_families(np.random.default_rng(1), 1_250, equal=False)
    settings = replace(SETTINGS, correction=correction, equivalence=None, margin=0.02)
    table = pair_differences(
        tests.drop("true"), population="super", method="clopper_pearson", settings=settings
    )
    rows = valid(table, MeasureDifferences)
    sure = (pl.col("p_adjusted") < settings.alpha).fill_null(value=False)
    inside = (pl.col("lower_family") <= 0) & (pl.col("upper_family") >= 0)
    assert rows.filter(~sure & ~inside).is_empty()
    across = (pl.col("lower_family") < 0) & (pl.col("upper_family") > 0)
    assert rows.filter(sure & across).is_empty()
    assert rows.select(sure.eq(pl.col("verdict") != "open").all()).item()
    contained = (
        pl.col("difference").is_between("lower_family", "upper_family").fill_null(value=True)
    )
    assert rows.select(contained.all()).item()


@pytest.mark.long
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("correction", ["bonferroni", "holm"])
def test_limits_of_a_family_hold_together(correction: str, equal: bool) -> None:
    tests = random_families(np.random.default_rng(2), 1_000, equal=equal)
    settings = replace(SETTINGS, correction=correction, equivalence=None, margin=0.0)
    table = pair_differences(
        tests.drop("true"), population="super", method="clopper_pearson", settings=settings
    )
    joined = table.join(
        tests.select("category", "measure_2", "true"), on=["category", "measure_2"], how="left"
    )
    contained = pl.col("true").is_between("lower_family", "upper_family")
    families = joined.group_by("category").agg(contained.all().alias("held"))
    assert families["held"].mean() >= 0.95
