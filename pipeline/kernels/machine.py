"""Machine judges: agreement, calibration, explained variance, and the labels that they save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from pipeline.kernels import cells
from pipeline.kernels.cells import PLAIN, NumberFormat
from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.sampling import seeded_key
from pipeline.kernels.survey.limits import (
    Weights,
    checked_tail,
    domain_shares,
    domain_weights,
    linear_variance,
)
from pipeline.kernels.survey.ratio_estimator import (
    ENOUGH,
    draw_moments,
    prediction_weights,
    ratio_or_zero,
    residuals,
)
from pipeline.kernels.survey.study import folds_of, rank_matrix, set_sums
from schemas import Calibration, Judges, MachineConfusion, PairSavings, Savings, Table

# Agreement with people, from weighted draws


class Coefficient(NamedTuple):
    """A coefficient with its limits; NaN if undefined."""

    value: float
    lower: float
    upper: float


UNDEFINED = Coefficient(np.nan, np.nan, np.nan)


def agreement_with_people(
    tp: npt.ArrayLike, label: npt.ArrayLike, weights: Weights, *, confidence: float = 0.95
) -> dict[str, Coefficient]:
    """Return Cohen's kappa and Gwet's AC1 between judgements and labels, with limits.

    ``(P - P_e) / (1 - P_e)``, P the weighted share of equal labels. With row and column shares r
    and k of positives, ``P_e = r k + (1 - r)(1 - k)`` for kappa and ``2 q (1 - q)``,
    ``q = (r + k) / 2``, for AC1. Each draw adds ``z_i = w_i u_i / sum w`` to the estimate,
    ``u_i = ((a_i - P) - (1 - kappa) d_i) / (1 - P_e)`` with a_i = 1 where the labels are equal and
    d_i what the draw does to P_e. The variance is `limits.linear_variance` of these, and
    ``(unit / (1 - P_e))^2``: one more label than was seen may be wrong, and weighs what heavy draws
    do, ``unit = sum c w^3 / (sum c w^2 sum w)``. Limits are those of atanh(kappa).

    Parameters
    ----------
    tp, label : array_like of bool, shape (draws,)
        Human judgements and machine labels of the draws.
    weights : Weights
        Weights of the draws.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    dict of str to Coefficient
        kappa and ac1, in [-1, 1]: 1 for perfect agreement, 0 for that of chance. Where all weigh
        the same they are `cohen_kappa` and `gwet_ac`, with the published errors but for
        ``m / (m - 1)`` and the unit. Without it, and on the plain scale, 95 % limits held a very
        good machine's kappa in 64 to 91 % of samples. Kappa is NaN where both give one label
        only, both are with fewer than 2 draws.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Cohen (1960); Fleiss, Cohen & Everitt (1969); Gwet (2008), Särndal, Swensson & Wretman
    (1992), section 5.5, on linearisation.

    Examples
    --------
    >>> from pipeline.kernels.survey.limits import domain_weights
    >>> people, machine = np.array([1] * 49 + [0] * 51), [1] * 40 + [0] * 9 + [1] * 6 + [0] * 45
    >>> shares = agreement_with_people(people, machine, domain_weights(None, draws=100))
    >>> [round(each, 4) for each in shares["kappa"]]
    [0.6995, 0.523, 0.8185]
    """
    z = -float(scipy.special.ndtri(checked_tail(confidence)))
    y, x = (np.asarray(each, dtype=np.float64) for each in (tp, label))
    if len(y) < 2:
        return {"kappa": UNDEFINED, "ac1": UNDEFINED}
    share = weights.w / weights.w.sum()
    r, k = share @ y, share @ x
    q, both = (r + k) / 2.0, (y + x) / 2.0
    moved = (2.0 * k - 1.0) * (y - r) + (2.0 * r - 1.0) * (x - k)
    parts = {
        "kappa": (r * k + (1.0 - r) * (1.0 - k), moved),
        "ac1": (2.0 * q * (1.0 - q), 2.0 * (1.0 - 2.0 * q) * (both - q)),
    }
    return {
        name: _coefficient(y == x, share, weights.c, chance=chance, moved=each, z=z)
        for name, (chance, each) in parts.items()
    }


def _coefficient(
    equal: BoolArray,
    share: FloatArray,
    c: FloatArray,
    *,
    chance: float,
    moved: FloatArray,
    z: float,
) -> Coefficient:
    """Return a coefficient from the agreement by chance and what each draw does to that."""
    if chance >= 1.0 - 1e-12:
        return UNDEFINED
    missed = float(share @ ~equal)  # and not what is equal, so that 1 is 1 exactly
    value = float(1.0 - missed / (1.0 - chance))
    u = (missed - ~equal - (1.0 - value) * moved) / (1.0 - chance)
    variance = (
        float(linear_variance(share * u, c)) + (_mean_draw_weight(share, c) / (1.0 - chance)) ** 2
    )
    half = z * float(np.sqrt(variance))
    if half == 0.0 or 1.0 - abs(value) < 1e-12:
        return Coefficient(value, max(value - half, -1.0), min(value + half, 1.0))
    middle, arm = np.arctanh(value), half / (1.0 - value**2)
    return Coefficient(value, float(np.tanh(middle - arm)), float(np.tanh(middle + arm)))


def _mean_draw_weight(share: FloatArray, c: FloatArray) -> float:
    """Return what a further draw would weigh: the mean by its part in the variance."""
    spread = float(c @ share**2)
    return float(c @ share**3) / spread if spread else 0.0


# Checks of prediction files

_JUDGE = "~judge"
"""The internal column with the judge."""


def probability(column: str, form: NumberFormat = PLAIN) -> pl.Expr:
    """Return a column as probabilities; null if empty or invalid.

    Labels count as 1.0 or 0.0, in the spellings of judgements.

    Parameters
    ----------
    column : str
        Its name; text, numbers or truth values.
    form : NumberFormat
        Number format of a text column.

    Returns
    -------
    Expr
        Float64 in [0, 1].

    Examples
    --------
    >>> answers = pl.DataFrame({"p": [" 0.7", "TP", "no", "1.2", ""]})
    >>> answers.select(probability("p")).to_series().to_list()
    [0.7, 1.0, 0.0, None, None]
    """
    text = pl.col(column).cast(pl.String)
    number = form.plain(text).cast(pl.Float64, strict=False) / (100.0 if form.percent else 1.0)
    chance = pl.when(number.is_between(0.0, 1.0)).then(number + 0.0)
    return pl.coalesce(cells.judgement(column).cast(pl.Float64), chance)


def duplicate_faults(rows: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    """Return a fault for each duplicate row of a judge and pair.

    Parameters
    ----------
    rows : LazyFrame
        Rows of files with file, line, id and ~judge.
    units : sequence of str
        The columns that identify the candidate.

    Examples
    --------
    >>> rows = pl.LazyFrame({"file": "m.tsv", "line": [2, 3], "id": ["a", "a"], "~judge": "m"})
    >>> duplicate_faults(rows, ["id"]).select("line", "problem").collect().row(0)
    (2, "this judge has a conflicting row for the pair: 'm'")
    """
    candidates = rows.filter(_names_candidate(units)).drop_nulls(_JUDGE)
    twice = candidates.filter(pl.struct("id", _JUDGE).is_duplicated())
    problem = pl.format("this judge has a conflicting row for the pair: '{}'", _JUDGE)
    return _candidate_faults(twice, units, problem)


def unknown_candidate_faults(
    rows: pl.LazyFrame, candidates: pl.LazyFrame, units: Sequence[str]
) -> pl.LazyFrame:
    """Return a fault for each row about a pair that is not a candidate.

    Parameters
    ----------
    rows, units
        As for `duplicate_faults`.
    candidates : LazyFrame
        The candidates, with id.

    Examples
    --------
    >>> rows = pl.LazyFrame({"file": "m.tsv", "line": [2, 3], "id": ["a", "b"]})
    >>> table = unknown_candidate_faults(rows, pl.LazyFrame({"id": ["a"]}), ["id"])
    >>> table.select("line", "value").collect().rows()
    [(3, 'b')]
    """
    lost = rows.filter(_names_candidate(units)).join(candidates.select("id"), on="id", how="anti")
    return _candidate_faults(
        lost, units, pl.lit('is not a candidate; to ignore such rows: others = "skip"')
    )


def _names_candidate(units: Sequence[str]) -> pl.Expr:
    """Return true if a row identifies a candidate; others are already faults."""
    return pl.all_horizontal(cells.text_or_null(name).is_not_null() for name in units)


def _candidate_faults(rows: pl.LazyFrame, units: Sequence[str], problem: pl.Expr) -> pl.LazyFrame:
    value = pl.concat_str([pl.col(name).cast(pl.String) for name in units], separator=" ")
    column = pl.lit(", ".join(units))
    return rows.select("file", "line", column=column, value=value, problem=problem)


def provenance(rows: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    """Return the values of columns by judge, with frequencies.

    Parameters
    ----------
    rows : LazyFrame
        Rows of files with ~judge.
    columns : sequence of str
        For example model, version, prompt.

    Returns
    -------
    LazyFrame
        judge, column, value (as text), rows; empty fields are omitted.

    Examples
    --------
    >>> rows = pl.LazyFrame({"~judge": "m", "model": ["x", "x", None]})
    >>> provenance(rows, ["model"]).collect().rows()
    [('m', 'model', 'x', 2)]
    """
    long = [
        rows.select(judge=_JUDGE, column=pl.lit(name), value=cells.text_or_null(name))
        for name in columns
    ]
    nothing = pl.LazyFrame(schema={"judge": pl.String, "column": pl.String, "value": pl.String})
    values = pl.concat([nothing, *long]).drop_nulls()
    counted = values.group_by("judge", "column", "value").agg(rows=pl.len().cast(pl.Int64))
    return counted.sort("judge", "column", "value")


# Calibration


def calibration(
    tp: npt.ArrayLike,
    prediction: npt.ArrayLike,
    weights: Weights,
    *,
    bins: int = 10,
    confidence: float = 0.95,
) -> pl.DataFrame:
    """Return mean prediction and share of true positives in bins of equal width.

    Parameters
    ----------
    tp : array_like of bool, shape (draws,)
        Human judgements.
    prediction : array_like of float, shape (draws,)
        Probabilities in [0, 1]; labels 0 and 1 are in the first and the last bin.
    weights : Weights
        Weights of the draws.
    bins : int
        Number of bins, at least 1; empty bins are omitted.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        The columns of table `Calibration` from bin on. A bin holds ``first <= prediction < last``,
        the last one 1, too.

    Raises
    ------
    ValueError
        If there is no bin, or the confidence is not inside (0, 1).

    References
    ----------
    DeGroot & Fienberg, The Comparison and Evaluation of Forecasters (1983); Niculescu-Mizil &
    Caruana, Predicting Good Probabilities with Supervised Learning (2005).

    Examples
    --------
    >>> from pipeline.kernels.survey.limits import domain_weights
    >>> weights = domain_weights(None, draws=4)
    >>> table = calibration([1, 0, 1, 0], [0.9, 0.8, 1.0, 0.1], weights, bins=2)
    >>> table.select("bin", "n_judged", pl.col("mean_prediction", "share").round(3)).rows()
    [(1, 1, 0.1, 0.0), (2, 3, 0.9, 0.667)]
    """
    if bins < 1:
        raise ValueError(f"bins = {bins}: must be at least 1")
    y, g = np.asarray(tp, dtype=np.bool_), np.asarray(prediction, dtype=np.float64)
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.searchsorted(edges[1:-1], g, side="right")  # 1 is in the last bin
    members = place == np.arange(bins)[:, None]
    shares = domain_shares(y, members, weights, confidence=confidence)
    weight = members.astype(np.float64) @ weights.w
    mean = ratio_or_zero((members * g) @ weights.w, weight)
    table = pl.DataFrame({
        "bin": np.arange(1, bins + 1), "first": edges[:-1], "last": edges[1:],
        "n_judged": members.sum(axis=1), "weight": ratio_or_zero(weight, weight.sum()),
        "mean_prediction": np.clip(mean, 0.0, 1.0), "share": np.clip(shares.share, 0.0, 1.0),
        "lower": shares.lower, "upper": shares.upper,
    })  # fmt: skip
    counts = pl.col("bin", "n_judged").cast(pl.Int64)
    return table.with_columns(counts).filter(pl.col("n_judged") > 0)


def calibration_error(bins: pl.DataFrame) -> float:
    """Return the expected calibration error over bins.

    ``sum_b W_b |mean prediction_b - share_b|``, W_b the weight of the bin. In small samples it
    is above 0 even where probabilities are right, the more so the more bins there are.

    Parameters
    ----------
    bins : pl.DataFrame
        What `calibration` gives.

    Returns
    -------
    float
        In [0, 1], 0 for perfect calibration; NaN without bins.

    References
    ----------
    Naeini, Cooper & Hauskrecht, Obtaining Well Calibrated Probabilities Using Bayesian Binning
    (2015).

    Examples
    --------
    >>> bins = {"weight": [0.25, 0.75], "mean_prediction": [0.5, 0.75], "share": [0.0, 0.5]}
    >>> calibration_error(pl.DataFrame(bins))
    0.3125
    """
    if bins.is_empty():
        return float("nan")
    off = (bins["mean_prediction"] - bins["share"]).abs()
    return float((bins["weight"] * off).sum())


def brier_score(tp: npt.ArrayLike, prediction: npt.ArrayLike, weights: Weights) -> float:
    """Return the weighted mean of ``(prediction - y)^2``.

    Returns
    -------
    float
        In [0, 1], 0 for a judge that is sure and right of all; NaN without draws.

    References
    ----------
    Brier, Verification of Forecasts Expressed in Terms of Probability (1950).

    Examples
    --------
    >>> from pipeline.kernels.survey.limits import domain_weights
    >>> round(brier_score([1, 0], [0.9, 0.3], domain_weights(None, draws=2)), 4)
    0.05
    """
    y, g = (np.asarray(each, dtype=np.float64) for each in (tp, prediction))
    return float(np.average((g - y) ** 2, weights=weights.w)) if len(y) else float("nan")


# Confusion of judgements and labels

_SHARES = ("sensitivity", "specificity", "ppv", "npv")


def confusion(
    tp: npt.ArrayLike,
    prediction: npt.ArrayLike,
    weights: Weights,
    *,
    threshold: float = 0.5,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Return the confusion matrix of judgements and labels, with derived shares.

    With x = 1 where the prediction is the threshold or more: sensitivity ``P(x = 1 | y = 1)``,
    specificity ``P(x = 0 | y = 0)``, positive and negative predictive value ``P(y = 1 | x = 1)``
    and ``P(y = 0 | x = 0)``.

    Parameters
    ----------
    tp : array_like of bool, shape (draws,)
        Human judgements.
    prediction : array_like of float, shape (draws,)
        Probabilities, or labels 0 and 1.
    weights : Weights
        What the draws stand for: cells are draws, shares are weighted.
    threshold : float
        Predictions at or above this value are positive.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    dict of str to number
        Columns of table `MachineConfusion`; a share of nothing is NaN, with limits 0 and 1.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Altman & Bland, Diagnostic Tests 1 and 2 (1994); `limits.domain_shares` on the limits.

    Examples
    --------
    >>> from pipeline.kernels.survey.limits import domain_weights
    >>> cells = confusion([1, 1, 0, 0], [0.9, 0.2, 0.4, 0.1], domain_weights(None, draws=4))
    >>> [cells[name] for name in ("true_positives", "false_negatives", "sensitivity", "ppv")]
    [1, 1, 0.5, 1.0]
    """
    y = np.asarray(tp, dtype=np.bool_)
    x = np.asarray(prediction, dtype=np.float64) >= threshold
    shares = domain_shares(
        np.stack([x, ~x, y, ~y]), np.stack([y, ~y, x, ~x]), weights, confidence=confidence
    )
    row: dict[str, Any] = {
        "threshold": threshold,
        "n_judged": len(y),
        "true_positives": int((y & x).sum()),
        "false_negatives": int((y & ~x).sum()),
        "false_positives": int((~y & x).sum()),
        "true_negatives": int((~y & ~x).sum()),
    }
    for name, share, lower, upper in zip(_SHARES, *shares, strict=True):
        row |= {name: float(share), f"{name}_lower": float(lower), f"{name}_upper": float(upper)}
    return row


