"""A page whose sections are no stages of one run: of a sweep, or of two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.report.page.document import Record
from pipeline.report.page.drawing import Drawing
from pipeline.report.page.making import Maker
from pipeline.report.page.names import distinct, slug
from pipeline.report.page.page import Answers, Data, Page, PageSection, Part, Said
from pipeline.report.page.parts import Files
from pipeline.report.page.render import render
from pipeline.report.view import Block


@dataclass(frozen=True)
class Section:
    """A section.

    Parameters
    ----------
    name : str
        What its anchor and its files are called by.
    title : str
        Its heading.
    blocks : sequence of Block or Part
        What it shows; tables without a row are left out, parts of the page stay as they are.
    use, doc : str
        What it is, and what that does, for the list of files.
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
    sections: Sequence[Section] = ()
    provenance: Mapping[str, Record] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[Answers, ...] = ()
    cautions: tuple[Said, ...] = ()
    drawer: str = ""
    pictures: tuple[str, ...] = ("svg",)
    beside: bool = True


def assemble(made: Assembly) -> Files:
    """Return the files of a page: relative path -> content.

    Parameters
    ----------
    made : Assembly
        What it is put together from.

    Returns
    -------
    dict of str to bytes
        ``index.html``, which needs no other file; ``figures/SECTION-NAME`` and
        ``tables/SECTION-NAME`` unless the page stands alone. Equal input gives equal bytes.
    """
    files: Files = {}
    anchors = distinct(slug(section.name) for section in made.sections)
    with Drawing() as drawing:
        for each in made.sections:
            drawing.ahead(each.blocks)
        sections = tuple(
            PageSection(
                anchor, each.title, each.name, each.use, each.doc,
                Maker(anchor, files, drawing, made.pictures, beside=made.beside).parts(each.blocks),
                each.data,
            )
            for each, anchor in zip(made.sections, anchors, strict=True)
        )  # fmt: skip
    page = Page(
        made.title, made.description, sections, made.provenance, made.missing,
        answers=made.answers, cautions=made.cautions, facts=made.facts, drawer=made.drawer,
    )  # fmt: skip
    return {"index.html": render(page).encode(), **(files if made.beside else {})}
