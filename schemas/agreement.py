"""How far several annotators agree."""

from __future__ import annotations

import polars as pl

from schemas.base import Table
from schemas.candidates import AboutCandidates
from schemas.declaration import column, rule


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
