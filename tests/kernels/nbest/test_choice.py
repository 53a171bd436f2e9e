"""The choice of a measure and a list size, and limits that allow for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.selection import choose, considered, simultaneous

LISTS = pl.DataFrame(
    {
        "measure": ["dice", "dice", "mi", "mi", "t", "t"],
        "n": [100, 200] * 3,
        "precision": [0.5, 0.3, 0.4, 0.35, 0.5, 0.3],
        "recall": [0.5, 0.6, 0.4, 0.7, None, 0.7],
    }
)


def test_fixed_size_takes_the_most_precise_and_of_equals_the_first_by_name() -> None:
    assert choose(LISTS, size=100)["measure"].item() == "dice"
    assert choose(LISTS, size=200)["measure"].item() == "mi"


def test_longest_list_that_is_precise_enough() -> None:
    assert choose(LISTS, min_precision=0.5).select("measure", "n").row(0) == ("dice", 100)
    assert choose(LISTS, min_precision=0.3).select("measure", "n").row(0) == ("mi", 200)


def test_shortest_list_that_finds_enough() -> None:
    assert choose(LISTS, min_recall=0.45).select("measure", "n").row(0) == ("dice", 100)
    assert choose(LISTS, min_recall=0.65).select("measure", "n").row(0) == ("mi", 200)


def test_no_list_will_do() -> None:
    assert choose(LISTS, min_precision=0.6).height == 0
    assert choose(LISTS, size=300).height == 0
    assert choose(LISTS.clear(), size=100).height == 0


@pytest.mark.parametrize("given", [{}, {"size": 1, "min_recall": 0.5}])
def test_just_one_criterion(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="just one of size, min_precision, min_recall"):
        choose(LISTS, **given)


def test_lists_without_an_estimate_take_no_part() -> None:
    some = LISTS.with_columns(precision=pl.when(pl.col("n") < 200).then("precision"))
    assert considered(some, sizes=[100, 200, 300]).height == 3


@given(st.permutations(list(range(6))))
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    mixed = LISTS[order]
    for one in ({"size": 100}, {"min_precision": 0.3}, {"min_recall": 0.6}):
        assert choose(mixed, **one).equals(choose(LISTS, **one))


def test_limits_that_allow_for_the_choice_hold_where_its_own_do_not() -> None:
    """20 equally good lists, the luckiest chosen: how often does its interval hold the truth?"""
    rng, truth, held = np.random.default_rng(1), 0.3, np.zeros(2)
    for _ in range(300):
        k = rng.binomial(40, truth, size=20)
        lists = pl.DataFrame(
            {
                "measure": [f"m{i:02}" for i in range(20)],
                "n": 400,
                "n_sampled": 40,
                "k_sampled": k,
                "precision": k / 40,
                "recall": 0.5,
            }
        )
        best = choose(lists, size=400)
        both = simultaneous(best, tests=20, method="clopper_pearson", confidence=0.95)
        alone = simultaneous(best, tests=1, method="clopper_pearson", confidence=0.95)
        held += [
            row["lower_simultaneous"].item() <= truth <= row["upper_simultaneous"].item()
            for row in (both, alone)
        ]
    assert held[0] >= 0.95 * 300
    assert held[1] < 0.9 * 300
