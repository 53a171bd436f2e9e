"""The experiment of `lexassay new lexicon`: it runs, and every option in it works."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import make_lexicon
import pytest
from inflection import MISSIER, PARADIGMS

import pipeline as lx
from pipeline.cli.main import main
from pipeline.report.view import VIEWS
from pipeline.stages.base import STAGES

FOLDER = Path(lx.__file__).parent / "cli" / "starters" / "lexicon"
LINES = (FOLDER / "experiment.toml").read_text().splitlines()
OPTION = re.compile(r"#([A-Za-z_]+) = ")
SWEEP = LINES.index("#[sweep]")
OPTIONS = [place for place, line in enumerate(LINES[:SWEEP]) if OPTION.match(line)]
INSTEAD_OF = {"lemmas": ("rate",), "path": ("rate",), "folder": ("entries",)}
"""Options that take the place of others."""
WITH = {"drawn": 'lemmas = ["missier"]'}
"""Options that need another: it takes the place of the rate."""


def test_data_are_what_the_generator_makes() -> None:
    for size, folder in (
        (make_lexicon.SIZE, make_lexicon.FOLDER),
        (make_lexicon.STARTER_SIZE, FOLDER),
    ):
        for name, content in make_lexicon.files(size, seed=make_lexicon.SEED).items():
            assert content == (folder / name).read_bytes(), name


def test_the_computed_lexicon_has_the_seven_forms_of_the_example() -> None:
    files = make_lexicon.files(20, seed="x")
    first = files["computed.wordforms"].decode().split("\n\n")[0].split()
    assert first == list(MISSIER[:7])
    assert len(PARADIGMS["noun"]) == len(MISSIER) == 10
    listed = {form for form in MISSIER if form in files["printed.tsv"].decode()}
    assert listed | {form for form in MISSIER if form in files["dictionary.unimorph"].decode()} == {
        *MISSIER
    }


@pytest.mark.long
def test_new_writes_an_experiment_that_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    assert main(["new", "lexicon", str(folder)]) == 0
    experiment = folder / "experiment.toml"
    experiment.write_text(experiment.read_text().replace("#aligned", "aligned"))
    assert main(["run", str(experiment), "--runs", str(tmp_path / "runs")]) == 0
    report = tmp_path / "runs" / "lexicon" / "report"
    page = (report / "index.html").read_text()
    assert "missier: 7 forms in common, P = 100.0 %, R = 70.0 %, L = 82.4 %" in page
    names = {path.stem.partition("-")[2] for path in (report / "figures").glob("quality-*.svg")}
    assert names == {"precision", "recall", "precision-recall-trend", "L", "L-trend", "scatter"}


@pytest.mark.parametrize("place", OPTIONS, ids=lambda place: LINES[place][:24])
@pytest.mark.long
def test_each_commented_option_can_be_used(place: int, tmp_path: Path) -> None:
    assert _problems(_enabled(place), tmp_path) == ""


def test_the_commented_sweep_can_be_used(tmp_path: Path) -> None:
    text = "\n".join([*LINES[:SWEEP], *(line.removeprefix("#") for line in LINES[SWEEP:])])
    assert tomllib.loads(text)["sweep"]["collect"] == ["quality.quality"]
    assert _problems(text, tmp_path) == ""


def test_a_wrong_option_would_be_found(tmp_path: Path) -> None:
    text = "\n".join(LINES).replace("#span", "spam")
    assert "spam" in _problems(text, tmp_path)


@pytest.mark.parametrize(
    "use",
    [
        "extract.lexicon", "extract.paradigms", "extract.union", "sample.lemmas", "score.lexicon",
        "evaluate.lexicon", "evaluate.lexicons", "sheet.keying", "sheet.keying_simulated",
        "join.keying",
    ],
)  # fmt: skip
def test_each_option_is_explained(use: str) -> None:
    sections = re.split(r"\n(?=\[)", "\n".join(LINES))
    mine = "\n".join(section for section in sections if f'use = "{use}"' in section)
    options = STAGES.get(use).config.model_fields
    assert [name for name in options if not re.search(rf"\b{name} = ", mine)] == []


@pytest.mark.parametrize(
    ("stage", "use"), [("quality", "evaluate.lexicon"), ("comparison", "evaluate.lexicons")]
)
def test_each_option_of_a_view_is_explained(stage: str, use: str) -> None:
    section = "\n".join(LINES).partition(f"[report.views.{stage}]")[2].partition("\n[")[0]
    options = VIEWS.get(use).options.model_fields
    assert [name for name in options if not re.search(rf"\b{name} = ", section)] == []


def _enabled(place: int) -> str:
    """Return the experiment with one commented option used, in place of what it replaces."""
    found = OPTION.match(LINES[place])
    assert found is not None
    option = found[1]
    first = max(line for line in range(place) if LINES[line].startswith("["))
    after = range(place, len(LINES))
    last = next((line for line in after if LINES[line].lstrip("#").startswith("[")), len(LINES))
    gone = (option, *INSTEAD_OF.get(option, ()), *(("rate",) if option in WITH else ()))
    own = range(first + 1, last)
    set_here = [line for line in own if LINES[line].partition(" = ")[0] in gone]
    changed = dict.fromkeys(set_here, "")
    changed[place] = LINES[place].removeprefix("#") + "\n" + WITH.get(option, "")
    return "\n".join(changed.get(number, line) for number, line in enumerate(LINES))


def _problems(text: str, folder: Path) -> str:
    for path in FOLDER.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "experiment.toml").write_text(text)
    try:
        lx.check(folder / "experiment.toml", runs=folder / "runs")
    except lx.errors.ConfigError as error:
        return str(error)
    return ""