# Explained variance: squared correlation within sets


class SquaredCorrelation(NamedTuple):
    """Squared correlations with limits, arrays of shape (sets,); NaN if unknown."""

    rho2: FloatArray
    lower: FloatArray
    upper: FloatArray


def squared_correlation(
    tp: FloatArray,
    prediction: FloatArray,
    members: BoolArray,
    weights: Weights,
    *,
    confidence: float = 0.95,
    enough: int = ENOUGH,
) -> SquaredCorrelation:
    """Return the squared correlation of judgements and predictions within sets.

    A set consists of one part, or of several, such as the two difference sets of two lists: there
    all is centred part by part, ``y~ = y - y_mean, g~ = g - g_mean`` by weights ``a = w / sum w``
    of the part, and added up: ``rho = C / sqrt(V W)``, ``C = sum a y~ g~``, ``V = sum a y~^2``,
    ``W = sum a g~^2``. Each draw adds ``a (y~ g~ / sqrt(V W) - rho/2 (y~^2 / V + g~^2 / W))``, less
    the part's mean, whose variance is `limits.linear_variance`; limits are those of Fisher's
    atanh(rho) by Student's t with as many degrees of freedom as m - 2 draws of equal weight.

    Parameters
    ----------
    tp, prediction : array of float, shape (draws,)
        Judgements 0 and 1; predictions in [0, 1].
    members : array of bool, shape (sets, parts, draws)
        Which draws are in which part of which set.
    weights : Weights
        Weights of the draws.
    confidence : float
        Confidence level in (0, 1).
    enough : int
        NaN below so many draws in a part.

    Returns
    -------
    Explained
        In [0, 1]. A negative correlation counts as 0, since predictions get no negative weight.
        NaN where the judgements, or the predictions, are all alike.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), sections 5.5 and 6.4;
    Fisher, On the Probable Error of a Coefficient of Correlation (1921).

    Examples
    --------
    >>> from pipeline.kernels.survey.limits import domain_weights
    >>> y, g = np.array([1.0, 0.0] * 20), np.array([0.9, 0.1, 0.5, 0.5] * 10)
    >>> everybody = np.ones((1, 1, 40), dtype=bool)
    >>> float(squared_correlation(y, g, everybody, domain_weights(None, draws=40)).rho2[0].round(4))
    0.5
    """
    tail = float(checked_tail(confidence))
    draws = members.sum(axis=-1).astype(np.float64)
    a = ratio_or_zero(members * weights.w, (members * weights.w).sum(axis=-1, keepdims=True))
    y, g = (each - (a * each).sum(axis=-1, keepdims=True) for each in (tp, prediction))
    scale = [_sum_parts(a * y * y), _sum_parts(a * g * g)]
    known = (draws.min(axis=-1) >= enough) & (scale[0] > 1e-12) & (scale[1] > 1e-12)
    v, w = (np.where(known, each, 1.0)[:, None, None] for each in scale)
    rho = np.clip(_sum_parts(a * y * g) / np.sqrt(v * w)[:, 0, 0], -1.0, 1.0)
    u = y * g / np.sqrt(v * w) - rho[:, None, None] / 2.0 * (y**2 / v + g**2 / w)
    z = a * (u - (a * u).sum(axis=-1, keepdims=True))
    variance = linear_variance(z, np.where(members, weights.c, 0.0)).sum(axis=-1)
    effective = ratio_or_zero(np.ones_like(rho), _sum_parts(a**2)) * members.shape[1] ** 2
    limits = _correlation_limits(
        rho, variance, np.maximum(effective - 2.0 * members.shape[1], 1.0), tail
    )
    squares = (np.maximum(each, 0.0) ** 2 for each in (rho, *limits))
    return SquaredCorrelation(*(np.where(known, each, np.nan) for each in squares))


