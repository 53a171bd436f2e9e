"""Average precision of rankings: published value, sklearn's, chances, degenerate input."""

from __future__ import annotations

from math import nan
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from pipeline.kernels.nbest import average_precision
from pipeline.kernels.nbest.average_precision import (
    RecallBase,
    average_precision_limits,
    average_precision_to,
    average_precisions,
    inferred_average_precision,
    judged_chances,
    precision_at_recall,
)
from schemas import AveragePrecision, PrecisionAtRecall
from schemas.validate import validate

JUDGED = [True, None, False, True, None, True, False, None, False, True]


def ranking(size: int, *measures: str) -> pl.DataFrame:
    """Return ranks of c1, c2 ...; every second measure has them in reverse order."""
    ids = [f"c{place}" for place in range(1, size + 1)]
    parts = [
        pl.DataFrame(
            {"measure": name, "rank": range(1, size + 1), "id": ids[:: -1 if i % 2 else 1]}
        )
        for i, name in enumerate(measures)
    ]
    return pl.concat(parts)


def label_frame(labels: list[bool | None], pi: list[float] | None = None) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "category": "TP",
            "id": [f"c{place}" for place in range(1, len(labels) + 1)],
            "tp": labels,
        },
        schema_overrides={"tp": pl.Boolean},
    )
    return frame if pi is None else frame.with_columns(pi=pl.Series(pi, dtype=pl.Float64))


def average_precision_of(labels: list[bool | None], pi: list[float] | None = None) -> pl.DataFrame:
    judged = judged_chances(label_frame(labels, pi), candidates=len(labels))
    table = average_precisions(ranking(len(labels), "mi", "rare"), judged, confidence=0.95)
    validate([table], AveragePrecision, name="average_precision")
    return table


def test_the_table_has_the_published_value() -> None:
    row = average_precision_of(JUDGED).row(0, named=True)
    assert row["average_precision"] == pytest.approx(0.7243053, abs=5e-8)
    facts = [row[name] for name in ("n_candidates", "n_sampled", "k_sampled", "unequal")]
    assert facts == [10, 7, 4, False]
    assert row["lower"] < 0.7243 < row["upper"]


@given(st.lists(st.booleans(), min_size=1, max_size=20).filter(any))
def test_fully_judged_rankings_have_their_average_precision(labels: list[bool]) -> None:
    places = np.arange(len(labels))
    for row, order in zip(
        average_precision_of(list(labels)).rows(named=True), (-places, places), strict=True
    ):
        expected = average_precision_score(labels, order)
        values = [row[name] for name in ("average_precision", "lower", "upper")]
        assert values == pytest.approx([expected] * 3)


def test_designed_chances_are_reduced_by_the_unjudged_draws() -> None:
    chances = judged_chances(
        label_frame([True, None, False, True], [0.2, 0.4, 0.6, 1.0]), candidates=9
    )
    assert chances["pi"].to_list() == pytest.approx([0.2 * 2 / 3, None, 0.4, 1.0])
    assert average_precision_of(JUDGED, [0.7] * 10)["average_precision"].to_list() == pytest.approx(
        average_precision_of(JUDGED)["average_precision"].to_list()
    )
    assert average_precision_of(JUDGED, [0.9, *[0.7] * 9])["unequal"].all()


def test_each_category_has_its_own_chances() -> None:
    both = pl.concat([
        label_frame([True, None]),
        label_frame([True, False]).with_columns(category=pl.lit("other")),
    ])  # fmt: skip
    assert judged_chances(both, candidates=2)["pi"].to_list() == [0.5, None, 1.0, 1.0]


SIZES = [49, 98, 103, 107, 161, 1496, 4034]
"""n (1 / n) is less than 1 for these in floating point."""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("chances", ["no chances", "chances of a draw with replacement"])
def test_chances_are_one_if_all_are_judged(size: int, chances: str) -> None:
    """True positives at ranks 1 and 8: (1 + 2/8) / 2 = .625, without doubt."""
    labels = label_frame([place in {0, 7} for place in range(size)])
    if chances != "no chances":
        labels = labels.with_columns(pi=pl.lit(None, pl.Float64))
    others = labels.with_columns(category=pl.lit("other"), tp=pl.lit(value=True))
    judged = judged_chances(pl.concat([labels, others]), candidates=size)
    assert judged["pi"].unique().to_list() == [1.0]
    result = average_precisions(ranking(size, "mi"), judged, confidence=0.95)
    limits = result.select("category", "average_precision", "lower", "upper").rows()
    assert limits == [("TP", 0.625, 0.625, 0.625), ("other", 1.0, 1.0, 1.0)]


