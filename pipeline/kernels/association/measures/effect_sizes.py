"""Effect sizes of the 2 x 2 table: ratios, differences, and coefficients of association.

A ratio or difference of conditional proportions compares the tokens with a unit to those
without; where all tokens have it (R2 = 0 or C2 = 0) there is nothing to compare: null.
"""

from __future__ import annotations

import math
from functools import partial
from statistics import NormalDist

import numpy as np
import polars as pl

from pipeline.kernels.association.log_tails import (
    PER_DECADE,
    Columns,
    by_rows,
    log_odds_limit,
    poisson_limit,
)
from pipeline.kernels.measure import measure, measure_family
from pipeline.kernels.numeric import FloatArray, clip_score, log_of_ratio
from pipeline.registry import NumberRange

O11, O12, O21, O22 = (pl.col(f"o{ij}") for ij in ("11", "12", "21", "22"))
R1, R2, C1, C2 = (pl.col(margin) for margin in ("r1", "r2", "c1", "c2"))
ABSENT = float("nan")
E11, N, MI = pl.col("e11"), pl.col("N"), pl.col("mi")
DETERMINANT, MARGINS = pl.col("determinant"), pl.col("margins")


# Conservative estimates: lower limits of association strength at a given confidence

REPRESENTED = 300
"""Decades n down to which 10^-n is a number of full precision."""
_SMALLEST_MEAN = 1e-300
"""Means below lose digits, since numbers near 1e-308 have fewer of them."""
ALPHA = 0.05
FAMILY = 1  # comparisons that the error probability is shared by (Bonferroni)
_PER_DOUBLING = 1.0 / float(np.log(2.0))


@measure_family(
    numbers=NumberRange(),
    standard=(1, 2, 3, 5, 10),
    family="conservative estimate",
    formula="log10(gammaincinv(O11, alpha/2) / E11), alpha = 10^-{n}",
    range="[-inf, inf)", reference="Evert 2004, section 3.1.5; Johnson 1999",
    ucs="MI.conf.{n}", ucs_numbers=(2, 3, 5, 10, 50, 100, 1000),
    note="null where E11 = 0; -inf where O11 = 0",
)  # fmt: skip
def mi_conf(decades: int) -> pl.Expr:
    """MI of the lower limit of a two-sided interval at the level 1 - 10^-n, for any whole n.

    The limit is that of the mean of a Poisson distribution; -inf where O11 = 0 < E11.
    """
    tail, log_tail = 10.0**-decades / 2.0, -decades * math.log(10.0) - math.log(2.0)
    known = None if decades <= REPRESENTED else log_tail
    return by_rows(
        partial(_mi_conf, tail=tail, log_tail=known), ("o11", "e11", "delta"), blocks=False
    )


def _mi_conf(columns: Columns, *, tail: float, log_tail: float | None) -> FloatArray:
    """Return log10(m / E), with m - E = (O - E) - (O - m); -inf where O = 0 < E."""
    observed, expected = columns["o11"], columns["e11"]
    limit = poisson_limit(observed, tail, log_tail=log_tail)
    excess = (columns["delta"] - limit.shortfall) / expected
    close = (np.abs(excess) < 0.5) & (expected > 0.25 * observed)  # else O - E has lost E
    ratio = np.log(limit.mean / expected)
    ratio = np.where(limit.mean > _SMALLEST_MEAN, ratio, limit.log_mean - np.log(expected))
    return np.where(close, np.log1p(excess), ratio) * PER_DECADE


@measure(
    family="conservative estimate",
    formula="log2((R2 / R1) tau / (1 - tau)), tau = betaincinv(O11, O21 + 1, .05)",
    range="[-inf, inf)", reference="Evert, Dykes & Peters 2018",
    aliases=("LRC.positive", "lrc_positive"), symmetric=False,
    note="null where R1 = 0 or R2 = 0; -inf where O11 = 0",
)  # fmt: skip
def positive_lrc() -> pl.Expr:
    """Lower limit of the log2 ratio of O11/R1 to O21/R2, one-sided at 95 %; not clamped.

    -inf where O11 = 0; null where R1 or R2 is 0.
    """
    return by_rows(_positive_lrc, ("o11", "o21", "r1", "r2"))


def _positive_lrc(columns: Columns) -> FloatArray:
    return _log2_ratio(log_odds_limit(columns["o11"], columns["o21"], ALPHA / FAMILY), columns)


