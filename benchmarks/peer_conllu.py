"""Count PP-verb pairs with the conllu package and a Counter: a peer to measure against.

python benchmarks/peer_conllu.py conllu|pyconll FILE
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

Word = tuple[int, str, str, int, str]


def with_conllu(path: str) -> Iterator[list[Word]]:
    """Yield id, lemma, upos, head, deprel of every word, read by conllu."""
    import conllu

    with open(path, encoding="utf-8") as lines:  # noqa: PTH123  as its users would
        for sentence in conllu.parse_incr(lines):
            yield [
                (w["id"], w["lemma"], w["upos"], w["head"], w["deprel"])
                for w in sentence
                if isinstance(w["id"], int)
            ]


def with_pyconll(path: str) -> Iterator[list[Word]]:
    """Yield the same, read by pyconll."""
    from pyconll.load import iter_from_file

    for sentence in iter_from_file(path):
        yield [
            (int(w.id), w.lemma or "_", w.upos or "_", int(w.head or 0), w.deprel or "_")
            for w in sentence
            if w.id.isdigit()
        ]


def main() -> int:
    """Print the number of pair types and tokens."""
    read = {"conllu": with_conllu, "pyconll": with_pyconll}[sys.argv[1]]
    pairs: Counter[tuple[str, str]] = Counter()
    for words in read(sys.argv[2]):
        case: dict[int, str] = {}
        for _, lemma, _, head, deprel in words:
            if deprel == "case":
                case.setdefault(head, lemma)
        nouns = [f"{case[w[0]]}:{w[1]}" for w in words if w[2] == "NOUN" and w[0] in case]
        verbs = [w[1] for w in words if w[2] == "VERB"]
        pairs.update((noun, verb) for noun in nouns for verb in verbs)
    left: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for (l1, l2), f in pairs.items():
        left[l1] += f
        right[l2] += f
    rows = [(l1, l2, f, left[l1], right[l2]) for (l1, l2), f in pairs.items() if f >= 3]
    print(len(rows), sum(pairs.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