def _sum_parts(values: FloatArray) -> FloatArray:
    return np.asarray(values.sum(axis=(-2, -1)))


def _correlation_limits(
    rho: FloatArray, variance: FloatArray, freedom: FloatArray, tail: float
) -> tuple[FloatArray, FloatArray]:
    inside = np.clip(rho, -1.0 + 1e-15, 1.0 - 1e-15)
    half = -scipy.special.stdtrit(freedom, tail) * np.sqrt(variance) / (1.0 - inside**2)
    exact = (variance <= 1e-24) | (np.abs(rho) >= 1.0 - 1e-12)
    lower, upper = (np.tanh(np.arctanh(inside) + side * half) for side in (-1.0, 1.0))
    return np.where(exact, rho, lower), np.where(exact, rho, upper)


class JudgedDraws(NamedTuple):
    """The judged draws with a prediction of a judge, in one category."""

    category: str
    judge: str
    predicted: int
    """Candidates with a prediction."""
    unpredicted: int
    """Judged draws without one."""
    draws: pl.DataFrame
    """id, tp, prediction, and optionally pi; ordered by id."""

    @property
    def weights(self) -> Weights:
        """Weights of the draws."""
        pi = self.draws["pi"].to_numpy() if "pi" in self.draws.columns else None
        return domain_weights(pi, draws=self.draws.height)

    @property
    def tp(self) -> BoolArray:
        """The judgements."""
        return self.draws["tp"].to_numpy()

    @property
    def prediction(self) -> FloatArray:
        """The predictions."""
        return self.draws["prediction"].to_numpy()


