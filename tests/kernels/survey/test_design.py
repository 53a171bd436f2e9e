"""The cost of shared work, and designs that allow for it."""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.sampling import without_replacement
from pipeline.kernels.survey.allocation import (
    build_estimands,
    question_sums,
    raise_to_floor,
    size_measure,
)
from pipeline.kernels.survey.design import (
    Design,
    LabellingCost,
    cost_adjusted_sizes,
    declared_questions,
    design_sample,
    expected_cost,
    expected_half_widths,
    groups_met,
    growing_sample,
    inclusion,
    permanent_numbers,
    sequential_poisson,
    simple_half_widths,
)
from schemas import DesignedSample, Inclusion, Questions
from tests.kernels.nbest.rank_frames import krenn
from tests.kernels.survey.slow import sets_of
from tests.stages.run_stage import run_stage
from tests.valid import valid


def random_population(
    seed: int, size: int = 400, groups: int = 60
) -> tuple[np.ndarray, np.ndarray]:
    bits = np.random.default_rng(seed)
    share = 1 / np.arange(1, groups + 1)
    return bits.gamma(1.0, size=size) + 0.05, bits.choice(groups, size, p=share / share.sum())


def test_expected_costs_agree_with_many_samples() -> None:
    x, group = random_population(1)
    pi, bits = inclusion(x, size=60), np.random.default_rng(2)
    samples = bits.random((4000, len(x))) < pi
    counts = [len(np.unique(group[row])) for row in samples]
    assert groups_met(pi, group) == pytest.approx(np.mean(counts), rel=0.01)
    costs = [4.0 * m + row.sum() for m, row in zip(counts, samples, strict=True)]
    assert expected_cost(pi, LabellingCost(group, 5.0, 1.0)) == pytest.approx(
        np.mean(costs), rel=0.01
    )


def variance(x: np.ndarray, pi: np.ndarray) -> float:
    return float((x**2 * (1 - pi) / pi).sum())


@pytest.mark.long
@given(st.integers(0, 1000), st.sampled_from([2.0, 5.0, 20.0]), st.integers(20, 120))
def test_at_equal_cost_the_variance_is_smaller(seed: int, first: float, size: int) -> None:
    x, group = random_population(seed)
    work = LabellingCost(group, first, 1.0)
    plain = inclusion(x, size=size)
    budget = expected_cost(plain, work)

    def cost(m: int) -> float:  # more draws cost more
        return expected_cost(inclusion(cost_adjusted_sizes(x, work, size=m), size=m), work)

    sizes = range(size, len(x))
    most = sizes[bisect.bisect_right(sizes, budget, key=cost) - 1]
    assert cost(most) <= budget
    minded = inclusion(cost_adjusted_sizes(x, work, size=most), size=most)
    rounding = 1 + 1.5 / size  # of the budget to whole draws
    assert variance(x, minded) <= rounding * variance(x, plain)


def test_the_design_meets_the_condition_of_the_optimum() -> None:
    """At the optimum, x^2 / pi^2 is in proportion to the cost."""
    x, group = random_population(3)
    work = LabellingCost(group, 5.0, 1.0)
    pi = inclusion(cost_adjusted_sizes(x, work, size=40), size=40)
    free = pi < 1
    step, base = 1e-6, expected_cost(pi, work)
    gains = []
    for place in np.flatnonzero(free)[:50]:
        more = pi.copy()
        more[place] += step
        price = (expected_cost(more, work) - base) / step
        gains.append(x[place] ** 2 / pi[place] ** 2 / price)
    assert max(gains) / min(gains) == pytest.approx(1.0, abs=1e-3)


def test_equal_costs_change_nothing_and_wrong_ones_are_refused() -> None:
    x, group = random_population(4)
    assert cost_adjusted_sizes(x, LabellingCost(group, 3.0, 3.0), size=30) == pytest.approx(
        x / np.sqrt(3.0)
    )
    for first, further in ((1.0, 2.0), (1.0, 0.0), (-1.0, -2.0)):
        with pytest.raises(ValueError, match="first >= further > 0"):
            cost_adjusted_sizes(x, LabellingCost(group, first, further), size=30)


