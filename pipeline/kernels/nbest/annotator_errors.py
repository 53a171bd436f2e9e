"""How often judgements are wrong, told by what is known to be true, and what that does to lists."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from pipeline.kernels.statistics.corrected_proportion import Bounded, corrected_proportion
from pipeline.kernels.statistics.intervals import interval_columns
from schemas import Corrected

RATES = ("sensitivity", "specificity")
_LIMITS = ("", "_lower", "_upper")


def error_rates(
    judgements: pl.DataFrame, truth: pl.DataFrame, *, method: str, confidence: float
) -> pl.DataFrame:
    """Estimate sensitivity and specificity of judgements in each category.

    Parameters
    ----------
    judgements, truth : pl.DataFrame
        Table `Judgements`, each; of the second all is true. What either leaves open, or does not
        have, does not count.
    method : str
        Interval method, a name in `intervals.INTERVALS`, not a finite one.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        category, n_true and n_false (candidates that are true or false, and were judged), and
        sensitivity and specificity with ..._lower and ..._upper; NaN and [0, 1] where there is
        no such candidate.

    Examples
    --------
    >>> ids = ["a", "b", "c", "d"]
    >>> truth = pl.DataFrame({"category": "TP", "id": ids, "tp": [True, True, True, False]})
    >>> judged = pl.DataFrame({"category": "TP", "id": ids, "tp": [True, True, False, None]})
    >>> error_rates(judged, truth, method="clopper_pearson", confidence=0.95).select(
    ...     "n_true", "n_false", pl.col("sensitivity", "specificity").round(2)
    ... ).row(0)
    (3, 0, 0.67, nan)
    """
    both = judgements.drop_nulls("tp").join(
        truth.drop_nulls("tp").select("category", "id", really="tp"), on=["category", "id"]
    )
    really, right = pl.col("really"), pl.col("really") == pl.col("tp")
    found = both.group_by("category").agg(
        n_true=really.sum().cast(pl.Int64), k_true=(really & right).sum().cast(pl.Int64),
        n_false=(~really).sum().cast(pl.Int64), k_false=(~really & right).sum().cast(pl.Int64),
    )  # fmt: skip
    for rate, side in zip(RATES, ("true", "false"), strict=True):
        found = interval_columns(
            found, k=f"k_{side}", n=f"n_{side}", method=method, confidence=confidence
        ).rename({"lower": f"{rate}_lower", "upper": f"{rate}_upper"})
        found = found.with_columns((pl.col(f"k_{side}") / pl.col(f"n_{side}")).alias(rate))
    return found.drop("k_true", "k_false").sort("category")


def known_rates(categories: pl.Series, rates: Mapping[str, float]) -> pl.DataFrame:
    """Return what `error_rates` gives for rates that are known exactly, the same for all.

    Examples
    --------
    >>> known_rates(pl.Series(["TP"]), {"sensitivity": 0.9, "specificity": 1.0}).select(
    ...     "category", "sensitivity", "specificity_lower", "n_true"
    ... ).row(0)
    ('TP', 0.9, 1.0, None)
    """
    exact = {f"{rate}{end}": pl.lit(rates[rate], pl.Float64) for rate in RATES for end in _LIMITS}
    counts = {name: pl.lit(None, pl.Int64) for name in ("n_true", "n_false")}
    return pl.DataFrame({"category": categories.unique().sort()}).with_columns(**exact, **counts)


def corrected_lists(
    precision: pl.DataFrame, rates: pl.DataFrame, *, method: str, confidence: float
) -> pl.DataFrame:
    """Return the precision of lists corrected for wrong judgements.

    Parameters
    ----------
    precision : pl.DataFrame
        Table `Precision`, the lists that are wanted.
    rates : pl.DataFrame
        What `error_rates` or `known_rates` gives.
    method : str
        Interval method of the precision, not a finite one: errors are made at random even where
        all is judged.
    confidence : float
        Confidence level in (0, 1), that of the rates too.

    Returns
    -------
    pl.DataFrame
        Table `Corrected`, sorted; see `corrected_proportion`.
    """
    limits = interval_columns(
        precision, k="k_sampled", n="n_sampled", method=method, confidence=confidence
    )
    joined = limits.join(rates, on="category", how="left")
    found = corrected_proportion(
        _bounded(joined, "precision", "lower", "upper"),
        **{name: _bounded(joined, *(f"{name}{end}" for end in _LIMITS)) for name in RATES},
    )
    names = ("corrected", "lower_corrected", "upper_corrected")
    values = [pl.Series(name, each).fill_nan(None) for name, each in zip(names, found, strict=True)]
    made = joined.with_columns(*values, confidence=pl.lit(confidence, pl.Float64))
    tidy = made.with_columns(pl.col(RATES).fill_nan(None))
    return tidy.select(*Corrected.columns()).sort(*Corrected.key())


def _bounded(table: pl.DataFrame, *names: str) -> Bounded:
    filled = table.select(pl.col(names).fill_null(float("nan")))
    return Bounded(*(filled[name].to_numpy() for name in names))
