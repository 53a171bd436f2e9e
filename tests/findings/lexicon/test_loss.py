"""The parts of what L* loses add up, and each form costs what taking it away would give back."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.findings.lexicon import loss, losses
from pipeline.kernels.lexicon.inference import by_chance
from pipeline.kernels.lexicon.l_measure import Weights, lemma_scores

COUNTS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=20
)


def scored(counts: list[tuple[int, int, int]], weights: Weights) -> pl.DataFrame:
    """Return the scores of lemmas with so many common, missing and spurious forms."""
    rows = pl.DataFrame({
        "lemma": [f"l{place}" for place in range(len(counts))],
        "n_common": [common for common, _, _ in counts],
        "n_missing": [missing for _, missing, _ in counts],
        "n_spurious": [spurious for _, _, spurious in counts],
    })  # fmt: skip
    sizes = rows.with_columns(
        n_gold=pl.col("n_common") + pl.col("n_missing"),
        n_match=pl.col("n_common") + pl.col("n_spurious"),
    ).with_columns(n_same="n_match", n_same_common="n_common")
    scores = lemma_scores(sizes.lazy(), weights=weights).collect()
    return scores.with_columns(pi=pl.lit(1.0), base_total=pl.lit(None, pl.Int64))


@pytest.mark.parametrize("weights", ["gold", "published"])
@given(counts=COUNTS)
def test_the_parts_add_up_to_what_is_lost(
    counts: list[tuple[int, int, int]], weights: Weights
) -> None:
    scores = scored(counts, weights)
    costs = losses(scores)
    if scores["base"].sum() == 0:
        assert costs.is_empty()
        return
    found, star = loss(costs), scores["contribution"].sum()
    assert found.whole == pytest.approx(1 - star, abs=1e-12)
    assert found.missing + found.spurious + found.without_right == pytest.approx(
        found.whole, abs=1e-12
    )
    assert min(found.missing, found.spurious, found.without_right) >= -1e-12
    assert costs["cost"].is_sorted(descending=True)


@pytest.mark.parametrize("weights", ["gold", "published"])
@given(counts=COUNTS)
def test_the_parts_add_up_whatever_the_chances(
    counts: list[tuple[int, int, int]], weights: Weights
) -> None:
    even = scored(counts, weights).sort("lemma")
    scores = by_chance(even.with_columns(pi=1.0 / (2 + pl.int_range(pl.len()))))
    if scores["base"].sum() == 0:
        return
    found, star = loss(losses(scores)), scores["contribution"].sum()
    assert found.whole == pytest.approx(1 - star, abs=1e-12)
    assert found.missing + found.spurious + found.without_right == pytest.approx(found.whole)


@pytest.mark.parametrize("weights", ["gold", "published"])
@given(counts=COUNTS)
def test_only_faults_cost(counts: list[tuple[int, int, int]], weights: Weights) -> None:
    costs = losses(scored(counts, weights))
    for row in costs.iter_rows(named=True):
        if not row["n_missing"]:
            assert row["missing_cost"] == pytest.approx(0, abs=1e-12)
        if not row["n_spurious"]:
            assert row["spurious_cost"] == pytest.approx(0, abs=1e-12)
        if not row["n_missing"] and not row["n_spurious"]:
            assert row["cost"] == pytest.approx(0, abs=1e-12)


@given(st.integers(1, 30), st.integers(0, 30))
def test_missing_and_spurious_forms_cost_alike_within_a_lemma(common: int, faults: int) -> None:
    (row,) = losses(scored([(common, faults, faults)], "gold")).to_dicts()
    assert row["missing_cost"] == pytest.approx(row["spurious_cost"], abs=1e-12)


def test_a_lemma_without_a_right_form_is_a_part_of_its_own() -> None:
    found = loss(losses(scored([(0, 4, 3), (4, 0, 0), (2, 2, 0)], "gold")))
    assert (found.n_without_right, found.n_missing, found.n_spurious) == (1, 2, 0)
    assert found.without_right == pytest.approx(4 / 12)
    assert found.missing == pytest.approx(4 / 12 * (1 - 4 / 6))
    assert found.spurious == 0


def test_the_worked_example_of_the_measure() -> None:
    found = loss(losses(scored([(7, 3, 0)], "gold")))
    assert found.whole == pytest.approx(3 / 17)
    assert found.missing == pytest.approx(3 / 17)
