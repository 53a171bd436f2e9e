"""P-values of the asymptotic tests, as -log10 p: high where a chance result is unlikely.

One-sided: P(Z >= z) with z the statistic, or its signed square root. Two-sided: P(|Z| >= |z|),
for X2 and G2 the upper tail of chi-squared with one degree of freedom. The t-score is read as
standard normal too, its limiting distribution: with as many degrees of freedom as there are pair
tokens, Student's t cannot be told from it (Evert 2004, collocations.de/AM, section 4.1).
"""

from __future__ import annotations

import polars as pl

from pipeline.kernels.association.log_tails import normal_two_sided, one_sided
from pipeline.kernels.measure import measure


def _one(statistic: str) -> pl.Expr:
    return one_sided(pl.col(statistic), pl.col(f"{statistic}_tt_pv"))


def _square(statistic: str) -> pl.Expr:
    return normal_two_sided(pl.col(statistic) * pl.col(statistic))


@measure(
    family="asymptotic test", formula="-log10 P(Z >= z)", range="[0, inf)",
    reference="Dennis 1965", sided="one-sided", ucs="z.score.pv",
    note="null where E11 = 0",
)  # fmt: skip
def z_score_pv() -> pl.Expr:
    """One-sided p-value of the z-score, from the standard normal distribution."""
    return _one("z_score")


@measure(
    family="asymptotic test", formula="-log10 P(|Z| >= |z|)", range="[0, inf)",
    reference="Dennis 1965", sided="two-sided",
    note="null where E11 = 0",
)  # fmt: skip
def z_score_tt_pv() -> pl.Expr:
    """Two-sided p-value of the z-score, from the standard normal distribution."""
    return _square("z_score")


@measure(
    family="asymptotic test", formula="-log10 P(Z >= z.corr)", range="[0, inf)",
    reference="Dennis 1965; Yates 1934", sided="one-sided", ucs="z.score.corr.pv",
    note="null where E11 = 0; below log10 2 where O11 = E11",
)  # fmt: skip
def z_score_corr_pv() -> pl.Expr:
    """One-sided p-value of the z-score with Yates' correction."""
    return _one("z_score_corr")


@measure(
    family="asymptotic test", formula="-log10 P(|Z| >= |z.corr|)", range="[0, inf)",
    reference="Dennis 1965; Yates 1934", sided="two-sided",
    note="null where E11 = 0; above 0 where O11 = E11",
)  # fmt: skip
def z_score_corr_tt_pv() -> pl.Expr:
    """Two-sided p-value of the z-score with Yates' correction."""
    return _square("z_score_corr")


@measure(
    family="asymptotic test", formula="-log10 P(Z >= t)", range="[0, inf)",
    reference="Church et al. 1991", sided="one-sided", ucs="t.score.pv",
    note="null where E11 = 0; 0 where O11 = 0",
)  # fmt: skip
def t_score_pv() -> pl.Expr:
    """One-sided p-value of the t-score, normal approximation; 0 where O11 = 0 < E11."""
    return _one("t_score")


@measure(
    family="asymptotic test", formula="-log10 P(|Z| >= |t|)", range="[0, inf]",
    reference="Church et al. 1991", sided="two-sided",
    note="null where E11 = 0; inf where O11 = 0",
)  # fmt: skip
def t_score_tt_pv() -> pl.Expr:
    """Two-sided p-value of the t-score, normal approximation; inf where O11 = 0 < E11."""
    return _square("t_score")


@measure(
    family="asymptotic test", formula="-log10 P(Z >= sign(O11 - E11) sqrt(X2))",
    range="[0, inf)", reference="Evert 2004, chi.squared.pv", sided="one-sided",
    ucs="chi.squared.pv",
    note="log10 2 where a margin is empty or O11 = E11",
)  # fmt: skip
def chi_squared_pv() -> pl.Expr:
    """One-sided p-value of Pearson's X2, by its signed root."""
    return _one("chi_squared")


@measure(
    family="asymptotic test", formula="-log10 P(chi2(1) >= X2)", range="[0, inf)",
    reference="Pearson 1900", sided="two-sided", ucs="chi.squared.tt.pv",
    note="0 where a margin is empty",
)  # fmt: skip
def chi_squared_tt_pv() -> pl.Expr:
    """Two-sided p-value of Pearson's X2."""
    return normal_two_sided(pl.col("chi_squared_tt"))


