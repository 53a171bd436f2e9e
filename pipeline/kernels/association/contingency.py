"""Contingency tables of frequency signatures: the columns used by measures.

The cells come from exact integers. The determinant O11 O22 - O12 O21 = f N - f1 f2 is computed
in 128-bit integers and rounded once: in floating point it would lose up to 12 digits near
independence. The difference O11 - E11 is the determinant divided by N, and the same for all
four cells up to its sign.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product

import polars as pl

from pipeline.kernels.numeric import deviance, log_of_ratio
from schemas.candidates import cell, signature

# Contingency tables of tuples: a cell has a digit per position, 1 for the tuple's own element and 2
# for any other (o111 ... o222). O - E is an integer difference, rounded once.

_LARGE = 2**62


def cells(size: int) -> list[str]:
    """Return the names of the cells without their letter, the joint one first.

    Examples
    --------
    >>> cells(2)
    ['11', '12', '21', '22']
    """
    return ["".join(digits) for digits in product("12", repeat=size)]


def columns(size: int) -> list[str]:
    """Return the columns available to measures of tuples; all Float64.

    o, e and delta = o - e of the joint cell; the frequencies f1 ... f_12 ... N; and o, e, delta
    of every cell.

    Examples
    --------
    >>> columns(2)[:8]
    ['o', 'e', 'delta', 'f1', 'f2', 'N', 'o11', 'o12']
    """
    of_cells = [f"{letter}{name}" for letter in ("o", "e", "delta") for name in cells(size)]
    return ["o", "e", "delta", *signature(size)[1:], *of_cells]


def tuple_tables(tuples: pl.DataFrame, *, size: int, names: Collection[str]) -> pl.DataFrame:
    """Expand the frequencies of tuples to columns of their contingency tables.

    The margins of a cell are f_i where the element stands and N - f_i where it does not;
    E = N times the product of margin / N over all positions: complete independence.

    Parameters
    ----------
    tuples : DataFrame
        Int64 columns of `schemas.candidates.signature`; at least two rows.
    size : int
        k.
    names : collection of str
        Some of `columns`.

    Returns
    -------
    DataFrame
        The requested columns.

    References
    ----------
    Agresti 2013, Categorical Data Analysis, chapter 9: mutual independence.

    Examples
    --------
    >>> rows = {"f": [146, 1], "f1": [382, 2], "f2": [4047, 2], "N": [406159, 9]}
    >>> table = tuple_tables(pl.DataFrame(rows), size=2, names=["o12", "e"])
    >>> table.select(pl.col("o12", "e").round(6)).row(0)
    (236.0, 3.806278)
    """
    table = {each: tuples.get_column(each).cast(pl.Float64) for each in signature(size)[1:]}
    for name in cells(size):
        joint = name == "1" * size
        keys = [(letter, f"{letter}{name}") for letter in ("o", "e", "delta")]
        letters = [letter for letter, key in keys if {key, letter if joint else key} & set(names)]
        for letter, column in _cell_frequencies(tuples, name, letters).items():
            table |= {f"{letter}{name}": column} | ({letter: column} if joint else {})
    return pl.DataFrame({name: table[name] for name in names})


def _cell_frequencies(
    tuples: pl.DataFrame, name: str, letters: Sequence[str]
) -> dict[str, pl.Series]:
    """Return the observed and expected frequency of a cell, and their difference."""
    if not letters:
        return {}
    total = tuples.get_column("N")
    marginal = [tuples.get_column(f"f{number}") for number in range(1, len(name) + 1)]
    margins = [f if digit == "1" else total - f for f, digit in zip(marginal, name, strict=True)]
    members = [number for number, digit in enumerate(name, start=1) if digit == "1"]
    observed = tuples.select(cell(members, len(name))).to_series()
    parts = {}
    if "o" in letters:
        parts["o"] = observed.cast(pl.Float64)
    if "e" in letters:
        parts["e"] = expected_frequency(margins, total)
    if "delta" in letters:
        parts["delta"] = difference(observed, margins, total)
    return parts


def expected_frequency(margins: Sequence[pl.Series], total: pl.Series) -> pl.Series:
    """Return N times the product of margin / N, in Float64."""
    first, *others = (margin.cast(pl.Float64) for margin in margins)
    for margin in others:
        first = first * margin / total.cast(pl.Float64)
    return first


def difference(observed: pl.Series, margins: Sequence[pl.Series], total: pl.Series) -> pl.Series:
    """Return O - E from whole numbers, with all its digits.

    Parameters
    ----------
    observed, total : Series
        O and N, Int64.
    margins : sequence of Series
        The k margins of the cell, Int64.

    Returns
    -------
    Series
        Float64; 0 if O = E exactly, and otherwise with the right sign.

    Notes
    -----
    E is a number to the base N: its digits d0.d1 ... d(k-1) come from long multiplication in
    128 bits, in which no product of two counts overflows. O - E = ((O - d0) N - d1) / N and so
    on with further digits, as long as the numerator is small enough for them to matter.

    Examples
    --------
    >>> one = pl.Series([1, 1])
    >>> difference(one, [pl.Series([2, 2])] * 3, pl.Series([8, 9])).round(6).to_list()
    [0.875, 0.901235]
    """
    base = total.cast(pl.Int128)
    whole, *digits = _digits([margin.cast(pl.Int128) for margin in margins], base)
    numerator = observed.cast(pl.Int128) - whole
    scale = pl.Series([1.0]).new_from_index(0, len(base))
    for digit in digits:
        small = numerator.abs() < _LARGE
        numerator = (numerator * base - digit).zip_with(small, numerator)
        scale = (scale * base.cast(pl.Float64)).zip_with(small, scale)
    return numerator.cast(pl.Float64) / scale


def _digits(margins: Sequence[pl.Series], base: pl.Series) -> list[pl.Series]:
    """Return m1 (m2 / N) (m3 / N) ... as its whole part and its digits to the base N."""
    digits = [margins[0]]
    for margin in margins[1:]:
        carry, below = base - base, []
        for digit in reversed(digits):
            moved = digit * margin + carry
            carry, rest = moved // base, moved % base
            below.append(rest)
        digits = [carry, *reversed(below)]
    return digits


SIGNATURE = ("f", "f1", "f2", "N")
"""The frequency signature of a candidate."""

COLUMNS = (
    "o11", "o12", "o21", "o22", "e11", "e12", "e21", "e22", "r1", "r2", "c1", "c2", "N", "delta",
    "determinant",
)  # fmt: skip
"""Columns available to measures; all Float64. ``delta`` is O11 - E11."""


def _exact_columns(f: pl.Expr, f1: pl.Expr, f2: pl.Expr, n: pl.Expr) -> dict[str, pl.Expr]:
    """Return columns computed from exact integers and rounded once."""
    joint, independent = f.cast(pl.Int128), f1.cast(pl.Int128) * f2
    square = joint * f
    counts = {
        "o11": f, "o12": f1 - f, "o21": f2 - f, "o22": n - f1 - f2 + f, "r1": f1, "r2": n - f1,
        "c1": f2, "c2": n - f2, "N": n, "determinant": joint * n - independent,
        "square_excess": square * n - independent, "cube_excess": square * f * n - independent,
    }  # fmt: skip
    return {name: count.cast(pl.Float64) for name, count in counts.items()}


EXACT: Mapping[str, pl.Expr] = _exact_columns(*(pl.col(name) for name in SIGNATURE))
"""Columns computed from the signature.

