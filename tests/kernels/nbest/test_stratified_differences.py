"""Differences from stratified samples: by hand, against simulation, and their laws."""

from __future__ import annotations

from itertools import permutations
from math import sqrt
from typing import Any, TypeVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.stratified import stratified_comparison, stratified_difference
from tests.kernels.nbest.slow_stratified import slow_comparison

T = TypeVar("T")
OPTIONS: dict[str, Any] = {
    "confidence": 0.95,
    "replicates": 400,
    "seed": "s",
    "method": "bootstrap",
}
IDS = list("abcdefgh")
RANKS = pl.DataFrame(
    {"measure": ["m"] * 8 + ["w"] * 8, "id": IDS * 2, "rank": [*range(1, 9), *range(8, 0, -1)]}
)
STRATA = pl.DataFrame({"id": IDS, "stratum": ["1-4"] * 4 + ["5-8"] * 4})


def compare(judged: pl.DataFrame, **changes: object) -> pl.DataFrame:
    options: dict[str, Any] = {
        "pairs": [("m", "w")],
        "at": [3],
        "margin": 0.0,
        **OPTIONS,
        **changes,
    }
    return stratified_comparison(RANKS, judged, STRATA, **options)


def judged_as(ids: str, true: str) -> pl.DataFrame:
    return pl.DataFrame(
        {"category": "TP", "id": list(ids), "tp": [each in true for each in ids]},
        schema={"category": pl.String, "id": pl.String, "tp": pl.Boolean},
    )


@st.composite
def studies(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Make ranks (ties as below the depth of a pool), judged_as with gaps, strata."""
    ids = IDS[: draw(st.integers(1, 8))]

    def several(values: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
        return st.lists(values, min_size=len(ids), max_size=len(ids))

    rank = several(st.integers(1, len(ids)))
    ranks = [
        pl.DataFrame(
            {
                "measure": name,
                "id": ids,
                "rank": draw(st.permutations(range(1, 1 + len(ids))) | rank),
            }
        )
        for name in "xyz"
    ]
    judged = [
        pl.DataFrame(
            {
                "category": name,
                "id": ids,
                "tp": draw(several(st.none() | st.booleans())),
            },
            schema_overrides={"tp": pl.Boolean},
        )
        for name in "AB"
    ]
    sampled = pl.concat(judged).filter(
        draw(st.lists(st.booleans(), min_size=2 * len(ids), max_size=2 * len(ids)))
    )
    strata = draw(several(st.sampled_from("pqr")))
    return pl.concat(ranks), sampled, pl.DataFrame({"id": ids, "stratum": strata})


@given(
    studies(),
    st.lists(st.integers(0, 10), max_size=4),
    st.sampled_from(["korn_graubard", "bootstrap", "predictive"]),
)
def test_agrees_with_the_slow_twin(
    study: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame], at: list[int], method: str
) -> None:
    options: dict[str, Any] = {
        "pairs": list(permutations("xyz", 2)), "at": at, "confidence": 0.9, "replicates": 5,
        "seed": "s", "method": method,
    }  # fmt: skip
    found = stratified_comparison(*study, margin=0.0, **options)
    assert found.drop("excludes_zero").rows() == slow_comparison(*study, **options)


def test_by_hand() -> None:
    row = compare(judged_as("abgh", "abh")).row(0, named=True)
    assert (row["size"], row["n_1"], row["k_1"], row["n_2"], row["k_2"]) == (3, 2, 2, 2, 1)
    assert row["difference"] == pytest.approx(1.0 - 0.5)
    assert -1 <= row["lower"] <= 0.5 <= row["upper"] <= 1


def test_full_annotation_has_no_width() -> None:
    found = compare(judged_as("abcdefgh", "abf"), at=[3, 8])
    rows = found.select("n", "difference", "lower", "upper", "excludes_zero").rows()
    third = pytest.approx(1 / 3)
    assert rows == [(3, third, third, third, True), (8, 0.0, 0.0, 0.0, False)]


def test_strata_without_a_draw_leave_it_unknown() -> None:
    found = compare(judged_as("ab", "a"))
    assert found.select("difference", "lower", "excludes_zero").row(0) == (None, None, False)


def test_margin() -> None:
    every = judged_as("abcdefgh", "abf")
    assert compare(every, margin=1 / 3)["excludes_zero"].item()
    assert not compare(every, margin=0.34)["excludes_zero"].item()


def test_interval_has_the_width_of_the_two_variances() -> None:
    first, second = np.array([[60], [30], [12]]), np.array([[60], [40], [10]])
    _, lower, upper = stratified_difference(
        first, second, share=0.5, confidence=0.6827, replicates=20_000, seed="s", method="bootstrap"
    )
    variance = 0.25 * (0.5 * 0.4 * 0.6 / 29 + (1 / 3) * 0.25 * 0.75 / 39)
    assert upper - lower == pytest.approx(2 * sqrt(variance), rel=0.05)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=3))
def test_turned_round_it_is_the_negative(sizes: list[tuple[int, int]]) -> None:
    first = np.array([[a, a, a // 2] for a, _ in sizes]).T
    second = np.array([[b, b, b // 3] for _, b in sizes]).T
    forth = stratified_difference(first, second, share=0.5, **OPTIONS)
    back = stratified_difference(second, first, share=0.5, **OPTIONS)
    assert forth[0] == pytest.approx(-back[0], nan_ok=True)


def test_equal_counts_do_not_cancel_in_the_bootstrap() -> None:
    side = np.array([[60], [30], [15]])
    _, lower, upper = stratified_difference(side, side, share=1.0, **OPTIONS)
    assert lower < -0.1
    assert upper > 0.1


def test_nothing_at_all() -> None:
    assert compare(judged_as("", "")).height == 0


def test_candidates_without_a_stratum() -> None:
    with pytest.raises(ValueError, match="ranks 8 candidates, of which 7 are among the 7"):
        stratified_comparison(
            RANKS, judged_as("a", "a"), STRATA.head(7), pairs=[("m", "w")], at=[3],
            margin=0.0, **OPTIONS,
        )  # fmt: skip
