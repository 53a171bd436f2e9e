from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.annotation.agreement import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    gwet_standard_error,
    mean_agreement,
    partial_agreement,
)

# fmt: off
OBSERVERS = [  # Gwet's cac.raw4raters: four raters, twelve units, values missing
    "1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .",
]
# fmt: on
RAW = np.array(
    [[sum(row.split()[i] == str(j) for row in OBSERVERS) for j in range(1, 6)] for i in range(12)]
)  # fmt: skip
RATINGS = st.lists(
    st.lists(st.sampled_from([0, 1, 2]), min_size=0, max_size=5), min_size=1, max_size=12
)


def counts_of(ratings: list[list[int]]) -> np.ndarray:
    return np.array([[unit.count(label) for label in range(3)] for unit in ratings])


def slow_ac(ratings: list[list[int]], close: list[list[Fraction]]) -> float:
    """Take every two annotators of an item, with fractions."""
    given, several = [unit for unit in ratings if unit], [u for u in ratings if len(u) > 1]
    if not several:
        return float("nan")
    agreed = sum(
        sum((close[a][b] for a, b in permutations(u, 2)), Fraction(0)) / (len(u) * (len(u) - 1))
        for u in several
    ) / len(several)
    shares = [sum(Fraction(u.count(j), len(u)) for u in given) / len(given) for j in range(3)]
    chance = sum(map(sum, close)) / Fraction(6) * sum(share * (1 - share) for share in shares)
    return float((agreed - chance) / (1 - chance)) if chance != 1 else float("nan")


def test_published_values() -> None:
    # R's irrCAC for its data set cac.raw4raters: agreement, AC1 and its standard error
    assert float(mean_agreement(RAW)) == pytest.approx(0.8181818, abs=5e-8)
    assert float(gwet_ac(RAW)) == pytest.approx(0.7754441, abs=5e-8)
    assert float(gwet_standard_error(RAW)) == pytest.approx(0.14295, abs=5e-6)


def test_rare_labels() -> None:
    """At 11 % positives of both, an agreement of .92 has a kappa of .59 and an AC1 of .90."""
    table = np.array([[7, 4], [4, 85]])
    counts = [[2, 0]] * 7 + [[1, 1]] * 8 + [[0, 2]] * 85
    assert round(float(cohen_kappa(table)), 2) == 0.59
    assert round(float(fleiss_kappa(counts)), 2) == 0.59
    assert round(float(gwet_ac(counts)), 2) == 0.90


def test_by_hand() -> None:
    # P = (1 + 1/3) / 2; shares (1 + 2/3) / 2 and 1/6: P_e = 2/2 * 2 * 5/36
    assert float(gwet_ac([[3, 0], [2, 1]])) == pytest.approx((2 / 3 - 10 / 36) / (26 / 36))
    # linear: the middle label is half of each. P = 1/2, P_e = 5/6 * 1/2
    linear = partial_agreement(3, closeness="linear")
    assert float(gwet_ac([[1, 1, 0]], partial=linear)) == pytest.approx((1 / 2 - 5 / 12) / (7 / 12))


def test_partial_agreement() -> None:
    assert partial_agreement(3, closeness="quadratic")[0].tolist() == [1.0, 0.75, 0.0]
    assert partial_agreement(2, closeness="linear").tolist() == np.eye(2).tolist()
    assert partial_agreement(1, closeness="linear").tolist() == [[1.0]]
    assert partial_agreement(4).tolist() == np.eye(4).tolist()


@given(RATINGS, st.sampled_from(["identity", "linear", "quadratic"]))
def test_agrees_with_all_pairs(ratings: list[list[int]], closeness: str) -> None:
    partial = partial_agreement(3, closeness=closeness)  # type: ignore[arg-type]
    close = [[Fraction(value) for value in row] for row in partial.tolist()]
    found = float(gwet_ac(counts_of(ratings), partial=partial))
    assert found == pytest.approx(slow_ac(ratings, close), abs=1e-12, nan_ok=True)


@given(RATINGS)
def test_standard_error_is_that_of_the_influence_of_each_item(ratings: list[list[int]]) -> None:
    counts = counts_of([unit for unit in ratings if len(unit) > 1])
    if len(counts) < 2 or np.isnan(gwet_ac(counts)):
        return
    n, step = len(counts), 1e-6
    heavier = gwet_ac(counts, weights=np.ones((n, n)) + step * np.eye(n))
    lighter = gwet_ac(counts, weights=np.ones((n, n)) - step * np.eye(n))
    influence = n * (heavier - lighter) / (2 * step)
    expected = np.sqrt((influence**2).sum() / (n * (n - 1)))
    assert float(gwet_standard_error(counts)) == pytest.approx(expected, rel=1e-4, abs=1e-5)


@given(RATINGS, st.randoms())
def test_weights_repeat_items(ratings: list[list[int]], random: Random) -> None:
    counts = counts_of(ratings)
    weights = np.array([random.randint(0, 3) for _ in ratings])
    for f in (gwet_ac, gwet_standard_error):
        both = f(counts, weights=np.stack([weights, np.ones_like(weights)]))
        assert both[0] == pytest.approx(
            f(np.repeat(counts, weights, axis=0)), abs=1e-9, nan_ok=True
        )
        assert both[1] == pytest.approx(f(counts), abs=1e-9, nan_ok=True)


@given(RATINGS, st.permutations([0, 1, 2]))
def test_names_of_labels_do_not_matter(ratings: list[list[int]], order: list[int]) -> None:
    counts = counts_of(ratings)
    for f in (gwet_ac, gwet_standard_error):
        assert float(f(counts)) == pytest.approx(float(f(counts[:, order])), abs=1e-12, nan_ok=True)


def test_coverage_of_the_normal_interval() -> None:
    """Two annotators of 120 items, 11 % positive, who err in 4 %: 3,000 samples."""
    bits = np.random.default_rng(4)
    cells = np.array([0.07, 0.08, 0.85])  # both, one of them, none
    patterns = np.array([[2, 0], [1, 1], [0, 2]])
    samples = bits.multinomial(120, cells, size=3000)
    found, error = (f(patterns, weights=samples) for f in (gwet_ac, gwet_standard_error))
    true = float(gwet_ac(patterns, weights=1e6 * cells))
    held = (np.abs(found - true) <= 1.96 * error).mean()
    assert 0.92 <= held <= 0.97


def test_undefined_and_perfect() -> None:
    for f in (gwet_ac, gwet_standard_error):
        assert np.isnan(f([[1, 0], [0, 1]]))  # nobody judged the same item
        assert np.isnan(f(np.zeros((0, 2))))
        assert np.isnan(f([[2], [3]]))  # no choice
    assert float(gwet_ac([[3, 0], [0, 2], [4, 0]])) == 1.0
    assert float(gwet_ac([[3, 0], [2, 0]])) == 1.0  # one label only: defined, unlike kappa
    assert float(gwet_standard_error([[3, 0], [0, 2], [4, 0]])) == 0.0
    assert np.isnan(gwet_standard_error([[2, 1]]))


def test_mistakes_are_refused() -> None:
    with pytest.raises(ValueError, match="there are identity, linear, quadratic"):
        partial_agreement(3, closeness="cubic")  # type: ignore[arg-type]
    for partial in ([[1.0, 0.2], [0.3, 1.0]], [[1.0]], [[1.0, 2.0], [2.0, 1.0]]):
        with pytest.raises(ValueError, match="partial agreement of 2 labels"):
            gwet_ac([[2, 1]], partial=partial)
