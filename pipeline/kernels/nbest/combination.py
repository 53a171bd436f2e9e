"""Combination of association measures by a ridge logistic model of judged candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.nbest.average_precision import inferred_average_precision
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.sampling import seeded_key
from schemas.errors import count_text

RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Weights of the penalty to choose from."""
INDEPENDENT = 4
"""Measures are correlated: any number of them counts as so many."""
Ridge: TypeAlias = float | Literal["cv"]

_STEPS, _LEAST_STEP, _HALVINGS, _EXACT = 50, 1e-9, 30, 1e-16
_DIGITS = 9
"""Decimals of log-odds that count: the order of equal candidates must not depend on rounding."""


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
        """Return the log-odds of a true positive of each candidate, shape (candidates,)."""
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
    sizes: IntArray | None = None,
    start: Model | None = None,
) -> Model:
    """Fit a logistic model with a quadratic penalty.

    Minimises ``sum_i w_i (log(1 + exp(eta_i)) - y_i eta_i) + ridge/2 sum_j c_j b_j^2``, ``eta_i``
    the intercept plus b times the features and the effects of the words. c is 1 for words,
    max(1, p/4) for p numeric features, since measures are correlated, and 1/100 for the intercept,
    so that there is one minimum whatever the judgements are. Newton's steps by conjugate gradients,
    since most words of a sample occur once and their Hessian is nearly diagonal.

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
    penalty[1 : design.numbers] *= max(1.0, features.numbers.shape[1] / INDEPENDENT)
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
        slope = design.transposed(weights * (p - y)) + penalty * b
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

    def transposed(self, r: FloatArray) -> FloatArray:
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
    diagonal = design.transposed(bend) + penalty
    diagonal[: design.numbers] = bend @ design.dense**2 + penalty[: design.numbers]
    x, r = np.zeros_like(slope), slope.copy()
    z = r / diagonal
    d, rz = z.copy(), float(r @ z)
    goal = _EXACT * rz
    for _ in range(10 * len(slope)):
        if rz <= goal:
            break
        hd = design.transposed(bend * design.times(d)) + penalty * d
        a = rz / float(d @ hd)
        x += a * d
        r -= a * hd
        z = r / diagonal
        before, rz = rz, float(r @ z)
        d = z + rz / before * d
    return x


# Cross-fitting: no candidate is scored by a model that saw its label


@dataclass(frozen=True)
class Labels:
    """Judgements of some candidates.

    Parameters
    ----------
    places : array of int, shape (judged,)
        The judged candidates, ascending rows of the features.
    y : array of float, shape (judged,)
        1 for a true positive, 0 for a false one.
    weights : array of float, shape (judged,)
        What each stands for, such as 1 / pi; only ratios count.
    """

    places: IntArray
    y: FloatArray
    weights: FloatArray

    def known(self, candidates: int) -> FloatArray:
        """Return the judgement of each candidate, NaN where there is none."""
        labels = np.full(candidates, np.nan)
        labels[self.places] = self.y
        return labels


class CrossFit(NamedTuple):
    """Scores of all candidates by models that did not see their labels."""

    scores: FloatArray
    """Percentile of each candidate under the model of its fold, in (0, 1]."""
    models: list[Model]
    """A model for each fold, fitted without the fold."""
    ridges: list[float]
    """The penalty of each."""


def fold_of(values: pl.Series, *, folds: int, seed: str) -> IntArray:
    """Return the fold of each candidate, from 0, fixed by the seed and its id or cluster alone.

    Examples
    --------
    >>> fold_of(pl.Series(["a", "b", "b", "c"]), folds=3, seed="s").tolist()
    [0, 1, 1, 0]
    """
    key = seeded_key("value", seed=seed, purpose="combination") % folds
    return values.rename("value").to_frame().select(fold=key)["fold"].to_numpy()


def cross_fit(
    features: Features, labels: Labels, fold: IntArray, *, ridge: Ridge = "cv"
) -> CrossFit:
    """Score all candidates by models that did not see their labels.

    Fold k is scored by a model fitted to the labels of all other folds, as the percentile of its
    log-odds among all candidates under this model, so that scores of different models are
    comparable. Unjudged candidates are scored like judged ones: a random sample of the candidates
    is then a random sample of each n-best list of the scores, and estimates from it are not
    optimistic. With ``ridge = "cv"`` the penalty of fold k has the smallest log-loss over the other
    folds.

    Parameters
    ----------
    features : Features
        Of all candidates, S of them.
    labels : Labels
        Judgements.
    fold : array of int, shape (S,)
        The fold of each candidate, from 0.
    ridge : float or "cv"
        The penalty, or its choice from `RIDGES`.

    Raises
    ------
    ValueError
        If the labels of a training set are all alike, or no fold is left for training.

    References
    ----------
    Schick, On Asymptotically Efficient Estimation in Semiparametric Models (1986), on
    cross-fitting; Zrnic & Candès, Cross-Prediction-Powered Inference (2024).

    Examples
    --------
    >>> x = np.linspace(-2.0, 2.0, 9)[:, None]
    >>> features = Features(x, np.empty((0, 9), np.int64))
    >>> places = np.array([0, 2, 3, 5, 6, 8])
    >>> labels = Labels(places, np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), np.ones(6))
    >>> found = cross_fit(features, labels, np.arange(9) % 2, ridge=1.0)
    >>> found.scores.round(2).tolist()
    [0.11, 0.22, 0.33, 0.44, 0.56, 0.67, 0.78, 0.89, 1.0]
    """
    weights = labels.weights / labels.weights.mean()
    full, values = _judged_words(features, labels.places)
    judged = full.of(labels.places)
    parts, place = np.unique(fold, return_inverse=True)
    judged_fold = place[labels.places]
    choices = sorted(RIDGES if ridge == "cv" else (ridge,), reverse=True)
    losses = np.zeros((len(parts), len(choices)))
    fitted: list[list[Model]] = []
    for k in range(len(parts)):
        train, held = judged_fold != k, judged_fold == k
        _require_both_labels(labels.y[train])
        fitted.append([])
        for at, each in enumerate(choices):
            start = fitted[k][-1] if at else None
            model = fit_ridge(
                judged.of(train), labels.y[train], weights[train], ridge=each, start=start,
                sizes=full.sizes,
            )  # fmt: skip
            fitted[k].append(model)
            odds, y = model.log_odds(judged.of(held)), labels.y[held]
            losses[k, at] = weights[held] @ (np.logaddexp(0.0, odds) - y * odds)
    chosen = (losses.sum(axis=0) - losses).argmin(axis=1)
    models = [fitted[k][at] for k, at in enumerate(chosen)]
    scores = np.empty(features.candidates)
    for k, model in enumerate(models):
        members = place == k
        scores[members] = percentiles(model.log_odds(full))[members]
    every = [_with_all_words(model, values, features.sizes) for model in models]
    return CrossFit(scores, every, [choices[at] for at in chosen])


def fit_all(features: Features, labels: Labels, *, ridge: float) -> Model:
    """Fit a model to all labels.

    Parameters
    ----------
    features, labels
        As for `cross_fit`.
    ridge : float
        The penalty, above 0.

    Examples
    --------
    >>> features = Features(np.array([[-1.0], [1.0], [2.0]]), np.array([[7, 0, 3]]))
    >>> labels = Labels(np.array([0, 1]), np.array([0.0, 1.0]), np.ones(2))
    >>> [round(float(each), 3) for each in fit_all(features, labels, ridge=1.0).words[0][[0, 3, 7]]]
    [0.293, 0.0, -0.293]
    """
    full, values = _judged_words(features, labels.places)
    weights = labels.weights / labels.weights.mean()
    model = fit_ridge(full.of(labels.places), labels.y, weights, ridge=ridge, sizes=full.sizes)
    return _with_all_words(model, values, features.sizes)


def percentiles(scores: FloatArray) -> FloatArray:
    """Return the mean rank of each score from below, divided by the number of scores.

    Examples
    --------
    >>> percentiles(np.array([3.0, 1.0, 1.0, 2.0])).tolist()
    [1.0, 0.375, 0.375, 0.75]
    """
    return pl.Series(scores).rank("average").to_numpy() / len(scores)


def _judged_words(features: Features, places: IntArray) -> tuple[Features, list[IntArray]]:
    """Give judged words the first codes, all others the next one; also return the judged codes."""
    values = [np.unique(codes[places]) for codes in features.words]
    own = np.empty_like(features.words)
    for row, judged in enumerate(values):
        found = np.searchsorted(judged, features.words[row]).clip(max=len(judged) - 1)
        own[row] = np.where(judged[found] == features.words[row], found, len(judged))
    return Features(features.numbers, own), values


def _with_all_words(model: Model, values: Sequence[IntArray], sizes: IntArray) -> Model:
    """Return the model with an effect for every code, 0 for words that are not judged."""
    words = []
    for effects, judged, size in zip(model.words, values, sizes, strict=True):
        words.append(np.zeros(size))
        words[-1][judged] = effects[: len(judged)]
    return Model(model.intercept, model.numbers, tuple(words))


def _require_both_labels(y: FloatArray) -> None:
    if not len(y):
        raise ValueError("a training set has no judgements")
    if not 0.0 < y.sum() < len(y):
        kind = "true" if y.all() else "false"
        raise ValueError(
            f"a training set of {count_text(len(y), 'judgement')} has only {kind} ones: a model "
            "requires true and false positives"
        )


# Comparison with single measures


def choose_single(ranks: IntArray, labels: Labels, fold: IntArray) -> tuple[FloatArray, list[int]]:
    """Rank by the single measure that is best on the labels of the other folds.

    Parameters
    ----------
    ranks : array of int, shape (measures, S)
        Ranks from 1 under each measure.
    labels : Labels
        Judgements.
    fold : array of int, shape (S,)
        The fold of each candidate, from 0.

    Returns
    -------
    scores : array of float, shape (S,)
        Percentile of each candidate under the measure chosen without its fold, in (0, 1].
    chosen : list of int
        The measure of each fold, with the highest average precision of the judged candidates.

    Examples
    --------
    >>> ranks = np.array([[1, 2, 3, 4], [4, 3, 2, 1]])
    >>> labels = Labels(np.arange(4), np.array([1.0, 1.0, 0.0, 0.0]), np.ones(4))
    >>> choose_single(ranks, labels, np.array([0, 1, 0, 1]))
    (array([1.  , 0.75, 0.5 , 0.25]), [0, 0])
    """
    size = ranks.shape[1]
    scores, chosen = np.empty(size), []
    parts, place = np.unique(fold, return_inverse=True)
    for k in range(len(parts)):
        train = place[labels.places] != k
        rest = Labels(labels.places[train], labels.y[train], labels.weights[train])
        best = best_measure(ranks, rest)
        chosen.append(best)
        scores[place == k] = (size + 1 - ranks[best, place == k]) / size
    return scores, chosen


def best_measure(ranks: IntArray, labels: Labels) -> int:
    """Return the measure with the highest weighted average precision among judged candidates.

    Parameters
    ----------
    ranks, labels
        As for `choose_single`.

    Examples
    --------
    >>> labels = Labels(np.array([0, 3]), np.array([1.0, 0.0]), np.ones(2))
    >>> best_measure(np.array([[4, 3, 2, 1], [1, 2, 3, 4]]), labels)
    1
    """
    order = ranks[:, labels.places].argsort(axis=1)
    true, weight = (labels.weights * labels.y)[order], labels.weights[order]
    precision = true.cumsum(axis=1) / weight.cumsum(axis=1)
    return int((precision * true).sum(axis=1).argmax())


def average_precision_of(scores: FloatArray, labels: Labels, pi: FloatArray) -> float:
    """Return the average precision of a ranking by scores, inferred from the judged candidates.

    Parameters
    ----------
    scores : array of float, shape (S,)
        The higher, the better; equal scores keep the order of the candidates.
    labels : Labels
        Judgements.
    pi : array of float, shape (S,)
        Inclusion probabilities of judged candidates; others are ignored.

    Examples
    --------
    >>> labels = Labels(np.array([0, 2]), np.array([1.0, 0.0]), np.ones(2))
    >>> average_precision_of(np.array([3.0, 2.0, 1.0]), labels, np.full(3, 2 / 3))
    1.0
    """
    order = np.argsort(-scores, kind="stable")
    return float(inferred_average_precision(labels.known(len(scores))[order], pi=pi[order]))


# Terms of a model


class Term(NamedTuple):
    """A coefficient, with its stability over the folds."""

    kind: str
    """measure, frequency, word or intercept."""
    column: str
    """Name of the measure or frequency, template of the word."""
    value: str
    """The word; else empty."""
    judged: int
    """Judged candidates with it."""
    coefficient: float
    """In the model of all labels."""
    lowest: float
    """Lowest and highest coefficient of the models without a fold."""
    highest: float


def terms(
    names: Sequence[tuple[str, str]],
    words: Sequence[tuple[str, pl.Series]],
    judged: Features,
    *,
    final: Model,
    models: Sequence[Model],
) -> list[Term]:
    """Return the coefficients of a model: numbers, then words of judged candidates.

    Parameters
    ----------
    names : sequence of (str, str)
        Kind and name of each numeric feature.
    words : sequence of (str, Series)
        Template of each word, and its values by code.
    judged : Features
        Of the judged candidates.
    final : Model
        Fitted to all labels.
    models : sequence of Model
        Fitted without a fold each.
    """

    def term(
        kind: str, column: str, value: str, judged: int, each: Callable[[Model], float]
    ) -> Term:
        varied = [each(model) for model in models]
        return Term(kind, column, value, judged, each(final), min(varied), max(varied))

    count = judged.candidates
    found = [term("intercept", "", "", count, lambda model: model.intercept)]
    for at, (kind, name) in enumerate(names):
        found.append(term(kind, name, "", count, partial(_number, at=at)))
    for row, (column, values) in enumerate(words):
        codes, counts = np.unique(judged.words[row], return_counts=True)
        for code, times in zip(codes.tolist(), counts.tolist(), strict=True):
            effect = partial(_effect, row=row, code=code)
            found.append(term("word", column, str(values[code]), times, effect))
    return found


def _number(model: Model, *, at: int) -> float:
    return float(model.numbers[at])


def _effect(model: Model, *, row: int, code: int) -> float:
    return float(model.words[row][code])
