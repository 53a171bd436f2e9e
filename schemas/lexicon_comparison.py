"""Several lexicons against one gold, on the same sampled lemmas."""

from __future__ import annotations

from schemas.base import Table
from schemas.declaration import column


class LexiconComparison(Table):
    """Each lexicon by itself."""

    lexicon: str = column("stage that scored the lexicon", key=True)
    n_lemmas: int = column("sampled lemmas; lemmas", ge=0)
    precision: float = column("mean; proportion", nullable=True, ge=0, le=1)
    recall: float = column("mean; proportion", nullable=True, ge=0, le=1)
    L: float = column("mean; proportion", nullable=True, ge=0, le=1)
    l_star: float = column("L*; proportion", nullable=True)
    standard_error: float = column("of L*; proportion", nullable=True, ge=0)
    lower: float = column("lower limit for L*; proportion", nullable=True)
    upper: float = column("upper limit for L*; proportion", nullable=True)


class LexiconDifferences(Table):
    """Differences in L* between two lexicons, from the same lemmas."""

    first: str = column("stage that scored the first lexicon", key=True)
    second: str = column("stage that scored the second lexicon", key=True)
    difference: float = column("L* of first minus second; proportion", nullable=True)
    standard_error: float = column("linearised; proportion", nullable=True, ge=0)
    lower: float = column("lower limit; proportion", nullable=True)
    upper: float = column("upper limit; proportion", nullable=True)
    confidence: float = column("of each interval by itself; proportion", gt=0, lt=1)
    n_first: int = column("lemmas with the greater L in the first; lemmas", ge=0)
    n_second: int = column("lemmas with the greater L in the second; lemmas", ge=0)
    n_equal: int = column("lemmas with equal L in both; lemmas", ge=0)


class LexiconLemmas(Table):
    """The L of each sampled lemma in each lexicon; rank 1 is where they differ most."""

    rank: int = column("place by the difference times n_gold, greatest first", key=True, ge=1)
    lexicon: str = column("stage that scored the lexicon", key=True)
    lemma: str = column("lemma of the gold")
    n_gold: int = column("forms in the gold; forms", ge=0)
    L: float = column("best match; proportion", ge=0, le=1)
    range: float = column("greatest minus smallest L; proportion", ge=0, le=1)
    missing: str = column("forms that the lexicon lacks")
    spurious: str = column("forms that it has and the gold has not")
    pi: float = column(
        "inclusion probability; null = not drawn at random", nullable=True, gt=0, le=1
    )
