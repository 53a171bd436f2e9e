"""Sequential Poisson samples: chances by simulation, nesting, unions, fresh numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.sampling import without_replacement
from pipeline.kernels.survey.design import (
    growing,
    inclusion,
    permanent_numbers,
    sequential_poisson,
    union_of_designs,
)
from tests.kernels.nbest.rank_frames import krenn

IDS = pl.Series([f"x{i:03}" for i in range(400)])
SKEWED = np.concatenate([np.full(100, 6.0), np.full(100, 2.0), np.full(200, 0.5)])
OTHER = np.concatenate([np.full(100, 0.5), np.full(100, 2.0), np.full(200, 1.0)])


def rates(x: FloatArray, *, size: int, runs: int) -> FloatArray:
    """Return how often each was drawn."""
    chances, drawn = inclusion(x, size=size), np.zeros(len(x))
    bits = np.random.default_rng(1)
    for _ in range(runs):
        drawn[sequential_poisson(chances, bits.random(len(x)), size=size)] += 1
    return drawn / runs


@pytest.mark.parametrize("size", [20, 80, 160])
def test_lambda_is_pi_within_a_percent_or_two(size: int) -> None:
    """Means over blocks of equal size: standard error below .4 % at 2,000 runs."""
    found, expected = rates(SKEWED, size=size, runs=2000), inclusion(SKEWED, size=size)
    for block in (slice(0, 100), slice(100, 200), slice(200, 400)):
        assert found[block].mean() == pytest.approx(expected[block].mean(), rel=0.015)


def test_each_candidate_has_its_chance() -> None:
    found, expected = rates(SKEWED, size=80, runs=2000), inclusion(SKEWED, size=80)
    z = (found - expected) / np.sqrt(expected * (1 - expected) / 2000)
    assert np.abs(z).max() < 5.0
    assert (z**2).mean() < 1.3


@pytest.mark.parametrize("size", [100, 500])
def test_lambda_is_pi_on_real_lists(size: int) -> None:
    """KrennPPV, x by how many of four lists at five sizes hold a candidate."""
    ranks, _ = krenn()
    sizes = [50, 100, 500, 1000, 2000]
    in_lists = [(pl.col("rank") <= n).cast(pl.Float64) / n for n in sizes]
    x = np.sqrt(
        ranks.select("id", load=pl.sum_horizontal(in_lists) + 1 / 5102)
        .group_by("id").agg(pl.sum("load")).sort("id")["load"].to_numpy()
    )  # fmt: skip
    found, expected = rates(x, size=size, runs=2000), inclusion(x, size=size)
    for group in np.array_split(np.argsort(-x, kind="stable"), 10):
        assert found[group].mean() == pytest.approx(expected[group].mean(), rel=0.03)


def test_equal_sizes_draw_the_simple_sample() -> None:
    numbers = permanent_numbers(IDS, seed="s")
    drawn = sequential_poisson(inclusion(np.ones(400), size=30), numbers, size=30)
    simple = without_replacement(pl.DataFrame({"id": IDS}), size=30, seed="s")
    assert IDS.gather(drawn).to_list() == simple["id"].to_list()


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 99))
def test_a_sample_grows_while_nobody_is_certain(size: int, more: int, seed: int) -> None:
    numbers = permanent_numbers(IDS, seed=str(seed))
    places, pi = growing(SKEWED, numbers, sizes=[size, size + more])
    assert (inclusion(SKEWED, size=size + more) < 1).all()  # 6 / 900 of 120 draws
    assert len(places) == size + more
    alone, _ = growing(SKEWED, numbers, sizes=[size])
    assert places[:size].tolist() == alone.tolist()
    assert pi.tolist() == inclusion(SKEWED, size=size + more).tolist()


def test_a_block_that_becomes_certain_pushes_no_one_out() -> None:
    """100 of 400 are all taken from 150 draws on, and others lose their place: they keep it."""
    kept = []
    for seed in range(20):
        numbers = permanent_numbers(IDS, seed=str(seed))
        first = sequential_poisson(inclusion(SKEWED, size=149), numbers, size=149)
        second = sequential_poisson(inclusion(SKEWED, size=151), numbers, size=151)
        places, pi = growing(SKEWED, numbers, sizes=[149, 151])
        assert places[:149].tolist() == first.tolist()
        assert set(places) == {*first, *second}
        assert (pi[:100] == 1).all()
        kept.append(len(places) - 151)
    assert min(kept) == 0
    assert 3 <= max(kept) <= 28


@pytest.mark.parametrize(("sizes", "within"), [([100, 160], 0.02), ([149, 151], 0.05)])
def test_the_last_lambda_is_nearly_the_chance_of_the_union_of_steps(
    sizes: list[int], within: float
) -> None:
    """The worst case are two steps just before and after a block is certain: 2 % more."""
    chances, drawn = inclusion(SKEWED, size=sizes[-1]), np.zeros(400)
    bits = np.random.default_rng(2)
    for _ in range(2000):
        drawn[growing(SKEWED, bits.random(400), sizes=sizes)[0]] += 1
    for block in (slice(100, 200), slice(200, 400)):
        assert drawn[block].mean() / 2000 == pytest.approx(chances[block].mean(), rel=within)


def test_of_a_union_the_chance_is_the_larger_and_not_the_product() -> None:
    designs = [inclusion(SKEWED, size=100), inclusion(OTHER, size=100)]
    bits, drawn = np.random.default_rng(3), np.zeros(400)
    for _ in range(1000):
        u = bits.random(400)
        each = [sequential_poisson(pi, u, size=100) for pi in designs]
        places, pi = union_of_designs(designs, each, [u, u])
        drawn[places] += 1
    mean_size, independent = drawn.sum() / 1000, 1 - np.prod([1 - d for d in designs], axis=0)
    assert mean_size == pytest.approx(pi.sum(), rel=0.01)
    assert independent.sum() > 1.1 * mean_size
    for block in (slice(0, 100), slice(100, 200), slice(200, 400)):
        assert drawn[block].mean() / 1000 == pytest.approx(pi[block].mean(), rel=0.03)


def test_designs_with_other_numbers_make_no_union() -> None:
    u, other = permanent_numbers(IDS, seed="s"), permanent_numbers(IDS, seed="t")
    pi = inclusion(SKEWED, size=10)
    with pytest.raises(ValueError, match="400 of 400 candidates have other permanent random"):
        union_of_designs([pi, pi], [np.array([0]), np.array([1])], [u, other])


def test_who_was_judged_gives_fresh_numbers_in_whatever_order() -> None:
    first = permanent_numbers(IDS, seed="s")
    second = permanent_numbers(IDS, seed="s", judged=["x001", "x007"])
    assert second.tolist() == permanent_numbers(IDS, seed="s", judged=["x007", "x001"]).tolist()
    third = permanent_numbers(IDS, seed="s", judged=["x001", "x007", "x009"])
    for one, two in ((first, second), (first, third), (second, third)):
        assert abs(np.corrcoef(one, two)[0, 1]) < 0.17  # 3.3 standard errors
    assert permanent_numbers(pl.Series([], dtype=pl.String), seed="s").tolist() == []


def test_old_numbers_would_not_be_uniform_after_a_draw() -> None:
    """Why they have to be fresh: those who were not drawn have the large ones."""
    numbers = permanent_numbers(IDS, seed="s")
    rest = np.setdiff1d(
        np.arange(400), sequential_poisson(inclusion(np.ones(400), size=100), numbers, size=100)
    )
    judged = IDS.gather(np.setdiff1d(np.arange(400), rest))
    assert numbers[rest].min() > 0.2
    assert permanent_numbers(IDS, seed="s", judged=judged)[rest].min() < 0.05


@pytest.mark.parametrize("sizes", [[], [5, 5], [5, 3]])
def test_mistaken_steps(sizes: list[int]) -> None:
    with pytest.raises(ValueError, match="sizes of a sample that grows ascend"):
        growing(np.ones(9), np.full(9, 0.5), sizes=sizes)


def test_after_a_first_draw_fresh_numbers_have_the_right_chances_and_old_ones_do_not() -> None:
    """A simple sample of 100 first; then 50 of the rest by a design that the first has shaped."""
    drawn = {name: np.zeros(400) for name in ("fresh", "old", "expected")}
    for run in range(300):
        old = permanent_numbers(IDS, seed=str(run))
        first = sequential_poisson(inclusion(np.ones(400), size=100), old, size=100)
        fresh = permanent_numbers(IDS, seed=str(run), judged=IDS.gather(first))
        x = SKEWED.copy()
        x[first] = 0.0
        chances = inclusion(x, size=50)
        drawn["expected"] += chances
        for name, numbers in (("fresh", fresh), ("old", old)):
            drawn[name][sequential_poisson(chances, numbers, size=50)] += 1
    blocks = (slice(0, 100), slice(100, 200), slice(200, 400))
    shares = {name: [counts[block].sum() for block in blocks] for name, counts in drawn.items()}
    assert shares["fresh"] == pytest.approx(shares["expected"], rel=0.05)
    assert shares["old"][0] > 1.2 * shares["expected"][0]
    assert shares["old"][2] < 0.5 * shares["expected"][2]
