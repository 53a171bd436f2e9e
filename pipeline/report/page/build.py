"""Build a page: sections, figures, tables and the files beside it, as bytes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import polars as pl

from pipeline.errors import NotMadeYet
from pipeline.findings.base import Finding, StageFinding, StageView, leading_sentences
from pipeline.findings.phrases import slug
from pipeline.formats.tables import to_csv
from pipeline.remarks.base import LEVELS, Remark
from pipeline.report.charts.style import Slot, Style
from pipeline.report.explorer import Attribute, Explorer, payload, shorten
from pipeline.report.page import images
from pipeline.report.page.html import inline_json, pack, render
from pipeline.report.page.images import Drawing
from pipeline.report.page.model import (
    MOST_ROWS,
    Answers,
    Data,
    FoldedParts,
    Grid,
    Link,
    Overview,
    Page,
    PageSection,
    Paragraph,
    Part,
    Picture,
    Place,
    Record,
    RemarkEntry,
    ReportInput,
    ReportStage,
    Searchable,
    Statement,
    pictures,
)
from pipeline.report.view import (
    TOO_LARGE,
    VIEWS,
    Block,
    Figure,
    Fold,
    Listing,
    StyleOptions,
    Text,
    ViewOptions,
    fits_in_memory,
    format_cell,
    format_percent,
    unique_names,
)

Files = dict[str, bytes]

NOWHERE = Place("", "")
MOST_SHOWN = 200
"""The number of rows of a table that the page shows; its files hold all."""
LONGEST = 400
"""The number of characters of a cell that the page shows; the files hold all."""
PLAIN_ROWS = 50
"""The number of rows that the page shows without scripts."""
PLAIN_TEXT = 80
LEVEL = 6
"""The highest compression level takes ten times the time to save a hundredth."""
NO_SLOTS: Mapping[str, Slot] = MappingProxyType({})

# Findings: the figure or section that shows each, and paragraphs at the head of the page


class Places:
    """The sections of a page and its figures, which are numbered through all sections.

    Parameters
    ----------
    sections : sequence of PageSection
        In the order of the page.
    overview : Overview or None
        The overview before them.
    """

    def __init__(self, sections: Sequence[PageSection], overview: Overview | None = None) -> None:
        self.sections = {section.name: section for section in sections}
        self._figures: dict[str, list[tuple[int, Picture]]] = {}
        first = [overview.figure] if overview and overview.figure else []
        number = len(first)
        for section in sections:
            drawn = list(pictures(section.parts))
            self._figures[section.name] = list(enumerate(drawn, start=number + 1))
            number += len(drawn)
            if overview and section.anchor == overview.anchor:
                self._figures[section.name][:0] = enumerate(first, start=1)

    def of(self, finding: StageFinding) -> Place:
        """Return where a finding is shown: its figure, a figure of its stage, or the section."""
        stage, name = self._stage_and_figure(finding)
        section = self.sections.get(stage)
        if section is None:
            return NOWHERE
        if finding.finding.figure is None or not self._figures[stage]:
            return Place(f"stage-{section.anchor}", "")
        number, picture = self._figure(section, name, finding.finding)
        return Place(f"figure-{picture.name}", f"Figure {number}")

    def _stage_and_figure(self, finding: StageFinding) -> tuple[str, str]:
        """Return the stage and the figure that a finding names."""
        reference = finding.finding.figure or ""
        stage, dot, name = reference.partition(".")
        if dot and stage in self.sections:
            return stage, name
        return finding.stage, "" if reference == finding.stage else reference

    def _figure(self, section: PageSection, name: str, finding: Finding) -> tuple[int, Picture]:
        figures = self._figures[section.name]
        of_category = f"{name}-{slug(finding.category or '')}"
        for key in (of_category, name):
            stem = f"{section.anchor}-{slug(key)}"
            for number, each in figures:
                if name and each.name == stem:
                    return number, each
        return figures[0]


def answers(findings: Sequence[StageFinding], places: Places) -> tuple[Answers, ...]:
    """Return the answers, stage by stage: those to one question are one paragraph.

    Parameters
    ----------
    findings : sequence of StageFinding
        Findings in the order of reading.
    places : Places
        The places that show them.
    """
    stages: dict[str, dict[str, list[StageFinding]]] = {}
    for each in findings:
        if each.finding.kind == "answer":
            questions = stages.setdefault(each.stage, {})
            questions.setdefault(each.finding.question, []).append(each)
    return tuple(_stage_answers(name, questions, places) for name, questions in stages.items())


def _stage_answers(
    name: str, questions: Mapping[str, Sequence[StageFinding]], places: Places
) -> Answers:
    section = places.sections.get(name)
    anchor = "" if section is None else section.anchor
    paragraphs = tuple(statement(each, places) for each in questions.values())
    return Answers(_heading(name, places), anchor, paragraphs)


def _heading(name: str, places: Places) -> str:
    """Return the heading of a stage."""
    section = places.sections.get(name)
    return name.replace("_", " ") if section is None else section.heading


def statement(together: Sequence[StageFinding], places: Places) -> Statement:
    """Return a paragraph of findings, with each place that shows one of them."""
    first, *rest = (each.finding.text for each in together)
    targets = dict.fromkeys(places.of(each) for each in together)
    return Statement(first, tuple(rest), tuple(place for place in targets if place.id))


def cautions(findings: Sequence[StageFinding], places: Places) -> tuple[Statement, ...]:
    """Return what to know before believing the answers, a paragraph each.

    Parameters as for `answers`.
    """
    entries = [each for each in findings if each.finding.kind == "caution"]
    statements = tuple(statement([each], places) for each in entries)
    if len({each.stage for each in entries}) < 2:
        return statements
    return tuple(
        replace(one, section=_heading(each.stage, places))
        for one, each in zip(statements, entries, strict=True)
    )


# Blocks of a view as parts of the page, with their files


def figure_part(
    block: Figure, stem: str, still: str, kinds: tuple[str, ...] = ("svg",)
) -> tuple[Picture, Files]:
    """Return a figure drawn as this SVG, and its pictures of these kinds under ``stem``."""
    drawings = images.pictures(still, kinds)
    files = {f"{stem}.{kind}": content for kind, content in drawings.items()}
    narrow = None if block.narrow is None else images.spec(block.narrow)
    width, height = images.size(still)
    picture = Picture(
        stem.rpartition("/")[2], block.caption, images.address(still), width, height,
        (images.spec(block.chart), narrow), block.alt, file_links(files),
    )  # fmt: skip
    return picture, files


def table_part(block: Listing, stem: str) -> tuple[Grid, Files]:
    """Return a table as the page shows it, and all its values under ``stem``."""
    files = table_files(block.frame, stem)
    frame = block.frame if block.texts is None else block.texts
    first = frame.head(MOST_SHOWN)
    columns = [map(_shorten, first[name]) for name in first.columns]
    right = (dtype.is_numeric() or name in block.right for name, dtype in frame.schema.items())
    grid = Grid(
        tuple(frame.columns), tuple(right), tuple(zip(*columns, strict=True)), block.caption,
        omitted=frame.height - first.height, links=file_links(files), wraps=block.wraps,
        groups=tuple((name, len(list(same))) for name, same in itertools.groupby(block.groups)),
        marked=block.marked,
    )  # fmt: skip
    return grid, files


def _shorten(value: Any) -> str:
    """Return a value as the page shows it: of a very long text its beginning."""
    text = format_cell(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def whole_table(stage: StageView, table: str, *, most_rows: int) -> tuple[Data, Files]:
    """Return how large an output table of a stage is, and its files unless it is too large.

    Parameters
    ----------
    stage : StageView
        The stage.
    table : str
        One of its own tables.
    most_rows : int
        A larger table has no files; the page says so.
    """
    query = stage.table(table)
    rows: int = query.select(pl.len()).collect().item()
    if rows > most_rows:
        why = f"not copied (more than {most_rows:,} rows)"
        return Data(table, rows, (), why), {}
    if not fits_in_memory(rows, len(query.collect_schema())):
        return Data(table, rows, (), TOO_LARGE), {}
    files = table_files(images.sort_rows(query), f"tables/{slug(stage.name)}.{slug(table)}")
    return Data(table, rows, file_links(files)), files


def table_files(frame: pl.DataFrame, stem: str) -> Files:
    """Return a table as CSV and as Parquet."""
    return {f"{stem}.csv": to_csv(frame), f"{stem}.parquet": images.parquet(frame)}


def file_links(paths: Iterable[str]) -> tuple[Link, ...]:
    """Return links to files beside the page, each called by its ending."""
    return tuple(Link(path.rpartition(".")[2], path) for path in paths)


def explorer_part(block: Explorer, stem: str, *, most_rows: int) -> tuple[Searchable, Files]:
    """Return a table of all rows as the page holds it, and all of them under ``stem``.

    Parameters
    ----------
    block : Explorer
        The rows.
    stem : str
        Path of its files, without the ending.
    most_rows : int
        A larger table has no files; the page says so.
    """
    why = f"not copied (more than {most_rows:,} rows)" if block.rows > most_rows else ""
    if block.rows > block.frame.height:
        why = TOO_LARGE
    files = {} if why else table_files(block.frame, stem)
    content = payload(block)
    part = Searchable(
        block.caption,
        block.what,
        _first_rows(block),
        inline_json(content.head),
        pack(content.rows, level=LEVEL),
        pack(content.details, level=LEVEL),
        content.height,
        block.rows,
        matters=block.matters,
        links=file_links(files),
        why=why,
    )
    return part, files


def _first_rows(block: Explorer) -> Grid:
    """Return the first rows as they stand at first."""
    columns = [each for each in block.columns if each.visible]
    frame = block.frame
    if block.order:
        frame = frame.sort(
            block.order, descending=block.falling, nulls_last=True, maintain_order=True
        )
    first = frame.head(PLAIN_ROWS)
    texts = [_texts(first[each.name], each) for each in columns]
    right = tuple(each.kind in {"count", "rank", "share", "number"} for each in columns)
    return Grid(tuple(each.heading for each in columns), right, tuple(zip(*texts, strict=True)))


def _texts(values: pl.Series, attribute: Attribute) -> list[str]:
    if values.dtype == pl.String:
        values = shorten(values, most=PLAIN_TEXT)
    if attribute.kind == "share":
        return [format_percent(value) for value in values]
    empty = "" if attribute.kind in {"text", "label"} else format_cell(None)
    return [empty if value is None else format_cell(value) for value in values]


@dataclass(frozen=True)
class Maker:
    """Makes the parts of one section.

    Parameters
    ----------
    anchor : str
        The section's, with which the names of its files begin.
    files : dict of str to bytes
        The files of the page so far: those of the parts come to them.
    drawing : Drawing
        Draws the figures, some of them ahead.
    pictures : tuple of str
        The kinds of files that figures have beside the page.
    most_rows : int
        Tables to look into with more rows have no files.
    beside : bool
        Whether there are files beside the page, or it stands alone.
    """

    anchor: str
    files: Files
    drawing: Drawing
    pictures: tuple[str, ...] = ("svg",)
    most_rows: int = MOST_ROWS
    beside: bool = True

    def parts(self, blocks: Sequence[Block | Part]) -> tuple[Part, ...]:
        """Return the parts, without tables that have no row and folds that hold nothing.

        What is a part already stays as it is.
        """
        parts = (self._part(block) for block in blocks)
        return tuple(part for part in parts if part is not None)

    def _part(self, block: Block | Part) -> Part | None:
        if isinstance(block, Text):
            return Paragraph(block.text)
        if isinstance(block, Fold):
            inner = self.parts(block.blocks)
            return FoldedParts(block.summary, inner) if inner else None
        if not isinstance(block, Figure | Listing | Explorer):
            return block
        if isinstance(block, Listing) and block.frame.is_empty():
            return None
        part, own = self._with_files(block)
        self.files.update(own)
        return part if self.beside else replace(part, links=())

    def _with_files(
        self, block: Figure | Listing | Explorer
    ) -> tuple[Picture | Grid | Searchable, Files]:
        folder = "figures" if isinstance(block, Figure) else "tables"
        stem = self._free_stem(f"{folder}/{self.anchor}-{slug(block.name)}")
        if isinstance(block, Figure):
            kinds = self.pictures if self.beside else ("svg",)
            return figure_part(block, stem, self.drawing.of(block), kinds)
        if isinstance(block, Explorer):
            return explorer_part(block, stem, most_rows=self.most_rows)
        return table_part(block, stem)

    def _free_stem(self, stem: str) -> str:
        """Return a path without ending that no file has yet."""
        stems = {path.rpartition(".")[0] for path in self.files}
        return unique_names([*sorted(stems), stem])[-1]


# Pages of a sweep or of two runs: their sections are not stages of one run


@dataclass(frozen=True)
class Section:
    """A section.

    Parameters
    ----------
    name : str
        Name of its anchor and its files.
    title : str
        Its heading.
    blocks : sequence of Block or Part
        Its content; tables without a row are omitted, parts of the page stay as they are.
    use, doc : str
        Kind of stage, and a sentence on its purpose, for the list of files.
    data : tuple of Data
        Whole tables beside the page.
    """

    name: str
    title: str
    blocks: Sequence[Block | Part]
    use: str = ""
    doc: str = ""
    data: tuple[Data, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Assembly:
    """What a page is put together from; parameters as those of `Page`.

    Parameters
    ----------
    pictures : tuple of str
        The kinds of files that figures have beside the page.
    beside : bool
        Whether figures and tables have files beside the page, or the page stands alone.
    """

    title: str
    description: str = ""
    facts: tuple[str, ...] = ()
    opening: tuple[Part, ...] = ()
    sections: Sequence[Section] = ()
    provenance: Mapping[str, Record] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[Answers, ...] = ()
    cautions: tuple[Statement, ...] = ()
    drawer: str = ""
    pictures: tuple[str, ...] = ("svg",)
    beside: bool = True


def assemble(assembly: Assembly) -> Files:
    """Return the files of a page: relative path -> content.

    Parameters
    ----------
    assembly : Assembly
        The parts of the page.

    Returns
    -------
    dict of str to bytes
        ``index.html``, which needs no other file; ``figures/SECTION-NAME`` and
        ``tables/SECTION-NAME`` unless the page stands alone. Equal input gives equal bytes.
    """
    files: Files = {}
    anchors = unique_names(slug(section.name) for section in assembly.sections)
    with Drawing() as drawing:
        for each in assembly.sections:
            drawing.ahead(each.blocks)
        sections = tuple(
            PageSection(
                anchor, each.title, each.name, each.use, each.doc,
                Maker(
                    anchor, files, drawing, assembly.pictures, beside=assembly.beside
                ).parts(each.blocks),
                each.data,
            )
            for each, anchor in zip(assembly.sections, anchors, strict=True)
        )  # fmt: skip
    page = Page(
        assembly.title, assembly.description, sections, assembly.provenance, assembly.missing,
        answers=assembly.answers, cautions=assembly.cautions, facts=assembly.facts,
        opening=assembly.opening, drawer=assembly.drawer,
    )  # fmt: skip
    return {"index.html": render(page).encode(), **(files if assembly.beside else {})}


# Reports: the sections are stages of one run


def contents(
    stage: ReportStage, *, style: Style | None, slots: Mapping[str, Slot] = NO_SLOTS
) -> Sequence[Block]:
    """Return texts, tables and figures of a stage.

    Parameters
    ----------
    stage : ReportStage
        The stage, of a kind that has a view.
    style : {"screen", "print"} or None
        The style of its figures, unless the options of its view say.
    slots : mapping of str to Slot
        The colours that the report gave to names.

    Returns
    -------
    sequence of Block
        In the order of the page; where a table is not there yet, a text that says so.

    Raises
    ------
    ConfigError
        If an option of the view names what is not there.
    """
    if stage.missing:
        return [Text(f"Not available yet: {stage.missing}.")]
    try:
        return blocks(stage, style=style, slots=slots)
    except NotMadeYet as error:
        return [Text(f"Not shown yet: {error.table} is not available.")]


def blocks(
    stage: ReportStage, *, style: Style | None, slots: Mapping[str, Slot] = NO_SLOTS
) -> Sequence[Block]:
    """Return texts, tables and figures of a stage that has been run.

    Raises
    ------
    ConfigError
        Also if its view looks at a table that is not there yet: `NotMadeYet`.
    """
    view = VIEWS.get(stage.view.use)
    own = view.options() if stage.options is None else stage.options
    return view.show(stage.view, set_style(own, style, slots))


def set_style(options: ViewOptions, style: Style | None, slots: Mapping[str, Slot]) -> ViewOptions:
    """Give a view the report's colours, and its style unless the view has its own."""
    if isinstance(options, StyleOptions):
        options = options.with_colours(slots)
    own = options.model_fields_set
    if style is None or "style" in own or "style" not in type(options).model_fields:
        return options
    return options.model_copy(update={"style": style})


