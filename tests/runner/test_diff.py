"""Differences between two runs, also if one of them lacks a stage."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.runner.diff import TableDifference, stages_differ
from pipeline.runner.store.backends import storage_at
from tests.runner.commands import call
from tests.runner.laboratory import Laboratory, change

FURTHER = """
[stages.further]
use = "sample.random"
candidates = "candidates"
rate = 0.1
"""


def reasons(laboratory: Laboratory) -> dict[str, tuple[str, ...]]:
    """Return how the stages of the newest run differ from the run before it."""
    new, old = laboratory.records()[:2]
    storage = storage_at(laboratory.root)
    return {each.stage: each.reasons for each in stages_differ((storage, old), (storage, new))}


def test_a_stage_absent_from_one_run_is_reported(finished_laboratory: Laboratory) -> None:
    finished_laboratory.config.write_text(finished_laboratory.config.read_text() + FURTHER)
    finished_laboratory.run()
    assert reasons(finished_laboratory) == {"further": ("absent -> done",)}
    change(finished_laboratory.config, FURTHER, "")
    finished_laboratory.run()
    assert reasons(finished_laboratory) == {"further": ("done -> absent",)}


def test_a_failed_stage_is_reported(finished_laboratory: Laboratory) -> None:
    change(finished_laboratory.folder / "gold.tsv", "in:N0_0\tv0\t", "in:N0_0\tv0\tperhaps")
    assert finished_laboratory.call("run").code == 1
    assert reasons(finished_laboratory) == {
        "gold": ("done -> failed",),
        "precision": ("done -> absent",),
        "comparison": ("done -> absent",),
    }


def test_removed_results_are_reported(finished_laboratory: Laboratory) -> None:
    """The records state that the tables differ, but those of the first run were removed."""
    finished_laboratory.run("--set", "stages.sample.rate=0.9")
    fingerprint = finished_laboratory.records()[1].stages["sample"].fingerprint[:24]
    (finished_laboratory.root / "sample" / fingerprint / "manifest.json").unlink()
    message = "the results of the second run are gone or damaged"
    assert reasons(finished_laboratory)["sample"] == (message.replace("second", "first"),)
    new = finished_laboratory.artefact("sample")
    (new / "manifest.json").unlink()
    assert reasons(finished_laboratory)["sample"] == (
        message.replace("second", "first and the second"),
    )


@pytest.mark.parametrize(
    "place",
    [40, *(pytest.param(each, marks=pytest.mark.long) for each in (-40, None, "short"))],
)
def test_a_damaged_table_is_refused(
    finished_laboratory: Laboratory, place: int | str | None, tmp_path: Path
) -> None:
    """One changed bit would be another id."""
    finished_laboratory.run("--set", "stages.sample.rate=0.9")
    path = next(finished_laboratory.artefact("sample").glob("*/*.parquet"))
    content = bytearray(path.read_bytes())
    if isinstance(place, int):
        content[place] ^= 1
        path.write_bytes(content)
    elif place == "short":
        path.write_bytes(content[:-1])
    else:
        path.unlink()
        (path.parent / "other").touch()
    words = ["diff", "small:latest~1", "small:latest", "--runs", str(finished_laboratory.runs)]
    for more in ([], ["--format", "json"], ["--html", str(tmp_path / "page.html")]):
        outcome = call([*words, *more])
        assert outcome.code == 1, outcome.text
        assert "the results of stage sample in " in outcome.err
        assert re.search(
            r"are damaged: (the content of )?sample/part-00000.parquet (has|is)", outcome.err
        )


def table_of(laboratory: Laboratory, stage: str, table: str) -> TableDifference:
    """Return how a table of the newest run differs from that of the run before it."""
    new, old = laboratory.records()[:2]
    storage = storage_at(laboratory.root)
    (result,) = (
        each for each in stages_differ((storage, old), (storage, new)) if each.stage == stage
    )
    (one,) = (each for each in result.tables if each.table == table)
    return one


def test_draws_at_another_rate_are_matched(finished_laboratory: Laboratory) -> None:
    finished_laboratory.run("--set", "stages.sample.rate=0.9")
    result = table_of(finished_laboratory, "sample", "sample")
    assert result.only_first == 0
    assert min(result.only_second, result.changed) > 0
    assert result.columns == {"pi": result.changed}
    assert result.examples == []


def test_draws_in_another_order_are_reported(finished_laboratory: Laboratory) -> None:
    finished_laboratory.run("--set", 'stages.sample.seed="other"')
    result = table_of(finished_laboratory, "sample", "sample")
    assert result.columns == {"position": result.changed}
    assert result.examples[0].values.keys() == {"position"}
