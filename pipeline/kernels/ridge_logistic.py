"""Logistic regression with a quadratic penalty, on numbers and on words with an effect each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray

_DIGITS = 9
_STEPS, _LEAST_STEP, _HALVINGS, _EXACT = 60, 1e-10, 30, 1e-16


@dataclass(frozen=True)
class Features:
    """Features of candidates.

    Parameters
    ----------
    numbers : array of float, shape (candidates, numeric features)
        Such as normal scores of the ranks under each measure.
    words : array of int, shape (words, candidates)
        Codes from 0 of the words of each candidate; each value has an effect of its own.
    """

    numbers: FloatArray
    words: IntArray

    @property
    def candidates(self) -> int:
        """Number of candidates."""
        return len(self.numbers)

    @property
    def sizes(self) -> IntArray:
        """Number of values of each word."""
        return np.asarray(self.words.max(axis=1, initial=-1) + 1)

    def of(self, places: IntArray | BoolArray) -> Features:
        """Return the features of some candidates."""
        return Features(self.numbers[places], self.words[:, places])


class Model(NamedTuple):
    """Coefficients of a ridge logistic model."""

    intercept: float
    numbers: FloatArray
    """Shape (numeric features,)."""
    words: tuple[FloatArray, ...]
    """An effect for each value of each word; 0 for values without a judged candidate."""

    def log_odds(self, features: Features) -> FloatArray:
        """Return the log-odds of a true positive of each candidate, shape (candidates,).

        Rounded to 9 decimals, so that candidates with equal features have equal log-odds.
        """
        odds = self.intercept + features.numbers @ self.numbers
        for codes, effects in zip(features.words, self.words, strict=True):
            odds += effects[codes]
        return np.asarray(odds.round(_DIGITS))


def fit_ridge(
    features: Features,
    y: FloatArray,
    weights: FloatArray,
    *,
    ridge: float,
    of_numbers: float = 1.0,
    sizes: IntArray | None = None,
    start: Model | None = None,
) -> Model:
    """Fit a logistic model with a quadratic penalty.

    Minimises ``sum_i w_i (log(1 + exp(eta_i)) - y_i eta_i) + ridge/2 sum_j c_j b_j^2``, ``eta_i``
    the intercept plus b times the features and the effects of the words. c is 1 for words,
    `of_numbers` for numeric features, and 1/100 for the intercept, so that there is one minimum
    whatever the judgements are. Newton's steps by conjugate gradients, since most words of a sample
    occur once and their Hessian is nearly diagonal; each is halved until the loss does not grow.

    Parameters
    ----------
    features : Features
        Of the judged candidates, n of them.
    y : array of float, shape (n,)
        Judgements, 1 for a true positive.
    weights : array of float, shape (n,)
        Weights, at least 0.
    ridge : float
        Weight of the penalty, above 0.
    of_numbers : float
        Factor of the penalty on numeric features, above 0.
    sizes : array of int, shape (words,), optional
        Number of values of each word; those without a judged candidate have the effect 0.
    start : Model, optional
        Where the search starts; it affects only the time.

    References
    ----------
    le Cessie & van Houwelingen, Ridge Estimators in Logistic Regression (1992).

    Examples
    --------
    >>> features = Features(np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.empty((0, 4), np.int64))
    >>> model = fit_ridge(features, np.array([0.0, 0.0, 0.0, 1.0]), np.ones(4), ridge=1.0)
    >>> round(float(model.numbers[0]), 3)
    0.581
    """
    design = _Design(features, features.sizes if sizes is None else sizes)
    penalty = np.full(design.size, ridge)
    penalty[1 : design.numbers] *= of_numbers
    penalty[0] = ridge / 100.0

    def loss(eta: FloatArray, b: FloatArray) -> float:
        return float(weights @ (np.logaddexp(0.0, eta) - y * eta) + penalty @ b**2 / 2.0)

    b = np.zeros(design.size)
    if start is not None:
        b = np.concatenate([[start.intercept], start.numbers, *start.words])
    eta = design.times(b)
    value = loss(eta, b)
    for _ in range(_STEPS):
        p = scipy.special.expit(eta)
        slope = design.transposed_times(weights * (p - y)) + penalty * b
        step = _newton_step(design, weights * p * (1.0 - p), penalty, slope)
        if np.abs(step).max() < _LEAST_STEP:
            break
        moved = design.times(step)
        lengths = (0.5**power for power in range(_HALVINGS))
        for length in lengths:
            new = loss(eta - length * moved, b - length * step)
            if new <= value * (1.0 + 1e-13):
                break
        b, eta, value = b - length * step, eta - length * moved, new
    return design.model(b)


class _Design:
    """The matrix of the model: a column of ones, numeric features, an indicator of each word."""

    def __init__(self, features: Features, sizes: IntArray) -> None:
        self.dense = np.column_stack([np.ones(features.candidates), features.numbers])
        self.words = features.words
        self.sizes: list[int] = sizes.tolist()
        self.numbers = self.dense.shape[1]
        """Columns before the words."""
        self._first = np.cumsum([self.numbers, *self.sizes])
        self.size = int(self._first[-1])

    def times(self, b: FloatArray) -> FloatArray:
        """Return the matrix times a vector of coefficients."""
        eta = self.dense @ b[: self.numbers]
        for codes, first in zip(self.words, self._first, strict=False):
            eta += b[first + codes]
        return np.asarray(eta)

    def transposed_times(self, r: FloatArray) -> FloatArray:
        """Return the transposed matrix times a vector of candidates."""
        sums = [
            np.bincount(codes, r, minlength=size)
            for codes, size in zip(self.words, self.sizes, strict=True)
        ]
        return np.concatenate([r @ self.dense, *sums])

    def model(self, b: FloatArray) -> Model:
        """Return the coefficients by kind."""
        numbers, *words = np.split(b, self._first[:-1])
        return Model(float(b[0]), numbers[1:], tuple(words))


def _newton_step(
    design: _Design, bend: FloatArray, penalty: FloatArray, slope: FloatArray
) -> FloatArray:
    """Solve the system of Newton's step by conjugate gradients, scaled by its diagonal."""
    diagonal = design.transposed_times(bend) + penalty
    diagonal[: design.numbers] = bend @ design.dense**2 + penalty[: design.numbers]
    x, r = np.zeros_like(slope), slope.copy()
    z = r / diagonal
    d, rz = z.copy(), float(r @ z)
    goal = _EXACT * rz
    for _ in range(10 * len(slope)):
        if rz <= goal:
            break
        hd = design.transposed_times(bend * design.times(d)) + penalty * d
        a = rz / float(d @ hd)
        x += a * d
        r -= a * hd
        z = r / diagonal
        before, rz = rz, float(r @ z)
        d = z + rz / before * d
    return x


