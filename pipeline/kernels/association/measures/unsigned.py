"""Test statistics without a sign: a deviation from independence in either direction.

The signed ones are made of these. The other way round would lose the statistic where O11 = E11,
which has no sign, and where Yates' correction leaves something nevertheless.
"""

from __future__ import annotations

import polars as pl

from pipeline.kernels.measure import measure

DETERMINANT, MARGINS, N = pl.col("determinant"), pl.col("margins"), pl.col("N")


def _chi_squared(determinant: pl.Expr) -> pl.Expr:
    """Return N D^2 / (R1 R2 C1 C2); 0 where a margin is empty."""
    ratio = determinant * determinant * N / MARGINS
    return pl.when(MARGINS == 0).then(0.0).otherwise(ratio)


@measure(
    family="asymptotic test", formula="N (O11 O22 - O12 O21)^2 / (R1 R2 C1 C2)",
    range="[0, inf)", reference="Pearson 1900", sided="two-sided", ucs="chi.squared.tt",
    note="0 where a margin is empty",
)  # fmt: skip
def chi_squared_tt() -> pl.Expr:
    """Pearson's X2 as textbooks have it, without a sign."""
    return _chi_squared(DETERMINANT)


@measure(
    family="asymptotic test", formula="N (|O11 O22 - O12 O21| - N/2)^2 / (R1 R2 C1 C2)",
    range="[0, inf)", reference="Yates 1934; DeGroot & Schervish 2002", sided="two-sided",
    ucs="chi.squared.corr.tt",
    note="0 where a margin is empty; above 0 where O11 = E11; not clipped, as in UCS",
)  # fmt: skip
def chi_squared_corr_tt() -> pl.Expr:
    """Pearson's X2 with Yates' correction, not clipped, without a sign."""
    return _chi_squared(DETERMINANT.abs() - N * 0.5)


@measure(
    family="asymptotic test", formula="2 sum Oij ln(Oij / Eij)", range="[0, inf)",
    reference="Dunning 1993", sided="two-sided", ucs="log.likelihood.tt",
    note="0 where a margin is empty",
)  # fmt: skip
def log_likelihood_tt() -> pl.Expr:
    """G2 as textbooks have it, without a sign; as a sum of deviances, which does not cancel.

    The deviances bd0(Oij, Eij) = Oij ln(Oij/Eij) + Eij - Oij add up to the same sum because
    observed and expected cells have the same total. 0 where R2 or C2 is 0.
    """
    total = pl.col("d11") + pl.col("d12") + (pl.col("d21") + pl.col("d22"))
    return 2.0 * total
