"""Small lexicons as dictionaries of sets and as frames, with slow scalar measures."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import polars as pl
from hypothesis import strategies as st

Lexicon = dict[str, set[str]]
SCHEMA = {"lemma": pl.String, "form": pl.String}

lexicons = st.dictionaries(
    st.sampled_from("abcde"), st.sets(st.sampled_from("uvwxyz"), max_size=5), max_size=5
)

FORMS = [
    "missier",
    "missierek",
    "missierna",
    "missierkom",
    "missirijietna",
    "missieri",
    "missierhom",
]
MISSIER = {"missier": set(FORMS)}
DICTIONARY = {"missier": {*FORMS, "missiera", "missieru", "missirijiet"}}


def frame(lexicon: Lexicon) -> pl.LazyFrame:
    none: list[str | None] = [None]
    rows = [(lemma, form) for lemma, forms in lexicon.items() for form in sorted(forms) or none]
    return pl.LazyFrame(rows, schema=SCHEMA, orient="row")


def sets(table: pl.LazyFrame) -> Lexicon:
    lexicon: Lexicon = {}
    for lemma, form in table.collect().rows():
        lexicon.setdefault(lemma, set()).update({form} - {None})
    return lexicon


def value(gold: set[str], other: set[str]) -> Fraction:
    both = len(gold) + len(other)
    return Fraction(2 * len(gold & other), both) if both else Fraction(0)


def best(lemma: str, gold: Lexicon, lexicon: Lexicon) -> tuple[Fraction, str | None]:
    """Return the greatest L of a gold lemma, and the lemma that has it."""
    values = {j: value(gold[lemma], forms) for j, forms in lexicon.items()}
    most = max(values.values(), default=Fraction(0))
    tied = [j for j, each in values.items() if each == most and (most > 0 or j == lemma)]
    return most, lemma if lemma in tied else min(tied, default=None)


def star(lemmas: list[str], gold: Lexicon, lexicon: Lexicon) -> Fraction | None:
    n = sum(len(gold[i]) for i in lemmas)
    total = sum(len(gold[i]) * best(i, gold, lexicon)[0] for i in lemmas)
    return Fraction(total, n) if n else None


def entropy(gold: Lexicon, lexicon: Lexicon) -> float | None:
    total, n = 0.0, 0
    for forms in lexicon.values():
        counts = [len(forms & each) for each in gold.values() if forms & each]
        if counts:
            p = [count / sum(counts) for count in counts]
            total -= len(forms) * sum(each * math.log2(each) for each in p)
            n += len(forms)
    return total / n if n else None


def most_in_common(gold: Lexicon, lexicon: Lexicon) -> int:
    """Try every one-to-one assignment."""
    few, many = sorted((list(gold.values()), list(lexicon.values())), key=len)
    orders = itertools.permutations(many, len(few))
    return max(sum(len(a & b) for a, b in zip(few, order, strict=True)) for order in orders)