def test_draws_with_replacement_are_not_certain() -> None:
    """Two of eight were judged; the sample does not determine their chances."""
    labels = label_frame([True, None, False]).with_columns(pi=pl.lit(None, pl.Float64))
    assert judged_chances(labels, candidates=8)["pi"].to_list() == [0.25, None, 0.25]
    some = label_frame([True, False]).with_columns(pi=pl.Series([0.5, None]))
    with pytest.raises(ValueError, match="inclusion probability of 1"):
        average_precisions(ranking(2, "mi"), judged_chances(some, candidates=2), confidence=0.95)


def test_without_true_positives_there_is_no_estimate() -> None:
    for labels in ([False, None, False], [None, None, None]):
        result = average_precision_of(list(labels))
        assert result.select("average_precision", "lower", "upper").row(0) == (None, 0.0, 1.0)
    nothing = judged_chances(label_frame([]), candidates=0)
    empty = average_precisions(ranking(0, "mi"), nothing, confidence=0.95)
    assert empty.is_empty()
    assert empty.columns == list(AveragePrecision.columns())


JUDGED_INFERRED_AVERAGE_PRECISION = [1, nan, 0, 1, nan, 1, 0, nan, 0, 1]
LISTS = st.lists(st.sampled_from([1.0, 0.0, nan]), min_size=1, max_size=25)


@st.composite
def samples(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    tp = np.array(draw(LISTS))
    chances = st.lists(st.sampled_from([0.1, 0.25, 0.7, 1.0]), min_size=len(tp), max_size=len(tp))
    return tp, np.array(draw(chances))


def slow(tp: np.ndarray, pi: np.ndarray, smoothing: float) -> float:
    """Go down the list, and look at all judged candidates above."""
    sure = [p == 1.0 and not np.isnan(t) for t, p in zip(tp, pi, strict=True)]
    drawn = [p < 1.0 and not np.isnan(t) for t, p in zip(tp, pi, strict=True)]
    whole = sum(1 / p for p, d in zip(pi, drawn, strict=True) if d)
    summed = total = 0.0
    for i, label in enumerate(tp):
        if label != 1:
            continue
        above = [j for j in range(i) if drawn[j]]
        W, hits = sum(1 / pi[j] for j in above), sum(tp[j] / pi[j] for j in above)
        each = smoothing * W / len(above) if above else 0.0
        mean = (hits + each) / (W + 2 * each) if above else 0.5
        certain_above = [j for j in range(i) if sure[j]]
        precision = (1 + sum(tp[j] for j in certain_above) + (i - len(certain_above)) * mean) / (
            i + 1
        )
        weight = 1.0 if sure[i] else (len(tp) - sum(sure)) / whole / pi[i]
        summed, total = summed + weight * precision, total + weight
    return summed / total if total else nan


def test_inferred_average_precision_has_the_published_value() -> None:
    # infAP, with the authors' smoothing; and without: one and half of 3, of 4; 2/3 of 5; half of 9
    assert float(inferred_average_precision(JUDGED_INFERRED_AVERAGE_PRECISION)) == pytest.approx(
        0.7243053, abs=5e-8
    )
    assert float(
        inferred_average_precision(JUDGED_INFERRED_AVERAGE_PRECISION, smoothing=0)
    ) == pytest.approx((1 + 5 / 8 + 13 / 18 + 11 / 20) / 4, rel=1e-12)


def test_the_estimate_with_unequal_chances_agrees_with_that_by_hand() -> None:
    # rank 1 is known, rank 3 (pi 1/2) and rank 4 (1/4) were drawn: 3 candidates weigh 2 and 4
    estimate = inferred_average_precision([1, nan, 0, 1], pi=[1, 0.5, 0.5, 0.25], smoothing=0)
    above = (1 + 1 + 2 * 0) / 4  # itself, the known one, and two others of which 0 of 1 are true
    assert float(estimate) == pytest.approx((1 * 1 + 3 * 4 / 6 * above) / (1 + 3 * 4 / 6))


@given(samples(), st.sampled_from([0.0, 1e-5, 0.5]))
def test_the_estimate_agrees_with_a_walk_down_the_list(
    sample: tuple[np.ndarray, np.ndarray], smoothing: float
) -> None:
    tp, pi = sample
    estimate = float(inferred_average_precision(tp, pi=pi, smoothing=smoothing))
    assert estimate == pytest.approx(slow(tp, pi, smoothing), rel=1e-10, nan_ok=True)


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=30))
def test_limits_of_fully_judged_rankings_have_no_width(tp: list[float]) -> None:
    result = average_precision_limits(tp, pi=np.ones(len(tp)))
    if any(tp):
        expected = average_precision_score(tp, -np.arange(len(tp)))
        assert list(result) == pytest.approx([expected] * 3, rel=1e-12)
        assert float(inferred_average_precision(tp)) == pytest.approx(expected, rel=1e-12)
    else:
        assert np.isnan(result.estimate)


