"""Lexicons: lemmas with their wordforms, how they were read, which lemmas were sampled."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa
import polars as pl

from schemas.base import Table


class WordList(Table):
    """A canonical wordlist: for each lemma the set of its wordforms."""

    _key: ClassVar[tuple[str, ...]] = ("lemma", "form")

    lemma: str = pa.Field(description="lemma, with what keeps its homographs apart")
    form: str = pa.Field(nullable=True, description="wordform; null = listed without any form")


class LemmaList(Table):
    """The lemmas of a dictionary in the order of their first appearance."""

    _key: ClassVar[tuple[str, ...]] = ("position",)

    position: int = pa.Field(ge=1, description="place by first appearance, from 1")
    lemma: str = pa.Field(description="lemma, with what keeps its homographs apart")
    n_rows: int = pa.Field(ge=1, description="rows of the input that name it; rows")
    n_forms: int = pa.Field(ge=0, description="its distinct wordforms; forms")


class Preparation(Table):
    """What was done to the input, step by step: rows read, texts changed, what was left."""

    _key: ClassVar[tuple[str, ...]] = ("number",)

    number: int = pa.Field(ge=1, description="order of the steps")
    step: str = pa.Field(description="what was done or counted")
    n: int = pa.Field(ge=0, description="how many; rows, texts, lemmas or forms, as the step says")
    such_as: str = pa.Field(nullable=True, description="an example")


class LemmaSample(Table):
    """The lemmas to evaluate by."""

    _key: ClassVar[tuple[str, ...]] = ("lemma",)

    lemma: str = pa.Field(description="sampled lemma")
    position: int = pa.Field(ge=1, description="order of the draw, or of the list")
    population: int = pa.Field(ge=1, description="lemmas that they were taken from; lemmas")
    drawn: bool = pa.Field(description="drawn at random; false for a list that somebody chose")


class LexiconOverlaps(Table):
    """Forms that a lemma of the gold and a lemma of the lexicon share; pairs that share some."""

    _key: ClassVar[tuple[str, ...]] = ("gold", "lemma")

    gold: str = pa.Field(description="lemma of the gold")
    lemma: str = pa.Field(description="lemma of the lexicon")
    n_ij: int = pa.Field(ge=1, description="forms in common; forms")
    n_i: int = pa.Field(ge=1, description="forms of the gold lemma; forms")
    n_j: int = pa.Field(ge=1, description="forms of the lexicon's lemma; forms")

    @pa.dataframe_check(description="n_ij <= n_i and n_ij <= n_j")
    @classmethod
    def sizes_bound_overlap(cls, data: pa.PolarsData) -> pl.LazyFrame:
        """Let no pair share more forms than either has."""
        return data.lazyframe.select(pl.col("n_ij") <= pl.min_horizontal("n_i", "n_j"))
