"""Simulate how often the limits of average precision hold that of Krenn's candidates.

Simple samples, and samples that draw first ranks more often, with chances of their own.

    python benchmarks/average_precision_coverage.py [--samples 2000] [--write]
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from chance_chapter import error, show, table

import lexassay as lx
from pipeline.kernels.nbest.average_precision import (
    average_precision_limits,
    inferred_average_precision,
)

MEASURES = ("t_score", "log_likelihood", "chi_squared", "mi")
SIZES = (100, 250)
SAMPLES = 2000
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Ranked(NamedTuple):
    """Fully annotated candidates: the order of each measure, and who is a true positive."""

    order: dict[str, IntArray]
    tp: FloatArray


def krenn(root: Path) -> Ranked:
    """Return the public PP-verb candidates."""
    table_ = pl.read_csv(
        root / "collocations" / "krenn_pp_verb.ds", separator="\t", quote_char=None
    )
    scores = lx.score(table_.select("l1", "l2", "f", "f1", "f2", "N"), measures=list(MEASURES))
    order = {
        name: np.argsort(-scores[name].rank("ordinal").to_numpy().astype(np.int64))
        for name in MEASURES
    }
    return Ranked(order, table_["b.TP"].cast(pl.Float64).to_numpy())


def chances(ranked: Ranked, size: int, *, designed: bool) -> FloatArray:
    """Return inclusion probabilities: equal, or falling with the mean of the first ranks."""
    candidates = len(ranked.tp)
    x = np.ones(candidates)
    if designed:
        places = np.empty((len(MEASURES), candidates))
        for row, order in zip(places, ranked.order.values(), strict=True):
            row[order] = np.arange(1.0, candidates + 1.0)
        x = (1.0 / np.sqrt(places)).sum(axis=0)
    pi = np.minimum(1.0, size * x / x.sum())
    while abs(pi.sum() - size) > 1e-9:  # those that are certain leave the rest to the others
        sure = pi >= 1.0
        pi = np.where(sure, 1.0, np.minimum(1.0, (size - sure.sum()) * x / x[~sure].sum()))
    return np.asarray(pi)


def coverage(ranked: Ranked, size: int, samples: int, *, designed: bool) -> list[float]:
    """Return how often the 95 % limits hold the average precision, for each measure."""
    pi, random = chances(ranked, size, designed=designed), np.random.default_rng(size)
    truth = {
        name: float(inferred_average_precision(ranked.tp[order]))
        for name, order in ranked.order.items()
    }
    held = dict.fromkeys(MEASURES, 0)
    for _ in range(samples):
        keys = random.random(len(pi)) / pi  # sequential Poisson sampling
        keys[pi >= 1.0] = 0.0
        drawn = np.zeros(len(pi), dtype=bool)
        drawn[np.argpartition(keys, size - 1)[:size]] = True
        labels = np.where(drawn, ranked.tp, np.nan)
        for name, order in ranked.order.items():
            found = average_precision_limits(labels[order], pi=pi[order])
            held[name] += found.lower <= truth[name] <= found.upper
    return [count / samples for count in held.values()]


def block(ranked: Ranked, samples: int) -> str:
    """Return the table of coverages."""
    rows = [
        (f"{kind}, {size:,}", coverage(ranked, size, samples, designed=designed))
        for kind, designed in (("simple", False), ("by rank", True))
        for size in SIZES
    ]
    head = ["sample", *(f"`{name}`" for name in MEASURES)]
    said = (
        f"Per cent of {samples:,} samples in which the 95 % limits cover the average precision of "
        f"Krenn's candidates\n(standard error at 95 %: {100 * (0.0475 / samples) ** 0.5:.1f}, "
        f"at most {error(samples)}):"
    )
    return f"{said}\n\n{table(head, rows, digits=1)}"


def blocks(data: Path, samples: int) -> dict[str, str]:
    """Return the block of the chapter by its name."""
    return {"average precision": block(krenn(data), samples)}


if __name__ == "__main__":
    show(blocks, script=Path(__file__).name, about=__doc__, samples=SAMPLES)