def test_costs_without_draws_are_zero() -> None:
    work = LabellingCost(np.zeros(3, dtype=np.int64), 5.0, 1.0)
    assert cost_adjusted_sizes(np.zeros(3), work, size=0).tolist() == [0.0, 0.0, 0.0]
    assert expected_cost(np.zeros(0), LabellingCost(np.zeros(0, dtype=np.int64), 5.0, 1.0)) == 0.0


# Designed samples of a population: consistency of the three tables.

COUNT = 300
RANKS = {"x": list(range(1, COUNT + 1)), "y": [*range(51, COUNT + 1), *range(1, 51)]}
PAIRS, AT = [("x", "y")], [20, 50]
NOBODY = np.zeros(COUNT, dtype=bool)


def design(judged: np.ndarray = NOBODY, **options: Any) -> Design:
    """Design and draw 60 of 300, and check the tables."""
    weights = options.pop("weights", {})
    estimands = build_estimands(sets_of(RANKS, PAIRS, AT), p=np.full(COUNT, 0.5), judged=judged)
    listed = declared_questions(
        measures=["x", "y"], pairs=PAIRS, at=AT, candidates=COUNT, weights=weights
    )
    usual: dict[str, Any] = {
        "sizes": [60],
        "floor": 0.05,
        "baseline_width": 1.25,
        "confidence": 0.95,
        "seed": "s",
    }
    samples = design_sample(estimands, listed, **(usual | options))
    for table, schema in zip(
        (samples.sample, samples.inclusion, samples.questions),
        (DesignedSample, Inclusion, Questions),
        strict=True,
    ):
        valid(table, schema)
    return samples


def test_sample_and_chances_agree() -> None:
    tables = design()
    assert tables.sample.height == 60
    assert tables.inclusion["pi"].sum() == pytest.approx(60)
    joined = tables.sample.join(tables.inclusion, on="id")
    assert joined["pi"].equals(joined["pi_right"], check_names=False)
    keys = tables.sample.filter(~pl.col("certain"))["order_key"]
    assert keys.is_sorted()


def test_questions_have_most_draws_and_the_rest_its_floor() -> None:
    tables = design(weights={"baseline": 0.0}, floor=0.1)
    pi = tables.inclusion["pi"].to_numpy()
    listed = np.array(RANKS["x"]) <= 50
    listed |= np.array(RANKS["y"]) <= 50
    assert pi[~listed] == pytest.approx(0.1 * 60 / COUNT)
    assert tables.questions["worse"].any() is False
    assert (tables.questions["half_width"] >= tables.questions["unfloored_half_width"]).all()
    assert "baseline" not in tables.questions["question"]
    assert design(weights={"baseline": 0.0}, floor=0.0).inclusion["pi"].min() == 0.0


def test_the_baseline_is_reported_as_wider_within_its_limit() -> None:
    tables = design(sizes=[6], baseline_width=1.1)
    worse = tables.questions.filter("worse")
    assert worse["question"].to_list() == ["baseline"]
    wider = worse["half_width"] / worse["simple_half_width"]
    assert wider.item() == pytest.approx(1.1, abs=0.005)


def test_a_baseline_width_of_1_gives_a_simple_sample() -> None:
    only = {"difference": 0.0, "precision": 0.0}
    tables = design(weights=only, baseline_width=1.0)
    simple = without_replacement(tables.inclusion, size=60, seed="s")
    assert tables.sample["id"].to_list() == simple["id"].to_list()
    assert tables.sample["pi"].to_list() == pytest.approx([0.2] * 60)
    with pytest.raises(ValueError, match="must be at least 1"):
        design(baseline_width=0.9)


