from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from pipeline.kernels.annotation.agreement import (
    category_agreement,
    fleiss_kappa,
    fleiss_standard_error,
    krippendorff_alpha,
    mean_agreement,
    specific_agreement,
)

# fmt: off
DIAGNOSES = np.array([  # Fleiss 1971, table 1: 30 patients, 6 psychiatrists, 5 diagnoses
    [0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0], [0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0], [1, 1, 0, 4, 0], [0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1],
    [0, 0, 5, 0, 1], [3, 0, 0, 1, 2], [5, 1, 0, 0, 0], [0, 2, 0, 4, 0], [1, 0, 2, 0, 3],
    [0, 0, 0, 0, 6], [0, 1, 0, 5, 0], [0, 2, 0, 1, 3], [2, 0, 0, 4, 0], [1, 0, 0, 4, 1],
    [0, 5, 0, 1, 0], [4, 0, 0, 0, 2], [0, 2, 0, 4, 0], [1, 0, 5, 0, 0], [0, 0, 0, 0, 6],
])
OBSERVERS = [  # Krippendorff 2011, section C: four observers, twelve units, values missing
    "1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .",
]
# fmt: on
RATINGS = st.lists(
    st.lists(st.sampled_from([0, 1, 2]), min_size=0, max_size=5), min_size=1, max_size=12
)


def counts_of(ratings: list[list[int]], labels: int = 3) -> np.ndarray:
    return np.array([[unit.count(label) for label in range(labels)] for unit in ratings])


def one_against_rest(counts: np.ndarray, label: int) -> np.ndarray:
    return np.stack([counts[:, label], counts.sum(axis=1) - counts[:, label]], axis=1)


def slow_alpha(ratings: list[list[int]]) -> float:
    """Fill the matrix of coincidences pair by pair."""
    pairs: Counter[tuple[int, int]] = Counter()
    for unit in ratings:
        for a, b in permutations(unit, 2):
            pairs[a, b] += Fraction(1, len(unit) - 1)  # type: ignore[assignment]  # a fraction
    labels = Counter[int]()
    for (a, _), weight in pairs.items():
        labels[a] += weight
    total = sum(labels.values())
    expected = sum(labels[a] * labels[b] for a in labels for b in labels if a != b)
    if not expected:
        return float("nan")
    observed = sum(weight for (a, b), weight in pairs.items() if a != b)
    return float(1 - (total - 1) * Fraction(observed) / expected)


def slow_fleiss(ratings: list[list[int]]) -> float:
    units = [unit for unit in ratings if len(unit) > 1]
    if not units:
        return float("nan")
    agreed = [
        Fraction(sum(a == b for a, b in permutations(u, 2)), len(u) * (len(u) - 1)) for u in units
    ]
    shares = [sum(Fraction(u.count(j), len(u)) for u in units) / len(units) for j in range(3)]
    chance = sum(share**2 for share in shares)
    return (
        float("nan") if chance == 1 else float((sum(agreed) / len(units) - chance) / (1 - chance))
    )


def test_published_kappa() -> None:
    """Fleiss 1971: 0.430 overall; per category as R's irr::kappam.fleiss gives them."""
    assert float(mean_agreement(DIAGNOSES)) == pytest.approx(0.5556, abs=5e-5)
    assert float(fleiss_kappa(DIAGNOSES)) == pytest.approx(0.430, abs=5e-4)
    each = [float(fleiss_kappa(one_against_rest(DIAGNOSES, j))) for j in range(5)]
    assert [round(kappa, 3) for kappa in each] == [0.245, 0.245, 0.520, 0.471, 0.566]


def test_published_alpha() -> None:
    rows = [observer.split() for observer in OBSERVERS]
    counts = [[sum(row[i] == str(j) for row in rows) for j in range(1, 6)] for i in range(12)]
    assert float(krippendorff_alpha(counts)) == pytest.approx(0.743, abs=5e-4)


