"""Contingency tables with exact cells, and strategies of Hypothesis that draw them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import mpmath
import polars as pl
from hypothesis import strategies as st

mpmath.mp.dps = 60

SCHEMA = dict.fromkeys(("f", "f1", "f2", "N"), pl.Int64)


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
    def margins(self) -> tuple[int, int, int, int]:
        """R1, R2, C1, C2."""
        return self.f1, self.n - self.f1, self.f2, self.n - self.f2

    @property
    def expected(self) -> tuple[Fraction, ...]:
        r1, r2, c1, c2 = self.margins
        return tuple(Fraction(r * c, self.n) for r in (r1, r2) for c in (c1, c2))

    @property
    def delta(self) -> Fraction:
        return self.f - self.expected[0]

    @property
    def determinant(self) -> int:
        return self.f * self.n - self.f1 * self.f2

    @property
    def swapped(self) -> Cells:
        return Cells(self.f, self.f2, self.f1, self.n)


def frame(*cells: Cells) -> pl.LazyFrame:
    rows = [(c.f, c.f1, c.f2, c.n) for c in cells]
    return pl.LazyFrame(rows, schema=SCHEMA, orient="row")


@st.composite
def signatures(draw: st.DrawFn, most: int = 10**12, least: int = 1) -> Cells:
    """Draw consistent marginals over all magnitudes, f from `least` on."""
    n = 10 ** draw(st.integers(1, len(str(most)) - 1)) - draw(st.integers(0, 8))
    f1 = draw(st.integers(1, n))
    f2 = draw(st.integers(1, n))
    f = draw(st.integers(max(least, f1 + f2 - n), min(f1, f2)))
    return Cells(f, f1, f2, n)


@st.composite
def rare(draw: st.DrawFn) -> Cells:
    """Draw tables as in corpora: a large N, small marginals, few joint tokens."""
    n = draw(st.integers(10**3, 10**12))
    f1, f2 = (min(n, draw(st.integers(1, 10 ** draw(st.integers(0, 7))))) for _ in "12")
    f = draw(st.integers(max(1, f1 + f2 - n), min(f1, f2)))
    return Cells(f, f1, f2, n)


@st.composite
def near_independence(draw: st.DrawFn) -> Cells:
    """Draw tables whose O11 is a whole number or two from E11, where textbook forms cancel."""
    n = draw(st.integers(10, 10**12))
    f1, f2 = draw(st.integers(1, n)), draw(st.integers(1, n))
    nearest = round(Fraction(f1 * f2, n)) + draw(st.integers(-2, 2))
    return Cells(max(1, f1 + f2 - n, min(f1, f2, nearest)), f1, f2, n)


@st.composite
def independent(draw: st.DrawFn, most: int = 12) -> Cells:
    """Draw small tables with O11 = E11, margins full or empty among them."""
    a, b = draw(st.integers(1, most)), draw(st.integers(1, most))
    rows, columns = draw(st.integers(0, b)), draw(st.integers(0, a))
    return Cells(rows * columns, a * rows, b * columns, a * b)


@st.composite
def small(draw: st.DrawFn, most: int = 60) -> Cells:
    """Draw any consistent table of at most so many tokens."""
    n = draw(st.integers(1, most))
    f1, f2 = draw(st.integers(0, n)), draw(st.integers(0, n))
    return Cells(draw(st.integers(max(0, f1 + f2 - n), min(f1, f2))), f1, f2, n)


@st.composite
def near_powers(draw: st.DrawFn) -> Cells:
    """Draw tables with E11 near O11^2 or O11^3, where MI2 and MI3 are near 0."""
    power = draw(st.sampled_from([2, 3]))
    f = draw(st.integers(1, 10**3))
    n = draw(st.integers(f**power, 10**10))
    f1 = draw(st.integers(f, n))
    f2 = f**power * n // f1 + draw(st.integers(-1, 1))
    f2 = max(f, min(n, f2))
    return Cells(max(f, f1 + f2 - n), f1, f2, n)


tables = st.one_of(signatures(), rare(), near_independence(), near_powers())
"""All kinds."""