def test_larger_samples_contain_the_smaller_ones() -> None:
    small, large = design(), design(sizes=[60, 90])
    assert large.sample["id"].head(60).to_list() == small.sample["id"].to_list()
    assert large.inclusion["size_measure"].equals(small.inclusion["size_measure"])
    assert (large.questions["half_width"] < small.questions["half_width"]).all()


def test_judged_candidates_are_certain_and_not_drawn() -> None:
    judged = np.array(RANKS["x"]) <= 50
    tables = design(judged)
    judged_rows = tables.sample.filter(pl.col("position") <= 50)
    assert judged_rows["certain"].all()
    assert tables.sample.height == 110
    answered = tables.questions.filter(pl.col("question").str.starts_with("x at"))
    assert answered["half_width"].to_list() == [0.0, 0.0]
    assert answered["simple_half_width"].to_list() == [0.0, 0.0]
    assert answered["expected_draws"].to_list() == [0.0, 0.0]
    everyone = design(np.ones(COUNT, dtype=bool))
    assert everyone.sample.height == COUNT
    assert everyone.questions["half_width"].sum() == 0.0


def test_samples_of_all_candidates_are_complete() -> None:
    tables = design(sizes=[900])
    assert tables.inclusion["certain"].all()
    assert tables.questions["half_width"].sum() == 0.0
    assert tables.questions["worse"].any() is False


def test_without_lists_the_baseline_is_designed_for() -> None:
    estimands = build_estimands(sets_of(RANKS, [], []), p=np.full(COUNT, 0.5), judged=NOBODY)
    listed = declared_questions(measures=[], pairs=[], at=[], candidates=COUNT, weights={})
    tables = design_sample(
        estimands, listed, sizes=[30], floor=0.05, baseline_width=1.0, confidence=0.95, seed="s"
    )
    assert tables.inclusion["pi"].to_list() == pytest.approx([0.1] * COUNT)


def test_the_design_for_krenns_data_reduces_variances() -> None:
    """Four measures at four cuts, 500 labels: the shortest lists gain most."""
    ranks, _ = krenn()
    tables = run_stage("sample.design", {"size": 500, "seed": "s", "baseline": False}, ranks=ranks)
    questions = tables["questions"].with_columns(
        gain=(pl.col("simple_half_width") / pl.col("half_width")) ** 2
    )
    assert questions["worse"].any() is False
    assert questions["gain"].median() > 2.0
    assert questions.filter(n=100)["gain"].median() > 4.0


@given(st.data())
def test_tables_of_any_questions_are_valid(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    ranks = {m: data.draw(st.permutations(range(1, count + 1))) for m in "xy"}
    at = sorted(data.draw(st.sets(st.integers(1, count), max_size=3)))
    p = np.array(data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)))
    judged = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    sizes = sorted(data.draw(st.sets(st.integers(1, 15), min_size=1, max_size=2)))
    estimands = build_estimands(
        sets_of(ranks, PAIRS, at), p=p, judged=judged, assisted=data.draw(st.booleans())
    )
    listed = declared_questions(
        measures=["x", "y"], pairs=PAIRS, at=at, candidates=count,
        weights={"baseline": data.draw(st.sampled_from([0.5, 1.0]))},
    )  # fmt: skip
    tables = design_sample(
        estimands, listed, sizes=sizes, floor=data.draw(st.sampled_from([0.0, 0.3])),
        baseline_width=data.draw(st.sampled_from([1.0, 1.25, 3.0])), confidence=0.95, seed="s",
    )  # fmt: skip
    unjudged = int((~judged).sum())
    assert tables.inclusion["pi"].sum() == pytest.approx(judged.sum() + min(sizes[-1], unjudged))
    assert tables.sample.height >= judged.sum() + min(sizes[-1], unjudged)
    valid(tables.sample, DesignedSample)
    valid(tables.inclusion, Inclusion)
    valid(tables.questions, Questions)
    assert tables.questions["half_width"].is_finite().all()
    about_some = tables.questions.filter(pl.col("n") < count)
    assert (about_some["expected_draws"] <= count).all()


# Sequential Poisson samples: chances by simulation, nesting, unions, fresh numbers.