def headings(stages: Sequence[StageView]) -> list[str]:
    """Return a heading for each stage, for people; equal ones get the stages' names beside them.

    Parameters
    ----------
    stages : sequence of StageView
        Stages of kinds that have a view.
    """
    titles = [VIEWS.get(stage.use).title_of(stage) for stage in stages]
    often = Counter(titles)
    return [
        f"{title} ({stage.name})" if often[title] > 1 and title != stage.name else title
        for title, stage in zip(titles, stages, strict=True)
    ]


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
    anchors = unique_names(slug(stage.view.name) for stage in stages)
    titles = headings([stage.view for stage in stages])
    files: dict[str, bytes] = {}
    settings = (report.pictures, report.most_rows)
    with Drawing() as drawing:
        # Pictures are drawn by another process: what needs none is made in the meantime.
        blocks = []
        for stage in stages:
            blocks.append(contents(stage, style=report.style, slots=report.slots))
            drawing.ahead(blocks[-1])
        data = [_data(stage, files, most_rows=report.most_rows) for stage in stages]
        sections = [
            PageSection(
                anchor, title, stage.view.name, stage.view.use, stage.doc,
                Maker(anchor, files, drawing, *settings).parts(parts), tables,
                tuple(report.remarks.get(stage.view.name, ())),
            )
            for stage, anchor, title, parts, tables in zip(
                stages, anchors, titles, blocks, data, strict=True
            )
        ]  # fmt: skip
        opening, sections = _overview(report, stages, sections, files, drawing)
    places = Places(sections, opening)
    page = Page(
        report.title,
        report.description,
        tuple(sections),
        report.provenance,
        report.missing,
        _remarks_of_page(report, {section.name: section.anchor for section in sections}),
        answers(report.findings, places),
        cautions(report.findings, places),
        overview=opening,
    )
    return {"index.html": render(page).encode(), **files}


