"""Simulated systems without a dictionary: three that tag tokens, two that cluster types."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pseudo_words import Uniform
from tagged_text import CLOSED, ENDINGS, Token

Text: TypeAlias = Sequence[Sequence[Token]]
Clusters: TypeAlias = Mapping[str, int]

OPEN = tuple(ENDINGS)
TAGS = (*OPEN, *CLOSED)
RUNS = 3
FREQUENT, RARE = 30, 5
"""Types with at least, and with less than, so many tokens."""
HOW_RIGHT = {
    "context": (0.97, 0.80, 0.30),
    "sampler": (0.86, 0.70, 0.45),
    "memory": (0.90, 0.90, 0.75),
}
"""Chance that a tagger sees the class of a token: of a frequent type, of others, of a rare one."""
TREE = {"NOUN": "00", "ADJ": "010", "ADV": "0110", "VERB": "10", "DET": "1100", "ADP": "1101",
        "PRON": "1110", "CCONJ": "11110", "PUNCT": "11111"}  # fmt: skip
MISPLACED = 0.12
"""Types of open classes that stand elsewhere in the tree."""


def frequencies(text: Text) -> Counter[str]:
    """Count the tokens of each type."""
    return Counter(token.form for sentence in text for token in sentence)


def tagging(name: str, text: Text, uniform: Uniform, *, parts: int) -> list[list[str]]:
    """Return the induced tag of each token.

    Parameters
    ----------
    name : str
        Which of `HOW_RIGHT`.
    text : sequence of sentences
        The tokens with their gold classes.
    uniform : callable
        Source of chance.
    parts : int
        Clusters that a class of open words falls into, by its neighbours: 1 or 3.
    """
    counts = frequencies(text)
    tags = []
    for sentence in text:
        before = ["", *(token.tag for token in sentence)]
        context = [
            _read_tag(token.tag, _sure(name, counts[token.form]), uniform) for token in sentence
        ]
        tags.append([
            _cluster(tag, part if parts > 1 else 0, parts)
            for tag, part in zip(context, map(_part, before), strict=False)
        ])  # fmt: skip
    return tags


def _sure(name: str, frequency: int) -> float:
    often, usual, rarely = HOW_RIGHT[name]
    return often if frequency >= FREQUENT else rarely if frequency < RARE else usual


def _read_tag(tag: str, sure: float, uniform: Uniform) -> str:
    return tag if uniform() < sure else TAGS[int(uniform() * len(TAGS))]


def _part(before: str) -> int:
    """Return which part of a class a word after this class belongs to."""
    return 1 if before in {"DET", "ADJ"} else 2 if before == "ADP" else 0


def _cluster(tag: str, part: int, parts: int) -> str:
    return f"c{TAGS.index(tag) * parts + (part if tag in OPEN else 0):02}"


def consistent(name: str, text: Text, uniform: Uniform) -> list[list[str]]:
    """Return a tagging that gives a type one tag everywhere; the little words are all one."""
    counts, known = frequencies(text), {}
    for form, tag in usual(text).items():
        right = uniform() < _sure(name, counts[form])
        cluster = tag if tag in OPEN else "DET"
        known[form] = cluster if right else OPEN[int(uniform() * len(OPEN))]
    return [[_cluster(known[token.form], 0, 1) for token in sentence] for sentence in text]


def paths(text: Text, uniform: Uniform) -> dict[str, str]:
    """Return a bit string for each type: its usual class, or by chance another, then its ending."""
    result = {}
    for form, tag in usual(text).items():
        place = OPEN[int(uniform() * len(OPEN))] if tag in OPEN and uniform() < MISPLACED else tag
        known = ENDINGS.get(place, ())
        ending = next((i for i, each in enumerate(known) if form.endswith(each)), len(known))
        result[form] = TREE[place] + (f"{ending:03b}" if place in OPEN else "")
    return result


def usual(text: Text) -> dict[str, str]:
    """Return the class that most tokens of each type have, in the order of types."""
    tags: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in text:
        for token in sentence:
            tags[token.form][token.tag] += 1
    return {form: tags[form].most_common(1)[0][0] for form in sorted(tags)}


def by_ending(text: Text) -> dict[str, list[str]]:
    """Return blocks of types that end alike; those with no known ending are one block."""
    known = [each for endings in ENDINGS.values() for each in endings]
    blocks: dict[str, list[str]] = defaultdict(list)
    for form in sorted(frequencies(text)):
        blocks[next((each for each in known if form.endswith(each)), "")].append(form)
    return dict(sorted(blocks.items()))


def random_source(seed: str, what: str) -> Uniform:
    """Return a source of chance of its own."""
    return random.Random(f"{seed} {what}").random
