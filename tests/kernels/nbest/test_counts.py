from __future__ import annotations

from itertools import groupby, permutations, product

import polars as pl
import pytest
from hypothesis import given

from pipeline.kernels.nbest.precision import baseline, nbest_counts, positives, precision_columns
from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from schemas import Baseline, Precision
from tests.kernels.nbest.rank_frames import (
    JUDGED,
    Draws,
    Scores,
    judged_of,
    krenn,
    ranks_of,
    studies,
)
from tests.valid import valid

COUNTS = ("n", "n_sampled", "k_sampled", "tp_min", "tp_max")
FULL = [(True, 1), (False, 1)]


def count(scores: Scores, draws: Draws) -> pl.DataFrame:
    return nbest_counts(ranks_of(scores).lazy(), judged_of(draws).lazy())


def estimate(ranks: pl.DataFrame, judged: pl.DataFrame, confidence: float = 0.95) -> pl.DataFrame:
    counts = nbest_counts(ranks.lazy(), judged.lazy())
    total = positives(judged)
    table = precision_columns(
        counts, positives=total, method="clopper_pearson", confidence=confidence
    )
    return valid(table, Precision)


def base(judged: pl.DataFrame, *, n_candidates: int, sampled: bool = True) -> pl.DataFrame:
    table = baseline(
        judged, n_candidates=n_candidates, sampled=sampled,
        method="clopper_pearson", confidence=0.95,
    )  # fmt: skip
    return valid(table, Baseline)


def test_by_hand() -> None:
    # x ranks 0, then 1, 2, 3 as equals, then 4; 1 was not sampled, 4 not judged
    scores = {"x": [9.0, 5.0, 5.0, 5.0, 1.0]}
    draws = {"TP": [(False, 1), None, (True, 2), (True, 1), (None, 7)]}
    assert count(scores, draws).select(COUNTS).rows() == [
        (1, 1, 0, 0, 0),
        (2, 1, 0, 0, 2),
        (3, 3, 2, 1, 3),
        (4, 4, 3, 3, 3),
        (5, 4, 3, 3, 3),
    ]


def slow_counts(scores: Scores, draws: Draws) -> list[tuple[object, ...]]:
    """Try every way to break the ties."""
    rows = []
    for category, measure in product(sorted(draws), sorted(scores)):
        every = draws[category]
        keys = [float("-inf") if s is None else s for s in scores[measure]]
        order = sorted(range(len(keys)), key=lambda c: (-keys[c], c))
        ties = [list(tied) for _, tied in groupby(order, key=lambda c: keys[c])]
        orders = [sum(parts, ()) for parts in product(*map(permutations, ties))]
        hits = [d[1] if d and d[0] else 0 for d in every]
        seen = [d[1] if d and d[0] is not None else 0 for d in every]
        for n in range(1, len(keys) + 1):
            possible = [sum(hits[c] for c in one[:n]) for one in orders]
            sums = [sum(weights[c] for c in order[:n]) for weights in (seen, hits)]
            rows.append((category, measure, n, *sums, min(possible), max(possible)))
    return [row for row in rows if any(draws[str(row[0])])]


@given(studies())
def test_agrees_with_every_way_to_break_the_ties(study: tuple[Scores, Draws]) -> None:
    scores, draws = study
    columns = ("category", "measure", *COUNTS)
    assert count(scores, draws).select(columns).rows() == slow_counts(scores, draws)


@given(studies(largest=12))
def test_tables_are_valid_and_recall_ends_at_one(study: tuple[Scores, Draws]) -> None:
    scores, draws = study
    judged = judged_of(draws)
    table = estimate(ranks_of(scores), judged)
    assert table.equals(table.sort(*Precision.key()))
    last = table.filter(pl.col("n") == pl.col("n").max())
    assert set(last["recall"].drop_nulls()) <= {1.0}
    whole = base(judged, n_candidates=12).select("category", b="precision")
    ends = last.join(whole, on="category")
    assert ends["precision"].equals(ends["b"].alias("precision"))


def test_order_of_rows_does_not_matter() -> None:
    scores: Scores = {"x": [2.0, 1.0, 2.0, None, 2.0], "y": [1.0, 1.0, 4.0, 5.0, 0.0]}
    draws = {"TP": [(True, 2), (False, 1), (True, 1), (None, 1), (False, 3)]}
    ranks, judged = ranks_of(scores), judged_of(draws)
    shuffled = estimate(
        ranks.sample(fraction=1, shuffle=True, seed=1),
        judged.sample(fraction=1, shuffle=True, seed=2),
    )
    assert shuffled.equals(estimate(ranks, judged))


def test_estimates_and_limits() -> None:
    table = estimate(ranks_of({"x": [3.0, 2.0, 1.0]}), judged_of({"TP": [None, *FULL]}))
    lower, upper = clopper_pearson([0, 1, 1], [0, 1, 2])
    assert table["precision"].to_list() == [None, 1.0, 0.5]
    assert table["recall"].to_list() == [0.0, 1.0, 1.0]
    assert (table["lower"].to_list(), table["upper"].to_list()) == (lower.tolist(), upper.tolist())
    assert table.row(0, named=True)["upper"] == 1.0


