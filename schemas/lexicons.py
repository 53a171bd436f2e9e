"""Lexicons: lemmas with their wordforms, how they were read, which lemmas were sampled."""

from __future__ import annotations

import polars as pl

from schemas.base import Table
from schemas.declaration import column, rule


class WordList(Table):
    """A canonical wordlist: for each lemma the set of its wordforms."""

    lemma: str = column("lemma, with what keeps its homographs apart", key=True)
    form: str = column("wordform; null = listed without any form", key=True, nullable=True)


class LemmaList(Table):
    """The lemmas of a dictionary in the order of their first appearance."""

    position: int = column("place by first appearance, from 1", key=True, ge=1)
    lemma: str = column("lemma, with what keeps its homographs apart")
    n_rows: int = column("rows of the input that name it; rows", ge=1)
    n_forms: int = column("its distinct wordforms; forms", ge=0)


class Preparation(Table):
    """What was done to the input, step by step: rows read, texts changed, what was left."""

    number: int = column("order of the steps", key=True, ge=1)
    step: str = column("what was done or counted")
    n: int = column("how many; rows, texts, lemmas or forms, as the step says", ge=0)
    such_as: str = column("an example", nullable=True)


class LemmaSample(Table):
    """The lemmas to evaluate by."""

    lemma: str = column("sampled lemma", key=True)
    position: int = column("order of the draw, or of the list", ge=1)
    population: int = column("lemmas that they were taken from; lemmas", ge=1)
    drawn: bool = column("drawn at random; false for a list that somebody chose")
    pi: float = column(
        "inclusion probability; null = not drawn at random", nullable=True, gt=0, le=1
    )
    stratum: str = column("stratum in which the number of draws is fixed; 'all', the only one")

    drawn_by_a_chance = rule(
        "pi is known where drawn, and only there", pl.col("drawn") == pl.col("pi").is_not_null()
    )


class LexiconOverlaps(Table):
    """Forms that a lemma of the gold and a lemma of the lexicon share; pairs that share some."""

    gold: str = column("lemma of the gold", key=True)
    lemma: str = column("lemma of the lexicon", key=True)
    n_ij: int = column("forms in common; forms", ge=1)
    n_i: int = column("forms of the gold lemma; forms", ge=1)
    n_j: int = column("forms of the lexicon's lemma; forms", ge=1)

    sizes_bound_overlap = rule(
        "n_ij <= n_i and n_ij <= n_j", pl.col("n_ij") <= pl.min_horizontal("n_i", "n_j")
    )
