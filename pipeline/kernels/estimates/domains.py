"""Shares in parts of the candidates whose size is not known, such as all true positives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.estimates.hajek import Estimates
from pipeline.kernels.estimates.limits import limits
from pipeline.kernels.estimates.tuning import divided


class Weights(NamedTuple):
    """What draws stand for: arrays of shape (draws,)."""

    w: FloatArray
    """How many candidates, ``1 / pi``; 1 where all weigh the same."""
    c: FloatArray
    """How much of their variance is left, ``1 - pi``; 1 where it is not known of how many they
    are drawn."""
    simple: bool
    """Whether all weigh the same: then intervals are Clopper and Pearson's."""


def weights_of(pi: npt.ArrayLike | None, *, draws: int) -> Weights:
    """Return the weights of draws by their chances, or equal ones.

    Parameters
    ----------
    pi : array_like of float, shape (draws,), or None
        The chances that they were drawn with, in (0, 1]; None if all weigh the same.
    draws : int
        How many there are.

    Raises
    ------
    ValueError
        If a chance is not in (0, 1]: how many, and the first of them.

    Examples
    --------
    >>> weights_of([0.5, 1.0], draws=2).w.tolist()
    [2.0, 1.0]
    >>> weights_of(None, draws=2).c.tolist()
    [1.0, 1.0]
    """
    if pi is None:
        return Weights(np.ones(draws), np.ones(draws), simple=True)
    chance = np.asarray(pi, dtype=np.float64)
    wrong = ~((chance > 0) & (chance <= 1))
    if wrong.any():
        shown = ", ".join(f"{each:g}" for each in chance[wrong][:3])
        raise ValueError(f"{wrong.sum():,} chances are not in (0, 1], such as {shown}")
    return Weights(1.0 / chance, 1.0 - chance, simple=False)


class DomainShares(NamedTuple):
    """Shares with their limits, arrays of shape (domains,)."""

    share: FloatArray
    """In [0, 1]; NaN without draws."""
    lower: FloatArray
    upper: FloatArray


def domain_shares(
    hits: npt.ArrayLike, members: BoolArray, weights: Weights, *, confidence: float = 0.95
) -> DomainShares:
    """Estimate the share of hits in each domain from the draws that are in it.

    Hájek's ratio ``p = sum w y / sum w`` over the draws of the domain, those that were certain
    among them. With ``z = w (y - p) / sum w`` and m' uncertain draws its variance is
    ``m'/(m'-1) sum c (z - B)^2, B = sum c z / sum c``; limits are Korn and Graubard's. Where all
    draws weigh the same they are Clopper and Pearson's of k hits in m draws.

    Parameters
    ----------
    hits : array_like of bool, shape (domains, draws) or (draws,)
        What the share is of.
    members : array of bool, shape (domains, draws)
        Which draws are in which domain.
    weights : Weights
        What the draws stand for.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    DomainShares
        Limits are [0, 1] without draws. Where every draw of a domain was certain but others of
        the sample were not, the domain may have members that were not drawn: its draws count as
        a simple sample. Where all draws were certain, all is known, and limits have no width.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), section 5.8, on domains of
    unknown size; Korn & Graubard (1998); Clopper & Pearson (1934).

    Examples
    --------
    >>> y, all_of_them = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0], np.ones((1, 10), dtype=bool)
    >>> found = domain_shares(y, all_of_them, weights_of(None, draws=10))
    >>> [float(each[0].round(4)) for each in found]
    [0.5, 0.1871, 0.8129]
    """
    member = members.astype(np.float64)
    y = np.broadcast_to(np.asarray(hits, dtype=np.float64), member.shape)
    c = _left(weights, members)
    m, total = member.sum(axis=1), member @ weights.w
    p = np.divide((member * y) @ weights.w, total, out=np.full(m.shape, np.nan), where=total > 0)
    found = _estimates(y, member, weights, c, np.where(np.isnan(p), 0.0, p))
    known = (m > 0) & (c.sum(axis=1) == 0)
    made = limits(found._replace(p=p, estimate=p), confidence=confidence)
    lower, upper = (np.where(known, p, limit) for limit in made)
    return DomainShares(p, lower, upper)


def _left(weights: Weights, members: BoolArray) -> FloatArray:
    """Return c by domain: 1 for certain draws that do not tell how large their domain is."""
    c = np.where(members, weights.c, 0.0)
    if (weights.c == 0).all():
        return c
    return np.where(members & (c.sum(axis=1) == 0)[:, None], 1.0, c)


def _estimates(
    y: FloatArray, member: FloatArray, weights: Weights, c: FloatArray, p: FloatArray
) -> Estimates:
    """Return the shares as estimates that `limits.limits` can be made for."""
    m, w = member.sum(axis=1), member * weights.w
    scale = divided(w, w.sum(axis=1, keepdims=True))
    alike = (c * scale**2).sum(axis=1)
    variance = np.where(
        (c > 0).sum(axis=1) > 1, linear_variance(scale * (y - p[:, None]), c), p * (1.0 - p) * alike
    )
    if weights.simple:
        variance = divided(p * (1.0 - p), m)
    nothing = np.zeros_like(m)
    return Estimates(
        estimate=p, variance=variance, p=p, p_variance=variance, share=nothing + 1.0,
        shift=nothing, draws=m, most=divided(m**2, c.sum(axis=1)),
        alike=divided(nothing + 1.0, alike),
        heavy=divided((c * scale**3).sum(axis=1), alike), gain=nothing + 1.0, tau=nothing,
        floor=nothing, ceiling=nothing + 1.0, least=nothing,
    )  # fmt: skip


def linear_variance(z: FloatArray, c: FloatArray) -> FloatArray:
    """Return the variance of sums of z over the draws, as of a sample of fixed size.

    ``m'/(m'-1) sum c (z - B)^2, B = sum c z / sum c``, m' the draws with c above 0.

    Parameters
    ----------
    z : array of float, shape (..., draws)
        What each draw adds to an estimate, its weight included.
    c : array of float, shape (..., draws)
        ``1 - pi``; 0 for draws that are certain, or do not belong to it.

    Returns
    -------
    array of float, shape (...)
        From 0; 0 with one uncertain draw or none.

    References
    ----------
    Rosén, On Sampling with Probability Proportional to Size (1997).

    Examples
    --------
    >>> float(linear_variance(np.array([0.5, -0.5, 9.0]), np.array([1.0, 1.0, 0.0])))
    1.0
    """
    uncertain = (c > 0).sum(axis=-1).astype(np.float64)
    centre = divided((c * z).sum(axis=-1), c.sum(axis=-1))
    spread = (c * (z - centre[..., None]) ** 2).sum(axis=-1)
    return np.asarray(divided(uncertain, uncertain - 1.0) * spread)
