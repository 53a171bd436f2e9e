"""Exact values of likelihoods and exact tests: factorials at 60 digits, sums in whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from math import comb
from typing import TypeAlias

import mpmath
import polars as pl
from hypothesis import strategies as st

from schemas.candidates import frequency_name, subsets
from tests.kernels.association.cells import Cells

# Numbers of 60 digits, with infinite and undefined values.

mpmath.mp.dps = 60

Exact: TypeAlias = mpmath.mpf | None
"""A value; None where it is undefined."""


def real_numbers_60(value: Fraction | int) -> mpmath.mpf:
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


def root(value: Fraction | int) -> mpmath.mpf:
    return mpmath.sqrt(real_numbers_60(value))


def log_numbers_60(value: Fraction | int) -> mpmath.mpf:
    return mpmath.log(real_numbers_60(value))


def quotient(x: Fraction | int, y: Fraction | int) -> Fraction | mpmath.mpf | None:
    """x / y: infinite where only y is 0, undefined where both are."""
    if y:
        return Fraction(x) / Fraction(y)
    return mpmath.sign(x) * mpmath.inf if x else None


def logarithm(value: Fraction | mpmath.mpf | None, base: int) -> Exact:
    if value is None or isinstance(value, mpmath.mpf):
        return value
    return mpmath.log(real_numbers_60(value)) / mpmath.log(base) if value else -mpmath.inf


def log10(value: Fraction | mpmath.mpf | None) -> Exact:
    return logarithm(value, 10)


Ratio = Callable[[int], tuple[int, int]]
_ONE = 1 << 240  # sums are whole multiples of 2^-240


def log_factorial(n: int) -> mpmath.mpf:
    return mpmath.loggamma(n + 1)


def log_choose(n: int, k: int) -> mpmath.mpf:
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k)


@dataclass(frozen=True)
class Law:
    """ln P(X = k), P(X = k+1) / P(X = k) as a fraction, mean, lowest and highest k."""

    log_pmf: Callable[[int], mpmath.mpf]
    ratio: Ratio
    mean: Fraction
    low: int
    high: int | None

    def tail(self, k: int, step: int) -> mpmath.mpf:
        """P(X >= k) for step 1 above the mean, P(X <= k) for step -1 below it."""
        if k < self.low or (self.high is not None and k > self.high):
            return mpmath.mpf(0)
        return mpmath.exp(self.log_pmf(k)) * self.relative(k, step, None)

    def relative(self, k: int, step: int, most: int | None) -> mpmath.mpf:
        """P(X = k) + P(X = k + step) + ... of up to `most` values, over P(X = k)."""
        term = total = _ONE
        while term and term << 200 > total and (most is None or most > 1):
            up, down = self.ratio(k) if step > 0 else self.ratio(k - 1)[::-1]
            if not down or not up or (step < 0 and k <= self.low):
                break
            term = term * up // down
            total, k, most = total + term, k + step, None if most is None else most - 1
        return mpmath.mpf(total) / _ONE

    def upper(self, k: int) -> mpmath.mpf:
        """-log10 P(X >= k)."""
        if k > self.mean:
            return decimal(-mpmath.log(self.tail(k, 1)))
        return decimal(-mpmath.log1p(-self.tail(k - 1, -1)))

    def lower(self, k: int) -> mpmath.mpf:
        """-log10 P(X <= k)."""
        if k < self.mean:
            return decimal(-mpmath.log(self.tail(k, -1)))
        return decimal(-mpmath.log1p(-self.tail(k + 1, 1)))

    def two_sided(self, k: int) -> mpmath.mpf:
        """-log10 of the sum over all values at most 1 + 1e-7 times as probable as k."""
        limit = self.log_pmf(k) + mpmath.log1p(mpmath.mpf(10) ** -7)
        mode = self.mode()
        if self.log_pmf(mode) <= limit:
            return mpmath.mpf(0)
        assert self.high is not None
        upper = _edge(lambda j: self.log_pmf(mode + j) <= limit, self.high - mode)
        lower = _edge(lambda j: self.log_pmf(mode - j) <= limit, mode - self.low)
        p = self.tail(mode + upper, 1) + self.tail(mode - lower, -1)
        if p < 0.5:
            return decimal(-mpmath.log(p))
        middle = self.relative(mode, 1, upper) + self.relative(mode, -1, lower) - 1
        return decimal(-mpmath.log1p(-middle * mpmath.exp(self.log_pmf(mode))))

    def mode(self) -> int:
        k = int(self.mean)
        while self.ratio(k)[0] > self.ratio(k)[1]:
            k += 1
        while k > self.low and self.ratio(k - 1)[0] < self.ratio(k - 1)[1]:
            k -= 1
        return k


def _edge(outside: Callable[[int], bool], last: int) -> int:
    """The smallest distance from 1 on that is outside; `last` + 1 if there is none."""
    inner, outer = 0, last + 1
    while outer - inner > 1:
        middle = (inner + outer) // 2
        inner, outer = (inner, middle) if outside(middle) else (middle, outer)
    return outer


def decimal(natural: mpmath.mpf) -> mpmath.mpf:
    return natural / mpmath.log(10)


def hypergeometric(c: Cells) -> Law:
    f1, f2, n = c.f1, c.f2, c.n
    return Law(
        lambda k: log_choose(f2, k) + log_choose(n - f2, f1 - k) - log_choose(n, f1),
        lambda k: ((f1 - k) * (f2 - k), (k + 1) * (n - f1 - f2 + k + 1)),
        Fraction(f1 * f2, n), max(0, f1 + f2 - n), min(f1, f2),
    )  # fmt: skip


def binomial(c: Cells) -> Law:
    hit, all_, n = c.f1 * c.f2, c.n * c.n, c.n
    p, q = real_numbers_60(Fraction(hit, all_)), real_numbers_60(Fraction(all_ - hit, all_))

    def log_pmf(k: int) -> mpmath.mpf:
        success = k * mpmath.log(p) if k else 0
        return log_choose(n, k) + success + ((n - k) * mpmath.log(q) if k < n else 0)

    return Law(
        log_pmf, lambda k: ((n - k) * hit, (k + 1) * (all_ - hit)),
        Fraction(hit, n), n if hit == all_ else 0, n if hit else 0,
    )  # fmt: skip


def poisson(c: Cells, times: Fraction = Fraction(1)) -> Law:
    mean = times * c.f1 * c.f2 / c.n
    hit, total = mean.numerator, mean.denominator

    def log_pmf(k: int) -> mpmath.mpf:
        return (
            (k * mpmath.log(real_numbers_60(mean)) if k else 0)
            - real_numbers_60(mean)
            - log_factorial(k)
        )

    return Law(log_pmf, lambda k: (hit, total * (k + 1)), mean, 0, None if hit else 0)


def _poisson_mu(c: Cells, *, times: Fraction) -> mpmath.mpf:
    return poisson(c, times).upper(c.f)


def multinomial(c: Cells) -> mpmath.mpf:
    value = log_factorial(c.n) - sum(map(log_factorial, c.observed))
    pairs = zip(c.observed, c.expected, strict=True)
    return decimal(-value - sum(o * mpmath.log(real_numbers_60(e / c.n)) for o, e in pairs if o))


def by_enumeration(c: Cells, is_counted: Callable[[int, int], bool]) -> Fraction:
    """Add the hypergeometric probabilities of all values k that `is_counted` accepts."""
    low, high = max(0, c.f1 + c.f2 - c.n), min(c.f1, c.f2)
    ways = {k: comb(c.f2, k) * comb(c.n - c.f2, c.f1 - k) for k in range(low, high + 1)}
    return Fraction(sum(w for k, w in ways.items() if is_counted(w, k)), comb(c.n, c.f1))


TAILS: dict[str, Callable[[Cells], mpmath.mpf]] = {
    "multinomial_likelihood_pv": multinomial,
    "binomial_likelihood_pv": lambda c: decimal(-binomial(c).log_pmf(c.f)),
    "poisson_likelihood_pv": lambda c: decimal(-poisson(c).log_pmf(c.f)),
    "hypergeometric_likelihood_pv": lambda c: decimal(-hypergeometric(c).log_pmf(c.f)),
    "binomial_pv": lambda c: binomial(c).upper(c.f),
    "poisson_pv": lambda c: poisson(c).upper(c.f),
    "fisher_pv": lambda c: hypergeometric(c).upper(c.f),
    "fisher_left_pv": lambda c: hypergeometric(c).lower(c.f),
    "fisher_two_sided_pv": lambda c: hypergeometric(c).two_sided(c.f),
    **{f"poisson_mu_{n}": partial(_poisson_mu, times=Fraction(n)) for n in (2, 3, 5, 10, 50, 100)},
    **{f"poisson_mu_{n}": partial(_poisson_mu, times=Fraction(n)) for n in (1000, 10_000)},
    "poisson_mu_1_5": partial(_poisson_mu, times=Fraction(3, 2)),
    "poisson_mu_0_125": partial(_poisson_mu, times=Fraction(1, 8)),
}


# Exact values of measures of tuples: rational arithmetic and 60-digit logarithms.


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

    def expected_frequency(self, cell: tuple[bool, ...]) -> Fraction:
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
        return self.expected_frequency((True,) * self.size)

    def row(self) -> dict[str, int]:
        return {
            frequency_name(each, self.size): self.frequency(each) for each in subsets(self.size)
        }


def frame(*tables: Table) -> pl.LazyFrame:
    """Return the tables as a plan, with arbitrary units."""
    size = tables[0].size
    rows = [{f"l{i}": "x" for i in range(1, size + 1)} | table.row() for table in tables]
    return pl.LazyFrame(rows)


def sign(table: Table) -> int:
    return (table.o > table.e) - (table.o < table.e)


def g2(table: Table) -> mpmath.mpf:
    cells = [(o, table.expected_frequency(cell)) for cell, o in table.cells.items() if o]
    return (
        2
        * sum((real_numbers_60(o) * log_numbers_60(o / e) for o, e in cells), mpmath.mpf(0))
        * sign(table)
    )


def simple_ll(table: Table) -> mpmath.mpf:
    o, e = table.o, table.e
    return 2 * (real_numbers_60(o) * log_numbers_60(o / e) - real_numbers_60(o - e)) * sign(table)


def poisson_exact_tuples(table: Table) -> mpmath.mpf:
    """-log10 P(X >= O), by the regularised incomplete gamma function."""
    tail = mpmath.gammainc(table.o, 0, real_numbers_60(table.e), regularized=True)
    if tail < 0.5:
        return -mpmath.log10(tail)
    rest = mpmath.gammainc(table.o, real_numbers_60(table.e), mpmath.inf, regularized=True)
    return -mpmath.log1p(-rest) / mpmath.log(10)


EXACT: dict[str, Callable[[Table], mpmath.mpf]] = {
    "frequency": lambda t: mpmath.mpf(t.o),
    "mi": lambda t: log_numbers_60(t.o / t.e) / mpmath.log(10),
    "t_score": lambda t: real_numbers_60(t.o - t.e) / mpmath.sqrt(t.o),
    "simple_ll": simple_ll,
    "log_likelihood": g2,
    "poisson_pv": poisson_exact_tuples,
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
