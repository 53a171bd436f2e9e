from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import pipeline as lx

CONFIGS = Path(__file__).parents[2] / "configs"


def test_demo_is_valid(tmp_path: Path) -> None:
    project = lx.check(CONFIGS / "demo.toml", runs=tmp_path)
    assert next(iter(project.nodes)) == "candidates"


@pytest.mark.parametrize(
    ("name", "file"),
    [("krenn", "krenn_pp_verb.ds"), ("streusle", "streusle_bigram.tsv.gz")],
)
def test_experiments_on_public_data_are_valid(
    name: str, file: str, public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    root = public_data(f"collocations/{file}").parents[1]
    project = lx.check(CONFIGS / f"{name}.toml", runs=tmp_path, data=root)
    assert {"full", "sampled"} <= set(project.nodes)
