"""The sup-t factor of a simultaneous band over list sizes, and its pointwise level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.numeric import FloatArray, IntArray, check_bootstrap, tail_of
from pipeline.kernels.sampling import seeded_generator

_CELLS = 1_000_000  # numbers in an array: bounds the memory, and stays close to the processor


class Curve(NamedTuple):
    """An estimate for each list size n, by the ranks of the draws.

    Parameters
    ----------
    ranks : array of int, shape (draws,)
        The curve is the precision of the n-best list: who is in it has a rank up to n.
    minus : array of int, shape (draws,), optional
        Ranks under another measure, whose precision is taken away: a curve of differences.
    """

    ranks: npt.ArrayLike
    minus: npt.ArrayLike | None = None


def working_weights(pi: npt.ArrayLike, sd: npt.ArrayLike = 1.0) -> FloatArray:
    """Return each draw's share in the error of an estimate, up to the size of the list.

    ``sqrt(1 - pi_i) sd_i / pi_i``

    Parameters
    ----------
    pi : array_like of float, shape (draws,)
        Inclusion probabilities, in (0, 1]; candidates with 1 are known and add no error.
    sd : array_like of float, shape (draws,)
        Working standard deviation of each label, such as sqrt(p (1 - p)), p predicted; the same
        for all if nothing is known. Not the residuals of the sample, which are all 0 in some
        short lists.

    Returns
    -------
    array of float, shape (draws,)
        From 0.

    Raises
    ------
    ValueError
        If an inclusion probability is not in (0, 1], or a standard deviation is negative.

    Examples
    --------
    >>> working_weights([0.5, 1.0]).round(4).tolist()
    [1.4142, 0.0]
    """
    chance, spread = np.asarray(pi, dtype=np.float64), np.asarray(sd, dtype=np.float64)
    chance, spread = np.broadcast_arrays(chance, spread)
    wrong = np.flatnonzero(~((chance > 0) & (chance <= 1) & (spread >= 0)))
    if wrong.size:
        example = f"pi = {chance.flat[wrong[0]]}, sd = {spread.flat[wrong[0]]}"
        raise ValueError(
            f"draws need 0 < pi <= 1 and a standard deviation >= 0; {wrong.size:,} violate this, "
            f"for example {example}"
        )
    return np.asarray(np.sqrt(1.0 - chance) * spread / chance)


def band_factor(
    curves: Sequence[Curve],
    weights: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    confidence: float,
    replicates: int = 10_000,
    seed: str,
) -> float:
    """Return the factor c of the sup-t band over curves and list sizes.

    The quantile at `confidence` of ``max over n of |G(n)| / sd(G(n))`` with
    ``G(n) = sum over draws of g_i w_i a_i(n)``, g_i independent standard normal numbers, the same
    for all n and all curves, w_i the weights, and a_i(n) = 1/n where the draw is in the list
    (of a difference +1/n in the first list alone, -1/n in the second alone). 1/n is in G and its
    standard deviation, so that it cancels; what remains are sums over the draws in the order
    of their ranks, which change where a draw comes in only.

    Parameters
    ----------
    curves : sequence of Curve
        The curves covered at once: one measure, several, differences.
    weights : array_like of float, shape (draws,)
        What `working_weights` gives.
    n : array_like of int, shape (lists,)
        The declared list sizes: a range, or cuts. Sizes without an uncertain draw are omitted.
    confidence : float
        Confidence level in (0, 1).
    replicates : int
        Number of draws of the g_i; with 10,000 the error of the factor is about 0.01.
    seed : str
        Fixes the factor.

    Returns
    -------
    float
        From the normal quantile (for at most one list size, up to simulation error) to about that
        of Bonferroni's inequality. It assumes the normal distribution, and with limits that are
        exact at each n errs on the safe side.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1), there are no replicates, a list size is below 1, or
        a curve does not have one rank for each draw.

    References
    ----------
    Montiel Olea & Plagborg-Moller, Simultaneous Confidence Bands: Theory, Implementation, and an
    Application to SVARs (2019), algorithm 1; Hajek, Limiting Distributions in Simple Random
    Sampling from a Finite Population (1960), for 1 - pi.

    Examples
    --------
    >>> ranks = np.arange(1, 1001, 10)
    >>> weights = working_weights(np.full(100, 0.1))
    >>> options = {"confidence": 0.95, "seed": "s"}
    >>> round(band_factor([Curve(ranks)], weights, n=range(100, 1001), **options), 1)
    2.7
    """
    check_bootstrap(confidence=confidence, replicates=replicates)
    w, sizes = _check_curves(curves, weights, n)
    steps = [step for step in (_steps(curve, w, sizes) for curve in curves) if step.at.size]
    pointwise = float(-scipy.special.ndtri(tail_of(confidence)))
    if not steps:
        return pointwise
    widest = max(len(step.draw) for step in steps)
    most = np.concatenate(list(_replicate_maxima(steps, w, widest, replicates, seed)))
    return max(pointwise, float(np.quantile(most, confidence, method="higher")))


def band_level(factor: float) -> float:
    """Return the level alpha* at which any interval is taken to be part of the band.

    ``2 (1 - Phi(c))``

    Examples
    --------
    >>> round(band_level(1.959964), 6)
    0.05
    """
    return float(2.0 * scipy.special.ndtr(-factor))


def _check_curves(
    curves: Sequence[Curve], weights: npt.ArrayLike, n: npt.ArrayLike
) -> tuple[FloatArray, IntArray]:
    w, sizes = np.asarray(weights, dtype=np.float64), np.unique(np.asarray(n, dtype=np.int64))
    if sizes.size and sizes[0] < 1:
        raise ValueError(f"list sizes must be whole numbers >= 1, not {sizes[0]}")
    for number, curve in enumerate(curves, start=1):
        parts = [part for part in curve if part is not None]
        wrong = [len(np.asarray(part)) for part in parts if np.asarray(part).shape != w.shape]
        if wrong:
            raise ValueError(
                f"curve {number} has ranks of {wrong[0]:,} draws, but there are {w.size:,} "
                "weights: all curves need all draws, in the same order"
            )
    return w, sizes


class _Steps(NamedTuple):
    """A curve as a walk: a draw comes in, or comes in on the other side."""

    draw: IntArray  # whose turn it is
    sign: FloatArray
    at: IntArray  # after which step a list ends
    scale: FloatArray  # 1 / standard deviation there


def _steps(curve: Curve, w: FloatArray, sizes: IntArray) -> _Steps:
    uncertain = np.flatnonzero(w > 0)
    one = np.asarray(curve.ranks, dtype=np.int64)[uncertain]
    none = np.full(len(one), np.iinfo(np.int64).max)
    two = none if curve.minus is None else np.asarray(curve.minus, dtype=np.int64)[uncertain]
    last = sizes.max(initial=0)
    rank, draw = np.concatenate([one, two]), np.tile(uncertain, 2)
    sign = np.repeat([1.0, -1.0], len(one))
    # a draw counts from the rank where it is in one list, up to that where it is in both
    change = np.where(rank == np.tile(np.minimum(one, two), 2), 1, -1)
    change[len(one) :][one == two] = -1  # it comes into both at once
    order = np.argsort(rank, kind="stable")[: np.count_nonzero(rank <= last)]
    rank, draw, sign, change = rank[order], draw[order], sign[order], change[order]
    at = np.unique(np.searchsorted(rank, sizes, side="right")) - 1
    at = at[at >= 0]
    at = at[np.cumsum(change)[at] > 0]
    variance = np.cumsum(change * w[draw] ** 2)[at]
    return _Steps(draw, sign * w[draw], at, 1.0 / np.sqrt(variance))


def _replicate_maxima(
    steps: Sequence[_Steps], w: FloatArray, widest: int, replicates: int, seed: str
) -> Iterator[FloatArray]:
    """Yield the largest |G| / sd of each replicate, some replicates at a time."""
    bits = seeded_generator(seed=seed, purpose="simultaneous band")
    some = max(1, _CELLS // widest)
    for start in range(0, replicates, some):
        # a row for each draw, so that the numbers are those of all replicates in one go
        g = bits.standard_normal((min(some, replicates - start), len(w))).T
        most = np.zeros(g.shape[1])
        for step in steps:
            walk = np.cumsum(g[step.draw] * step.sign[:, None], axis=0)[step.at]
            most = np.maximum(most, (np.abs(walk) * step.scale[:, None]).max(axis=0))
        yield most
