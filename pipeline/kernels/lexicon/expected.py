"""How sure L* would be from other samples of lemmas, judged by the ones that were drawn."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.lexicon.by_chance import unequal
from pipeline.kernels.lexicon.limits import sample_of
from pipeline.kernels.lexicon.ratio import expected_error


class Spread(NamedTuple):
    """What drawn lemmas say of all: how many each stands for, its size, what it adds to the error.

    Arrays of shape (lemmas,).
    """

    weight: FloatArray
    """1/pi, scaled to add up to the number of all lemmas."""
    x: FloatArray
    """Forms in the gold, 1 at least: what a sample by size goes by."""
    e: FloatArray
    """``base (L size / base - L*) / sum base``, the sum over all lemmas."""

    @property
    def population(self) -> float:
        """All lemmas that the drawn ones stand for."""
        return float(self.weight.sum())

    @property
    def correction(self) -> float:
        """``S / (S - 1)``: the spread is about their own mean."""
        return len(self.e) / (len(self.e) - 1)


def spread_of(scores: pl.DataFrame) -> Spread | None:
    """Return what the lemmas say of all; None of fewer than two, or of none that weighs.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores` of lemmas drawn at random.
    """
    ordered = scores.sort("lemma")
    size, value, base, pi, forms = (
        ordered[name].cast(pl.Float64).to_numpy() for name in ("size", "L", "base", "pi", "n_gold")
    )
    if scores.height < 2 or not base.any():
        return None
    weight = 1.0 / pi
    weight *= float(ordered["population"][0]) / weight.sum()
    whole = float(weight @ base)
    star = float(weight @ (size * value)) / whole
    return Spread(weight, np.maximum(forms, 1.0), (size * value - star * base) / whole)


def chances_by_size(spread: Spread, size: float) -> FloatArray:
    """Return with what chance each lemma would be drawn by size, so that about `size` are.

    Examples
    --------
    >>> two = Spread(np.array([10.0, 1.0]), np.array([1.0, 50.0]), np.zeros(2))
    >>> chances_by_size(two, 3.0).tolist()
    [0.2, 1.0]
    """
    order = np.argsort(-spread.x, kind="stable")
    weight, x = spread.weight[order], spread.x[order]
    taken = np.cumsum(weight) - weight  # by the lemmas that are larger
    rest = np.cumsum((weight * x)[::-1])[::-1]
    factors = np.maximum(size - taken, 0.0) / rest
    below = factors * x < 1.0
    factor = factors[int(np.argmax(below))] if below.any() else np.inf
    return np.asarray(np.minimum(factor * spread.x, 1.0))


def error_by_size(spread: Spread, size: float) -> float:
    """Return the standard error to expect of L* from so many lemmas, drawn by size.

    ``sqrt(S/(S-1) sum w_i (1/pi_i - 1) e_i^2)``, pi their chances then.

    Examples
    --------
    >>> ten = Spread(np.full(10, 10.0), np.ones(10), np.array([0.01, -0.01] * 5))
    >>> round(error_by_size(ten, 20), 4), error_by_size(ten, 100)
    (0.2108, 0.0)
    """
    open_ = np.maximum(1.0 / chances_by_size(spread, size) - 1.0, 0.0)
    return math.sqrt(spread.correction * float(spread.weight @ (open_ * spread.e**2)))


def error_simple(spread: Spread, size: float) -> float:
    """Return the standard error to expect of L* from so many lemmas, all with the same chance.

    Examples
    --------
    >>> ten = Spread(np.full(10, 10.0), np.ones(10), np.array([0.01, -0.01] * 5))
    >>> round(error_simple(ten, 20), 4)
    0.2108
    """
    open_ = max(spread.population / size - 1.0, 0.0)
    return math.sqrt(spread.correction * open_ * float(spread.weight @ spread.e**2))


class Expected(NamedTuple):
    """Standard errors to expect at a sampling rate; None where the lemmas do not tell."""

    rate: float
    size: int
    simple: float | None
    by_size: float | None


def expected_errors(scores: pl.DataFrame, rates: Sequence[float]) -> list[Expected]:
    """Return how sure L* would be at other sampling rates.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores` of lemmas drawn at random.
    rates : sequence of float
        In (0, 1].
    """
    sample = sample_of(scores)
    spread = spread_of(scores) if scores["drawn"].all() else None
    made = []
    for rate in rates:
        size, simple = expected_error(sample, rate=rate)
        if spread is None or not size:
            made.append(Expected(rate, size, simple, None))
            continue
        if unequal(scores):
            simple = error_simple(spread, size)
        by_size = error_by_size(spread, size) if size < sample.population else 0.0
        made.append(Expected(rate, size, simple, by_size))
    return made


def lemmas_by_size(scores: pl.DataFrame, *, error: float) -> int:
    """Return how many lemmas drawn by size make the standard error of L* so small.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores` of lemmas drawn at random, two or more.
    error : float
        Above 0.

    Returns
    -------
    int
        From 1 to the number of all lemmas.
    """
    spread = spread_of(scores)
    whole = int(scores["population"][0])
    if spread is None:
        return whole
    sizes = range(1, whole)
    return 1 + bisect.bisect_left(sizes, -error, key=lambda size: -error_by_size(spread, size))