def by_judge(predictions: pl.DataFrame, draws: pl.DataFrame) -> Iterator[JudgedDraws]:
    """Join judgements and predictions, for each category and judge.

    Parameters
    ----------
    predictions : pl.DataFrame
        Table `Predictions`.
    draws : pl.DataFrame
        category, id, tp and optionally pi, with rows repeated by multiplicity. tp is null for
        unjudged draws.

    Yields
    ------
    JudgedDraws
        Sorted by category and judge; categories that nobody judged without draws.

    Examples
    --------
    >>> table = pl.DataFrame(
    ...     {"category": "TP", "judge": "m", "id": ["a", "b"], "prediction": [0.9, 0.2]}
    ... )
    >>> draws = pl.DataFrame({"category": "TP", "id": ["a", "c"], "tp": [True, False]})
    >>> [(each.predicted, each.unpredicted, each.draws.height) for each in by_judge(table, draws)]
    [(2, 1, 1)]
    """
    judged = draws.drop_nulls("tp")
    parts = predictions.partition_by("category", "judge", as_dict=True)
    for category, judge in sorted(parts):
        mine = judged.filter(category=category).drop("category")
        predicted = parts[category, judge].select("id", "prediction")
        both = mine.join(predicted, on="id", how="inner").sort("id")
        yield JudgedDraws(category, judge, predicted.height, mine.height - both.height, both)


