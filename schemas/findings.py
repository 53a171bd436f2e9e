"""The findings of a run: answers and cautions, one sentence each."""

from __future__ import annotations

import polars as pl

from schemas.base import Table, column, rule


class Findings(Table):
    """Findings as sentences with their numbers, in reading order."""

    order: int = column("position in reading order, from 1", key=True, ge=1)
    stage: str = column("stage that it is based on")
    kind: str = column("answer, or caution about the answers", isin=["answer", "caution"])
    about: str = column("kind of statement: best, together, worse, baseline, needed, ties ...")
    question: str = column("topic, e.g. best for 500 candidates; one paragraph per topic")
    category: str = column("category of true positives", nullable=True)
    name: str = column("measure, system, lexicon, class or lemma concerned", nullable=True)
    other: str = column("the one that it is compared with", nullable=True)
    n: int = column("size of the list, or number of items; null if none", nullable=True)
    value: float = column("a proportion, a coefficient or a count", nullable=True)
    lower: float = column("lower limit of its interval", nullable=True)
    upper: float = column("upper limit of its interval", nullable=True)
    p_adjusted: float = column("adjusted p-value of the test", nullable=True, ge=0, le=1)
    text: str = column("the sentence")
    figure: str = column('figure that shows it: "stage" or "stage.name"', nullable=True)

    sentences_have_a_number = rule(
        "every text contains a digit", pl.col("text").str.contains(r"\d")
    )

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))
