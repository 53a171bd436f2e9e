"""Log Ratio, and the conservative end of its confidence interval."""

from __future__ import annotations

import math
from statistics import NormalDist

import polars as pl

from pipeline.kernels.arithmetic import log_ratio as logarithm
from pipeline.kernels.measure import measure

O11, O12, O21, O22 = (pl.col(f"o{ij}") for ij in ("11", "12", "21", "22"))
R1, R2, C2 = pl.col("r1"), pl.col("r2"), pl.col("c2")
ABSENT = float("nan")
SEEN = pl.when(O21 == 0).then(0.5).otherwise(O21)
"""O21, 1/2 where it is 0."""


@measure(
    family="point estimate", formula="log2((O11 / R1) / (O21 / R2)), O21 = 1/2 if it is 0",
    range="[-inf, inf)", reference="Hardie 2014", aliases=("LR", "binary_log_ratio"),
    symmetric=False,
    note="null where R1 = 0 or R2 = 0 or C2 = 0; -inf where O11 = 0",
)  # fmt: skip
def log_ratio() -> pl.Expr:
    """Binary logarithm of P(l2 | l1) to P(l2 | not l1); null where R2 or C2 is 0."""
    first, second = O11 * R2, SEEN * R1
    # Where 1/2 stands for 0 and the ratio is near 1, both products are exact.
    difference = pl.when(O21 == 0).then(first - second).otherwise(pl.col("determinant"))
    score = logarithm(first, second, difference, base=2.0)
    return pl.when((R2 == 0) | (C2 == 0)).then(ABSENT).otherwise(score)


@measure(
    family="conservative estimate",
    formula="log2 RR -/+ z SE / ln 2, SE = sqrt(1/O11 + 1/O21 - 1/R1 - 1/R2), clamped at 0",
    range="(-inf, inf)", reference="Hardie 2014; Katz et al. 1978", aliases=("clr", "CLR"),
    symmetric=False,
    note="null where R1 = 0 or R2 = 0 or C2 = 0; 0 where O11 = 0",
)  # fmt: skip
def conservative_log_ratio(*, alpha: float = 0.05, family_size: int = 1) -> pl.Expr:
    """End nearer to 0 of the two-sided confidence interval of the Log Ratio, 0 if it holds 0.

    The lower limit where the Log Ratio is positive, the upper one where it is negative; O21 is
    1/2 if it is 0, as in the Log Ratio, and O11 = 0 tells nothing: 0.

    Parameters
    ----------
    alpha : float
        One minus the confidence level.
    family_size : int
        Number of candidates over which alpha is divided (Bonferroni).
    """
    z = NormalDist().inv_cdf(1.0 - alpha / family_size / 2.0)
    # 1/O11 - 1/R1 and 1/O21 - 1/R2 without their cancellation.
    unseen = pl.when(O21 == 0).then(R2 - 0.5).otherwise(O22)
    variance = O12 / (O11 * R1) + unseen / (SEEN * R2)
    ratio = pl.col("log_ratio")
    nearer = ratio.abs() - variance.sqrt() * (z / math.log(2.0))
    kept = pl.when((nearer > 0) & ratio.is_finite()).then(nearer * ratio.sign()).otherwise(0.0)
    return pl.when(ratio.is_nan()).then(ABSENT).otherwise(kept)