def test_agrees_with_statsmodels() -> None:
    assert float(fleiss_kappa(DIAGNOSES)) == pytest.approx(statsmodels_fleiss(DIAGNOSES), rel=1e-12)


def test_by_hand() -> None:
    # P = (1 + 1/3) / 2; labels 5 and 1 of 6: P_e = 26/36
    assert float(mean_agreement([[3, 0], [2, 1]])) == pytest.approx(2 / 3)
    assert float(fleiss_kappa([[3, 0], [2, 1]])) == pytest.approx((2 / 3 - 26 / 36) / (10 / 36))
    # o_11 = 3 + 1 of 6 labels, D_o = 2/6; D_e = 2 * 5 / 30
    assert float(krippendorff_alpha([[3, 0], [2, 1]])) == pytest.approx(0.0, abs=1e-15)
    assert category_agreement([[3, 0], [2, 1]]) == pytest.approx([8 / 10, 0.0])


@given(RATINGS)
def test_agrees_with_all_pairs(ratings: list[list[int]]) -> None:
    counts = counts_of(ratings)
    found = float(fleiss_kappa(counts)), float(krippendorff_alpha(counts))
    expected = slow_fleiss(ratings), slow_alpha(ratings)
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(RATINGS)
def test_standard_error_is_that_of_the_influence_of_each_item(ratings: list[list[int]]) -> None:
    counts = counts_of([unit for unit in ratings if len(unit) > 1])
    kappa = float(fleiss_kappa(counts)) if len(counts) else float("nan")
    if len(counts) < 2 or np.isnan(kappa):
        return
    n, step = len(counts), 1e-6
    heavier = fleiss_kappa(counts, weights=np.ones((n, n)) + step * np.eye(n))
    lighter = fleiss_kappa(counts, weights=np.ones((n, n)) - step * np.eye(n))
    influence = n * (heavier - lighter) / (2 * step)
    expected = np.sqrt((influence**2).sum() / (n * (n - 1)))
    assert float(fleiss_standard_error(counts)) == pytest.approx(expected, rel=1e-4, abs=1e-5)


@given(RATINGS, st.randoms())
def test_weights_repeat_items(ratings: list[list[int]], random: Random) -> None:
    counts = counts_of(ratings)
    weights = np.array([random.randint(0, 3) for _ in ratings])
    repeated = np.repeat(counts, weights, axis=0)
    for f in (
        mean_agreement,
        fleiss_kappa,
        fleiss_standard_error,
        krippendorff_alpha,
        category_agreement,
    ):
        both = f(counts, weights=np.stack([weights, np.ones_like(weights)]))
        assert both[0] == pytest.approx(f(repeated), abs=1e-9, nan_ok=True)
        assert both[1] == pytest.approx(f(counts), abs=1e-9, nan_ok=True)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=20))
def test_two_annotators(pairs: list[tuple[int, int]]) -> None:
    table = np.zeros((2, 2))
    for a, b in pairs:
        table[a, b] += 1
    counts = counts_of([list(pair) for pair in pairs], labels=2)
    expected = specific_agreement(table)
    assert category_agreement(counts) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    "f", [mean_agreement, fleiss_kappa, fleiss_standard_error, krippendorff_alpha]
)
def test_undefined(f: Callable[..., float]) -> None:
    assert np.isnan(f([[1, 0], [0, 1]]))  # nobody judged the same item
    assert np.isnan(f(np.zeros((0, 2))))
    if f is not mean_agreement:
        assert np.isnan(f([[3, 0], [2, 0]]))  # one label only
    assert not np.isnan(f([[3, 0], [1, 2]]))


def test_perfect_agreement() -> None:
    counts = [[3, 0], [0, 2], [4, 0]]
    assert float(fleiss_kappa(counts)) == 1.0
    assert float(krippendorff_alpha(counts)) == 1.0
    assert float(fleiss_standard_error(counts)) == 0.0
