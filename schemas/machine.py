"""Machine predictions, their agreement with judgements, and the labels that they save."""

from __future__ import annotations

import polars as pl

from schemas import base
from schemas.base import ByCategory, ByList, ByPair, Table, column, rule
from schemas.candidates import AboutCandidates


class Predictions(AboutCandidates, further=()):
    """Machine predictions: the probability that a candidate is a true positive.

    Predictions are not judgements: they never count as labels and are not shown in sheets.
    """

    category: str = column("category of true positives", key=True)
    judge: str = column("judge, a model or a program", key=True)
    id: str = column("candidate", key=True)
    prediction: float = column("probability of a true positive; 0 or 1 for a label", ge=0, le=1)


class JudgesProvenance(Table):
    """Documented provenance of the predictions."""

    # One of the columns is called `column`, as the function is.
    judge: str = base.column("judge", key=True)
    column: str = base.column("column of the file, e.g. model, version or prompt", key=True)
    value: str = base.column("value", key=True)
    rows: int = base.column("rows of the file with this value", ge=1)


class ByJudge(ByCategory):
    """A table with rows for each category and judge."""

    judge: str = column("judge", key=True)


class MachineConfusion(ByJudge):
    """Judgements compared with predictions at a threshold: draws, and weighted shares.

    A share without judged draws in its denominator is null, with limits 0 and 1.
    """

    threshold: float = column("predictions at or above it are positive", ge=0, le=1)
    n_judged: int = column("judged draws with a prediction", ge=0)
    true_positives: int = column("true positives predicted as true; draws", ge=0)
    false_negatives: int = column("true positives predicted as false; draws", ge=0)
    false_positives: int = column("false positives predicted as true; draws", ge=0)
    true_negatives: int = column("false positives predicted as false; draws", ge=0)
    sensitivity: float = column(
        "sensitivity: share of true positives predicted as true", nullable=True, ge=0, le=1
    )
    sensitivity_lower: float = column("lower limit; proportion", ge=0, le=1)
    sensitivity_upper: float = column("upper limit; proportion", ge=0, le=1)
    specificity: float = column(
        "specificity: share of false positives predicted as false", nullable=True, ge=0, le=1
    )
    specificity_lower: float = column("lower limit; proportion", ge=0, le=1)
    specificity_upper: float = column("upper limit; proportion", ge=0, le=1)
    ppv: float = column(
        "share of true positives among those predicted as true", nullable=True, ge=0, le=1
    )
    ppv_lower: float = column("lower limit; proportion", ge=0, le=1)
    ppv_upper: float = column("upper limit; proportion", ge=0, le=1)
    npv: float = column(
        "share of false positives among those predicted as false", nullable=True, ge=0, le=1
    )
    npv_lower: float = column("lower limit; proportion", ge=0, le=1)
    npv_upper: float = column("upper limit; proportion", ge=0, le=1)

    draws_add_up = rule(
        "the four cells add up to n_judged",
        pl.sum_horizontal(
            "true_positives", "false_negatives", "false_positives", "true_negatives"
        ) == pl.col("n_judged"),
    )  # fmt: skip


class Calibration(ByJudge):
    """Calibration: the share of true positives in bins of similar predictions."""

    bin: int = column("1-based bin of predictions of equal width", key=True, ge=1)
    first: float = column("lower edge of the bin; proportion", ge=0, le=1)
    last: float = column("upper edge of the bin; proportion", ge=0, le=1)
    n_judged: int = column("judged draws in the bin", ge=1)
    weight: float = column("estimated share of all candidates in the bin; proportion", gt=0, le=1)
    mean_prediction: float = column("mean prediction in the bin; proportion", ge=0, le=1)
    share: float = column("share of true positives in the bin; proportion", ge=0, le=1)
    lower: float = column("lower limit of the share; proportion", ge=0, le=1)
    upper: float = column("upper limit of the share; proportion", ge=0, le=1)

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class Judges(ByJudge):
    """Agreement of each judge with people; null if it cannot be estimated."""

    n_predicted: int = column("candidates with a prediction", ge=0)
    n_judged: int = column("judged draws with a prediction", ge=0)
    n_unpredicted: int = column("judged draws without a prediction; excluded", ge=0)
    calibration_error: float = column(
        "expected calibration error; proportion", nullable=True, ge=0, le=1
    )
    brier: float = column("mean squared error of the predictions", nullable=True, ge=0, le=1)
    kappa: float = column("Cohen's kappa with human judgements", nullable=True, ge=-1, le=1)
    kappa_lower: float = column("lower limit", nullable=True, ge=-1, le=1)
    kappa_upper: float = column("upper limit", nullable=True, ge=-1, le=1)
    ac1: float = column("Gwet's AC1 with human judgements", nullable=True, ge=-1, le=1)
    ac1_lower: float = column("lower limit", nullable=True, ge=-1, le=1)
    ac1_upper: float = column("upper limit", nullable=True, ge=-1, le=1)
    rho2: float = column(
        "squared correlation with judgements; 0 if negative", nullable=True, ge=0, le=1
    )
    rho2_lower: float = column("lower limit", nullable=True, ge=0, le=1)
    rho2_upper: float = column("upper limit", nullable=True, ge=0, le=1)

    limits_are_ordered = rule(
        "each lower limit <= its upper limit",
        *(pl.col(f"{name}_lower") <= pl.col(f"{name}_upper") for name in ("kappa", "ac1", "rho2")),
    )


class SavedLabels(Table):
    """Labels saved by predictions as auxiliary variable; null below 30 judged draws."""

    n_judged: int = column("judged draws with a prediction in the lists concerned", ge=0)
    rho2: float = column(
        "squared correlation with these judgements; 0 if negative", nullable=True, ge=0, le=1
    )
    rho2_lower: float = column("lower limit", nullable=True, ge=0, le=1)
    rho2_upper: float = column("upper limit", nullable=True, ge=0, le=1)
    tau: float = column("mean weight of the predictions", nullable=True, ge=0, le=1)
    labels_saved: float = column(
        "1 - variance with predictions / variance without; below 0, predictions cost labels",
        nullable=True, le=1,
    )  # fmt: skip


class Savings(ByJudge, ByList, SavedLabels):
    """Labels saved by each judge's predictions for the precision of n-best lists."""

    limits_are_ordered = rule(
        "rho2_lower <= rho2_upper", pl.col("rho2_lower") <= pl.col("rho2_upper")
    )


class PairSavings(ByJudge, ByPair, SavedLabels):
    """Labels saved by each judge's predictions for the difference between two n-best lists."""

    limits_are_ordered = rule(
        "rho2_lower <= rho2_upper", pl.col("rho2_lower") <= pl.col("rho2_upper")
    )
