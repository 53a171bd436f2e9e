"""Ranks, draws, sets and predictions of a study as arrays, and cross-fitted predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray, codes
from pipeline.kernels.ridge_logistic import Features, fit_ridge, judged_words
from pipeline.kernels.sampling import seeded_key
from pipeline.kernels.survey.allocation import LEAST_VARIANCE
from pipeline.kernels.survey.ratio_estimator import (
    ENOUGH,
    Estimates,
    draw_moments,
    ratio_classes,
    ratio_or_zero,
)
from schemas.errors import count_text

# Classes of candidates with similar inclusion probabilities, whose sizes in a set are known.


CLASS_DRAWS = 4.0
"""Expected draws from which a class is estimated by itself."""


def chance_classes(pi: FloatArray) -> IntArray:
    """Return the class of each candidate, from 0, that of the largest probabilities.

    ``floor(log_3(max pi / pi))``, at most 5.

    Parameters
    ----------
    pi : array of float, shape (candidates,)
        Inclusion probabilities in [0, 1]; NaN if unknown.

    Returns
    -------
    array of int, shape (candidates,)
        Unknown probabilities are in the class of the median; 0 and 1, about which nothing is
        estimated, in the first.

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), section 7.6, on
    poststratification.

    Examples
    --------
    >>> chance_classes(np.array([1.0, 0.6, 0.3, 0.19, 0.001, 0.0])).tolist()
    [0, 0, 0, 1, 5, 0]
    """
    open_ = (pi > 0) & (pi < 1)
    if not open_.any():
        return np.zeros(len(pi), dtype=np.int64)
    chance = np.where(np.isnan(pi), np.median(pi[open_]), np.where(open_, pi, pi[open_].max()))
    return ratio_classes(chance.max() / chance)


class MergedClasses(NamedTuple):
    """The classes of each set after those with few expected draws were merged."""

    into: IntArray
    """The class that each class became part of, shape (..., classes)."""
    factor: FloatArray
    """By how many times more labels the thinnest class would have enough draws, shape (...); 1 if
    no class lacks them."""


def merge_classes(sizes: FloatArray, expected: FloatArray) -> MergedClasses:
    """Merge classes with fewer than four expected draws with their neighbours.

    Hájek's ratio ignores the sizes of the classes: if few of many draws are expected in a class
    that is most of a set, and none was drawn, the other draws seem to describe all of it. So each
    class is estimated by itself, as in a stratified sample. One with fewer than four expected draws
    becomes part of the next class with larger probabilities, or smaller ones if there is none.

    This does harm if the class is more than ``1 / (4 sqrt(m))`` of the set, m its expected draws,
    and more draws are expected in classes with at least three times its probabilities. Unless its
    immediate neighbour and the classes below have four with it, the set then needs more labels.

    Parameters
    ----------
    sizes : array of float, shape (..., classes)
        Uncertain members of each set, by class.
    expected : array of float, shape (..., classes)
        The sums of their probabilities.

    Examples
    --------
    >>> merge_classes(np.array([100.0, 50.0, 0.0, 5.0]), np.array([20.0, 3.0, 0.0, 0.1])).into
    array([0, 0, 2, 0])
    >>> float(merge_classes(np.array([100.0, 0.0, 400.0]), np.array([70.0, 0.0, 0.4])).factor)
    10.0
    """
    classes = sizes.shape[-1]
    into = np.broadcast_to(np.arange(classes), sizes.shape).copy()
    size, draws = sizes.copy(), expected.copy()
    # upwards from the last class, then down from the first ones if these still have too few
    for at in range(classes - 1, 0, -1):
        _merge(at, range(at), into, size, draws)
    for at in range(classes - 1):
        _merge(at, range(classes - 1, at, -1), into, size, draws)
    thin = _lacking(sizes, expected)
    times = np.where(thin, CLASS_DRAWS / np.where(expected > 0, expected, np.nan), 1.0)
    return MergedClasses(into, np.fmax.reduce(times, axis=-1))


def _merge(at: int, others: range, into: IntArray, size: FloatArray, draws: FloatArray) -> None:
    """Merge a class with the last of others that has members, in sets where it is thin."""
    thin = (size[..., at] > 0) & (draws[..., at] < CLASS_DRAWS)
    target = np.full(thin.shape, -1)
    for other in others:
        target = np.where(size[..., other] > 0, other, target)
    for other in others:
        mask = thin & (target == other)
        into[mask] = np.where(into[mask] == at, other, into[mask])
        for values in (size, draws):
            values[..., other] += np.where(mask, values[..., at], 0.0)
    moved = thin & (target >= 0)
    for values in (size, draws):
        values[..., at] = np.where(moved, 0.0, values[..., at])


def _lacking(sizes: FloatArray, expected: FloatArray) -> BoolArray:
    """Return which classes have too few draws for their size."""
    share = ratio_or_zero(sizes, sizes.sum(axis=-1, keepdims=True))
    least = 0.25 / np.sqrt(np.maximum(expected.sum(axis=-1, keepdims=True), 1.0))
    above = np.cumsum(expected, axis=-1)
    thin: BoolArray = (share > least) & (expected < CLASS_DRAWS)
    for at in range(sizes.shape[-1]):
        heavier = above[..., at - 2] if at > 1 else np.zeros(sizes.shape[:-1])
        near = above[..., -1] - heavier
        thin[..., at] &= (heavier > expected[..., at]) & (near < CLASS_DRAWS)
    return thin


def add_classes(values: FloatArray, into: IntArray) -> FloatArray:
    """Add up the values of merged classes.

    Parameters
    ----------
    values : array of float, shape (columns, ..., classes, folds)
        Sums of each set by class.
    into : array of int, shape (..., classes)
        `MergedClasses.into`.

    Returns
    -------
    array of float, shape (columns, ..., classes, folds)
        0 in classes that became part of others.

    Examples
    --------
    >>> add_classes(np.array([[[1.0], [2.0], [4.0]]]), np.array([0, 1, 0]))[0, :, 0].tolist()
    [5.0, 2.0, 0.0]
    """
    sums = np.zeros_like(values)
    classes = into.shape[-1]
    for one in range(classes):
        for other in range(classes):
            mask = (into[..., one] == other)[..., None]
            sums[..., other, :] += np.where(mask, values[..., one, :], 0.0)
    return sums


# Cross-fitted predictions of judgements.

RIDGE = 0.2
"""On three annotated data sets .1 to .3 explained most of what a model did not see, both with and
without effects of words."""


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


def folds_of(ids: pl.Series, *, folds: int, seed: str, purpose: str = "folds") -> IntArray:
    """Return the fold of each candidate, from 0, fixed by the seed and its id or cluster alone.

    Examples
    --------
    >>> folds_of(pl.Series(["a", "b", "c"]), folds=2, seed="s").tolist()
    [0, 1, 0]
    """
    key = seeded_key("id", seed=seed, purpose=purpose) % folds
    return ids.rename("id").to_frame().select(fold=key)["fold"].to_numpy()


def cross_fit(
    features: FloatArray,
    places: IntArray,
    y: npt.ArrayLike,
    fold: IntArray,
    *,
    folds: int = 10,
    ridge: float = RIDGE,
    effects: IntArray | None = None,
) -> FloatArray:
    """Predict judgements by a logistic model of features, out of fold for those judged.

    A model is fitted without each fold in turn. A judged candidate gets the prediction of the model
    fitted without its fold, any other one the mean over all models.

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
        Number of folds, from 2.
    ridge : float
        Weight of the penalty ``ridge/2 sum b^2`` on the coefficients of the standardised
        features and on the effects, and a hundredth of it on the intercept: above 0, so that there
        is one best fit whatever the judgements are.
    effects : array of int, shape (columns, candidates), optional
        Codes of values such as the words of a pair: each value has an effect of its own. The effect
        of a value without a judged candidate is 0.

    Returns
    -------
    array of float, shape (candidates,)
        Inside (0, 1). All judged candidates count alike, whatever their chances: estimates are
        valid with any predictions, and better with good ones.

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
    >>> guess = cross_fit(x, places, [0, 0, 1, 1, 1], np.array([0, 1, 0, 1, 0]), folds=2)
    >>> bool(guess[1] < 0.5 < guess[7])
    True
    """
    y = np.asarray(y, dtype=np.float64)
    if not len(places) == len(y) == len(fold) or len(y) == 0 or folds < 2:
        raise ValueError(
            f"{len(places):,} places, {len(y):,} judgements, {len(fold):,} of them in {folds} "
            "folds: predictions require a judgement and a fold for each place, and at least two "
            "folds"
        )
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    words = np.empty((0, len(scaled)), dtype=np.int64) if effects is None else effects
    own, _ = judged_words(Features(scaled, words), places)
    judged, alike = own.of(places), np.ones(len(y))
    models = [
        fit_ridge(judged.of(train), y[train], alike[train], ridge=ridge, sizes=own.sizes)
        for train in (fold != number for number in range(folds))
    ]
    guesses = scipy.special.expit(np.stack([each.log_odds(own) for each in models], axis=1))
    prediction: FloatArray = guesses.mean(axis=1)
    prediction[places] = guesses[places, fold]
    return prediction


# Choice of predictions: a model of ranks, a judge, or both.

Assist = Literal["none", "scores", "predictions", "stacked"]
_MOST_CONFIDENT = 0.98
"""Bound on a judge's certainty, so that one error is not an infinite loss."""


