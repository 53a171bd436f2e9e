"""Plans of samples: the strata are those of the lists, and their rates are optimal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from pipeline.kernels.nbest.ranking import strata_by_rank
from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.survey.allocation import Sets, build_estimands, question_sets, question_sums
from pipeline.kernels.survey.design import (
    declared_questions,
    expected_half_widths,
    inclusion,
    sizes_of_questions,
)
from pipeline.kernels.survey.limits import difference_limits, limits
from pipeline.kernels.survey.planning import (
    PLANS,
    ExpectedSpread,
    InterimAnalyses,
    Spreads,
    Target,
    design_expectations,
    explained_variance,
    last_levels,
    least_labels,
    planned_labels,
    set_precisions,
    size_measures,
    spreads,
    spreads_by_size,
    strata_of,
)
from pipeline.kernels.survey.study import build_study
from tests.kernels.survey.slow import estimate_set, sequential_poisson, sets_of

COUNT = 60
RANKS = {"x": list(range(1, COUNT + 1)), "y": [*range(21, COUNT + 1), *range(1, 21)]}
AT = [5, 20, 40]
SETS = sets_of(RANKS, [("x", "y")], AT)
QUESTIONS = 10
ONES = np.ones(QUESTIONS)


def test_all_plans_have_size_measures() -> None:
    result = size_measures(SETS, ONES, floor=0.05, baseline_width=1.25)
    assert tuple(result) == PLANS
    assert set(result["simple"]) == {1.0}
    assert result["assisted"] is result["designed"]
    for x in result.values():
        assert x.shape == (COUNT,)
        assert (x > 0).all()


@pytest.mark.parametrize(("name", "n", "measures"), [
    ("x at 5", 5, "x"), ("y at 20", 20, "y"), ("baseline", COUNT, "x"), ("x - y at 20", 20, "xy"),
])  # fmt: skip
def test_only_relevant_candidates_and_measures_have_a_size(
    name: str, n: int, measures: str
) -> None:
    """For differences, candidates in one list only; strata use the measures in question."""
    listed = declared_questions(
        measures=["x", "y"], pairs=[("x", "y")], at=AT, candidates=COUNT, weights={}
    )
    weights = (listed["question"] == name).cast(pl.Float64).to_numpy()
    result = size_measures(SETS, weights, floor=0.0, baseline_width=1.25)
    ranks = np.array([RANKS[measure] for measure in measures])
    inside = (ranks <= n).sum(axis=0) == 1
    assert result["pooled"].tolist() == inside.astype(float).tolist()
    np.testing.assert_allclose(result["designed"] / result["designed"].max(), inside)
    stratum = np.searchsorted(AT, ranks.min(axis=0))
    for place in np.unique(stratum):
        own = stratum == place
        expected_x = np.sqrt((result["designed"][own] ** 2).mean())
        np.testing.assert_allclose(result["stratified"][own], expected_x)


def test_strata_of_plans_are_those_of_the_stage() -> None:
    rows = [(m, f"c{i:03}", rank) for m, ranks in RANKS.items() for i, rank in enumerate(ranks)]
    ranks = pl.DataFrame(rows, schema=["measure", "id", "rank"], orient="row")
    strata = strata_by_rank(ranks, measures=["x", "y"], boundaries=AT)
    labels = strata.sort("id").collect()["stratum"]
    place = {name: at for at, name in enumerate(labels.unique().sort())}
    present = np.unique(strata_of(SETS))
    assert [present[place[name]] for name in labels] == strata_of(SETS).tolist()


@given(
    weights=st.lists(st.floats(0.1, 10.0), min_size=QUESTIONS, max_size=QUESTIONS),
    change=st.lists(st.floats(0.5, 2.0), min_size=4, max_size=4),
)
def test_rates_of_strata_minimise_the_loss(weights: list[float], change: list[float]) -> None:
    declared = np.array(weights)
    estimands = build_estimands(SETS, p=np.full(COUNT, 0.5), judged=np.zeros(COUNT, dtype=bool))
    _, used, whole = sizes_of_questions(estimands, declared, floor=0.0, baseline_width=1.25)

    def loss(x: np.ndarray) -> float:
        rate = x * 10 / x.sum()  # no certainties: the same total of labels
        return float((used * question_sums(estimands, 1 / rate) / whole).sum())

    x = size_measures(SETS, declared, floor=0.0, baseline_width=1.25)["stratified"]
    assert loss(x) <= loss(x * np.array(change)[strata_of(SETS)]) * (1 + 1e-9)


def test_a_list_of_all_candidates_gives_a_simple_sample() -> None:
    alone: Sets = sets_of({"x": list(range(1, 9))}, [], [8])
    result = size_measures(alone, np.ones(2), floor=0.0, baseline_width=1.25)
    for x in result.values():
        np.testing.assert_allclose(x, x[0])


def test_a_baseline_width_below_1_is_refused() -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        size_measures(SETS, ONES, floor=0.05, baseline_width=0.9)


# Expected spreads against a slow twin, known formulas, and samples.

RANKS_EXPECTED = {"x": [1, 2, 3, 4, 5, 6], "y": [6, 5, 1, 2, 3, 4]}
PAIRS, AT_EXPECTED = [("x", "y")], [2, 4]
MEMBERS = [
    {0, 1}, {0, 1, 2, 3}, {2, 3}, {2, 3, 4, 5}, {0, 1}, {0, 1}, {2, 3}, {4, 5}, set(range(6)),
]  # fmt: skip
"""The sets by hand: lists of x, of y, x without y, y without x, all."""
QUESTIONS_EXPECTED = [
    [(0, 2)],
    [(1, 4)],
    [(2, 2)],
    [(3, 4)],
    [(4, 2), (6, 2)],
    [(5, 4), (7, 4)],
    [(8, 6)],
]
"""Of each question its sets, with the n of its lists."""


def slow(
    p: list[float], precision: list[float], rho2: list[float], pi: list[float], *, assisted: bool
) -> list[tuple[float, float]]:
    """Return variance and weight of a further draw, question by question."""
    result = []
    for sides in QUESTIONS_EXPECTED:
        total = joint = 0.0
        for place, n in sides:
            members = sorted(MEMBERS[place])
            mean = sum(p[i] for i in members) / len(members)
            v = [max(p[i] * (1 - p[i]), 0.01) + (p[i] - mean) ** 2 for i in members]
            noise = max(precision[place] * (1 - precision[place]), 0.01)
            scale = noise * len(members) / sum(v)
            open_ = [i for i in members if pi[i] < 1]
            draws, varying = sum(pi[i] for i in open_), sum(pi[i] * (1 - pi[i]) for i in open_)
            unexplained = sum(
                each * (1 - pi[i]) / pi[i] for each, i in zip(v, members, strict=True)
            )
            plain = scale * unexplained / len(members) ** 2
            plain *= 1 + 0.75 * varying / draws**2 if open_ else 1
            draw = plain / (noise * len(open_) / len(members)) if open_ else 0.0
            chance = norm.cdf((draws - 29.5) / math.sqrt(varying)) if open_ else 0.0
            used = rho2[place] * chance if assisted else 0.0
            variance = plain * (1 - used) + used * draw**2
            share = len(members) / n
            total += share**2 * variance
            joint += share**2 * math.sqrt(variance) * draw / 2
        result.append((total, joint / math.sqrt(total) if total else 0.0))
    return result


unit = st.floats(0.0, 1.0)


@given(
    p=st.lists(unit, min_size=6, max_size=6),
    precision=st.lists(unit, min_size=9, max_size=9),
    rho2=st.lists(unit, min_size=9, max_size=9),
    pi=st.lists(st.sampled_from([0.05, 0.3, 0.7, 1.0]), min_size=6, max_size=6),
    assisted=st.booleans(),
)
def test_expected_spreads_agree_with_a_slow_twin(
    p: list[float], precision: list[float], rho2: list[float], pi: list[float], *, assisted: bool
) -> None:
    expectations = design_expectations(
        sets_of(RANKS_EXPECTED, PAIRS, AT_EXPECTED), p=np.array(p), precision=np.array(precision),
        rho2=np.array(rho2),
    )  # fmt: skip
    result = spreads(expectations, np.array(pi), assisted=assisted)
    twin = slow(p, precision, rho2, pi, assisted=assisted)
    np.testing.assert_allclose(result.variance, [one for one, _ in twin], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(result.further, [two for _, two in twin], rtol=1e-8, atol=1e-12)


COUNT_EXPECTED = 400
LONG = {
    "x": list(range(1, COUNT_EXPECTED + 1)),
    "y": [*range(101, COUNT_EXPECTED + 1), *range(1, 101)],
}
SETS_EXPECTED = sets_of(LONG, [("x", "y")], [100, 200])


def known_of(p: FloatArray, rho2: float = 0.0, **more: Any) -> Any:
    precision = more.get("precision", np.full(SETS_EXPECTED.count, float(p.mean())))
    return design_expectations(
        SETS_EXPECTED, p=p, precision=precision, rho2=np.full(SETS_EXPECTED.count, rho2)
    )


def test_normal_spreads_are_those_of_the_design() -> None:
    pi = np.random.default_rng(1).uniform(0.2, 1.0, COUNT_EXPECTED)
    expectations = known_of(np.full(COUNT_EXPECTED, 0.3))
    normal = expected_half_widths(expectations.estimands, pi, confidence=0.95) / norm.ppf(0.975)
    result = spreads(expectations, pi, assisted=False)
    ratio = np.sqrt(result.variance) / normal
    assert ((ratio > 1.0) & (ratio < 1.02)).all()  # the number of draws in a set varies


def test_complete_draws_have_no_spread_and_missing_draws_a_huge_one() -> None:
    expectations = known_of(np.full(COUNT_EXPECTED, 0.3))
    everything = spreads(expectations, np.ones(COUNT_EXPECTED), assisted=True)
    assert not everything.variance.any()
    assert not everything.further.any()
    nobody = spreads(
        expectations, np.where(np.arange(COUNT_EXPECTED) < 390, 0.5, 0.0), assisted=False
    )
    assert nobody.variance[-1] > 1e3
    assert nobody.variance[0] < 1.0


def test_predictions_reduce_spreads_from_thirty_draws_on() -> None:
    expectations = known_of(np.full(COUNT_EXPECTED, 0.3), rho2=0.3)
    many = [
        spreads(expectations, np.full(COUNT_EXPECTED, 0.5), assisted=each).variance
        for each in (True, False)
    ]
    assert many[0][0] / many[1][0] == pytest.approx(0.7, abs=0.02)
    few = [
        spreads(expectations, np.full(COUNT_EXPECTED, 0.1), assisted=each).variance
        for each in (True, False)
    ]
    assert few[0][0] == pytest.approx(few[1][0], rel=1e-6)
    assert few[0][-1] < 0.8 * few[1][-1]


def test_spreads_are_cached_by_size() -> None:
    at = spreads_by_size(
        known_of(np.full(COUNT_EXPECTED, 0.3)), np.ones(COUNT_EXPECTED), assisted=False
    )
    assert at(40) is at(40)
    assert (at(80).variance < at(40).variance).all()


@pytest.mark.parametrize("plan", ["simple", "designed", "assisted"])
@pytest.mark.parametrize("size", [100, 200])
def test_planned_half_widths_agree_with_samples(plan: str, size: int) -> None:
    """Within a tenth, where sets have 15 draws or more: the largest is 5 % off.

    With predictions within an eighth: limits of nearly complete sets are wider than planned.
    """
    bits = np.random.default_rng(7)
    p = 0.15 + 0.4 * np.exp(-np.arange(COUNT_EXPECTED) / 100)
    y = (bits.random(COUNT_EXPECTED) < p).astype(float)
    inside = [np.array(LONG[m]) <= n for m in ("x", "y") for n in (100, 200)]
    sides = [(inside[i] & ~inside[i + 2], inside[i + 2] & ~inside[i]) for i in (0, 1)]
    every = np.ones(COUNT_EXPECTED, dtype=bool)
    sets = [*inside, *(s[0] for s in sides), *(s[1] for s in sides), every]
    noise = bits.normal(0.0, 0.35, COUNT_EXPECTED)
    guess = np.clip(0.3 + 0.4 * (y - 0.3) + noise, 0.0, 1.0)
    helped = plan == "assisted"
    rho2 = np.array([np.corrcoef(y[s], guess[s])[0, 1] ** 2 for s in sets])
    expectations = design_expectations(
        SETS_EXPECTED, p=p, precision=np.array([y[s].mean() for s in sets]), rho2=rho2
    )
    x = size_measures(SETS_EXPECTED, np.ones(7), floor=0.05, baseline_width=1.25)[plan]
    pi = inclusion(x, size=size)
    samples = sequential_poisson(pi, 400, seed=size)
    estimates = [
        estimate_set(s, y, pi, samples, prediction=guess if helped else None) for s in sets
    ]
    widths = [np.subtract(*limits(each, confidence=0.95)[::-1]).mean() / 2 for each in estimates]
    both = [difference_limits(estimates[4 + i], estimates[6 + i], confidence=0.95) for i in (0, 1)]
    scales = [s[0].sum() / n for s, n in zip(sides, (100, 200), strict=True)]
    apart = [k * np.subtract(*b[::-1]).mean() / 2 for k, b in zip(scales, both, strict=True)]
    actual = np.array([*widths[:4], *apart, widths[-1]])
    target = Target(np.full(7, 0.05), alpha=0.05)
    at = spreads_by_size(expectations, x, assisted=helped)(size)
    planned = target.value_at(at, np.full(7, 0.05))
    draws = np.array([pi[s].sum() for s in sets])
    enough = np.append(np.minimum(draws, np.inf)[:4] >= 15, [*(draws[4:6] >= 15), True])
    assert enough.sum() >= 6
    np.testing.assert_allclose(planned[enough] / actual[enough], 1.0, atol=0.125 if helped else 0.1)


# The fewest labels, against linear search and closed formulas; looks against published bounds.

FOUR = InterimAnalyses((0.25, 0.5, 0.75, 1.0))
Z = float(norm.ppf(0.975))


@given(first=st.lists(st.integers(1, 40), min_size=1, max_size=6), most=st.integers(1, 35))
def test_the_fewest_labels_agree_with_a_linear_search(first: list[int], most: int) -> None:
    sizes = []

    def enough(size: int) -> BoolArray:
        sizes.append(size)
        return size >= np.array(first)

    assert least_labels(enough, most=most).tolist() == [min(each, most + 1) for each in first]
    assert len(sizes) <= 1 + len(first) * math.ceil(math.log2(most + 1))


def simple(v: float, candidates: int, n: int, further: float = 0.0) -> Spreads:
    """Return the spread of one list's precision in a simple sample, by size."""

    def at(size: int) -> ExpectedSpread:
        return ExpectedSpread(
            np.array([v * (candidates - size) / size / n]), np.array([further / size])
        )

    return at


