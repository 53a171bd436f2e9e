"""Main effects of settings on a value: means of levels, and shares of the variance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.kernels.numeric import FloatArray, IntArray

_NO_WEIGHT = 1e-12
"""Weights below this one are rounding errors."""


@dataclass(frozen=True)
class MainEffects:
    """Main effects of k settings.

    Parameters
    ----------
    means : tuple of array
        For each setting the mean at each of its levels, with equal weights of the levels of all
        other settings.
    lower, upper : tuple of array
        Conservative limits of these means; NaN where an estimate has none.
    shares : array, shape (k,)
        Share of the variance that each setting explains, in [0, 1]; NaN if there is no variance.
    residual : float
        Share that the main effects of all settings together leave: interactions and chance.
    """

    means: tuple[FloatArray, ...]
    lower: tuple[FloatArray, ...]
    upper: tuple[FloatArray, ...]
    shares: FloatArray
    residual: float


class ConfoundedSettings(ValueError):
    """Settings whose effects the values cannot tell apart.

    Parameters
    ----------
    settings : sequence of int
        Their places.
    """

    def __init__(self, settings: Sequence[int]) -> None:
        self.settings = tuple(settings)
        super().__init__("the effects of these settings cannot be told apart")


def main_effects(
    values: FloatArray,
    codes: IntArray,
    levels: Sequence[int],
    lower: FloatArray | None = None,
    upper: FloatArray | None = None,
) -> MainEffects:
    """Return the main effects of settings by least squares on dummy columns.

    The model is y = mean + sum of one effect for each setting's level. The mean of a level is the
    prediction for it, averaged over all levels of the other settings with equal weights
    (least-squares mean). The sum of squares of a setting is that of type II: how much the residual
    sum grows without it, eta^2 = SS_setting / SS_total. If all combinations occur equally often,
    the means are plain means, eta^2 is that of the usual analysis of variance, and the shares and
    the residual add up to 1; otherwise they need not.

    A mean is sum_i w_i y_i; its limits are mean -+ sum_i abs(w_i) h_i with the half-widths h_i of
    the estimates, on the side that the sign of w_i says. They hold for any dependence of the
    estimates: points that share a sample err together, and limits that shrink by 1 / sqrt(n), as
    those of independent estimates, would be too narrow. They are limits of means, and too wide for
    differences of means, whose errors partly cancel.

    Parameters
    ----------
    values : array, shape (n,)
        Finite values, n >= 1.
    codes : array, shape (n, k)
        The level of each setting, from 0.
    levels : sequence of int
        The number of levels of each setting, all of which occur.
    lower, upper : array, shape (n,), optional
        Limits of the values; NaN if unknown.

    Returns
    -------
    MainEffects
        Means, limits and shares.

    Raises
    ------
    ConfoundedSettings
        If the values cannot tell the effects of some settings apart, for example because one
        setting follows from another.

    References
    ----------
    Fox, J. (2016). Applied regression analysis and generalized linear models, chapter 8. Sage.
    Searle, Speed & Milliken (1980). Population marginal means. The American Statistician 34.

    Examples
    --------
    >>> y = np.array([0.2, 0.4, 0.6, 0.4, 0.6, 0.8])
    >>> codes = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]])
    >>> effects = main_effects(y, codes, [2, 3])
    >>> [each.round(2).tolist() for each in effects.means], effects.shares.round(4).tolist()
    ([[0.4, 0.6], [0.3, 0.5, 0.7]], [0.2727, 0.7273])
    """
    starts = np.cumsum([1, *levels])
    columns = np.hstack([np.zeros((len(values), 1), np.int64), codes + starts[:-1]])
    size = int(starts[-1])
    products = _products(columns, size)
    _require_distinct(products, starts)
    centre = float(values.mean())
    centred = values - centre
    whole = _Fit(products, columns, centred, np.arange(size))
    total = float(centred @ centred)
    shares = []
    for place in range(len(levels)):
        terms = np.r_[0 : starts[place], starts[place + 1] : size]
        without = _Fit(products, np.delete(columns, place + 1, axis=1), centred, terms)
        shares.append(max(0.0, without.residual - whole.residual))
    means, low, high = [], [], []
    for place, count in enumerate(levels):
        contrast = np.concatenate([[1.0], *(np.full(each, 1 / each) for each in levels)])
        contrast[starts[place] : starts[place + 1]] = 0
        contrasts = np.tile(contrast, (count, 1))
        contrasts[np.arange(count), starts[place] + np.arange(count)] = 1
        means.append(contrasts @ whole.effects + centre)
        if lower is not None and upper is not None:
            widths = np.array([_widths(whole.inverse @ c, columns, values, lower, upper)
                               for c in contrasts])  # fmt: skip
            low.append(means[-1] - widths[:, 0])
            high.append(means[-1] + widths[:, 1])
        else:
            low.append(np.full(count, np.nan))
            high.append(np.full(count, np.nan))
    of_total = total if np.ptp(values) > 0 else np.nan
    return MainEffects(
        tuple(means), tuple(low), tuple(high), np.array(shares) / of_total,
        whole.residual / of_total,
    )  # fmt: skip


def _products(columns: IntArray, size: int) -> FloatArray:
    """Return X'X of the dummy columns: how often two levels occur together."""
    counts = np.zeros(size * size)
    for one in columns.T:
        for other in columns.T:
            counts += np.bincount(one * size + other, minlength=size * size)
    return counts.reshape(size, size)


def _require_distinct(products: FloatArray, starts: IntArray) -> None:
    size, settings = len(products), len(starts) - 1
    rank = np.linalg.matrix_rank(products, hermitian=True)
    if rank == size - settings:
        return
    places = []
    for place in range(settings):
        terms = np.r_[0 : starts[place], starts[place + 1] : size]
        own = starts[place + 1] - starts[place] - 1
        rest = np.linalg.matrix_rank(products[np.ix_(terms, terms)], hermitian=True)
        if rank - rest < own:
            places.append(place)
    raise ConfoundedSettings(places)


class _Fit:
    """Least squares on some of the dummy columns."""

    def __init__(
        self, products: FloatArray, columns: IntArray, values: FloatArray, terms: IntArray
    ) -> None:
        size = len(products)
        self.inverse = np.zeros((size, size))
        some = np.ix_(terms, terms)
        self.inverse[some] = np.linalg.pinv(products[some], hermitian=True)
        sums = np.zeros(size)
        for column in columns.T:
            sums += np.bincount(column, weights=values, minlength=size)
        self.effects = self.inverse @ sums
        errors = values - self.effects[columns].sum(axis=1)
        self.residual = float(errors @ errors)


def _widths(
    of_columns: FloatArray,
    columns: IntArray,
    values: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> tuple[float, float]:
    """Return the distances of the limits from a mean, below and above."""
    weights = of_columns[columns].sum(axis=1)
    counted = np.abs(weights) > _NO_WEIGHT
    weights, below, above = weights[counted], (values - lower)[counted], (upper - values)[counted]
    positive = weights > 0
    return (
        float(np.abs(weights) @ np.where(positive, below, above)),
        float(np.abs(weights) @ np.where(positive, above, below)),
    )