@measure(
    family="conservative estimate",
    formula="as positive_lrc with alpha/2, but at least 0; where O11/R1 < O21/R2 the upper limit, "
    "at most 0",
    range="(-inf, inf)", reference="Evert, Dykes & Peters 2018", sided="none",
    aliases=("LRC",), symmetric=False,
    note="null where R1 = 0 or R2 = 0; 0 where O11 = E11",
)  # fmt: skip
def lrc() -> pl.Expr:
    """Limit nearer to 0 of the two-sided 95 % interval of the log2 ratio; 0 if it contains 0.

    Null where R1 or R2 is 0.
    """
    return by_rows(_lrc, ("o11", "o21", "r1", "r2", "delta"))


def _lrc(columns: Columns) -> FloatArray:
    hits, others, tail = columns["o11"], columns["o21"], ALPHA / (2.0 * FAMILY)
    more = columns["delta"] >= 0.0  # just where O11 / R1 >= O21 / R2
    limit = log_odds_limit(np.where(more, hits, others), np.where(more, others, hits), tail)
    score = _log2_ratio(np.where(more, limit, -limit), columns)
    clamped = np.where(more, np.maximum(score, 0.0), np.minimum(score, 0.0))
    return np.where(np.isnan(score), np.nan, clamped)


def _log2_ratio(log_odds: FloatArray, columns: Columns) -> FloatArray:
    """Return log2 of the odds that a token is of the first unit, per token of R1 and R2."""
    r1, r2 = columns["r1"], columns["r2"]
    ratio = (np.log(r2 / r1) + log_odds) * _PER_DOUBLING
    return np.where((r1 > 0) & (r2 > 0), ratio, np.nan)


# Point estimates


@measure(
    family="point estimate", formula="log10(O11 / E11)", range="[-inf, inf)",
    reference="Church & Hanks 1990", ucs="MI", aliases=("pmi", "PMI"),
    note="null where E11 = 0; -inf where O11 = 0",
)  # fmt: skip
def mi() -> pl.Expr:
    """MI = log10(O11 / E11), in decimal logarithms as in UCS; -inf where O11 = 0 < E11."""
    return pl.col("ln_ratio") * (1.0 / math.log(10.0))


@measure(
    family="point estimate", formula="log2(O11 / E11)", range="[-inf, inf)",
    reference="Church & Hanks 1990", aliases=("MI.log2", "MI_score"),
    note="null where E11 = 0; -inf where O11 = 0",
)  # fmt: skip
def mi_log2() -> pl.Expr:
    """MI in bits, log2(O11 / E11), as NLTK, AntConc, BNCweb and Sketch Engine print it.

    -inf where O11 = 0 < E11.
    """
    return pl.col("ln_ratio") * (1.0 / math.log(2.0))


@measure(
    family="point estimate", formula="2 O11 / (R1 + C1)", range="[0, 1]",
    reference="Smadja et al. 1996", ucs="Dice",
    note="null where R1 = C1 = 0",
)  # fmt: skip
def dice() -> pl.Expr:
    """Dice = 2 O11 / (R1 + C1); 1 where the two units only occur together."""
    return 2.0 * O11 / (R1 + C1)


@measure(
    family="point estimate", formula="14 + log2(2 O11 / (R1 + C1))", range="[-inf, 14]",
    reference="Rychlý 2008", aliases=("logDice", "logdice"),
    note="null where R1 = C1 = 0; -inf where O11 = 0",
)  # fmt: skip
def log_dice() -> pl.Expr:
    """Return 14 + log2 Dice; 14 at the most, 0 for a Dice of 2^-14, -inf where O11 = 0."""
    scaled = O11 * 2.0**15
    return log_of_ratio(scaled, R1 + C1, scaled - (R1 + C1), base=2.0)


@measure(
    family="point estimate", formula="O11 / (O11 + O12 + O21)", range="[0, 1]",
    reference="Jaccard 1912", ucs="Jaccard",
    note="null where R1 = C1 = 0",
)  # fmt: skip
def jaccard() -> pl.Expr:
    """Share of the tokens with either unit that have both."""
    return O11 / (R1 + O21)


@measure(
    family="point estimate", formula="min(O11 / R1, O11 / C1)", range="[0, 1]",
    reference="Pedersen & Bruce 1996", ucs="MS", aliases=("ms", "braun_blanquet"),
    note="null where E11 = 0",
)  # fmt: skip
def minimum_sensitivity() -> pl.Expr:
    """Return the smaller of P(l2 | l1) and P(l1 | l2); null where a margin is empty."""
    larger = pl.when(R1 > C1).then(R1).otherwise(C1)
    return pl.when((R1 == 0) | (C1 == 0)).then(ABSENT).otherwise(O11 / larger)


