"""Random samples: size, reproducibility, nesting, and the chances of being drawn."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.sampling import sample_size, with_replacement, without_replacement
from schemas import Sample
from schemas.validate import validate


def ids(count: int) -> pl.DataFrame:
    return pl.DataFrame({"id": [f"x{i}" for i in range(count)]}, schema={"id": pl.String})


@given(population=st.integers(0, 60), size=st.integers(0, 80), seed=st.text(max_size=5))
def test_without_replacement(population: int, size: int, seed: str) -> None:
    drawn = without_replacement(ids(population), size=size, seed=seed)
    validate([drawn], Sample, name="sample")
    assert drawn.height == drawn["id"].n_unique() == min(size, population)
    assert drawn["position"].to_list() == list(range(1, drawn.height + 1))
    assert drawn["pi"].sum() * population == pytest.approx(drawn.height**2)
    more = without_replacement(ids(population).reverse(), size=size + 5, seed=seed)
    assert more["id"].head(drawn.height).equals(drawn["id"])


@given(population=st.integers(0, 30), size=st.integers(1, 80), seed=st.text(max_size=5))
def test_with_replacement(population: int, size: int, seed: str) -> None:
    drawn = with_replacement(ids(population), size=size, seed=seed)
    validate([drawn], Sample, name="sample")
    assert drawn["multiplicity"].sum() == (size if population else 0)
    assert drawn["id"].n_unique() == drawn.height
    more = with_replacement(ids(population).reverse(), size=size + 5, seed=seed)
    assert more["id"].head(drawn.height).equals(drawn["id"])


@pytest.mark.long
@pytest.mark.parametrize("draw", [without_replacement, with_replacement])
def test_every_candidate_has_the_same_chance(draw: object) -> None:
    """2,000 samples of 4 out of 20: each candidate some 400 times."""
    drawn = pl.concat(draw(ids(20), size=4, seed=str(i)) for i in range(2000))
    counts = drawn.group_by("id").agg(pl.sum("multiplicity"))["multiplicity"]
    assert counts.len() == 20
    assert ((counts - 400) ** 2 / 400).sum() < 43.8  # chi-squared, 19 df, p = .001


@pytest.mark.long
def test_pairs_are_drawn_together_as_often_as_they_should() -> None:
    """Without replacement two given candidates of 10 are both among 4 in 2/15 of samples."""
    both = sum(
        {"x0", "x1"} <= set(without_replacement(ids(10), size=4, seed=str(i))["id"])
        for i in range(3000)
    )
    assert abs(both - 400) < 3.3 * (3000 * 2 / 15 * 13 / 15) ** 0.5


def test_size() -> None:
    assert [sample_size(n, rate=0.1) for n in (0, 1, 4, 5102, 14654)] == [0, 1, 1, 510, 1465]
