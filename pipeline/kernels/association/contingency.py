"""Contingency tables of frequency signatures: the columns that measures are written in.

The cells come from exact integers. The determinant O11 O22 - O12 O21 = f N - f1 f2 is computed
in 128-bit integers and rounded once: in floating point it would lose up to 12 digits near
independence. The difference O11 - E11 is the determinant divided by N, and the same for all
four cells up to its sign.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from pipeline.kernels.arithmetic import deviance, log_ratio

SIGNATURE = ("f", "f1", "f2", "N")
"""The frequency signature of a candidate."""

COLUMNS = (
    "o11", "o12", "o21", "o22", "e11", "e12", "e21", "e22", "r1", "r2", "c1", "c2", "N", "delta",
    "determinant",
)  # fmt: skip
"""What a measure may use; all Float64. ``delta`` is O11 - E11."""


def _exact(f: pl.Expr, f1: pl.Expr, f2: pl.Expr, n: pl.Expr) -> dict[str, pl.Expr]:
    """Return what is computed from the whole numbers themselves and then rounded once."""
    joint, independent = f.cast(pl.Int128), f1.cast(pl.Int128) * f2
    square = joint * f
    counts = {
        "o11": f, "o12": f1 - f, "o21": f2 - f, "o22": n - f1 - f2 + f, "r1": f1, "r2": n - f1,
        "c1": f2, "c2": n - f2, "N": n, "determinant": joint * n - independent,
        "square_excess": square * n - independent, "cube_excess": square * f * n - independent,
    }  # fmt: skip
    return {name: count.cast(pl.Float64) for name, count in counts.items()}


EXACT: Mapping[str, pl.Expr] = _exact(*(pl.col(name) for name in SIGNATURE))
"""Columns that come from the signature.

``square_excess`` is N O11^2 - R1 C1 and ``cube_excess`` is N O11^3 - R1 C1, which decide where
MI2 and MI3 are near 0. They wrap around where O11^3 N is above 1e38, far from there.
"""


def _derived() -> dict[str, pl.Expr]:
    N, delta = pl.col("N"), pl.col("delta")
    cells = {f"e{i}{j}": pl.col(f"r{i}") * pl.col(f"c{j}") / N for i in "12" for j in "12"}
    signs = {"11": delta, "12": -delta, "21": -delta, "22": delta}
    deviances = {f"d{ij}": deviance(f"o{ij}", f"e{ij}", each) for ij, each in signs.items()}
    margins = pl.col("r1") * pl.col("r2") * (pl.col("c1") * pl.col("c2"))
    information = log_ratio("o11", "e11", "delta")
    shared = {"delta": pl.col("determinant") / N, "margins": margins, "ln_ratio": information}
    return shared | cells | deviances


DERIVED: Mapping[str, pl.Expr] = _derived()
"""Columns that come from those: expected cells, what several measures share.

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
    Evert & Krenn, section 2.

    Examples
    --------
    >>> pair = pl.LazyFrame({"f": [146], "f1": [382], "f2": [4047], "N": [406159]})
    >>> tables(pair).select("o12", "o21", pl.col("e11").round(6)).collect().row(0)
    (236.0, 3901.0, 3.806278)
    """
    exact = signatures.with_columns(**{name: EXACT[name] for name in COLUMNS if name in EXACT})
    return exact.with_columns(**{name: DERIVED[name] for name in COLUMNS if name in DERIVED})
