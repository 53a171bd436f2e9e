"""The stage that scores: its seed counts only where something is random."""

from __future__ import annotations

import pytest

from pipeline.stages.collocations.score import ScoreAssociation


@pytest.mark.parametrize(
    ("measures", "kept"),
    [(["all"], "s"), (["mi", "random"], "s"), (None, "s"), (["mi", "t.score"], "")],
)
def test_seed(measures: list[str] | None, kept: str) -> None:
    options = {"candidates": "c", "seed": "s"} | ({"measures": measures} if measures else {})
    assert ScoreAssociation.model_validate(options).seed == kept


def test_wrong_measures_are_named() -> None:
    with pytest.raises(ValueError, match="unknown measure 'nonsense'"):
        ScoreAssociation.model_validate({"candidates": "c", "measures": ["nonsense"]})
    with pytest.raises(ValueError, match="measures"):
        ScoreAssociation.model_validate({"candidates": "c", "measures": 5})
