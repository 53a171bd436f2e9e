"""Exact values of conservative estimates: densities integrated and limits found at 60 digits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
from scipy import special

from tests.kernels.association.cells import Cells
from tests.kernels.association.numbers_60 import log, real

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
    return (ln_limit - log(c.expected[0])) / mpmath.log(10)


def _log_ratio(c: Cells, ln_odds: mpmath.mpf) -> mpmath.mpf | None:
    if c.f1 == c.n:
        return None
    return (log(Fraction(c.n - c.f1, c.f1)) + ln_odds) / mpmath.log(2)


def positive_lrc(c: Cells) -> mpmath.mpf | None:
    return _log_ratio(c, beta_quantile(c.f, c.f2 - c.f + 1, real(Fraction(5, 100))))


def lrc(c: Cells) -> mpmath.mpf | None:
    tail, others = real(Fraction(25, 1000)), c.f2 - c.f
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
