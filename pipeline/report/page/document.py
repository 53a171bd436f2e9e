"""What a report is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pipeline.findings.gathering import Told
from pipeline.findings.stage import StageView
from pipeline.remarks.remark import Remark
from pipeline.report.charts.parts.options import Slot, Style
from pipeline.report.view import ViewOptions

Scalar: TypeAlias = str | int | float | bool | None
Record: TypeAlias = str | Mapping[str, Scalar] | Sequence[Mapping[str, Scalar]]
"""A piece of provenance: a text, name -> value, or rows with the same columns."""


@dataclass(frozen=True)
class Shown:
    """A stage of the run that the report may show.

    Parameters
    ----------
    view : StageView
        The stage and a way to its tables. It is passed over if no view knows its kind.
    tables : tuple of str
        Names of its own output tables.
    doc : str
        What such a stage does, in a sentence.
    options : ViewOptions or None
        The options of its view; the view's defaults if None.
    missing : str
        Why it has no results yet; empty if it has.
    """

    view: StageView
    tables: tuple[str, ...] = ()
    doc: str = ""
    options: ViewOptions | None = None
    missing: str = ""


@dataclass(frozen=True)
class ReportInput:
    """A report: its stages in the order of its sections, and where all of it comes from.

    Parameters
    ----------
    title, description : str
        Head of the page.
    stages : sequence of Shown
        The stages, in order.
    provenance : mapping of str to Record
        Heading -> what stands under it: the experiment's text, the stages with their
        fingerprints, the versions, the data files. Shown in this order.
    style : {"screen", "print"} or None
        The style of every figure whose view does not give its own.
    slots : mapping of str to Slot
        The colours and dashes that names have in all figures.
    pictures : tuple of str
        The kinds of files that figures have beside the page: "svg", "png", "pdf".
    most_rows : int
        Tables with more rows than this are not copied beside the page, which says so.
    missing : mapping of str to str
        Stage without results -> why: it waits for somebody, or rests on one that does.
    remarks : mapping of str to sequence of Remark
        Stage -> what looks wrong in its data, whether it is shown or not.
    findings : sequence of Told
        What was found, in the order of reading: the first lines of the page.
    """

    title: str
    description: str = ""
    stages: Sequence[Shown] = ()
    provenance: Mapping[str, Record] = field(default_factory=dict)
    most_rows: int = 5_000_000
    style: Style | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)
    pictures: tuple[str, ...] = ("svg",)
    missing: Mapping[str, str] = field(default_factory=dict)
    remarks: Mapping[str, Sequence[Remark]] = field(default_factory=dict)
    findings: Sequence[Told] = ()
