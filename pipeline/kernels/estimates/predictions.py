"""Predictions of judgements from the scores that are there anyway, each made without its own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.hashing import seeded_key

_STEPS, _HALVINGS = 60, 30


def normal_scores(ranks: npt.ArrayLike) -> FloatArray:
    """Return Blom's normal scores of ranks: the best rank gets the highest score.

    ``-Phi^-1((r - 3/8) / (S + 1/4))``, S the number of candidates.

    Parameters
    ----------
    ranks : array_like of int, shape (..., S)
        Ranks 1..S of the same candidates, under each measure.

    References
    ----------
    Blom, Statistical Estimates and Transformed Beta-Variables (1958).

    Examples
    --------
    >>> normal_scores([1, 2, 3]).round(4).tolist()
    [0.8694, -0.0, -0.8694]
    """
    ranks = np.asarray(ranks, dtype=np.float64)
    return np.asarray(-scipy.special.ndtri((ranks - 0.375) / (ranks.shape[-1] + 0.25)))


def folds_of(ids: pl.Series, *, folds: int, seed: str) -> IntArray:
    """Return the fold of each candidate, from 0, fixed by the seed and its id alone.

    Examples
    --------
    >>> folds_of(pl.Series(["a", "b", "c"]), folds=2, seed="s").tolist()
    [0, 1, 0]
    """
    key = seeded_key("id", seed=seed, purpose="folds") % folds
    return ids.rename("id").to_frame().select(fold=key)["fold"].to_numpy()


def cross_fitted(
    features: FloatArray,
    places: IntArray,
    y: npt.ArrayLike,
    fold: IntArray,
    *,
    folds: int = 10,
    ridge: float = 1.0,
) -> FloatArray:
    """Predict judgements by a logistic model of features, out of fold for those judged.

    A model is fitted without each fold in turn. A judged candidate gets the prediction of the
    model that its fold was kept from, any other one the mean of the predictions of all models.

    Parameters
    ----------
    features : array of float, shape (candidates, features)
        Such as `normal_scores` of several measures.
    places : array of int, shape (judged,)
        The judged candidates, rows of `features`, each once.
    y : array_like of float, shape (judged,)
        Judgements in [0, 1].
    fold : array of int, shape (judged,)
        The fold of each, from 0.
    folds : int
        How many folds there are, from 2.
    ridge : float
        Weight of the penalty ``ridge/2 sum b^2`` on the coefficients of the standardised
        features, and a hundredth of it on the intercept: above 0, so that there is one best fit
        whatever the judgements are.

    Returns
    -------
    array of float, shape (candidates,)
        Inside (0, 1). Every judged candidate counts alike, whatever chance it was drawn with: an
        estimate is right with any predictions, and the better the more they tell.

    Raises
    ------
    ValueError
        If nothing was judged, there are fewer than two folds, or the arrays do not fit.

    References
    ----------
    Zrnic & Candès, Cross-Prediction-Powered Inference (2024); Hoerl & Kennard (1970) on ridges.

    Examples
    --------
    >>> x = np.linspace(-2, 2, 9)[:, None]
    >>> places = np.array([0, 2, 4, 6, 8])
    >>> guess = cross_fitted(x, places, [0, 0, 1, 1, 1], np.array([0, 1, 0, 1, 0]), folds=2)
    >>> bool(guess[1] < 0.5 < guess[7])
    True
    """
    y = np.asarray(y, dtype=np.float64)
    if not len(places) == len(y) == len(fold) or len(y) == 0 or folds < 2:
        raise ValueError(
            f"{len(places):,} places, {len(y):,} judgements, {len(fold):,} of them in {folds} "
            "folds: predictions need a judgement and a fold for each place, and two folds"
        )
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    design = np.column_stack([np.ones(len(scaled)), scaled])
    used = fold != np.arange(folds)[:, None]
    models = _fits(design[places], y, used, ridge=ridge)
    guesses = scipy.special.expit(design @ models.T)
    prediction: FloatArray = guesses.mean(axis=1)
    prediction[places] = guesses[places, fold]
    return prediction


def _fits(design: FloatArray, y: FloatArray, used: BoolArray, *, ridge: float) -> FloatArray:
    """Fit a model to each row of `used` by Newton's steps, halved until they lead downwards."""
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = ridge / 100.0
    models = np.zeros((len(used), design.shape[1]))
    loss = _loss(models, design, y, used, penalty)
    for _ in range(_STEPS):
        p = scipy.special.expit(models @ design.T)
        slope = (used * (p - y)) @ design + penalty * models
        weights = used * p * (1.0 - p)
        bend = np.einsum("km,mi,mj->kij", weights, design, design, optimize=True)
        step = np.linalg.solve(bend + np.diag(penalty), slope[..., None])[..., 0]
        if np.abs(step).max() < 1e-10:
            break
        models, loss = _downwards(models, step, loss, (design, y, used, penalty))
    return models


def _downwards(
    models: FloatArray,
    step: FloatArray,
    loss: FloatArray,
    data: tuple[FloatArray, FloatArray, BoolArray, FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Go the longest part of the step, by halves, that makes no model's loss larger."""
    length = np.ones(len(models))
    for _ in range(_HALVINGS):
        tried = models - length[:, None] * step
        found = _loss(tried, *data)
        worse = found > loss + 1e-12 * np.abs(loss)
        if not worse.any():
            return tried, found
        length = np.where(worse, length / 2.0, length)
    stay = worse[:, None]
    return np.where(stay, models, tried), np.where(worse, loss, found)


def _loss(
    models: FloatArray, design: FloatArray, y: FloatArray, used: BoolArray, penalty: FloatArray
) -> FloatArray:
    """Return the penalised negative log-likelihood of each model."""
    eta = models @ design.T
    fit = np.where(used, np.logaddexp(0.0, eta) - y * eta, 0.0).sum(axis=1)
    return np.asarray(fit + (penalty * models**2).sum(axis=1) / 2.0)
