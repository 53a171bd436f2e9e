"""Findings lead to their figure, else to their section."""

from __future__ import annotations

from pipeline.findings.base import Finding, Told
from pipeline.report.page.build import Places, answers, cautions
from pipeline.report.page.model import Folded, PageSection, Paragraph, Part, Picture, Place


def picture(name: str) -> Picture:
    return Picture(name, "", "data:image/svg+xml,", 640, 400, ({}, None))


def section(name: str, *parts: Part) -> PageSection:
    return PageSection(name, name.title(), name, "x.x", "", parts)


PLACES = Places([
    section("a", picture("a-first"), Folded("", (picture("a-deep"),))),
    section("b", Paragraph("no figure")),
    section("c", picture("c-best-TP"), picture("c-best")),
])  # fmt: skip


def place(stage: str, figure: str | None = None, category: str | None = None) -> Place:
    finding = Finding(about="x", text="1.", figure=figure, category=category)
    return PLACES.of(Told(stage, finding))


def test_figures_are_numbered_through_all_sections_and_folds() -> None:
    assert place("a", "deep") == Place("figure-a-deep", "Figure 2")
    assert place("c", "best") == Place("figure-c-best", "Figure 4")
    assert place("c", "best", "TP") == Place("figure-c-best-TP", "Figure 3")


def test_a_figure_may_be_of_another_stage_or_be_the_first_of_its_own() -> None:
    assert place("b", "c.best") == Place("figure-c-best", "Figure 4")
    assert place("c", "c") == Place("figure-c-best-TP", "Figure 3")
    assert place("a", "not drawn") == Place("figure-a-first", "Figure 1")


def test_without_a_figure_it_is_the_section_and_without_a_section_nowhere() -> None:
    assert place("a") == Place("stage-a", "")
    assert place("b", "x") == Place("stage-b", "")
    assert place("gone", "x") == Place("", "")


def test_findings_of_a_question_are_one_paragraph_with_all_their_places() -> None:
    def told(text: str, question: str, figure: str | None, kind: str = "answer") -> Told:
        finding = Finding(about="x", text=text, question=question, figure=figure, kind=kind)  # type: ignore[arg-type]  # as a table has it
        return Told("a", finding)

    found = [told("1.", "q", "first"), told("2.", "r", None), told("3.", "q", "deep"),
             told("4.", "", None, "caution")]  # fmt: skip
    (mine,) = answers(found, PLACES)
    assert mine.heading == "A"
    assert [(each.lead, each.rest) for each in mine.paragraphs] == [("1.", ("3.",)), ("2.", ())]
    assert [each.title for each in mine.paragraphs[0].places] == ["Figure 1", "Figure 2"]
    assert [each.lead for each in cautions(found, PLACES)] == ["4."]