@measure(
    family="point estimate", formula="O11 / min(R1, C1)", range="[0, 1]",
    reference="Simpson 1943", aliases=("Simpson", "overlap_coefficient"),
    note="null where E11 = 0",
)  # fmt: skip
def simpson() -> pl.Expr:
    """Overlap coefficient, the larger of P(l2 | l1) and P(l1 | l2)."""
    return O11 / pl.when(R1 < C1).then(R1).otherwise(C1)


@measure(
    family="point estimate", formula="O11 / sqrt(R1 C1)", range="[0, 1]",
    reference="Ochiai 1957", ucs="gmean", aliases=("ochiai", "cosine"),
    note="null where E11 = 0",
)  # fmt: skip
def geometric_mean() -> pl.Expr:
    """Geometric mean of P(l2 | l1) and P(l1 | l2)."""
    return O11 / (R1 * C1).sqrt()


@measure(
    family="point estimate", formula="(O11 / R1 + O11 / C1) / 2", range="[0, 1]",
    reference="Kulczyński 1927, second coefficient", aliases=("kulczynski_2", "Kulczynski"),
    note="null where E11 = 0",
)  # fmt: skip
def kulczynski() -> pl.Expr:
    """Arithmetic mean of P(l2 | l1) and P(l1 | l2)."""
    return 0.5 * (O11 / R1 + O11 / C1)


@measure(
    family="point estimate", formula="O11 / (O12 + O21)", range="[0, inf]",
    reference="Kulczyński 1927, first coefficient",
    note="null where R1 = C1 = 0; inf where O12 = O21 = 0",
)  # fmt: skip
def kulczynski_1() -> pl.Expr:
    """Tokens of both to tokens of only one; inf where the units only occur together."""
    return O11 / (O12 + O21)


@measure(
    family="point estimate", formula="(O11 O22 - O12 O21) / (C1 C2)", range="[-1, 1]",
    reference="Liddell 1976", aliases=("Liddell",), symmetric=False,
    note="null where C1 = 0 or C2 = 0; 0 where R1 = 0 or R2 = 0",
)  # fmt: skip
def liddell() -> pl.Expr:
    """Difference of proportions O11 / C1 - O12 / C2; null where C1 or C2 is 0.

    0 where R1 or R2 is 0: DeltaP(l1 | l2) is the same difference, but null where R2 = 0.
    """
    return DETERMINANT / (C1 * C2)


# Heuristic measures


@measure(
    family="heuristic", formula="O11", range="[0, N]", reference="Evert & Krenn 2005, section 2",
    ucs="frequency", aliases=("freq", "f"),
)  # fmt: skip
def frequency() -> pl.Expr:
    """Return the joint frequency O11 itself."""
    return O11


@measure(
    family="heuristic", formula="O11^3 / (R1 C1)", range="[0, N]", reference="Daille 1994",
    note="null where E11 = 0",
)  # fmt: skip
def mi_like() -> pl.Expr:
    """MI3 without the logarithm and without N: O11^3 / (R1 C1)."""
    return O11 * O11 * O11 / (R1 * C1)


@measure(
    family="heuristic", formula="(O11 - 5) N / (R1 C1)", range="(-inf, N]",
    reference="Mikolov et al. 2013, equation 6", aliases=("Mikolov", "phrase_score"),
    note="-inf where E11 = 0",
)  # fmt: skip
def mikolov(*, discount: float = 5.0) -> pl.Expr:
    """Phrase score of word2phrase, times N: the ratio O11 / E11 discounted for rare pairs.

    Parameters
    ----------
    discount : float
        What is taken off O11, delta in the paper; word2phrase takes 5 by default.
    """
    return (O11 - discount) * N / (R1 * C1)


@measure(
    family="heuristic", formula="uniform random number from (l1, l2) and the seed",
    range="[0, 1)", reference="Evert 2004, random", ucs="random", is_in_all=False,
)  # fmt: skip
def random() -> pl.Expr:
    """Random number, fixed by the candidate and the seed: what a measure must be better than."""
    return pl.col("random_number")


# Information theory


def _mi_power(power: pl.Expr, excess: str) -> pl.Expr:
    """Return log10(O^k / E); near 0 by the exact difference of the two."""
    near = (power < 2.0 * E11) & (2.0 * power > E11)
    difference = pl.when(near).then(pl.col(excess) / N).otherwise(power - E11)
    return log_of_ratio(power, E11, difference, base=10.0)


@measure(
    family="information theory", formula="log10(O11^2 / E11)", range="[-inf, inf)",
    reference="Daille 1994", ucs="MI2",
    note="null where E11 = 0; -inf where O11 = 0",
)  # fmt: skip
def mi2() -> pl.Expr:
    """MI with the joint frequency squared, which favours frequent pairs."""
    return _mi_power(O11 * O11, "square_excess")


