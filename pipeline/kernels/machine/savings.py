"""Labels that predictions save in prediction-assisted estimates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.machine.judges import JudgedDraws, by_judge, squared_correlation, to_table
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.sampling import seeded_key
from pipeline.kernels.survey.limits import Weights
from pipeline.kernels.survey.ratio_estimator import (
    ENOUGH,
    draw_moments,
    prediction_weights,
    ratio_or_zero,
    residuals,
)
from pipeline.kernels.survey.study import folds_of, rank_matrix, set_sums
from schemas import PairSavings, Savings

_EQUAL_CHANCE = 0.5  # any chance: where all are equal it makes no difference


class LabelSavings(NamedTuple):
    """Savings by predictions, arrays of shape (sets,); NaN if unknown."""

    labels: FloatArray
    """Share of labels saved; at most 1, negative if predictions cost labels."""
    tau: FloatArray
    """Mean weight of the predictions, in [0, 1]."""


def label_savings(
    tp: FloatArray,
    prediction: FloatArray,
    members: BoolArray,
    weights: Weights,
    *,
    fold: IntArray,
    share: FloatArray | None = None,
    enough: int = ENOUGH,
) -> LabelSavings:
    """Return the share of labels saved by predictions in the estimate of a mean or difference.

    ``1 - V_with / V_without``: a sample that is smaller by this share, with predictions, leaves
    the variance as it was. V_with is the variance of the residuals ``y - tau g``, tau the weight
    that makes it smallest, found for each fold in the others. So no judgement chooses the weight of
    its own prediction, and a judge that knows nothing saves nothing on average, and not what
    chance makes of the best of many weights.

    Parameters
    ----------
    tp, prediction : array of float, shape (draws,)
        Judgements 0 and 1; predictions in [0, 1].
    members : array of bool, shape (sets, parts, draws)
        Which draws are in which part of which set: one part of a list, two of a difference.
    weights : Weights
        The weights of the draws; those that are certain have no variance.
    fold : array of int, shape (draws,)
        The fold of each draw, from 0.
    share : array of float, shape (sets, parts), optional
        The part of each that was not certain; all if not given.
    enough : int
        NaN below so many uncertain draws in a part: there predictions get no weight.

    Returns
    -------
    Saved
        NaN where the judgements are all alike, too: then there is no variance without predictions.

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), section 6.4;
    Angelopoulos, Duchi & Zrnic, PPI++ (2023), section 6.

    Examples
    --------
    >>> from pipeline.kernels.survey.limits import domain_weights
    >>> y, fold = np.array([1.0, 0.0] * 20), np.arange(40) % 5
    >>> alike = domain_weights(None, draws=40)
    >>> everybody = np.ones((1, 1, 40), dtype=bool)
    >>> label_savings(y, y, everybody, alike, fold=fold).labels.tolist()
    [1.0]
    """
    pi = np.full(len(tp), _EQUAL_CHANCE) if weights.simple else 1.0 / weights.w
    open_ = pi < 1
    columns = draw_moments(tp[open_], pi[open_], prediction=prediction[open_])
    folds = int(fold.max(initial=0)) + 1
    sets, parts = members.shape[:2]
    inside = members[..., open_].reshape(sets * parts, -1)
    sums = set_sums(inside, columns, fold[open_], folds)[:, :, None, :]
    tau = prediction_weights(sums, np.ones((len(inside), 1)), enough=enough)
    scale = np.ones((sets, parts)) if share is None else share**2
    with_, without = (
        (scale * residuals(sums, each).variance().reshape(sets, parts)).sum(axis=1)
        for each in (tau, np.zeros_like(tau))
    )
    few = inside.sum(axis=1).reshape(sets, parts).min(axis=1) < enough
    unknown = few | (without <= 0)
    labels = np.where(unknown, np.nan, 1.0 - ratio_or_zero(with_, without))
    return LabelSavings(
        labels, np.where(few, np.nan, tau.mean(axis=1).reshape(sets, parts).mean(axis=1))
    )


# Tables for n-best precision and for differences

_FOLDS = 10


@dataclass(frozen=True)
class Ranked:
    """Candidates with their ranks under each measure."""

    ids: pl.Series
    measures: list[str]
    ranks: IntArray
    """Shape (measures, candidates)."""

    def of(self, draws: pl.DataFrame) -> tuple[pl.DataFrame, IntArray]:
        """Return the draws that are ranked, and their ranks, shape (measures, draws)."""
        places = pl.DataFrame({"id": self.ids, "place": np.arange(len(self.ids))})
        held = draws.join(places, on="id", how="inner", maintain_order="left")
        return held.drop("place"), self.ranks[:, held["place"].to_numpy()]


class Sets(NamedTuple):
    """Sets to estimate: lists, or the difference sets of pairs."""

    keys: list[dict[str, Any]]
    """The key of the rows of each set."""
    members: BoolArray
    """Shape (sets, parts, draws)."""
    share: FloatArray | None = None
    """The part of each that was not certain, shape (sets, parts); all if None."""


def saving_tables(
    predictions: pl.DataFrame,
    draws: pl.DataFrame,
    ranks: pl.DataFrame,
    *,
    at: Sequence[int],
    pairs: Sequence[tuple[str, str]] = (),
    confidence: float = 0.95,
    seed: str = "",
) -> dict[str, pl.DataFrame]:
    """Return the labels saved by each judge for lists and pairs of measures.

    Parameters
    ----------
    predictions, draws
        As for `judges.by_judge`.
    ranks : pl.DataFrame
        Table `Ranks`: all candidates under each measure.
    at : sequence of int
        List sizes.
    pairs : sequence of (str, str)
        The measures to compare.
    confidence : float
        Confidence level in (0, 1).
    seed : str
        Fixes the folds in which the weight of the predictions is found.

    Returns
    -------
    dict of str to pl.DataFrame
        Tables `Savings` and `PairSavings`, by the names savings and pair_savings.

    Raises
    ------
    ValueError
        If a measure doesn't rank all candidates, or the confidence is not inside (0, 1).

    Examples
    --------
    >>> ids = [f"x{i}" for i in range(40)]
    >>> given = pl.DataFrame(
    ...     {"category": "TP", "judge": "m", "id": ids, "prediction": [1.0, 0.0] * 20}
    ... )
    >>> draws = given.select("category", "id", tp=pl.col("prediction") == 1)
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ids, "rank": range(1, 41)})
    >>> found = saving_tables(given, draws, ranks, at=[20, 40])["savings"]
    >>> found.select("n", "n_judged", "labels_saved").rows()
    [(20, 20, None), (40, 40, 1.0)]
    """
    ids, measures, matrix = rank_matrix(ranks)
    ranked = Ranked(ids, measures.to_list(), matrix)
    lists: list[dict[str, Any]] = []
    compared: list[dict[str, Any]] = []
    for each in by_judge(predictions, draws):
        held, mine = ranked.of(each.draws)
        one = each._replace(draws=held)
        fold = folds_of(held["id"], folds=_FOLDS, seed=seed)
        for n in at:
            inside = mine <= n
            names = [{"measure": name, "n": n} for name in ranked.measures]
            lists += _set_rows(one, Sets(names, inside[:, None]), fold, confidence)
            if pairs:
                sets = _difference_sets(ranked, one, inside, n, pairs)
                compared += _set_rows(one, sets, fold, confidence)
    return {"savings": to_table(lists, Savings), "pair_savings": to_table(compared, PairSavings)}


def _difference_sets(
    ranked: Ranked, each: JudgedDraws, inside: BoolArray, n: int, pairs: Sequence[tuple[str, str]]
) -> Sets:
    """Return the difference sets of pairs."""
    place = {name: row for row, name in enumerate(ranked.measures)}
    one, two = np.array([[place[name] for name in pair] for pair in pairs]).T
    members = np.stack([inside[one] & ~inside[two], inside[two] & ~inside[one]], axis=1)
    held = (ranked.ranks <= n).astype(np.float64)
    size = (held.sum(axis=1)[one] - (held @ held.T)[one, two])[:, None]
    certain = members @ (each.weights.c == 0).astype(np.float64)
    share = 1.0 - np.divide(certain, size, out=np.zeros_like(certain), where=size > 0)
    keys = [{"measure_1": first, "measure_2": second, "n": n} for first, second in pairs]
    return Sets(keys, members, share)


def _set_rows(
    each: JudgedDraws, sets: Sets, fold: IntArray, confidence: float
) -> Iterator[dict[str, Any]]:
    """Yield the rows of some sets."""
    y, g, weights = each.tp.astype(np.float64), each.prediction, each.weights
    rho2 = squared_correlation(y, g, sets.members, weights, confidence=confidence)
    found = label_savings(y, g, sets.members, weights, fold=fold, share=sets.share)
    columns = (*rho2, found.tau, found.labels, sets.members.sum(axis=(1, 2)))
    names = ("rho2", "rho2_lower", "rho2_upper", "tau", "labels_saved", "n_judged")
    for key, *values in zip(sets.keys, *columns, strict=True):
        numbers = dict(zip(names, map(float, values), strict=True))
        whole = {"n_judged": int(numbers["n_judged"])}
        yield {"category": each.category, "judge": each.judge, **key, **numbers, **whole}


# Simulated predictions with given error rates


def simulate_predictions(
    truth: pl.LazyFrame,
    *,
    judge: str,
    sensitivity: float,
    specificity: float,
    labels: bool = True,
    seed: str,
) -> pl.LazyFrame:
    """Simulate predictions with given sensitivity and specificity.

    With z a standard normal number, fixed by seed, judge, category and candidate, the prediction is
    ``Phi(z + Phi^-1(sensitivity))`` for a true positive, ``Phi(z - Phi^-1(specificity))`` for
    another one; the label is 1 where it is .5 or more.

    Parameters
    ----------
    truth : LazyFrame
        category, id, tp, none of it null.
    judge : str
        The machine's name.
    sensitivity, specificity : float
        In [0, 1]; one half each makes a machine that guesses.
    labels : bool
        Whether it gives labels 0 and 1, or probabilities.
    seed : str
        Seed of the errors.

    Returns
    -------
    LazyFrame
        Table `Predictions`, in the order of the truth.

    References
    ----------
    Swets, ROC Analysis in Psychology and Diagnostics (1996), on the binormal model.

    Examples
    --------
    >>> truth = pl.LazyFrame({"category": "TP", "id": ["a", "b"], "tp": [True, False]})
    >>> exact = simulate_predictions(truth, judge="m", sensitivity=1.0, specificity=1.0, seed="s")
    >>> exact.collect()["prediction"].to_list()
    [1.0, 0.0]
    """
    key = seeded_key("category", "id", seed=seed, purpose=f"machine {judge}")
    uniform = (key.cast(pl.Float64) + 0.5) / 2.0**63
    up, down = (float(scipy.special.ndtri(each)) for each in (sensitivity, specificity))
    z = _map_normal(uniform.clip(1e-15, 1.0 - 1e-15), inverse=True)
    chance = _map_normal(z + pl.when("tp").then(up).otherwise(-down), inverse=False)
    prediction = (chance >= 0.5).cast(pl.Float64) if labels else chance
    return truth.select(
        "category", pl.lit(judge).alias("judge"), "id", prediction.alias("prediction")
    )


def _map_normal(value: pl.Expr, *, inverse: bool) -> pl.Expr:
    """Return the normal distribution, or its quantiles, of each value."""
    function = scipy.special.ndtri if inverse else scipy.special.ndtr
    return value.map_batches(
        lambda numbers: pl.Series(function(numbers.to_numpy())),
        return_dtype=pl.Float64,
        is_elementwise=True,
    )
