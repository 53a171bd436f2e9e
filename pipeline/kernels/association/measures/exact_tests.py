"""Exact tests of independence: p-values as negative decimal logarithms.

All are finite and keep their order down to p = 10^-400000 and beyond; where p is near 1 the
score is as accurate, relative to its size, as where p is small.
"""

from __future__ import annotations

from functools import partial

import polars as pl

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.association.tails.distribution import Distribution
from pipeline.kernels.association.tails.one_sided import upper_tail
from pipeline.kernels.association.tails.rows import surprise
from pipeline.kernels.association.tails.tables import binomial, hypergeometric, poisson
from pipeline.kernels.association.tails.two_sided import two_sided
from pipeline.kernels.measure import measure, measure_family
from pipeline.templates import Number, Numbers


@measure(
    family="exact test", formula="-log10 P(X >= O11), X ~ hypergeometric(N, R1, C1)",
    range="[0, inf)", reference="Fisher 1934; Pedersen 1996", sided="one-sided",
    ucs="Fisher.pv", aliases=("fisher", "Fisher", "fisher_exact"),
    note="0 where a margin is empty: one table only is possible",
)  # fmt: skip
def fisher_pv() -> pl.Expr:
    """-log10 p of Fisher's exact test against attraction (right tail)."""
    return surprise(upper_tail, hypergeometric)


@measure(
    family="exact test", formula="-log10 P(X <= O11), X ~ hypergeometric(N, R1, C1)",
    range="[0, inf)", reference="Fisher 1934", sided="one-sided",
    aliases=("Fisher.left.pv", "fisher_left"),
    note="0 where a margin is empty: one table only is possible",
)  # fmt: skip
def fisher_left_pv() -> pl.Expr:
    """-log10 p of Fisher's exact test against repulsion (left tail): no ranking of attraction."""
    return surprise(_lower_tail, hypergeometric)


def _lower_tail(x: Distribution) -> FloatArray:
    return upper_tail(x.mirror())


@measure(
    family="exact test",
    formula="-log10 sum P(X = k) over P(X = k) <= (1 + 1e-7) P(X = O11), X ~ hypergeometric",
    range="[0, inf)", reference="Agresti 2013, section 3.5; R, fisher.test", sided="two-sided",
    aliases=("Fisher.tt.pv", "fisher_tt_pv", "fisher_two_sided"),
    note="0 where a margin is empty: one table only is possible",
)  # fmt: skip
def fisher_two_sided_pv() -> pl.Expr:
    """-log10 p of Fisher's two-sided exact test as R defines it: no ranking of attraction."""
    return surprise(two_sided, hypergeometric)


@measure(
    family="exact test", formula="-log10 P(X >= O11), X ~ Bin(N, E11/N)",
    range="[0, inf)", reference="Evert 2004, section 3.1.3", sided="one-sided", ucs="binomial.pv",
    note="0 where E11 = 0 or E11 = N",
)  # fmt: skip
def binomial_pv() -> pl.Expr:
    """-log10 p of the exact binomial test."""
    return surprise(upper_tail, binomial)


@measure(
    family="exact test", formula="-log10 P(X >= O11), X ~ Poisson(E11)",
    range="[0, inf)", reference="Quasthoff & Wolff 2002", sided="one-sided",
    ucs="Poisson.pv", aliases=("poisson",),
    note="0 where E11 = 0",
)  # fmt: skip
def poisson_pv() -> pl.Expr:
    """-log10 p of the exact Poisson test."""
    return surprise(upper_tail, poisson)


@measure_family(
    numbers=Numbers(decimals=3),
    standard=(2, 3, 5, 10),
    family="exact test", formula="-log10 P(X >= O11), X ~ Poisson({n} E11)",
    range="[0, inf)", reference="UCS, Poisson.mu.n.pv", sided="one-sided",
    ucs="Poisson.mu.{n}.pv", ucs_numbers=(2, 3, 5, 10, 50, 100, 1000, 10_000),
    aliases=("Poisson.mu.{n}",),
    note="0 where E11 = 0",
)  # fmt: skip
def poisson_mu(times: Number) -> pl.Expr:
    """-log10 p of the exact Poisson test against n times the expectation, for any n above 0.

    n may have three decimals: poisson_mu(1.5), whose column is poisson_mu_1_5.
    """
    return surprise(upper_tail, partial(poisson, times=times))
