"""Combination of association measures by a ridge logistic model, and delivery of its list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from scipy.special import logit

from pipeline.kernels.nbest.average_precision import inferred_average_precision
from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.ridge_logistic import (
    Features,
    Model,
    fit_ridge,
    judged_words,
    with_all_words,
)
from pipeline.kernels.statistics.intervals import INTERVALS
from schemas.errors import count_text

RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Weights of the penalty to choose from."""
INDEPENDENT = 4
"""Measures are correlated: any number of them counts as so many."""
Ridge: TypeAlias = float | Literal["cv"]


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

    def per_candidate(self, candidates: int) -> FloatArray:
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
    gain: float
    """Mean log-likelihood of a label under the model that did not see it, minus that under the mean
    of the same training labels; nats. At most 0: nothing was learned.
    """


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
        If no candidate is judged, the labels of a training set are all alike, or no fold is left
        for training.

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
    >>> fits = cross_fit(features, labels, np.arange(9) % 2, ridge=1.0)
    >>> fits.scores.round(2).tolist()
    [0.11, 0.22, 0.33, 0.44, 0.56, 0.67, 0.78, 0.89, 1.0]
    """
    if not len(labels.places):
        raise ValueError("no candidate is judged: a model requires true and false positives")
    weights = labels.weights / labels.weights.mean()
    full, values = judged_words(features, labels.places)
    judged = full.of(labels.places)
    parts, place = np.unique(fold, return_inverse=True)
    judged_fold = place[labels.places]
    choices = sorted(RIDGES if ridge == "cv" else (ridge,), reverse=True)
    losses, without = np.zeros((len(parts), len(choices))), np.zeros(len(parts))
    factor = _factor(features)
    fitted: list[list[Model]] = []
    for k in range(len(parts)):
        train, test = judged_fold != k, judged_fold == k
        _require_both_labels(labels.y[train])
        mean = logit(np.average(labels.y[train], weights=weights[train]))
        without[k] = _log_loss(mean, labels.y[test], weights[test])
        fitted.append([])
        for at, each in enumerate(choices):
            start = fitted[k][-1] if at else None
            model = fit_ridge(
                judged.of(train), labels.y[train], weights[train], ridge=each, start=start,
                of_numbers=factor, sizes=full.sizes,
            )  # fmt: skip
            fitted[k].append(model)
            odds = model.log_odds(judged.of(test))
            losses[k, at] = _log_loss(odds, labels.y[test], weights[test])
    best = (losses.sum(axis=0) - losses).argmin(axis=1)
    models = [fitted[k][at] for k, at in enumerate(best)]
    scores = np.empty(features.candidates)
    for k, model in enumerate(models):
        members = place == k
        scores[members] = percentiles(model.log_odds(full))[members]
    every = [with_all_words(model, values, features.sizes) for model in models]
    gain = float(without.sum() - losses[np.arange(len(parts)), best].sum())
    return CrossFit(scores, every, [choices[at] for at in best], gain / len(labels.y))


def _log_loss(odds: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    return float(weights @ (np.logaddexp(0.0, odds) - y * odds))


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
    full, values = judged_words(features, labels.places)
    weights = labels.weights / labels.weights.mean()
    model = fit_ridge(
        full.of(labels.places), labels.y, weights, ridge=ridge, of_numbers=_factor(features),
        sizes=full.sizes,
    )  # fmt: skip
    return with_all_words(model, values, features.sizes)


def _factor(features: Features) -> float:
    """Return the factor of the penalty on numeric features."""
    return max(1.0, float(features.numbers.shape[1]) / INDEPENDENT)


def percentiles(scores: FloatArray) -> FloatArray:
    """Return the mean rank of each score from below, divided by the number of scores.

    Examples
    --------
    >>> percentiles(np.array([3.0, 1.0, 1.0, 2.0])).tolist()
    [1.0, 0.375, 0.375, 0.75]
    """
    return pl.Series(scores).rank("average").to_numpy() / len(scores)


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
    scores, measures = np.empty(size), []
    parts, place = np.unique(fold, return_inverse=True)
    for k in range(len(parts)):
        train = place[labels.places] != k
        rest = Labels(labels.places[train], labels.y[train], labels.weights[train])
        best = best_measure(ranks, rest)
        measures.append(best)
        scores[place == k] = (size + 1 - ranks[best, place == k]) / size
    return scores, measures


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
    return float(inferred_average_precision(labels.per_candidate(len(scores))[order], pi=pi[order]))


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
    rows = [term("intercept", "", "", count, lambda model: model.intercept)]
    for at, (kind, name) in enumerate(names):
        rows.append(term(kind, name, "", count, partial(_number, at=at)))
    for row, (column, values) in enumerate(words):
        codes, counts = np.unique(judged.words[row], return_counts=True)
        for code, times in zip(codes.tolist(), counts.tolist(), strict=True):
            effect = partial(_effect, row=row, code=code)
            rows.append(term("word", column, str(values[code]), times, effect))
    return rows


def _number(model: Model, *, at: int) -> float:
    return float(model.numbers[at])


def _effect(model: Model, *, row: int, code: int) -> float:
    return float(model.words[row][code])


# Delivery of a combination's list: judged true positives, then the most probable candidates.


def list_by_refit(refit: pl.DataFrame, n: int) -> pl.DataFrame:
    """Return the n candidates to deliver: judged true positives, then unjudged ones, by rank.

    Parameters
    ----------
    refit : pl.DataFrame
        id, probability, refit_rank and tp (null = not judged) of all candidates.
    n : int
        Size of the list. Judged false positives are not listed, so it may be shorter.

    Returns
    -------
    pl.DataFrame
        rank (place in the list, from 1), id, score (the probability), tp.

    Examples
    --------
    >>> refit = pl.DataFrame({
    ...     "id": ["a", "b", "c", "d"], "probability": [0.9, 0.8, 0.7, 0.1],
    ...     "refit_rank": [1, 2, 3, 4], "tp": [None, False, True, True],
    ... })
    >>> list_by_refit(refit, 3).rows()
    [(1, 'c', 0.7, True), (2, 'd', 0.1, True), (3, 'a', 0.9, None)]
    """
    unjudged = pl.col("tp").is_null()
    rows = refit.filter(unjudged | pl.col("tp")).sort(unjudged, "refit_rank").head(n)
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return rows.select(rank.alias("rank"), "id", pl.col("probability").alias("score"), "tp")


class Evidence(NamedTuple):
    """The judged candidates of the cross-fitted list that has as many unjudged candidates."""

    unjudged: int
    """Unjudged candidates."""
    depth: int
    """Size of the cross-fitted list with so many of them."""
    n_sampled: int
    """Judged draws in it, with multiplicity."""
    k_sampled: int
    """True positives among these."""
    n_distinct: int
    """Distinct judged draws in it."""
    k_others: int
    """True positives in it that were judged outside the sample."""


def evidence(crossfitted: pl.DataFrame, unjudged: int) -> Evidence:
    """Count the judged candidates down to the last of so many unjudged ones.

    Parameters
    ----------
    crossfitted : pl.DataFrame
        All candidates in the order of the cross-fitted ranking: multiplicity (0 = no judged draw)
        and tp, its judgement or one from elsewhere (null = none).
    unjudged : int
        Number of unjudged candidates, at least 1.

    Examples
    --------
    >>> crossfitted = pl.DataFrame({
    ...     "multiplicity": [1, 0, 0, 2, 0, 1], "tp": [True, None, True, False, None, True],
    ... })
    >>> evidence(crossfitted, 2)
    Evidence(unjudged=2, depth=5, n_sampled=3, k_sampled=1, n_distinct=2, k_others=1)
    """
    before = crossfitted["tp"].is_null().cum_sum()
    depth = int((before < unjudged).sum()) + 1
    top = crossfitted.head(depth)
    drawn = pl.col("multiplicity") > 0
    row = top.select(
        n=pl.col("multiplicity").sum(),
        k=pl.col("multiplicity").filter("tp").sum(),
        distinct=drawn.sum(),
        others=(pl.col("tp").fill_null(value=False) & ~drawn).sum(),
    ).row(0)
    return Evidence(unjudged, depth, *row)


def unjudged_precision(draws: Evidence, *, confidence: float) -> tuple[float | None, float, float]:
    """Estimate the precision of the unjudged candidates, with Clopper-Pearson limits.

    The judged draws of a random sample are a random sample of the cross-fitted list, since no
    candidate is ranked by its own label. So their share of true positives k / n estimates that of
    the other ``depth - n_distinct`` candidates. Those that were judged outside the sample are known
    and subtracted: ``((depth - n_distinct) k / n - k_others) / unjudged``.

    Parameters
    ----------
    draws : Evidence
        As from `evidence`.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    estimate, lower, upper : float
        In [0, 1]; the estimate is None without a judged draw.

    Examples
    --------
    >>> draws = Evidence(90, 100, n_sampled=10, k_sampled=6, n_distinct=10, k_others=0)
    >>> [round(each, 3) for each in unjudged_precision(draws, confidence=0.95)]
    [0.6, 0.262, 0.878]
    >>> unjudged_precision(draws._replace(unjudged=60, k_others=27), confidence=0.95)[0]
    0.45
    """
    if not draws.n_sampled:
        return None, 0.0, 1.0
    limits = INTERVALS.get("clopper_pearson")(
        [draws.k_sampled], [draws.n_sampled], confidence=confidence
    )
    share = draws.k_sampled / draws.n_sampled
    others = draws.depth - draws.n_distinct
    estimate, lower, upper = (
        min(1.0, max(0.0, (others * float(each) - draws.k_others) / draws.unjudged))
        for each in (share, limits[0][0], limits[1][0])
    )
    return estimate, lower, upper