@given(samples())
def test_judged_candidates_alone_give_the_same_limits(
    sample: tuple[np.ndarray, np.ndarray],
) -> None:
    tp, pi = sample
    judged = ~np.isnan(tp)
    alone = average_precision_limits(
        tp[judged], pi=pi[judged], ranks=np.flatnonzero(judged) + 1, candidates=len(tp)
    )
    whole = average_precision_limits(tp, pi=pi)
    assert list(alone) == pytest.approx(list(whole), rel=1e-9, abs=1e-12, nan_ok=True)


def test_a_wrong_label_is_refused_with_its_rank() -> None:
    with pytest.raises(ValueError, match="for example at rank 7: 2; labels"):
        average_precision_limits([1, 2], pi=[0.5, 0.5], ranks=[3, 7], candidates=9)


@given(LISTS, st.floats(0.05, 0.95))
def test_a_constant_chance_gives_infap(tp: list[float], pi: float) -> None:
    if np.isnan(tp).any():
        weighted = inferred_average_precision(tp, pi=np.full(len(tp), pi))
        assert float(weighted) == pytest.approx(
            float(inferred_average_precision(tp)), rel=1e-10, nan_ok=True
        )


def test_many_rankings_are_computed_at_once() -> None:
    rankings = np.array(
        [JUDGED_INFERRED_AVERAGE_PRECISION, JUDGED_INFERRED_AVERAGE_PRECISION[::-1]]
    )
    estimates = inferred_average_precision(rankings)
    assert estimates.tolist() == [float(inferred_average_precision(row)) for row in rankings]


def scale(weights: list[float]) -> float:
    """Return the mean number of consecutive candidates that are missed."""
    return -1 / np.log1p(-sum(weights) / sum(w * w for w in weights)) if weights else nan


def slow_walk(
    tp: np.ndarray, pi: np.ndarray, true: int, below: int, count: float
) -> tuple[float, float]:
    """Go down the list with candidates below a rank that were missed; every draw weighs 1/pi."""
    size = len(tp)
    judged = [i for i in range(size) if not np.isnan(tp[i])]
    sure, drawn = (
        [i for i in judged if bool(pi[i] == 1.0) is certain_above]
        for certain_above in (True, False)
    )
    uncertain = size - len(sure)
    each = uncertain / (sum(1 / pi[i] for i in drawn) + count)
    summed = total = 0.0
    first = next(i for i in range(size + 1) if i not in sure)
    best = (1 + sum(tp[i] for i in sure if i < first)) / (first + 1) if below == 0 else 0.0
    for i in judged:
        if tp[i] == 0:
            continue
        more = count if i + 1 > below else 0.0
        W = sum(1 / pi[j] for j in drawn if j < i) + more
        hits = sum(tp[j] / pi[j] for j in drawn if j < i) + true * more
        certain_above = [j for j in sure if j < i]
        share = hits / W if W else 0.0
        precision = (1 + sum(tp[j] for j in certain_above) + (i - len(certain_above)) * share) / (
            i + 1
        )
        weight = 1.0 if i in sure else each / pi[i]
        summed, total = summed + weight * precision, total + weight
        best = max(best, precision) if i + 1 > below else best
    total += true * count * each
    best = total / size if below == size else best
    return (summed + true * count * each * best) / total


def unjudged_above(tp: np.ndarray, pi: np.ndarray, label: int, start: int) -> int:
    for i in range(start, len(tp)):
        if tp[i] == label and pi[i] < 1:
            return int(np.isnan(tp[:i]).sum())
    return int(np.isnan(tp).sum())