@pytest.mark.parametrize("w", [0.02, 0.05, 0.2])
def test_labels_for_a_half_width_follow_the_formula(w: float) -> None:
    """V (1 - f) / f <= (w / z)^2: f >= V / (V + (w / z)^2), V = v / n."""
    labels, levels = planned_labels(
        simple(0.21, 5000, 500), Target(np.array([w]), alpha=0.05), most=5000
    )
    whole = 0.21 / 500
    assert labels.tolist() == [math.ceil(5000 * whole / (whole + (w / Z) ** 2))]
    assert levels.tolist() == [0.05]


def test_labels_for_power_follow_the_formula() -> None:
    """V <= (d / (z + z_power))^2."""
    target = Target(np.array([0.05]), alpha=0.05, power=0.8)
    labels, _ = planned_labels(simple(0.4, 5000, 500), target, most=5000)
    whole, goal = 0.4 / 500, (0.05 / (Z + norm.ppf(0.8))) ** 2
    assert labels.tolist() == [math.ceil(5000 * whole / (whole + goal))]
    reached = target.value_at(simple(0.4, 5000, 500)(int(labels[0])), np.array([0.05]))
    assert 0.8 <= reached[0] < 0.801


def test_unreachable_targets_need_more_than_all_labels() -> None:
    at = simple(0.25, 100, 50)
    for reach in (0.0, float("nan")):
        target = Target(np.array([reach]), alpha=0.05, power=0.8)
        assert planned_labels(at, target, most=100)[0].tolist() == [101]
        assert planned_labels(at, target, most=100, looks=FOUR)[0].tolist() == [101]
    exact = Target(np.array([1e-9]), alpha=0.05)
    assert planned_labels(at, exact, most=100)[0].tolist() == [100]


