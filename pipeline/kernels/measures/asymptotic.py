"""Asymptotic hypothesis tests: how surprising is O11 under independence."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.arithmetic import deviance, sign
from pipeline.kernels.measure import measure

O11, E11, DELTA, N = pl.col("o11"), pl.col("e11"), pl.col("delta"), pl.col("N")


def _by_marginals(numerator: pl.Expr) -> pl.Expr:
    """Divide by R1 R2 C1 C2 factor by factor; 0 where a margin is empty."""
    ratio = numerator
    for margin in ("r1", "r2", "c1", "c2"):
        ratio = ratio / pl.col(margin)
    empty = pl.min_horizontal("r1", "r2", "c1", "c2") == 0
    return pl.when(empty).then(0.0).otherwise(ratio)


@measure(
    family="asymptotic test", formula="(O11 - E11) / sqrt(O11)", range="(-inf, inf)",
    reference="Church et al. 1991", sided="signed", ucs="t.score", aliases=("t", "tscore"),
)  # fmt: skip
def t_score() -> pl.Expr:
    """T = (O11 - E11) / sqrt(O11); -inf where O11 = 0 < E11, null where both are 0."""
    return DELTA / O11.sqrt()


@measure(
    family="asymptotic test", formula="(O11 - E11) / sqrt(E11)", range="(-inf, inf]",
    reference="Dennis 1965", sided="signed", ucs="z.score", aliases=("z", "zscore"),
)  # fmt: skip
def z_score() -> pl.Expr:
    """Z = (O11 - E11) / sqrt(E11); null where E11 = 0."""
    return DELTA / E11.sqrt()


@measure(
    family="asymptotic test",
    formula="N (O11 O22 - O12 O21)^2 / (R1 R2 C1 C2), sign of O11 - E11",
    range="(-inf, inf)", reference="Evert 2004, chi.squared", sided="signed",
    ucs="chi.squared", aliases=("chi2", "X2", "x2", "chi_square"),
)  # fmt: skip
def chi_squared() -> pl.Expr:
    """Pearson's X2 without correction, signed; 0 where R2 or C2 is 0.

    With det = O11 O22 - O12 O21 = N delta this is N (N delta)^2 / (R1 R2 C1 C2).
    """
    return sign(DELTA, _by_marginals((N * DELTA) * (N * DELTA) * N))


@measure(
    family="asymptotic test",
    formula="N (|O11 O22 - O12 O21| - N/2)^2 / (R1 R2 C1 C2), sign of O11 - E11",
    range="(-inf, inf)", reference="Yates 1934; DeGroot & Schervish 2002", sided="signed",
    ucs="chi.squared.corr", aliases=("chi2_corr", "yates"),
)  # fmt: skip
def chi_squared_corr() -> pl.Expr:
    """Pearson's X2 with Yates' continuity correction, signed, not clipped (as in UCS)."""
    corrected = N * (DELTA.abs() - 0.5)
    return sign(DELTA, _by_marginals(corrected * corrected * N))


@measure(
    family="asymptotic test", formula="2 sum Oij ln(Oij / Eij), sign of O11 - E11",
    range="(-inf, inf)", reference="Dunning 1993", sided="signed", ucs="log.likelihood",
    aliases=("LL", "G2", "ll", "g2", "log_likelihood_ratio"),
)  # fmt: skip
def log_likelihood() -> pl.Expr:
    """G2 = 2 sum Oij ln(Oij / Eij), signed; as a sum of deviances, which does not cancel.

    The deviances bd0(Oij, Eij) = Oij ln(Oij/Eij) + Eij - Oij add up to the same sum because
    observed and expected cells have the same total. 0 where R2 or C2 is 0.
    """
    cells = (("11", DELTA), ("12", -DELTA), ("21", -DELTA), ("22", DELTA))
    parts = [deviance(f"o{ij}", f"e{ij}", difference) for ij, difference in cells]
    return sign(DELTA, 2.0 * (parts[0] + parts[1] + parts[2] + parts[3]))


@measure(
    family="asymptotic test", formula="2 (O11 ln(O11 / E11) - (O11 - E11)), sign of O11 - E11",
    range="(-inf, inf]", reference="Evert 2008, simple-ll", sided="signed",
    aliases=("simple.ll", "simple-ll"),
)  # fmt: skip
def simple_ll() -> pl.Expr:
    """G2 of the joint frequency alone: 2 (O11 ln(O11/E11) - (O11 - E11)), signed."""
    return sign(DELTA, 2.0 * deviance(O11, E11, DELTA))
