"""What findings look at of the options of stages: each stage has them, and every default."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pipeline.findings.base import FINDERS, StageOptions
from pipeline.findings.clustering import Unclustered
from pipeline.findings.collocations import comparison
from pipeline.findings.lexicon import Compared, Judged
from pipeline.stages.base import STAGES

LOOKED_AT: list[tuple[str, type[StageOptions]]] = [
    ("evaluate.comparison", comparison.Tested), ("evaluate.comparison", comparison.Asked), ("evaluate.token_level", Unclustered),
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
