"""The options of the section ``[report]`` of an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from pydantic import Field, ValidationError

from pipeline.errors import ConfigError, NotMadeYet, Problem, did_you_mean
from pipeline.report.charts import Style
from pipeline.report.charts.style import NAMED
from pipeline.report.page.model import MOST_ROWS
from pipeline.report.view import VIEWS
from pipeline.runner.config import Experiment, Options
from pipeline.runner.problems import problems_of, unknown_stage

Picture: TypeAlias = Literal["svg", "png", "pdf"]
"""A picture format."""


class ReportOptions(Options):
    """``[report]``: content and style of the report."""

    stages: tuple[str, ...] = ()
    """Stages to show, in this order; all with a view if empty."""
    views: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """``[report.views.STAGE]``: options of the view of a stage."""
    most_rows: int = Field(default=MOST_ROWS, ge=1)
    """Do not copy tables with more rows beside the page."""
    style: Style | None = None
    """``screen`` or ``print`` (black and white): style of figures whose view sets none."""
    pictures: tuple[Picture, ...] = ("svg",)
    """File formats of each figure beside the page: ``svg``, ``png``, ``pdf``; none if empty."""
    colours: dict[str, str] = Field(default_factory=dict)
    """``[report.colours]``: measure, system or lexicon -> ``blue``, ``red``, ``green``, ``pink``,
    ``black``, ``gold`` or ``sky``; colours of other names follow from the names."""


def check_report(experiment: Experiment) -> list[Problem]:
    """Return every error in the report's section."""
    try:
        options = ReportOptions.model_validate(experiment.report)
    except ValidationError as error:
        return problems_of(error, ReportOptions, experiment.report, prefix="report")
    stages = experiment.stages
    problems = [
        unknown_stage(name, stages, where="report.stages")
        for name in options.stages
        if name not in stages
    ]
    problems += check_colours(options.colours)
    for name, content in options.views.items():
        where = f"report.views.{name}"
        if name not in stages:
            problems.append(unknown_stage(name, stages).within("report.views"))
        else:
            problems += _view_problems(where, str(stages[name].get("use")), content)
    return problems


def _view_problems(where: str, use: str, content: Mapping[str, Any]) -> list[Problem]:
    if use not in VIEWS:
        return [Problem(where, f"stages of kind {use} have no view", "remove this section")]
    model = VIEWS.get(use).options
    try:
        model.model_validate(content)
    except ValidationError as error:
        return problems_of(error, model, content, prefix=where)
    return []


def check_colours(pinned: Mapping[str, str]) -> list[Problem]:
    """Return a problem for each unknown pinned colour."""
    return [
        Problem(f"report.colours.{name}", f"unknown colour {colour!r}",
                did_you_mean(colour, NAMED))
        for name, colour in pinned.items()
        if colour not in NAMED
    ]  # fmt: skip


@contextmanager
def report_errors() -> Iterator[None]:
    """Add the report's section to the paths of errors in the options of a view.

    Raises
    ------
    ConfigError
        With the paths of the experiment.
    """
    try:
        yield
    except NotMadeYet:
        raise
    except ConfigError as error:
        problems = [
            Problem(f"report.{wrong.where}", wrong.what, wrong.remedy) for wrong in error.problems
        ]
        raise ConfigError("the report", problems) from error