def judge_tables(
    predictions: pl.DataFrame,
    draws: pl.DataFrame,
    *,
    threshold: float = 0.5,
    bins: int = 10,
    confidence: float = 0.95,
) -> dict[str, pl.DataFrame]:
    """Return the agreement of judges with people.

    Parameters
    ----------
    predictions, draws
        As for `by_judge`.
    threshold : float
        Predictions at or above this value are positive.
    bins : int
        Number of calibration bins, at least 1.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    dict of str to pl.DataFrame
        Tables `MachineConfusion`, `Calibration` and `Judges`, by the names confusion, calibration
        and judges.

    Raises
    ------
    ValueError
        If there is no bin, or the confidence is not inside (0, 1).

    Examples
    --------
    >>> predictions = pl.DataFrame(
    ...     {"category": "TP", "judge": "m", "id": ["a", "b"], "prediction": [0.9, 0.2]}
    ... )
    >>> draws = pl.DataFrame({"category": "TP", "id": ["a", "b"], "tp": [True, False]})
    >>> judge_tables(predictions, draws)["judges"].select("n_judged", "kappa", "brier").rows()
    [(2, 1.0, 0.025)]
    """
    rows: dict[str, list[dict[str, Any]]] = {"confusion": [], "calibration": [], "judges": []}
    for each in by_judge(predictions, draws):
        key = {"category": each.category, "judge": each.judge}
        arguments = (each.tp, each.prediction, each.weights)
        cells = confusion(*arguments, threshold=threshold, confidence=confidence)
        binned = calibration(*arguments, bins=bins, confidence=confidence)
        rows["confusion"].append(key | cells)
        rows["calibration"] += [key | row for row in binned.iter_rows(named=True)]
        rows["judges"].append(key | _judge_row(each, binned, threshold, confidence))
    models: dict[str, type[Table]] = {
        "confusion": MachineConfusion, "calibration": Calibration, "judges": Judges,
    }  # fmt: skip
    return {name: to_table(rows[name], model) for name, model in models.items()}


