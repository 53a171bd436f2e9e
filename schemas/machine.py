"""Predictions of machines, their agreement with judgements, and the labels that they save."""

from __future__ import annotations

import polars as pl

from schemas import base
from schemas.base import ByCategory, ByList, ByPair, Table, column, rule
from schemas.candidates import AboutCandidates


class Predictions(AboutCandidates, further=()):
    """What judges that are no people expect: the probability that a candidate is a true positive.

    No judgements: nothing counts them as labels, no sheet shows them.
    """

    category: str = column("category of true positives", key=True)
    judge: str = column("who predicts: a model, a program", key=True)
    id: str = column("candidate", key=True)
    prediction: float = column("probability of a true positive; 0 or 1 of a label", ge=0, le=1)


class JudgesProvenance(Table):
    """What is told of how the judges came to their predictions."""

    # One of the columns is called `column`, as the function is.
    judge: str = base.column("who predicts", key=True)
    column: str = base.column("column of the file, e.g. model, version, prompt", key=True)
    value: str = base.column("what stands there", key=True)
    rows: int = base.column("rows of the file with that value", ge=1)


class ByJudge(ByCategory):
    """A table with rows for each judge of each category."""

    judge: str = column("who predicts", key=True)


class MachineConfusion(ByJudge):
    """People's judgements against predictions at a threshold; draws, and shares by their weights.

    A share is null where nothing was judged that it is a share of; its limits are 0 and 1 there.
    """

    threshold: float = column("a prediction from it on is positive", ge=0, le=1)
    n_judged: int = column("judged draws with a prediction", ge=0)
    true_positives: int = column("draws: true positives, predicted", ge=0)
    false_negatives: int = column("draws: true positives, not predicted", ge=0)
    false_positives: int = column("draws: false positives, predicted", ge=0)
    true_negatives: int = column("draws: false positives, not predicted", ge=0)
    sensitivity: float = column("predicted, of true positives", nullable=True, ge=0, le=1)
    sensitivity_lower: float = column("lower limit; proportion", ge=0, le=1)
    sensitivity_upper: float = column("upper limit; proportion", ge=0, le=1)
    specificity: float = column("not predicted, of false positives", nullable=True, ge=0, le=1)
    specificity_lower: float = column("lower limit; proportion", ge=0, le=1)
    specificity_upper: float = column("upper limit; proportion", ge=0, le=1)
    ppv: float = column("true positives, of those predicted", nullable=True, ge=0, le=1)
    ppv_lower: float = column("lower limit; proportion", ge=0, le=1)
    ppv_upper: float = column("upper limit; proportion", ge=0, le=1)
    npv: float = column("false positives, of those not predicted", nullable=True, ge=0, le=1)
    npv_lower: float = column("lower limit; proportion", ge=0, le=1)
    npv_upper: float = column("upper limit; proportion", ge=0, le=1)

    draws_add_up = rule(
        "the four cells add up to n_judged",
        pl.sum_horizontal(
            "true_positives", "false_negatives", "false_positives", "true_negatives"
        ) == pl.col("n_judged"),
    )  # fmt: skip


class Calibration(ByJudge):
    """How often candidates with about the same prediction are true positives."""

    bin: int = column("1-based bin of predictions of equal width", key=True, ge=1)
    first: float = column("where the bin begins; proportion", ge=0, le=1)
    last: float = column("where it ends; proportion", ge=0, le=1)
    n_judged: int = column("judged draws in it", ge=1)
    weight: float = column("its share of all candidates, estimated; proportion", gt=0, le=1)
    mean_prediction: float = column("mean prediction in it; proportion", ge=0, le=1)
    share: float = column("share of true positives in it; proportion", ge=0, le=1)
    lower: float = column("lower limit of the share; proportion", ge=0, le=1)
    upper: float = column("upper limit of the share; proportion", ge=0, le=1)

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class Judges(ByJudge):
    """How near each judge comes to people; null where it cannot be told."""

    n_predicted: int = column("candidates with a prediction", ge=0)
    n_judged: int = column("judged draws with a prediction", ge=0)
    n_unpredicted: int = column("judged draws without a prediction; left out", ge=0)
    calibration_error: float = column(
        "expected calibration error; proportion", nullable=True, ge=0, le=1
    )
    brier: float = column("mean squared error of the predictions", nullable=True, ge=0, le=1)
    kappa: float = column("Cohen's kappa with people", nullable=True, ge=-1, le=1)
    kappa_lower: float = column("lower limit", nullable=True, ge=-1, le=1)
    kappa_upper: float = column("upper limit", nullable=True, ge=-1, le=1)
    ac1: float = column("Gwet's AC1 with people", nullable=True, ge=-1, le=1)
    ac1_lower: float = column("lower limit", nullable=True, ge=-1, le=1)
    ac1_upper: float = column("upper limit", nullable=True, ge=-1, le=1)
    rho2: float = column(
        "squared correlation with judgements; 0 if negative", nullable=True, ge=0, le=1
    )
    rho2_lower: float = column("lower limit", nullable=True, ge=0, le=1)
    rho2_upper: float = column("upper limit", nullable=True, ge=0, le=1)

    limits_are_ordered = rule(
        "each lower limit <= its upper one",
        *(pl.col(f"{name}_lower") <= pl.col(f"{name}_upper") for name in ("kappa", "ac1", "rho2")),
    )


class Saved(Table):
    """What predictions are worth where they help an estimate; null below 30 judged draws."""

    n_judged: int = column("judged draws with a prediction in what is asked about", ge=0)
    rho2: float = column(
        "squared correlation with judgements there; 0 if negative", nullable=True, ge=0, le=1
    )
    rho2_lower: float = column("lower limit", nullable=True, ge=0, le=1)
    rho2_upper: float = column("upper limit", nullable=True, ge=0, le=1)
    tau: float = column("mean weight of the predictions", nullable=True, ge=0, le=1)
    labels_saved: float = column(
        "1 - variance with predictions / variance without; below 0: they would cost labels",
        nullable=True, le=1,
    )  # fmt: skip


class Savings(ByJudge, ByList, Saved):
    """What each judge's predictions are worth for the precision of n-best lists."""

    limits_are_ordered = rule(
        "rho2_lower <= rho2_upper", pl.col("rho2_lower") <= pl.col("rho2_upper")
    )


class PairSavings(ByJudge, ByPair, Saved):
    """What each judge's predictions are worth for the difference of two n-best lists."""

    limits_are_ordered = rule(
        "rho2_lower <= rho2_upper", pl.col("rho2_lower") <= pl.col("rho2_upper")
    )
