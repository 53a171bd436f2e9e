"""People's judgements against a machine's labels: how often it is right, and about what."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.estimates.domains import Weights, domain_shares

_SHARES = ("sensitivity", "specificity", "ppv", "npv")


def confusion(
    tp: npt.ArrayLike,
    prediction: npt.ArrayLike,
    weights: Weights,
    *,
    threshold: float = 0.5,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Return the cells of the table of judgements and labels, and the shares made of them.

    With x = 1 where the prediction is the threshold or more: sensitivity ``P(x = 1 | y = 1)``,
    specificity ``P(x = 0 | y = 0)``, positive and negative predictive value ``P(y = 1 | x = 1)``
    and ``P(y = 0 | x = 0)``.

    Parameters
    ----------
    tp : array_like of bool, shape (draws,)
        People's judgements.
    prediction : array_like of float, shape (draws,)
        Probabilities, or labels 0 and 1.
    weights : Weights
        What the draws stand for: cells are draws, shares are weighted.
    threshold : float
        From which prediction on the label is positive.
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
    Altman & Bland, Diagnostic Tests 1 and 2 (1994); `domains.domain_shares` on the limits.

    Examples
    --------
    >>> from pipeline.kernels.estimates.domains import weights_of
    >>> found = confusion([1, 1, 0, 0], [0.9, 0.2, 0.4, 0.1], weights_of(None, draws=4))
    >>> [found[name] for name in ("true_positives", "false_negatives", "sensitivity", "ppv")]
    [1, 1, 0.5, 1.0]
    """
    y = np.asarray(tp, dtype=np.bool_)
    x = np.asarray(prediction, dtype=np.float64) >= threshold
    shares = domain_shares(
        np.stack([x, ~x, y, ~y]), np.stack([y, ~y, x, ~x]), weights, confidence=confidence
    )
    found: dict[str, Any] = {"threshold": threshold, "n_judged": len(y), **_cells(y, x)}
    for name, share, lower, upper in zip(_SHARES, *shares, strict=True):
        found |= {name: float(share), f"{name}_lower": float(lower), f"{name}_upper": float(upper)}
    return found


def _cells(y: BoolArray, x: BoolArray) -> dict[str, int]:
    return {
        "true_positives": int((y & x).sum()),
        "false_negatives": int((y & ~x).sum()),
        "false_positives": int((~y & x).sum()),
        "true_negatives": int((~y & ~x).sum()),
    }


def weighted_cells(tp: npt.ArrayLike, label: npt.ArrayLike, weights: Weights) -> FloatArray:
    """Return the table of judgements (rows) and labels (columns), positive first, as shares.

    Examples
    --------
    >>> from pipeline.kernels.estimates.domains import weights_of
    >>> weighted_cells([1, 0], [1, 1], weights_of([1.0, 0.25], draws=2)).tolist()
    [[0.2, 0.0], [0.8, 0.0]]
    """
    y, x = (np.asarray(each, dtype=np.bool_) for each in (tp, label))
    rows, columns = np.stack([y, ~y]) * weights.w, np.stack([x, ~x])
    table: FloatArray = rows @ columns.T.astype(np.float64)
    return table / table.sum() if table.sum() else table
