"""The type-level measures over sets, one item after the other, and small random instances."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import polars as pl
from scipy import sparse

from pipeline.kernels.clustering.types.measures import Patterns

Sets = Sequence[set[int]]
Mapping = Sequence[int]

# Gold and induced entries; then MacroI, MicroI, MicroC under 1-1 and under M-1, from the
# specification of the measures.
WORKED: list[tuple[Sets, Sets, tuple[str, ...], tuple[str, ...]]] = [
    (
        [{0, 1}, {1, 2}, {0, 2}],
        [{0, 1, 2}, {0, 1, 2}, {0, 1, 2}],
        ("4/5", "4/5", "4/5"),
        ("4/5", "4/5", "4/5"),
    ),
    (
        [{0}, {0, 1}, {1}, {0, 1}],
        [{0}, {0, 1}, {1}, {2}],
        ("8/11", "3/4", "16/25"),
        ("10/11", "11/12", "23/25"),
    ),
    ([{0}, {0}, {1}, {1}], [{0}, {1}, {2}, {2}], ("3/4", "3/4", "2/3"), ("1", "1", "1")),
    (
        [{0, 2}, {0}, {1}, {0}],
        [{0, 2}, {0, 2}, {0}, {0, 1}],
        ("2/3", "7/12", "100/147"),
        ("8/11", "17/24", "6/7"),
    ),
    (
        [{0}, {0, 1}, {0}, {0, 1}, {0}],
        [{2}, {0, 3}, {2, 3}, {1, 2}, {0, 1}],
        ("1/2", "8/15", "13/36"),
        ("7/8", "13/15", "1"),
    ),
]


def image(b: set[int], h: Mapping) -> set[int]:
    """h(B); a cluster without a class stands for itself, as a class that no item has."""
    return {h[k] if h[k] >= 0 else -1 - k for k in b}


def macro_i(gold: Sets, induced: Sets, h: Mapping) -> Fraction:
    images = [image(b, h) for b in induced]
    common = sum(len(a & z) for a, z in zip(gold, images, strict=True))
    return Fraction(2 * common, sum(map(len, gold)) + sum(map(len, images)))


def micro_i(gold: Sets, induced: Sets, h: Mapping) -> Fraction:
    images = [image(b, h) for b in induced]
    scores = [Fraction(2 * len(a & z), len(a) + len(z)) for a, z in zip(gold, images, strict=True)]
    return sum(scores, Fraction(0)) / len(scores)


def micro_c(gold: Sets, induced: Sets, h: Mapping) -> Fraction:
    images = [image(b, h) for b in induced]
    whole, total = 0, Fraction(0)
    for c in set().union(*images):
        z = {i for i, each in enumerate(images) if c in each}
        members = {i for i, each in enumerate(gold) if c in each}
        whole += len(z)
        total += len(z) * Fraction(2 * len(z & members), len(z) + len(members))
    return total / whole if whole else Fraction(0)


MAPPED = {"MacroI": macro_i, "MicroI": micro_i, "MicroC": micro_c}
"""The measures with a search for the best mapping."""
TWINS = {**MAPPED}
"""Every registered measure, including those scored under the mapping of another."""


def every_mapping(clusters: int, classes: int) -> Iterator[tuple[int, ...]]:
    """All mappings of all clusters."""
    return itertools.product(range(classes), repeat=clusters)


def every_1_1_mapping(clusters: int, classes: int) -> Iterator[tuple[int, ...]]:
    """All 1-1 mappings that leave as few clusters as possible without a class."""
    for h in itertools.product(range(-1, classes), repeat=clusters):
        mapped = [c for c in h if c >= 0]
        if len(mapped) == len(set(mapped)) == min(clusters, classes):
            yield h


def patterns_of(gold: Sets, induced: Sets, classes: int, clusters: int) -> Patterns:
    """Each item as a pattern of its own."""
    shape = np.ones(len(gold), dtype=np.int64)
    return Patterns(shape, matrix(gold, classes), matrix(induced, clusters))


def matrix(sets: Sets, width: int) -> sparse.csr_array:
    rows = [[int(place in each) for place in range(width)] for each in sets]
    return sparse.csr_array(np.array(rows, dtype=np.int64).reshape(len(sets), width))


def frames(gold: Sets, induced: Sets) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables of memberships: item w0, class c0, cluster k0."""
    first = [(f"w{i}", f"c{c}") for i, a in enumerate(gold) for c in sorted(a)]
    second = [(f"w{i}", f"k{k}") for i, b in enumerate(induced) for k in sorted(b)]
    return tuple_frame(first, "gold"), tuple_frame(second, "cluster")


def tuple_frame(rows: list[tuple[str, str]], label: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"item": pl.String, label: pl.String}, orient="row")


def instances(
    number: int, *, seed: int, most_clusters: int = 2
) -> Iterator[tuple[Sets, Sets, int, int]]:
    """Random small instances: gold, induced, number of classes, number of clusters."""
    bits = np.random.default_rng(seed)
    for _ in range(number):
        items, n, m = (int(bits.integers(1, most + 1)) for most in (6, 3, 3))
        yield (
            [random_set(bits, n, least=1, most=n) for _ in range(items)],
            [random_set(bits, m, least=0, most=most_clusters) for _ in range(items)],
            n,
            m,
        )


def random_set(bits: np.random.Generator, width: int, *, least: int, most: int) -> set[int]:
    size = int(bits.integers(least, min(most, width) + 1))
    return {int(place) for place in bits.choice(width, size=size, replace=False)}
