"""Exact values of test statistics and of their p-values."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath

from tests.kernels.association.cells import Cells
from tests.kernels.association.numbers_60 import Exact, log, real, root

HALF = Fraction(1, 2)


def g2(c: Cells) -> mpmath.mpf:
    pairs = zip(c.observed, c.expected, strict=True)
    return 2 * sum((real(o) * log(o / e) for o, e in pairs if o), mpmath.mpf(0))


def simple_ll(c: Cells) -> mpmath.mpf:
    o, e = c.f, c.expected[0]
    first = real(o) * log(o / e) if o else mpmath.mpf(0)
    return 2 * (first - real(o - e))


def keyness_ll(c: Cells) -> mpmath.mpf:
    pairs = [(c.observed[i], c.expected[i]) for i in (0, 2)]
    g = 2 * sum((real(o) * log(o / e) for o, e in pairs if o), mpmath.mpf(0))
    return mpmath.sign(c.determinant) * g


def chi2(c: Cells, correction: Fraction = Fraction(0), *, clipped: bool = False) -> mpmath.mpf:
    r1, r2, c1, c2 = c.margins
    if not r1 * r2 * c1 * c2:
        return mpmath.mpf(0)
    a = abs(c.determinant) - correction * c.n
    a = max(a, Fraction(0)) if clipped else a
    return real(c.n * a * a / Fraction(r1 * r2 * c1 * c2))


def t_score(c: Cells) -> Exact:
    if not c.f:
        return -mpmath.inf if c.expected[0] else None
    return real(c.delta) / root(c.f)


def z_score(c: Cells, correction: Fraction = Fraction(0)) -> Exact:
    if not c.expected[0]:
        return None
    moved = c.delta - correction if c.delta >= 0 else c.delta + correction
    return real(moved) / root(c.expected[0])


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


def signed(name: str) -> Callable[[Cells], Exact]:
    return lambda c: mpmath.sign(c.determinant) * UNSIGNED[name](c)


STATISTICS: dict[str, Callable[[Cells], Exact]] = {
    **NORMAL,
    **{name: signed(name) for name in UNSIGNED},
}


def normal(name: str, c: Cells) -> Exact:
    """The statistic as a value of the standard normal distribution; signed by O11 - E11."""
    if name in NORMAL:
        return NORMAL[name](c)
    return mpmath.sign(c.determinant) * mpmath.sqrt(UNSIGNED[name](c))


def magnitude(name: str, c: Cells) -> Exact:
    """The distance from 0 of that value, which no sign can hide."""
    if name in UNSIGNED:
        return mpmath.sqrt(UNSIGNED[name](c))
    z = NORMAL[name](c)
    return None if z is None else abs(z)


def upper(z: mpmath.mpf) -> mpmath.mpf:
    """P(Z >= z) for z >= 0, with all its digits however far out."""
    return mpmath.erfc(z / mpmath.sqrt(2)) / 2


def tail(z: mpmath.mpf) -> mpmath.mpf:
    """-log10 P(Z >= z); below 0 by the other tail, which may be very small."""
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