def _judge_row(
    each: JudgedDraws, binned: pl.DataFrame, threshold: float, confidence: float
) -> dict[str, Any]:
    """Return the further columns of `Judges`."""
    label, weights = each.prediction >= threshold, each.weights
    everybody = np.ones((1, 1, len(label)), dtype=np.bool_)
    row: dict[str, Any] = {
        "n_predicted": each.predicted,
        "n_judged": len(label),
        "n_unpredicted": each.unpredicted,
        "calibration_error": calibration_error(binned),
        "brier": brier_score(each.tp, each.prediction, weights),
    }
    both = agreement_with_people(each.tp, label, weights, confidence=confidence)
    y = each.tp.astype(np.float64)
    rho2 = squared_correlation(y, each.prediction, everybody, weights, confidence=confidence)
    for name, values in {**both, "rho2": [float(part[0]) for part in rho2]}.items():
        row |= dict(zip((name, f"{name}_lower", f"{name}_upper"), values, strict=True))
    return row


def to_table(rows: list[dict[str, Any]], model: type[Table]) -> pl.DataFrame:
    """Return rows as a table of this schema, with null for NaN, in the order of its key.

    Examples
    --------
    >>> to_table([], Judges).height
    0
    """
    table = pl.DataFrame(rows, schema=model.columns(), orient="row")
    return table.fill_nan(None).sort(*model.key())


