from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from polars.testing import assert_series_equal
from scipy.stats import fisher_exact

from pipeline.kernels.nbest.comparison import adjust, compare, difference_counts
from pipeline.kernels.statistics.exact_tests import ALTERNATIVES, TESTS, Alternative
from pipeline.kernels.statistics.multiplicity import CORRECTIONS, holm
from schemas import Comparison, CutComparison, Ranks
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

COUNTS = ("n", "size", "n_1", "k_1", "n_2", "k_2")
SCORES = {"x": [5.0, 4.0, 3.0, 2.0, 1.0], "y": [5.0, 1.0, 2.0, 3.0, 4.0]}
DRAWS = {"TP": [(True, 1), (True, 2), (None, 9), (False, 3), (True, 1)]}
PAIR = [("x", "y")]


def count(scores: Scores, draws: Draws, at: list[int] | None = None) -> pl.DataFrame:
    return difference_counts(ranks_of(scores), judged_of(draws), pairs=PAIR, at=at)


def test_counts_by_hand() -> None:
    # x lists 0 1 2 3 4, y lists 0 4 3 2 1; candidate 2 is not judged
    assert count(SCORES, DRAWS).select(COUNTS).rows() == [
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
                found = [drawn[c] for c in only if c in drawn]
                row += [sum(d[1] for d in found), sum(d[1] for d in found if d[0])]
            rows.append(tuple(row))
    return rows


@given(studies(largest=15))
def test_counts_agree_with_sets(study: tuple[Scores, Draws]) -> None:
    scores, draws = study
    assert count(scores, draws).rows() == slow_counts(ranks_of(scores), draws)


@given(studies(largest=15))
def test_both_directions_mirror(study: tuple[Scores, Draws]) -> None:
    ranks, judged = ranks_of(study[0]), judged_of(study[1])
    there, back = (
        compare(difference_counts(ranks, judged, pairs=[pair]), alpha=0.5, margin=0.0)
        for pair in (("x", "y"), ("y", "x"))
    )
    assert valid(there, Comparison).shape == back.shape
    assert_series_equal(there["difference"], -back["difference"])
    assert_series_equal(there["p_value"], back["p_value"], rel_tol=1e-12)
    assert_series_equal(there["significant"], back["significant"])


def test_only_the_wanted_sizes() -> None:
    some = count(SCORES, DRAWS, at=[4, 2, 4])
    assert some.equals(count(SCORES, DRAWS).filter(pl.col("n").is_in([2, 4])))


def test_rows_are_sorted_whatever_the_order_of_the_input() -> None:
    ranks = ranks_of({**SCORES, "z": [1.0, 2.0, 3.0, 4.0, 5.0]})
    judged = judged_of({"b": DRAWS["TP"], "a": DRAWS["TP"]})
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
    ([("x", "w")], None, r"no ranks for w; there are ranks for x, y"),
    (PAIR, [0, 3, 6], r"outside 1\.\.5: 0, 6"),
])  # fmt: skip
def test_mistakes_are_refused(
    pairs: list[tuple[str, str]], at: list[int] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        difference_counts(ranks_of(SCORES), judged_of(DRAWS), pairs=pairs, at=at)


def test_measures_must_rank_the_same_candidates() -> None:
    with pytest.raises(ValueError, match="y and x do not rank the same candidates"):
        count({"x": [1.0, 2.0], "y": [1.0]}, DRAWS)


@pytest.mark.parametrize(("scores", "draws"), [({}, DRAWS), (SCORES, {}), ({}, {})])
@pytest.mark.parametrize("at", [None, [100]])
def test_empty_tables(scores: Scores, draws: Draws, at: list[int] | None) -> None:
    if scores and at:
        at = [1]
    counts = count(scores, draws, at)
    compared = compare(counts, alpha=0.05, margin=0.01)
    assert valid(compared, Comparison).is_empty()
    adjusted = adjust(compared, correction="holm", alpha=0.05, margin=0.01)
    assert valid(adjusted, CutComparison).is_empty()


def test_zero_row_tables_and_no_pairs() -> None:
    ranks, judged = Ranks.zero_rows(), pl.LazyFrame(schema=JUDGED)
    counts = difference_counts(ranks, judged, pairs=[], at=[100])
    assert counts.schema == count({}, {}).schema


def test_a_category_that_nobody_judged() -> None:
    counts = count(SCORES, {"TP": [(None, 1)] * 5})
    compared = compare(counts, alpha=0.05, margin=0.0)
    assert compared["n_1"].to_list() == [0] * 5
    assert compared["difference"].to_list() == [0.0, None, None, None, 0.0]
    assert compared["p_value"].is_null().all()
    assert not compared["significant"].any()


def counts_of(rows: Sequence[tuple[int, ...]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=COUNTS, orient="row")
    keys = {"category": "TP", "measure_1": "x", "measure_2": "y"}
    return frame.select(*(pl.lit(v).alias(k) for k, v in keys.items()), pl.all())


def test_compare_by_hand() -> None:
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
    # (50/100) (47/50 - 17/50) is 0.3 on paper and 0.29999999999999993 in Float64
    counts = counts_of([(100, 50, 50, 47, 50, 17)])
    compared = compare(counts, alpha=0.05, margin=0.3)
    assert compared["difference"][0] < 0.3
    assert compared["significant"].to_list() == [True]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_compare_by_the_test_and_side_of_choice(test: str, alternative: Alternative) -> None:
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


def test_unknown_correction_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=f"'sidak'.*{', '.join(CORRECTIONS)}"):
        adjust(compare(count({}, {}), alpha=0.05, margin=0), correction="sidak",
               alpha=0.05, margin=0)  # fmt: skip


def test_krenn_difference_of_precision() -> None:
    ranks, judged = krenn()
    cuts = [100, 500, 1000, 2000]
    counts = difference_counts(ranks, judged, pairs=[("log_likelihood", "t_score")], at=cuts)
    table = valid(compare(counts, alpha=0.05, margin=0.01), Comparison)
    # after full annotation the difference is that of the two precisions
    assert table["difference"].to_list() == pytest.approx([0.04, 0.002, -0.01, 0.014], abs=1e-12)
    for row in table.rows(named=True):
        cells = [[row["k_1"], row["k_2"]], [row["n_1"] - row["k_1"], row["n_2"] - row["k_2"]]]
        assert row["p_value"] == pytest.approx(fisher_exact(np.array(cells))[1], rel=1e-10, abs=0)
        assert row["n_1"] == row["n_2"] == row["size"]
