"""An interval of one's own."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from pipeline.kernels.statistics.intervals import Limits, interval


@interval(reference="none")
def textbook(k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95) -> Limits:
    """Return the normal interval around k / n."""
    trials = np.maximum(np.asarray(n, dtype=np.float64), 1.0)
    share = np.where(np.asarray(n) > 0, np.asarray(k) / trials, 0.5)
    half = NormalDist().inv_cdf(0.5 + confidence / 2.0) * np.sqrt(share * (1.0 - share) / trials)
    return (share - half).clip(0.0, 1.0), (share + half).clip(0.0, 1.0)