@measure(
    family="information theory", formula="log10(O11^3 / E11)", range="[-inf, inf)",
    reference="Daille 1994", ucs="MI3",
    note="null where E11 = 0; -inf where O11 = 0",
)  # fmt: skip
def mi3() -> pl.Expr:
    """MI with the joint frequency cubed, which favours frequent pairs strongly."""
    return _mi_power(O11 * O11 * O11, "cube_excess")


@measure(
    family="information theory", formula="O11 log10(O11 / E11)", range="(-inf, inf)",
    reference="Evert 2004, local.MI", sided="signed", ucs="local.MI", aliases=("lmi", "LMI"),
    note="null where E11 = 0; 0 where O11 = 0",
)  # fmt: skip
def local_mi() -> pl.Expr:
    """Contribution of the pair to the mutual information of the table; 0 where O11 = 0 < E11."""
    return pl.when((O11 == 0) & (E11 > 0)).then(0.0).otherwise(O11 * MI)


@measure(
    family="information theory", formula="sum Oij log10(Oij / Eij)", range="[0, inf)",
    reference="Evert 2004, average.MI", sided="two-sided", ucs="average.MI",
    note="0 where a margin is empty",
)  # fmt: skip
def average_mi() -> pl.Expr:
    """Mutual information of the two units times N; G2 / (2 ln 10), without a sign."""
    return pl.col("log_likelihood_tt") * (0.5 / math.log(10.0))


@measure(
    family="information theory", formula="ln(O11 / E11) / -ln(O11 / N)", range="[-1, 1]",
    reference="Bouma 2009", sided="signed", aliases=("NPMI", "normalised_mi"),
    note="null where E11 = 0 or O11 = N; -1 where O11 = 0",
)  # fmt: skip
def npmi() -> pl.Expr:
    """MI on a scale from -1 (never together) to 1 (only together); null where O11 = N."""
    information = log_of_ratio(N, O11, O21 + C2, base=10.0)
    return pl.when((O11 == 0) & (E11 > 0)).then(-1.0).otherwise(clip_score(MI / information))


@measure(
    family="information theory", formula="max(0, log2(O11 / E11))", range="[0, inf)",
    reference="Niwa & Nitta 1994", aliases=("PPMI",),
    note="null where E11 = 0; 0 where O11 = 0",
)  # fmt: skip
def ppmi() -> pl.Expr:
    """MI in bits, 0 where it is negative; null where E11 = 0."""
    return pl.when(MI < 0).then(0.0).otherwise(MI * (math.log(10.0) / math.log(2.0)))


# Log Ratio, relative risk, odds ratio, and differences of proportions

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
    difference = pl.when(O21 == 0).then(first - second).otherwise(DETERMINANT)
    score = log_of_ratio(first, second, difference, base=2.0)
    return _where_comparable(score)


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
    limit = pl.when((nearer > 0) & ratio.is_finite()).then(nearer * ratio.sign()).otherwise(0.0)
    return pl.when(ratio.is_nan()).then(ABSENT).otherwise(limit)


def _where_comparable(score: pl.Expr) -> pl.Expr:
    return pl.when((R2 == 0) | (C2 == 0)).then(ABSENT).otherwise(score)


@measure(
    family="point estimate", formula="log10(O11 C2 / (O12 C1))", range="[-inf, inf]",
    reference="Cornfield 1951; Evert 2004, relative.risk", ucs="relative.risk",
    aliases=("risk_ratio",), symmetric=False,
    note="null where a margin is empty; -inf where O11 = 0; inf where O12 = 0",
)  # fmt: skip
def relative_risk() -> pl.Expr:
    """Decimal logarithm of P(l1 | l2) to P(l1 | not l2); inf where O12 = 0 < O11."""
    return _where_comparable(log_of_ratio(O11 * C2, O12 * C1, DETERMINANT, base=10.0))


@measure(
    family="point estimate", formula="log10(O11 O22 / (O12 O21))", range="[-inf, inf]",
    reference="Cornfield 1951; Evert 2004, odds.ratio", ucs="odds.ratio", aliases=("OR",),
    note="null where a margin is empty; "
    "-inf where O11 = 0 or O22 = 0; inf where O12 = 0 or O21 = 0",
)  # fmt: skip
def odds_ratio() -> pl.Expr:
    """Decimal logarithm of the odds ratio; infinite where one of its products is 0."""
    return log_of_ratio(O11 * O22, O12 * O21, DETERMINANT, base=10.0)


