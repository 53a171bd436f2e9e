"""Heuristic measures."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.measure import measure

O11, R1, C1 = pl.col("o11"), pl.col("r1"), pl.col("c1")


@measure(
    family="heuristic", formula="O11", range="[0, N]", reference="Evert & Krenn, section 2",
    ucs="frequency", aliases=("freq", "f"),
)  # fmt: skip
def frequency() -> pl.Expr:
    """Return the joint frequency O11 itself."""
    return O11


@measure(
    family="heuristic", formula="O11^3 / (R1 C1)", range="[0, N]", reference="Daille 1994",
    note="null where E11 = 0",
)  # fmt: skip
def mi_like() -> pl.Expr:
    """MI3 without the logarithm and without N: O11^3 / (R1 C1)."""
    return O11 * O11 * O11 / (R1 * C1)


@measure(
    family="heuristic", formula="(O11 - 5) N / (R1 C1)", range="(-inf, N]",
    reference="Mikolov et al. 2013, equation 6", aliases=("Mikolov", "phrase_score"),
    note="-inf where E11 = 0",
)  # fmt: skip
def mikolov(*, discount: float = 5.0) -> pl.Expr:
    """Phrase score of word2phrase, times N: the ratio O11 / E11 discounted for rare pairs.

    Parameters
    ----------
    discount : float
        What is taken off O11, delta in the paper; word2phrase takes 5 if nothing is said.
    """
    return (O11 - discount) * pl.col("N") / (R1 * C1)


@measure(
    family="heuristic", formula="uniform random number from (l1, l2) and the seed",
    range="[0, 1)", reference="Evert 2004, random", ucs="random",
)  # fmt: skip
def random() -> pl.Expr:
    """Random number, fixed by the candidate and the seed: what a measure must be better than."""
    return pl.col("random_number")
