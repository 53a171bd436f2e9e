"""Test statistics without the sign: a deviation from independence in either direction."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.measure import measure


@measure(
    family="asymptotic test", formula="N (O11 O22 - O12 O21)^2 / (R1 R2 C1 C2)",
    range="[0, inf)", reference="Pearson 1900", sided="two-sided", ucs="chi.squared.tt",
)  # fmt: skip
def chi_squared_tt() -> pl.Expr:
    """Pearson's X2 as textbooks have it, without a sign."""
    return pl.col("chi_squared").abs()


@measure(
    family="asymptotic test", formula="N (|O11 O22 - O12 O21| - N/2)^2 / (R1 R2 C1 C2)",
    range="[0, inf)", reference="Yates 1934; DeGroot & Schervish 2002", sided="two-sided",
    ucs="chi.squared.corr.tt",
)  # fmt: skip
def chi_squared_corr_tt() -> pl.Expr:
    """Pearson's X2 with Yates' correction, not clipped, without a sign."""
    return pl.col("chi_squared_corr").abs()


@measure(
    family="asymptotic test", formula="2 sum Oij ln(Oij / Eij)", range="[0, inf)",
    reference="Dunning 1993", sided="two-sided", ucs="log.likelihood.tt",
)  # fmt: skip
def log_likelihood_tt() -> pl.Expr:
    """G2 as textbooks have it, without a sign."""
    return pl.col("log_likelihood").abs()
