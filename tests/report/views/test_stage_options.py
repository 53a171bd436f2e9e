"""What views look at of the options of their stages: the stages have it, and every default."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from pipeline.findings.base import StageOptions, StageView
from pipeline.report.view import VIEWS
from pipeline.report.views.clustering.levels import Unclustered
from pipeline.report.views.collocations.candidates import Ranking
from pipeline.report.views.collocations.comparison import HowCompared, HowTested, Mark
from pipeline.report.views.collocations.graphs import DeclaredCuts
from pipeline.report.views.lexicon import Compared, Trend
from pipeline.stages.base import STAGES
from tests.report import report_frames as frames

LOOKED_AT: list[tuple[str, type[StageOptions]]] = [
    ("evaluate.comparison", HowCompared), ("evaluate.subset", HowTested), ("evaluate.precision", DeclaredCuts),
    ("evaluate.stratified", DeclaredCuts), ("score.rank", Ranking), ("evaluate.lexicon", Trend),
    ("evaluate.lexicons", Compared), ("evaluate.token_level", Unclustered),
]  # fmt: skip


def every(model: type[StageOptions]) -> Iterator[type[StageOptions]]:
    for below in model.__subclasses__():
        if below.__module__.startswith("pipeline.report.views"):
            yield below
            yield from every(below)


def test_the_list_of_this_file_is_complete() -> None:
    assert list(VIEWS)
    assert set(every(StageOptions)) == {model for _, model in LOOKED_AT} | {Mark}


@pytest.mark.parametrize(("use", "model"), LOOKED_AT)
def test_the_stage_has_each_option_and_alone_its_default(
    use: str, model: type[StageOptions]
) -> None:
    assert set(model.model_fields) <= set(STAGES.get(use).config.model_fields)
    assert all(field.is_required() for field in model.model_fields.values())


def test_what_the_stage_was_told_goes_before_its_defaults() -> None:
    stage = frames.stage("evaluate.comparison", {}, margin=0.25)
    assert stage.options_as(Mark) == Mark(alpha=0.05, margin=0.25)


def test_an_option_that_the_stage_lacks_is_no_default() -> None:
    with pytest.raises(ValidationError, match="alpha"):
        StageView("x", "x.x", {"margin": 0.1}, frames.stage("x.x", {}).table).options_as(Mark)
