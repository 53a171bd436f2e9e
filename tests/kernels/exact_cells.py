"""A contingency table with exact cells, and exact numbers at 60 digits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import mpmath

mpmath.mp.dps = 60


@dataclass(frozen=True)
class Cells:
    """A contingency table with exact cells."""

    f: int
    f1: int
    f2: int
    n: int

    @property
    def observed(self) -> tuple[int, int, int, int]:
        f, f1, f2, n = self.f, self.f1, self.f2, self.n
        return f, f1 - f, f2 - f, n - f1 - f2 + f

    @property
    def expected(self) -> tuple[Fraction, ...]:
        f1, f2, n = self.f1, self.f2, self.n
        return tuple(Fraction(r * c, n) for r in (f1, n - f1) for c in (f2, n - f2))

    @property
    def delta(self) -> Fraction:
        return self.f - self.expected[0]


def real(value: Fraction | int) -> mpmath.mpf:
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


def log(value: Fraction | int) -> mpmath.mpf:
    return mpmath.log(real(value))
