"""Numbers of 60 digits that know what is infinite and what is undefined."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import mpmath

mpmath.mp.dps = 60

Exact: TypeAlias = mpmath.mpf | None
"""A value; None where it is undefined."""


def real(value: Fraction | int) -> mpmath.mpf:
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


def root(value: Fraction | int) -> mpmath.mpf:
    return mpmath.sqrt(real(value))


def log(value: Fraction | int) -> mpmath.mpf:
    return mpmath.log(real(value))


def quotient(x: Fraction | int, y: Fraction | int) -> Fraction | mpmath.mpf | None:
    """x / y: infinite where only y is 0, undefined where both are."""
    if y:
        return Fraction(x) / Fraction(y)
    return mpmath.sign(x) * mpmath.inf if x else None


def logarithm(value: Fraction | mpmath.mpf | None, base: int) -> Exact:
    if value is None or isinstance(value, mpmath.mpf):
        return value
    return mpmath.log(real(value)) / mpmath.log(base) if value else -mpmath.inf


def log10(value: Fraction | mpmath.mpf | None) -> Exact:
    return logarithm(value, 10)
