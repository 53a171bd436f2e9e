"""The HTML page: one file that needs no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pipeline.remarks.remark import Remark
from pipeline.report.page.cells import cell
from pipeline.report.page.document import Record


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
    """A figure: a still picture, and the specification of the one that takes its place."""

    caption: str
    still: str
    spec: Markup
    links: tuple[Link, ...] = ()
    kind: str = "figure"


@dataclass(frozen=True)
class Grid:
    """A table as text; `right` says of each column whether it is flush right."""

    head: tuple[str, ...]
    right: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    left_out: int = 0
    links: tuple[Link, ...] = ()
    kind: str = "table"


Part: TypeAlias = Paragraph | Picture | Grid


@dataclass(frozen=True)
class Data:
    """A whole table of a stage: its size, and its files or why there are none."""

    name: str
    rows: int
    links: tuple[Link, ...]
    why: str = ""


@dataclass(frozen=True)
class PageSection:
    """A stage on the page."""

    anchor: str
    heading: str
    use: str
    doc: str
    parts: tuple[Part, ...]
    data: tuple[Data, ...] = ()
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class Remarked:
    """A remark in the list at the head of the page, with all stages of which it is said.

    The anchor of a stage that is not shown is empty.
    """

    remark: Remark
    stages: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Page:
    """All that the page says, but for the scripts."""

    title: str
    description: str
    sections: tuple[PageSection, ...]
    provenance: Mapping[str, Record]
    missing: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remarked, ...] = ()


def render(page: Page, *, javascript: str) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    page : Page
        What it says. Every text is escaped.
    javascript : str
        The charting scripts, put in once; left out if empty.
    """
    environment = Environment(
        loader=PackageLoader("pipeline.report"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=StrictUndefined, keep_trailing_newline=True,
    )  # fmt: skip
    records = [(heading, record_part(record)) for heading, record in page.provenance.items()]
    template = environment.get_template("report.html.j2")
    return template.render(page=page, records=records, javascript=Markup(javascript))


def inline_json(value: Any) -> Markup:
    r"""Return JSON that can stand in a ``script`` element, whatever its strings hold.

    Examples
    --------
    >>> inline_json({"l1": "</script>"})
    Markup('{"l1":"\\u003c/script\\u003e"}')
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def record_part(record: Record) -> str | Grid:
    """Return a piece of provenance as text or as a table."""
    if isinstance(record, str):
        return record
    if isinstance(record, Mapping):
        rows = tuple((name, cell(value)) for name, value in record.items())
        return Grid(("", ""), (False, False), rows)
    return _rows(record)


def _rows(records: Sequence[Mapping[str, Any]]) -> Grid:
    head = tuple(dict.fromkeys(name for record in records for name in record))
    rows = tuple(tuple(cell(record.get(name)) for name in head) for record in records)
    columns = [[record[name] for record in records if name in record] for name in head]
    right = tuple(all(isinstance(value, int | float) for value in column) for column in columns)
    return Grid(head, right, rows)
