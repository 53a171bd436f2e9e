"""The HTML page: one file that needs no network."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pipeline.report.page.assets import EXPLORER_SCRIPTS, EXPLORER_STYLES, asset, bundle
from pipeline.report.page.cells import cell
from pipeline.report.page.document import Record
from pipeline.report.page.figures import script
from pipeline.report.page.page import (
    Grid,
    Link,
    Page,
    PageSection,
    Picture,
    Searchable,
    unfolded,
)


def render(page: Page) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    page : Page
        What it says. Every text is escaped. Charting scripts and what tables of all rows run on
        are put in once, if it has figures and such tables.
    """
    environment = Environment(
        loader=PackageLoader("pipeline.report"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=StrictUndefined, keep_trailing_newline=True,
    )  # fmt: skip
    records = [(heading, record_part(record)) for heading, record in page.provenance.items()]
    parts = [part for section in page.sections for part in unfolded(section.parts)]
    figures = {part.name: part.specs for part in parts if isinstance(part, Picture)}
    explored = any(isinstance(part, Searchable) for part in parts)
    styles = ["page.css", "figures.css", *(EXPLORER_STYLES if explored else ())]
    return environment.get_template("report.html.j2").render(
        page=page, records=records, javascript=Markup(script(figures)),
        style=Markup(bundle(styles)), scripts=Markup(asset("figures.js")),
        explorer=Markup(bundle(EXPLORER_SCRIPTS if explored else ())),
        behaviour=Markup(asset("page.js")), downloads=downloads(page.sections),
    )  # fmt: skip


def downloads(sections: Sequence[PageSection]) -> dict[str, list[tuple[str, tuple[Link, ...]]]]:
    """Return the files of each section's figures and tables, under the numbers that they have."""
    count = Counter[str]()
    found: dict[str, list[tuple[str, tuple[Link, ...]]]] = {}
    for section in sections:
        mine = found.setdefault(section.name, [])
        for part in unfolded(section.parts):
            if isinstance(part, Picture | Grid | Searchable):
                kind = "Figure" if isinstance(part, Picture) else "Table"
                count[kind] += 1
                mine.append((f"{kind} {count[kind]}", part.links))
    return {name: [each for each in mine if each[1]] for name, mine in found.items()}


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
