"""The distributions of O11 that tests of independence assume, from columns of the tables."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.association.tails.distribution import Distribution
from pipeline.kernels.association.tails.rows import Columns
from pipeline.kernels.statistics.saddle_point import product
from pipeline.templates import Number


def hypergeometric(columns: Columns) -> Distribution:
    """Return the distribution of O11 with both margins fixed."""
    o11, o12, o21, o22 = (columns[f"o{ij}"] for ij in ("11", "12", "21", "22"))
    means = np.stack([columns[f"e{ij}"] for ij in ("11", "22", "12", "21")])
    above = np.stack([columns[name] for name in ("r1", "r2", "c1", "c2")])
    return Distribution(
        np.stack([o11, o22]), np.stack([o12, o21]), means, columns["delta"],
        np.ones(len(o11)), above, columns["N"][None],
    )  # fmt: skip


def binomial(columns: Columns) -> Distribution:
    """Return the binomial distribution of O11: N pair tokens, each with probability E11 / N."""
    o11, total, mean = columns["o11"], columns["N"], columns["e11"]
    rest = columns["e12"] + columns["e21"] + columns["e22"]  # N - E11 without cancellation
    return Distribution(
        o11[None], (total - o11)[None], np.stack([mean, rest]), columns["delta"],
        mean / rest, total[None], np.empty((0, len(o11))),
    )  # fmt: skip


def poisson(columns: Columns, *, times: Number = 1) -> Distribution:
    """Return the Poisson distribution of O11 with expectation `times` E11."""
    o11, mean = columns["o11"], times.numerator * columns["e11"] / times.denominator
    none = np.empty((0, len(o11)))
    delta = columns["delta"] if times == 1 else _excess(columns, times)
    return Distribution(o11[None], none, mean[None], delta, mean, none, none)


def _excess(columns: Columns, times: Number) -> FloatArray:
    """Return O11 - times E11 = (q O11 N - p R1 C1) / (q N) from exact products, times = p / q."""
    q = float(times.denominator)
    first, first_error = product(q * columns["o11"], columns["N"])
    r1, r1_error = product(np.full(len(columns["r1"]), float(times.numerator)), columns["r1"])
    second, second_error = product(r1, columns["c1"])
    errors = first_error - (second_error + r1_error * columns["c1"])
    return ((first - second) + errors) / (q * columns["N"])
