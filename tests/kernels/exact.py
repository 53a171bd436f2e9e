"""Exact values of measures: rational arithmetic and 60-digit logarithms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
from exact_cells import Cells, log, real
from exact_limits import LIMITS
from exact_tails import TAILS
from hypothesis import strategies as st


def g2(cells: Cells) -> mpmath.mpf:
    pairs = zip(cells.observed, cells.expected, strict=True)
    total = sum((real(o) * log(o / e) for o, e in pairs if o), mpmath.mpf(0))
    return 2 * total * mpmath.sign(real(cells.delta))


def simple_ll(cells: Cells) -> mpmath.mpf:
    o, e = cells.f, cells.expected[0]
    first = real(o) * log(o / e) if o else mpmath.mpf(0)
    return 2 * (first - real(o - e)) * mpmath.sign(real(cells.delta))


def chi2(cells: Cells, correction: Fraction = Fraction(0)) -> mpmath.mpf:
    r1, r2, c1, c2 = cells.f1, cells.n - cells.f1, cells.f2, cells.n - cells.f2
    if 0 in (r1, r2, c1, c2):
        return mpmath.mpf(0)
    a = abs(cells.delta) * cells.n - correction * cells.n
    return real(cells.n * a * a / (r1 * r2 * c1 * c2)) * mpmath.sign(real(cells.delta))


EXACT: dict[str, Callable[[Cells], mpmath.mpf | None]] = {
    "t_score": lambda c: real(c.delta) / mpmath.sqrt(c.f),
    "z_score": lambda c: real(c.delta) / mpmath.sqrt(real(c.expected[0])),
    "mi": lambda c: log(c.f / c.expected[0]) / mpmath.log(10),
    "dice": lambda c: real(Fraction(2 * c.f, c.f1 + c.f2)),
    "frequency": lambda c: mpmath.mpf(c.f),
    "log_likelihood": g2,
    "simple_ll": simple_ll,
    "chi_squared": chi2,
    "chi_squared_corr": lambda c: chi2(c, Fraction(1, 2)),
}
EXACT |= TAILS | LIMITS


@st.composite
def signatures(draw: st.DrawFn, most: int = 10**12) -> Cells:
    """Draw consistent marginals with f >= 1 over all magnitudes."""
    n = 10 ** draw(st.integers(1, len(str(most)) - 1)) - draw(st.integers(0, 8))
    f1 = draw(st.integers(1, n))
    f2 = draw(st.integers(1, n))
    f = draw(st.integers(max(1, f1 + f2 - n), min(f1, f2)))
    return Cells(f, f1, f2, n)
