"""Findings on tests between measures: best, equivalence, labels needed, declared pairs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from pipeline.findings.base import StageView, as_table, collect_findings
from pipeline.findings.collocations.comparison import further_judgements, further_text
from pipeline.findings.phrases import Difference, equivalent, sentence, worse
from pipeline.kernels.measure import measure_title
from schemas import (
    BestMeasures,
    ClusteredDifferences,
    CutBaselineComparison,
    CutComparison,
    Findings,
    MeasureDifferences,
)
from tests.findings.stages import findings_of, stage, table, texts
from tests.small_experiment import SMALL
from tests.valid import valid

# Findings of a comparison of measures: known tables, and no verdict without a test.

CANDIDATES = 1000
RANKED_MEASURES = pl.DataFrame({"id": [f"c{rank}" for rank in range(CANDIDATES)]})


def compared_measures(
    best: Mapping[int, Mapping[str, float | None]],
    tests: Mapping[tuple[str, str], tuple[float | None, float | None]] | None = None,
    lists: Mapping[str, tuple[int, int, int, int, float | None]] | None = None,
    *,
    limits: Mapping[tuple[str, str], tuple[float, float]] | None = None,
    tied: bool = False,
    clustered: Sequence[dict[str, Any]] = (),
    finite: Sequence[dict[str, Any]] = (),
    category: str = "TP",
    **options: Any,
) -> StageView:
    """Return the stage of a comparison.

    `best` has for each size the best measure and those that are not separable from it, with their
    precision; `tests` the difference and adjusted p of pairs, at every size; `lists` k_1, n_1,
    k_2, n_2 and adjusted p of each list against the baseline; `limits` those of pairs.
    """
    rows = [
        {"category": category, "n": n, "measure": measure, "best": tied or place == 0,
         "best_measure": next(iter(mine)), "precision": precision, "difference": None,
         "p_adjusted": None if place == 0 else 0.5}
        for n, mine in best.items() for place, (measure, precision) in enumerate(mine.items())
    ]  # fmt: skip
    cuts = [
        {"category": category, "measure_1": one, "measure_2": two, "n": n, "size": 50, "n_1": 20,
         "k_1": 10, "n_2": 20, "k_2": 5, "difference": gap, "p_value": p, "significant": False,
         "p_adjusted": p, "correction": "holm"}
        for n in best for (one, two), (gap, p) in (tests or {}).items()
    ]  # fmt: skip
    against = [
        {"category": category, "measure": measure, "n": n, "k_1": k_1, "n_1": n_1, "k_2": k_2,
         "n_2": n_2, "difference": (k_1 / n_1 - k_2 / n_2) if n_1 and n_2 else None, "p_value": p,
         "significant": False, "p_adjusted": p, "correction": "holm"}
        for n in best for measure, (k_1, n_1, k_2, n_2, p) in (lists or {}).items()
    ]  # fmt: skip
    ends = [
        {"category": category, "measure_1": one, "measure_2": two, "n": n, "population": "super",
         "difference": gap, "p_adjusted": p,
         **dict(zip(("lower_family", "upper_family"), limits.get((one, two), ()), strict=False))}
        for n in best for (one, two), (gap, p) in (tests or {}).items()
        if limits is not None
    ]  # fmt: skip
    tables = {
        "differences": table(MeasureDifferences, [*ends, *finite]), "best": table(BestMeasures, rows), "cuts": table(CutComparison, cuts),
        "baseline_cuts": table(CutBaselineComparison, against),
        "clustered": table(ClusteredDifferences, clustered),
        "ranks.ranks": RANKED_MEASURES,
    }  # fmt: skip
    inputs = {"ranks": "ranks.ranks", "judgements": "judgements.judgements"}
    return stage("evaluate.comparison", tables, name="full", inputs=inputs, **options)


ONE_MEASURES = {500: {"log_likelihood": 0.304, "t_score": 0.302}}
TESTS_MEASURES = {
    ("log_likelihood", "mi"): (0.124, 0.003),
    ("log_likelihood", "t_score"): (0.002, 0.9),
}
LISTS = {"log_likelihood": (152, 500, 48, 500, 0.0001)}


def test_findings_name_best_inseparable_and_worse_measures() -> None:
    assert texts("best_measures", compared_measures(ONE_MEASURES, TESTS_MEASURES, LISTS)) == [
        "Best for 500 candidates: log-likelihood, 30.4 % true positives [26.4, 34.6].",
        "t-score (30.2 %) is not significantly worse than log-likelihood.",
        "MI is worse than log-likelihood (−12.4 points, adjusted p = .003).",
        (
            "The baseline is 20.0 %; log-likelihood at n = 500 is 20.8 points above it (compared with "
            "the candidates outside the list; adjusted p < .001)."
        ),
    ]


def test_a_single_judgement_makes_no_measure_the_best() -> None:
    few = {"log_likelihood": (1, 1, 3, 9, None)}
    best = {100: {"log_likelihood": 1.0, "t_score": 0.5}, 500: {"log_likelihood": 1.0}}
    reason = "the list with the highest estimate has 1 judged draw, fewer than 5"
    assert texts("best_measures", compared_measures(best, TESTS_MEASURES, few))[-2:] == [
        f"Best for {n} candidates: too few judgements to name a measure; {reason}."
        for n in (100, 500)
    ]
    enough = {"log_likelihood": (5, 5, 3, 9, None)}
    (first, *_) = texts("best_measures", compared_measures({100: best[100]}, {}, enough))
    assert first.startswith("Best for 100 candidates: log-likelihood, 100.0 %")
    whole = {"log_likelihood": (3, 3, 3, 9, None)}
    (first, *_) = texts("best_measures", compared_measures({3: best[100]}, {}, whole))
    assert first.startswith("Best for 3 candidates: log-likelihood, 100.0 %")


def test_worse_measures_have_their_difference_and_limits() -> None:
    limits = {("log_likelihood", "mi"): (0.081, 0.166)}
    (worse,) = (
        each
        for each in findings_of(
            "best_measures", compared_measures(ONE_MEASURES, TESTS_MEASURES, limits=limits)
        )
        if each.about == "worse"
    )
    assert (
        worse.text
        == "MI is worse than log-likelihood by 12.4 points [8.1, 16.6], adjusted p = .003."
    )
    assert (worse.value, worse.lower, worse.upper) == (-0.124, -0.166, -0.081)


def finite_difference(one: str, other: str, gap: float, half: float, p: float) -> dict[str, Any]:
    """Return a test for the candidates alone, at 500."""
    return {
        "category": "TP", "measure_1": one, "measure_2": other, "n": 500, "population": "finite",
        "difference": gap, "lower": gap - half, "upper": gap + half, "lower_family": gap - half,
        "upper_family": gap + half, "p_adjusted": p,
    }  # fmt: skip


def test_measures_that_are_worse_for_these_candidates_alone_are_named() -> None:
    finite = [
        finite_difference("log_likelihood", "mi", 0.124, 0.05, 0.001),
        finite_difference("log_likelihood", "t_score", 0.06, 0.05, 0.02),
        finite_difference("log_likelihood", "dice", 0.06, 0.07, 0.3),
        finite_difference("mi", "t_score", 0.06, 0.05, 0.02),
    ]
    of = compared_measures(ONE_MEASURES, TESTS_MEASURES, LISTS, limits={}, finite=finite)
    here = "For these candidates alone, t-score is worse than log-likelihood by 6.0 points"
    assert [each for each in texts("best_measures", of) if "candidates alone" in each] == [
        f"{here} [1.0, 11.0], adjusted p = .020."
    ]


def test_after_full_annotation_no_difference_is_tested_for_these_candidates() -> None:
    finite = [finite_difference("log_likelihood", "t_score", 0.002, 0.0, 0.0)]
    of = compared_measures(ONE_MEASURES, TESTS_MEASURES, LISTS, limits={}, finite=finite)
    assert not [each for each in texts("best_measures", of) if "candidates alone" in each]


def test_the_direction_of_a_pair_makes_no_difference() -> None:
    turned = {("mi", "log_likelihood"): (-0.124, 0.003)}
    assert texts("best_measures", compared_measures(ONE_MEASURES, turned), "worse") == [
        "MI is worse than log-likelihood (−12.4 points, adjusted p = .003)."
    ]


@pytest.mark.parametrize(
    ("difference", "p"),
    [(0.124, 0.05), (0.124, None), (None, 0.001), (-0.124, 0.001), (0.0, 0.001)],
)
def test_no_measure_is_worse_without_a_significant_test(
    difference: float | None, p: float | None
) -> None:
    view = compared_measures(ONE_MEASURES, {("log_likelihood", "mi"): (difference, p)}, alpha=0.05)
    assert texts("best_measures", view, "worse") == []


def test_a_measure_within_the_margin_is_not_called_worse() -> None:
    close = {("log_likelihood", "t_score"): (0.01, 0.001)}
    assert (
        texts("best_measures", compared_measures(ONE_MEASURES, close, margin=0.05), "worse") == []
    )


def test_a_difference_below_the_margin_is_stated() -> None:
    close = {("log_likelihood", "t_score"): (0.01, 0.001)}
    view = compared_measures(ONE_MEASURES, close, margin=0.05)
    assert texts("best_measures", view, "together") == [
        "t-score (30.2 %) is worse by less than the margin of 5.0 points."
    ]


def test_measures_of_the_same_precision_are_tied() -> None:
    """Each other measure is compared with each tied one; worse than one of them is worse."""
    tests = {
        ("dice", "mi"): (0.0, 1.0),
        ("dice", "t_score"): (0.1, 0.2),
        ("mi", "t_score"): (0.1, 0.01),
    }
    view = compared_measures({100: {"dice": 0.3, "mi": 0.3}}, tests, tied=True)
    assert texts("best_measures", view)[:2] == [
        "Best for 100 candidates: Dice and MI (tied), 30.0 % true positives.",
        "t-score is worse than MI (−10.0 points, adjusted p = .010).",
    ]


def test_clustered_tests_decide_if_they_are_requested() -> None:
    row = {
        "category": "TP",
        "measure_1": "log_likelihood",
        "measure_2": "mi",
        "n": 500,
        "difference": 0.124,
        "p_adjusted": 0.2,
        "lower_family": -0.02,
        "upper_family": 0.25,
    }
    view = compared_measures(ONE_MEASURES, TESTS_MEASURES, clustered=[row])  # fmt: skip
    assert texts("best_measures", view, "worse") == []


def test_a_single_measure_is_compared_only_with_the_baseline() -> None:
    sentences = texts(
        "best_measures", compared_measures({100: {"mi": 0.5}}, None, {"mi": (5, 10, 1, 10, None)})
    )
    assert sentences == [
        "Best for 100 candidates: MI, 50.0 % true positives [18.7, 81.3].",
        "The baseline is 30.0 %.",
    ]


def test_without_rows_or_precision_there_is_no_finding() -> None:
    assert findings_of("best_measures", compared_measures({})) == []
    assert findings_of("best_measures", compared_measures({100: {"mi": None}})) == []


def test_measures_best_at_all_sizes_are_named() -> None:
    (sentence,) = texts(
        "best_measures",
        compared_measures({100: {"mi": 0.5, "dice": 0.4}, 200: {"dice": 0.4}}),
        "throughout",
    )
    assert sentence.startswith(
        "Dice is best, or not significantly worse than the best, at both sizes, 100 and 200"
    )
    (sentence,) = texts(
        "best_measures", compared_measures({100: {"mi": 0.5}, 200: {"dice": 0.4}}), "throughout"
    )
    assert sentence.startswith(
        "No measure is best, or not significantly worse than the best, at both sizes"
    )
    names = ["mi", "dice", "t_score", "chi_squared", "log_likelihood"]
    alike = {n: dict.fromkeys(names, 0.4) for n in (100, 200)}
    pairs = {(one, "mi"): (0.0, 0.5) for one in names[1:]}
    (sentence,) = texts("best_measures", compared_measures(alike, pairs), "throughout")
    assert sentence.startswith(
        "All 5 measures are best, or not significantly worse than the best, at"
    )


def test_the_number_of_judgements_needed_is_stated() -> None:
    sampled = dict.fromkeys(("log_likelihood", "t_score"), (5, 20, 5, 40, 0.2))
    (needed,) = (
        each
        for each in findings_of(
            "best_measures", compared_measures(ONE_MEASURES, TESTS_MEASURES, sampled)
        )
        if each.about == "needed"
    )
    assert needed.value is None or 0 < needed.value < CANDIDATES
    assert "80 %" in needed.text or "all 1,000 candidates" in needed.text


NAMES = st.sampled_from(["mi", "dice", "t_score", "</script>", "שלום"])
P = st.one_of(st.none(), st.floats(0, 1))
GAPS = st.one_of(st.none(), st.floats(-1, 1))
BEST = st.dictionaries(
    st.sampled_from([10, 20]), st.dictionaries(NAMES, st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=3)
)  # fmt: skip
PAIRS = st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] < pair[1])
PAIR_TESTS = st.dictionaries(PAIRS, st.tuples(GAPS, P), max_size=4)
COUNTS = st.builds(
    # All candidates are judged, so that no power is simulated again and again.
    lambda k, n, others, p: (min(k, n), n, others, CANDIDATES, p),
    st.integers(0, 5), st.integers(0, 5), st.integers(0, CANDIDATES), P,
)  # fmt: skip


@given(
    BEST, PAIR_TESTS, st.dictionaries(NAMES, COUNTS, max_size=3), st.sampled_from([0.01, 0.05, 0.5])
)
def test_every_verdict_has_a_significant_test(
    best: dict[int, dict[str, float | None]],
    tested: dict[tuple[str, str], tuple[float | None, float | None]],
    lists: dict[str, tuple[int, int, int, int, float | None]],
    alpha: float,
) -> None:
    sized = {
        n: dict(sorted(mine.items(), key=lambda row: -(row[1] or -1.0))) for n, mine in best.items()
    }
    view = compared_measures(sized, tested, lists, alpha=alpha)
    table_of = valid(as_table(collect_findings({"full": view})), Findings)
    least = min((p for gap, p in tested.values() if p is not None and gap), default=1.0)
    for row in table_of.iter_rows(named=True):
        verdict = re.search(r"\b(?<!not significantly )(worse|better|above|below)\b", row["text"])
        if verdict:
            assert row["p_adjusted"] is not None
            assert row["p_adjusted"] < alpha
            assert row["about"] != "worse" or least < alpha
        assert "nan" not in row["text"]


PAIR = {"category": "TP", "measure_1": "log_likelihood", "measure_2": "mi", "n": 500, "size": 50}
HERE = {
    "population": "finite", "n_1": 20, "n_2": 20, "difference": 0.044, "lower": 0.007, "upper": 0.08,
    "p_adjusted": 0.01, "p_equivalent_adjusted": 0.2, "equivalent": False,
}  # fmt: skip
BEYOND = HERE | {"population": "super", "lower": -0.001, "upper": 0.09, "p_adjusted": 0.08}


def compared_differences(*rows: dict[str, Any], p: float = 0.08, **options: Any) -> StageView:
    best = {"category": "TP", "n": 500, "best_measure": "log_likelihood"}
    tables = {
        "best": table(BestMeasures, [
            best | {"measure": "log_likelihood", "best": True}, best | {"measure": "mi", "best": False},
        ]),
        "cuts": table(CutComparison, [PAIR | {"difference": 0.044, "p_adjusted": p}]),
        "differences": table(MeasureDifferences, [PAIR | row for row in rows]),
        "clustered": table(ClusteredDifferences, []),
        "ranks.ranks": RANKED_MEASURES,
    }  # fmt: skip
    return stage("evaluate.comparison", tables, inputs={"ranks": "ranks.ranks"}, **options)


SMALL_DIFFERENCES = {
    "difference": 0.002, "lower": -0.019, "upper": 0.023, "p_equivalent_adjusted": 0.01,
    "equivalent": True,
}  # fmt: skip


def test_measures_are_equivalent_within_the_bound() -> None:
    view = compared_differences(
        HERE | SMALL_DIFFERENCES, BEYOND | SMALL_DIFFERENCES, equivalence=0.03
    )
    (sentence,) = texts("equivalent_measures", view)
    assert sentence == (
        "For 500 candidates, log-likelihood and MI are equivalent within 3 points "
        "(+0.2 points [−1.9, +2.3], adjusted p = .010)."
    )


def test_equivalence_is_limited_to_these_candidates() -> None:
    (sentence,) = texts(
        "equivalent_measures", compared_differences(HERE | SMALL_DIFFERENCES, equivalence=0.03)
    )
    assert sentence.endswith("adjusted p = .010), for these candidates only.")


def test_equivalence_here_does_not_imply_equivalence_beyond() -> None:
    view = compared_differences(HERE | SMALL_DIFFERENCES, BEYOND, equivalence=0.03)
    assert texts("equivalent_measures", view) == [
        "For 500 candidates, no two measures are shown to differ by less than 3 points."
    ]


def test_without_a_bound_nothing_is_equivalent() -> None:
    assert (
        findings_of(
            "equivalent_measures",
            compared_differences(HERE | SMALL_DIFFERENCES, BEYOND | SMALL_DIFFERENCES),
        )
        == []
    )


def test_verdicts_without_a_significant_test_are_refused() -> None:
    for test in (Difference("", 0.01, 0.05), Difference("", 0.05, 0.01)):
        with pytest.raises(ValueError, match="are equivalent"):
            equivalent(("a", "b"), test, alpha=0.05, bound=0.03)
    with pytest.raises(ValueError, match="is worse"):
        worse([Difference("a", -0.1, 0.06)], alpha=0.05)


# Further judgements needed: the number equals that of planning from the pilot.

STAGES = """
[stages.sample]
use = "sample.random"
candidates = "candidates"
rate = 0.3

