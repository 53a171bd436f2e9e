"""Samples of candidates, annotation sheets, judgements, and the agreement of annotators."""

from __future__ import annotations

import polars as pl

from schemas.base import ByCategory, Table, column, rule
from schemas.candidates import AboutCandidates, Identified

# Agreement of annotators


class Agreement(Table):
    """Agreement of all annotators, and of each two, over all labels and in each category."""

    category: str = column("category of true positives; * = the labels themselves", key=True)
    annotator_1: str = column("first annotator; * = all annotators", key=True)
    annotator_2: str = column("second annotator; * = all annotators", key=True)
    coefficient: str = column("observed, positive, negative, cohen_kappa, gwet_ac1 ...", key=True)
    method: str = column("of the interval: analytic or bootstrap", key=True)
    items: int = column("candidates that two or more annotators judged", ge=0)
    estimate: float = column("the coefficient; 1 = agreement", nullable=True, le=1)
    standard_error: float = column("its standard error", nullable=True, ge=0)
    lower: float = column("lower limit of the interval", nullable=True, le=1)
    upper: float = column("upper limit of the interval", nullable=True, le=1)
    undefined: int = column(
        "bootstrap samples in which the coefficient has no value; left out", ge=0
    )

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class Disagreements(AboutCandidates, further=()):
    """What the annotators say of the candidates that they label differently."""

    id: str = column("candidate with two different labels or more", key=True)
    annotator: str = column("who annotated", key=True)
    label: str = column("the label that this annotator gave", key=True)


# Coverage of the candidates by judgements


class Coverage(ByCategory):
    """One row per category: candidates, those judged, and judgements that match none."""

    n_candidates: int = column("candidates in the data set", ge=0)
    n_judged: int = column("candidates with a judgement", ge=0)
    n_true: int = column("true positives among them", ge=0)
    n_unmatched: int = column("judgements on pairs that are no candidates", ge=0)


# Pairs in a corpus whose multiword expressions are annotated


class AnnotatedPairs(Table):
    """How often each candidate occurs in an annotated corpus, or in a part of it."""

    id: str = column("candidate", key=True)
    f: int = column("pair tokens", ge=1)


class ExpressionPairs(Table):
    """How often the two tokens of a pair belong to one expression, in a part of a corpus."""

    category: str = column("category of true positives", key=True)
    id: str = column("pair", key=True)
    f: int = column("pair tokens in an expression of the category", ge=1)
    candidate: bool = column("whether the pair is a candidate", key=True)


class ExpressionCounts(ByCategory):
    """One row per category and candidate of an annotated corpus: its tokens in expressions."""

    id: str = column("candidate", key=True)
    f: int = column("pair tokens in the corpus", ge=1)
    inside: int = column("those whose tokens belong to one expression of the category", ge=0)

    some_are_inside = rule("inside <= f", pl.col("inside") <= pl.col("f"))


# Judgements and samples: a candidate is a true or false positive, undecided, or not judged


class Judgements(Table):
    """One row per candidate and category of true positives.

    A candidate that nobody judged is absent; one on which judgements differ is null: never false.
    """

    category: str = column("category of true positives, e.g. TP, figurative", key=True)
    id: str = column("candidate", key=True)
    tp: bool = column("true positive; null = undecided, judgements differ", nullable=True)


class Drawn(Identified):
    """The candidates of any sample, each once, with the chance that it was drawn with.

    What an estimate needs to know of the design: pi is constant in a simple sample, constant in
    each stratum of a stratified one, its own for each candidate of a designed one.
    """

    multiplicity: int = column("times drawn; 1 without replacement", ge=1)
    position: int = column("1-based order of the first draw", ge=1)
    pi: float = column(
        "inclusion probability; null where candidates could be drawn again",
        nullable=True,
        gt=0,
        le=1,
    )
    stratum: str = column("stratum in which the number of draws is fixed; 'all' if there is one")


class Sample(Drawn, further=()):
    """A simple random sample: every candidate had the same chance."""

    drawn_again_without_pi = rule(
        "no pi where multiplicity > 1", pl.col("pi").is_null() | (pl.col("multiplicity") == 1)
    )


# Annotation sheets, before and after they are filled in


class SheetRows(Table, further=(pl.String,)):
    """One row per candidate and annotator: what the sheets hold, in the order shown.

    Tuples have l3 ... lk, too; examples stand in columns of their own.
    """

    annotator: str = column("who is to annotate the row", key=True)
    order: int = column("place in the annotator's sheet, random", key=True, ge=1)
    id: str = column("candidate")
    l1: str = column("left unit")
    l2: str = column("right unit")


class Labels(Table):
    """The labels that an annotator can choose."""

    label: str = column("label, as spelt in the drop-down", key=True)


class SheetEntries(Table, further=(pl.String,)):
    """What stands in the sheets that came back, as typed.

    Tuples have l3 ... lk, too. A column ``round`` says in which round a label was given: in the
    first where it is null or "annotation", in that of adjudication, by somebody who saw the first
    labels, where it is "adjudication".
    """

    file: str = column("name of the sheet's file", key=True)
    line: int = column("row of the sheet, as the spreadsheet counts", key=True, ge=1)
    annotator: str = column("who annotated", nullable=True)
    id: str = column("candidate", nullable=True)
    l1: str = column("left unit", nullable=True)
    l2: str = column("right unit", nullable=True)
    label: str = column("what was typed; null = nothing yet", nullable=True)
    note: str = column("remark of the annotator", nullable=True)


class Annotations(Table):
    """The labels that people gave, one per candidate and annotator."""

    id: str = column("candidate", key=True)
    annotator: str = column("who annotated", key=True)
    label: str = column("label, as the experiment spells it")
    note: str = column("remark of the annotator", nullable=True)


class Adjudicated(Table):
    """The label that stands for a candidate after all annotators were heard.

    It is that of the adjudication round where this resolved the candidate.
    """

    id: str = column("candidate", key=True)
    label: str = column("the label that stands; null = undecided", nullable=True)
    annotators: int = column("how many annotated it", ge=1)
    agreed: bool = column("whether all gave the same label")


class Resolutions(Table):
    """What people decided who saw the first labels: one row per candidate that this resolved."""

    id: str = column("candidate", key=True)
    label: str = column("the label that was decided on")
    annotator: str = column("who decided, e.g. anna, ben")
    note: str = column("remarks of those who decided", nullable=True)
    first: str = column("the labels of the first round, e.g. anna: SVC; ben: free")
