"""Write the candidate tables that the project ships: simulated, counted, thresholded, annotated.

``python data/make_candidates.py`` writes data/candidates.tsv; ``--starter`` writes the smaller
table of ``lexassay new collocations``. README.md in this folder says what is planted.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pseudo_words import Uniform
from simulation import Kind, Pair, simulate

SEED = "lexassay"
HERE = Path(__file__).resolve().parent
CANDIDATES = HERE / "candidates.tsv"
STARTER = HERE.parent / "pipeline" / "cli" / "starters" / "collocations" / "candidates.tsv"
MIN_FREQUENCY, STARTER_MIN_FREQUENCY = 3, 12

MISSED, TAKEN = 0.03, 0.004
"""Annotation noise: the rates of collocations missed, and of other candidates taken for one."""


class Row(NamedTuple):
    """A candidate; the fields are the columns of the table."""

    l1: str
    l2: str
    f: int
    f1: int
    f2: int
    N: int
    TP: int
    support_verb: int
    figurative: int


CATEGORIES = ("support_verb", "figurative")


def candidates(tokens: Iterable[Pair], planted: Mapping[Pair, Kind], *, seed: str) -> list[Row]:
    """Count pair tokens and annotate the pairs with f >= 3.

    Parameters
    ----------
    tokens : iterable of (str, str)
        All pair tokens.
    planted : mapping of (str, str) to Kind
        The kind of each planted pair.
    seed : str
        Fixes the annotation noise.

    Returns
    -------
    list of Row
        Ordered by l1, l2. The marginals count all pair tokens: the threshold removes
        candidates and never changes f1, f2, N.
    """
    joint = Counter(tokens)
    left: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for (l1, l2), f in joint.items():
        left[l1] += f
        right[l2] += f
    uniform = random.Random(f"{seed} annotation").random
    frequent = sorted(pair for pair, f in joint.items() if f >= MIN_FREQUENCY)
    return [
        Row(*pair, joint[pair], left[pair[0]], right[pair[1]], joint.total(), *judgement)
        for pair, judgement in zip(frequent, _judgements(frequent, planted, uniform), strict=True)
    ]


def _judgements(
    pairs: Iterable[Pair], planted: Mapping[Pair, Kind], uniform: Uniform
) -> Iterator[tuple[int, ...]]:
    """Annotate as a person would, who now and then errs: TP, support_verb, figurative."""
    for pair in pairs:
        chance, side = uniform(), uniform()
        category = None
        kind = planted.get(pair)
        if kind is not None and kind.collocation:
            category = kind.name if chance >= MISSED else None
        elif chance < TAKEN:
            category = CATEGORIES[int(side * len(CATEGORIES))]
        yield int(category is not None), *(int(category == name) for name in CATEGORIES)


def table(rows: Iterable[Row]) -> bytes:
    """Return rows as tab-separated UTF-8 text with a header."""
    lines = ["\t".join(Row._fields), *("\t".join(map(str, row)) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def main() -> None:
    """Write one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starter", action="store_true", help="the small table, f >= 12")
    small: bool = parser.parse_args().starter
    rows = candidates(*simulate(SEED), seed=SEED)
    if small:
        rows = [row for row in rows if row.f >= STARTER_MIN_FREQUENCY]
    path = STARTER if small else CANDIDATES
    path.write_bytes(table(rows))
    print(f"{path.name}: {len(rows):,} candidates, {sum(row.TP for row in rows):,} true positives")


if __name__ == "__main__":
    main()
