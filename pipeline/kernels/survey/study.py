"""Ranks, draws and predictions of a study as arrays, and cross-fitted predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray, codes
from pipeline.kernels.ridge_logistic import Features, fit_ridge, judged_words
from pipeline.kernels.sampling import seeded_key
from pipeline.kernels.survey.chance_classes import chance_classes
from pipeline.kernels.survey.ratio_estimator import ENOUGH, draw_moments
from schemas.errors import count_text

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
        for train in (fold != left for left in range(folds))
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
    known: IntArray
    known_columns: FloatArray
    """Certain and unjudged draws, shape (5, draws): certain ones that are hits, misses, unjudged;
    certain; unjudged."""
    spread: FloatArray
    """``v (1 / pi - 1)`` of all candidates, v the expected squared residual; 0 where pi = 0, and
    unless the sample has several phases (`phases.phased_study`)."""
    earlier: tuple[Study, ...] = ()
    """The earlier phases of the sample; for these, the study describes its last phase."""

    @property
    def predicted(self) -> bool:
        """Tell whether there are predictions."""
        return len(self.rest) > 3


def study(
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
    >>> found = study(ranks, draws)
    >>> found.rest.tolist(), found.places.tolist()
    ([[0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]], [2])
    """
    ids, measures, matrix = rank_matrix(ranks)
    sample = _sample(ids, draws.lazy().collect())
    known = _known(ids, candidates)
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
    used, kept = judged & ~certain, certain | ~judged
    guess = 0.0 if prediction is None else prediction[place[used]]
    return Study(
        ids=ids, measures=measures, ranks=matrix, stratum=stratum, strata=strata,
        classes=classes, folds=count,
        rest=_candidate_columns(chance, place[certain], place[used], prediction),
        places=place[used], cell=stratum[place[used]] * count + fold[used],
        moments=draw_moments(y[used], pi[used], prediction=guess), chances=pi[used],
        known=place[kept], known_columns=_known_columns(judged, certain, y)[:, kept],
        spread=np.zeros(len(ids)),
    )  # fmt: skip


def _known_columns(judged: BoolArray, certain: BoolArray, y: FloatArray) -> FloatArray:
    """Return the rows of `Study.known_columns`, for all draws."""
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
    found = np.zeros((len(measures), len(ids)), dtype=np.int64)
    found[measure, place] = table["rank"].to_numpy()
    missing = np.argwhere(found == 0)
    if len(missing):
        shown = ", ".join(f"{ids[int(i)]} under {measures[int(m)]}" for m, i in missing[:3])
        raise ValueError(f"{count_text(len(missing), 'missing rank')}, for example that of {shown}")
    if table.height != found.size:
        twice = table.filter(pl.struct("measure", "id").is_duplicated()).sort("measure", "id")
        rows = twice.select("id", "measure").unique(maintain_order=True).head(3).rows()
        shown = ", ".join(f"{name} under {measure}" for name, measure in rows)
        raise ValueError(
            f"{count_text(table.height - found.size, 'duplicate rank')}, "
            f"for example that of {shown}: a "
            "measure must rank each candidate once"
        )
    return ids, measures, found


def _sample(ids: pl.Series, draws: pl.DataFrame) -> pl.DataFrame:
    """Find the places of the draws, in their order."""
    twice = draws.filter(pl.col("id").is_duplicated())["id"].unique().sort()
    if len(twice):
        shown = ", ".join(twice.head(3))
        raise ValueError(f"{count_text(len(twice), 'candidate')} drawn twice, for example {shown}")
    places = pl.DataFrame({"id": ids, "place": np.arange(len(ids))})
    found = draws.join(places, on="id", how="left").sort("place")
    lost = found.filter(pl.col("place").is_null())["id"]
    if len(lost):
        raise ValueError(
            f"no ranks for {count_text(len(lost), 'draw')}, for example {', '.join(lost.head(3))}"
        )
    fine = (pl.col("pi") > 0) & (pl.col("pi") <= 1)
    wrong = found.filter(fine.not_() | pl.col("pi").is_null() | pl.col("pi").is_nan())
    if wrong.height:
        shown = ", ".join(f"{pi} of {name}" for name, pi in wrong.select("id", "pi").head(3).rows())
        raise ValueError(
            f"pi outside (0, 1] in {count_text(wrong.height, 'draw')}, "
            f"for example {shown}; use pi = 1 for "
            "certain members"
        )
    return found


def _known(ids: pl.Series, candidates: pl.DataFrame | pl.LazyFrame | None) -> pl.DataFrame:
    """Return the columns known of the candidates, in the order of the ids."""
    every = ids.rename("id").to_frame()
    if candidates is None:
        return every
    table = candidates.lazy().collect()
    lacking = every.join(table, on="id", how="anti")["id"]
    if len(lacking) or table["id"].is_duplicated().any():
        shown = ", ".join(lacking.head(3)) or "a duplicate id"
        raise ValueError(
            f"the table of candidates must have each ranked candidate once: {len(lacking):,} are "
            f"missing, for example {shown}"
        )
    return every.join(table, on="id", how="left", maintain_order="left")


def _strata(ids: pl.Series, known: pl.DataFrame, sample: pl.DataFrame) -> tuple[IntArray, int]:
    if "stratum" in known.columns:
        none = known.filter(pl.col("stratum").is_null())["id"]
        if len(none):
            shown = ", ".join(none.head(3))
            raise ValueError(
                f"no stratum for {count_text(len(none), 'candidate')}, for example {shown}"
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
    found = known["prediction"].cast(pl.Float64).to_numpy().copy()
    if own:
        found[sample["place"].to_numpy()] = sample["prediction"].cast(pl.Float64).to_numpy()
    wrong = np.flatnonzero(~((found >= 0) & (found <= 1)))
    if wrong.size:
        names = known["id"].to_list()
        shown = ", ".join(f"{found[place]} of {names[place]}" for place in wrong[:3])
        raise ValueError(
            f"{count_text(wrong.size, 'prediction')} outside [0, 1], for example {shown}"
        )
    return found


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
