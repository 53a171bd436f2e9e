"""What a run found: its answers, and what to know before believing them, a sentence each."""

from __future__ import annotations

import polars as pl

from schemas.base import Table, column, rule


class Findings(Table):
    """A sentence of each finding, with the numbers in it, in the order of reading."""

    order: int = column("place in the reading, from 1", key=True, ge=1)
    stage: str = column("stage whose tables it was computed from")
    kind: str = column(
        "answer, or caution: what to know before believing the answers", isin=["answer", "caution"]
    )
    about: str = column("what is said: best, together, worse, baseline, needed, ties ...")
    question: str = column("what it answers, e.g. best for 500 candidates; same = one paragraph")
    category: str = column("category of true positives", nullable=True)
    name: str = column("measure, system, lexicon, class or lemma that it is about", nullable=True)
    other: str = column("what that is held against", nullable=True)
    n: int = column("size of the list, or number of items; null where it has none", nullable=True)
    value: float = column("the number: a proportion, a coefficient or a count", nullable=True)
    lower: float = column("lower limit of its interval", nullable=True)
    upper: float = column("upper limit of its interval", nullable=True)
    p_adjusted: float = column("adjusted p-value of the test", nullable=True, ge=0, le=1)
    text: str = column("the sentence")
    figure: str = column('figure that shows it, "stage" or "stage.name"', nullable=True)

    sentences_have_a_number = rule("a digit in every text", pl.col("text").str.contains(r"\d"))

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))