@measure(
    family="point estimate",
    formula="log10((O11 + 1/2) (O22 + 1/2) / ((O12 + 1/2) (O21 + 1/2)))",
    range="(-inf, inf)", reference="Haldane 1956; Gart 1966", ucs="odds.ratio.disc",
    note="always finite",
)  # fmt: skip
def odds_ratio_disc() -> pl.Expr:
    """Discounted odds ratio, 1/2 added to every cell: always finite."""
    products = (O11 + 0.5) * (O22 + 0.5), (O12 + 0.5) * (O21 + 0.5)
    difference = DETERMINANT + 0.5 * (O11 + O22 - O12 - O21)
    return log_of_ratio(*products, difference, base=10.0)


@measure(
    family="point estimate", formula="O11 / R1 - O21 / R2", range="[-1, 1]",
    reference="Gries 2013", aliases=("delta_p", "DeltaP_21"), symmetric=False,
    note="null where R1 = 0 or R2 = 0 or C2 = 0; 0 where C1 = 0",
)  # fmt: skip
def delta_p_21() -> pl.Expr:
    """DeltaP(l2 | l1) = P(l2 | l1) - P(l2 | not l1): how much l1 says about l2.

    Null where one of the two proportions has no tokens, R1 = 0 or R2 = 0, and where all tokens have
    l2, C2 = 0; 0 where none has it, C1 = 0.
    """
    return _where_comparable(DETERMINANT / (R1 * R2))


@measure(
    family="point estimate", formula="O11 / C1 - O12 / C2", range="[-1, 1]",
    reference="Gries 2013", aliases=("DeltaP_12",), symmetric=False,
    note="null where C1 = 0 or C2 = 0 or R2 = 0; 0 where R1 = 0",
)  # fmt: skip
def delta_p_12() -> pl.Expr:
    """DeltaP(l1 | l2) = P(l1 | l2) - P(l1 | not l2): how much l2 says about l1.

    Null where one of the two proportions has no tokens, C1 = 0 or C2 = 0, and where all tokens have
    l1, R2 = 0, which Liddell's measure calls 0; 0 where none has it, R1 = 0.
    """
    return _where_comparable(DETERMINANT / (C1 * C2))


@measure(
    family="point estimate", formula="100 (O11 / R1 - O21 / R2) / (O21 / R2)",
    range="[-100, inf]", reference="Gabrielatos & Marchi 2012", aliases=("%DIFF", "diff"),
    symmetric=False,
    note="null where a margin is empty; -100 where O11 = 0; inf where O21 = 0",
)  # fmt: skip
def percent_diff() -> pl.Expr:
    """%DIFF: by how many percent P(l2 | l1) exceeds P(l2 | not l1); inf where O21 = 0 < O11."""
    return _where_comparable(100.0 * (DETERMINANT / (O21 * R1)))


@measure(
    family="point estimate",
    formula="(O11 O22 - O12 O21) / (O11 O22 + O12 O21)", range="[-1, 1]",
    reference="Yule 1900", aliases=("Q", "yules_q"),
    note="null where a margin is empty; -1 where O11 = 0 or O22 = 0; 1 where O12 = 0 or O21 = 0",
)  # fmt: skip
def yule_q() -> pl.Expr:
    """Yule's Q, the odds ratio on a scale from -1 to 1."""
    return DETERMINANT / (O11 * O22 + O12 * O21)


@measure(
    family="point estimate",
    formula="(sqrt(O11 O22) - sqrt(O12 O21)) / (sqrt(O11 O22) + sqrt(O12 O21))",
    range="[-1, 1]", reference="Yule 1912", aliases=("Y", "yules_y", "colligation"),
    note="null where a margin is empty; -1 where O11 = 0 or O22 = 0; 1 where O12 = 0 or O21 = 0",
)  # fmt: skip
def yule_y() -> pl.Expr:
    """Yule's Y, coefficient of colligation: Q of the square root of the odds ratio."""
    root = (O11 * O22).sqrt() + (O12 * O21).sqrt()
    return clip_score(DETERMINANT / (root * root))


@measure(
    family="point estimate", formula="(O11 O22 - O12 O21) / sqrt(R1 R2 C1 C2)",
    range="[-1, 1]", reference="Yule 1912", aliases=("phi_coefficient", "mcc"),
    note="0 where a margin is empty",
)  # fmt: skip
def phi() -> pl.Expr:
    """Correlation of the two units over the pair tokens; 0 where a margin is empty."""
    return pl.when(MARGINS == 0).then(0.0).otherwise(clip_score(DETERMINANT / MARGINS.sqrt()))
