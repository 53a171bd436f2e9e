"""Contingency tables of frequency signatures: the columns that measures are written in.

The cells come from exact integers. The difference O11 - E11 = (f N - f1 f2) / N is the same
for all four cells up to its sign; it is computed in 128-bit integers and rounded once, since
in floating point it would lose up to 12 digits near independence.
"""

from __future__ import annotations

import polars as pl

SIGNATURE = ("f", "f1", "f2", "N")
"""The frequency signature of a candidate."""

COLUMNS = (
    "o11", "o12", "o21", "o22", "e11", "e12", "e21", "e22", "r1", "r2", "c1", "c2", "N", "delta",
)  # fmt: skip
"""What a measure may use; all Float64. ``delta`` is O11 - E11."""


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
    f, f1, f2, n = (pl.col(name) for name in SIGNATURE)
    counts = {
        "o11": f, "o12": f1 - f, "o21": f2 - f, "o22": n - f1 - f2 + f,
        "r1": f1, "r2": n - f1, "c1": f2, "c2": n - f2,
    }  # fmt: skip
    wide = {name: count.cast(pl.Float64) for name, count in counts.items()}
    exact = f.cast(pl.Int128) * n - f1.cast(pl.Int128) * f2
    delta = exact.cast(pl.Float64) / n.cast(pl.Float64)
    expanded = signatures.with_columns(**wide, delta=delta, N=n.cast(pl.Float64))
    return expanded.with_columns(
        (pl.col(f"r{i}") * pl.col(f"c{j}") / pl.col("N")).alias(f"e{i}{j}")
        for i in (1, 2)
        for j in (1, 2)
    )
