from __future__ import annotations

from statistics import fmean, pvariance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from pipeline.kernels.statistics import cluster_bootstrap
from pipeline.kernels.statistics.cluster_bootstrap import (
    effective_clusters,
    error_and_freedom,
    replicate_sums,
    student_limits,
    student_p_values,
)

DRAWS = st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any)


def test_replicates_are_sums_of_resampled_clusters() -> None:
    counts = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    times = replicate_sums(counts, replicates=4000, seed="s")
    assert times.shape == (4000, 3)
    assert (times.sum(axis=1) == 3).all()
    # each is drawn Binomial(3, 1/3) times
    assert times.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.05)
    assert times.var(axis=0) == pytest.approx([2 / 3] * 3, abs=0.06)
    assert np.cov(times.T)[0, 1] == pytest.approx(-1 / 3, abs=0.05)


def test_the_seed_fixes_the_draws_for_any_columns_and_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = np.arange(24.0).reshape(6, 4)
    whole = replicate_sums(counts, replicates=50, seed="s")
    some = replicate_sums(counts[:, 1:3], replicates=50, seed="s")
    assert some.tolist() == whole[:, 1:3].tolist()
    monkeypatch.setattr(cluster_bootstrap, "_CELLS", 20)
    assert replicate_sums(counts, replicates=50, seed="s").tolist() == whole.tolist()
    assert replicate_sums(counts, replicates=50, seed="t").tolist() != whole.tolist()


def test_sums_without_clusters_are_zero() -> None:
    assert replicate_sums(np.zeros((0, 2)), replicates=3, seed="s").tolist() == [[0, 0]] * 3
    with pytest.raises(ValueError, match="out of range"):
        replicate_sums([[1]], replicates=0, seed="s")


def slow_effective(parts: list[list[int]]) -> float:
    shares = [[each / sum(part) for each in part] for part in parts]
    spread = [sum(part[c] ** 2 for part in shares) for c in range(len(parts[0]))]
    return sum(spread) ** 2 / sum(each**2 for each in spread)


@given(DRAWS)
def test_effective_clusters_agree_with_a_slow_twin(draws: list[int]) -> None:
    effective = float(effective_clusters([draws]))
    assert effective == pytest.approx(slow_effective([draws]))
    assert effective >= 1.0 - 1e-12
    assert effective <= sum(each > 0 for each in draws) * (1 + 1e-12)
    both = [draws, draws[::-1]]
    assert float(effective_clusters(both)) == pytest.approx(slow_effective(both))


def test_many_equal_clusters_are_counted_exactly() -> None:
    assert float(effective_clusters([np.ones(200_000)])) == pytest.approx(200_000)
    assert np.isnan(effective_clusters([[[0, 0]], [[1, 1]]])).tolist() == [True, False]
    assert np.isnan(effective_clusters([[1, 2], [0, 0]]))
    assert np.isnan(effective_clusters(np.zeros((1, 0))))


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=9), st.floats(1.5, 50))
def test_the_error_agrees_with_a_plain_variance(values: list[float], g: float) -> None:
    error, freedom = error_and_freedom(np.array(values)[:, None], [g])
    variance = pvariance(values, fmean(values)) * len(values) / (len(values) - 1)
    if variance > 1e-11:
        assert error[0] ** 2 == pytest.approx(variance * g / (g - 1), rel=1e-6)
        assert freedom[0] == pytest.approx(g - 1)
    elif variance < 1e-13:
        assert np.isnan(error[0])


def test_constant_or_unknown_values_have_no_error() -> None:
    nan = np.nan
    # two of three; one of three has a value; no spread; one cluster; no draws
    values = np.array(
        [[0.1, 0.1, 0.5, 0.1, 0.1], [0.3, nan, 0.5, 0.3, 0.3], [nan, nan, 0.5, 0.4, 0.2]]
    )
    error, freedom = error_and_freedom(values, [3, 3, 3, 1, nan])
    assert np.isnan(error).tolist() == [False, True, True, True, True]
    assert np.isnan(freedom).tolist() == np.isnan(error).tolist()
    assert error[0] == pytest.approx(np.sqrt(0.02 * 1.5))


@given(st.floats(-1, 1), st.floats(0.01, 1), st.floats(0.5, 100))
def test_limits_and_p_values_agree(d: float, error: float, freedom: float) -> None:
    p = float(student_p_values(d, error, freedom))
    assert p == pytest.approx(2 * student.sf(abs(d) / error, freedom), rel=1e-6)
    if 1e-6 < p < 0.999:
        lower, upper = map(float, student_limits(d, error, freedom, confidence=1 - p))
        assert (lower if d > 0 else upper) == pytest.approx(0.0, abs=1e-6)