@given(samples(), st.sampled_from([50, 200_000]))
def test_limits_agree_with_fixed_weights_of_draws(
    sample: tuple[np.ndarray, np.ndarray], at_a_time: int
) -> None:
    tp, pi = sample
    drawn = [i for i in range(len(tp)) if not np.isnan(tp[i]) and pi[i] < 1]
    estimate = slow(tp, pi, 1e-5)
    if np.isnan(estimate) or not drawn:
        return
    weights = [1 / pi[i] for i in drawn]
    usual = scale(weights)
    runs = [(0, drawn[0], scale(weights[:10]))]
    start = next(at for at, w in enumerate(weights) if w >= usual / 2)
    if start > 0:
        runs.append((drawn[start - 1] + 1, drawn[start], usual))
    low, high = [], []
    for number in [-np.log((i + 0.5) / 4) for i in range(4)]:
        sides = [
            [
                slow_walk(tp, pi, true, below, min(number * each, unjudged_above(tp, pi, true, at)))
                for below, at, each in runs
            ]
            for true in (0, 1)
        ]
        low.append(min(*sides[0], slow_walk(tp, pi, 1, len(tp), number * usual)))
        high.append(max(sides[1]))
    expected = [min(np.quantile(low, 0.025), estimate), max(np.quantile(high, 0.975), estimate)]
    with (
        mock.patch.object(average_precision, "_MOST_NUMBERS", at_a_time),
        mock.patch.object(average_precision, "_REPLICATES_IN_A_TAIL", 0.1),
        mock.patch.object(
            average_precision, "_random_weights", lambda _, mean, __, size: np.tile(mean, (size, 1))
        ),
    ):
        result = average_precision_limits(tp, pi=pi)
    assert list(result) == pytest.approx([estimate, *expected], rel=1e-9, abs=1e-12)


@given(samples())
def test_limits_obey_the_laws(sample: tuple[np.ndarray, np.ndarray]) -> None:
    tp, pi = sample
    result = average_precision_limits(tp, pi=pi)
    assert 0 <= result.lower <= result.upper <= 1
    if not np.isnan(result.estimate):
        assert result.lower - 1e-12 <= result.estimate <= result.upper + 1e-12
        wider = average_precision_limits(tp, pi=pi, confidence=0.99)
        assert wider.lower <= result.lower + 1e-12
        assert wider.upper >= result.upper - 1e-12


K = np.arange(1000)
RANDOM = np.random.default_rng(9).random(1000)
HARD = {
    "a fifth, ever fewer": np.linspace(0.4, 0.02, 1000) > RANDOM,
    "perfect": K < 100,
    "30 false ones, then perfect": (K >= 30) & (K < 330),
    "all but one in a hundred": RANDOM > 0.01,
    "one in a hundred": RANDOM < 0.01,
    "last": K >= 900,
}


@pytest.mark.parametrize(
    ("labels", "design"),
    [
        *((labels, "simple") for labels in HARD),
        ("a fifth, ever fewer", "by rank"),
        ("perfect", "lists"),
        ("last", "lists"),
    ],
)
def test_limits_cover_the_truth(labels: str, design: str) -> None:
    """60 samples of 100: fewer than 52 with the true value have a chance of .6 % at 95 %."""
    bits, tp, draws = np.random.default_rng(9), HARD[labels] * 1.0, 100
    true = float(inferred_average_precision(tp))
    x = {
        "simple": np.ones(1000),
        "by rank": 1 / np.sqrt(K + 50.0),
        "lists": 0.05 + (K < 50) * 0.5 + (bits.random(1000) < 0.1) * 0.5,
    }[design]
    pi, covered, estimates = draws * x / x.sum(), [], []
    for _ in range(60):
        sample = np.sort(np.argsort(bits.random(1000) / pi)[:draws])
        estimate = average_precision_limits(
            tp[sample], pi=pi[sample], ranks=sample + 1, candidates=len(tp)
        )
        estimates.append(estimate.estimate)
        covered.append(estimate.lower <= true <= estimate.upper)
    assert sum(covered) >= 52
    assert np.nanmean(estimates) == pytest.approx(true, abs=0.15)


def test_degenerate_rankings_have_defined_limits() -> None:
    assert np.isnan(inferred_average_precision([0, nan, 0]))
    assert np.isnan(inferred_average_precision([]))
    assert average_precision_limits([0, nan, 0], pi=0.5)[1:] == (0.0, 1.0)
    assert average_precision_limits([1, nan], pi=[1, 0.5])[1:] == (0.0, 1.0)  # nothing drawn
    one = average_precision_limits([nan, 1], pi=0.5)  # at rank 2: precision 1/2 or 1
    assert one.lower <= 0.5
    assert one.upper == 1.0
    all_true = average_precision_limits([1, 1, nan, nan], pi=0.5)
    assert 0.0 < all_true.lower < all_true.upper == 1.0
    assert average_precision_limits([1, 1, nan, nan], pi=0.5) == all_true
    nearly_certain = average_precision_limits([1, 0, 1, nan], pi=1 - 2**-53)
    assert nearly_certain.lower <= nearly_certain.estimate <= nearly_certain.upper
    assert float(inferred_average_precision([nan, 1], smoothing=0)) == 0.75  # 1/2 above