[stages.pilot]
use = "evaluate.comparison"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
cuts = [30]
alpha = 0.2
"""


@pytest.fixture(scope="module")
def done_more_labels(tmp_path_factory: pytest.TempPathFactory) -> lx.Run:
    folder = tmp_path_factory.mktemp("labels")
    (folder / "x.toml").write_text(SMALL + STAGES)
    lines = [
        f"a{i}\tb{i % 7}\t{i + 1}\t{i + 3 + i * 7 % 40}\t{290 - i}\t1900\t{int(i * 7 % 40 < 18 or i % 5 == 0)}"
        for i in range(120)
    ]
    (folder / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN\tTP", *lines]) + "\n")
    return lx.run(folder / "x.toml", runs=folder / "runs", report=False)


@pytest.mark.long
def test_judgements_needed_equal_those_of_planning(done_more_labels: lx.Run) -> None:
    row = done_more_labels.table("pilot.cuts").row(0, named=True)
    pair = (row["measure_1"], row["measure_2"])
    planned = lx.plan_pilot(
        done_more_labels, "pilot", measures=pair, n=[30], powers=[0.8], replicates=1000
    )
    sizes = planned.filter(wanted=0.8)["size"].to_list()
    judged = done_more_labels.table("sample").height
    further = further_judgements(
        row, candidates=120, judged=judged, test="fisher", alternative="two_sided", alpha=0.2,
        margin=0.0,
    )  # fmt: skip
    assert [None if further is None else further + judged] == sizes


def test_the_finding_states_the_judgements_needed(done_more_labels: lx.Run) -> None:
    needed = done_more_labels.findings.filter(about="needed", stage="pilot")
    assert needed.height == 1
    for row in needed.iter_rows(named=True):
        further = None if row["value"] is None else int(row["value"])
        pair = measure_title(row["name"]), measure_title(row["other"])
        text = sentence(further_text(further, pair=pair, candidates=120))
        assert row["text"] == text


PAIRS_MORE_LABELS = st.tuples(
    st.integers(0, 20), st.integers(1, 20), st.integers(0, 20), st.integers(1, 20)
)


@given(PAIRS_MORE_LABELS)
def test_a_further_sample_fits_within_the_candidates(counts: tuple[int, int, int, int]) -> None:
    k_1, n_1, k_2, n_2 = counts
    pair = {
        "n": 100, "size": 40, "k_1": min(k_1, n_1), "n_1": n_1, "k_2": min(k_2, n_2), "n_2": n_2,
    }  # fmt: skip
    further = further_judgements(
        pair, candidates=400, judged=60, test="fisher", alternative="two_sided", alpha=0.05,
        margin=0.0,
    )  # fmt: skip
    assert further is None or 0 <= further <= 340


# Findings of a comparison of declared pairs without a best measure.

Test = tuple[float | None, float | None]


def pair_stage(tests: Mapping[tuple[str, str], Test], *sizes: int, **options: Any) -> StageView:
    rows = [
        {"category": "TP", "measure_1": one, "measure_2": two, "n": n, "size": 50, "n_1": 20,
         "k_1": 10, "n_2": 20, "k_2": 5, "difference": gap, "p_value": p, "significant": False,
         "p_adjusted": p, "correction": "holm"}
        for n in sizes for (one, two), (gap, p) in tests.items()
    ]  # fmt: skip
    tables: dict[str, pl.DataFrame] = {
        "best": table(BestMeasures, []), "cuts": table(CutComparison, rows),
        "differences": table(MeasureDifferences, []),
        "clustered": table(ClusteredDifferences, []),
    }  # fmt: skip
    return stage("evaluate.comparison", tables, name="some", inputs={}, **options)


def test_each_declared_pair_has_a_finding_at_each_size() -> None:
    tests = {
        ("log_likelihood", "t_score"): (0.002, 0.9),
        ("t_score", "mi"): (0.124, 0.003),
        ("mi", "dice"): (-0.02, 0.01),
    }
    sentences = texts("declared_pairs", pair_stage(tests, 100, 500, margin=0.03))
    assert sentences[:3] == [
        "For 100 candidates, t-score is better than MI (+12.4 points, adjusted p = .003).",
        "MI and Dice differ by less than the margin of 3.0 points (−2.0 points, adjusted p = .010).",
        "Log-likelihood and t-score do not differ significantly (+0.2 points, adjusted p = .900).",
    ]
    assert sentences[3].startswith("For 500 candidates, t-score is better")
    assert len(sentences) == 6


def test_without_a_judged_difference_there_is_no_finding() -> None:
    assert findings_of("declared_pairs", pair_stage({("mi", "dice"): (None, None)}, 100)) == []


def test_with_a_best_measure_pairs_have_no_finding_of_their_own() -> None:
    assert findings_of("declared_pairs", compared_measures(ONE_MEASURES, TESTS_MEASURES)) == []
