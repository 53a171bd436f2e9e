"""Build a report: the page and the files beside it, as bytes; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.remarks.remark import LEVELS, Remark
from pipeline.report.page import export
from pipeline.report.page.contents import contents
from pipeline.report.page.document import ReportInput, Shown
from pipeline.report.page.names import distinct, slug
from pipeline.report.page.page import Data, Page, PageSection, Part, Remarked, render
from pipeline.report.page.parts import figure_part, table_part, text_part, whole_table
from pipeline.report.view import VIEWS, Block, Figure, Text


def build(report: ReportInput) -> dict[str, bytes]:
    """Return the files of a report: relative path -> content.

    Parameters
    ----------
    report : ReportInput
        The stages to show, and where the results come from.

    Returns
    -------
    dict of str to bytes
        ``index.html``, which needs no other file and no network; ``figures/SECTION-NAME``
        as ``.svg`` and ``.png``; ``tables/SECTION-NAME`` and ``tables/STAGE.TABLE`` as
        ``.parquet`` and ``.csv``. Equal input gives equal bytes.

    Raises
    ------
    ConfigError
        If an option of a view names what is not there.
    """
    shown = [stage for stage in report.stages if stage.view.use in VIEWS]
    anchors = distinct(slug(stage.view.name) for stage in shown)
    files: dict[str, bytes] = {}
    sections = [
        _section(_Place(stage, anchor, report), files)
        for stage, anchor in zip(shown, anchors, strict=True)
    ]
    page = Page(
        report.title,
        report.description,
        tuple(sections),
        report.provenance,
        report.missing,
        _remarked(report, {section.heading: section.anchor for section in sections}),
    )
    drawn = any(path.startswith("figures/") for path in files)
    html = render(page, javascript=export.javascript() if drawn else "")
    return {"index.html": html.encode(), **files}


def _remarked(report: ReportInput, anchors: Mapping[str, str]) -> tuple[Remarked, ...]:
    """Return the remarks for the head of the page: those to look at, what matters most first."""
    remarks: dict[str, Remark] = {}
    stages: dict[str, list[tuple[str, str]]] = {}
    for stage, found in report.remarks.items():
        for each in found:
            if each.level != "info":
                remarks[str(each)] = each
                stages.setdefault(str(each), []).append((stage, anchors.get(stage, "")))
    ordered = sorted(stages, key=lambda text: LEVELS.index(remarks[text].level))
    return tuple(Remarked(remarks[text], tuple(stages[text])) for text in ordered)


@dataclass(frozen=True)
class _Place:
    """A stage and the name of its section."""

    shown: Shown
    anchor: str
    report: ReportInput


def _section(place: _Place, files: dict[str, bytes]) -> PageSection:
    """Return the section of a stage, and add its files to `files`."""
    stage = place.shown.view
    blocks = contents(place.shown, style=place.report.style)
    parts = [_part(block, place.anchor, files) for block in blocks]
    there = () if place.shown.missing else place.shown.tables
    data = [_data(place, table, files) for table in there]
    return PageSection(
        place.anchor,
        stage.name,
        stage.use,
        place.shown.doc,
        tuple(parts),
        tuple(data),
        tuple(place.report.remarks.get(stage.name, ())),
    )


def _part(block: Block, anchor: str, files: dict[str, bytes]) -> Part:
    if isinstance(block, Text):
        return text_part(block)
    folder = "figures" if isinstance(block, Figure) else "tables"
    wanted = f"{folder}/{anchor}-{slug(block.name)}"
    stem = _free(wanted, files)
    part, own = figure_part(block, stem) if isinstance(block, Figure) else table_part(block, stem)
    files.update(own)
    return part


def _free(wanted: str, files: dict[str, bytes]) -> str:
    """Return a path without ending that no file has yet."""
    taken = {path.rpartition(".")[0] for path in files}
    return distinct([*sorted(taken), wanted])[-1]


def _data(place: _Place, table: str, files: dict[str, bytes]) -> Data:
    data, own = whole_table(place.shown.view, table, most_rows=place.report.most_rows)
    files.update(own)
    return data
