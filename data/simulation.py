"""A simulated corpus of pair tokens (prepositional phrase, verb), with planted pairs."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

from pseudo_words import Uniform, draw, prepositional_phrases, verbs, zipf

Pair: TypeAlias = tuple[str, str]

N_BACKGROUND = 52_000
"""Pair tokens that are not planted."""
N_LEFT, N_NOUNS, N_RIGHT = 1_600, 800, 700
FIELDS = 30
"""Number of semantic fields of the left units, and of the right units."""
PREFERENCE = NormalDist(0.0, 1.15)
"""Natural logarithm of the factor by which a left field attracts or repels a right field."""


@dataclass(frozen=True)
class Kind:
    """A kind of planted pair.

    Parameters
    ----------
    name : str
        What it is; for a collocation its category.
    size : int
        How many pairs are planted.
    left, right : (int, int)
        Range of the frequency ranks of the units, 0 the most frequent, without the end.
    least, most : int
        Limits of the pair tokens that are planted for one pair.
    tail : float
        Exponent of their Pareto distribution; a smaller one has a longer tail.
    collocation : bool
        Whether such pairs are true positives.
    """

    name: str
    size: int
    left: tuple[int, int]
    right: tuple[int, int]
    least: int
    most: int
    tail: float
    collocation: bool


KINDS = (
    Kind("support_verb", 280, (30, 1500), (0, 16), 3, 200, 1.0, collocation=True),
    Kind("figurative", 200, (150, 1600), (8, 500), 2, 100, 1.2, collocation=True),
    Kind("habitual", 240, (20, 900), (5, 300), 3, 150, 1.1, collocation=False),
    Kind("exclusive", 640, (500, 1600), (70, 700), 2, 30, 1.8, collocation=False),
)


class Simulation(NamedTuple):
    """All pair tokens, and the kind of each planted pair."""

    tokens: list[Pair]
    planted: dict[Pair, Kind]


def simulate(seed: str) -> Simulation:
    """Draw the pair tokens of a corpus.

    Parameters
    ----------
    seed : str
        Fixes everything.

    Notes
    -----
    ``random.Random(text).random`` gives the same numbers in every version of Python;
    nothing else is promised to, so all that is drawn here is drawn from it.
    """
    uniform = random.Random(seed).random
    left = prepositional_phrases(N_LEFT, uniform, n_nouns=N_NOUNS)
    right = verbs(N_RIGHT, uniform)
    tokens = list(_background(left, right, uniform))
    planted: dict[Pair, Kind] = {}
    for kind in KINDS:
        for _ in range(kind.size):
            pair = _new_pair(left[slice(*kind.left)], right[slice(*kind.right)], planted, uniform)
            planted[pair] = kind
            tokens += [pair] * _frequency(kind, uniform)
    return Simulation(tokens, planted)


def _background(left: Sequence[str], right: Sequence[str], uniform: Uniform) -> Iterator[Pair]:
    """Draw a left unit by Zipf's law, then a right one by it and by the field of the left."""
    fields = [int(uniform() * FIELDS) for _ in left]
    likely_left = list(accumulate(zipf(len(left), exponent=0.95, shift=10.0)))
    likely_right = _by_field(right, uniform)
    for _ in range(N_BACKGROUND):
        one = draw(likely_left, uniform)
        yield left[one], right[draw(likely_right[fields[one]], uniform)]


def _by_field(right: Sequence[str], uniform: Uniform) -> list[list[float]]:
    """Return the cumulative weights of the right units for each field of left units."""
    fields = [int(uniform() * FIELDS) for _ in right]
    weights = zipf(len(right), exponent=1.0, shift=5.0)
    rows = []
    for _ in range(FIELDS):
        factors = [math.exp(PREFERENCE.inv_cdf(uniform() or 0.5)) for _ in range(FIELDS)]
        preferred = (w * factors[field] for w, field in zip(weights, fields, strict=True))
        rows.append(list(accumulate(preferred)))
    return rows


def _new_pair(
    left: Sequence[str], right: Sequence[str], pairs: dict[Pair, Kind], uniform: Uniform
) -> Pair:
    pair = left[int(uniform() * len(left))], right[int(uniform() * len(right))]
    return pair if pair not in pairs else _new_pair(left, right, pairs, uniform)


def _frequency(kind: Kind, uniform: Uniform) -> int:
    """Return a Pareto number between the limits of the kind."""
    return min(kind.most, int(kind.least * (1.0 - uniform()) ** (-1.0 / kind.tail)))
