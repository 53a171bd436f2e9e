from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from pipeline.kernels.statistics.differences import (
    beyond_margin,
    difference_limits,
    equivalence_p_values,
    equivalent,
    margin_p_values,
)

METHODS = ("hypergeometric", "clopper_pearson", "wilson", "jeffreys")
Counts = tuple[int, int, int, int, int, int]


@st.composite
def tables(draw: st.DrawFn) -> Counts:
    size = draw(st.integers(1, 40))
    n1, n2 = draw(st.integers(0, size)), draw(st.integers(0, size))
    k1, k2 = draw(st.integers(0, n1)), draw(st.integers(0, n2))
    return k1, n1, k2, n2, size, size + draw(st.integers(0, 40))


def limits(table: Counts, confidence: float, method: str) -> tuple[np.ndarray, np.ndarray]:
    *counts, size, whole = table
    return difference_limits(
        *counts, size=size, list_size=whole, method=method, confidence=confidence
    )


@pytest.mark.long
@given(st.lists(tables(), min_size=1, max_size=4), st.sampled_from(METHODS),
       st.sampled_from([0.0, 0.05, 0.3]))  # fmt: skip
def test_the_level_at_which_limits_decide(some: list[Counts], method: str, margin: float) -> None:
    """Just above the p-value of each row its own limits decide, just below they do not."""
    *counts, size, whole = np.array(some).T
    sets: dict[str, Any] = {"size": size, "list_size": whole, "method": method}
    beyond = margin_p_values(*counts, **sets, margin=margin)
    alike = equivalence_p_values(*counts, **sets, bound=0.2)
    for table, p, q in zip(some, beyond, alike, strict=True):
        if 1e-9 < p < 0.999:
            above, below = (limits(table, 1 - p * each, method) for each in (1.0001, 0.9999))
            assert beyond_margin(*above, margin=margin)
            assert not beyond_margin(*below, margin=margin)
        if 1e-9 < q < 0.499:
            above, below = (limits(table, 1 - 2 * q * each, method) for each in (1.0001, 0.9999))
            assert equivalent(*above, margin=0.2)
            assert not equivalent(*below, margin=0.2)


@pytest.mark.long
@given(tables(), st.sampled_from(METHODS))
def test_laws(table: Counts, method: str) -> None:
    k1, n1, k2, n2, size, whole = table
    sets: dict[str, Any] = {"size": size, "list_size": whole, "method": method}
    straight, turned = (
        [
            float(margin_p_values(*counts, **sets, margin=0.1)[0]),
            float(equivalence_p_values(*counts, **sets, bound=0.1)[0]),
        ]
        for counts in ((k1, n1, k2, n2), (k2, n2, k1, n1))
    )
    assert straight == pytest.approx(turned, rel=1e-6)
    assert max(straight) == 1.0 or sum(straight) > 0.0
    larger = margin_p_values(k1, n1, k2, n2, **sets, margin=0.2)[0]
    assert larger >= straight[0] - 1e-12


def test_known_sets() -> None:
    # the same lists; both judged as a whole, 4 true positives of 8 more; nothing judged
    counts = [0, 6, 0], [0, 8, 0], [0, 2, 0], [0, 8, 0]
    sets: dict[str, Any] = {"size": [0, 8, 8], "list_size": 16}
    assert margin_p_values(*counts, **sets, margin=0.2).tolist() == pytest.approx([1, 1e-16, 1])
    assert margin_p_values(*counts, **sets, margin=0.25).tolist() == [1.0, 1.0, 1.0]
    assert equivalence_p_values(*counts, **sets, bound=0.3).tolist() == pytest.approx(
        [1e-16, 1e-16, 1.0]
    )


def test_no_rows_and_mistakes() -> None:
    assert margin_p_values([], [], [], [], size=[], list_size=[], margin=0.0).tolist() == []
    with pytest.raises(ValueError, match="relevance margin"):
        margin_p_values(1, 2, 1, 2, size=3, list_size=3, margin=-1.0)


def test_the_shortest_interval_is_tested_by_the_one_that_grows_with_confidence() -> None:
    counts = (9, 20, 3, 20)
    sets: dict[str, Any] = {"size": 30, "list_size": 60}
    short, usual = (
        margin_p_values(*counts, **sets, margin=0.0, method=method).item()
        for method in ("hypergeometric_shortest", "hypergeometric")
    )
    assert short == usual


def every(n1: int, n2: int) -> tuple[np.ndarray, np.ndarray]:
    k1, k2 = np.meshgrid(range(n1 + 1), range(n2 + 1), indexing="ij")
    return k1.ravel(), k2.ravel()


DESIGNS = [(5, 5), (10, 10), (20, 6), (20, 20)]


@pytest.mark.parametrize(("n1", "n2"), DESIGNS)
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_size_for_these_candidates(n1: int, n2: int, margin: float) -> None:
    """Exact size over all true positives of D1 and D2 that differ by the margin."""
    size = 40
    k1, k2 = every(n1, n2)
    sets: dict[str, Any] = {"size": size, "list_size": 2 * size}
    beyond = margin_p_values(k1, n1, k2, n2, **sets, margin=margin) <= 0.05
    step = round(2 * size * margin)
    K = np.arange(size - step + 1)
    assert rejected(beyond, (n1, n2), size, K + step, K).max() <= 0.055
    if margin:
        alike = equivalence_p_values(k1, n1, k2, n2, **sets, bound=margin) <= 0.05
        assert rejected(alike, (n1, n2), size, K + step, K).max() <= 0.055


def rejected(
    decided: np.ndarray, draws: tuple[int, int], size: int, K1: np.ndarray, K2: np.ndarray
) -> np.ndarray:
    """Return the probability of each pair of numbers of true positives that a test decides."""
    chances = [
        hypergeom.pmf(np.arange(n + 1), size, K[:, None], n)
        for n, K in zip(draws, (K1, K2), strict=True)
    ]
    return np.asarray(
        np.einsum("Ki,ij,Kj->K", chances[0], decided.reshape(*(n + 1 for n in draws)), chances[1])
    )


@pytest.mark.parametrize(("n1", "n2"), DESIGNS)
def test_size_beyond_the_candidates(n1: int, n2: int) -> None:
    k1, k2 = every(n1, n2)
    sets: dict[str, Any] = {"size": 1000, "list_size": 2000, "method": "clopper_pearson"}
    beyond = margin_p_values(k1, n1, k2, n2, **sets, margin=0.0) <= 0.05
    p = np.linspace(0.01, 0.99, 99)[:, None]
    one, two = (binom.pmf(np.arange(n + 1), n, p) for n in (n1, n2))
    found = np.einsum("Ki,ij,Kj->K", one, beyond.reshape(n1 + 1, n2 + 1), two)
    assert found.max() <= 0.055
