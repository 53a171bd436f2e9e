"""Error rates of judgements, and the lists that they correct."""

from __future__ import annotations

from itertools import groupby, permutations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.precision import (
    baseline,
    corrected_lists,
    cut_lists,
    error_rates,
    known_rates,
    local_counts,
    local_precision,
    nbest_counts,
    positives,
    precision_columns,
    recall_columns,
    stays_below,
    worst_cases,
)
from pipeline.kernels.statistics.finite_population import hypergeometric
from pipeline.kernels.statistics.intervals import clopper_pearson
from schemas import Baseline, CorrectedPrecision, Precision, WorstCase
from schemas.validate import validate
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

HOW = {"method": "clopper_pearson", "confidence": 0.95}
IDS = [f"c{place}" for place in range(6)]


def judgements(*tp: bool | None, category: str = "TP") -> pl.DataFrame:
    rows = {"category": category, "id": IDS[: len(tp)], "tp": list(tp)}
    return pl.DataFrame(rows, schema_overrides={"tp": pl.Boolean})


def lists(*counts: tuple[int, int], category: str = "TP") -> pl.DataFrame:
    rows = [
        {"category": category, "measure": "mi", "n": 10 * place, "n_sampled": m, "k_sampled": k,
         "precision": k / m if m else None}
        for place, (k, m) in enumerate(counts, 1)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def correct_lists(frame: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    result = corrected_lists(frame, rates, **HOW)  # type: ignore[arg-type]  # options of several types
    validate([result], CorrectedPrecision, name="corrected")
    return result


def rates_of(judged: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame:
    return error_rates(judged, truth, **HOW)  # type: ignore[arg-type]  # options of several types


def test_error_rates_agree_with_those_by_hand() -> None:
    """Open judgements do not count: 2 of 3 true ones are found, 1 of 2 others is rejected."""
    judged = judgements(True, True, False, True, False, None)
    truth = judgements(True, True, True, False, False, True)
    row = rates_of(judged, truth).row(0, named=True)
    assert (row["n_true"], row["n_false"]) == (3, 2)
    assert (row["sensitivity"], row["specificity"]) == (2 / 3, 0.5)
    limits = clopper_pearson(2, 3)
    assert (row["sensitivity_lower"], row["sensitivity_upper"]) == tuple(map(float, limits))


def test_known_rates_correct_the_lists() -> None:
    frame = lists((3, 10), (0, 0))
    rates = known_rates(frame["category"], {"sensitivity": 0.8, "specificity": 0.9})
    result = correct_lists(frame, rates)
    assert result["corrected"].to_list() == pytest.approx([2 / 7, None])
    q = np.array(clopper_pearson(3, 10))
    expected = np.clip((q - 0.1) / 0.7, 0, 1).tolist()
    assert result.select("lower_corrected", "upper_corrected").row(0) == pytest.approx(expected)
    assert result.select("lower_corrected", "upper_corrected").row(1) == (0.0, 1.0)


def test_a_category_without_truth_is_not_corrected() -> None:
    truth = judgements(True, False)
    rates = rates_of(truth, truth)
    frame = pl.concat([lists((3, 10)), lists((3, 10), category="other")])
    result = correct_lists(frame, rates)
    assert result.select("category", "sensitivity", "corrected", "n_true").rows() == [
        ("TP", 1.0, pytest.approx(0.3), 1), ("other", None, None, None),
    ]  # fmt: skip


def test_sensitivity_needs_true_candidates() -> None:
    truth = judgements(False, False)
    result = correct_lists(lists((3, 10)), rates_of(truth, truth)).row(0, named=True)
    assert (result["n_true"], result["sensitivity"], result["corrected"]) == (0, None, None)
    assert rates_of(truth.clear(), truth).is_empty()


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


def test_counts_of_lists_agree_with_those_by_hand() -> None:
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
        multiplicities = [d[1] if d and d[0] is not None else 0 for d in every]
        for n in range(1, len(keys) + 1):
            possible = [sum(hits[c] for c in one[:n]) for one in orders]
            sums = [sum(weights[c] for c in order[:n]) for weights in (multiplicities, hits)]
            rows.append((category, measure, n, *sums, min(possible), max(possible)))
    return [row for row in rows if any(draws[str(row[0])])]


@given(studies())
def test_counts_agree_with_all_ways_to_break_ties(study: tuple[Scores, Draws]) -> None:
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


def test_the_order_of_rows_does_not_matter() -> None:
    scores: Scores = {"x": [2.0, 1.0, 2.0, None, 2.0], "y": [1.0, 1.0, 4.0, 5.0, 0.0]}
    draws = {"TP": [(True, 2), (False, 1), (True, 1), (None, 1), (False, 3)]}
    ranks, judged = ranks_of(scores), judged_of(draws)
    shuffled = estimate(
        ranks.sample(fraction=1, shuffle=True, seed=1),
        judged.sample(fraction=1, shuffle=True, seed=2),
    )
    assert shuffled.equals(estimate(ranks, judged))


def test_estimates_have_clopper_pearson_limits() -> None:
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


def test_an_unjudged_category_has_no_estimates() -> None:
    judged = judged_of({"TP": [(None, 2), (None, 1)], "other": FULL})
    table = estimate(ranks_of({"x": [2.0, 1.0]}), judged).filter(pl.col("category") == "TP")
    assert table.select("precision", "lower", "upper", "recall").unique().rows() == [
        (None, 0.0, 1.0, None)
    ]
    assert base(judged, n_candidates=2).row(0)[:4] == ("TP", None, 0.0, 1.0)


def test_a_single_tie_group_has_the_widest_range() -> None:
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
def test_empty_tables_have_no_estimates(scores: Scores, draws: Draws) -> None:
    table = estimate(ranks_of(scores), judged_of(draws))
    assert table.schema == Precision.columns()
    assert table.is_empty()


def test_zero_rows_have_the_right_columns() -> None:
    table = nbest_counts(ranks_of({}).lazy(), pl.LazyFrame(schema=JUDGED))
    expected = {"category": pl.String, "measure": pl.String, **dict.fromkeys(COUNTS, pl.Int64)}
    assert dict(table.schema) == expected


def test_the_baseline_agrees_with_that_by_hand() -> None:
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


def test_an_empty_sample_has_no_baseline() -> None:
    assert base(judged_of({}), n_candidates=0).is_empty()


def test_krenns_data_have_the_published_precisions() -> None:
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
def test_tie_ranges_of_frequency_agree_with_sets_in_krenns_data(n: int) -> None:
    ranks, judged = krenn()
    true = set(judged.filter("tp")["id"])
    listed = ranks.filter(pl.col("measure") == "frequency").sort("rank")
    score, ids = listed["score"].to_list(), listed["id"].to_list()
    above = [c for s, c in zip(score, ids, strict=True) if s > score[n - 1]]
    equal = [c for s, c in zip(score, ids, strict=True) if s == score[n - 1]]
    sure, open_, remaining = len(true & set(above)), len(true & set(equal)), n - len(above)
    row = estimate(ranks, judged).row(
        by_predicate=(pl.col("measure") == "frequency") & (pl.col("n") == n), named=True
    )
    assert row["tp_max"] == sure + min(remaining, open_)
    assert row["tp_min"] == sure + max(0, remaining - (len(equal) - open_))
    assert row["k_sampled"] == len(true & set(ids[:n]))


SCORES: Scores = {"x": [5.0, 4.0, 3.0, 2.0, 1.0], "y": [1.0, 2.0, 3.0, 4.0, 5.0]}
DRAWS: Draws = {"TP": [(True, 2), (True, 1), None, (False, 1), (None, 3)]}


def count_lists(scores: Scores = SCORES, draws: Draws = DRAWS) -> pl.DataFrame:
    return nbest_counts(ranks_of(scores).lazy(), judged_of(draws).lazy())


def test_counts_in_windows_agree_with_those_by_hand() -> None:
    result = local_counts(count_lists(), window=3).filter(measure="x")
    assert result.drop("category", "measure").rows() == [
        (2, 1, 3, 3, 3, 3), (3, 2, 4, 3, 2, 1), (4, 3, 5, 3, 1, 0),
    ]  # fmt: skip


@given(studies(largest=7), st.integers(1, 8))
def test_counts_in_windows_agree_with_a_loop(study: tuple[Scores, Draws], window: int) -> None:
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
    result = local_counts(count_lists(scores, draws), window=window)
    columns = ("category", "measure", "first_rank", "last_rank", "n_sampled", "k_sampled")
    assert result.select(columns).rows() == rows


def test_a_window_of_all_candidates_is_the_list() -> None:
    counts = count_lists()
    whole = local_counts(counts.sample(fraction=1, shuffle=True, seed=2), window=5)
    last = counts.filter(n=5).sort("measure")
    assert whole.select("n_sampled", "k_sampled").equals(last.select("n_sampled", "k_sampled"))
    assert local_counts(counts, window=6).is_empty()
    assert local_counts(counts.clear(), window=2).is_empty()


def test_local_precision_has_intervals() -> None:
    for method, limits in (("clopper_pearson", clopper_pearson([3, 1, 0], [3, 2, 1])),
                           ("hypergeometric", hypergeometric([3, 1, 0], [3, 2, 1], population=3))):  # fmt: skip
        result = local_precision(count_lists(), window=3, method=method, confidence=0.95)
        row = result.filter(measure="x")
        assert row["precision"].to_list() == [1.0, 0.5, 0.0]
        assert row["lower"].to_list() == limits[0].tolist()
        assert row["upper"].to_list() == limits[1].tolist()
    alone = local_precision(count_lists(), window=1, method="wilson", confidence=0.9)
    assert alone["precision"].null_count() == 4


def test_wrong_windows_are_refused() -> None:
    with pytest.raises(ValueError, match="not 0"):
        local_counts(count_lists(), window=0)
    gap = count_lists().filter((pl.col("n") != 2) | (pl.col("measure") != "y"))
    with pytest.raises(ValueError, match="missing before n = 3 of y"):
        local_counts(gap, window=2)


def test_recall_has_limits() -> None:
    result = recall_columns(
        count_lists(), positives=positives(judged_of(DRAWS)),
        method="clopper_pearson", confidence=0.95,
    )  # fmt: skip
    row = result.filter(measure="x")
    assert row["recall"].to_list() == [2 / 3, 1.0, 1.0, 1.0, 1.0]
    lower, upper = clopper_pearson([2, 3, 3, 3, 3], 3)
    assert (row["lower"].to_list(), row["upper"].to_list()) == (lower.tolist(), upper.tolist())
    none = recall_columns(
        count_lists(draws={"TP": [(False, 1)] * 5}), positives=pl.DataFrame({"category": "TP", "positives": 0}),
        method="wilson", confidence=0.95,
    )  # fmt: skip
    assert none["recall"].is_null().all()
    assert set(none["lower"].to_list() + none["upper"].to_list()) == {0.0, 1.0}
    with pytest.raises(ValueError, match="total number of true positives"):
        recall_columns(count_lists(), positives=pl.DataFrame({"category": "TP", "positives": 0}),
                       method="hypergeometric", confidence=0.95)  # fmt: skip


def test_lists_up_to_a_cut_are_selected() -> None:
    result = cut_lists(count_lists(), cut=2)
    columns = ("measure", "n", "k_sampled", "positives", "baseline")
    assert result.select(columns).rows() == [
        ("x", 1, 2, 3, 1.0), ("x", 2, 3, 3, 1.0), ("y", 1, 0, 0, 0.0), ("y", 2, 0, 0, 0.0),
    ]  # fmt: skip
    whole = cut_lists(count_lists(), cut=99)
    assert whole["positives"].unique().to_list() == [3]
    assert whole.select(count_lists().columns).equals(
        count_lists().sort("category", "measure", "n")
    )
    unseen = cut_lists(count_lists(draws={"TP": [None, None, None, (True, 1), None]}), cut=1)
    assert unseen["baseline"].to_list() == [None, None]


def test_the_last_crossing_of_a_threshold_is_found() -> None:
    frame = pl.DataFrame({
        "category": "TP", "measure": list("aaabbbccc"), "n": [3, 1, 2] * 3,
        "lower": [0.1, 0.5, 0.3, 0.4, 0.0, 0.1, 0.1, 0.2, 0.2],
    })  # fmt: skip
    result = stays_below(frame, threshold=0.3)
    assert result.rows() == [("TP", "a", 3), ("TP", "b", None), ("TP", "c", 1)]
    assert stays_below(frame.clear(), threshold=0.3).is_empty()


def test_the_last_crossing_is_found_in_krenns_data() -> None:
    ranks, judged = krenn()
    counts = nbest_counts(ranks.lazy(), judged.lazy())
    table = precision_columns(counts, positives=positives(judged), method="wilson", confidence=0.95)
    n = stays_below(table, threshold=0.25).filter(measure="t_score")["n"][0]
    row = table.filter(measure="t_score").filter(pl.col("n").is_in([n - 1, n])).sort("n")
    assert row["lower"][0] >= 0.25 > row["lower"][1]
    assert table.filter(measure="t_score").filter(pl.col("n") >= n)["lower"].max() < 0.25


# Precision if all unjudged draws were false, or all true, and bounds for any judgement.

HOW_WORST_CASE: dict[str, Any] = {"method": "clopper_pearson", "confidence": 0.95}


def worst_cases_of(
    labels: list[bool | None], *, multiplicities: list[int] | None = None, **how: Any
) -> pl.DataFrame:
    """Return the worst cases of a ranking with these labels, each drawn so many times."""
    ids = [f"c{place}" for place in range(len(labels))]
    ranks = pl.LazyFrame({"measure": "mi", "rank": range(1, len(ids) + 1), "id": ids, "tie": 1})
    times = multiplicities or [1] * len(ids)
    judged = pl.DataFrame(
        {"category": "TP", "id": ids, "tp": labels, "multiplicity": times},
        schema_overrides={"tp": pl.Boolean},
    ).filter(pl.col("multiplicity") > 0)
    counts = nbest_counts(ranks, judged.lazy())
    lists = precision_columns(counts, positives=positives(judged), **(HOW_WORST_CASE | how))
    result = worst_cases(lists, ranks, judged, **(HOW_WORST_CASE | how))
    validate([result], WorstCase, name="worst_case")
    return result


def test_the_worst_case_agrees_with_that_by_hand() -> None:
    """Of 2 + 3 draws in the first three places, with multiplicity, 2 true and 1 open."""
    row = (
        worst_cases_of([True, False, None, True], multiplicities=[2, 2, 1, 0])
        .filter(n=3)
        .row(0, named=True)
    )
    assert (row["n_drawn"], row["n_unjudged"], row["precision"]) == (5, 1, 0.5)
    assert (row["precision_if_false"], row["precision_if_true"]) == (0.4, 0.6)
    for k, suffix in ((2, "if_false"), (3, "if_true")):
        limits = clopper_pearson(k, 5)
        assert (row[f"lower_{suffix}"], row[f"upper_{suffix}"]) == tuple(map(float, limits))


def test_fully_judged_lists_have_no_worst_case() -> None:
    assert worst_cases_of([True, False]).is_empty()
    assert worst_cases_of([True, None, False])["n"].to_list() == [2, 3]


def test_the_worst_case_without_judgements_is_0_to_1() -> None:
    result = worst_cases_of([None, None])
    assert result.select("precision", "precision_if_false", "precision_if_true").rows() == [
        (None, 0.0, 1.0), (None, 0.0, 1.0),
    ]  # fmt: skip


def test_one_open_draw_of_a_finite_list_gives_exact_worst_cases() -> None:
    row = (
        worst_cases_of([True, False, None, True], method="hypergeometric")
        .filter(n=4)
        .row(0, named=True)
    )
    assert (row["lower_if_false"], row["upper_if_false"]) == (0.5, 0.5)
    assert (row["lower_if_true"], row["upper_if_true"]) == (0.75, 0.75)


labels = st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=12)


@given(labels, st.data())
def test_any_judgement_of_open_draws_is_in_the_worst_case_range(
    judgements: list[bool | None], data: Any
) -> None:
    worst = worst_cases_of(judgements)
    settled = [data.draw(st.booleans()) if each is None else each for each in judgements]
    for n, low, high in worst.select("n", "precision_if_false", "precision_if_true").rows():
        assert low <= sum(settled[:n]) / n <= high


@pytest.mark.parametrize("lost", [0.5, 0.9])
def test_worst_case_limits_hold_if_true_positives_are_lost(lost: float) -> None:
    """If true positives are lost, worst-case intervals alone keep their level."""
    random, runs, truth, draws = np.random.default_rng(7), 1000, 0.4, 60
    k = random.binomial(draws, truth, runs)
    u = random.binomial(k, lost)
    plain = clopper_pearson(k - u, draws - u)
    lower, upper = clopper_pearson(k - u, draws)[0], clopper_pearson(k, draws)[1]
    assert np.mean((lower <= truth) & (truth <= upper)) >= 0.95
    assert np.mean((plain[0] <= truth) & (truth <= plain[1])) < 0.5
