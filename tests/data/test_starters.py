from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.report.view import VIEWS
from pipeline.stages.base import STAGES

STARTERS = Path(lx.__file__).parent / "cli" / "starters"
COLLOCATIONS = STARTERS / "collocations" / "experiment.toml"
OPTION = re.compile(r"#([A-Za-z_]+) = ")
"""A commented option: no blank after the #."""
LINES = COLLOCATIONS.read_text().splitlines()
OPTIONS = [place for place, line in enumerate(LINES) if OPTION.match(line)]
SWEEP = LINES.index("#[sweep]")


@pytest.mark.long
def test_new_writes_an_experiment_that_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    assert main(["new", "collocations", str(folder)]) == 0
    experiment = folder / "experiment.toml"
    assert str(experiment) in capsys.readouterr().out
    assert main(["run", str(experiment), "--runs", str(tmp_path / "runs")]) == 0
    report = tmp_path / "runs" / "collocations" / "report"
    assert (report / "index.html").is_file()
    figures = {path.name for path in (report / "figures").glob("*.svg")}
    names = ("difference", "matrix", "best", "intervals")
    assert figures == {"sampled-precision.svg", "full-precision.svg"} | {
        f"comparison-{name}.svg" for name in names
    }


def test_new_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "collocations", str(tmp_path)]) == 0
    changed = tmp_path / "experiment.toml"
    changed.write_text("mine")
    (tmp_path / "candidates.tsv").unlink()
    assert main(["new", "collocations", str(tmp_path)]) == 2
    assert "experiment.toml" in capsys.readouterr().err
    assert changed.read_text() == "mine"
    assert not (tmp_path / "candidates.tsv").exists()


@pytest.mark.parametrize("place", [place for place in OPTIONS if place < SWEEP])
@pytest.mark.long
def test_each_commented_option_can_be_used(place: int, tmp_path: Path) -> None:
    assert _problems(_enabled(place), tmp_path) == ""


def test_the_commented_sweep_can_be_used(tmp_path: Path) -> None:
    text = "\n".join([*LINES[:SWEEP], *(line.removeprefix("#") for line in LINES[SWEEP:])])
    assert tomllib.loads(text)["sweep"]["collect"] == ["sampled.cuts"]
    assert _problems(text, tmp_path) == ""


def test_a_wrong_option_would_be_found(tmp_path: Path) -> None:
    text = "\n".join(LINES).replace("#min_frequency", "min_frequenzy")
    assert "min_frequenzy" in _problems(text, tmp_path)


@pytest.mark.parametrize(
    "use",
    [
        "extract.table",
        "join.table",
        "score.association",
        "score.rank",
        "sample.random",
        "evaluate.precision",
        "evaluate.comparison",
    ],
)
def test_each_option_is_explained(use: str) -> None:
    sections = re.split(r"\n(?=\[)", "\n".join(LINES))
    mine = "\n".join(section for section in sections if f'use = "{use}"' in section)
    options = STAGES.get(use).config.model_fields
    assert [name for name in options if not re.search(rf"\b{name} = ", mine)] == []


def test_each_option_of_the_precision_graph_is_explained() -> None:
    section = "\n".join(LINES).partition("[report.views.sampled]")[2].partition("\n[")[0]
    options = VIEWS.get("evaluate.precision").options.model_fields
    assert [name for name in options if not re.search(rf"\b{name} = ", section)] == []


def _enabled(place: int) -> str:
    """Return the experiment with one commented option used, in place of the one that is set."""
    found = OPTION.match(LINES[place])
    assert found is not None
    first = max(line for line in range(place) if LINES[line].startswith("["))
    after = range(place, len(LINES))
    last = next((line for line in after if LINES[line].lstrip("#").startswith("[")), len(LINES))
    set_here = [line for line in range(first + 1, last) if LINES[line].startswith(f"{found[1]} = ")]
    changed = {place: LINES[place].removeprefix("#")} | dict.fromkeys(set_here, "")
    return "\n".join(changed.get(number, line) for number, line in enumerate(LINES))


def _problems(text: str, folder: Path) -> str:
    (folder / "experiment.toml").write_text(text)
    (folder / "candidates.tsv").write_bytes((COLLOCATIONS.parent / "candidates.tsv").read_bytes())
    try:
        lx.check(folder / "experiment.toml", runs=folder / "runs")
    except lx.errors.ConfigError as error:
        return str(error)
    return ""
