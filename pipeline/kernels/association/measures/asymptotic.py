"""Asymptotic hypothesis tests: how surprising is O11 under independence."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.arithmetic import sign
from pipeline.kernels.measure import measure

O11, E11, DELTA, N = pl.col("o11"), pl.col("e11"), pl.col("delta"), pl.col("N")
DETERMINANT = pl.col("determinant")


@measure(
    family="asymptotic test", formula="(O11 - E11) / sqrt(O11)", range="[-inf, inf)",
    reference="Church et al. 1991", sided="signed", ucs="t.score", aliases=("t", "tscore"),
    note="null where E11 = 0; -inf where O11 = 0",
)  # fmt: skip
def t_score() -> pl.Expr:
    """T = (O11 - E11) / sqrt(O11); -inf where O11 = 0 < E11, null where both are 0."""
    return DELTA / O11.sqrt()


@measure(
    family="asymptotic test", formula="(O11 - E11) / sqrt(E11)", range="(-inf, inf)",
    reference="Dennis 1965", sided="signed", ucs="z.score", aliases=("z", "zscore"),
    note="null where E11 = 0",
)  # fmt: skip
def z_score() -> pl.Expr:
    """Z = (O11 - E11) / sqrt(E11); null where E11 = 0."""
    return DELTA / E11.sqrt()


@measure(
    family="asymptotic test",
    formula="(O11 - E11 - 1/2) / sqrt(E11) if O11 >= E11, else (O11 - E11 + 1/2) / sqrt(E11)",
    range="(-inf, inf)", reference="Dennis 1965; Yates 1934", sided="signed",
    ucs="z.score.corr", aliases=("z_corr",),
    note="null where E11 = 0; below 0 where O11 = E11, as 1/2 is taken off; not clipped, as in UCS",
)  # fmt: skip
def z_score_corr() -> pl.Expr:
    """Z with Yates' correction; null where E11 = 0.

    Not clipped: where O11 and E11 differ by less than 1/2 its sign is the opposite one, as in UCS.
    At O11 = E11, too, where the 1/2 is taken off: -1/2 / sqrt(E11).
    """
    half = pl.when(DETERMINANT >= 0).then(N * -0.5).otherwise(N * 0.5)
    corrected = (DETERMINANT + half) / N / E11.sqrt()
    return pl.when(E11 > 0).then(corrected).otherwise(float("nan"))


@measure(
    family="asymptotic test",
    formula="N (O11 O22 - O12 O21)^2 / (R1 R2 C1 C2), sign of O11 - E11",
    range="(-inf, inf)", reference="Evert 2004, chi.squared", sided="signed",
    ucs="chi.squared", aliases=("chi2", "X2", "x2", "chi_square"),
    note="0 where a margin is empty",
)  # fmt: skip
def chi_squared() -> pl.Expr:
    """Pearson's X2 without correction, signed; 0 where R2 or C2 is 0."""
    return sign(DELTA, pl.col("chi_squared_tt"))


@measure(
    family="asymptotic test",
    formula="N (|O11 O22 - O12 O21| - N/2)^2 / (R1 R2 C1 C2), sign of O11 - E11",
    range="(-inf, inf)", reference="Yates 1934; DeGroot & Schervish 2002", sided="signed",
    ucs="chi.squared.corr", aliases=("chi2_corr", "yates"),
    note="0 where a margin is empty or O11 = E11, which has no sign; not clipped, as in UCS",
)  # fmt: skip
def chi_squared_corr() -> pl.Expr:
    """Pearson's X2 with Yates' continuity correction, signed, not clipped (as in UCS).

    0 where O11 = E11, which has no sign, although the statistic is not 0: `chi_squared_corr_tt`.
    """
    return sign(DELTA, pl.col("chi_squared_corr_tt"))


@measure(
    family="asymptotic test",
    formula="N max(|O11 O22 - O12 O21| - N/2, 0)^2 / (R1 R2 C1 C2), sign of O11 - E11",
    range="(-inf, inf)", reference="Yates 1934; R Core Team, chisq.test", sided="signed",
    aliases=("chi_squared_corr_clipped", "chi2_clipped"),
    note="0 where a margin is empty or |O11 - E11| <= 1/2",
)  # fmt: skip
def chi_squared_clipped() -> pl.Expr:
    """Pearson's X2 with Yates' correction, 0 where O11 and E11 differ by less than 1/2."""
    beyond = DETERMINANT.abs() > N * 0.5
    return sign(DELTA, pl.when(beyond).then(pl.col("chi_squared_corr_tt")).otherwise(0.0))


@measure(
    family="asymptotic test", formula="2 sum Oij ln(Oij / Eij), sign of O11 - E11",
    range="(-inf, inf)", reference="Dunning 1993", sided="signed", ucs="log.likelihood",
    aliases=("LL", "G2", "ll", "g2", "log_likelihood_ratio"),
    note="0 where a margin is empty",
)  # fmt: skip
def log_likelihood() -> pl.Expr:
    """G2 = 2 sum Oij ln(Oij / Eij), signed; 0 where R2 or C2 is 0."""
    return sign(DELTA, pl.col("log_likelihood_tt"))


@measure(
    family="asymptotic test", formula="2 (O11 ln(O11 / E11) - (O11 - E11)), sign of O11 - E11",
    range="(-inf, inf)", reference="Evert 2008, simple-ll", sided="signed",
    aliases=("simple.ll", "simple-ll"),
    note="0 where E11 = 0",
)  # fmt: skip
def simple_ll() -> pl.Expr:
    """G2 of the joint frequency alone: 2 (O11 ln(O11/E11) - (O11 - E11)), signed."""
    return sign(DELTA, 2.0 * pl.col("d11"))


@measure(
    family="asymptotic test",
    formula="2 (O11 ln(O11 / E11) + O21 ln(O21 / E21)), sign of O11 - E11",
    range="(-inf, inf)", reference="Rayson & Garside 2000", sided="signed",
    aliases=("LL.keyness", "rayson_ll"), symmetric=False,
    note="0 where a margin is empty",
)  # fmt: skip
def keyness_ll() -> pl.Expr:
    """G2 of the tokens with l2 alone, signed: log-likelihood as keyword tools compute it.

    The two cells without l2 are left out, so that it is a little smaller than `log_likelihood`.
    """
    return sign(DELTA, 2.0 * (pl.col("d11") + pl.col("d21")))
