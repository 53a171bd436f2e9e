"""Text of any length from a seed, whose words and bigrams go on growing as those of text do.

python benchmarks/growing_text.py [--seed 1] [--points 1000000 3000000 10000000]

A block of a million tokens depends on the seed and its number alone, so that any part of the text
can be made anywhere. Token n is drawn from a law of Zipf and Mandelbrot (`EXPONENT`, `SHIFT`) over
the V(n) = 10 n^0.6 words that are known by then (Heaps' law); often it is one of the words that
follow the one before. The figures are chosen so that distinct bigrams grow about as in English
novels: 1.7 million in 5.7 million words, 3.1 million in 11.4 million.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.numeric import FloatArray, IntArray

Hashes: TypeAlias = npt.NDArray[np.uint64]
BLOCK = 1_000_000
LINE = 20
"""Tokens of a line."""
EXPONENT, SHIFT = 1.2, 2.0
HEAPS_FACTOR, HEAPS_EXPONENT = 10.0, 0.6
FOLLOWED, FOLLOWERS = 0.65, 8
"""How often a word draws the next one, and how many it chooses from."""
FOLLOWING_WORDS = 200_000.0
"""Those that follow are among the commonest, however long the text is."""
ONE_IN = 16
"""Bigrams are counted in a sample of types: those whose number, hashed, is one in so many."""


def known_words(position: FloatArray) -> FloatArray:
    """Return V(n), the words that can be drawn at a position, from 1 on."""
    words: FloatArray = np.maximum(HEAPS_FACTOR * position**HEAPS_EXPONENT, 1.0)
    return words


def draw_ranks(uniform: FloatArray, words: FloatArray | float) -> IntArray:
    """Return ranks from 1 to `words`: the inverse of the law, taken as continuous."""
    power = 1.0 - EXPONENT
    low = (1.0 + SHIFT) ** power
    high = (words + 1.0 + SHIFT) ** power
    ranks = (low + uniform * (high - low)) ** (1.0 / power) - SHIFT
    clipped: IntArray = np.clip(ranks, 1.0, words).astype(np.int64)
    return clipped


def block(seed: int, number: int, tokens: int = BLOCK) -> IntArray:
    """Return the first `tokens` words of a block as ranks, from 1 on."""
    random = np.random.default_rng([seed, number])
    position = np.arange(number * BLOCK + 1, (number + 1) * BLOCK + 1, dtype=np.float64)
    words = draw_ranks(random.random(BLOCK), known_words(position))
    draws = random.random(BLOCK) < FOLLOWED
    at = np.flatnonzero(draws[1:] & ~draws[:-1]) + 1
    key = words[at - 1] * FOLLOWERS + random.integers(0, FOLLOWERS, len(at))
    limit = np.minimum(known_words(position[at]), FOLLOWING_WORDS)
    words[at] = draw_ranks((_hash(key) >> np.uint64(11)) / 2.0**53, limit)
    return words[:tokens]


def blocks(tokens: int) -> Iterator[tuple[int, int]]:
    """Yield the number of each block of a text and how many tokens it has."""
    for start in range(0, tokens, BLOCK):
        yield start // BLOCK, min(BLOCK, tokens - start)


def write_block(path: Path, words: IntArray) -> None:
    """Append words to a file, twenty a line."""
    whole = len(words) // LINE * LINE
    texts = pl.Series(words).cast(pl.String)
    lines = texts.head(whole).reshape((-1, LINE)).arr.join(" ").to_list()
    rest = " ".join(texts.tail(len(words) - whole).to_list())
    with path.open("a", encoding="ascii", newline="\n") as file:
        file.writelines(f"{line}\n" for line in [*lines, *filter(None, [rest])])


def growth(seed: int, points: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield tokens, distinct words, and distinct bigrams as a sample of the types has them."""
    known, pairs = np.array([], dtype=np.int64), np.array([], dtype=np.uint64)
    sampled: list[Hashes] = []
    ordered = sorted(points)
    for number, tokens in blocks(ordered[-1]):
        words, start = block(seed, number, tokens), number * BLOCK
        for end in sorted({*(p - start for p in ordered if start < p < start + tokens), tokens}):
            known = np.union1d(known, words[:end])
            sampled.append(_sample(words[:end]))
            if len(sampled) >= ONE_IN or start + end in ordered:
                pairs, sampled = np.unique(np.concatenate([pairs, *sampled])), []
            if start + end in ordered:
                yield start + end, len(known), len(pairs) * ONE_IN


def _sample(words: IntArray) -> Hashes:
    """Return the bigrams inside lines whose hash is one in `ONE_IN`."""
    inside = np.arange(1, len(words)) % LINE != 0
    pairs = _hash((words[:-1] * 2**32 + words[1:])[inside])
    return np.unique(pairs[pairs % np.uint64(ONE_IN) == 0])


def _hash(numbers: IntArray) -> Hashes:
    """Mix 64 bits, one to one: the finalizer of SplitMix64."""
    mixed = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def main() -> int:
    """Print the curve of growth."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--points", type=int, nargs="+", default=[10**6, 3 * 10**6, 10**7])
    options = parser.parse_args()
    print(f"{'tokens':>14}{'words':>12}{'bigrams':>14}")
    for tokens, words, pairs in growth(options.seed, options.points):
        print(f"{tokens:14,}{words:12,}{pairs:14,}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
