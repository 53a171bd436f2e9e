"""Exact values of measures: rational arithmetic and 60-digit functions.

A twin returns None where the measure is undefined. It is written from the definition, never from
the expression that it checks.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import mpmath
import numpy as np
from scipy import special

from tests.kernels.association.cells import Cells, near_independence, signatures
from tests.kernels.association.exact_tails import (
    Exact,
    log10,
    log_numbers_60,
    logarithm,
    quotient,
    real_numbers_60,
    root,
)

# Exact values of ratios, differences and coefficients of the 2 x 2 table.


def comparable(c: Cells) -> bool:
    return c.n > c.f1 and c.n > c.f2


def relative_risk(c: Cells) -> Exact:
    o11, o12, _, _ = c.observed
    return log10(quotient(o11 * (c.n - c.f2), o12 * c.f2)) if comparable(c) else None


def odds_ratio(c: Cells) -> Exact:
    o11, o12, o21, o22 = c.observed
    return log10(quotient(o11 * o22, o12 * o21))


def odds_ratio_disc(c: Cells) -> Exact:
    o11, o12, o21, o22 = (o + Fraction(1, 2) for o in c.observed)
    return log10(o11 * o22 / (o12 * o21))


def risk_ratio(c: Cells) -> Fraction | None:
    """(O11 / R1) / (O21 / R2), with 1/2 for an O21 of 0."""
    if not comparable(c) or not c.f1:
        return None
    o21 = c.observed[2] or Fraction(1, 2)
    return Fraction(c.f, c.f1) / Fraction(o21, c.n - c.f1)


def conservative_log_ratio(c: Cells) -> Exact:
    ratio = risk_ratio(c)
    if not ratio:
        return None if ratio is None else mpmath.mpf(0)
    o21 = c.observed[2] or Fraction(1, 2)
    variance = Fraction(1, c.f) + 1 / Fraction(o21) - Fraction(1, c.f1) - Fraction(1, c.n - c.f1)
    z = mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf("0.95"))
    log2, width = logarithm(ratio, 2), z * root(variance) / mpmath.log(2)
    assert log2 is not None
    return max(log2 - width, mpmath.mpf(0)) if ratio > 1 else min(log2 + width, mpmath.mpf(0))


def difference(first: tuple[int, int], second: tuple[int, int], c: Cells) -> Exact:
    if not comparable(c) or not first[1] or not second[1]:
        return None
    return real_numbers_60(Fraction(*first) - Fraction(*second))


def percent_diff(c: Cells) -> Exact:
    if not comparable(c) or not c.f1:
        return None
    reference = Fraction(c.observed[2], c.n - c.f1)
    percentage = quotient(100 * (Fraction(c.f, c.f1) - reference), reference)
    return real_numbers_60(percentage) if isinstance(percentage, Fraction) else percentage


def yule(c: Cells, *, rooted: bool) -> Exact:
    o11, o12, o21, o22 = c.observed
    a, b = (root(x) if rooted else real_numbers_60(x) for x in (o11 * o22, o12 * o21))
    return (a - b) / (a + b) if a + b else None


def phi(c: Cells) -> Exact:
    r1, r2, c1, c2 = c.margins
    product = r1 * r2 * c1 * c2
    return real_numbers_60(c.determinant) / root(product) if product else mpmath.mpf(0)


RATIOS_EXACT_RATIOS: dict[str, Callable[[Cells], Exact]] = {
    "relative_risk": relative_risk,
    "odds_ratio": odds_ratio,
    "odds_ratio_disc": odds_ratio_disc,
    "log_ratio": lambda c: logarithm(risk_ratio(c), 2),
    "conservative_log_ratio": conservative_log_ratio,
    "liddell": lambda c: (
        real_numbers_60(Fraction(c.determinant, c.f2 * (c.n - c.f2))) if 0 < c.f2 < c.n else None
    ),
    "delta_p_21": lambda c: difference((c.f, c.f1), (c.observed[2], c.n - c.f1), c),
    "delta_p_12": lambda c: difference((c.f, c.f2), (c.observed[1], c.n - c.f2), c),
    "percent_diff": percent_diff,
    "yule_q": lambda c: yule(c, rooted=False),
    "yule_y": lambda c: yule(c, rooted=True),
    "phi": phi,
}


# Exact values of test statistics and of their p-values.

HALF = Fraction(1, 2)


def g2(c: Cells) -> mpmath.mpf:
    pairs = zip(c.observed, c.expected, strict=True)
    return 2 * sum(
        (real_numbers_60(o) * log_numbers_60(o / e) for o, e in pairs if o), mpmath.mpf(0)
    )


def simple_ll(c: Cells) -> mpmath.mpf:
    o, e = c.f, c.expected[0]
    first = real_numbers_60(o) * log_numbers_60(o / e) if o else mpmath.mpf(0)
    return 2 * (first - real_numbers_60(o - e))


def keyness_ll(c: Cells) -> mpmath.mpf:
    pairs = [(c.observed[i], c.expected[i]) for i in (0, 2)]
    g = 2 * sum((real_numbers_60(o) * log_numbers_60(o / e) for o, e in pairs if o), mpmath.mpf(0))
    return mpmath.sign(c.determinant) * g


def chi2(c: Cells, correction: Fraction = Fraction(0), *, clipped: bool = False) -> mpmath.mpf:
    r1, r2, c1, c2 = c.margins
    if not r1 * r2 * c1 * c2:
        return mpmath.mpf(0)
    a = abs(c.determinant) - correction * c.n
    a = max(a, Fraction(0)) if clipped else a
    return real_numbers_60(c.n * a * a / Fraction(r1 * r2 * c1 * c2))


def t_score(c: Cells) -> Exact:
    if not c.f:
        return -mpmath.inf if c.expected[0] else None
    return real_numbers_60(c.delta) / root(c.f)


def z_score(c: Cells, correction: Fraction = Fraction(0)) -> Exact:
    if not c.expected[0]:
        return None
    moved = c.delta - correction if c.delta >= 0 else c.delta + correction
    return real_numbers_60(moved) / root(c.expected[0])


NORMAL: dict[str, Callable[[Cells], Exact]] = {
    "t_score": t_score,
    "z_score": z_score,
    "z_score_corr": lambda c: z_score(c, HALF),
}
"""Statistics that are compared with the standard normal distribution."""

UNSIGNED: dict[str, Callable[[Cells], mpmath.mpf]] = {
    "log_likelihood": g2,
    "simple_ll": simple_ll,
    "chi_squared": chi2,
    "chi_squared_corr": lambda c: chi2(c, HALF),
    "chi_squared_clipped": lambda c: chi2(c, HALF, clipped=True),
}
"""Statistics that are compared with chi-squared, as printed, without a sign."""


def sign(name: str) -> Callable[[Cells], Exact]:
    return lambda c: mpmath.sign(c.determinant) * UNSIGNED[name](c)


STATISTICS: dict[str, Callable[[Cells], Exact]] = {
    **NORMAL,
    **{name: sign(name) for name in UNSIGNED},
}


def normal(name: str, c: Cells) -> Exact:
    """The statistic as a value of the standard normal distribution; signed by O11 - E11."""
    if name in NORMAL:
        return NORMAL[name](c)
    return mpmath.sign(c.determinant) * mpmath.sqrt(UNSIGNED[name](c))


def magnitude(name: str, c: Cells) -> Exact:
    """The absolute value of that statistic."""
    if name in UNSIGNED:
        return mpmath.sqrt(UNSIGNED[name](c))
    z = NORMAL[name](c)
    return None if z is None else abs(z)


def upper(z: mpmath.mpf) -> mpmath.mpf:
    """P(Z >= z) for z >= 0, with all its digits even in far tails."""
    return mpmath.erfc(z / mpmath.sqrt(2)) / 2


def tail(z: mpmath.mpf) -> mpmath.mpf:
    """-log10 P(Z >= z); for z below 0 by the other tail, which may be very small."""
    if z == -mpmath.inf:
        return mpmath.mpf(0)
    return -mpmath.log1p(-upper(-z)) / mpmath.log(10) if z < 0 else -mpmath.log10(upper(z))


def one_sided(name: str) -> Callable[[Cells], Exact]:
    def twin(c: Cells) -> Exact:
        z = normal(name, c)
        return None if z is None else tail(z)

    return twin


def two_sided(name: str) -> Callable[[Cells], Exact]:
    def twin(c: Cells) -> Exact:
        z = magnitude(name, c)
        if z is None or mpmath.isinf(z):
            return z
        x = z / mpmath.sqrt(2)
        if x < 1:  # p is near 1: keep 1 - p
            return -mpmath.log1p(-mpmath.erf(x)) / mpmath.log(10)
        return -mpmath.log10(mpmath.erfc(x))

    return twin


P_VALUES: dict[str, Callable[[Cells], Exact]] = {
    **{f"{name}_pv": one_sided(name) for name in STATISTICS},
    **{f"{name}_tt_pv": two_sided(name) for name in STATISTICS},
    **{f"{n}_tt": UNSIGNED[n] for n in ("chi_squared", "chi_squared_corr", "log_likelihood")},
}


__all__ = ["EXACT", "Cells", "near_independence", "signatures"]

Twin: TypeAlias = Callable[[Cells], Exact]


def mi(c: Cells) -> Exact:
    return log10(quotient(c.f, c.expected[0]))


def mi_log2(c: Cells) -> Exact:
    return logarithm(quotient(c.f, c.expected[0]), 2)


def mi_power(c: Cells, k: int) -> Exact:
    return log10(quotient(c.f**k, c.expected[0]))


def local_mi(c: Cells) -> Exact:
    if not c.expected[0]:
        return None
    return (
        real_numbers_60(c.f) * log_numbers_60(c.f / c.expected[0]) / mpmath.log(10)
        if c.f
        else mpmath.mpf(0)
    )


def average_mi(c: Cells) -> Exact:
    pairs = zip(c.observed, c.expected, strict=True)
    terms = (real_numbers_60(o) * log_numbers_60(o / e) / mpmath.log(10) for o, e in pairs if o)
    return sum(terms, mpmath.mpf(0))


def npmi(c: Cells) -> Exact:
    if not c.expected[0] or c.f == c.n:
        return None
    return (
        log_numbers_60(c.f / c.expected[0]) / -log_numbers_60(Fraction(c.f, c.n))
        if c.f
        else mpmath.mpf(-1)
    )


def ppmi(c: Cells) -> Exact:
    if not c.expected[0]:
        return None
    return max(
        mpmath.mpf(0), mpmath.log(real_numbers_60(c.f / c.expected[0]), 2) if c.f else mpmath.mpf(0)
    )


def poisson_stirling(c: Cells) -> Exact:
    if not c.expected[0]:
        return None
    if not c.f:
        return mpmath.mpf(0)
    return (
        real_numbers_60(c.f)
        * (log_numbers_60(c.f) - log_numbers_60(c.expected[0]) - 1)
        / mpmath.log(10)
    )


def log_dice(c: Cells) -> Exact:
    dice = quotient(2 * c.f, c.f1 + c.f2)
    if dice is None:
        return None
    return 14 + mpmath.log(real_numbers_60(dice), 2) if dice else -mpmath.inf


def kulczynski(c: Cells) -> Exact:
    if not c.f1 or not c.f2:
        return None
    return real_numbers_60((Fraction(c.f, c.f1) + Fraction(c.f, c.f2)) / 2)


def minimum_sensitivity(c: Cells) -> Exact:
    return real_numbers_60(min(Fraction(c.f, c.f1), Fraction(c.f, c.f2))) if c.f1 and c.f2 else None


def share(numerator: int | Fraction, denominator: int | Fraction) -> Exact:
    result = quotient(numerator, denominator)
    return result if result is None or isinstance(result, mpmath.mpf) else real_numbers_60(result)


def geometric_mean(c: Cells) -> Exact:
    return real_numbers_60(c.f) / root(c.f1 * c.f2) if c.f1 and c.f2 else None


EXACT: dict[str, Twin] = {
    **STATISTICS,
    **P_VALUES,
    **RATIOS_EXACT_RATIOS,
    "keyness_ll": keyness_ll,
    "mi": mi,
    "mi_log2": mi_log2,
    "mi2": lambda c: mi_power(c, 2),
    "mi3": lambda c: mi_power(c, 3),
    "local_mi": local_mi,
    "average_mi": average_mi,
    "npmi": npmi,
    "ppmi": ppmi,
    "poisson_stirling": poisson_stirling,
    "dice": lambda c: share(2 * c.f, c.f1 + c.f2),
    "log_dice": log_dice,
    "jaccard": lambda c: share(c.f, sum(c.observed[:3])),
    "simpson": lambda c: share(c.f, min(c.f1, c.f2)),
    "geometric_mean": geometric_mean,
    "minimum_sensitivity": minimum_sensitivity,
    "kulczynski": kulczynski,
    "kulczynski_1": lambda c: share(c.f, c.observed[1] + c.observed[2]),
    "frequency": lambda c: mpmath.mpf(c.f),
    "mi_like": lambda c: share(c.f**3, c.f1 * c.f2),
    "mikolov": lambda c: share((c.f - 5) * c.n, c.f1 * c.f2),
}
"""Name of a measure to its exact value."""

ROUNDED: dict[str, Callable[[Cells], float]] = {
    # Differences of irrational terms: exact to 1e-11 of the larger term, not of the difference.
    "poisson_stirling": lambda c: float(c.f),
    "conservative_log_ratio": lambda _: 1.0,
}
"""Size of the terms that cancel in measures that can be near 0 by cancellation."""


# Exact values of conservative estimates: densities integrated and limits found at 60 digits.

_NODES = [
    (mpmath.mpf(float(x)), mpmath.mpf(float(w)))
    for x, w in zip(*np.polynomial.legendre.leggauss(80), strict=True)
]


def _quantile(
    log_density: Callable[[mpmath.mpf], mpmath.mpf], start: mpmath.mpf, tail: mpmath.mpf
) -> mpmath.mpf:
    """Solve for the point below which a log-concave density on the real line has mass `tail`."""
    x = start
    for _ in range(60):
        here, length = log_density(x), mpmath.mpf(2) ** -50
        while here - log_density(x - length) < 50:
            length *= 2
        nodes = ((length * (1 + node) / 2, weight) for node, weight in _NODES)
        mass = length / 2 * sum(w * mpmath.exp(log_density(x - u) - here) for u, w in nodes)
        change = (here + mpmath.log(mass) - mpmath.log(tail)) * mass
        x -= change
        if abs(change) < mpmath.mpf(10) ** -18 * mass:
            return x
    raise AssertionError("no convergence")


def gamma_quantile(shape: int, tail: mpmath.mpf) -> mpmath.mpf:
    """Return ln x with P(shape, x) = tail."""
    constant = mpmath.loggamma(shape)
    start = mpmath.mpf((mpmath.log(tail) + mpmath.loggamma(shape + 1)) / shape)  # from below
    return _quantile(lambda s: shape * s - mpmath.exp(s) - constant, start, tail)


def beta_quantile(a: int, b: int, tail: mpmath.mpf) -> mpmath.mpf:
    """Return ln(x / (1-x)) with I_x(a, b) = tail."""
    constant = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)

    def log_density(s: mpmath.mpf) -> mpmath.mpf:
        return -a * mpmath.log1p(mpmath.exp(-s)) - b * mpmath.log1p(mpmath.exp(s)) - constant

    p, q = special.betaincinv(a, b, float(tail)), special.betainccinv(b, a, float(tail))
    start = mpmath.log(mpmath.mpf(float(p))) - mpmath.log(mpmath.mpf(float(q)))
    return _quantile(log_density, start, tail)


def mi_conf(c: Cells, decades: int) -> mpmath.mpf:
    ln_limit = gamma_quantile(c.f, mpmath.mpf(10) ** -decades / 2)
    return (ln_limit - log_numbers_60(c.expected[0])) / mpmath.log(10)


def _log_ratio(c: Cells, ln_odds: mpmath.mpf) -> mpmath.mpf | None:
    if c.f1 == c.n:
        return None
    return (log_numbers_60(Fraction(c.n - c.f1, c.f1)) + ln_odds) / mpmath.log(2)


def positive_lrc(c: Cells) -> mpmath.mpf | None:
    return _log_ratio(c, beta_quantile(c.f, c.f2 - c.f + 1, real_numbers_60(Fraction(5, 100))))


def lrc(c: Cells) -> mpmath.mpf | None:
    tail, others = real_numbers_60(Fraction(25, 1000)), c.f2 - c.f
    if c.delta >= 0:
        lower = _log_ratio(c, beta_quantile(c.f, others + 1, tail))
        return None if lower is None else max(lower, mpmath.mpf(0))
    upper = _log_ratio(c, -beta_quantile(others, c.f + 1, tail))
    return None if upper is None else min(upper, mpmath.mpf(0))


LIMITS: dict[str, Callable[[Cells], mpmath.mpf | None]] = {
    **{f"mi_conf_{n}": partial(mi_conf, decades=n) for n in (1, 2, 3, 5, 10, 50, 100, 1000)},
    "positive_lrc": positive_lrc,
    "lrc": lrc,
}
