"""Exact values of measures of tuples: rational arithmetic and 60-digit logarithms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import mpmath
import polars as pl
from hypothesis import strategies as st

from schemas.candidates import frequency_name, subsets
from tests.kernels.association.numbers_60 import log, real

mpmath.mp.dps = 60


@dataclass(frozen=True)
class Table:
    """A table of 2^k cells: the tuple tokens by whether they agree at each position."""

    cells: dict[tuple[bool, ...], int]

    @property
    def size(self) -> int:
        return len(next(iter(self.cells)))

    @property
    def n(self) -> int:
        return sum(self.cells.values())

    def frequency(self, positions: tuple[int, ...]) -> int:
        agree = [i - 1 for i in positions]
        return sum(o for cell, o in self.cells.items() if all(cell[i] for i in agree))

    def expected(self, cell: tuple[bool, ...]) -> Fraction:
        total = Fraction(self.n)
        for i, agrees in enumerate(cell, start=1):
            f = self.frequency((i,))
            total *= Fraction(f if agrees else self.n - f, self.n)
        return total

    @property
    def o(self) -> int:
        return self.cells[(True,) * self.size]

    @property
    def e(self) -> Fraction:
        return self.expected((True,) * self.size)

    def row(self) -> dict[str, int]:
        return {
            frequency_name(each, self.size): self.frequency(each) for each in subsets(self.size)
        }


def frame(*tables: Table) -> pl.LazyFrame:
    """Return the tables as a plan, with units of no importance."""
    size = tables[0].size
    rows = [{f"l{i}": "x" for i in range(1, size + 1)} | table.row() for table in tables]
    return pl.LazyFrame(rows)


def sign(table: Table) -> int:
    return (table.o > table.e) - (table.o < table.e)


def g2(table: Table) -> mpmath.mpf:
    cells = [(o, table.expected(cell)) for cell, o in table.cells.items() if o]
    return 2 * sum((real(o) * log(o / e) for o, e in cells), mpmath.mpf(0)) * sign(table)


def simple_ll(table: Table) -> mpmath.mpf:
    o, e = table.o, table.e
    return 2 * (real(o) * log(o / e) - real(o - e)) * sign(table)


def poisson(table: Table) -> mpmath.mpf:
    """-log10 P(X >= O), by the regularised incomplete gamma function."""
    tail = mpmath.gammainc(table.o, 0, real(table.e), regularized=True)
    if tail < 0.5:
        return -mpmath.log10(tail)
    rest = mpmath.gammainc(table.o, real(table.e), mpmath.inf, regularized=True)
    return -mpmath.log1p(-rest) / mpmath.log(10)


EXACT: dict[str, Callable[[Table], mpmath.mpf]] = {
    "frequency": lambda t: mpmath.mpf(t.o),
    "mi": lambda t: log(t.o / t.e) / mpmath.log(10),
    "t_score": lambda t: real(t.o - t.e) / mpmath.sqrt(t.o),
    "simple_ll": simple_ll,
    "log_likelihood": g2,
    "poisson_pv": poisson,
}


@st.composite
def tables(draw: st.DrawFn, least: int = 2, largest: int = 4, most: int = 10**10) -> Table:
    """Draw cells of all magnitudes, the joint one not empty."""
    size = draw(st.integers(least, largest))
    powers = st.integers(0, len(str(most)) - 1).map(lambda power: 10**power)
    counts = powers.flatmap(lambda top: st.integers(0, top))
    cells = {cell: draw(counts) for cell in product([True, False], repeat=size)}
    joint = (True,) * size
    return Table(cells | {joint: max(1, cells[joint])})