def test_a_further_draw_widens_intervals_and_lowers_power() -> None:
    wide = Target(np.array([0.1]), alpha=0.05)
    spread = ExpectedSpread(np.array([0.0004]), np.array([0.01]))
    assert wide.value_at(spread, np.array([0.05]))[0] == pytest.approx(0.02 * Z + 0.01)
    power = Target(np.array([0.1]), alpha=0.05, power=0.8)
    assert power.value_at(spread, np.array([0.05]))[0] == pytest.approx(norm.cdf(0.09 / 0.02 - Z))


def test_levels_of_four_looks_are_the_published_ones() -> None:
    """O'Brien and Fleming's function at four equal looks ends at z = 2.014, Pocock's at 2.350."""
    at = simple(0.25, 10**9, 10**8)
    for spending, z in (("obrien_fleming", 2.014), ("pocock", 2.350)):
        looks = InterimAnalyses(FOUR.shares, spending)
        level = last_levels(at, np.array([400]), alpha=0.05, looks=looks, most=10**9)
        assert norm.isf(level[0] / 2) == pytest.approx(z, abs=0.002)


def test_looks_need_more_labels_and_meet_the_target() -> None:
    at, target = simple(0.25, 5000, 500, further=0.5), Target(np.array([0.05]), alpha=0.05)
    once, _ = planned_labels(at, target, most=5000)
    for spending in ("obrien_fleming", "pocock"):
        looks = InterimAnalyses(FOUR.shares, spending)
        labels, levels = planned_labels(at, target, most=5000, looks=looks)
        assert labels[0] > once[0]
        assert target.is_met(at(int(labels[0])), levels).all()
        own = last_levels(at, labels, alpha=0.05, looks=looks, most=5000)
        np.testing.assert_allclose(levels, own, rtol=1e-3)


