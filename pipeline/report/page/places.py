"""Where on the page a finding is shown: the number of its figure, else its section."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.findings.finding import Finding
from pipeline.findings.gathering import Told
from pipeline.report.page.names import slug
from pipeline.report.page.page import PageSection, Picture, Place, pictures

NOWHERE = Place("", "")


class Places:
    """The sections of a page and its figures, which are numbered through all sections.

    Parameters
    ----------
    sections : sequence of PageSection
        In the order of the page.
    """

    def __init__(self, sections: Sequence[PageSection]) -> None:
        self.sections = {section.name: section for section in sections}
        self._figures: dict[str, list[tuple[int, Picture]]] = {}
        number = 0
        for section in sections:
            drawn = list(pictures(section.parts))
            self._figures[section.name] = list(enumerate(drawn, start=number + 1))
            number += len(drawn)

    def of(self, told: Told) -> Place:
        """Return where a finding is shown: its figure, a figure of its stage, or the section."""
        stage, name = self._named(told)
        section = self.sections.get(stage)
        if section is None:
            return NOWHERE
        if told.finding.figure is None or not self._figures[stage]:
            return Place(f"stage-{section.anchor}", "")
        number, found = self._figure(section, name, told.finding)
        return Place(f"figure-{found.name}", f"Figure {number}")

    def _named(self, told: Told) -> tuple[str, str]:
        """Return the stage and the figure that a finding names."""
        wanted = told.finding.figure or ""
        stage, dot, name = wanted.partition(".")
        if dot and stage in self.sections:
            return stage, name
        return told.stage, "" if wanted == told.stage else wanted

    def _figure(self, section: PageSection, name: str, finding: Finding) -> tuple[int, Picture]:
        figures = self._figures[section.name]
        of_category = f"{name}-{slug(finding.category or '')}"
        for wanted in (of_category, name):
            stem = f"{section.anchor}-{slug(wanted)}"
            for number, each in figures:
                if name and each.name == stem:
                    return number, each
        return figures[0]
