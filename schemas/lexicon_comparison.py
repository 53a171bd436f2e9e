"""Several lexicons against one gold, on the same sampled lemmas."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa

from schemas.base import Table


class LexiconComparison(Table):
    """Each lexicon by itself."""

    _key: ClassVar[tuple[str, ...]] = ("lexicon",)

    lexicon: str = pa.Field(description="stage that scored the lexicon")
    n_lemmas: int = pa.Field(ge=0, description="sampled lemmas; lemmas")
    precision: float = pa.Field(ge=0, le=1, nullable=True, description="mean; proportion")
    recall: float = pa.Field(ge=0, le=1, nullable=True, description="mean; proportion")
    L: float = pa.Field(ge=0, le=1, nullable=True, description="mean; proportion")
    l_star: float = pa.Field(nullable=True, description="L*; proportion")
    standard_error: float = pa.Field(ge=0, nullable=True, description="of L*; proportion")
    lower: float = pa.Field(nullable=True, description="lower limit for L*; proportion")
    upper: float = pa.Field(nullable=True, description="upper limit for L*; proportion")


class LexiconDifferences(Table):
    """Differences in L* between two lexicons, from the same lemmas."""

    _key: ClassVar[tuple[str, ...]] = ("first", "second")

    first: str = pa.Field(description="stage that scored the first lexicon")
    second: str = pa.Field(description="stage that scored the second lexicon")
    difference: float = pa.Field(nullable=True, description="L* of first minus second; proportion")
    standard_error: float = pa.Field(ge=0, nullable=True, description="linearised; proportion")
    lower: float = pa.Field(nullable=True, description="lower limit; proportion")
    upper: float = pa.Field(nullable=True, description="upper limit; proportion")
    confidence: float = pa.Field(gt=0, lt=1, description="of each interval by itself; proportion")
    n_first: int = pa.Field(ge=0, description="lemmas with the greater L in the first; lemmas")
    n_second: int = pa.Field(ge=0, description="lemmas with the greater L in the second; lemmas")
    n_equal: int = pa.Field(ge=0, description="lemmas with equal L in both; lemmas")


class LexiconLemmas(Table):
    """The L of each sampled lemma in each lexicon; rank 1 is where they differ most."""

    _key: ClassVar[tuple[str, ...]] = ("rank", "lexicon")

    rank: int = pa.Field(ge=1, description="place by the difference times n_gold, greatest first")
    lexicon: str = pa.Field(description="stage that scored the lexicon")
    lemma: str = pa.Field(description="lemma of the gold")
    n_gold: int = pa.Field(ge=0, description="forms in the gold; forms")
    L: float = pa.Field(ge=0, le=1, description="best match; proportion")
    range: float = pa.Field(ge=0, le=1, description="greatest minus smallest L; proportion")
    missing: str = pa.Field(description="forms that the lexicon lacks")
    spurious: str = pa.Field(description="forms that it has and the gold has not")
