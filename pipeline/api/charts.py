"""The figures of a run's report as Altair charts, by name, drawn when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pipeline.api.markup import grid, texts
from pipeline.api.report_colours import colours_of
from pipeline.api.report_options import ReportOptions, of_the_report, shown_stage
from pipeline.errors import ConfigError, NotMadeYet, Problem, UnknownName, did_you_mean
from pipeline.report.charts.parts.options import Slot
from pipeline.report.page.contents import blocks
from pipeline.report.page.names import distinct
from pipeline.report.view import VIEWS, Figure, unfolded
from pipeline.runner.store import store

if TYPE_CHECKING:
    import altair as alt

    from pipeline.api.results import Run


def as_altair(chart: Any) -> alt.TopLevelMixin:
    """Return a Vega-Lite specification as an Altair chart; one that is already is left as it is."""
    import altair as alt  # noqa: PLC0415  takes long

    return alt.Chart.from_dict(dict(chart)) if isinstance(chart, Mapping) else chart


def _options(run: Run) -> ReportOptions:
    return ReportOptions.model_validate(run.project.experiment.report)


class Charts(Mapping[str, "alt.TopLevelMixin"]):
    """Every figure of a run: "stage" is the first one of a stage, "stage.name" another.

    They are drawn as the report draws them, by the options in its section. To list them is to draw
    them all, once.

    Parameters
    ----------
    run : Run
        The results.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._drawn: dict[str, dict[str, Figure]] = {}
        self._why_not: dict[str, str] = {}
        self._charts: dict[int, alt.TopLevelMixin] = {}

    @cached_property
    def _slots(self) -> Mapping[str, Slot]:
        return colours_of(self._run, _options(self._run).colours)

    def figure(self, name: str) -> Figure:
        """Return a figure with its caption.

        Raises
        ------
        ConfigError
            If there is no such stage or figure, with the nearest; or what its stage waits for.
        """
        stage, _, wanted = name.partition(".")
        figures = self.of_stage(self._run.reference(stage).stage)
        if not wanted and figures:
            return next(iter(figures.values()))
        if wanted not in figures:
            raise ConfigError("chart", [self._absent(name, stage, figures)])
        return figures[wanted]

    def chart(self, name: str) -> alt.TopLevelMixin:
        """Return a figure as an Altair chart, the same one each time.

        Raises
        ------
        ConfigError
            As `figure`.
        """
        figure = self.figure(name)
        if id(figure) not in self._charts:
            self._charts[id(figure)] = as_altair(figure.chart)
        return self._charts[id(figure)]

    def _absent(self, name: str, stage: str, figures: Mapping[str, Figure]) -> Problem:
        if figures:
            wanted = name.partition(".")[2]
            remedy = did_you_mean(wanted, figures).replace("valid:", f"those of {stage}:")
            return Problem(name, "the stage has no such figure", remedy)
        if why := self._why_not.get(stage):
            return Problem(name, f"not drawn yet: {why}")
        shown = [each for each in self._stages() if self.of_stage(each)]
        return Problem(name, "the stage has no figures", did_you_mean(stage, shown))

    def of_stage(self, stage: str) -> dict[str, Figure]:
        """Return the figures of a stage by their names; none of one that is not done."""
        if stage not in self._drawn:
            try:
                self._drawn[stage] = self._draw(stage)
            except NotMadeYet as error:
                self._drawn[stage] = {}
                looks = "" if error.stage == stage else f"it looks at {error.table}: "
                self._why_not[stage] = looks + self._run.why_not(error.stage)
        return self._drawn[stage]

    def _draw(self, stage: str) -> dict[str, Figure]:
        run = self._run
        options = _options(run)
        shown = shown_stage(run, stage, options)
        if shown.missing:
            raise NotMadeYet(stage)
        if shown.view.use not in VIEWS:
            return {}
        with of_the_report(), store.unharmed(run.project.storage, run.manifests.values()):
            every = unfolded(blocks(shown, style=options.style, slots=self._slots))
            figures = [each for each in every if isinstance(each, Figure)]
        return dict(zip(distinct(each.name for each in figures), figures, strict=True))

    def _stages(self) -> list[str]:
        """Return the stages that may have figures, those of the report first."""
        shown = self._run.project.experiment.report.get("stages", ())
        return list(dict.fromkeys([*shown, *self._run.project.nodes]))

    def __getitem__(self, name: str) -> alt.TopLevelMixin:
        """Return a chart.

        Raises
        ------
        UnknownName
            If there is none of this name, with the nearest; it is a KeyError.
        """
        try:
            return self.chart(name)
        except ConfigError as error:
            raise UnknownName("; ".join(map(str, error.problems))) from error

    def __iter__(self) -> Iterator[str]:
        for stage in self._stages():
            for place, name in enumerate(self.of_stage(stage)):
                yield f"{stage}.{name}" if place else stage

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _rows(self) -> Iterator[tuple[str, str]]:
        for name in self:
            yield name, self.figure(name).caption

    def __repr__(self) -> str:
        return texts(f"{len(self)} charts", ("name", "what is seen"), self._rows())

    def _repr_html_(self) -> str:
        return grid(("name", "what is seen"), self._rows())
