"""Comparison of two runs on a page, which names results that are no longer in the store."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest

from pipeline.cli.main import main
from tests.api.test_sweep import EXPERIMENT_SWEEP_REPORT


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which an experiment was run with two rates."""
    result = tmp_path_factory.mktemp("two_runs")
    rows = [f"a{n}\tb\t{n % 7 + 1}\t{n + 9}\t60\t999\t{int(n % 3 == 0)}" for n in range(40)]
    (result / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN\tTP", *rows]) + "\n")
    (result / "x.toml").write_text(EXPERIMENT_SWEEP_REPORT)
    with contextlib.chdir(result):
        assert main(["run", "x.toml", "--no-report"]) == 0
        assert main(["run", "x.toml", "--no-report", "--set", "stages.sample.rate=0.9"]) == 0
    return result


@pytest.fixture
def folder(two_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder, since tests change its files."""
    copy = shutil.copytree(two_runs, tmp_path / "copy")
    monkeypatch.chdir(copy)
    return copy


def page(folder: Path, *words: str) -> str:
    command = ["diff", "small:latest~1", "small:latest", "--html", "d.html", *words]
    assert main(command) == 0
    return (folder / "d.html").read_text()


@pytest.mark.long
def test_the_page_has_settings_findings_rows_and_figures(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    text = page(folder)
    assert capsys.readouterr().out == "comparison: d.html\n"
    assert "1 setting and 3 stages differ; 4 stages are equal." in text
    assert "config rate: 0.5 -&gt; 0.9" in text
    assert "Findings side by side" in text
    assert "First run. Precision of the n-best lists" in text
    assert str(folder) not in text


@pytest.mark.long
def test_an_existing_file_is_not_overwritten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "d.html").write_text("mine")
    assert main(["diff", "small:latest~1", "small:latest", "--html", "d.html"]) == 2
    assert "already exists; add --overwrite" in capsys.readouterr().err
    assert (folder / "d.html").read_text() == "mine"
    assert "Comparison of two runs" in page(folder, "--overwrite")
    assert main(["diff", "small:latest", "small:latest", "--html", "no/d.html"]) == 2
    assert "the folder no does not exist" in capsys.readouterr().err


@pytest.mark.long
def test_the_page_names_missing_results(folder: Path) -> None:
    shutil.rmtree(folder / "runs/small/sample")
    text = page(folder)
    assert "Results of the first run are no longer in the store: sample." in text
    assert "Results of the second run are no longer in the store: sample." in text
    shutil.rmtree(folder / "runs/small")


def test_a_page_of_runs_without_any_results(folder: Path) -> None:
    for stage in (folder / "runs/small").iterdir():
        if stage.is_dir() and stage.name != "history":
            shutil.rmtree(stage)
    text = page(folder)
    assert "Neither run has readable findings." in text


def test_a_run_equals_itself(folder: Path) -> None:
    assert main(["diff", "small:latest", "small:latest", "--html", "d.html"]) == 0
    assert "Nothing differs; 7 stages are equal." in (folder / "d.html").read_text()


@pytest.mark.long
def test_runs_of_two_experiments(folder: Path) -> None:
    other = EXPERIMENT_SWEEP_REPORT.replace('name = "small"', 'name = "other"').replace(
        '"t_score"', '"dice"'
    )
    (folder / "y.toml").write_text(other)
    assert main(["run", "y.toml", "--no-report"]) == 0
    assert main(["diff", "small:latest", "other:latest", "--html", "d.html"]) == 0
    text = (folder / "d.html").read_text()
    assert "stages.scores.measures" in text


def test_the_text_of_diff_lists_settings_and_stages(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["diff", "small:latest~1", "small:latest"]) == 0
    output = capsys.readouterr().out
    assert "stages.sample.rate: 0.5 -> 0.9" in output
    assert "3 stages differ" in output
