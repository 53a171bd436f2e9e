"""Whether probabilities are what they say: the reliability of predictions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.estimates.domains import Weights, domain_shares
from pipeline.kernels.estimates.tuning import divided


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
        People's judgements.
    prediction : array_like of float, shape (draws,)
        Probabilities in [0, 1]; labels 0 and 1 are in the first and the last bin.
    weights : Weights
        What the draws stand for.
    bins : int
        Number of bins, from 1; those without a draw are left out.
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
    >>> from pipeline.kernels.estimates.domains import weights_of
    >>> found = calibration([1, 0, 1, 0], [0.9, 0.8, 1.0, 0.1], weights_of(None, draws=4), bins=2)
    >>> found.select("bin", "n_judged", pl.col("mean_prediction", "share").round(3)).rows()
    [(1, 1, 0.1, 0.0), (2, 3, 0.9, 0.667)]
    """
    if bins < 1:
        raise ValueError(f"bins = {bins}: there must be one at least")
    y, g = np.asarray(tp, dtype=np.bool_), np.asarray(prediction, dtype=np.float64)
    place = _places(g, bins)
    members = place == np.arange(bins)[:, None]
    shares = domain_shares(y, members, weights, confidence=confidence)
    held = members.astype(np.float64) @ weights.w
    mean = divided((members * g) @ weights.w, held)
    edges = np.linspace(0.0, 1.0, bins + 1)
    table = pl.DataFrame({
        "bin": np.arange(1, bins + 1), "first": edges[:-1], "last": edges[1:],
        "n_judged": members.sum(axis=1), "weight": divided(held, held.sum()),
        "mean_prediction": np.clip(mean, 0.0, 1.0), "share": np.clip(shares.share, 0.0, 1.0),
        "lower": shares.lower, "upper": shares.upper,
    })  # fmt: skip
    counts = pl.col("bin", "n_judged").cast(pl.Int64)
    return table.with_columns(counts).filter(pl.col("n_judged") > 0)


def _places(prediction: FloatArray, bins: int) -> IntArray:
    """Return the bin of each prediction, from 0; 1 is in the last one."""
    edges = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    return np.searchsorted(edges, prediction, side="right").astype(np.int64)


def calibration_error(bins: pl.DataFrame) -> float:
    """Return the expected calibration error: how far predictions are off, bin by bin.

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
    >>> from pipeline.kernels.estimates.domains import weights_of
    >>> round(brier_score([1, 0], [0.9, 0.3], weights_of(None, draws=2)), 4)
    0.05
    """
    y, g = (np.asarray(each, dtype=np.float64) for each in (tp, prediction))
    return float(np.average((g - y) ** 2, weights=weights.w)) if len(y) else float("nan")
