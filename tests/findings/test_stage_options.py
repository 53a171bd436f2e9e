"""What findings look at of the options of stages: each stage has them, and every default."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pipeline.findings.clustering.cautions import Unclustered
from pipeline.findings.collocations import differences, measures
from pipeline.findings.finding import FINDERS
from pipeline.findings.lexicon.evidence import Judged
from pipeline.findings.lexicon.lexicons import Compared
from pipeline.findings.stage import StageOptions
from pipeline.stages.base import STAGES

LOOKED_AT: list[tuple[str, type[StageOptions]]] = [
    ("evaluate.comparison", measures.Tested), ("evaluate.comparison", differences.Asked), ("evaluate.token_level", Unclustered),
    ("evaluate.lexicon", Judged), ("evaluate.lexicons", Compared),
]  # fmt: skip


def every(model: type[StageOptions]) -> Iterator[type[StageOptions]]:
    for below in model.__subclasses__():
        if below.__module__.startswith(
            ("pipeline.findings.clustering", "pipeline.findings.lexicon")
        ):
            yield below
            yield from every(below)


def test_the_list_of_this_file_is_complete() -> None:
    assert list(FINDERS)
    assert set(every(StageOptions)) <= {model for _, model in LOOKED_AT}


@pytest.mark.parametrize(("use", "model"), LOOKED_AT)
def test_the_stage_has_each_option(use: str, model: type[StageOptions]) -> None:
    assert set(model.model_fields) <= set(STAGES.get(use).config.model_fields)
    assert all(field.is_required() for field in model.model_fields.values())
