"""Sentences of an invented language whose words may belong to several classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from pseudo_words import PREPOSITIONS, Uniform, draw, invented_words, zipf

ENDINGS = {
    "NOUN": ("el", "on", "et", "ip", "um", "ad", "ow"),
    "VERB": ("en", "ate", "ify"),
    "ADJ": ("ish", "ous", "al"),
    "ADV": ("ily", "ward"),
}
"""Open classes and the endings of their words."""
SIZES = {"NOUN": 900, "VERB": 420, "ADJ": 300, "ADV": 90}
CLOSED = {
    "DET": ("the", "a", "this", "that", "every", "no"),
    "ADP": PREPOSITIONS,
    "PRON": ("he", "she", "it", "they", "that", "one", "this"),
    "CCONJ": ("and", "or", "but"),
    "PUNCT": (".", ",", "?"),
}
"""Closed classes: some of their words belong to two."""
BORROWED = {("NOUN", "VERB"): 0.16, ("NOUN", "ADJ"): 0.10, ("VERB", "NOUN"): 0.14,
            ("ADV", "ADP"): 0.06, ("ADJ", "NOUN"): 0.08, ("ADV", "ADJ"): 0.15}  # fmt: skip
"""(class, other class) -> share of the class that are words of the other, as in a run, to run."""
MODIFIED, PHRASE, CLAUSE, QUESTION = 0.35, 0.45, 0.30, 0.10


class Token(NamedTuple):
    """A word form with its gold class."""

    form: str
    tag: str


Lexicon: TypeAlias = Mapping[str, tuple[Sequence[str], Sequence[float]]]
"""Class -> its words, and their cumulative weights."""


def lexicon(uniform: Uniform) -> Lexicon:
    """Make the words of each class; the more frequent of a class come first."""
    own = {tag: invented_words(SIZES[tag], ENDINGS[tag], uniform) for tag in ENDINGS}
    words = {tag: [*own[tag]] for tag in own} | {tag: [*members] for tag, members in CLOSED.items()}
    for (tag, other), share in BORROWED.items():
        source = own.get(other, CLOSED.get(other, ()))
        for place in range(len(words[tag])):
            if uniform() < share:
                words[tag][place] = source[int(uniform() * len(source))]
    return {tag: _add_weights(list(dict.fromkeys(members))) for tag, members in words.items()}


def _add_weights(words: Sequence[str]) -> tuple[Sequence[str], Sequence[float]]:
    return words, list(accumulate(zipf(len(words), exponent=1.05, shift=2.0)))


def sentences(size: int, words: Lexicon, uniform: Uniform) -> Iterator[list[Token]]:
    """Yield sentences: one clause or two, each with subject, verb and what follows it."""
    for _ in range(size):
        tags = [*_clause(uniform)]
        if uniform() < CLAUSE:
            tags += ["CCONJ", *_clause(uniform)]
        sentence = [_token(tag, words, uniform) for tag in tags]
        yield [*sentence, Token("?" if uniform() < QUESTION else ".", "PUNCT")]


def _clause(uniform: Uniform) -> Iterator[str]:
    yield from _subject(uniform)
    if uniform() < MODIFIED / 2:
        yield "ADV"
    yield "VERB"
    if uniform() < 0.7:
        yield from _phrase(uniform)
    while uniform() < PHRASE:
        yield "ADP"
        yield from _phrase(uniform)
    if uniform() < MODIFIED / 2:
        yield "ADV"


def _subject(uniform: Uniform) -> Iterator[str]:
    if uniform() < MODIFIED:
        yield "PRON"
    else:
        yield from _phrase(uniform)


def _phrase(uniform: Uniform) -> Iterator[str]:
    if uniform() < 0.8:
        yield "DET"
    if uniform() < MODIFIED:
        yield "ADJ"
    yield "NOUN"


def _token(tag: str, words: Lexicon, uniform: Uniform) -> Token:
    members, weights = words[tag]
    return Token(members[draw(weights, uniform)], tag)
