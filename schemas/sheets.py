"""Annotation sheets: what is to be annotated by whom, and what came back."""

from __future__ import annotations

import polars as pl

from schemas.base import Table
from schemas.declaration import column


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