def test_wrong_labels_and_chances_are_refused() -> None:
    with pytest.raises(ValueError, match="invalid label of 2 candidates.*rank 1, 3: 2, -1"):
        inferred_average_precision([2, 0, -1])
    with pytest.raises(ValueError, match="inclusion probability .* 1 candidate, .*rank 2: 0"):
        inferred_average_precision([1, 0, nan], pi=[1, 0, 0])
    with pytest.raises(ValueError, match="confidence"):
        average_precision_limits([1, 0], pi=1, confidence=1.0)


# Up to a recall, and at a recall, of all positives.


def places(labels: list[bool]) -> list[int]:
    return [rank for rank, true in enumerate(labels, 1) if true]


@given(
    st.lists(st.booleans(), min_size=1, max_size=30),
    st.sampled_from([0.1, 0.25, 0.5, 0.7, 1.0]),
    st.integers(0, 9),
)
def test_precision_up_to_a_recall_agrees_with_a_slow_twin(
    labels: list[bool], recall: float, further: int
) -> None:
    """The list grows by one until it reaches the recall, or the ranking ends."""
    positives = sum(labels) + further
    estimate = average_precision_to(places(labels), positives=positives, recall=recall)
    if not positives:
        assert np.isnan(estimate)
        return
    precisions, missing = [], 0
    true = 0
    for n, label in enumerate(labels, 1):
        if true / positives >= recall:
            break
        true += label
        if label:
            precisions.append(true / n)
    while (true + missing) / positives < recall:
        missing += 1
    assert estimate == pytest.approx(sum(precisions) / (len(precisions) + missing))


@given(st.lists(st.booleans(), min_size=1, max_size=60).filter(any))
def test_up_to_full_recall_the_value_is_average_precision(labels: list[bool]) -> None:
    scores = [-rank for rank in range(len(labels))]
    estimate = average_precision_to(places(labels), positives=sum(labels))
    assert estimate == pytest.approx(average_precision_score(labels, scores))
    assert estimate == pytest.approx(float(inferred_average_precision([*map(float, labels)])))


def test_the_base_may_have_more_positives_than_are_ranked() -> None:
    judged = judged_chances(label_frame([True, False, True, False]), candidates=4)
    base = RecallBase("gold", {"TP": 10})
    ranks = ranking(4, "mi", "rare")
    result = average_precisions(ranks, judged, confidence=0.95, recall=0.5, base=base)
    validate([result], AveragePrecision, name="average_precision")
    assert result.select("average_precision", "lower", "base", "positives").rows() == [
        (pytest.approx((1 + 2 / 3) / 5),) * 2 + ("gold", 10),
        (pytest.approx((1 / 2 + 2 / 4) / 5),) * 2 + ("gold", 10),
    ]
    at = precision_at_recall(ranks, judged, recalls=[0.2, 0.1, 0.3], base=base)
    validate([at], PrecisionAtRecall, name="at_recall")
    assert at.filter(measure="mi").select("recall", "k", "n", "precision").rows() == [
        (0.1, 1, 1, 1.0), (0.2, 2, 3, pytest.approx(2 / 3)), (0.3, 3, None, None),
    ]  # fmt: skip


def test_a_ranking_without_true_positives_has_no_value() -> None:
    judged = judged_chances(label_frame([False, False]), candidates=2)
    for base, expected in ((None, (None, 0.0, 1.0)), (RecallBase("gold", {"TP": 3}), (0.0,) * 3)):
        row = average_precisions(ranking(2, "mi"), judged, confidence=0.95, recall=0.5, base=base)
        assert row.select("average_precision", "lower", "upper").row(0) == expected
    at = precision_at_recall(ranking(2, "mi"), judged, recalls=[0.5], base=RecallBase())
    assert at.is_empty()


def test_estimated_positives_are_unknown() -> None:
    assert average_precision_of(JUDGED)["positives"].to_list() == [None, None]
    assert average_precision_of([True, False, True])["positives"].to_list() == [2, 2]