IDS = pl.Series([f"x{i:03}" for i in range(400)])
SKEWED = np.concatenate([np.full(100, 6.0), np.full(100, 2.0), np.full(200, 0.5)])
OTHER = np.concatenate([np.full(100, 0.5), np.full(100, 2.0), np.full(200, 1.0)])


def rates(x: FloatArray, *, size: int, runs: int) -> FloatArray:
    """Return how often each was drawn."""
    chances, times = inclusion(x, size=size), np.zeros(len(x))
    bits = np.random.default_rng(1)
    for _ in range(runs):
        times[sequential_poisson(chances, bits.random(len(x)), size=size)] += 1
    return times / runs


@pytest.mark.parametrize("size", [20, 80, 160])
def test_rates_of_blocks_are_near_their_chances(size: int) -> None:
    """Means over blocks of equal size: standard error below .4 % at 2,000 runs."""
    rates_, expected = rates(SKEWED, size=size, runs=2000), inclusion(SKEWED, size=size)
    for block in (slice(0, 100), slice(100, 200), slice(200, 400)):
        assert rates_[block].mean() == pytest.approx(expected[block].mean(), rel=0.015)


def test_each_candidate_is_drawn_with_its_chance() -> None:
    rates_, expected = rates(SKEWED, size=80, runs=2000), inclusion(SKEWED, size=80)
    z = (rates_ - expected) / np.sqrt(expected * (1 - expected) / 2000)
    assert np.abs(z).max() < 5.0
    assert (z**2).mean() < 1.3


@pytest.mark.long
@pytest.mark.parametrize("size", [100, 500])
def test_rates_are_near_the_chances_in_krenns_data(size: int) -> None:
    """KrennPPV, x by how many of four lists at five sizes hold a candidate."""
    ranks, _ = krenn()
    sizes = [50, 100, 500, 1000, 2000]
    in_lists = [(pl.col("rank") <= n).cast(pl.Float64) / n for n in sizes]
    x = np.sqrt(
        ranks.select("id", load=pl.sum_horizontal(in_lists) + 1 / 5102)
        .group_by("id").agg(pl.sum("load")).sort("id")["load"].to_numpy()
    )  # fmt: skip
    rates_, expected = rates(x, size=size, runs=2000), inclusion(x, size=size)
    for group in np.array_split(np.argsort(-x, kind="stable"), 10):
        assert rates_[group].mean() == pytest.approx(expected[group].mean(), rel=0.03)


def test_equal_sizes_draw_a_simple_sample() -> None:
    numbers = permanent_numbers(IDS, seed="s")
    sample = sequential_poisson(inclusion(np.ones(400), size=30), numbers, size=30)
    simple = without_replacement(pl.DataFrame({"id": IDS}), size=30, seed="s")
    assert IDS.gather(sample).to_list() == simple["id"].to_list()


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 99))
def test_samples_without_certain_candidates_are_nested(size: int, more: int, seed: int) -> None:
    numbers = permanent_numbers(IDS, seed=str(seed))
    places, pi = growing_sample(SKEWED, numbers, sizes=[size, size + more])
    assert (inclusion(SKEWED, size=size + more) < 1).all()  # 6 / 900 of 120 draws
    assert len(places) == size + more
    alone, _ = growing_sample(SKEWED, numbers, sizes=[size])
    assert places[:size].tolist() == alone.tolist()
    assert pi.tolist() == inclusion(SKEWED, size=size + more).tolist()


def test_a_block_that_becomes_certain_displaces_no_candidate() -> None:
    """From 150 draws on 100 of 400 are certain; the others keep their places."""
    numbers_kept = []
    for seed in range(20):
        numbers = permanent_numbers(IDS, seed=str(seed))
        first = sequential_poisson(inclusion(SKEWED, size=149), numbers, size=149)
        second = sequential_poisson(inclusion(SKEWED, size=151), numbers, size=151)
        places, pi = growing_sample(SKEWED, numbers, sizes=[149, 151])
        assert places[:149].tolist() == first.tolist()
        assert set(places) == {*first, *second}
        assert (pi[:100] == 1).all()
        numbers_kept.append(len(places) - 151)
    assert min(numbers_kept) == 0
    assert 3 <= max(numbers_kept) <= 28


