"""Simulate where limits mislead: marks between equals, the best of many lists.

The marks: two measures rank Krenn's candidates, and labels are random, so that the two do not
differ. The best of many: lists of one precision are judged, and the one that looks best is taken.

    python benchmarks/chance_findings.py [--samples 1000] [--write]
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from chance_chapter import error, show, table

import lexassay as lx

PAIRS = (
    ("t_score", "log_likelihood"), ("t_score", "chi_squared"), ("log_likelihood", "chi_squared"),
    ("mi", "dice"),
)  # fmt: skip
BASELINE = 0.11
RATES = (0.1, 0.2, 1.0)
SAMPLES = 1000
LISTS, JUDGED, CHOICES = 20, 40, 20_000
PRECISIONS = (0.2, 0.3, 0.4, 0.5)
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def krenn(root: Path) -> dict[str, IntArray]:
    """Return the place of every candidate in each ranking, from 0."""
    path = root / "collocations" / "krenn_pp_verb.ds"
    table = pl.read_csv(path, separator="\t", comment_prefix="#")
    names = sorted({name for pair in PAIRS for name in pair})
    scores = lx.score(table.select("l1", "l2", "f", "f1", "f2", "N"), measures=names)
    return {
        name: scores[name].rank("ordinal", descending=True).to_numpy().astype(np.int64) - 1
        for name in names
    }


def is_marked(first: IntArray, second: IntArray, draws: int, number: int) -> bool:
    """Say whether one sample with random labels has p < .05 at some n."""
    random = np.random.default_rng(number)
    sample = random.permutation(len(first))[:draws]
    true = random.random(draws) < BASELINE
    one, other = first[sample], second[sample]
    counts = np.stack([
        _along(start, end, some, len(first))
        for start, end in ((one, other), (other, one))
        for some in (true, np.ones_like(true))
    ])  # fmt: skip
    k_1, n_1, k_2, n_2 = np.unique(counts[:, (counts[1] > 0) & (counts[3] > 0)], axis=1)
    return bool((np.asarray(lx.fisher(k_1, n_1, k_2, n_2)) < 0.05).any())


def _along(start: IntArray, end: IntArray, some: BoolArray, last: int) -> IntArray:
    """Count, for each n, those that the first list has and the second has not."""
    here = some & (start < end)
    steps = np.bincount(start[here], minlength=last) - np.bincount(end[here], minlength=last)
    return np.asarray(steps.cumsum())


def share_with_mark(first: IntArray, second: IntArray, rate: float, samples: int) -> float:
    """Return the share of samples with a mark at some n."""
    draws = round(rate * len(first))
    return sum(is_marked(first, second, draws, number) for number in range(samples)) / samples


def best_covered(precision: float, samples: int) -> float:
    """Return how often the interval of the list that looks best covers its precision."""
    random = np.random.default_rng(round(100 * precision))
    best = random.binomial(JUDGED, precision, (samples, LISTS)).max(axis=1)
    lower, upper = lx.precision_interval(best, np.full(samples, JUDGED))
    return float(np.mean((lower <= precision) & (precision <= upper)))


def marks_block(places: dict[str, IntArray], samples: int) -> str:
    """Return the table of marks between measures that do not differ."""
    head = ["measures", *(f"rate {100 * rate:g} %" for rate in RATES)]
    rows = [
        (
            f"`{one}`, `{other}`",
            [share_with_mark(places[one], places[other], rate, samples) for rate in RATES],
        )
        for one, other in PAIRS
    ]
    text = (
        f"Per cent of {samples:,} samples with p < .05 at some n, random labels (standard error up "
        f"to {error(samples)}):"
    )
    return f"{text}\n\n{table(head, rows)}"


def best_block(choices: int = CHOICES) -> str:
    """Return the table of the interval of the list that looks best."""
    head = ["precision of all lists", *(f"{100 * each:g} %" for each in PRECISIONS)]
    row = ("coverage", [best_covered(each, choices) for each in PRECISIONS])
    text = (
        f"Per cent of {choices:,} choices of the best of {LISTS} lists, {JUDGED} judged in each, in"
        f" which its 95 % interval\ncovers its precision (standard error up to {error(choices)}):"
    )
    return f"{text}\n\n{table(head, [row])}"


def blocks(data: Path, samples: int) -> dict[str, str]:
    """Return the blocks of the chapter by their names."""
    return {
        "marks": marks_block(krenn(data), samples),
        "best": best_block(),
    }


if __name__ == "__main__":
    show(blocks, script=Path(__file__).name, about=__doc__, samples=SAMPLES)
