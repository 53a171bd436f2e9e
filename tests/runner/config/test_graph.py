"""The order of stages."""

from __future__ import annotations

from pipeline.runner.config.experiment import Experiment
from pipeline.runner.config.graph import build

LONG = 2_000


def test_a_chain_of_any_length() -> None:
    """Each stage rests on the one before it twice; the file has them the other way round."""
    merged = {"use": "extract.merge", "min_frequency": 1}
    stages = {
        f"s{i}": merged | {"first": f"s{i - 1}", "second": f"s{i - 1}"} for i in range(LONG, 0, -1)
    }
    stages["s0"] = {"use": "extract.table", "path": "a.tsv"}
    nodes, problems = build(Experiment.model_validate({"name": "x", "stages": stages}))
    assert not problems
    assert list(nodes) == [f"s{i}" for i in range(LONG + 1)]
