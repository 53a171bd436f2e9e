"""Samples of candidates, annotation sheets, judgements, and the agreement of annotators."""

from __future__ import annotations

import polars as pl

from schemas.base import ByCategory, Table, column, rule
from schemas.candidates import AboutCandidates, CandidateIds

# Agreement of annotators


class Agreement(Table):
    """Agreement of all annotators and of each pair, over all labels and in each category."""

    category: str = column("category of true positives; * = all labels", key=True)
    annotator_1: str = column("first annotator; * = all annotators", key=True)
    annotator_2: str = column("second annotator; * = all annotators", key=True)
    coefficient: str = column("observed, positive, negative, cohen_kappa, gwet_ac1 ...", key=True)
    method: str = column("method of the interval: analytic or bootstrap", key=True)
    items: int = column("candidates judged by two or more annotators", ge=0)
    estimate: float = column(
        "the coefficient; 1 = agreement; for gwet_ac1, q is the number of labels offered",
        nullable=True,
        le=1,
    )
    standard_error: float = column("its standard error", nullable=True, ge=0)
    lower: float = column("lower limit of the interval", nullable=True, le=1)
    upper: float = column("upper limit of the interval", nullable=True, le=1)
    undefined: int = column(
        "bootstrap samples in which the coefficient is undefined; excluded", ge=0
    )

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class Disagreements(AboutCandidates, further=()):
    """The labels of candidates on which annotators disagree."""

    id: str = column("candidate with two or more different labels", key=True)
    annotator: str = column("annotator", key=True)
    label: str = column("label given by this annotator", key=True)


# Coverage of the candidates by judgements


class Coverage(ByCategory):
    """Candidates, judged candidates and unmatched judgements, one row per category."""

    n_candidates: int = column("candidates in the data set", ge=0)
    n_judged: int = column("candidates with a judgement", ge=0)
    n_true: int = column("true positives among them", ge=0)
    n_unmatched: int = column("judgements on pairs that are not candidates", ge=0)


class GoldCoverage(Coverage):
    """Entries of a list used as gold standard, and the candidates they judge, by category.

    Recall counts candidates: several can be one entry, and an entry that is no candidate counts
    once. A list has n_true + n_unmatched positives, of which the candidates can give n_true.
    """

    n_false: int = column("false candidates: not listed, but covered", ge=0)
    n_unjudged: int = column("candidates whose words the list does not cover", ge=0)
    n_entries: int = column("different entries of the list", ge=0)
    n_matched: int = column("entries that are candidates", ge=0)
    n_unmatched: int = column("entries that are not candidates", ge=0)
    n_absent: int = column("entries with a word that no candidate has in that place", ge=0)
    n_duplicates: int = column("rows that repeat an entry of the same file", ge=0)
    n_unreadable: int = column("rows without exactly two words", ge=0)

    candidates_add_up = rule(
        "n_true + n_false + n_unjudged = n_candidates",
        pl.col("n_true") + pl.col("n_false") + pl.col("n_unjudged") == pl.col("n_candidates"),
    )

    entries_add_up = rule(
        "n_matched + n_unmatched = n_entries",
        pl.col("n_matched") + pl.col("n_unmatched") == pl.col("n_entries"),
    )


# Pairs in a corpus with annotated multiword expressions


class AnnotatedPairs(Table):
    """Frequency of each candidate in an annotated corpus, or in a part of it."""

    id: str = column("candidate", key=True)
    f: int = column("pair tokens", ge=1)


class ExpressionPairs(Table):
    """How often both tokens of a pair belong to one expression, in a part of a corpus."""

    category: str = column("category of true positives", key=True)
    id: str = column("pair", key=True)
    f: int = column("pair tokens in an expression of the category", ge=1)
    candidate: bool = column("whether the pair is a candidate", key=True)


class ExpressionCounts(ByCategory):
    """Tokens of each candidate inside annotated expressions, one row per category and candidate."""

    id: str = column("candidate", key=True)
    f: int = column("pair tokens in the corpus", ge=1)
    inside: int = column("pair tokens inside one expression of the category", ge=0)

    some_are_inside = rule("inside <= f", pl.col("inside") <= pl.col("f"))


