from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.remarks.listening import hear


def ranks(scores: dict[str, list[int]]) -> pl.DataFrame:
    """Return the ranks of candidates with these scores, each list in descending order."""
    rows = [
        {"measure": measure, "rank": place, "id": f"x{place}", "tie": values.index(score) + 1}
        for measure, values in scores.items()
        for place, score in enumerate(values, 1)
    ]
    schema = {"measure": pl.String, "rank": pl.Int64, "id": pl.String, "tie": pl.Int64}
    return pl.DataFrame(rows, schema=schema)


def precision(*rows: tuple[str, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["measure", "n", "n_sampled"], orient="row")


def cuts_beyond(cuts: tuple[int, ...], *, candidates: int) -> list[str]:
    given_ranks = ranks({"mi": list(range(candidates, 0, -1))})
    found = hear("cuts_beyond", inputs={"ranks": given_ranks}, cuts=cuts, measures=())
    return [str(each) for each in found]


def test_a_cut_beyond_the_list_is_told_with_its_size() -> None:
    (told,) = cuts_beyond((5, 10, 50), candidates=10)
    assert "1 of 3 list sizes are beyond the 10 candidates ranked" in told
    assert "n = 50" in told


def test_the_last_candidate_is_no_cut_beyond() -> None:
    assert not cuts_beyond((10,), candidates=10)


def test_without_candidates_it_is_for_others_to_say() -> None:
    assert not cuts_beyond((1,), candidates=0)


def test_the_sizes_of_a_choice_are_its_cuts() -> None:
    options: dict[str, Any] = {"size": None, "sizes": (2, 9), "measures": ()}
    inputs = {"ranks": ranks({"mi": [3, 2, 1]})}
    (told,) = hear("cuts_beyond", use="evaluate.choice", inputs=inputs, **options)
    assert told.such_as == ("n = 9",)
    assert not hear("cuts_beyond", use="evaluate.choice", inputs=inputs, **(options | {"size": 2}))


def test_ties_at_a_cut_are_told_with_the_worst_list() -> None:
    inputs = {"ranks": ranks({"f": [9, 5, 5, 5, 5, 1], "mi": [6, 5, 4, 3, 2, 1]})}
    (told,) = hear("ties_at_cut", inputs=inputs, cuts=(1, 3), measures=())
    assert told.numbers == {"lists": 1, "by_lot": 2, "tied": 4}
    assert "of the 3 best by f, 2 are drawn by lot from 4 of the same score" in told.text


def test_a_tie_that_ends_with_the_list_is_none() -> None:
    inputs = {"ranks": ranks({"f": [9, 5, 5, 1]})}
    assert not hear("ties_at_cut", inputs=inputs, cuts=(3,), measures=())
    assert hear("ties_at_cut", inputs=inputs, cuts=(2,), measures=())


def test_rankings_that_are_not_evaluated_do_not_count() -> None:
    inputs = {"ranks": ranks({"f": [5, 5, 5], "mi": [3, 2, 1]})}
    assert not hear("ties_at_cut", inputs=inputs, cuts=(1,), measures=("mi",))


@given(
    scores=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    cut=st.integers(1, 12),
    threshold=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
)
def test_ties_are_those_that_one_counts_by_hand(
    scores: list[int], cut: int, threshold: float
) -> None:
    ordered = sorted(scores, reverse=True)
    told = hear(
        "ties_at_cut", inputs={"ranks": ranks({"f": ordered})}, cuts=(cut,), measures=(),
        threshold=threshold,
    )  # fmt: skip
    split = cut < len(ordered) and ordered[cut - 1] == ordered[cut]
    by_lot = sum(score == ordered[cut - 1] for score in ordered[:cut]) if split else 0
    assert bool(told) == (split and by_lot / cut >= threshold)
    if told:
        assert told[0].numbers["by_lot"] == by_lot


@pytest.mark.parametrize(("judged", "heard"), [(0, False), (1, True), (4, True), (5, False)])
def test_few_judged_draws_behind_an_estimate(judged: int, heard: bool) -> None:
    cuts = precision(("mi", 100, judged), ("f", 100, 40))
    found = hear("few_judged", outputs={"cuts": cuts})
    assert bool(found) == heard
    if found:
        assert f"that of mi at n = 100 on {judged}" in found[0].text


def test_a_short_list_of_which_all_is_judged_is_no_sample() -> None:
    assert not hear("few_judged", outputs={"cuts": precision(("mi", 3, 3))})
