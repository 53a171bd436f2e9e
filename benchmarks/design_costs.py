"""Show what designs tell at equal cost where the pairs of a verb share work, on Krenn's candidates.

python benchmarks/design_costs.py

Three designs, each as large as the cost of so many designed labels allows: one that minds no costs,
one that does (`sample.design` with cost), and one that draws whole verbs with chances in proportion
to the root of what they tell by what they cost, with three guesses of how alike the pairs of a verb
are. Variances are those of the linearised estimates, from the true labels; printed is the median
over the questions of configs/krenn-design.toml of how many times smaller they are than those of
the first design.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import pipeline as lx
from pipeline.kernels.nbest.ranking import rank_vectors
from pipeline.kernels.numeric import FloatArray, IntArray, codes
from pipeline.kernels.survey.design import (
    LabellingCost,
    cost_adjusted_sizes,
    expected_cost,
    inclusion,
)

CONFIG = Path(__file__).parent.parent / "configs" / "krenn-design.toml"
CUTS = (100, 500, 1000, 2000)
PAIRS = (("t_score", "chi_squared"), ("log_likelihood", "mi"), ("log_likelihood", "t_score"))
ALIKE = (0.0, 0.05, 0.2)


def coefficients(ranks: pl.DataFrame) -> tuple[pl.Series, FloatArray]:
    """Return the candidates, and a of all questions, shape (questions, candidates)."""
    names = ranks["measure"].unique().sort().to_list()
    ids, vectors = rank_vectors(ranks.lazy(), names)
    lists = {(name, n): (vectors[name] <= n) / n for name in names for n in CUTS}
    apart = [lists[one, n] - lists[other, n] for one, other in PAIRS for n in CUTS]
    return ids, np.array([*lists.values(), *apart])


def residuals(a: FloatArray, y: FloatArray) -> FloatArray:
    """Return a (y - mean y), each side of a difference around its own mean."""
    result = np.zeros_like(a)
    for row, mine in zip(a, result, strict=True):
        for side in (row > 0, row < 0):
            if side.any():
                mine[side] = row[side] * (y[side] - y[side].mean())
    return result


def affordable_size(cost: Callable[[int], float], budget: float, most: int) -> int:
    """Return the largest size that the budget buys."""
    low, high = 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    return low


def by_verbs(
    e: FloatArray, x: FloatArray, work: LabellingCost, budget: float, alike: float
) -> FloatArray:
    """Return the variances of a design that draws whole verbs."""
    group = work.group
    single, joint = np.bincount(group, x**2), np.bincount(group, x) ** 2
    took = work.first + work.further * (np.bincount(group) - 1)
    size = np.sqrt((single + alike * (joint - single)) / took)

    def cost_of_verbs(factor: int) -> float:
        return float((np.minimum(1.0, factor * 1e-4 * size / size.max()) * took).sum())

    factor = affordable_size(cost_of_verbs, budget, 10**8)
    pi = np.minimum(1.0, factor * 1e-4 * size / size.max())
    totals = np.array([np.bincount(group, row) for row in e])
    return np.asarray((totals**2 * ((1.0 - pi) / pi)).sum(axis=1))


def main() -> int:
    """Print a line for each pair of costs and each number of labels."""
    if "LEXASSAY_DATA" not in os.environ:
        print("LEXASSAY_DATA is not set: the comparison needs Krenn's candidates, see README.md")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        run = lx.run(CONFIG, runs=folder, report=False)
        ranks, candidates = run.table("ranks"), run.table("candidates")
        judgements, chances = run.table("judgements"), run.table("designed.inclusion")
    ids, a = coefficients(ranks)
    every = ids.rename("id").to_frame()
    known = every.join(judgements, on="id", how="left", maintain_order="left")
    verbs = every.join(candidates.select("id", "l2"), on="id", how="left", maintain_order="left")
    group: IntArray = codes(verbs["l2"])[0]
    e = residuals(a, known["tp"].cast(pl.Float64).to_numpy())
    x = every.join(chances, on="id", how="left", maintain_order="left")["size_measure"].to_numpy()
    print(f"{len(ids):,} candidates, {group.max() + 1:,} verbs, {len(a)} questions")
    print(f"{'costs':>7} {'labels':>7} {'cost':>7} {'minding':>8}", *(f"{r:>9}" for r in ALIKE))
    for first in (5.0, 20.0):
        work = LabellingCost(group, first, 1.0)
        for size in (250, 528, 1000):
            pi = inclusion(x, size=size)
            budget = expected_cost(pi, work)

            def minding(m: int, work: LabellingCost) -> FloatArray:
                return inclusion(cost_adjusted_sizes(x, work, size=m), size=m)

            def cost_of_items(m: int, work: LabellingCost = work) -> float:
                return expected_cost(minding(m, work), work)

            own = minding(affordable_size(cost_of_items, budget, len(ids)), work)
            base = (e**2 * ((1.0 - pi) / pi)).sum(axis=1)
            others = [(e**2 * ((1.0 - own) / own)).sum(axis=1)]
            others += [by_verbs(e, x, work, budget, alike) for alike in ALIKE]
            gains = [float(np.median(base / other)) for other in others]
            print(f"{first:.0f} to 1 {size:>7,} {budget:>7,.0f} {gains[0]:>8.2f}",
                  *(f"{gain:>9.2f}" for gain in gains[1:]))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
