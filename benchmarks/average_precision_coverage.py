"""Simulate how often the limits of average precision hold it: real candidates, and hard cases.

Simple samples, and samples that draw first ranks more often, with chances of their own. The cell
with number c takes the random numbers of the seeds [c, 0], [c, 1] ...

    python benchmarks/average_precision_coverage.py [--samples 2000] [--write]
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from chance_chapter import show

import lexassay as lx
from pipeline.kernels.nbest.average_precision import (
    average_precision_limits,
    inferred_average_precision,
)

MEASURES = ("t_score", "log_likelihood", "chi_squared", "mi")
SAMPLES = 2000
CANDIDATES = 1000
SIZE = 100
SHARES = (0.01, 0.05, 0.2, 0.5)
FloatArray = npt.NDArray[np.float64]


class Case(NamedTuple):
    """A ranking of fully annotated candidates, and a sample of them."""

    title: str
    tp: FloatArray
    """By rank."""
    pi: FloatArray
    """Inclusion probabilities, by rank."""
    designed: bool


def chances(x: FloatArray, size: int) -> FloatArray:
    """Return inclusion probabilities in proportion to x, at most 1."""
    pi = np.minimum(1.0, size * x / x.sum())
    while abs(pi.sum() - size) > 1e-9:  # those that are certain leave the rest to the others
        sure = pi >= 1.0
        pi = np.where(sure, 1.0, np.minimum(1.0, (size - sure.sum()) * x / x[~sure].sum()))
    return np.asarray(pi)


def cases(title: str, tp: FloatArray, places: FloatArray) -> Iterator[Case]:
    """Yield a simple sample, and one by the mean of the places in several rankings.

    `tp` and `places`, shape (rankings, candidates), are in the order of the ranking.
    """
    yield Case(title, tp, chances(np.ones(len(tp)), SIZE), designed=False)
    yield Case(title, tp, chances((1.0 / np.sqrt(places)).sum(axis=0), SIZE), designed=True)


def real(table: pl.DataFrame, title: str) -> Iterator[Case]:
    """Yield the candidates of a table with a column tp, ranked by each measure."""
    scores = lx.score(table.select("l1", "l2", "f", "f1", "f2", "N"), measures=list(MEASURES))
    ranks = np.stack([scores[name].rank("ordinal", descending=True) for name in MEASURES])
    tp = table["tp"].cast(pl.Float64).to_numpy()
    for row in ranks:
        order = np.argsort(row)
        yield from cases(title, tp[order], ranks[:, order].astype(np.float64))


def krenn(data: Path) -> Iterator[Case]:
    """Yield Krenn's PP-verb pairs, and those among them that are in novels."""
    path = data / "collocations"
    pairs = pl.read_csv(path / "krenn_pp_verb.ds", separator="\t", quote_char=None)
    yield from real(pairs.with_columns(tp="b.TP"), "Krenn's pairs")
    novels = pl.read_csv(path / "eltec_deu_pnv.tsv.gz", separator="\t", quote_char=None)
    yield from real(novels.with_columns(tp="krenn_TP").drop_nulls("tp"), "in novels")


def shapes() -> Iterator[Case]:
    """Yield invented rankings, each with several shares of true positives."""
    k = np.arange(1.0 * CANDIDATES)
    for share in SHARES:
        true, bits = round(share * CANDIDATES), np.random.default_rng(round(1000 * share))
        anywhere, odds = bits.random(CANDIDATES), np.exp((k - true) / (0.15 * CANDIDATES))
        orders = {
            "perfect": k,
            "worst": -k,
            "random": anywhere,
            "half perfect": np.where(k < true / 2, -1.0, anywhere),
            "20 false positives first": np.where(k < 20, CANDIDATES + k, k),
            "logistic": bits.exponential(size=CANDIDATES) * (1.0 + odds),
        }
        places = np.stack([k, bits.permutation(CANDIDATES)]) + 1.0
        for title, order in orders.items():
            tp = np.zeros(CANDIDATES)
            tp[np.argsort(order, kind="stable")[:true]] = 1.0
            yield from cases(title, tp, places)


def coverage(case: tuple[int, Case], *, samples: int) -> float:
    """Return how often the 95 % limits hold the average precision, where there is an estimate."""
    number, (_, tp, pi, _) = case
    truth, size, hits = float(inferred_average_precision(tp)), round(pi.sum()), []
    for sample in range(samples):
        keys = np.random.default_rng([number, sample]).random(len(pi)) / pi
        keys[pi >= 1.0] = 0.0  # sequential Poisson sampling
        drawn = np.sort(np.argpartition(keys, size - 1)[:size])
        if not tp[drawn].any():
            continue
        lower, upper = average_precision_limits(
            tp[drawn], pi=pi[drawn], ranks=drawn + 1, candidates=len(pi)
        )[1:]
        hits.append(lower - 1e-9 <= truth <= upper + 1e-9)
    return float(np.mean(hits))


def block(every: list[Case], coverages: list[float], samples: int) -> str:
    """Return the table of coverages."""
    lines = ["| ranking | simple sample | by rank |", "|---|---|---|"]
    for title in dict.fromkeys(case.title for case in every):
        rows = [
            [
                100 * share
                for share, case in zip(coverages, every, strict=True)
                if case.title == title and case.designed == designed
            ]
            for designed in (False, True)
        ]
        cells = " | ".join(f"{np.mean(side):.1f} ({min(side):.1f})" for side in rows)
        lines.append(f"| {title} | {cells} |")
    text = (
        f"Per cent of {samples:,} samples of {SIZE} in which the 95 % limits cover the average "
        f"precision, mean\n(and least) of four cells (standard error at 95 %: "
        f"{100 * (0.0475 / samples) ** 0.5:.1f}):"
    )
    return f"{text}\n\n" + "\n".join(lines)


def blocks(data: Path, samples: int) -> dict[str, str]:
    """Return the block of the chapter by its name."""
    every, context = [*krenn(data), *shapes()], multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        coverages = list(pool.map(partial(coverage, samples=samples), enumerate(every)))
    return {"average precision": block(every, coverages, samples)}


if __name__ == "__main__":
    show(blocks, script=Path(__file__).name, about=__doc__, samples=SAMPLES)
