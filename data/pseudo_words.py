"""Invented nouns, verbs and prepositional phrases, drawn from fixed syllables."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import accumulate, product
from typing import TypeAlias

Uniform: TypeAlias = Callable[[], float]
"""Gives the next number of a uniform distribution over [0, 1)."""

PREPOSITIONS = ("in", "on", "at", "to", "with", "from", "under", "into", "by", "over", "behind")
_ONSETS = (*"bdfgklmnprstvw", "br", "dr", "fl", "gr", "kl", "pl", "sm", "tr")
_CODAS = ("nd", "rm", "lk", "rb", "sk", "lv", "nt", "rl", "ld", "sp", "nv")
_STEMS = tuple("".join(parts) for parts in product(_ONSETS, "aeio", _CODAS))
_NOUN_ENDINGS = ("el", "on", "et", "ip", "um", "ad", "ow")
_VERB_ENDINGS = ("en", "ate", "ify")


def draw(cumulative: Sequence[float], uniform: Uniform) -> int:
    """Return an index with a probability in proportion to its weight.

    Parameters
    ----------
    cumulative : sequence of float
        Cumulative sums of the weights.
    uniform : callable
        Source of chance; called once.

    Examples
    --------
    >>> draw([1.0, 3.0, 4.0], lambda: 0.5)
    1
    """
    return bisect(cumulative, uniform() * cumulative[-1], hi=len(cumulative) - 1)


def zipf(size: int, *, exponent: float, shift: float) -> list[float]:
    """Return the Zipf-Mandelbrot weights (rank + shift)^-exponent of ranks 1 .. size.

    Examples
    --------
    >>> zipf(2, exponent=1.0, shift=1.0)
    [0.5, 0.3333333333333333]
    """
    return [(rank + shift) ** -exponent for rank in range(1, size + 1)]


def verbs(size: int, uniform: Uniform) -> list[str]:
    """Return `size` different invented verbs."""
    return _different(size, lambda: _word(_VERB_ENDINGS, uniform))


def prepositional_phrases(size: int, uniform: Uniform, *, n_nouns: int) -> list[str]:
    """Return `size` different units "preposition:noun" over `n_nouns` invented nouns."""
    nouns = _different(n_nouns, lambda: _word(_NOUN_ENDINGS, uniform))
    usual = list(accumulate(zipf(len(PREPOSITIONS), exponent=1.0, shift=1.0)))
    return _different(size, lambda: f"{PREPOSITIONS[draw(usual, uniform)]}:{_any(nouns, uniform)}")


def invented_words(size: int, endings: Sequence[str], uniform: Uniform) -> list[str]:
    """Return `size` different invented words with some of the endings."""
    return _different(size, lambda: _word(endings, uniform))


def _word(endings: Sequence[str], uniform: Uniform) -> str:
    return _any(_STEMS, uniform) + _any(endings, uniform)


def _any(choices: Sequence[str], uniform: Uniform) -> str:
    return choices[int(uniform() * len(choices))]


def _different(size: int, make: Callable[[], str]) -> list[str]:
    result: dict[str, None] = {}
    while len(result) < size:
        result[make()] = None
    return list(result)
