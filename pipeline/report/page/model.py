"""The content of a page: the input of a report, and its sections and parts as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from markupsafe import Markup

from pipeline.findings.base import StageFinding, StageView
from pipeline.remarks.base import Remark
from pipeline.report.charts.spec import Spec
from pipeline.report.charts.style import Slot, Style
from pipeline.report.view import ViewOptions

Scalar: TypeAlias = str | int | float | bool | None
Record: TypeAlias = str | Mapping[str, Scalar] | Sequence[Mapping[str, Scalar]]
"""A piece of provenance: a text, name -> value, or rows with the same columns."""

MOST_ROWS = 5_000_000
"""Larger tables of all rows have no files beside the page, by default."""


@dataclass(frozen=True)
class ReportStage:
    """A stage of the run that the report may show.

    Parameters
    ----------
    view : StageView
        The stage and a way to its tables. It is passed over if no view knows its kind.
    tables : tuple of str
        Names of its own output tables.
    doc : str
        A sentence on the purpose of such a stage.
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
    stages : sequence of ReportStage
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
    findings : sequence of StageFinding
        The findings, in the order of reading: the first lines of the page.
    """

    title: str
    description: str = ""
    stages: Sequence[ReportStage] = ()
    provenance: Mapping[str, Record] = field(default_factory=dict)
    most_rows: int = MOST_ROWS
    style: Style | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)
    pictures: tuple[str, ...] = ("svg",)
    missing: Mapping[str, str] = field(default_factory=dict)
    remarks: Mapping[str, Sequence[Remark]] = field(default_factory=dict)
    findings: Sequence[StageFinding] = ()


# Parts of a page


@dataclass(frozen=True)
class Link:
    """A file beside the page."""

    text: str
    href: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str
    kind: str = "text"


@dataclass(frozen=True)
class Picture:
    """A figure: a still picture, and the specifications of the one that takes its place.

    Parameters
    ----------
    name : str
        Its name, unique in the page; the stem of its files.
    caption : str
        Text below the figure.
    still : str
        The address of the still picture.
    width, height : int
        Its size; pixels.
    specs : tuple of specifications
        The wide one, and the one for a phone or None.
    alt : str
        Text for those who cannot see it; the caption if empty.
    links : tuple of Link
        Its files.
    """

    name: str
    caption: str
    still: str
    width: int
    height: int
    specs: tuple[Spec, Spec | None]
    alt: str = ""
    links: tuple[Link, ...] = ()
    kind: str = "figure"

    @property
    def has_key(self) -> bool:
        """Whether a key of names stands over it."""
        meta = self.specs[0].get("usermeta", {})
        return bool(meta.get("lexassay", {}).get("key"))


@dataclass(frozen=True)
class Grid:
    """A table as text; `right` says of each column whether it is flush right.

    In one that `wraps`, cells hold sentences, which are broken into lines. `groups` are headings
    above the columns, each with the number of columns that it spans; "" spans those without one.
    `marked` has row and column of cells in bold.
    """

    head: tuple[str, ...]
    right: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    omitted: int = 0
    links: tuple[Link, ...] = ()
    wraps: bool = False
    kind: str = "table"
    groups: tuple[tuple[str, int], ...] = ()
    marked: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class FoldedParts:
    """Parts that are folded away until somebody opens them."""

    summary: str
    parts: tuple[Part, ...]
    kind: str = "fold"


@dataclass(frozen=True)
class Searchable:
    """A table of all rows, packed, and its first rows as a table that needs no script."""

    caption: str
    what: tuple[str, str]
    first: Grid
    head: Markup
    rows: str
    details: str
    height: int
    whole: int
    matters: str = ""
    links: tuple[Link, ...] = ()
    why: str = ""
    kind: str = "explorer"


@dataclass(frozen=True)
class SweepControls:
    """All estimates of a sweep, packed, for controls, graph and tables that a script makes.

    Parameters
    ----------
    head : Markup
        Directions for reading, and the values of each setting, as JSON.
    numbers : str
        Two bytes for each number, packed.
    points, count : int
        Numbers of points and of packed numbers.
    """

    head: Markup
    numbers: str
    points: int
    count: int
    kind: str = "sweep"


@dataclass(frozen=True)
class Failures:
    """Points of a sweep that failed: each message once, with the names of its points."""

    messages: tuple[tuple[str, tuple[str, ...]], ...]
    kind: str = "failures"


Part: TypeAlias = Paragraph | Picture | Grid | FoldedParts | Searchable | SweepControls | Failures


@dataclass(frozen=True)
class Data:
    """A whole table of a stage: its size, and its files or why there are none."""

    name: str
    rows: int
    links: tuple[Link, ...]
    why: str = ""


@dataclass(frozen=True)
class PageSection:
    """A stage on the page: under its heading, with its name in the experiment."""

    anchor: str
    heading: str
    name: str
    use: str
    doc: str
    parts: tuple[Part, ...]
    data: tuple[Data, ...] = ()
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class RemarkEntry:
    """A remark in the list at the head of the page, with all stages that have it.

    The anchor of a stage that is not shown is empty.
    """

    remark: Remark
    stages: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Place:
    """Where something stands on the page: the id of the element, and what it is called."""

    id: str
    title: str


@dataclass(frozen=True)
class Statement:
    """A paragraph of findings: what it leads with, what follows, the places that show it."""

    lead: str
    rest: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    section: str = ""
    """The heading of its section, where a list has paragraphs of several."""


@dataclass(frozen=True)
class Answers:
    """The findings of a stage, under its heading."""

    heading: str
    anchor: str
    paragraphs: tuple[Statement, ...]


@dataclass(frozen=True)
class Overview:
    """What the page opens with: a table that answers, sentences, and a figure if there is one."""

    heading: str
    anchor: str
    table: Grid
    figure: Picture | None = None
    sentences: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """The table and the figure."""
        return (self.table,) if self.figure is None else (self.table, self.figure)


@dataclass(frozen=True)
class Page:
    """All that the page says, but for the scripts.

    Parameters
    ----------
    facts : tuple of str
        Further lines of the head.
    overview : Overview or None
        The answers at a glance; its figure stands nowhere else.
    opening : tuple of Part
        The parts before the findings.
    drawer : str
        Title of the list of sections with their files, which is omitted if empty.
    """

    title: str
    description: str
    sections: tuple[PageSection, ...]
    provenance: Mapping[str, Record]
    missing: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[RemarkEntry, ...] = ()
    answers: tuple[Answers, ...] = ()
    cautions: tuple[Statement, ...] = ()
    facts: tuple[str, ...] = ()
    overview: Overview | None = None
    opening: tuple[Part, ...] = ()
    drawer: str = "Stages and their complete tables"


def flatten(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts of a section, those that are folded away too, in their order."""
    for part in parts:
        if isinstance(part, FoldedParts):
            yield from flatten(part.parts)
        else:
            yield part


def pictures(parts: Iterable[Part]) -> Iterator[Picture]:
    """Yield the figures of a section, those that are folded away too."""
    yield from (part for part in flatten(parts) if isinstance(part, Picture))