def test_a_complete_last_look_is_not_in_the_plan() -> None:
    at = simple(0.25, 100, 50)
    assert last_levels(at, np.array([100]), alpha=0.05, looks=FOUR, most=100).tolist() == [0.05]


# Estimates from a pilot: precisions of sets by hand, correlations, small pilots.

COUNT_PILOT = 120
IDS = pl.Series([f"c{i:03}" for i in range(COUNT_PILOT)])
VECTORS = {"x": np.arange(1, COUNT_PILOT + 1), "y": np.arange(COUNT_PILOT, 0, -1)}
PAIRS_PILOT = [("x", "y")]
SETS_PILOT = question_sets(IDS, VECTORS, pairs=PAIRS_PILOT, n=np.array([20, 80]))
Y = np.random.default_rng(3).random(COUNT_PILOT) < 0.4
MEMBERS_PILOT = [
    VECTORS["x"] <= 20, VECTORS["x"] <= 80, VECTORS["y"] <= 20, VECTORS["y"] <= 80,
    VECTORS["x"] <= 20, (VECTORS["x"] <= 80) & (VECTORS["y"] > 80),
    VECTORS["y"] <= 20, (VECTORS["y"] <= 80) & (VECTORS["x"] > 80), np.ones(COUNT_PILOT, dtype=bool),
]  # fmt: skip


