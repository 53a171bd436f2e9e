"""Write two invented corpora, one of which has keywords, and which words these are.

``python data/make_keywords.py FOLDER`` writes target.txt, reference.txt and kinds.tsv.
README.md in this folder says what is planted.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pseudo_words import PREPOSITIONS, Uniform, draw, invented_words, zipf

SEED = "lexassay"
N_WORDS = 5_000
ENDINGS = ("el", "on", "et", "ip", "um", "ad", "ow", "en", "ate", "ify", "ish", "ous")
DOCUMENTS = {"target": 80, "reference": 240}
SHORTEST, LONGEST = 120, 900
"""Words of a document."""
SENTENCE = 12
THEMES, SLIGHT, AVOIDED, NAMES = 60, 60, 30, 80
"""Planted words: far more frequent in the target, somewhat more, less; names of each corpus."""
PLAIN = "plain"
TIMES = {"theme": (2.5, 6.0), "slight": (1.3, 1.6), "avoided": (0.2, 0.4)}
NAMED = (4, 40)
"""How often a name occurs in its one document."""
TOPICS, OF_A_TOPIC, BOOST = 120, 12, 12.0
"""Words that come and go together in either corpus: every document has one such topic."""

Documents: TypeAlias = list[list[str]]


class PlantedTexts(NamedTuple):
    """The documents of both corpora, and the kind of each word: "plain" if it is not planted."""

    documents: Mapping[str, Documents]
    kinds: Mapping[str, str]


def corpora(seed: str) -> PlantedTexts:
    """Make both corpora; the seed fixes everything."""
    uniform = random.Random(f"{seed} keywords").random
    words = [*PREPOSITIONS, *invented_words(N_WORDS, ENDINGS, uniform)]
    usual = zipf(len(words), exponent=1.05, shift=8.0)
    planted = _choose_planted(words, uniform)
    rates = {
        "target": [
            w * _times(planted.get(word), uniform) for word, w in zip(words, usual, strict=True)
        ],
        "reference": usual,
    }
    topics = [[_from(words, 200, uniform) for _ in range(OF_A_TOPIC)] for _ in range(TOPICS)]
    result = {
        name: [_document(words, rates[name], topics, uniform) for _ in range(size)]
        for name, size in DOCUMENTS.items()
    }
    for name, documents in result.items():
        _name(
            documents, [word for word, kind in planted.items() if kind == f"{name} name"], uniform
        )
    return PlantedTexts(result, dict.fromkeys(words, PLAIN) | planted)


def _from(words: Sequence[str], first: int, uniform: Uniform) -> str:
    return words[first + int(uniform() * (len(words) - first))]


def _choose_planted(words: Sequence[str], uniform: Uniform) -> dict[str, str]:
    """Choose words of middling frequency for each kind, and new ones as names."""
    kinds = ["theme"] * THEMES + ["slight"] * SLIGHT + ["avoided"] * AVOIDED
    planted: dict[str, str] = {}
    while len(planted) < len(kinds):
        word = words[60 + int(uniform() ** 2 * 1_500)]
        planted.setdefault(word, kinds[len(planted)])
    known = {*words}
    names = [
        word for word in invented_words(3 * NAMES, ("burg", "stad"), uniform) if word not in known
    ]
    for number, word in enumerate(names[: 2 * NAMES]):
        planted[word] = f"{('target', 'reference')[number % 2]} name"
    return planted


def _times(kind: str | None, uniform: Uniform) -> float:
    least, most = TIMES.get(kind or "", (1.0, 1.0))
    return least + uniform() * (most - least)


def _document(
    words: Sequence[str], rates: Sequence[float], topics: Sequence[Sequence[str]], uniform: Uniform
) -> list[str]:
    """Draw a document; the words of its topic come more often."""
    topic = {*topics[int(uniform() * len(topics))]}
    boosted = [
        rate * BOOST if word in topic else rate for word, rate in zip(words, rates, strict=True)
    ]
    cumulative = list(accumulate(boosted))
    size = SHORTEST + int(uniform() ** 2 * (LONGEST - SHORTEST + 1))
    return [words[draw(cumulative, uniform)] for _ in range(size)]


def _name(documents: Documents, names: Sequence[str], uniform: Uniform) -> None:
    """Put each name into one document, in place of other words."""
    for name in names:
        document = documents[int(uniform() * len(documents))]
        most = min(NAMED[1], len(document) // 8)
        for _ in range(NAMED[0] + int(uniform() ** 2 * (most - NAMED[0] + 1))):
            document[int(uniform() * len(document))] = name


def files(planted: PlantedTexts) -> dict[str, str]:
    """Return the files by name: two texts, a sentence a line, and the kinds of the words."""
    texts = {
        f"{name}.txt": "".join(
            _text(f"{name}-{i:03}", each) for i, each in enumerate(documents, start=1)
        )
        for name, documents in planted.documents.items()
    }
    rows = (f"target\t{word}\t{kind}\n" for word, kind in sorted(planted.kinds.items()))
    return texts | {"kinds.tsv": "l1\tl2\tkind\n" + "".join(rows)}


def _text(name: str, document: Sequence[str]) -> str:
    return f"### {name}\n" + "".join(f"{line}\n" for line in _lines(document))


def _lines(document: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(document), SENTENCE):
        yield " ".join(document[start : start + SENTENCE])


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; made if it is not there")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    texts = corpora(SEED)
    for name, text in files(texts).items():
        (folder / name).write_bytes(text.encode())
    sizes = (f"{name} {sum(map(len, documents)):,}" for name, documents in texts.documents.items())
    planted = sum(kind != PLAIN for kind in texts.kinds.values())
    print(f"{folder}: words of {', '.join(sizes)}; {planted} words planted")


if __name__ == "__main__":
    main()