@measure(
    family="asymptotic test", formula="-log10 P(Z >= sign(O11 - E11) sqrt(X2.corr))",
    range="[0, inf)", reference="Evert 2004, chi.squared.corr.pv", sided="one-sided",
    ucs="chi.squared.corr.pv",
    note="log10 2 where a margin is empty or O11 = E11",
)  # fmt: skip
def chi_squared_corr_pv() -> pl.Expr:
    """One-sided p-value of X2 with Yates' correction, not clipped."""
    return _one("chi_squared_corr")


@measure(
    family="asymptotic test", formula="-log10 P(chi2(1) >= X2.corr)", range="[0, inf)",
    reference="Yates 1934; DeGroot & Schervish 2002", sided="two-sided",
    ucs="chi.squared.corr.tt.pv",
    note="0 where a margin is empty; above 0 where O11 = E11",
)  # fmt: skip
def chi_squared_corr_tt_pv() -> pl.Expr:
    """Two-sided p-value of X2 with Yates' correction, not clipped."""
    return normal_two_sided(pl.col("chi_squared_corr_tt"))


@measure(
    family="asymptotic test", formula="-log10 P(Z >= sign(O11 - E11) sqrt(X2.clipped))",
    range="[0, inf)", reference="Yates 1934; R Core Team, prop.test", sided="one-sided",
    note="log10 2 where a margin is empty or |O11 - E11| <= 1/2",
)  # fmt: skip
def chi_squared_clipped_pv() -> pl.Expr:
    """One-sided p-value of X2 with Yates' correction, clipped."""
    return _one("chi_squared_clipped")


@measure(
    family="asymptotic test", formula="-log10 P(chi2(1) >= X2.clipped)", range="[0, inf)",
    reference="Yates 1934; R Core Team, chisq.test", sided="two-sided",
    note="0 where a margin is empty or |O11 - E11| <= 1/2",
)  # fmt: skip
def chi_squared_clipped_tt_pv() -> pl.Expr:
    """Two-sided p-value of X2 with Yates' correction, clipped: that of R's chisq.test."""
    clipped = pl.col("chi_squared_clipped") == 0
    return pl.when(clipped).then(0.0).otherwise(pl.col("chi_squared_corr_tt_pv"))


@measure(
    family="asymptotic test", formula="-log10 P(Z >= sign(O11 - E11) sqrt(G2))",
    range="[0, inf)", reference="Evert 2004, log.likelihood.pv", sided="one-sided",
    ucs="log.likelihood.pv", aliases=("LL_pv", "G2_pv"),
    note="log10 2 where a margin is empty or O11 = E11",
)  # fmt: skip
def log_likelihood_pv() -> pl.Expr:
    """One-sided p-value of the log-likelihood ratio, by its signed root."""
    return _one("log_likelihood")


@measure(
    family="asymptotic test", formula="-log10 P(chi2(1) >= G2)", range="[0, inf)",
    reference="Dunning 1993", sided="two-sided", ucs="log.likelihood.tt.pv",
    aliases=("LL_tt_pv", "G2_tt_pv"),
    note="0 where a margin is empty",
)  # fmt: skip
def log_likelihood_tt_pv() -> pl.Expr:
    """Two-sided p-value of the log-likelihood ratio."""
    return normal_two_sided(pl.col("log_likelihood_tt"))


@measure(
    family="asymptotic test", formula="-log10 P(Z >= sign(O11 - E11) sqrt(simple-ll))",
    range="[0, inf)", reference="Evert 2008, simple-ll", sided="one-sided",
    note="log10 2 where E11 = 0 or O11 = E11",
)  # fmt: skip
def simple_ll_pv() -> pl.Expr:
    """One-sided p-value of simple-ll, by its signed root."""
    return _one("simple_ll")


@measure(
    family="asymptotic test", formula="-log10 P(chi2(1) >= simple-ll)", range="[0, inf)",
    reference="Evert 2008, simple-ll", sided="two-sided",
    note="0 where E11 = 0",
)  # fmt: skip
def simple_ll_tt_pv() -> pl.Expr:
    """Two-sided p-value of simple-ll."""
    return normal_two_sided(pl.col("simple_ll").abs())