def _overview(
    report: ReportInput,
    stages: Sequence[ReportStage],
    sections: Sequence[PageSection],
    files: Files,
    drawing: Drawing,
) -> tuple[Overview | None, list[PageSection]]:
    """Return what opens the page, and the sections without the figure that goes with it."""
    for stage, section in zip(stages, sections, strict=True):
        view = VIEWS.get(stage.view.use)
        overview = None if view.overview is None or stage.missing else view.overview(stage.view)
        if overview is None:
            continue
        (table,) = Maker(section.anchor, files, drawing).parts([overview])
        if not isinstance(table, Grid):
            raise TypeError(f"the overview of {stage.view.use} is not a table")
        stem = f"{section.anchor}-{slug(view.leading)}"
        drawn = [each for each in section.parts if isinstance(each, Picture)]
        figures = (each for each in drawn if view.leading and each.name.startswith(stem))
        first = next(figures, None)
        parts = tuple(each for each in section.parts if each is not first)
        others = [replace(each, parts=parts) if each is section else each for each in sections]
        tests = (each.name for each in (view.tests(stage.view) if view.tests else ()))
        sentences = leading_sentences(report.findings, {stage.view.name, *tests})
        return Overview(section.heading, section.anchor, table, first, tuple(sentences)), others
    return None, list(sections)


def _remarks_of_page(report: ReportInput, anchors: Mapping[str, str]) -> tuple[RemarkEntry, ...]:
    """Return the remarks for the head of the page: those to look at, what matters most first."""
    remarks: dict[str, Remark] = {}
    stages: dict[str, list[tuple[str, str]]] = {}
    for stage, entries in report.remarks.items():
        for each in entries:
            if each.level != "info":
                remarks[str(each)] = each
                stages.setdefault(str(each), []).append((stage, anchors.get(stage, "")))
    ordered = sorted(stages, key=lambda text: LEVELS.index(remarks[text].level))
    return tuple(RemarkEntry(remarks[text], tuple(stages[text])) for text in ordered)


def _data(stage: ReportStage, files: dict[str, bytes], *, most_rows: int) -> tuple[Data, ...]:
    """Return the tables of a stage, and add their files to `files`."""
    tables = []
    for table in () if stage.missing else stage.tables:
        data, own = whole_table(stage.view, table, most_rows=most_rows)
        files.update(own)
        tables.append(data)
    return tuple(tables)