# Words of judged candidates alone, so that models are small


def judged_words(features: Features, places: IntArray) -> tuple[Features, list[IntArray]]:
    """Give judged words the first codes, all others the next one; also return the judged codes.

    Examples
    --------
    >>> features = Features(np.zeros((3, 0)), np.array([[7, 5, 2]]))
    >>> own, values = judged_words(features, np.array([0, 2]))
    >>> own.words.tolist(), [each.tolist() for each in values]
    ([[1, 2, 0]], [[2, 7]])
    """
    values = [np.unique(codes[places]) for codes in features.words]
    own = np.empty_like(features.words)
    for row, judged in enumerate(values):
        index = np.searchsorted(judged, features.words[row]).clip(max=len(judged) - 1)
        own[row] = np.where(judged[index] == features.words[row], index, len(judged))
    return Features(features.numbers, own), values


def with_all_words(model: Model, values: Sequence[IntArray], sizes: IntArray) -> Model:
    """Return a model of `judged_words` with an effect for every code, 0 for words not judged.

    Examples
    --------
    >>> model = Model(0.0, np.zeros(0), (np.array([0.5, -0.5, 0.0]),))
    >>> with_all_words(model, [np.array([1, 3])], np.array([4])).words[0].tolist()
    [0.0, 0.5, 0.0, -0.5]
    """
    words = []
    for effects, judged, size in zip(model.words, values, sizes, strict=True):
        words.append(np.zeros(size))
        words[-1][judged] = effects[: len(judged)]
    return Model(model.intercept, model.numbers, tuple(words))