``square_excess`` is N O11^2 - R1 C1 and ``cube_excess`` is N O11^3 - R1 C1, which decide where
MI2 and MI3 are near 0. They wrap around where O11^3 N is above 1e38, far from there.
"""


def _derived_columns() -> dict[str, pl.Expr]:
    N, delta = pl.col("N"), pl.col("delta")
    cells = {f"e{i}{j}": pl.col(f"r{i}") * pl.col(f"c{j}") / N for i in "12" for j in "12"}
    signs = {"11": delta, "12": -delta, "21": -delta, "22": delta}
    deviances = {f"d{ij}": deviance(f"o{ij}", f"e{ij}", each) for ij, each in signs.items()}
    margins = pl.col("r1") * pl.col("r2") * (pl.col("c1") * pl.col("c2"))
    ln_ratio = log_of_ratio("o11", "e11", "delta")
    shared = {"delta": pl.col("determinant") / N, "margins": margins, "ln_ratio": ln_ratio}
    return shared | cells | deviances


DERIVED: Mapping[str, pl.Expr] = _derived_columns()
"""Columns computed from these: expected cells and shared intermediates.

``margins`` is R1 R2 C1 C2, ``ln_ratio`` is ln(O11 / E11), and ``d11 .. d22`` are the deviances
Oij ln(Oij / Eij) + Eij - Oij.
"""


def tables(signatures: pl.LazyFrame) -> pl.LazyFrame:
    """Expand frequency signatures to observed and expected cells.

    O11 = f, O12 = f1 - f, O21 = f2 - f, O22 = N - f1 - f2 + f, E_ij = R_i C_j / N.

    Parameters
    ----------
    signatures : LazyFrame
        Int64 columns f, f1, f2, N; any others are kept.

    Returns
    -------
    LazyFrame
        The same rows with the Float64 columns of `COLUMNS` (N as Float64 replaces N).

    References
    ----------
    Evert & Krenn (2005), section 2.

    Examples
    --------
    >>> pair = pl.LazyFrame({"f": [146], "f1": [382], "f2": [4047], "N": [406159]})
    >>> tables(pair).select("o12", "o21", pl.col("e11").round(6)).collect().row(0)
    (236.0, 3901.0, 3.806278)
    """
    exact = signatures.with_columns(**{name: EXACT[name] for name in COLUMNS if name in EXACT})
    return exact.with_columns(**{name: DERIVED[name] for name in COLUMNS if name in DERIVED})
