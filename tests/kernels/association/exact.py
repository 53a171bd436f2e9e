"""Exact values of measures: rational arithmetic and 60-digit functions.

A twin gives None where the measure is undefined. It is written from the definition, never from
the expression that it checks.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import mpmath

from tests.kernels.association import exact_statistics
from tests.kernels.association.cells import Cells, near_independence, signatures
from tests.kernels.association.exact_ratios import RATIOS
from tests.kernels.association.numbers_60 import Exact, log, log10, logarithm, quotient, real, root

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
    return real(c.f) * log(c.f / c.expected[0]) / mpmath.log(10) if c.f else mpmath.mpf(0)


def average_mi(c: Cells) -> Exact:
    pairs = zip(c.observed, c.expected, strict=True)
    terms = (real(o) * log(o / e) / mpmath.log(10) for o, e in pairs if o)
    return sum(terms, mpmath.mpf(0))


def npmi(c: Cells) -> Exact:
    if not c.expected[0] or c.f == c.n:
        return None
    return log(c.f / c.expected[0]) / -log(Fraction(c.f, c.n)) if c.f else mpmath.mpf(-1)


def ppmi(c: Cells) -> Exact:
    if not c.expected[0]:
        return None
    return max(mpmath.mpf(0), mpmath.log(real(c.f / c.expected[0]), 2) if c.f else mpmath.mpf(0))


def poisson_stirling(c: Cells) -> Exact:
    if not c.expected[0]:
        return None
    if not c.f:
        return mpmath.mpf(0)
    return real(c.f) * (log(c.f) - log(c.expected[0]) - 1) / mpmath.log(10)


def log_dice(c: Cells) -> Exact:
    dice = quotient(2 * c.f, c.f1 + c.f2)
    if dice is None:
        return None
    return 14 + mpmath.log(real(dice), 2) if dice else -mpmath.inf


def kulczynski(c: Cells) -> Exact:
    if not c.f1 or not c.f2:
        return None
    return real((Fraction(c.f, c.f1) + Fraction(c.f, c.f2)) / 2)


def minimum_sensitivity(c: Cells) -> Exact:
    return real(min(Fraction(c.f, c.f1), Fraction(c.f, c.f2))) if c.f1 and c.f2 else None


def share(numerator: int | Fraction, denominator: int | Fraction) -> Exact:
    found = quotient(numerator, denominator)
    return found if found is None or isinstance(found, mpmath.mpf) else real(found)


def geometric_mean(c: Cells) -> Exact:
    return real(c.f) / root(c.f1 * c.f2) if c.f1 and c.f2 else None


EXACT: dict[str, Twin] = {
    **exact_statistics.STATISTICS,
    **exact_statistics.P_VALUES,
    **RATIOS,
    "keyness_ll": exact_statistics.keyness_ll,
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
    # Differences of irrational terms: exact to 1e-11 of the larger term, not of what is left.
    "poisson_stirling": lambda c: float(c.f),
    "conservative_log_ratio": lambda _: 1.0,
}
"""Size of what cancels in the measures that can come out near 0 without a reason."""
