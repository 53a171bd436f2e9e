"""Effect sizes of the 2 x 2 table: ratios, differences, and coefficients of association.

A ratio or difference of conditional proportions compares the tokens with a unit to those
without; where all tokens have it (R2 = 0 or C2 = 0) there is nothing to compare: null.
"""

from __future__ import annotations

import polars as pl

from pipeline.kernels.arithmetic import bounded, log_ratio
from pipeline.kernels.measure import measure

O11, O12, O21, O22 = (pl.col(f"o{ij}") for ij in ("11", "12", "21", "22"))
R1, R2, C1, C2 = (pl.col(margin) for margin in ("r1", "r2", "c1", "c2"))
DETERMINANT, MARGINS = pl.col("determinant"), pl.col("margins")
ABSENT = float("nan")


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
    return _where_comparable(log_ratio(O11 * C2, O12 * C1, DETERMINANT, base=10.0))


@measure(
    family="point estimate", formula="log10(O11 O22 / (O12 O21))", range="[-inf, inf]",
    reference="Cornfield 1951; Evert 2004, odds.ratio", ucs="odds.ratio", aliases=("OR",),
    note="null where a margin is empty; "
    "-inf where O11 = 0 or O22 = 0; inf where O12 = 0 or O21 = 0",
)  # fmt: skip
def odds_ratio() -> pl.Expr:
    """Decimal logarithm of the odds ratio; infinite where one of its products is 0."""
    return log_ratio(O11 * O22, O12 * O21, DETERMINANT, base=10.0)


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
    return log_ratio(*products, difference, base=10.0)


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
    return bounded(DETERMINANT / (root * root))


@measure(
    family="point estimate", formula="(O11 O22 - O12 O21) / sqrt(R1 R2 C1 C2)",
    range="[-1, 1]", reference="Yule 1912", aliases=("phi_coefficient", "mcc"),
    note="0 where a margin is empty",
)  # fmt: skip
def phi() -> pl.Expr:
    """Correlation of the two units over the pair tokens; 0 where a margin is empty."""
    return pl.when(MARGINS == 0).then(0.0).otherwise(bounded(DETERMINANT / MARGINS.sqrt()))
