"""Strata of candidates, stratified samples and pools: by hand, and against slow twins."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.ranking import (
    UNDEFINED,
    pool,
    rank_labels,
    score_labels,
    strata_by_rank,
    strata_by_score,
    stratified_sample,
)
from pipeline.kernels.sampling import without_replacement
from schemas import Sample, Strata
from tests.kernels.nbest.rank_frames import name, ranks_of
from tests.valid import valid

SCORES = {"x": [5.0, 4.0, 3.0, 2.0, 1.0], "y": [1.0, 2.0, 3.0, 5.0, 4.0]}
IDS = pl.DataFrame({"id": [name(i) for i in range(40)], "stratum": ["a"] * 30 + ["b"] * 10})


def test_strata_of_one_list_have_these_labels() -> None:
    strata = strata_by_rank(ranks_of(SCORES), measures=["x"], boundaries=[1, 3])
    result = valid(strata.sort("id").collect(), Strata)
    assert result["stratum"].to_list() == ["1-1", "2-3", "2-3", "4-5", "4-5"]


def test_strata_of_several_lists_go_by_the_best_rank() -> None:
    # ranks under y: 5, 4, 3, 1, 2
    strata = strata_by_rank(ranks_of(SCORES), measures=["y", "x"], boundaries=[2])
    assert strata.sort("id").collect()["stratum"].to_list() == ["1-2", "1-2", "3-5", "1-2", "1-2"]


def test_labels_of_strata_sort_like_numbers() -> None:
    ranks = ranks_of({"x": [float(-i) for i in range(12)]})
    strata = strata_by_rank(
        ranks.sample(fraction=1, shuffle=True, seed=1), measures=["x"], boundaries=[3, 12, 99]
    )
    result = strata.sort("id").collect()["stratum"]
    assert result.to_list() == ["01-03"] * 3 + ["04-12"] * 9
    whole = strata_by_rank(ranks, measures=["x"], boundaries=[]).collect()
    assert whole["stratum"].unique().to_list() == ["01-12"]


def test_strata_by_score_have_these_labels() -> None:
    scores = pl.DataFrame({"id": list("abcde"), "f": [3, 5, 2, None, 30]})
    result = valid(strata_by_score(scores, column="f", boundaries=[3, 5]).collect(), Strata)
    assert result["stratum"].to_list() == [
        "[3, 5)",
        "[5, inf)",
        "[-inf, 3)",
        "undefined",
        "[5, inf)",
    ]


@pytest.mark.parametrize("boundaries", [[3, 2], [2, 2], [0, 2]])
def test_descending_boundaries_are_refused(boundaries: list[int]) -> None:
    with pytest.raises(ValueError, match="must ascend"):
        strata_by_rank(ranks_of(SCORES), measures=["x"], boundaries=boundaries)
    if boundaries[0]:
        with pytest.raises(ValueError, match="must ascend"):
            strata_by_score(
                pl.DataFrame({"id": ["a"], "f": [1]}), column="f", boundaries=boundaries
            )


@given(
    st.integers(0, 30),
    st.integers(0, 10),
    st.integers(0, 35),
    st.integers(0, 12),
    st.text(max_size=3),
)
@pytest.mark.long
def test_larger_samples_contain_the_smaller_ones(
    a: int, b: int, more_a: int, more_b: int, seed: str
) -> None:
    small = stratified_sample(IDS, sizes={"a": a, "b": b}, seed=seed)
    large = stratified_sample(IDS, sizes={"a": a + more_a, "b": b + more_b}, seed=seed)
    assert set(small["id"]) <= set(large["id"])
    strata = dict(IDS.select("id", "stratum").iter_rows())
    counts = Counter(strata[x] for x in large["id"])
    assert (counts["a"], counts["b"]) == (min(a + more_a, 30), min(b + more_b, 10))


@given(st.integers(0, 40), st.integers(0, 40), st.text(max_size=3))
def test_simple_samples_are_nested_too(size: int, more: int, seed: str) -> None:
    small = without_replacement(IDS, size=size, seed=seed)["id"]
    large = without_replacement(IDS, size=size + more, seed=seed)["id"]
    assert large.head(len(small)).equals(small)
    # and a growing data set keeps its draws, as far as its keys allow
    part = without_replacement(IDS.head(25), size=size, seed=seed)["id"]
    whole = without_replacement(IDS, size=size, seed=seed)["id"]
    assert set(whole) & set(IDS["id"].head(25)) <= set(part)


def test_the_sample_is_valid_in_any_order_of_rows() -> None:
    result = valid(stratified_sample(IDS, sizes={"b": 3}, seed="s"), Sample)
    assert result["position"].to_list() == [1, 2, 3]
    assert stratified_sample(IDS.reverse(), sizes={"b": 3}, seed="s").equals(result)
    assert not stratified_sample(IDS, sizes={"b": 3}, seed="t").equals(result)
    assert valid(stratified_sample(IDS.clear(), sizes={}, seed="s"), Sample).is_empty()


@pytest.mark.parametrize("sizes", [{"c": 1}, {"a": -1}])
def test_wrong_sizes_are_refused(sizes: dict[str, int]) -> None:
    message = f"unknown strata, or sizes below 0: {next(iter(sizes))}; the strata are a, b"
    with pytest.raises(ValueError, match=message):
        stratified_sample(IDS, sizes=sizes, seed="s")


def test_the_pool_has_the_best_rank_of_each_candidate() -> None:
    result = pool(ranks_of(SCORES), measures=["x", "y"], depth=2)
    assert result.rows() == [(name(0), 1), (name(1), 2), (name(3), 1), (name(4), 2)]
    assert pool(ranks_of(SCORES), measures=["x"], depth=99).height == 5
    with pytest.raises(ValueError, match="no ranks for z"):
        pool(ranks_of(SCORES), measures=["x", "z"], depth=2)


# Strata and samples agree with slow twins.


@given(
    st.lists(st.permutations(range(25)), min_size=1, max_size=3),
    st.sets(st.integers(1, 40), max_size=4),
)
def test_strata_by_rank_agree_with_a_slow_twin(
    orders: list[list[int]], boundaries: set[int]
) -> None:
    names, bounds = [f"m{n}" for n in range(len(orders))], sorted(boundaries)
    ranks = pl.LazyFrame(
        {
            "measure": [name for name in names for _ in range(25)],
            "id": [f"x{each:02}" for order in orders for each in order],
            "rank": list(range(1, 26)) * len(orders),
        }
    )
    labels = rank_labels(bounds, last=25)
    best = [min(order.index(n) + 1 for order in orders) for n in range(25)]
    expected = [
        (f"x{n:02}", labels[sum(bound < rank for bound in bounds)]) for n, rank in enumerate(best)
    ]
    result = strata_by_rank(ranks, measures=names, boundaries=bounds)
    assert result.sort("id").collect().rows() == expected


@given(st.lists(st.none() | st.integers(0, 9), max_size=40), st.sets(st.integers(0, 9)))
def test_strata_by_score_agree_with_a_slow_twin(
    values: list[int | None], boundaries: set[int]
) -> None:
    ids, bounds = [f"x{n:03}" for n in range(len(values))], sorted(boundaries)
    scores = pl.LazyFrame({"id": ids, "f": values}, schema={"id": pl.String, "f": pl.Int64})
    labels = score_labels(bounds)
    expected = [
        UNDEFINED if each is None else labels[sum(bound <= each for bound in bounds)]
        for each in values
    ]
    result = strata_by_score(scores, column="f", boundaries=bounds).collect()
    assert result.rows() == list(zip(ids, expected, strict=True))


@given(
    st.lists(st.sampled_from("abc"), max_size=60),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 30)),
)
def test_draws_of_strata_agree_with_a_slow_twin(
    names: list[str], sizes_by_stratum: dict[str, int]
) -> None:
    schema = {"id": pl.String, "stratum": pl.String}
    strata = pl.DataFrame([(f"x{n}", name) for n, name in enumerate(names)], schema, orient="row")
    sizes = {name: size for name, size in sizes_by_stratum.items() if name in names}
    samples = [
        without_replacement(strata.filter(pl.col("stratum") == name), size=sizes[name], seed="s")
        .with_columns(stratum=pl.lit(name))
        for name in sorted(sizes)
    ]  # fmt: skip
    expected = [row for each in samples for row in each.select("id", "pi", "stratum").rows()]
    result = stratified_sample(strata.lazy(), sizes=sizes, seed="s")
    assert result.select("id", "pi", "stratum").rows() == expected
    assert result["position"].to_list() == list(range(1, len(expected) + 1))