def ranks() -> pl.DataFrame:
    rows = [(m, name, int(r)) for m, v in VECTORS.items() for name, r in zip(IDS, v, strict=True)]
    return pl.DataFrame(rows, schema=["measure", "id", "rank"], orient="row")


def precisions(places: np.ndarray, pi: float) -> np.ndarray:
    draws = pl.DataFrame({"id": IDS.gather(places), "tp": Y[places], "pi": pi})
    return set_precisions(
        build_study(ranks(), draws), SETS_PILOT, measures=["x", "y"], pairs=PAIRS_PILOT
    )


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_precisions_of_a_pilot_agree_with_those_by_hand(share: float) -> None:
    places = np.arange(0, COUNT_PILOT, round(1 / share))
    result = precisions(places, share)
    is_drawn = np.isin(np.arange(COUNT_PILOT), places)
    base = (Y[is_drawn].sum() + 0.5) / (is_drawn.sum() + 1)
    for value, members in zip(result[:-1], MEMBERS_PILOT[:-1], strict=True):
        here = members & is_drawn
        assert value == pytest.approx((Y[here].sum() + base) / (here.sum() + 1))
    assert result[-1] == pytest.approx(base)


def test_sets_without_draws_have_the_overall_precision() -> None:
    result = precisions(np.arange(30, 90, 2), 0.25)
    assert result[0] == result[-1]
    assert result[2] == result[-1]
    assert ((result > 0) & (result < 1)).all()


