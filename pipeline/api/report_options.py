"""``[report]`` of an experiment: what it may hold, what is shown of each stage by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import Field, ValidationError

from pipeline.errors import ConfigError, NotMadeYet, Problem, did_you_mean
from pipeline.report.charts import Style
from pipeline.report.page.document import Shown
from pipeline.report.view import VIEWS, StageView, ViewOptions
from pipeline.runner.config.experiment import Experiment, Options
from pipeline.runner.config.graph import Node
from pipeline.runner.config.problems import problems_of

if TYPE_CHECKING:
    from pipeline.api.results import Run


class ReportOptions(Options):
    """``[report]``: what the report shows."""

    stages: tuple[str, ...] = ()
    """The stages to show, in this order; all that can be shown if empty."""
    views: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """``[report.views.STAGE]``: the options of the view of a stage."""
    most_rows: int = Field(default=5_000_000, ge=1)
    """Tables with more rows are not copied beside the page."""
    style: Style | None = None
    """``screen`` or ``print`` (black and white) for all figures whose view does not say."""


def check_report(experiment: Experiment) -> list[Problem]:
    """Return every mistake in the report's section."""
    try:
        options = ReportOptions.model_validate(experiment.report)
    except ValidationError as error:
        return problems_of(error, ReportOptions, experiment.report, prefix="report")
    stages = experiment.stages
    problems = [
        Problem("report.stages", f"there is no stage {name!r}", did_you_mean(name, stages))
        for name in options.stages
        if name not in stages
    ]
    for name, content in options.views.items():
        where = f"report.views.{name}"
        if name not in stages:
            problems.append(Problem(where, "there is no such stage", did_you_mean(name, stages)))
        else:
            problems += _view_problems(where, str(stages[name].get("use")), content)
    return problems


def _view_problems(where: str, use: str, content: Mapping[str, Any]) -> list[Problem]:
    if use not in VIEWS:
        return [Problem(where, f"stages of kind {use} have no view", "leave this section out")]
    model = VIEWS.get(use).options
    try:
        model.model_validate(content)
    except ValidationError as error:
        return problems_of(error, model, content, prefix=where)
    return []


@contextmanager
def of_the_report() -> Iterator[None]:
    """Say of mistakes in the options of a view that they stand in the report's section.

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


def shown_stage(run: Run, name: str, options: ReportOptions) -> Shown:
    """Return a stage as the report is given it: the options of its view, a way to its tables."""
    node = run.project.nodes[name]
    content = options.views.get(name, {})
    chosen: ViewOptions | None = None
    if content:
        chosen = VIEWS.get(node.stage.name).options.model_validate(content)
    # Every option of the stage as it is resolved: a view declares which it looks at, no default.
    view = StageView(name, node.stage.name, node.config.model_dump(mode="json"), _opener(run, node))
    return Shown(
        view,
        tuple(node.stage.outputs),
        node.stage.doc,
        chosen,
        run.why_not(name),
    )


def _opener(run: Run, node: Node) -> Callable[[str], pl.LazyFrame]:
    def table(name: str) -> pl.LazyFrame:
        return run.plan(f"{node.name}.{name}" if name in node.stage.outputs else name)

    return table