@pytest.mark.parametrize(("sizes", "within"), [([100, 160], 0.02), ([149, 151], 0.05)])
def test_the_last_chance_is_nearly_that_of_the_union_of_steps(
    sizes: list[int], within: float
) -> None:
    """The worst case is two steps just before and after a block is certain: 2 % more."""
    chances, times = inclusion(SKEWED, size=sizes[-1]), np.zeros(400)
    bits = np.random.default_rng(2)
    for _ in range(2000):
        times[growing_sample(SKEWED, bits.random(400), sizes=sizes)[0]] += 1
    for block in (slice(100, 200), slice(200, 400)):
        assert times[block].mean() / 2000 == pytest.approx(chances[block].mean(), rel=within)


def test_judged_candidates_give_fresh_numbers_in_any_order() -> None:
    first = permanent_numbers(IDS, seed="s")
    second = permanent_numbers(IDS, seed="s", judged=["x001", "x007"])
    assert second.tolist() == permanent_numbers(IDS, seed="s", judged=["x007", "x001"]).tolist()
    third = permanent_numbers(IDS, seed="s", judged=["x001", "x007", "x009"])
    for one, two in ((first, second), (first, third), (second, third)):
        assert abs(np.corrcoef(one, two)[0, 1]) < 0.17  # 3.3 standard errors
    assert permanent_numbers(pl.Series([], dtype=pl.String), seed="s").tolist() == []


def test_old_numbers_are_not_uniform_after_a_draw() -> None:
    """Fresh numbers are needed: candidates that were not drawn have the large ones."""
    numbers = permanent_numbers(IDS, seed="s")
    rest = np.setdiff1d(
        np.arange(400), sequential_poisson(inclusion(np.ones(400), size=100), numbers, size=100)
    )
    judged = IDS.gather(np.setdiff1d(np.arange(400), rest))
    assert numbers[rest].min() > 0.2
    assert permanent_numbers(IDS, seed="s", judged=judged)[rest].min() < 0.05


@pytest.mark.parametrize("sizes", [[], [5, 5], [5, 3]])
def test_descending_steps_are_refused(sizes: list[int]) -> None:
    with pytest.raises(ValueError, match="sizes of a growing sample must ascend"):
        growing_sample(np.ones(9), np.full(9, 0.5), sizes=sizes)


def test_only_fresh_numbers_have_the_right_chances() -> None:
    """A simple sample of 100 first; then 50 of the rest by a design based on the first."""
    times = {name: np.zeros(400) for name in ("fresh", "old", "expected")}
    for run in range(300):
        old = permanent_numbers(IDS, seed=str(run))
        first = sequential_poisson(inclusion(np.ones(400), size=100), old, size=100)
        fresh = permanent_numbers(IDS, seed=str(run), judged=IDS.gather(first))
        x = SKEWED.copy()
        x[first] = 0.0
        chances = inclusion(x, size=50)
        times["expected"] += chances
        for name, numbers in (("fresh", fresh), ("old", old)):
            times[name][sequential_poisson(chances, numbers, size=50)] += 1
    blocks = (slice(0, 100), slice(100, 200), slice(200, 400))
    shares = {name: [counts[block].sum() for block in blocks] for name, counts in times.items()}
    assert shares["fresh"] == pytest.approx(shares["expected"], rel=0.05)
    assert shares["old"][0] > 1.2 * shares["expected"][0]
    assert shares["old"][2] < 0.5 * shares["expected"][2]


# Expected half-widths against the standard deviation of estimates over many samples.

