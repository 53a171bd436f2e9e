"""Invented words with the inflection of an invented language that looks like Maltese."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pseudo_words import Uniform

STEM = "~"
PARADIGMS: Mapping[str, Sequence[str]] = {
    "noun": (
        "~", "~i", "~ek", "~u", "~a", "~na", "~kom", "~hom", "~ijiet", "~ijietna",
    ),
    "verb": (
        "~", "~t", "~et", "~na", "~tu", "~u", "n~", "t~", "j~", "n~u", "t~u", "j~u", "~lu", "~lha",
    ),
    "adjective": ("~", "~a", "~in"),
}  # fmt: skip
"""Endings of each paradigm; ~ is the stem."""
KINDS = ("noun", "noun", "noun", "verb", "verb", "adjective")
"""Every lemma is of one of these, each with the same chance."""
_CONSONANTS = (
    "b",
    "d",
    "f",
    "g",
    "għ",
    "ħ",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "q",
    "r",
    "s",
    "t",
    "x",
    "ż",
)
_VOWELS = ("a", "e", "i", "ie", "o", "u")
MISSIER = (
    "missier", "missierek", "missierna", "missierkom", "missirijietna", "missieri", "missierhom",
    "missiera", "missieru", "missirijiet",
)  # fmt: skip
"""The dictionary's forms of the example of the L-measure; the computed lexicon has the first 7."""


class Lemma(NamedTuple):
    """A lemma, its paradigm, and its forms in the order of the paradigm."""

    name: str
    kind: str
    forms: tuple[str, ...]


def lemmas(size: int, uniform: Uniform) -> list[Lemma]:
    """Return ``missier`` and `size` - 1 invented lemmas, no two with a stem in common."""
    result = {"missier": Lemma("missier", "noun", MISSIER)}
    while len(result) < size:
        stem = _stem(uniform)
        kind = _any(KINDS, uniform)
        result.setdefault(stem, Lemma(stem, kind, tuple(generate(stem, kind))))
    return list(result.values())


def generate(stem: str, kind: str) -> list[str]:
    """Return the forms of a stem.

    Examples
    --------
    >>> generate("tajjeb", "adjective")
    ['tajjeb', 'tajjeba', 'tajjebin']
    """
    return [ending.replace(STEM, stem) for ending in PARADIGMS[kind]]


def _stem(uniform: Uniform) -> str:
    first, second, third = (_any(_CONSONANTS, uniform) for _ in range(3))
    before, after = _any(_VOWELS, uniform), _any(_VOWELS, uniform)
    doubled = second * 2 if uniform() < 0.3 and len(second) == 1 else second
    return f"{first}{before}{doubled}{after}{third}"


def _any(choices: Sequence[str], uniform: Uniform) -> str:
    return choices[int(uniform() * len(choices))]