# Labels that predictions save in prediction-assisted estimates.


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
class RankedCandidates:
    """Candidates with their ranks under each measure."""

    ids: pl.Series
    measures: list[str]
    ranks: IntArray
    """Shape (measures, candidates)."""

    def of(self, draws: pl.DataFrame) -> tuple[pl.DataFrame, IntArray]:
        """Return the draws that are ranked, and their ranks, shape (measures, draws)."""
        places = pl.DataFrame({"id": self.ids, "place": np.arange(len(self.ids))})
        table = draws.join(places, on="id", how="inner", maintain_order="left")
        return table.drop("place"), self.ranks[:, table["place"].to_numpy()]


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
        As for `by_judge`.
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
    >>> predictions = pl.DataFrame(
    ...     {"category": "TP", "judge": "m", "id": ids, "prediction": [1.0, 0.0] * 20}
    ... )
    >>> draws = predictions.select("category", "id", tp=pl.col("prediction") == 1)
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ids, "rank": range(1, 41)})
    >>> savings = saving_tables(predictions, draws, ranks, at=[20, 40])["savings"]
    >>> savings.select("n", "n_judged", "labels_saved").rows()
    [(20, 20, None), (40, 40, 1.0)]
    """
    ids, measures, matrix = rank_matrix(ranks)
    ranked = RankedCandidates(ids, measures.to_list(), matrix)
    lists: list[dict[str, Any]] = []
    compared: list[dict[str, Any]] = []
    for each in by_judge(predictions, draws):
        table, mine = ranked.of(each.draws)
        one = each._replace(draws=table)
        fold = folds_of(table["id"], folds=_FOLDS, seed=seed)
        for n in at:
            inside = mine <= n
            names = [{"measure": name, "n": n} for name in ranked.measures]
            lists += _set_rows(one, Sets(names, inside[:, None]), fold, confidence)
            if pairs:
                sets = _difference_sets(ranked, one, inside, n, pairs)
                compared += _set_rows(one, sets, fold, confidence)
    return {"savings": to_table(lists, Savings), "pair_savings": to_table(compared, PairSavings)}


def _difference_sets(
    candidates: RankedCandidates,
    each: JudgedDraws,
    inside: BoolArray,
    n: int,
    pairs: Sequence[tuple[str, str]],
) -> Sets:
    """Return the difference sets of pairs."""
    place = {name: row for row, name in enumerate(candidates.measures)}
    one, two = np.array([[place[name] for name in pair] for pair in pairs]).T
    members = np.stack([inside[one] & ~inside[two], inside[two] & ~inside[one]], axis=1)
    lists = (candidates.ranks <= n).astype(np.float64)
    size = (lists.sum(axis=1)[one] - (lists @ lists.T)[one, two])[:, None]
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
    savings = label_savings(y, g, sets.members, weights, fold=fold, share=sets.share)
    columns = (*rho2, savings.tau, savings.labels, sets.members.sum(axis=(1, 2)))
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