def test_explained_variance_is_the_squared_correlation() -> None:
    bits = np.random.default_rng(4)
    y = Y.astype(float)
    guess = np.clip(0.4 + 0.5 * (y - 0.4) + bits.normal(0, 0.2, COUNT_PILOT), 0, 1)
    weight = bits.integers(1, 4, COUNT_PILOT).astype(float)
    explained = explained_variance(SETS_PILOT, y, guess, weight)
    own, counts = [], []
    for members in MEMBERS_PILOT:
        w, n = weight[members], members.sum()
        cov = np.cov(y[members], guess[members], aweights=w, ddof=0)
        r2 = cov[0, 1] ** 2 / cov[0, 0] / cov[1, 1]
        own.append(max(0.0, 1 - (1 - r2) * (n - 1) / (n - 2)) if n >= 30 else 0.0)
        counts.append(n if n >= 30 else 0)
    shared = np.average(own, weights=counts)
    twin = (np.array(counts) * own + 100 * shared) / (np.array(counts) + 100)
    np.testing.assert_allclose(explained, twin, rtol=1e-9)
    assert explained[0] == pytest.approx(shared)
    assert 0.3 < shared < 0.9


def test_uninformative_predictions_explain_no_variance() -> None:
    y = Y.astype(float)
    assert not explained_variance(
        SETS_PILOT, y, np.full(COUNT_PILOT, 0.3), np.ones(COUNT_PILOT)
    ).any()
    assert not explained_variance(
        SETS_PILOT, y, 1 - y, np.ones(COUNT_PILOT)
    ).any()  # misleading predictions have no weight
    few = np.where(np.arange(COUNT_PILOT) < 29, 1.0, 0.0)
    assert not explained_variance(SETS_PILOT, y, y, few).any()
