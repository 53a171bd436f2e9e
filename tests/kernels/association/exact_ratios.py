"""Exact values of ratios, differences and coefficients of the 2 x 2 table."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath

from tests.kernels.association.cells import Cells
from tests.kernels.association.numbers_60 import Exact, log10, logarithm, quotient, real, root


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
    return real(Fraction(*first) - Fraction(*second))


def percent_diff(c: Cells) -> Exact:
    if not comparable(c) or not c.f1:
        return None
    reference = Fraction(c.observed[2], c.n - c.f1)
    found = quotient(100 * (Fraction(c.f, c.f1) - reference), reference)
    return real(found) if isinstance(found, Fraction) else found


def yule(c: Cells, *, rooted: bool) -> Exact:
    o11, o12, o21, o22 = c.observed
    a, b = (root(x) if rooted else real(x) for x in (o11 * o22, o12 * o21))
    return (a - b) / (a + b) if a + b else None


def phi(c: Cells) -> Exact:
    r1, r2, c1, c2 = c.margins
    product = r1 * r2 * c1 * c2
    return real(c.determinant) / root(product) if product else mpmath.mpf(0)


RATIOS: dict[str, Callable[[Cells], Exact]] = {
    "relative_risk": relative_risk,
    "odds_ratio": odds_ratio,
    "odds_ratio_disc": odds_ratio_disc,
    "log_ratio": lambda c: logarithm(risk_ratio(c), 2),
    "conservative_log_ratio": conservative_log_ratio,
    "liddell": lambda c: (
        real(Fraction(c.determinant, c.f2 * (c.n - c.f2))) if 0 < c.f2 < c.n else None
    ),
    "delta_p_21": lambda c: difference((c.f, c.f1), (c.observed[2], c.n - c.f1), c),
    "delta_p_12": lambda c: difference((c.f, c.f2), (c.observed[1], c.n - c.f2), c),
    "percent_diff": percent_diff,
    "yule_q": lambda c: yule(c, rooted=False),
    "yule_y": lambda c: yule(c, rooted=True),
    "phi": phi,
}
