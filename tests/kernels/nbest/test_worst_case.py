"""Precision if all unjudged draws were false, or all true, and what holds whatever they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.precision import nbest_counts, positives, precision_columns, worst_cases
from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from schemas import WorstCase
from schemas.validate import validate

HOW: dict[str, Any] = {"method": "clopper_pearson", "confidence": 0.95}


def made(labels: list[bool | None], *, drawn: list[int] | None = None, **how: Any) -> pl.DataFrame:
    """Return the worst cases of a ranking with these labels, each drawn so many times."""
    ids = [f"c{place}" for place in range(len(labels))]
    ranks = pl.LazyFrame({"measure": "mi", "rank": range(1, len(ids) + 1), "id": ids, "tie": 1})
    times = drawn or [1] * len(ids)
    judged = pl.DataFrame(
        {"category": "TP", "id": ids, "tp": labels, "multiplicity": times},
        schema_overrides={"tp": pl.Boolean},
    ).filter(pl.col("multiplicity") > 0)
    counts = nbest_counts(ranks, judged.lazy())
    lists = precision_columns(counts, positives=positives(judged), **(HOW | how))
    found = worst_cases(lists, ranks, judged, **(HOW | how))
    validate([found], WorstCase, name="worst_case")
    return found


def test_by_hand() -> None:
    """Of 2 + 3 draws in the first three places, with multiplicity, 2 true and 1 open."""
    row = made([True, False, None, True], drawn=[2, 2, 1, 0]).filter(n=3).row(0, named=True)
    assert (row["n_drawn"], row["n_unjudged"], row["precision"]) == (5, 1, 0.5)
    assert (row["precision_if_false"], row["precision_if_true"]) == (0.4, 0.6)
    for k, suffix in ((2, "if_false"), (3, "if_true")):
        limits = clopper_pearson(k, 5)
        assert (row[f"lower_{suffix}"], row[f"upper_{suffix}"]) == tuple(map(float, limits))


def test_lists_whose_draws_are_all_judged_have_no_rows() -> None:
    assert made([True, False]).is_empty()
    assert made([True, None, False])["n"].to_list() == [2, 3]


def test_nothing_judged() -> None:
    found = made([None, None])
    assert found.select("precision", "precision_if_false", "precision_if_true").rows() == [
        (None, 0.0, 1.0), (None, 0.0, 1.0),
    ]  # fmt: skip


def test_a_finite_list_known_but_for_one() -> None:
    row = made([True, False, None, True], method="hypergeometric").filter(n=4).row(0, named=True)
    assert (row["lower_if_false"], row["upper_if_false"]) == (0.5, 0.5)
    assert (row["lower_if_true"], row["upper_if_true"]) == (0.75, 0.75)


labels = st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=12)


@given(labels, st.data())
def test_any_judgement_of_the_open_lies_between(given_: list[bool | None], data: Any) -> None:
    found = made(given_)
    settled = [data.draw(st.booleans()) if each is None else each for each in given_]
    for n, low, high in found.select("n", "precision_if_false", "precision_if_true").rows():
        assert low <= sum(settled[:n]) / n <= high


@pytest.mark.parametrize("lost", [0.5, 0.9])
def test_what_is_lost_because_it_is_true(lost: float) -> None:
    """True positives are the hard ones: the plain interval misses, the worst case never more."""
    random, runs, truth, draws = np.random.default_rng(7), 1000, 0.4, 60
    k = random.binomial(draws, truth, runs)
    u = random.binomial(k, lost)
    plain = clopper_pearson(k - u, draws - u)
    lower, upper = clopper_pearson(k - u, draws)[0], clopper_pearson(k, draws)[1]
    assert np.mean((lower <= truth) & (truth <= upper)) >= 0.95
    assert np.mean((plain[0] <= truth) & (truth <= plain[1])) < 0.5