def model_features(ranks: IntArray, judges: FloatArray) -> FloatArray:
    """Return the features of a model of judgements: normal scores of ranks, log-odds of judges.

    Parameters
    ----------
    ranks : array of int, shape (measures, candidates)
        Ranks under each measure; none for a model of judges alone.
    judges : array of float, shape (judges, candidates)
        Predictions of each judge, in [0, 1].

    Returns
    -------
    array of float, shape (candidates, measures + judges)

    Examples
    --------
    >>> model_features(np.array([[1, 2, 3]]), np.array([[0.5, 1.0, 0.0]])).round(2).tolist()
    [[0.87, 0.0], [-0.0, 3.89], [-0.87, -3.89]]
    """
    odds = scipy.special.logit(np.clip(judges, 1.0 - _MOST_CONFIDENT, _MOST_CONFIDENT))
    return np.concatenate([normal_scores(ranks), odds]).T


def assist_predictions(
    ids: pl.Series,
    ranks: IntArray,
    draws: pl.DataFrame,
    judges: FloatArray,
    *,
    assist: Assist,
    folds: int = 10,
    seed: str,
    effects: IntArray | None = None,
) -> tuple[FloatArray | None, IntArray]:
    """Return one prediction of each candidate, and the fold of each draw.

    Parameters
    ----------
    ids : pl.Series
        All candidates.
    ranks : array of int, shape (measures, candidates)
        Their ranks, in the order of `ids`.
    draws : pl.DataFrame
        id and tp (null = not judged) of the candidates drawn, each once.
    judges : array of float, shape (judges, candidates)
        Predictions of judges, in [0, 1]; none for ``scores``.
    assist : {"none", "scores", "predictions", "stacked"}
        ``scores``: a logistic model of the ranks; ``predictions``: one judge unchanged;
        ``stacked``: a model of the ranks and all judges. Models are cross-fitted: the prediction of
        a judged candidate uses judgements of other folds only.
    folds : int
        How many folds, from 2.
    seed : str
        Fixes them.
    effects : array of int, shape (columns, candidates), optional
        Codes of words or other values with effects in a model (`cross_fit`).

    Returns
    -------
    predictions : array of float, shape (candidates,), or None
        In [0, 1]; None without assistance, or if a model would have fewer than 30 judgements.
    fold : array of int, shape (draws,)
        From 0.

    Raises
    ------
    ValueError
        If ``predictions`` does not have exactly one judge, or ``stacked`` has none.

    References
    ----------
    Angelopoulos, Duchi & Zrnic, PPI++: Efficient Prediction-Powered Inference (2023); Zrnic &
    Candès, Cross-Prediction-Powered Inference (2024).

    Examples
    --------
    >>> ids, ranks = pl.Series(["a", "b"]), np.array([[1, 2]])
    >>> draws = pl.DataFrame({"id": ["a"], "tp": [True]})
    >>> model = np.array([[0.9, 0.2]])
    >>> assist_predictions(ids, ranks, draws, model, assist="predictions", seed="s")[0]
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
    features = model_features(ranks, judges if assist == "stacked" else judges[:0])
    predicted = cross_fit(
        features, judged["place"].to_numpy(), judged["tp"].cast(pl.Float64).to_numpy(),
        judged["fold"].to_numpy(), folds=folds, effects=effects,
    )  # fmt: skip
    return predicted, fold


@dataclass(frozen=True)
class Study:
    """Candidates with their ranks, and a sample of them.

    Places are rows of `ids`. The cell of a draw is ``stratum * folds + fold``. A stratum here is a
    class of similar inclusion probabilities (`chance_classes`) in a stratum of the sample.
    """

    ids: pl.Series
    measures: pl.Series
    ranks: IntArray
    """Shape (measures, candidates)."""
    stratum: IntArray
    strata: int
    classes: int
    """Classes in each stratum of the sample."""
    folds: int
    rest: FloatArray
    """Of all candidates, shape (columns, candidates): 1 where it is uncertain, 1 where it could
    not be drawn, the inclusion probability where it is uncertain (0 if unknown), and with
    predictions those of the uncertain ones without a judgement."""
    places: IntArray
    cell: IntArray
    moments: FloatArray
    """Of the judged uncertain draws, shape (fields, draws)."""
    chances: FloatArray
    """Of the same draws, inside (0, 1)."""
    other_places: IntArray
    other_columns: FloatArray
    """Certain and unjudged draws, shape (5, draws): certain ones that are hits, misses, unjudged;
    certain; unjudged."""
    spread: FloatArray
    """``v (1 / pi - 1)`` of all candidates, v the expected squared residual; 0 where pi = 0, and
    unless the sample has several phases (`phased_study`)."""
    earlier: tuple[Study, ...] = ()
    """The earlier phases of the sample; for these, the study describes its last phase."""

    @property
    def predicted(self) -> bool:
        """Tell whether there are predictions."""
        return len(self.rest) > 3


def build_study(
    ranks: pl.DataFrame | pl.LazyFrame,
    draws: pl.DataFrame | pl.LazyFrame,
    *,
    candidates: pl.DataFrame | pl.LazyFrame | None = None,
    folds: int = 10,
    seed: str = "",
) -> Study:
    """Combine ranks and a sample.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    draws : pl.DataFrame or pl.LazyFrame
        id, tp (null = not judged) and pi, the chance that it was drawn with, in (0, 1], 1 for
        certain ones; each candidate once. With predictions also prediction, in [0, 1], made out of
        fold, and fold (whole numbers); without a fold they get one by the seed, and without a
        prediction that of `candidates`.
    candidates : pl.DataFrame or pl.LazyFrame, optional
        id of all candidates; optionally stratum (where each had a fixed sample size), prediction,
        and pi (0 for those that could not be drawn). Without it there is one stratum, and every
        candidate could be drawn.
    folds : int
        Number of folds made where none are given.
    seed : str
        Fixes those folds.

    Returns
    -------
    Study

    Raises
    ------
    ValueError
        If ids are drawn twice, or not ranked by every measure; if a chance, or a prediction, is out
        of range; if draws have predictions but other candidates have none.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> draws = pl.DataFrame({"id": ["a", "c"], "tp": [True, False], "pi": [1.0, 0.5]})
    >>> study = build_study(ranks, draws)
    >>> study.rest.tolist(), study.places.tolist()
    ([[0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]], [2])
    """
    ids, measures, matrix = rank_matrix(ranks)
    sample = _sample(ids, draws.lazy().collect())
    known = _select_candidates(ids, candidates)
    chance = _chances(known)
    group = chance_classes(chance)
    classes = int(group.max(initial=0)) + 1
    stratum, strata = _strata(ids, known, sample)
    stratum, strata = stratum * classes + group, strata * classes
    prediction = _predictions(known, sample)
    fold, count = _folds(sample, folds, seed, predicted=prediction is not None)
    place, pi = sample["place"].to_numpy(), sample["pi"].to_numpy()
    judged, certain = sample["tp"].is_not_null().to_numpy(), pi == 1
    y = sample["tp"].fill_null(value=False).cast(pl.Float64).to_numpy()
    used, others = judged & ~certain, certain | ~judged
    guess = 0.0 if prediction is None else prediction[place[used]]
    return Study(
        ids=ids, measures=measures, ranks=matrix, stratum=stratum, strata=strata,
        classes=classes, folds=count,
        rest=_candidate_columns(chance, place[certain], place[used], prediction),
        places=place[used], cell=stratum[place[used]] * count + fold[used],
        moments=draw_moments(y[used], pi[used], prediction=guess), chances=pi[used],
        other_places=place[others], other_columns=_other_columns(judged, certain, y)[:, others],
        spread=np.zeros(len(ids)),
    )  # fmt: skip


def _other_columns(judged: BoolArray, certain: BoolArray, y: FloatArray) -> FloatArray:
    """Return the rows of `Study.other_columns`, for all draws."""
    hits, misses = certain & judged & (y == 1), certain & judged & (y == 0)
    return np.stack([hits, misses, certain & ~judged, certain, ~judged]).astype(np.float64)


def rank_matrix(ranks: pl.DataFrame | pl.LazyFrame) -> tuple[pl.Series, pl.Series, IntArray]:
    """Return the ids and the measures, sorted, and the rank of each id under each measure.

    Raises
    ------
    ValueError
        If a measure doesn't rank all candidates, each once: how many, and three examples.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": ["mi", "mi"], "id": ["b", "a"], "rank": [1, 2]})
    >>> rank_matrix(ranks)[2].tolist()
    [[2, 1]]
    """
    table = ranks.lazy().select("measure", "id", "rank").collect()
    place, ids = codes(table["id"])
    measure, measures = codes(table["measure"])
    matrix = np.zeros((len(measures), len(ids)), dtype=np.int64)
    matrix[measure, place] = table["rank"].to_numpy()
    missing = np.argwhere(matrix == 0)
    if len(missing):
        cases = ", ".join(f"{ids[int(i)]} under {measures[int(m)]}" for m, i in missing[:3])
        raise ValueError(f"{count_text(len(missing), 'missing rank')}, for example that of {cases}")
    if table.height != matrix.size:
        twice = table.filter(pl.struct("measure", "id").is_duplicated()).sort("measure", "id")
        rows = twice.select("id", "measure").unique(maintain_order=True).head(3).rows()
        cases = ", ".join(f"{name} under {measure}" for name, measure in rows)
        raise ValueError(
            f"{count_text(table.height - matrix.size, 'duplicate rank')}, "
            f"for example that of {cases}: a "
            "measure must rank each candidate once"
        )
    return ids, measures, matrix


def _sample(ids: pl.Series, draws: pl.DataFrame) -> pl.DataFrame:
    """Find the places of the draws, in their order."""
    twice = draws.filter(pl.col("id").is_duplicated())["id"].unique().sort()
    if len(twice):
        cases = ", ".join(twice.head(3))
        raise ValueError(f"{count_text(len(twice), 'candidate')} drawn twice, for example {cases}")
    places = pl.DataFrame({"id": ids, "place": np.arange(len(ids))})
    table = draws.join(places, on="id", how="left").sort("place")
    lost = table.filter(pl.col("place").is_null())["id"]
    if len(lost):
        raise ValueError(
            f"no ranks for {count_text(len(lost), 'draw')}, for example {', '.join(lost.head(3))}"
        )
    fine = (pl.col("pi") > 0) & (pl.col("pi") <= 1)
    wrong = table.filter(fine.not_() | pl.col("pi").is_null() | pl.col("pi").is_nan())
    if wrong.height:
        cases = ", ".join(f"{pi} of {name}" for name, pi in wrong.select("id", "pi").head(3).rows())
        raise ValueError(
            f"pi outside (0, 1] in {count_text(wrong.height, 'draw')}, "
            f"for example {cases}; use pi = 1 for "
            "certain members"
        )
    return table


def _select_candidates(
    ids: pl.Series, candidates: pl.DataFrame | pl.LazyFrame | None
) -> pl.DataFrame:
    """Return the columns known of the candidates, in the order of the ids."""
    every = ids.rename("id").to_frame()
    if candidates is None:
        return every
    table = candidates.lazy().collect()
    lacking = every.join(table, on="id", how="anti")["id"]
    if len(lacking) or table["id"].is_duplicated().any():
        cases = ", ".join(lacking.head(3)) or "a duplicate id"
        raise ValueError(
            f"the table of candidates must have each ranked candidate once: {len(lacking):,} are "
            f"missing, for example {cases}"
        )
    return every.join(table, on="id", how="left", maintain_order="left")


def _strata(ids: pl.Series, known: pl.DataFrame, sample: pl.DataFrame) -> tuple[IntArray, int]:
    if "stratum" in known.columns:
        none = known.filter(pl.col("stratum").is_null())["id"]
        if len(none):
            cases = ", ".join(none.head(3))
            raise ValueError(
                f"no stratum for {count_text(len(none), 'candidate')}, for example {cases}"
            )
        stratum, names = codes(known["stratum"])
        return stratum, len(names)
    several = sample["stratum"].n_unique() if "stratum" in sample.columns else 1
    if several > 1:
        raise ValueError(
            f"the draws are from {several} strata, but the strata of other candidates are unknown: "
            "add a column stratum to the table of candidates"
        )
    return np.zeros(len(ids), dtype=np.int64), 1


def _predictions(known: pl.DataFrame, sample: pl.DataFrame) -> FloatArray | None:
    """Return one prediction of each candidate: for the draws their own, where they have one."""
    own = "prediction" in sample.columns
    if "prediction" not in known.columns:
        if own:
            raise ValueError(
                "only the draws have predictions: add a column prediction to the table of "
                "candidates"
            )
        return None
    prediction = known["prediction"].cast(pl.Float64).to_numpy().copy()
    if own:
        prediction[sample["place"].to_numpy()] = sample["prediction"].cast(pl.Float64).to_numpy()
    wrong = np.flatnonzero(~((prediction >= 0) & (prediction <= 1)))
    if wrong.size:
        names = known["id"].to_list()
        cases = ", ".join(f"{prediction[place]} of {names[place]}" for place in wrong[:3])
        raise ValueError(
            f"{count_text(wrong.size, 'prediction')} outside [0, 1], for example {cases}"
        )
    return prediction


def _folds(sample: pl.DataFrame, folds: int, seed: str, *, predicted: bool) -> tuple[IntArray, int]:
    if not predicted:
        return np.zeros(sample.height, dtype=np.int64), 1
    if "fold" not in sample.columns:
        return folds_of(sample["id"], folds=folds, seed=seed), folds
    present, fold = np.unique(sample["fold"].to_numpy(), return_inverse=True)
    return fold.astype(np.int64), max(1, len(present))


def _chances(known: pl.DataFrame) -> FloatArray:
    """Return the inclusion probabilities of all candidates, NaN if unknown."""
    if "pi" not in known.columns:
        return np.full(known.height, np.nan)
    return known["pi"].cast(pl.Float64).fill_null(np.nan).to_numpy()


def _candidate_columns(
    chance: FloatArray, certain: IntArray, judged: IntArray, prediction: FloatArray | None
) -> FloatArray:
    uncertain: BoolArray = np.ones(len(chance), dtype=np.bool_)
    uncertain[certain] = False
    expected = np.where(uncertain & (chance < 1), chance, 0.0)
    columns = [uncertain.astype(np.float64), (chance == 0).astype(np.float64), expected]
    if prediction is not None:
        open_ = uncertain.copy()
        open_[judged] = False
        columns.append(np.where(open_, prediction, 0.0))
    return np.stack(columns)


# Sums over the members of n-best lists and of difference sets, by cell (stratum and fold): sums
# of non-negative terms, never differences, since subtraction would lose the digits of a small
# set beside large weights.

_BLOCK = 2**22  # numbers held at a time, 32 MB of them


def set_sums(members: BoolArray, columns: FloatArray, cell: IntArray, cells: int) -> FloatArray:
    """Add up columns over the members of any sets.

    Parameters
    ----------
    members : array of bool, shape (sets, units)
        The members of each set.
    columns : array of float, shape (columns, units)
        What each unit adds.
    cell : array of int, shape (units,)
        The cell of each, from 0.
    cells : int
        How many cells there are.

    Returns
    -------
    array of float, shape (columns, sets, cells)

    Examples
    --------
    >>> members = np.array([[True, True, False], [False, True, True]])
    >>> set_sums(members, np.array([[1.0, 2.0, 4.0]]), np.array([0, 1, 1]), 2).tolist()
    [[[1.0, 2.0], [0.0, 6.0]]]
    """
    sums = np.zeros((len(columns), len(members), cells))
    for place, units in _by_cell(cell):
        sums[:, :, place] = columns[:, units] @ members[:, units].T.astype(np.float64)
    return sums


def list_sums(
    first: IntArray, columns: FloatArray, cell: IntArray, *, lists: int, cells: int
) -> FloatArray:
    """Add up columns over n-best lists, each containing the smaller ones of its measure.

    Parameters
    ----------
    first : array of int, shape (measures, units)
        The place of the first list that holds a unit, `lists` where none does.
    columns, cell, cells
        As for `set_sums`.
    lists : int
        Lists per measure.

    Returns
    -------
    array of float, shape (columns, measures, lists, cells)

    Examples
    --------
    >>> first = np.array([[0, 1, 2], [1, 0, 1]])
    >>> units = np.array([[1.0, 2.0, 4.0]]), np.array([0, 0, 0])
    >>> list_sums(first, *units, lists=2, cells=1)[0, :, :, 0].tolist()
    [[1.0, 3.0], [2.0, 7.0]]
    """
    measures, shape = len(first), (len(first), lists + 1, cells)  # with those that no list holds
    measure = np.arange(measures)[:, None]
    flat = ((measure * (lists + 1) + first) * cells + cell).ravel()
    sums = np.empty((len(columns), measures, lists, cells))
    for place, column in enumerate(columns):
        weights = np.broadcast_to(column, first.shape).ravel()
        added = np.bincount(flat, weights=weights, minlength=int(np.prod(shape))).reshape(shape)
        sums[place] = np.cumsum(added[:, :-1], axis=1)
    return sums


def difference_sums(
    first: IntArray,
    columns: FloatArray,
    cell: IntArray,
    *,
    pairs: Sequence[tuple[int, int]],
    cuts: range,
    cells: int,
) -> FloatArray:
    """Add up columns over the units in only one of two lists, for many pairs of measures.

    ``sum over A1 - A2 = (columns A1) (not A2)'``: one matrix product for each cut and cell gives
    the sums of all pairs, both ways round.

    Parameters
    ----------
    first, columns, cell, cells
        As for `list_sums`.
    pairs : sequence of (int, int)
        Rows of `first`.
    cuts : range
        The places of the lists that are compared.

    Returns
    -------
    array of float, shape (columns, cuts, pairs, 2, cells)
        Over A1 - A2, then over A2 - A1.

    Examples
    --------
    >>> first = np.array([[0, 1, 2], [1, 0, 1]])
    >>> units = np.array([[1.0, 2.0, 4.0]]), np.array([0, 0, 0])
    >>> sums = difference_sums(first, *units, pairs=[(0, 1)], cuts=range(2), cells=1)
    >>> sums[0, :, 0, :, 0].tolist()
    [[1.0, 2.0], [0.0, 4.0]]
    """
    one, two = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    totals = np.zeros((len(columns), len(cuts), len(one), 2, cells))
    for place, units in _by_cell(cell):
        inside, mine = first[:, units], columns[:, units]
        for cut, last in enumerate(cuts):
            members = inside <= last
            some = members.any(axis=0)  # what no list holds is in no difference
            sums = _exclusive_sums(members[:, some], mine[:, some])
            totals[:, cut, :, 0, place] = sums[:, one, two]
            totals[:, cut, :, 1, place] = sums[:, two, one]
    return totals


def _exclusive_sums(members: BoolArray, columns: FloatArray) -> FloatArray:
    """Add up what one list holds and another does not, shape (columns, lists, lists)."""
    one, others = members.astype(np.float64), (~members).T.astype(np.float64)
    added = columns[:, None, :] * one
    flat = added.reshape(len(columns) * len(one), one.shape[1])
    return (flat @ others).reshape(len(columns), len(one), len(one))


def _by_cell(cell: IntArray) -> Iterator[tuple[int, slice | IntArray]]:
    """Yield each cell that is not empty, with its units."""
    if cell.size and not cell.any():  # one stratum, no folds: nothing to sort out
        yield 0, slice(None)
        return
    order = np.argsort(cell, kind="stable")
    present, starts = np.unique(cell[order], return_index=True)
    for place, units in zip(present, np.split(order, starts[1:]), strict=False):
        yield int(place), units


def blocks(cuts: int, *, numbers: int) -> Iterator[range]:
    """Divide the cuts into blocks that fit into memory.

    Parameters
    ----------
    cuts : int
        How many there are.
    numbers : int
        Numbers held for each.

    Examples
    --------
    >>> list(blocks(5, numbers=2**21))
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    step = max(1, _BLOCK // max(1, numbers))
    yield from (range(start, min(start + step, cuts)) for start in range(0, cuts, step))


# Estimates from several phases of a sample, each drawn from what the earlier ones left.


_ENOUGH_DRAWS = 2
"""Draws in a set from which a phase has a variance of its own."""
_ALLOCATED = 1.5
"""How many draws of a simple sample a draw may count as, by allocation alone: a phase that is
drawn where labels are uncertain can be worth more than as many equal draws."""
_SEVERAL, _EXACT = 2, 3  # levels of knowledge: no estimate, one draw, several draws, all judged


def phased_study(
    ranks: pl.DataFrame | pl.LazyFrame,
    draws: pl.DataFrame,
    *,
    phases: pl.DataFrame,
    candidates: pl.DataFrame | None = None,
    folds: int = 10,
) -> Study:
    """Combine ranks and a sample of several phases, each drawn from what the earlier ones left.

    For each phase, the candidates judged in earlier phases are known.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    draws : pl.DataFrame
        As for `study`; pi is not needed.
    phases : pl.DataFrame
        Table `Phases`: each phase with all candidates.
    candidates : pl.DataFrame, optional
        id and prediction of all candidates.
    folds : int
        Number of folds made where none are given.

    Returns
    -------
    Study
        Of the last phase, with those of the earlier ones.

    Raises
    ------
    ValueError
        As `study`, and if a draw belongs to no phase.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> draws = pl.DataFrame({"id": ["a", "c"], "tp": [True, False]})
    >>> phases = pl.DataFrame({
    ...     "phase": [1] * 4 + [2] * 4, "id": list("abcd") * 2, "stratum": "all",
    ...     "pi": [0.25] * 4 + [1.0, 0.5, 0.5, 0.0], "expected": 0.5,
    ...     "drawn": [True, False, False, False, False, False, True, False],
    ... })
    >>> study = phased_study(ranks, draws, phases=phases)
    >>> study.spread.tolist(), study.earlier[0].spread.tolist()
    ([0.0, 0.25, 0.25, 0.0], [0.75, 0.75, 0.75, 0.75])
    """
    drawn = phases.filter("drawn").select("id", drawn_in="phase", pi="pi")
    lost = draws.join(drawn, on="id", how="anti")["id"]
    if len(lost):
        cases = ", ".join(lost.head(3))
        raise ValueError(f"{count_text(len(lost), 'draw')} in no phase, for example {cases}")
    known = draws.drop("pi", "stratum", strict=False).join(
        drawn, on="id", how="left", maintain_order="left"
    )
    studies: list[Study] = []
    latest = phases.filter(phase=pl.col("phase").max())
    expected = latest.sort("id")["expected"].to_numpy()
    v = np.maximum(expected * (1.0 - expected), LEAST_VARIANCE)
    for number in phases["phase"].unique().sort():
        chances = phases.filter(phase=number).select("id", "stratum", "pi").sort("id")
        every = chances if candidates is None else chances.join(candidates, on="id", how="left")
        before = pl.col("drawn_in") < number
        mine = known.filter(
            (pl.col("drawn_in") == number) | (before & pl.col("tp").is_not_null())
        ).with_columns(pi=pl.when(before).then(1.0).otherwise("pi"))
        # an earlier draw without a judgement can no longer be drawn, and is estimated by the rest
        open_ = known.filter(before & pl.col("tp").is_null())["id"]
        pi = chances.select(
            pl.when(pl.col("id").is_in(open_.implode())).then(None).otherwise("pi")
        ).to_series()
        one = build_study(ranks, mine, candidates=every.with_columns(pi=pi), folds=folds)
        chance = chances["pi"].to_numpy()
        odds = ratio_or_zero(1.0 - chance, chance)
        studies.append(replace(one, spread=v * odds))
    return replace(studies[-1], earlier=tuple(studies[:-1]))


def combine_phases(phases: Sequence[Estimates], spreads: FloatArray) -> Estimates:
    """Combine the estimates of each set from several phases by inverse expected variances.

    Phase k is drawn from the candidates that no earlier phase drew, by a design that may depend on
    the earlier labels. It estimates a set as ``(labels of earlier phases) + (estimate of the
    rest)``, which is unbiased whatever those labels are. So the phases are uncorrelated, and

    ``estimate = sum_k lambda_k estimate_k, variance = sum_k lambda_k^2 variance_k``,

    ``lambda_k`` in proportion to ``1 / s_k``, s_k the expected variance. It comes from the design
    and not from the labels of phase k, so that the weights do not bias the estimate. The limits are
    those of one proportion with the effective draws of all phases.

    Parameters
    ----------
    phases : sequence of Estimates
        The same sets from each phase, arrays of shape (...), in the order of drawing.
    spreads : array of float, shape (phases, ...)
        s_k: the sum of ``v (1 / pi_k - 1)`` over the members of the set that phase k could draw; v
        the expected squared residual. At least 0; infinite where a member could not be drawn.

    Returns
    -------
    Estimates
        A phase with fewer than two draws in a set counts only if no other phase has more.

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), section 9.9, on sampling on
    two occasions; Zrnic & Candès, Active Statistical Inference (2024).

    Examples
    --------
    >>> from pipeline.kernels.survey.ratio_estimator import CertainCounts, draw_moments, hajek
    >>> def phase(y, pi, left, hits, misses):
    ...     sums = draw_moments(y, pi).sum(axis=1)[:, None, None]
    ...     known = CertainCounts(np.array(hits), np.array(misses), np.array(0.0))
    ...     return hajek(sums, np.array([left]), certain=known)
    >>> first = phase([1, 1, 0, 0], 0.2, 20.0, 0.0, 0.0)  # 10 of 20
    >>> second = phase([1, 0, 0, 0], 0.25, 16.0, 2.0, 2.0)  # 2 + 4 of 20
    >>> estimates = combine_phases([first, second], np.array([20 * 4.0, 16 * 3.0]))
    >>> round(float(estimates.estimate), 4), int(estimates.draws)  # 3/8 * 10/20 + 5/8 * 6/20
    (0.375, 8)
    """
    weights = _phase_weights(phases, spreads)

    def total(part: Callable[[Estimates], FloatArray], power: int = 1) -> FloatArray:
        terms = (
            np.where(weight > 0, weight**power * part(each), 0.0)
            for weight, each in zip(weights, phases, strict=True)
        )
        return np.asarray(sum(terms))

    last = phases[-1]
    share, shift = total(lambda each: each.share), total(lambda each: each.shift)
    estimate = total(lambda each: each.estimate)
    variance = total(lambda each: each.variance, 2)
    # the share of each phase in p, squared, over its effective draws
    alike = ratio_or_zero(share**2, total(lambda each: ratio_or_zero(each.share**2, each.alike), 2))
    most = ratio_or_zero(share**2, total(lambda each: ratio_or_zero(each.share**2, each.most), 2))
    most = np.where((weights > 0).sum(axis=0) > 1, _ALLOCATED, 1.0) * most
    p = ratio_or_zero(estimate - shift, share)
    plain = total(lambda each: np.where(each.variance > 0, each.variance * each.gain, 0.0), 2)
    return last._replace(
        estimate=estimate, variance=variance, share=share, shift=shift,
        p=np.where(np.isnan(estimate), np.nan, np.clip(p, 0.0, 1.0)),
        p_variance=ratio_or_zero(variance, share**2),
        draws=np.asarray(sum(each.draws for each in phases)), most=most, alike=alike,
        gain=np.where(variance > 0, np.maximum(1.0, ratio_or_zero(plain, variance)), last.gain),
        least=total(lambda each: each.least), tau=total(lambda each: each.tau),
        factor=np.minimum.reduce([each.factor for each in phases]),
        parts=_parts_of(phases, weights),
    )  # fmt: skip


def _phase_weights(phases: Sequence[Estimates], spreads: FloatArray) -> FloatArray:
    """Return lambda, shape (phases, ...): adding up to 1."""
    draws = np.stack([each.draws for each in phases])
    usable = ~np.isnan(np.stack([each.estimate for each in phases])) & np.isfinite(spreads)
    known = np.stack([each.share for each in phases]) == 0
    drawn = np.where(draws >= _ENOUGH_DRAWS, _SEVERAL, 1)
    level: IntArray = np.where(usable, np.where(known, _EXACT, drawn), 0)
    best = level.max(axis=0)
    at_best: BoolArray = level == best
    last: BoolArray = at_best & (np.cumsum(at_best[::-1], axis=0)[::-1] == 1)
    precision: FloatArray = at_best / np.where(spreads > 0, spreads, 1.0)
    precision = np.where(best == _SEVERAL, precision, last)
    return np.asarray(precision / precision.sum(axis=0))


def _parts_of(phases: Sequence[Estimates], weights: FloatArray) -> tuple[Estimates, ...]:
    """Return the classes of all phases with their shares; none if no phase has classes."""
    if not any(each.parts for each in phases):
        return ()
    return tuple(
        part._replace(share=weight * part.share)
        for each, weight in zip(phases, weights, strict=True)
        for part in each.parts or (each,)
    )