COUNT_HALF_WIDTHS, SIZE = 1000, 250
RANKS_HALF_WIDTHS = {
    "x": list(range(1, COUNT_HALF_WIDTHS + 1)),
    "y": list(range(COUNT_HALF_WIDTHS, 0, -1)),
}
TRUE = (np.random.default_rng(5).random(COUNT_HALF_WIDTHS) < 0.3).astype(float)
Z = norm.ppf(0.975)


def hajek(inside: np.ndarray, drawn: np.ndarray, pi: FloatArray) -> float:
    """Return the mean over the certain ones and the rest of a list, each by its share."""
    certain, rest = inside & (pi == 1), inside & (pi < 1)
    total = TRUE[certain].sum()
    members = drawn[rest[drawn]]
    if rest.any():
        total += rest.sum() * np.average(TRUE[members], weights=1 / pi[members])
    return float(total / inside.sum())


def test_expected_half_widths_are_the_spread_of_estimates() -> None:
    estimands = build_estimands(
        sets_of(RANKS_HALF_WIDTHS, [("x", "y")], [200]), p=np.full(COUNT_HALF_WIDTHS, TRUE.mean()),
        judged=np.zeros(COUNT_HALF_WIDTHS, dtype=bool),
    )  # fmt: skip
    whole = question_sums(estimands, np.ones(COUNT_HALF_WIDTHS))
    x = size_measure(estimands, weights=np.ones(estimands.count), whole=whole, floor=0.0)
    pi = inclusion(x, size=SIZE)
    first, second, every = (
        np.array(RANKS_HALF_WIDTHS["x"]) <= 200,
        np.array(RANKS_HALF_WIDTHS["y"]) <= 200,
        pi > 0,
    )
    bits, runs = np.random.default_rng(6), []
    for _ in range(1500):
        sample = sequential_poisson(pi, bits.random(COUNT_HALF_WIDTHS), size=SIZE)
        one, two = hajek(first, sample, pi), hajek(second, sample, pi)
        runs.append([one, two, one - two, hajek(every, sample, pi)])
    spread = Z * np.std(runs, axis=0)
    expected = expected_half_widths(estimands, pi, confidence=0.95)
    np.testing.assert_allclose(spread, expected, rtol=0.12)  # y of a list is not .3 exactly
    simple = simple_half_widths(whole, candidates=COUNT_HALF_WIDTHS, size=SIZE, confidence=0.95)
    assert (expected[:3] < 0.8 * simple[:3]).all()
    assert expected[3] > simple[3]


def test_equal_chances_are_as_wide_as_a_simple_sample() -> None:
    estimands = build_estimands(
        sets_of(RANKS_HALF_WIDTHS, [("x", "y")], [20, 300]), p=np.random.default_rng(2).random(COUNT_HALF_WIDTHS),
        judged=np.zeros(COUNT_HALF_WIDTHS, dtype=bool),
    )  # fmt: skip
    whole = question_sums(estimands, np.ones(COUNT_HALF_WIDTHS))
    half_widths = expected_half_widths(estimands, np.full(COUNT_HALF_WIDTHS, 0.2), confidence=0.9)
    simple = simple_half_widths(whole, candidates=COUNT_HALF_WIDTHS, size=200, confidence=0.9)
    np.testing.assert_allclose(half_widths, simple, rtol=1e-9)


def test_expected_half_widths_agree_with_those_by_hand() -> None:
    """A list of 4 with p = .5 and pi = .5: 1.96 sqrt(4/16 * .25 * 1) = .49."""
    estimands = build_estimands(
        sets_of({"x": list(range(1, 9))}, [], [4]), p=np.full(8, 0.5),
        judged=np.zeros(8, dtype=bool),
    )  # fmt: skip
    half = expected_half_widths(estimands, np.full(8, 0.5), confidence=0.95)
    assert half.round(4).tolist() == [0.49, 0.3465]
    assert expected_half_widths(estimands, np.ones(8), confidence=0.95).tolist() == [0.0, 0.0]
    some = np.array([0.5] * 4 + [0.0] * 4)
    assert expected_half_widths(estimands, some, confidence=0.95).round(4).tolist() == [
        0.49,
        np.inf,
    ]
    whole = np.array([0.1, 0.0])
    nothing = simple_half_widths(whole, candidates=5, size=0, confidence=0.95)
    assert nothing.tolist() == [np.inf, 0.0]
    assert simple_half_widths(whole, candidates=5, size=9, confidence=0.95).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match=r"must be in \(0, 1\)"):
        expected_half_widths(estimands, some, confidence=1.0)


