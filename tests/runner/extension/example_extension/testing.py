"""A test and a correction of one's own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.kernels.statistics.exact_tests import Alternative, correction, exact_test, fisher

FloatArray = npt.NDArray[np.float64]


@exact_test(title="twice Fisher's test", reference="none")
def twice_fisher(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    alternative: Alternative = "two_sided",
) -> FloatArray:
    """Return twice the p-values of Fisher's test, at most 1."""
    return np.minimum(2.0 * fisher(k1, n1, k2, n2, alternative=alternative), 1.0)


@correction(title="the doubled method", reference="nobody")
def times_twice(p: npt.ArrayLike) -> FloatArray:
    """Return p-values times twice their number, at most 1."""
    values = np.asarray(p, dtype=np.float64)
    return np.minimum(2.0 * values * np.count_nonzero(~np.isnan(values)), 1.0)
