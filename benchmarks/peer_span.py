"""Count lemmas in the span of a node with a Counter: a peer to measure against.

python benchmarks/peer_span.py FILE MIN_FREQUENCY
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter
from collections.abc import Iterator

SPAN = 5


def sentences(path: str) -> Iterator[list[str]]:
    words: list[str] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if line.startswith("# ") or fields == [""]:  # a novel begins, a sentence ends
                yield words
                words = []
            else:
                words.append(fields[1])
    yield words


def main() -> int:
    """Print the number of candidates, by the rule that counts a position once."""
    f: Counter[tuple[str, str]] = Counter()
    positions: Counter[str] = Counter()
    corpus: Counter[str] = Counter()
    for words in sentences(sys.argv[1]):
        corpus.update(words)
        ends: dict[str, int] = {}
        for at, node in enumerate(words):
            if not node:  # without a lemma: a position, but no unit
                continue
            start = max(at - SPAN, ends.get(node, -1) + 1, 0)
            stop = min(at + SPAN, len(words) - 1)
            for place in range(start, stop + 1):
                if place != at:
                    if words[place]:
                        f[node, words[place]] += 1
                    positions[node] += 1
            ends[node] = stop
    least, total = int(sys.argv[2]), corpus.total()
    rows = [
        (l1, l2, count, positions[l1], corpus[l2], total)
        for (l1, l2), count in f.items()
        if count >= least
    ]
    print(len(rows), total)
    return 0


if __name__ == "__main__":
    sys.exit(main())
