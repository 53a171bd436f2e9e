"""The findings as paragraphs at the head of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.findings.gathering import Told
from pipeline.report.page.page import Answers, Said
from pipeline.report.page.places import Places


def answers(told: Sequence[Told], places: Places) -> tuple[Answers, ...]:
    """Return the answers, stage by stage: those to one question are one paragraph.

    Parameters
    ----------
    told : sequence of Told
        Findings in the order of reading.
    places : Places
        Where they are shown.
    """
    stages: dict[str, dict[str, list[Told]]] = {}
    for each in told:
        if each.finding.kind == "answer":
            questions = stages.setdefault(each.stage, {})
            questions.setdefault(each.finding.question, []).append(each)
    return tuple(_of_stage(name, questions, places) for name, questions in stages.items())


def _of_stage(name: str, questions: Mapping[str, Sequence[Told]], places: Places) -> Answers:
    section = places.sections.get(name)
    anchor = "" if section is None else section.anchor
    heading = name.replace("_", " ") if section is None else section.heading
    return Answers(heading, anchor, tuple(said(each, places) for each in questions.values()))


def said(together: Sequence[Told], places: Places) -> Said:
    """Return a paragraph of findings, with each place that shows one of them."""
    first, *rest = (each.finding.text for each in together)
    shown = dict.fromkeys(places.of(each) for each in together)
    return Said(first, tuple(rest), tuple(place for place in shown if place.id))


def cautions(told: Sequence[Told], places: Places) -> tuple[Said, ...]:
    """Return what to know before believing the answers, a paragraph each; arguments as above."""
    return tuple(said([each], places) for each in told if each.finding.kind == "caution")
