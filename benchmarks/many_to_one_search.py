"""Compare the default search for M-1 mappings with plain climbs from random mappings.

    python benchmarks/many_to_one_search.py [--restarts 1000] [--seeds 5] [--only ewt|sets|random]

Data: UD English EWT (LEXASSAY_DATA) by its Brown and Clark clusters, every word in one, and by the
tags of the words themselves and of the words before them, most frequent words in several; invented
items as in make_memberships.py; random memberships of several shapes, which have many peaks. For
each: the value without kicks, the lowest and highest of the default over the seeds, the best of the
restarts, and seconds. Ends with 1 if restarts found a better value than a seed did.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import sys
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
from make_memberships import EVEN, Size, memberships, taggings

from pipeline.kernels.clustering.measure import TYPE_LEVEL, TYPE_MEASURES
from pipeline.kernels.clustering.types.mapping import Neighbours, climb, is_separable, many_to_one
from pipeline.kernels.clustering.types.measures import Patterns, entries

IMPROVEMENT = Fraction(1, 10**12)
DICTIONARIES = {
    "Brown 17": "brown_ewtgum_c17.paths.gz",
    "Brown 45": "brown_ewtgum_c45.paths.gz",
    "Clark 45": "clark_neyessenmorph_ewtgum_c45.tsv.gz",
}
PUNCTUATION = {
    "upos": {"PUNCT"},
    "xpos": {"''", "``", ",", ".", ":", "-LRB-", "-RRB-", "HYPH", "NFP"},
}
SHAPES = ((200, 8, 12), (500, 20, 20), (2_000, 10, 40), (5_000, 34, 34))
"""Items, classes, clusters of random memberships."""
Case = tuple[str, Patterns]


def words(root: Path) -> pl.DataFrame:
    """Return item, upos and xpos of every word of EWT, and the upos of the word before it."""
    path = root / "corpora" / "UD_English-EWT.all.conllu.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        cells = [line.split("\t")[:5] for line in lines if line[0].isdigit()]
    rows = [(form, upos, xpos) for number, form, _, upos, xpos in cells if number.isdigit()]
    table = pl.DataFrame(rows, schema=["item", "upos", "xpos"], orient="row")
    return table.with_columns(before=pl.col("upos").shift(fill_value="none"))


def dictionary(path: Path) -> pl.DataFrame:
    """Return item and cluster of a Brown or a Clark file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    if rows[0][0] == "word":
        pairs = [(word, cluster) for word, cluster, *_ in rows[1:]]
    else:
        pairs = [(word, cluster) for cluster, word, *_ in rows]
    return pl.DataFrame(pairs, schema=["item", "cluster"], orient="row")


def ewt(root: Path) -> Iterator[Case]:
    """Yield EWT by its clusters, with punctuation and without."""
    tokens = words(root)
    for name, file in DICTIONARIES.items():
        induced = dictionary(root / "clustering" / file)
        for tag, punctuation in PUNCTUATION.items():
            for omitted, what in ((set(), "all"), (punctuation, "no punctuation")):
                rest = tokens.filter(~pl.col(tag).is_in(omitted))
                gold = rest.select("item", gold=tag).unique()
                yield f"EWT {tag}, {name}, {what}", entries(gold, induced).patterns


def sets(root: Path) -> Iterator[Case]:
    """Yield EWT by tags of its words, most frequent ones in several clusters."""
    tokens = words(root)
    for gold, cluster in (("upos", "xpos"), ("xpos", "upos"), ("xpos", "before")):
        pairs = [tokens.select("item", **{as_: of}).unique()
                 for as_, of in (("gold", gold), ("cluster", cluster))]  # fmt: skip
        yield f"EWT {gold} by {cluster}", entries(*pairs).patterns


