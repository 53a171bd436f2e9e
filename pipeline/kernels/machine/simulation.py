"""A machine that errs as often as one wants, for trials and for tests."""

from __future__ import annotations

import polars as pl
import scipy

from pipeline.kernels.hashing import seeded_key


def simulated(
    truth: pl.LazyFrame,
    *,
    judge: str,
    sensitivity: float,
    specificity: float,
    labels: bool = True,
    seed: str,
) -> pl.LazyFrame:
    """Predict true positives as a machine of known sensitivity and specificity does.

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
        Another one makes other errors.

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
    >>> never_wrong = simulated(truth, judge="m", sensitivity=1.0, specificity=1.0, seed="s")
    >>> never_wrong.collect()["prediction"].to_list()
    [1.0, 0.0]
    """
    key = seeded_key("category", "id", seed=seed, purpose=f"machine {judge}")
    uniform = (key.cast(pl.Float64) + 0.5) / 2.0**63
    up, down = (float(scipy.special.ndtri(each)) for each in (sensitivity, specificity))
    z = _elementwise(uniform.clip(1e-15, 1.0 - 1e-15), inverse=True)
    chance = _elementwise(z + pl.when("tp").then(up).otherwise(-down), inverse=False)
    said = (chance >= 0.5).cast(pl.Float64) if labels else chance
    return truth.select("category", pl.lit(judge).alias("judge"), "id", said.alias("prediction"))


def _elementwise(value: pl.Expr, *, inverse: bool) -> pl.Expr:
    """Return the normal distribution, or its quantiles, of each value."""
    function = scipy.special.ndtri if inverse else scipy.special.ndtr
    return value.map_batches(
        lambda numbers: pl.Series(function(numbers.to_numpy())),
        return_dtype=pl.Float64,
        is_elementwise=True,
    )
