"""Make invented items with their classes and clusters, as real ones are spread.

Tokens and classes follow Zipf's law; some items have two or three senses, each with a class and a
cluster. Most clusters belong to a class, large classes have more of them; a third of the senses is
in a cluster drawn at random.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

SENSES = (0.85, 0.12, 0.03)
"""Shares of items with one, two and three senses."""
EVEN = (1 / 3, 1 / 3, 1 / 3)
"""As many items with three senses as with one: more than any lexicon has."""
NOISE = 0.3
TOKENS_PER_ITEM = 24
"""As in the Wall Street Journal: 950,028 tokens of 39,546 types."""


class Size(NamedTuple):
    """How much to make."""

    items: int
    classes: int
    clusters: int
    senses: tuple[float, float, float] = SENSES


def senses(size: Size, seed: int = 2010) -> pl.DataFrame:
    """Return item, gold, cluster and f, the tokens: a row for each sense of an item."""
    bits = np.random.default_rng(seed)
    many = bits.choice(3, size=size.items, p=size.senses) + 1
    item = np.repeat(np.arange(size.items), many)
    gold = bits.choice(size.classes, size=len(item), p=_zipf(size.classes))
    cluster = np.where(
        bits.random(len(item)) < NOISE,
        bits.choice(size.clusters, size=len(item), p=_zipf(size.clusters)),
        _at_home(gold, size, bits),
    )
    expected = TOKENS_PER_ITEM * size.items * _zipf(size.items)[item] / many[item]
    rows = {
        "item": pl.Series(item), "gold": pl.Series(gold), "cluster": pl.Series(cluster),
        "f": 1 + bits.poisson(expected),
    }  # fmt: skip
    names = [pl.format(letter + "{}", name) for name, letter in _LETTERS.items()]
    return pl.DataFrame(rows).with_columns(names)


_LETTERS = {"item": "w", "gold": "c", "cluster": "k"}


def memberships(size: Size) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return gold and induced entries, and item, gold, cluster, f."""
    table = senses(size)
    return table.select("item", "gold").unique(), table.select("item", "cluster").unique(), table


def partition(size: Size) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return a class and a cluster of each item: the numbers of its first sense."""
    first = senses(size).unique("item", keep="first", maintain_order=True)
    numbers = (first[name].str.slice(1).cast(pl.Int64).to_numpy() for name in ("gold", "cluster"))
    gold, cluster = numbers
    return gold, cluster


def taggings(size: Size, seed: int = 1) -> tuple[npt.NDArray[np.int64], ...]:
    """Return class, cluster and word type of tokens, of which most types have several.

    Here `size.items` is the number of tokens. Of 100,000, 9 in 10 types are in several clusters,
    and 3 in 4 have several classes.
    """
    bits = np.random.default_rng(seed)
    types = int(28 * size.items**0.5)
    frequencies = np.arange(1, types + 1) ** -0.75
    item = bits.choice(types, size=size.items, p=frequencies / frequencies.sum())
    classes = bits.choice(size.classes, size=(types, 4), p=_zipf(size.classes))
    gold = classes[item, bits.choice(4, size=size.items, p=[0.7, 0.15, 0.1, 0.05])]
    drawn = bits.choice(size.clusters, size=size.items, p=_zipf(size.clusters))
    cluster = np.where(bits.random(size.items) < NOISE, drawn, gold % size.clusters)
    return gold, cluster, item


def _zipf(size: int) -> npt.NDArray[np.float64]:
    weights = 1.0 / np.arange(1, size + 1)
    return np.asarray(weights / weights.sum())


def _at_home(
    gold: npt.NDArray[np.int64], size: Size, bits: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return one of the clusters of each class: each has one, and a share of the others."""
    spare = max(0, size.clusters - size.classes)
    own = 1 + np.floor(spare * _zipf(size.classes)).astype(np.int64)
    start = np.cumsum(own) - own
    drawn = start[gold] + np.floor(bits.random(len(gold)) * own[gold]).astype(np.int64)
    return drawn % size.clusters