# Judgements and samples: a candidate is a true or false positive, undecided, or not judged


class Judgements(Table):
    """One row per candidate and category of true positives.

    Unjudged candidates are absent; a candidate with conflicting judgements is null, not false.
    """

    category: str = column("category of true positives, e.g. TP, figurative", key=True)
    id: str = column("candidate", key=True)
    tp: bool = column("true positive; null = undecided, conflicting judgements", nullable=True)


class DrawnCandidates(CandidateIds):
    """The candidates of a sample, each once, with its inclusion probability.

    pi is constant in a simple sample, constant within each stratum of a stratified sample, and
    different for each candidate of a designed sample.
    """

    multiplicity: int = column("times drawn; 1 without replacement", ge=1)
    position: int = column("1-based order of the first draw", ge=1)
    pi: float = column(
        "inclusion probability; null when drawn with replacement",
        nullable=True,
        gt=0,
        le=1,
    )
    stratum: str = column("stratum with a fixed number of draws; 'all' if there is only one")


class Sample(DrawnCandidates, further=()):
    """A simple random sample: all candidates have the same inclusion probability."""

    drawn_again_without_pi = rule(
        "no pi where multiplicity > 1", pl.col("pi").is_null() | (pl.col("multiplicity") == 1)
    )


class ActiveSample(
    AboutCandidates,
    further=(),
    instead=(
        "these candidates were selected for their high probability, not drawn at random, so their "
        "judgements improve a list (sheet.list) but estimate nothing; use the random sample"
    ),
):
    """The unjudged candidates that are most probably true positives, to be judged next.

    Not a sample: there are no inclusion probabilities, and no estimate accepts it.
    """

    id: str = column("candidate", key=True)
    position: int = column("order by probability, from 1", ge=1)
    probability: float = column("probability of a true positive by the refit", ge=0, le=1)
    refit_rank: int = column("rank by this probability among all candidates", ge=1)


# Annotation sheets, before and after they are filled in


class SheetRows(Table, further=(pl.String,)):
    """Rows of the annotation sheets, one per candidate and annotator, in the order shown.

    Tuples also have l3 ... lk; examples are in columns of their own.
    """

    annotator: str = column("annotator of the row", key=True)
    order: int = column("random position in the annotator's sheet", key=True, ge=1)
    id: str = column("candidate")
    l1: str = column("left unit")
    l2: str = column("right unit")


class Labels(Table):
    """The labels that annotators can choose from."""

    label: str = column("label, as spelt in the drop-down", key=True)


class SheetEntries(Table, further=(pl.String,)):
    """The contents of returned sheets, as typed.

    Tuples also have l3 ... lk. A column ``round`` distinguishes independent annotation (null or
    "annotation") from adjudication with knowledge of the first labels ("adjudication").
    """

    file: str = column("file name of the sheet", key=True)
    line: int = column("row number in the spreadsheet", key=True, ge=1)
    annotator: str = column("annotator", nullable=True)
    id: str = column("candidate", nullable=True)
    l1: str = column("left unit", nullable=True)
    l2: str = column("right unit", nullable=True)
    label: str = column("label as typed; null = empty", nullable=True)
    note: str = column("annotator's remark", nullable=True)


class Annotations(Table):
    """The labels given by people, one per candidate and annotator."""

    id: str = column("candidate", key=True)
    annotator: str = column("annotator", key=True)
    label: str = column("label, as the experiment spells it")
    note: str = column("annotator's remark", nullable=True)


class AdjudicatedLabels(Table):
    """The final label of each candidate.

    Labels from adjudication take precedence.
    """

    id: str = column("candidate", key=True)
    label: str = column("final label; null = undecided", nullable=True)
    annotators: int = column("number of annotators", ge=1)
    agreed: bool = column("true if all annotators gave the same label")


class Resolutions(Table):
    """Decisions of adjudicators who saw the first labels, one row per resolved candidate."""

    id: str = column("candidate", key=True)
    label: str = column("label decided on")
    annotator: str = column("adjudicators, e.g. anna, ben")
    note: str = column("remarks of the adjudicators", nullable=True)
    first: str = column("labels of the first round, e.g. anna: SVC; ben: free")
