"""Which predictions an estimate is helped by: a model of ranks, a judge's word, or both."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.estimates.predictions import cross_fitted, folds_of, normal_scores
from pipeline.kernels.estimates.tuning import ENOUGH

Assist = Literal["none", "scores", "predictions", "stacked"]
_SUREST = 0.98
"""No judge is taken to be surer than this, so that one wrong word is no infinity."""


def features_of(ranks: IntArray, judges: FloatArray) -> FloatArray:
    """Return what a model of judgements is given: normal scores of ranks, log-odds of judges.

    Parameters
    ----------
    ranks : array of int, shape (measures, candidates)
        Ranks under each measure; none for a model of judges alone.
    judges : array of float, shape (judges, candidates)
        What each judge predicts, in [0, 1].

    Returns
    -------
    array of float, shape (candidates, measures + judges)

    Examples
    --------
    >>> features_of(np.array([[1, 2, 3]]), np.array([[0.5, 1.0, 0.0]])).round(2).tolist()
    [[0.87, 0.0], [-0.0, 3.89], [-0.87, -3.89]]
    """
    odds = scipy.special.logit(np.clip(judges, 1.0 - _SUREST, _SUREST))
    return np.concatenate([normal_scores(ranks), odds]).T


def assisting(
    ids: pl.Series,
    ranks: IntArray,
    draws: pl.DataFrame,
    judges: FloatArray,
    *,
    assist: Assist,
    folds: int = 10,
    seed: str,
) -> tuple[FloatArray | None, IntArray]:
    """Return one prediction of each candidate, and the fold of each draw.

    Parameters
    ----------
    ids : pl.Series
        All candidates.
    ranks : array of int, shape (measures, candidates)
        Their ranks, in the order of `ids`.
    draws : pl.DataFrame
        id and tp (null = not judged) of the candidates that were drawn, each once.
    judges : array of float, shape (judges, candidates)
        What judges predict of them, in [0, 1]; none for ``scores``.
    assist : {"none", "scores", "predictions", "stacked"}
        ``scores``: a logistic model of the ranks; ``predictions``: one judge as he is;
        ``stacked``: a model of the ranks and of what all judges say. Models are cross-fitted: what
        is predicted of a judged candidate rests on the judgements of other folds.
    folds : int
        How many folds, from 2.
    seed : str
        Fixes them.

    Returns
    -------
    predictions : array of float, shape (candidates,), or None
        In [0, 1]; None where nothing is to help, or a model would have fewer than 30 judgements.
    fold : array of int, shape (draws,)
        From 0.

    Raises
    ------
    ValueError
        If ``predictions`` has not just one judge, or ``stacked`` none.

    References
    ----------
    Angelopoulos, Duchi & Zrnic, PPI++: Efficient Prediction-Powered Inference (2023); Zrnic &
    Candès, Cross-Prediction-Powered Inference (2024).

    Examples
    --------
    >>> ids, ranks = pl.Series(["a", "b"]), np.array([[1, 2]])
    >>> draws = pl.DataFrame({"id": ["a"], "tp": [True]})
    >>> assisting(ids, ranks, draws, np.array([[0.9, 0.2]]), assist="predictions", seed="s")[0]
    array([0.9, 0.2])
    """
    fold = folds_of(draws["id"], folds=folds, seed=seed)
    if assist == "none":
        return None, fold
    if (assist == "predictions" and len(judges) != 1) or (assist == "stacked" and not len(judges)):
        raise ValueError(f"assist = {assist!r} with {len(judges)} judges")
    if assist == "predictions":
        return judges[0], fold
    place = pl.DataFrame({"id": ids, "place": np.arange(len(ids))})
    judged = draws.with_columns(fold=pl.Series(fold)).drop_nulls("tp").join(place, on="id")
    if judged.height < ENOUGH:
        return None, fold
    features = features_of(ranks, judges if assist == "stacked" else judges[:0])
    predicted = cross_fitted(
        features,
        judged["place"].to_numpy(),
        judged["tp"].cast(pl.Float64).to_numpy(),
        judged["fold"].to_numpy(),
        folds=folds,
    )
    return predicted, fold
