"""Hypothesis tests of independence: exact tests, likelihoods, test statistics and p-values."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import polars as pl

from pipeline.kernels.association.log_tails import (
    PER_DECADE,
    Columns,
    Distribution,
    binomial,
    by_rows,
    hypergeometric,
    likelihood,
    log_pmf,
    normal_two_sided,
    one_sided,
    poisson,
    surprise,
    two_sided,
    upper_tail,
)
from pipeline.kernels.measure import measure, measure_family
from pipeline.kernels.numeric import FloatArray, sign
from pipeline.registry import Number, NumberRange

O11, E11, DELTA, N = pl.col("o11"), pl.col("e11"), pl.col("delta"), pl.col("N")
DETERMINANT, MARGINS = pl.col("determinant"), pl.col("margins")


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

    The two cells without l2 are omitted, so that it is a little smaller than `log_likelihood`.
    """
    return sign(DELTA, 2.0 * (pl.col("d11") + pl.col("d21")))


# Exact tests: finite and in order down to p = 10^-400000 and beyond, and accurate near p = 1


@measure(
    family="exact test", formula="-log10 P(X >= O11), X ~ hypergeometric(N, R1, C1)",
    range="[0, inf)", reference="Fisher 1934; Pedersen 1996", sided="one-sided",
    ucs="Fisher.pv", aliases=("fisher", "Fisher", "fisher_exact"),
    note="0 where a margin is empty",
)  # fmt: skip
def fisher_pv() -> pl.Expr:
    """-log10 p of Fisher's exact test against attraction (right tail)."""
    return surprise(upper_tail, hypergeometric)


@measure(
    family="exact test", formula="-log10 P(X <= O11), X ~ hypergeometric(N, R1, C1)",
    range="[0, inf)", reference="Fisher 1934", sided="one-sided",
    aliases=("Fisher.left.pv", "fisher_left"),
    note="0 where a margin is empty", is_in_all=False,
)  # fmt: skip
def fisher_left_pv() -> pl.Expr:
    """-log10 p of Fisher's exact test against repulsion (left tail): no ranking of attraction."""
    return surprise(_lower_tail, hypergeometric)


def _lower_tail(x: Distribution) -> FloatArray:
    return upper_tail(x.mirror())


@measure(
    family="exact test",
    formula="-log10 sum P(X = k) over P(X = k) <= (1 + 1e-7) P(X = O11), X ~ hypergeometric",
    range="[0, inf)", reference="Agresti 2013, section 3.5; R, fisher.test", sided="two-sided",
    aliases=("Fisher.tt.pv", "fisher_tt_pv", "fisher_two_sided"),
    note="0 where a margin is empty",
)  # fmt: skip
def fisher_two_sided_pv() -> pl.Expr:
    """-log10 p of Fisher's two-sided exact test as R defines it: no ranking of attraction."""
    return surprise(two_sided, hypergeometric)


@measure(
    family="exact test", formula="-log10 P(X >= O11), X ~ Bin(N, E11/N)",
    range="[0, inf)", reference="Evert 2004, section 3.1.3", sided="one-sided", ucs="binomial.pv",
    note="0 where E11 = 0 or E11 = N",
)  # fmt: skip
def binomial_pv() -> pl.Expr:
    """-log10 p of the exact binomial test."""
    return surprise(upper_tail, binomial)


@measure(
    family="exact test", formula="-log10 P(X >= O11), X ~ Poisson(E11)",
    range="[0, inf)", reference="Quasthoff & Wolff 2002", sided="one-sided",
    ucs="Poisson.pv", aliases=("poisson",),
    note="0 where E11 = 0",
)  # fmt: skip
def poisson_pv() -> pl.Expr:
    """-log10 p of the exact Poisson test."""
    return surprise(upper_tail, poisson)


@measure_family(
    numbers=NumberRange(decimals=3),
    standard=(2, 3, 5, 10),
    family="exact test", formula="-log10 P(X >= O11), X ~ Poisson({n} E11)",
    range="[0, inf)", reference="UCS, Poisson.mu.n.pv", sided="one-sided",
    ucs="Poisson.mu.{n}.pv", ucs_numbers=(2, 3, 5, 10, 50, 100, 1000, 10_000),
    aliases=("Poisson.mu.{n}",),
    note="0 where E11 = 0",
)  # fmt: skip
def poisson_mu(times: Number) -> pl.Expr:
    """-log10 p of the exact Poisson test against n times the expectation, for any n above 0.

    n may have three decimals: poisson_mu(1.5), whose column is poisson_mu_1_5.
    """
    return surprise(upper_tail, partial(poisson, times=times))


