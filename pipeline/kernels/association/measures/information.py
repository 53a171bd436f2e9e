"""Measures from information theory."""

from __future__ import annotations

import math

import polars as pl

from pipeline.kernels.arithmetic import bounded, log_ratio
from pipeline.kernels.measure import measure

O11, E11, MI, N = pl.col("o11"), pl.col("e11"), pl.col("mi"), pl.col("N")


def _mi_power(power: pl.Expr, excess: str) -> pl.Expr:
    """Return log10(O^k / E); near 0 by the exact difference of the two."""
    near = (power < 2.0 * E11) & (2.0 * power > E11)
    difference = pl.when(near).then(pl.col(excess) / N).otherwise(power - E11)
    return log_ratio(power, E11, difference, base=10.0)


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
    without = pl.col("o21") + pl.col("c2")
    information = log_ratio(N, O11, without, base=10.0)
    return pl.when((O11 == 0) & (E11 > 0)).then(-1.0).otherwise(bounded(MI / information))


@measure(
    family="information theory", formula="max(0, log2(O11 / E11))", range="[0, inf)",
    reference="Niwa & Nitta 1994", aliases=("PPMI",),
    note="null where E11 = 0; 0 where O11 = 0",
)  # fmt: skip
def ppmi() -> pl.Expr:
    """MI in bits, 0 where it is negative; null where E11 = 0."""
    return pl.when(MI < 0).then(0.0).otherwise(MI * (math.log(10.0) / math.log(2.0)))
