"""``[report]`` of an experiment: what it may hold, what is shown of each stage by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl
from pydantic import Field, ValidationError

from pipeline.api.report_colours import check_colours
from pipeline.errors import ConfigError, NotMadeYet, Problem, did_you_mean
from pipeline.findings.stage import StageView
from pipeline.report.charts import Style
from pipeline.report.page.document import Shown
from pipeline.report.view import VIEWS, ViewOptions
from pipeline.runner.config.experiment import Experiment, Options
from pipeline.runner.config.graph import Node
from pipeline.runner.config.problems import problems_of

if TYPE_CHECKING:
    from pipeline.api.results import Run


Picture: TypeAlias = Literal["svg", "png", "pdf"]
"""A kind of picture that is written beside the page."""


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
    pictures: tuple[Picture, ...] = ("svg",)
    """Files of each figure beside the page: ``svg``, ``png``, ``pdf``; none if empty."""
    colours: dict[str, str] = Field(default_factory=dict)
    """``[report.colours]``: measure, system or lexicon -> ``blue``, ``red``, ``green``, ``pink``,
    ``black``, ``gold`` or ``sky``; another one has a colour that its name gives."""


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
    problems += check_colours(options.colours)
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
    return Shown(
        stage_view(run, node, stages(run)),
        tuple(node.stage.outputs),
        node.stage.doc,
        chosen,
        run.why_not(name),
    )


def stages(run: Run) -> dict[str, StageView]:
    """Return the stages of a run that are done, by name, each with the others beside it."""
    found: dict[str, StageView] = {}
    for name, node in run.project.nodes.items():
        if name in run.manifests:
            found[name] = stage_view(run, node, found)
    return found


def stage_view(run: Run, node: Node, among: Mapping[str, StageView]) -> StageView:
    """Return a stage as it is given to whatever reads results.

    It has every option as it is resolved: what looks at one declares it, without a default.
    """
    config = node.config.model_dump(mode="json")
    inputs = {option: f"{table.stage}.{table.table}" for option, table in node.inputs.items()}
    opener = _opener(run, node)
    return StageView(
        node.name, node.stage.name, config, opener, inputs=inputs, among=among, title=node.title
    )


def _opener(run: Run, node: Node) -> Callable[[str], pl.LazyFrame]:
    def table(name: str) -> pl.LazyFrame:
        return run.plan(f"{node.name}.{name}" if name in node.stage.outputs else name)

    return table
