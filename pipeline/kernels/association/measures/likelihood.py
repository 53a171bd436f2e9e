"""Likelihoods of the observed table under independence, as negative decimal logarithms."""

from __future__ import annotations

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.association.tails.distribution import Distribution, log_pmf
from pipeline.kernels.association.tails.one_sided import likelihood
from pipeline.kernels.association.tails.rows import PER_DECADE, Columns, by_rows, surprise
from pipeline.kernels.association.tails.tables import binomial, hypergeometric, poisson
from pipeline.kernels.measure import measure

CELLS = ("11", "22", "12", "21")
REFERENCE = "Evert 2004, section 3.1.2"


@measure(
    family="likelihood", formula="-log10 N! / (O11! O12! O21! O22!) prod (Eij/N)^Oij",
    range="[0, inf)", reference=REFERENCE, ucs="multinomial.likelihood.pv",
    note="0 where two margins are empty",
)  # fmt: skip
def multinomial_likelihood_pv() -> pl.Expr:
    """-log10 of the multinomial probability of the four cells; 0 where two margins are empty."""
    cells = tuple(f"{kind}{ij}" for kind in "oe" for ij in CELLS)
    return by_rows(_multinomial, (*cells, "delta", "N"))


def _multinomial(columns: Columns) -> FloatArray:
    """Return -log10 of N! / prod Oij! prod (Eij/N)^Oij = w(N) - sum w(Oij) - sum bd0(Oij, Eij)."""
    o11, o22, o12, o21 = (columns[f"o{ij}"] for ij in CELLS)
    means, total = np.stack([columns[f"e{ij}"] for ij in CELLS]), columns["N"][None]
    none = np.empty((0, len(o11)))
    x = Distribution(
        np.stack([o11, o22]), np.stack([o12, o21]), means, columns["delta"],
        np.ones(len(o11)), total, none,
    )  # fmt: skip
    return np.where(total[0] > 0, -log_pmf(x) * PER_DECADE, np.nan)


@measure(
    family="likelihood", formula="-log10 C(N,O11) (E11/N)^O11 (1-E11/N)^(N-O11)",
    range="[0, inf)", reference=REFERENCE, ucs="binomial.likelihood.pv",
    note="0 where E11 = 0 or E11 = N",
)  # fmt: skip
def binomial_likelihood_pv() -> pl.Expr:
    """-log10 P(X = O11) with X ~ Bin(N, E11/N); 0 where E11 is 0 or N."""
    return surprise(likelihood, binomial)


@measure(
    family="likelihood", formula="-log10 exp(-E11) E11^O11 / O11!",
    range="[0, inf)", reference="Quasthoff & Wolff 2002", ucs="Poisson.likelihood.pv",
    aliases=("Poisson.likelihood.Perl.pv",),
    note="0 where E11 = 0",
)  # fmt: skip
def poisson_likelihood_pv() -> pl.Expr:
    """-log10 P(X = O11) with X ~ Poisson(E11); 0 where E11 is 0."""
    return surprise(likelihood, poisson)


@measure(
    family="likelihood", formula="-log10 C(C1,O11) C(C2,R1-O11) / C(N,R1)",
    range="[0, inf)", reference=REFERENCE, ucs="hypergeometric.likelihood.pv",
    note="0 where a margin is empty: one table only is possible",
)  # fmt: skip
def hypergeometric_likelihood_pv() -> pl.Expr:
    """-log10 P(X = O11) with both margins fixed; 0 where they allow one table only."""
    return surprise(likelihood, hypergeometric)
