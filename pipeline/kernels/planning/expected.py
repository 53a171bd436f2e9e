"""What is expected of the candidates, and how far limits of each question lie apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.design.estimands import LEAST_VARIANCE, Estimands, estimands, residual_sums
from pipeline.kernels.design.inclusion import inclusion
from pipeline.kernels.design.sets import Sets, set_sums
from pipeline.kernels.estimates.tuning import ENOUGH, divided


class Spread(NamedTuple):
    """How uncertain the answer to each question is: arrays of shape (questions,)."""

    variance: FloatArray
    """Of the estimate."""
    further: FloatArray
    """Half the weight of a further draw: limits lie that much further out than by the normal
    distribution."""


Spreads = Callable[[int], Spread]
"""The spread of each question's estimate from a sample of some size."""
_NEVER = 1e12
"""(1 - pi) / pi of who is never drawn: large enough for no question to be answered."""


@dataclass(frozen=True)
class Expected:
    """The questions, with what is expected of the candidates before the sample is drawn.

    Parameters
    ----------
    asked : Estimands
        The questions, with the residuals that probabilities p_i leave within each set.
    size : array of float, shape (sets,)
        |A|, the members of each set.
    noise : array of float, shape (sets,)
        P_A (1 - P_A), P_A the expected precision of the set.
    scale : array of float, shape (sets,)
        What the residuals are multiplied by, so that their mean is that of the expected precision.
    rho2 : array of float, shape (sets,)
        Share of the variance within each set that predictions explain, in [0, 1].
    """

    asked: Estimands
    size: FloatArray
    noise: FloatArray
    scale: FloatArray
    rho2: FloatArray


def expected(sets: Sets, *, p: FloatArray, precision: FloatArray, rho2: FloatArray) -> Expected:
    """Put questions and expectations together.

    Within a set A the squared residuals are ``p_i (1-p_i) + (p_i - p_A)^2``, times what makes
    their mean ``P_A (1-P_A)``, P_A the precision that is expected of the set: the model says how
    precision falls along a list, the estimate of the set how high it is.

    Parameters
    ----------
    sets : Sets
        The sets.
    p : array of float, shape (candidates,)
        Expected probability of a true positive; a constant where nothing is known.
    precision : array of float, shape (sets,)
        P_A, in [0, 1]. Where it is nearly 0 or 1 the variance is that of 0.01.
    rho2 : array of float, shape (sets,)
        As in `Expected`.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.design.sets import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([2])
    ... )
    >>> expected(
    ...     sets, p=np.full(4, 0.5), precision=np.array([0.5, 0.1]), rho2=np.zeros(2)
    ... ).scale.round(6).tolist()
    [1.0, 0.36]
    """
    asked = estimands(sets, p=p, judged=np.zeros(len(sets.ids), dtype=bool))
    ones = np.ones(len(sets.ids))
    size = set_sums(sets, [ones])[0]
    mean = divided(residual_sums(asked, ones), size)
    noise = np.maximum(precision * (1.0 - precision), LEAST_VARIANCE)
    return Expected(asked, np.maximum(size, 1.0), noise, divided(noise, mean), rho2)


def spreads(known: Expected, pi: FloatArray, *, assisted: bool) -> Spread:
    """Return how far the limits of each question are expected to lie apart under a design.

    Of a set A the mean has the variance

    ``V_A = (1 - rho_A^2 u_A) / |A|^2 sum_{i in A} v_i (1 - pi_i) / pi_i``,

    u_A = 0 without predictions. An estimate uses them where a set has 30 uncertain draws: u_A is
    the chance that it has, by the normal distribution. How many draws fall into a set varies, which
    makes V larger by 3/4 of the relative variance of their number. One draw weighs
    ``d_A = V_A / (P_A (1-P_A) r_A)``, r_A the uncertain share of the set. A further draw that came
    out otherwise moves limits of Clopper and Pearson's kind by about half as much, so that the
    half-width is ``z sqrt(V_A) + d_A / 2``; of a difference of two sets the squares are added up.

    Parameters
    ----------
    known : Expected
        Questions and expectations.
    pi : array of float, shape (candidates,)
        Inclusion probabilities.
    assisted : bool
        Whether predictions are in the estimates.

    Returns
    -------
    Spread
        Arrays of shape (questions,), from 0, where all is certain; huge where a candidate that
        counts has no chance.

    References
    ----------
    Rosen, Asymptotic Theory for Order Sampling (1997); Särndal, Swensson & Wretman, Model Assisted
    Survey Sampling (1992), section 6.6, on what predictions leave; Zou & Donner (2008) on
    differences.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.design.sets import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([4])
    ... )
    >>> half = np.full(2, 0.5)
    >>> known = expected(sets, p=np.full(4, 0.5), precision=half, rho2=np.zeros(2))
    >>> found = spreads(known, np.full(4, 0.5), assisted=False)  # 2 draws +- 1, of 4
    >>> found.variance.round(5).tolist(), found.further.round(5).tolist()
    ([0.07422, 0.07422], [0.14844, 0.14844])
    """
    asked = known.asked
    missed = np.where(pi > 0, divided(1.0 - pi, pi), _NEVER)
    uncertain = (pi < 1).astype(np.float64)
    draws, varying, members = set_sums(asked.sets, [pi * uncertain, pi * (1.0 - pi), uncertain])
    plain = known.scale * residual_sums(asked, missed) / known.size**2
    plain = plain * (1.0 + 0.75 * divided(varying, draws**2))
    draw = divided(plain, known.noise * members / known.size)
    used = known.rho2 * _enough(draws, varying) if assisted else 0.0
    return _of_questions(asked, known.size, plain * (1.0 - used) + used * draw**2, draw / 2.0)


def _enough(draws: FloatArray, varying: FloatArray) -> FloatArray:
    """Return the chance that a set has enough uncertain draws for predictions."""
    above = draws - (ENOUGH - 0.5)
    return np.asarray(scipy.special.ndtr(above / np.sqrt(np.maximum(varying, 1e-9))))


def _of_questions(
    asked: Estimands, size: FloatArray, variance: FloatArray, further: FloatArray
) -> Spread:
    """Add up the sets of each question, as MOVER does."""
    scale = size * np.sqrt(asked.square)
    sd, more = scale * np.sqrt(variance), scale * further
    total, joint = (
        np.bincount(asked.question, weights=each, minlength=asked.count).astype(np.float64)
        for each in (sd**2, sd * more)
    )
    return Spread(total, divided(joint, np.sqrt(total)))


def spreads_by_size(known: Expected, x: FloatArray, *, assisted: bool) -> Spreads:
    """Return what gives the spreads at any size, and remembers them.

    Parameters
    ----------
    known : Expected
        Questions and expectations.
    x : array of float, shape (candidates,)
        Size measures of the plan.
    assisted : bool
        Whether predictions are in the estimates.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.design.sets import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([2])
    ... )
    >>> known = expected(sets, p=np.full(4, 0.5), precision=np.full(2, 0.5), rho2=np.zeros(2))
    >>> at = spreads_by_size(known, np.ones(4), assisted=False)
    >>> at(4).variance.tolist(), bool((at(2).variance < at(1).variance).all())
    ([0.0, 0.0], True)
    """

    @cache
    def at(size: int) -> Spread:
        return spreads(known, inclusion(x, size=size), assisted=assisted)

    return at
