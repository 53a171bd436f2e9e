"""The starter of the clustering family: it runs, and explains every option."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from make_taggings import SEED, starter_files

import pipeline as lx
from pipeline.cli.main import main
from pipeline.report.view import VIEWS
from pipeline.stages.base import STAGES

FOLDER = Path(lx.__file__).parent / "cli" / "starters" / "clustering"
LINES = (FOLDER / "experiment.toml").read_text().splitlines()
OPTION = re.compile(r"#([A-Za-z_]+) = ")
"""A commented option: no blank after the #."""
OPTIONS = [place for place, line in enumerate(LINES) if OPTION.match(line)]
ALIKE = ("item", "fold", "min_frequency")
"""Options that have to be the same in all stages that read tags."""
SECTIONS = re.split(r"\n(?=\[)", "\n".join(LINES))
KINDS = [
    "extract.gold", "extract.gold_table", "extract.clusters", "join.tagging", "extract.tagging",
    "evaluate.type_level", "evaluate.token_level", "evaluate.overlapping", "evaluate.systems",
    "evaluate.shares",
]  # fmt: skip
VIEWED = {"types": "evaluate.type_level", "tokens": "evaluate.token_level",
          "systems": "evaluate.systems", "zipf": "evaluate.shares"}  # fmt: skip


def test_its_data_are_those_of_the_generator() -> None:
    made = starter_files(SEED)
    assert {each.name for each in FOLDER.iterdir()} == {*made, "experiment.toml"}
    assert {name: (FOLDER / name).read_text() for name in made} == made


@pytest.mark.long
def test_new_writes_an_experiment_that_runs(tmp_path: Path) -> None:
    assert main(["new", "clustering", str(tmp_path / "mine")]) == 0
    experiment = tmp_path / "mine" / "experiment.toml"
    assert main(["run", str(experiment), "--runs", str(tmp_path / "runs")]) == 0
    report = tmp_path / "runs" / "clustering" / "report"
    assert (report / "index.html").is_file()
    figures = {path.stem for path in (report / "figures").glob("*.svg")}
    assert {"systems-scatter", "systems-spearman", "types-mapping-tree", "types-classes-context",
            "tokens-mapping-sampler", "zipf-classes", "zipf-frequent"} <= figures  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the starter's data."""
    made = tmp_path_factory.mktemp("starter")
    for each in FOLDER.iterdir():
        (made / each.name).write_bytes(each.read_bytes())
    return made


@pytest.mark.parametrize("place", OPTIONS, ids=lambda place: LINES[place][:40])
@pytest.mark.long
def test_each_commented_option_can_be_used(place: int, folder: Path) -> None:
    assert _problems(_enabled(place), folder) == ""


def test_a_wrong_option_would_be_found(folder: Path) -> None:
    assert "restart" in _problems("\n".join(LINES).replace("#restarts", "restart"), folder)


@pytest.mark.parametrize("use", KINDS)
def test_each_option_is_explained(use: str) -> None:
    mine = "\n".join(section for section in SECTIONS if f'use = "{use}"' in section)
    options = STAGES.get(use).config.model_fields
    assert [name for name in options if not re.search(rf"\b{name} = ", mine)] == []


@pytest.mark.parametrize("name", sorted(VIEWED))
def test_each_option_of_a_view_is_explained(name: str) -> None:
    (mine,) = (each for each in SECTIONS if each.startswith(f"[report.views.{name}]"))
    options = VIEWS.get(VIEWED[name]).options.model_fields
    assert [each for each in options if not re.search(rf"\b{each} = ", mine)] == []


def _enabled(place: int) -> str:
    """Return the experiment with one commented option used, in place of the one that is set.

    Options that have to be alike in several stages are used in all of them.
    """
    found = OPTION.match(LINES[place])
    assert found is not None
    first = max(line for line in range(place) if LINES[line].startswith("["))
    after = range(place, len(LINES))
    last = next((line for line in after if LINES[line].startswith("[")), len(LINES))
    set_here = [line for line in range(first + 1, last) if LINES[line].startswith(f"{found[1]} = ")]
    same = [line for line in OPTIONS if LINES[line].startswith(f"#{found[1]} = ")]
    used = [place, *(same if found[1] in ALIKE else [])]
    changed = {line: LINES[line].removeprefix("#") for line in used} | dict.fromkeys(set_here, "")
    return "\n".join(changed.get(number, line) for number, line in enumerate(LINES))


def _problems(text: str, folder: Path) -> str:
    (folder / "experiment.toml").write_text(text)
    try:
        lx.check(folder / "experiment.toml", runs=folder / "runs")
    except lx.errors.ConfigError as error:
        return str(error)
    return ""
