"""Remarks through the whole runner: kept, told again, made strict, and the last good report."""

from __future__ import annotations

from pathlib import Path

import pytest

import pipeline as lx
from pipeline.errors import ConfigError, Warned
from pipeline.runner.events import Event
from pipeline.runner.run import Kept
from pipeline.runner.store.artefacts import sealed, unsealed
from tests.small_experiment import SMALL

SAMPLED = """
[stages.sample]
use = "sample.random"
candidates = "candidates"
size = {size}

[stages.sampled]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
cuts = [3]
"""
HEAD = "l1\tl2\tf\tf1\tf2\tN\tTP\n"


def build(folder: Path, *, size: int = 4, rows: int = 8, further: str = "") -> Path:
    pairs = (f"a{i}\tb{i}\t{i + 2}\t{20 + i}\t{30 + i}\t900\t{i % 2}\n" for i in range(rows))
    folder.mkdir(exist_ok=True)
    (folder / "pairs.tsv").write_text(HEAD + "".join(pairs))
    config = folder / "small.toml"
    config.write_text(SMALL + SAMPLED.format(size=size) + further)
    return config


class Listener:
    """Keeps the remarks that are told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def __call__(self, event: Event) -> None:
        if event.kind == "remark":
            self.told.append((event.stage, event.facts["check"]))


def test_remarks_are_kept_and_told_at_every_run(tmp_path: Path) -> None:
    config = build(tmp_path, size=20)
    first, second = Listener(), Listener()
    lx.run(config, runs=tmp_path / "runs", report=False, listeners=[first])
    run = lx.run(config, runs=tmp_path / "runs", report=False, listeners=[second])
    assert ("sample", "few_drawn") in first.told
    assert first.told == second.told
    (one,) = run.remarks["sample"]
    assert one.numbers == {"asked": 20, "drawn": 8}
    assert run.record is not None
    assert run.record.stages["sample"].remarks == (one,)
    assert lx.show(config, runs=tmp_path / "runs").remarks["sample"] == (one,)


def test_a_remark_is_heard_once_and_read_afterwards(tmp_path: Path) -> None:
    config = build(tmp_path, size=20)
    lx.run(config, runs=tmp_path / "runs", report=False)
    (kept,) = (tmp_path / "runs" / "small" / "sample").glob("*/remarks.json")
    content = unsealed(kept.read_bytes(), Kept)
    (one,) = content.remarks
    other = one.model_copy(update={"text": "as it was kept"})
    kept.write_bytes(sealed(content.model_copy(update={"remarks": (other,)})))
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    assert run.remarks["sample"][0].text == "as it was kept"


@pytest.mark.parametrize("damage", ["", "{", '{"mark": "x", "remarks": [{}]}'])
def test_damaged_remarks_are_heard_again(tmp_path: Path, damage: str) -> None:
    config = build(tmp_path, size=20)
    lx.run(config, runs=tmp_path / "runs", report=False)
    (kept,) = (tmp_path / "runs" / "small" / "sample").glob("*/remarks.json")
    kept.write_text(damage)
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    assert run.remarks["sample"][0].check == "few_drawn"


def test_a_threshold_is_set_in_the_experiment_and_computes_nothing_anew(tmp_path: Path) -> None:
    lx.run(build(tmp_path, size=20), runs=tmp_path / "runs", report=False)
    for further, heard in (("12", True), ("13", False), ("false", False)):
        config = build(tmp_path, size=20, further=f"[remarks]\nfew_drawn = {further}\n")
        run = lx.run(config, runs=tmp_path / "runs", report=False)
        assert ("sample" in run.remarks) == heard
        assert run.record is not None
        assert {stage.outcome for stage in run.record.stages.values()} == {"reused"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("few_drown = 3", "did you mean few_drawn"),
        ("few_drawn = true", "few_drawn"),
        ("few_drawn = -1", "should be 0.0 or more"),
        ('few_drawn = "3"', "few_drawn"),
    ],
)
def test_a_wrong_threshold_is_an_error_of_the_experiment(
    tmp_path: Path, line: str, words: str
) -> None:
    config = build(tmp_path, further=f"[remarks]\n{line}\n")
    with pytest.raises(ConfigError, match="remarks") as caught:
        lx.check(config)
    assert words in str(caught.value)


def test_a_strict_run_fails_and_keeps_what_was_made(tmp_path: Path) -> None:
    config = build(tmp_path, rows=0)
    with pytest.raises(Warned, match="no_candidates") as caught:
        lx.run(config, runs=tmp_path / "runs", strict=True)
    assert caught.value.stage == "candidates"
    assert not (tmp_path / "runs" / "small" / "report").exists()
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    assert run.record is not None
    assert run.record.stages["candidates"].outcome == "reused"


def test_a_strict_run_does_not_mind_notes(tmp_path: Path) -> None:
    run = lx.run(build(tmp_path, size=20), runs=tmp_path / "runs", report=False, strict=True)
    assert run.remarks["sample"][0].level == "note"


@pytest.mark.long
def test_the_last_good_report_is_kept_beside_one_with_further_warnings(tmp_path: Path) -> None:
    results = tmp_path / "runs" / "small"
    kept = results / "report-last-good" / "index.html"
    lx.run(build(tmp_path), runs=tmp_path / "runs")
    good = (results / "report" / "index.html").read_text()
    assert not kept.exists()
    assert "no candidates" not in good

    lx.run(build(tmp_path, rows=0), runs=tmp_path / "runs")
    assert "there are no candidates" in (results / "report" / "index.html").read_text()
    assert kept.read_text() == good

    lx.run(build(tmp_path, rows=0, size=5), runs=tmp_path / "runs")
    assert kept.read_text() == good

    lx.run(build(tmp_path), runs=tmp_path / "runs")
    assert (results / "report" / "index.html").read_text() == good
    assert not kept.exists()


@pytest.mark.long
def test_a_what_if_keeps_the_report_of_the_experiment(tmp_path: Path) -> None:
    results = tmp_path / "runs" / "small"
    kept = results / "report-last-good" / "index.html"
    config = build(tmp_path)
    lx.run(config, runs=tmp_path / "runs")
    good = (results / "report" / "index.html").read_text()
    for size in (5, 6):
        lx.run(config, runs=tmp_path / "runs", settings={"stages.sample.size": size})
        assert kept.read_text() == good
    lx.run(config, runs=tmp_path / "runs")
    assert (results / "report" / "index.html").read_text() == good
    assert not kept.exists()


def test_a_report_of_an_earlier_version_counts_as_good(tmp_path: Path) -> None:
    results = tmp_path / "runs" / "small"
    lx.run(build(tmp_path), runs=tmp_path / "runs")
    (results / "report" / ".flaws").unlink()
    lx.run(build(tmp_path, rows=0), runs=tmp_path / "runs")
    assert (results / "report-last-good" / "index.html").is_file()


def test_the_page_tells_what_to_look_at(tmp_path: Path) -> None:
    run = lx.run(build(tmp_path, size=20), runs=tmp_path / "runs")
    assert run.report is not None
    page = run.report.read_text()
    assert "Before you believe it" in page
    assert "8 of the 20 draws that were asked for" in page