def invented_cases() -> Iterator[Case]:
    """Yield invented items, and random memberships of several shapes."""
    for size in (Size(39_546, 34, 34), Size(39_546, 34, 34, EVEN), Size(39_546, 34, 192)):
        gold, induced, _ = memberships(size)
        share = f"{1 - size.senses[0]:.0%} in several"
        yield (
            f"{size.items:,} x {size.classes} x {size.clusters}, {share}",
            entries(gold, induced).patterns,
        )
    for clusters in (20, 45):
        columns = (each.astype(str) for each in taggings(Size(100_000, 45, clusters)))
        tokens = pl.DataFrame(dict(zip(("gold", "cluster", "item"), columns, strict=True)))
        pairs = [tokens.select("item", name).unique() for name in ("gold", "cluster")]
        yield f"types of tokens x 45 x {clusters}", entries(*pairs).patterns
    bits = np.random.default_rng(9)
    for items, classes, clusters in SHAPES:
        for most in (1, 4):
            tables = [
                _random_memberships(bits, items, number, name, most)
                for number, name in ((classes, "gold"), (clusters, "cluster"))
            ]
            title = f"random {items:,} x {classes} x {clusters}, 1 to {most}"
            yield title, entries(*tables).patterns


def _random_memberships(
    bits: np.random.Generator, items: int, groups: int, name: str, most: int
) -> pl.DataFrame:
    drawn = bits.integers(1, most + 1, size=items)
    item = np.repeat(np.arange(items), drawn)
    group = bits.choice(groups, size=len(item))
    text = {"item": item, name: group}
    return pl.DataFrame(text).select(pl.all().cast(pl.String)).unique(maintain_order=True)


def compare_search(case: Case, measure: str, *, restarts: int, seeds: int) -> bool:
    """Print a row, and return whether no restart is better than any seed."""
    title, patterns = case
    if is_separable(patterns, measure):
        print(f"| {title} | {measure} | exact | | | | | |", flush=True)
        return True
    neighbours, score = Neighbours(patterns), TYPE_MEASURES.get(measure).score
    clock = [time.process_time()]
    plain = many_to_one(neighbours, measure, kicks=0, seed="0")
    clock.append(time.process_time())
    mappings = [many_to_one(neighbours, measure, seed=str(seed)).mapping for seed in range(seeds)]
    clock.append(time.process_time())
    bits, (clusters, classes) = np.random.default_rng(1000), neighbours.overlap.shape
    ends = (
        climb(neighbours, measure, np.asarray(bits.integers(classes, size=clusters)))
        for _ in range(restarts)
    )
    best = max(score(patterns, end).value for end in ends)
    values = [score(patterns, each).value for each in mappings]
    start, low, high = score(patterns, plain.mapping).value, min(values), max(values)
    good = bool(best <= low + IMPROVEMENT)
    agree = sum(value == high for value in values)
    first, second = clock[1] - clock[0], (clock[2] - clock[1]) / seeds
    print(
        f"| {title} | {measure} | {float(start):.7f} ({plain.reached} of {plain.starts}) | "
        f"{float(high):.7f} ({agree} of {seeds}) | "
        f"{float(low):.7f} | {float(best):.7f} | {'' if good else 'BETTER'} | "
        f"{first:.2f} | {second:.2f} |",
        flush=True,
    )
    return good


def main(arguments: Sequence[str]) -> int:
    """Compare on all data."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--restarts", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=["ewt", "sets", "random"])
    options = parser.parse_args(arguments)
    kinds = [options.only] if options.only else ["ewt", "sets", "random"]
    cases: list[Case] = []
    if root := os.environ.get("LEXASSAY_DATA"):
        cases += ewt(Path(root)) if "ewt" in kinds else ()
        cases += sets(Path(root)) if "sets" in kinds else ()
    cases += invented_cases() if "random" in kinds else ()
    print("| data | measure | no kicks | default | its lowest | restarts | | s without | s with |")
    print("|---|---|---|---|---|---|---|---|---|")
    good = [
        compare_search(case, measure, restarts=options.restarts, seeds=options.seeds)
        for case in cases
        for measure in TYPE_LEVEL
    ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
