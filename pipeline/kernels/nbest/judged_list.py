"""A ranking as far as it was judged, and what stands above each of its ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class JudgedList:
    """Labels and chances in the order of the ranks: of all candidates, or of the judged alone.

    Parameters
    ----------
    labels : array of float, shape (..., judged)
        1 a true positive, 0 none, NaN not judged.
    pi : array of float, shape (..., judged)
        Inclusion probabilities of the judged, in (0, 1], NaN of others.
    k : array of float, shape (judged,)
        Their ranks, from 1 and ascending.
    candidates : int
        How many are ranked.
    """

    labels: FloatArray
    pi: FloatArray
    k: FloatArray
    candidates: int

    @classmethod
    def of(
        cls, labels: FloatArray, pi: FloatArray, ranks: npt.ArrayLike | None = None,
        candidates: int | None = None,
    ) -> JudgedList:  # fmt: skip
        """Return the list; of all candidates where no ranks are given.

        Examples
        --------
        >>> JudgedList.of(np.array([1.0]), np.array([0.5]), [3], 9).uncertain.tolist()
        [9]
        """
        if ranks is None or candidates is None:
            size = labels.shape[-1]
            return cls(labels, pi, np.arange(1.0, size + 1.0), size)
        return cls(labels, pi, np.asarray(ranks, dtype=np.float64), candidates)

    @property
    def drawn(self) -> BoolArray:
        """Return who was drawn with a chance below 1."""
        return np.asarray(self.pi < 1.0)

    @property
    def sure(self) -> BoolArray:
        """Return who was judged for certain."""
        return np.asarray(self.pi == 1.0)

    @property
    def uncertain(self) -> IntArray:
        """Return how many are not known for certain."""
        return np.asarray(self.candidates - self.sure.sum(axis=-1, keepdims=True))

    @property
    def inverse(self) -> FloatArray:
        """Return 1/pi of the draws without certainty, 0 of others."""
        drawn = self.drawn
        return np.where(drawn, 1.0 / np.where(drawn, self.pi, 1.0), 0.0)


def mean_above(sums: tuple[FloatArray, FloatArray, FloatArray], smoothing: float) -> FloatArray:
    """Return the share of true positives above, smoothed as if each draw had their mean weight.

    Parameters
    ----------
    sums : three arrays of float
        Over the draws above: weights, how many, weights of the true positives.
    smoothing : float
        As of `inferred_average_precision`.

    Examples
    --------
    >>> sums = (np.array([4.0]), np.array([2.0]), np.array([2.0]))
    >>> mean_above(sums, 0.0).tolist()
    [0.5]
    """
    weight, draws, hits = sums
    some = draws > 0.5
    each = smoothing * np.divide(weight, draws, out=np.zeros_like(weight), where=some)
    return np.divide(hits + each, weight + 2.0 * each, out=np.full_like(weight, 0.5), where=some)


def sums_above(values: npt.ArrayLike) -> FloatArray:
    """Return the sums over all candidates above.

    Examples
    --------
    >>> sums_above([1, 2, 3]).tolist()
    [0.0, 1.0, 3.0]
    """
    each = np.asarray(values, dtype=np.float64)
    return np.asarray(np.cumsum(each, axis=-1) - each)