# Likelihoods of the observed table, as negative decimal logarithms

CELLS = ("11", "22", "12", "21")
REFERENCE = "Evert 2004, section 3.1.2"


@measure(
    family="likelihood", formula="-log10 N! / (O11! O12! O21! O22!) prod (Eij/N)^Oij",
    range="[0, inf)", reference=REFERENCE, ucs="multinomial.likelihood.pv",
    note="0 where two margins are empty",
)  # fmt: skip
def multinomial_likelihood_pv() -> pl.Expr:
    """-log10 of the multinomial probability of the four cells; 0 where two margins are empty."""
    cells = tuple(f"{kind}{ij}" for kind in "oe" for ij in CELLS)
    return by_rows(_multinomial, (*cells, "delta", "N"))


def _multinomial(columns: Columns) -> FloatArray:
    """Return -log10 of N! / prod Oij! prod (Eij/N)^Oij = w(N) - sum w(Oij) - sum bd0(Oij, Eij)."""
    o11, o22, o12, o21 = (columns[f"o{ij}"] for ij in CELLS)
    means, total = np.stack([columns[f"e{ij}"] for ij in CELLS]), columns["N"][None]
    x = Distribution(
        np.stack([o11, o22]), np.stack([o12, o21]), means, columns["delta"],
        np.ones(len(o11)), total, np.empty((0, len(o11))),
    )  # fmt: skip
    return np.where(total[0] > 0, -log_pmf(x) * PER_DECADE, np.nan)


@measure(
    family="likelihood", formula="-log10 C(N,O11) (E11/N)^O11 (1-E11/N)^(N-O11)",
    range="[0, inf)", reference=REFERENCE, ucs="binomial.likelihood.pv",
    note="0 where E11 = 0 or E11 = N",
)  # fmt: skip
def binomial_likelihood_pv() -> pl.Expr:
    """-log10 P(X = O11) with X ~ Bin(N, E11/N); 0 where E11 is 0 or N."""
    return surprise(likelihood, binomial)


@measure(
    family="likelihood", formula="-log10 exp(-E11) E11^O11 / O11!",
    range="[0, inf)", reference="Quasthoff & Wolff 2002", ucs="Poisson.likelihood.pv",
    aliases=("Poisson.likelihood.Perl.pv",),
    note="0 where E11 = 0",
)  # fmt: skip
def poisson_likelihood_pv() -> pl.Expr:
    """-log10 P(X = O11) with X ~ Poisson(E11); 0 where E11 is 0."""
    return surprise(likelihood, poisson)


@measure(
    family="likelihood", formula="-log10 C(C1,O11) C(C2,R1-O11) / C(N,R1)",
    range="[0, inf)", reference=REFERENCE, ucs="hypergeometric.likelihood.pv",
    note="0 where a margin is empty",
)  # fmt: skip
def hypergeometric_likelihood_pv() -> pl.Expr:
    """-log10 P(X = O11) with both margins fixed; 0 where they allow one table only."""
    return surprise(likelihood, hypergeometric)


# Poisson likelihood in Stirling's approximation


@measure(
    family="likelihood", formula="O11 (ln O11 - ln E11 - 1) / ln 10", range="(-inf, inf)",
    reference="Quasthoff & Wolff 2002", ucs="Poisson.Stirling",
    note="null where E11 = 0; 0 where O11 = 0",
)  # fmt: skip
def poisson_stirling() -> pl.Expr:
    """-log10 of the Poisson likelihood, roughly, for O11 well above E11; 0 where O11 = 0 < E11.

    It falls, as O11 grows, up to O11 = E11, is 0 at O11 = e E11, and grows from there.
    """
    score = O11 * (pl.col("mi") - 1.0 / math.log(10.0))
    return pl.when((O11 == 0) & (E11 > 0)).then(0.0).otherwise(score)


# Unsigned statistics: the signed ones derive from these, since at O11 = E11 a signed one has lost
# what Yates' correction leaves


def _chi_squared(determinant: pl.Expr) -> pl.Expr:
    """Return N D^2 / (R1 R2 C1 C2); 0 where a margin is empty."""
    return pl.when(MARGINS == 0).then(0.0).otherwise(determinant * determinant * N / MARGINS)


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
    return 2.0 * (pl.col("d11") + pl.col("d12") + (pl.col("d21") + pl.col("d22")))


# P-values of the asymptotic tests, as -log10 p: high where a chance result is unlikely.


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