def test_confidence_reaches_the_interval() -> None:
    table = estimate(ranks_of({"x": [1.0]}), judged_of({"TP": [(True, 1)]}), confidence=0.5)
    assert table["lower"].to_list() == pytest.approx([0.25])


def test_a_category_without_positives_has_no_recall() -> None:
    table = estimate(ranks_of({"x": [1.0]}), judged_of({"TP": [(False, 2)]}))
    assert table.select("precision", "recall", "n_sampled").rows() == [(0.0, None, 2)]


def test_a_category_that_nobody_judged() -> None:
    judged = judged_of({"TP": [(None, 2), (None, 1)], "other": FULL})
    table = estimate(ranks_of({"x": [2.0, 1.0]}), judged).filter(pl.col("category") == "TP")
    assert table.select("precision", "lower", "upper", "recall").unique().rows() == [
        (None, 0.0, 1.0, None)
    ]
    assert base(judged, n_candidates=2).row(0)[:4] == ("TP", None, 0.0, 1.0)


def test_a_single_tie_group_gives_the_widest_range() -> None:
    draws = {"TP": [(False, 1), (True, 1), (False, 1), (True, 1)]}
    table = count({"x": [None] * 4}, draws)
    assert table["tp_min"].to_list() == [0, 0, 1, 2]
    assert table["tp_max"].to_list() == [1, 2, 2, 2]


def test_judged_candidates_without_a_rank_do_not_enter_a_list() -> None:
    counts = count({"x": [1.0]}, {"TP": FULL})
    assert counts.select(COUNTS).rows() == [(1, 1, 1, 1, 1)]


@pytest.mark.parametrize(("scores", "draws"), [
    ({}, {"TP": FULL}), ({"x": [1.0, 2.0]}, {}), ({}, {}),
])  # fmt: skip
def test_empty_tables(scores: Scores, draws: Draws) -> None:
    table = estimate(ranks_of(scores), judged_of(draws))
    assert table.schema == Precision.columns()
    assert table.is_empty()


def test_zero_rows_have_the_right_columns() -> None:
    table = nbest_counts(ranks_of({}).lazy(), pl.LazyFrame(schema=JUDGED))
    expected = {"category": pl.String, "measure": pl.String, **dict.fromkeys(COUNTS, pl.Int64)}
    assert dict(table.schema) == expected


def test_baseline_by_hand() -> None:
    judged = judged_of({"TP": [(True, 2), (False, 3), (None, 1)], "A": [(False, 1)]})
    first, second = base(judged, n_candidates=40).rows(named=True)
    assert (first["category"], second["category"]) == ("A", "TP")
    counts = ("precision", "n_sampled", "k_sampled", "n_candidates", "n_drawn", "n_unjudged")
    assert [second[column] for column in counts] == [0.4, 5, 2, 40, 6, 1]
    assert (second["confidence"], second["interval"], second["sampled"]) == (
        0.95, "clopper_pearson", True,
    )  # fmt: skip
    lower, upper = clopper_pearson(2, 5)
    assert (second["lower"], second["upper"]) == (lower, upper)


def test_baseline_of_nothing() -> None:
    assert base(judged_of({}), n_candidates=0).is_empty()


def test_krenn_gold_precision() -> None:
    ranks, judged = krenn()
    table = estimate(ranks, judged).with_columns(percent=(100 * pl.col("precision")).round(2))
    cuts = table.filter(pl.col("n").is_in([100, 500, 1000, 2000]))
    percent = {m: cuts.filter(pl.col("measure") == m)["percent"].to_list() for m in cuts["measure"]}
    assert percent["t_score"] == [38.0, 30.2, 28.1, 21.95]
    assert percent["log_likelihood"] == [42.0, 30.4, 27.1, 23.35]
    assert percent["chi_squared_corr"] == [24.0, 24.6, 23.9, 23.35]
    whole = base(judged, n_candidates=5102, sampled=False).row(0, named=True)
    assert (whole["k_sampled"], whole["n_sampled"]) == (566, 5102)
    assert round(100 * whole["precision"], 2) == 11.09


@pytest.mark.parametrize("n", [100, 500, 1000, 2000])
def test_krenn_tie_range_of_frequency(n: int) -> None:
    ranks, judged = krenn()
    true = set(judged.filter("tp")["id"])
    listed = ranks.filter(pl.col("measure") == "frequency").sort("rank")
    score, ids = listed["score"].to_list(), listed["id"].to_list()
    above = [c for s, c in zip(score, ids, strict=True) if s > score[n - 1]]
    equal = [c for s, c in zip(score, ids, strict=True) if s == score[n - 1]]
    sure, open_, left = len(true & set(above)), len(true & set(equal)), n - len(above)
    row = estimate(ranks, judged).row(
        by_predicate=(pl.col("measure") == "frequency") & (pl.col("n") == n), named=True
    )
    assert row["tp_max"] == sure + min(left, open_)
    assert row["tp_min"] == sure + max(0, left - (len(equal) - open_))
    assert row["k_sampled"] == len(true & set(ids[:n]))
