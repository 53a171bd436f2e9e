"""Build a report: the page and the files beside it, as bytes; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.remarks.remark import LEVELS, Remark
from pipeline.report.page.answers import answers, cautions
from pipeline.report.page.contents import contents
from pipeline.report.page.document import ReportInput, Shown
from pipeline.report.page.drawing import Drawing
from pipeline.report.page.headings import headings
from pipeline.report.page.making import Maker
from pipeline.report.page.names import distinct, slug
from pipeline.report.page.page import Data, Page, PageSection, Remarked
from pipeline.report.page.parts import whole_table
from pipeline.report.page.places import Places
from pipeline.report.page.render import render
from pipeline.report.view import VIEWS, Block


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
        in the kinds of ``pictures``; ``tables/SECTION-NAME`` and ``tables/STAGE.TABLE`` as
        ``.parquet`` and ``.csv``. Equal input gives equal bytes.

    Raises
    ------
    ConfigError
        If an option of a view names what is not there.
    """
    stages = [stage for stage in report.stages if stage.view.use in VIEWS]
    anchors = distinct(slug(stage.view.name) for stage in stages)
    titles = headings([stage.view for stage in stages])
    files: dict[str, bytes] = {}
    kept = (report.pictures, report.most_rows)
    with Drawing() as drawing:
        there = [
            _Place(stage, anchor, title, report)
            for stage, anchor, title in zip(stages, anchors, titles, strict=True)
        ]
        # Pictures are drawn by another process: what needs none is made in the meantime.
        blocks = [_begun(place, drawing) for place in there]
        data = [_data(place, files) for place in there]
        sections = [
            _section(place, Maker(place.anchor, files, drawing, *kept), shown, tables)
            for place, shown, tables in zip(there, blocks, data, strict=True)
        ]
    places = Places(sections)
    page = Page(
        report.title,
        report.description,
        tuple(sections),
        report.provenance,
        report.missing,
        _remarked(report, {section.name: section.anchor for section in sections}),
        answers(report.findings, places),
        cautions(report.findings, places),
    )
    return {"index.html": render(page).encode(), **files}


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
    title: str
    report: ReportInput


def _begun(place: _Place, drawing: Drawing) -> Sequence[Block]:
    """Return what is shown of a stage, and begin to draw its figures."""
    style, slots = place.report.style, place.report.slots
    blocks = contents(place.shown, style=style, slots=slots)
    drawing.ahead(blocks)
    return blocks


def _data(place: _Place, files: dict[str, bytes]) -> tuple[Data, ...]:
    """Return the tables of a stage, and add their files to `files`."""
    found = []
    for table in () if place.shown.missing else place.shown.tables:
        data, own = whole_table(place.shown.view, table, most_rows=place.report.most_rows)
        files.update(own)
        found.append(data)
    return tuple(found)


def _section(
    place: _Place, maker: Maker, blocks: Sequence[Block], data: tuple[Data, ...]
) -> PageSection:
    """Return the section of a stage."""
    stage = place.shown.view
    return PageSection(
        place.anchor,
        place.title,
        stage.name,
        stage.use,
        place.shown.doc,
        maker.parts(blocks),
        data,
        tuple(place.report.remarks.get(stage.name, ())),
    )
