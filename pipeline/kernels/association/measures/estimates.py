"""Point estimates of association strength: how much of each unit is in the pair."""

from __future__ import annotations

import math

import polars as pl

from pipeline.kernels.arithmetic import log_ratio
from pipeline.kernels.measure import measure

O11, O12, O21 = pl.col("o11"), pl.col("o12"), pl.col("o21")
R1, C1 = pl.col("r1"), pl.col("c1")


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
    return log_ratio(scaled, R1 + C1, scaled - (R1 + C1), base=2.0)


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
    return pl.when((R1 == 0) | (C1 == 0)).then(float("nan")).otherwise(O11 / larger)


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
    return pl.col("determinant") / (C1 * pl.col("c2"))