# Inclusion probabilities: values by hand, laws, and a slow twin in rounds.

SIZES = st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0, 10.0, 55.0]), min_size=1, max_size=12)


def chances_in_rounds(x: FloatArray, size: int) -> FloatArray:
    """Set those at 1 or more to 1, and repeat for the rest until there are none."""
    pi = np.zeros(len(x))
    rest = x > 0
    while rest.any():
        remaining = size - int((pi == 1).sum())
        chance = remaining * x / x[rest].sum()
        certain = rest & (chance > 1 - 1e-9)
        if not certain.any():
            pi[rest] = chance[rest]
            break
        pi[certain] = 1.0
        rest &= ~certain
    return pi


def test_chances_agree_with_the_r_package_sps() -> None:
    """sps() of 1..10, 100, 150, six drawn: the output of weights(), 1/pi."""
    weights = 1 / inclusion(np.array([*range(1, 11), 100.0, 150.0]), size=6)
    computed = weights[[3, 7, 8, 9, 10, 11]].round(6).tolist()
    assert computed == [3.4375, 1.71875, 1.527778, 1.375, 1.0, 1.0]


@given(SIZES, st.integers(0, 14))
def test_chances_agree_with_a_slow_twin(sizes: list[float], size: int) -> None:
    x = np.array(sizes)
    pi = inclusion(x, size=size)
    assert pi.sum() == pytest.approx(min(size, (x > 0).sum()))
    assert ((pi >= 0) & (pi <= 1)).all()
    assert (pi[x == 0] == 0).all()
    np.testing.assert_allclose(pi, chances_in_rounds(x, size), rtol=1e-12)
    np.testing.assert_allclose(pi, inclusion(x * 7.0, size=size), rtol=1e-12)
    assert (inclusion(x, size=size + 1) >= pi - 1e-12).all()


@given(st.integers(1, 60), st.integers(0, 70))
def test_equal_sizes_have_equal_chances(count: int, size: int) -> None:
    pi = inclusion(np.full(count, 0.1), size=size)
    np.testing.assert_allclose(pi, min(1.0, size / count), rtol=1e-12)
    assert size < count or (pi == 1.0).all()


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_wrong_sizes_are_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="size measures must be >= 0: 1 invalid value"):
        inclusion(np.array([1.0, wrong]), size=1)
    with pytest.raises(ValueError, match="0 or more, not -1"):
        inclusion(np.ones(2), size=-1)


@given(SIZES, st.floats(0.001, 0.95), st.integers(0, 4))
def test_the_floor_is_a_share_of_the_mean_result(
    sizes: list[float], floor: float, judged: int
) -> None:
    x = np.array(sizes)
    assume(x.any())
    raised = raise_to_floor(np.append(x, np.zeros(judged)), among=len(x), floor=floor)[: len(x)]
    least = floor * raised.mean()
    assert raised.min() >= least * (1 - 1e-12)
    np.testing.assert_allclose(raised, np.maximum(x, least), rtol=1e-9)
    # the cost of the floor is at most its share of the labels
    assert (raised - x).sum() <= floor * raised.sum() * (1 + 1e-12)


def test_without_a_floor_sizes_are_not_changed() -> None:
    assert raise_to_floor(np.array([2.0, 0.0]), among=2, floor=0.0).tolist() == [2.0, 0.0]
    assert raise_to_floor(np.zeros(2), among=2, floor=0.5).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match=r"in \[0, 1\), not 1"):
        raise_to_floor(np.ones(2), among=2, floor=1.0)
