"""Entropy and the one-to-one assignment, against slow scalars and every permutation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from pipeline.kernels.lexicon.l_measure import assigned, best_match_f, entropy, lexicon_overlaps
from tests.kernels.lexicon.lexicons import Lexicon, frame, lexicons, most_in_common
from tests.kernels.lexicon.lexicons import entropy as slow_entropy


def table(gold: Lexicon, lexicon: Lexicon) -> pl.DataFrame:
    return lexicon_overlaps(frame(gold), frame(lexicon)).collect()


@given(lexicons, lexicons)
def test_entropy_equals_the_slow_scalar(gold: Lexicon, lexicon: Lexicon) -> None:
    found = entropy(table(gold, lexicon), frame(gold), frame(lexicon))
    wanted = slow_entropy(gold, lexicon)
    assert (found.value is None) == (wanted is None)
    assert found.value is None or found.value == pytest.approx(wanted, abs=1e-12)
    known = set().union(*gold.values())
    assert found.outside == sum(not forms & known for forms in lexicon.values())
    assert found.unknown == len(set().union(*lexicon.values()) - known)


def test_pure_clusters_have_no_entropy() -> None:
    gold = {"a": {"u", "v"}, "b": {"x"}}
    found = entropy(table(gold, gold), frame(gold), frame(gold))
    assert str(found.value) == "0.0"


def test_shared_forms_count_for_each_lemma() -> None:
    """One form of four lemmas: two bits, though n_ij / n_j would sum to 4."""
    gold = {lemma: {"x"} for lemma in "abcd"}
    assert entropy(table(gold, {"j": {"x"}}), frame(gold), frame({"j": {"x"}})).value == 2.0


@given(lexicons, lexicons)
def test_assignment_is_as_good_as_any_permutation(gold: Lexicon, lexicon: Lexicon) -> None:
    found = assigned(table(gold, lexicon))
    assert found["gold"].is_unique().all()
    assert found["lemma"].is_unique().all()
    assert found["n_ij"].sum() == most_in_common(gold, lexicon)


@given(st.integers(0, 10_000))
def test_assignment_of_dense_tables(seed: int) -> None:
    """Many lemmas that compete for many: the sure pairs do not suffice."""
    generator = np.random.default_rng(seed)
    weights = generator.integers(0, 6, size=tuple(generator.integers(1, 9, size=2)))
    i, j = np.nonzero(weights)
    made = pl.DataFrame(
        {"gold": [f"g{x}" for x in i], "lemma": [f"l{x}" for x in j], "n_ij": weights[i, j]},
        schema={"gold": pl.String, "lemma": pl.String, "n_ij": pl.Int64},
    )
    best = weights[linear_sum_assignment(weights, maximize=True)].sum()
    assert assigned(made)["n_ij"].sum() == best


@pytest.mark.parametrize(
    "weights",
    [
        [[1, 2, 3, 3], [2, 0, 2, 2], [1, 1, 1, 0], [2, 3, 0, 2]],
        [[3, 3, 0, 1], [3, 1, 0, 1], [1, 3, 1, 0], [3, 0, 2, 0]],
    ],
)
def test_assignment_where_no_pair_is_sure(weights: list[list[int]]) -> None:
    table = np.array(weights)
    i, j = np.nonzero(table)
    made = pl.DataFrame({"gold": i, "lemma": j, "n_ij": table[i, j]})
    made = made.with_columns(pl.col("gold", "lemma").cast(pl.String))
    best = table[linear_sum_assignment(table, maximize=True)].sum()
    assert assigned(made)["n_ij"].sum() == best
    assert best_match_f(made, gold_forms=best, lexicon_forms=best) == 1.0


def test_redundant_clusters_are_punished() -> None:
    gold = {"a": {"u", "v"}}
    twice = {"a": {"u", "v"}, "b": {"u", "v"}}
    assert best_match_f(table(gold, gold), gold_forms=2, lexicon_forms=2) == 1.0
    assert best_match_f(table(gold, twice), gold_forms=2, lexicon_forms=4) == pytest.approx(2 / 3)


def test_nothing_to_assign() -> None:
    assert assigned(table({}, {})).height == 0
    assert best_match_f(table({}, {}), gold_forms=0, lexicon_forms=0) is None
    assert best_match_f(table({}, {}), gold_forms=1, lexicon_forms=0) == 0.0
