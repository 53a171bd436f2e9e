"""The starters of all families: they run, and explain every option."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import make_lexicon
import pytest
from inflection import MISSIER, PARADIGMS
from make_taggings import SEED, starter_files

import pipeline as lx
from pipeline.cli.main import main
from pipeline.report.view import VIEWS
from pipeline.stages.base import STAGES

# The starter of the clustering family: it runs, and explains every option.

FOLDER = Path(lx.__file__).parent / "cli" / "starters" / "clustering"
CLUSTERING_LINES = (FOLDER / "experiment.toml").read_text().splitlines()
OPTION = re.compile(r"#([A-Za-z_]+) = ")
"""A commented option: no blank after the #."""
CLUSTERING_OPTIONS = [place for place, line in enumerate(CLUSTERING_LINES) if OPTION.match(line)]
EQUAL_OPTIONS = ("item", "fold", "min_frequency")
"""Options that have to be equal in all stages that read tags."""
SECTIONS = re.split(r"\n(?=\[)", "\n".join(CLUSTERING_LINES))
KINDS = [
    "extract.gold", "extract.gold_table", "extract.clusters", "join.tagging", "extract.tagging",
    "evaluate.type_level", "evaluate.token_level", "evaluate.overlapping", "evaluate.systems",
    "evaluate.shares",
]  # fmt: skip
VIEWED = {"types": "evaluate.type_level", "tokens": "evaluate.token_level",
          "systems": "evaluate.systems", "zipf": "evaluate.shares"}  # fmt: skip


def test_clustering_data_are_those_of_the_generator() -> None:
    contents = starter_files(SEED)
    assert {each.name for each in FOLDER.iterdir()} == {*contents, "experiment.toml"}
    assert {name: (FOLDER / name).read_text() for name in contents} == contents


@pytest.mark.long
def test_new_writes_a_clustering_experiment_that_runs(tmp_path: Path) -> None:
    assert main(["new", "clustering", str(tmp_path / "mine")]) == 0
    experiment = tmp_path / "mine" / "experiment.toml"
    assert main(["run", str(experiment), "--runs", str(tmp_path / "runs")]) == 0
    report = tmp_path / "runs" / "clustering" / "report"
    assert (report / "index.html").is_file()
    figures = {path.stem for path in (report / "figures").glob("*.svg")}
    assert {"systems-scatter", "systems-spearman", "types-mapping-tree", "types-classes-context",
            "tokens-mapping-sampler", "zipf-classes", "zipf-frequent"} <= figures  # fmt: skip


@pytest.fixture(scope="module")
def clustering_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the starter's data."""
    folder = tmp_path_factory.mktemp("starter")
    for each in FOLDER.iterdir():
        (folder / each.name).write_bytes(each.read_bytes())
    return folder


@pytest.mark.parametrize(
    "place", CLUSTERING_OPTIONS, ids=lambda place: CLUSTERING_LINES[place][:40]
)
@pytest.mark.long
def test_commented_options_of_clusterings_can_be_used(place: int, clustering_folder: Path) -> None:
    assert _clustering_problems(_clustering_enabled(place), clustering_folder) == ""


def test_a_wrong_option_of_clusterings_is_refused(clustering_folder: Path) -> None:
    assert "restart" in _clustering_problems(
        "\n".join(CLUSTERING_LINES).replace("#restarts", "restart"),
        clustering_folder,
    )


@pytest.mark.parametrize("use", KINDS)
def test_options_of_clustering_stages_are_explained(use: str) -> None:
    section_text = "\n".join(section for section in SECTIONS if f'use = "{use}"' in section)
    options = STAGES.get(use).config.model_fields
    assert [name for name in options if not re.search(rf"\b{name} = ", section_text)] == []


@pytest.mark.parametrize("name", sorted(VIEWED))
def test_options_of_clustering_views_are_explained(name: str) -> None:
    (section_text,) = (each for each in SECTIONS if each.startswith(f"[report.views.{name}]"))
    options = VIEWS.get(VIEWED[name]).options.model_fields
    assert [each for each in options if not re.search(rf"\b{each} = ", section_text)] == []


def _clustering_enabled(place: int) -> str:
    """Return the experiment with one commented option enabled, in place of the one that is set.

    Options that have to be equal in several stages are enabled in all of them.
    """
    match = OPTION.match(CLUSTERING_LINES[place])
    assert match is not None
    first = max(line for line in range(place) if CLUSTERING_LINES[line].startswith("["))
    after = range(place, len(CLUSTERING_LINES))
    last = next(
        (line for line in after if CLUSTERING_LINES[line].startswith("[")),
        len(CLUSTERING_LINES),
    )
    set_here = [
        line
        for line in range(first + 1, last)
        if CLUSTERING_LINES[line].startswith(f"{match[1]} = ")
    ]
    same = [
        line for line in CLUSTERING_OPTIONS if CLUSTERING_LINES[line].startswith(f"#{match[1]} = ")
    ]
    used = [place, *(same if match[1] in EQUAL_OPTIONS else [])]
    changed = {line: CLUSTERING_LINES[line].removeprefix("#") for line in used} | dict.fromkeys(
        set_here, ""
    )
    return "\n".join(changed.get(number, line) for number, line in enumerate(CLUSTERING_LINES))


def _clustering_problems(text: str, folder: Path) -> str:
    (folder / "experiment.toml").write_text(text)
    try:
        lx.check(folder / "experiment.toml", runs=folder / "runs")
    except lx.errors.ConfigError as error:
        return str(error)
    return ""


# The experiment of `lexassay new lexicon`: it runs, and every option in it works.

LEXICON_FOLDER = Path(lx.__file__).parent / "cli" / "starters" / "lexicon"
LEXICON_LINES = (LEXICON_FOLDER / "experiment.toml").read_text().splitlines()
LEXICON_SWEEP = LEXICON_LINES.index("#[sweep]")
LEXICON_OPTIONS = [
    place for place, line in enumerate(LEXICON_LINES[:LEXICON_SWEEP]) if OPTION.match(line)
]
INSTEAD_OF = {"lemmas": ("rate",), "path": ("rate",), "folder": ("entries",)}
"""Options that take the place of others."""
WITH = {"drawn": 'lemmas = ["missier"]', "expert": 'rule = "expert"'}
"""Options that need another: it takes the place of the rate."""


def test_lexicon_data_are_those_of_the_generator() -> None:
    for size, folder in (
        (make_lexicon.SIZE, make_lexicon.FOLDER),
        (make_lexicon.STARTER_SIZE, LEXICON_FOLDER),
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
def test_new_writes_a_lexicon_experiment_that_runs(
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


@pytest.mark.parametrize("place", LEXICON_OPTIONS, ids=lambda place: LEXICON_LINES[place][:24])
@pytest.mark.long
def test_commented_options_of_lexicons_can_be_used(place: int, tmp_path: Path) -> None:
    assert _lexicon_problems(_lexicon_enabled(place), tmp_path) == ""


def test_the_commented_sweep_of_lexicons_can_be_used(tmp_path: Path) -> None:
    text = "\n".join(
        [
            *LEXICON_LINES[:LEXICON_SWEEP],
            *(line.removeprefix("#") for line in LEXICON_LINES[LEXICON_SWEEP:]),
        ]
    )
    assert tomllib.loads(text)["sweep"]["collect"] == ["quality.quality"]
    assert _lexicon_problems(text, tmp_path) == ""


def test_a_wrong_option_of_lexicons_is_refused(tmp_path: Path) -> None:
    text = "\n".join(LEXICON_LINES).replace("#span", "spam")
    assert "spam" in _lexicon_problems(text, tmp_path)


@pytest.mark.parametrize(
    "use",
    [
        "extract.lexicon", "extract.paradigms", "extract.union", "sample.lemmas", "score.lexicon",
        "evaluate.lexicon", "evaluate.lexicons", "sheet.keying", "sheet.keying_simulated",
        "join.keying",
    ],
)  # fmt: skip
def test_options_of_lexicon_stages_are_explained(use: str) -> None:
    sections = re.split(r"\n(?=\[)", "\n".join(LEXICON_LINES))
    section_text = "\n".join(section for section in sections if f'use = "{use}"' in section)
    options = STAGES.get(use).config.model_fields
    assert [name for name in options if not re.search(rf"\b{name} = ", section_text)] == []


@pytest.mark.parametrize(
    ("stage", "use"), [("quality", "evaluate.lexicon"), ("comparison", "evaluate.lexicons")]
)
def test_options_of_lexicon_views_are_explained(stage: str, use: str) -> None:
    section = "\n".join(LEXICON_LINES).partition(f"[report.views.{stage}]")[2].partition("\n[")[0]
    options = VIEWS.get(use).options.model_fields
    assert [name for name in options if not re.search(rf"\b{name} = ", section)] == []


def _lexicon_enabled(place: int) -> str:
    """Return the experiment with one commented option enabled, in place of what it replaces."""
    match = OPTION.match(LEXICON_LINES[place])
    assert match is not None
    option = match[1]
    first = max(line for line in range(place) if LEXICON_LINES[line].startswith("["))
    after = range(place, len(LEXICON_LINES))
    last = next(
        (line for line in after if LEXICON_LINES[line].lstrip("#").startswith("[")),
        len(LEXICON_LINES),
    )
    replaced = (option, *INSTEAD_OF.get(option, ()), *(("rate",) if option in WITH else ()))
    own = range(first + 1, last)
    set_here = [line for line in own if LEXICON_LINES[line].partition(" = ")[0] in replaced]
    changed = dict.fromkeys(set_here, "")
    changed[place] = LEXICON_LINES[place].removeprefix("#") + "\n" + WITH.get(option, "")
    return "\n".join(changed.get(number, line) for number, line in enumerate(LEXICON_LINES))


def _lexicon_problems(text: str, folder: Path) -> str:
    for path in LEXICON_FOLDER.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "experiment.toml").write_text(text)
    try:
        lx.check(folder / "experiment.toml", runs=folder / "runs")
    except lx.errors.ConfigError as error:
        return str(error)
    return ""


STARTERS = Path(lx.__file__).parent / "cli" / "starters"
COLLOCATIONS = STARTERS / "collocations" / "experiment.toml"
LINES = COLLOCATIONS.read_text().splitlines()
OPTIONS = [place for place, line in enumerate(LINES) if OPTION.match(line)]
SWEEP = LINES.index("#[sweep]")
COMBINATION = LINES.index("#[stages.combined]")
"""Where whole stages are commented."""


@pytest.mark.long
def test_new_writes_a_collocation_experiment_that_runs(
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


def test_new_does_not_overwrite_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "collocations", str(tmp_path)]) == 0
    changed = tmp_path / "experiment.toml"
    changed.write_text("mine")
    (tmp_path / "candidates.tsv").unlink()
    assert main(["new", "collocations", str(tmp_path)]) == 2
    assert "experiment.toml" in capsys.readouterr().err
    assert changed.read_text() == "mine"
    assert not (tmp_path / "candidates.tsv").exists()


@pytest.mark.parametrize("place", [place for place in OPTIONS if place < COMBINATION])
@pytest.mark.long
def test_commented_options_of_collocations_can_be_used(place: int, tmp_path: Path) -> None:
    assert _problems(_enable_option(place), tmp_path) == ""


def test_the_commented_sweep_of_collocations_can_be_used(tmp_path: Path) -> None:
    text = "\n".join([*LINES[:SWEEP], *(line.removeprefix("#") for line in LINES[SWEEP:])])
    assert tomllib.loads(text)["sweep"]["collect"] == ["sampled.cuts"]
    assert _problems(text, tmp_path) == ""


@pytest.mark.long
def test_the_commented_combination_runs(tmp_path: Path) -> None:
    block = [line.removeprefix("#") if line.startswith("#") and line[1:2] != " " else line
             for line in LINES[COMBINATION:SWEEP]]  # fmt: skip
    text = "\n".join([*LINES[:COMBINATION], *block]).replace(
        'stages = ["sampled",', 'stages = ["combined", "combination", "sampled",'
    )
    assert _problems(text, tmp_path) == ""
    run = lx.run(tmp_path / "experiment.toml", runs=tmp_path / "runs")
    assert "combination" in run.table("combination.baseline_cuts")["measure"].to_list()
    assert "The combination finds about" in (run.report or Path()).read_text()
    assert 'id="stage-combined"' in (run.report or Path()).read_text()


def test_a_wrong_option_of_collocations_is_refused(tmp_path: Path) -> None:
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
def test_options_of_collocation_stages_are_explained(use: str) -> None:
    sections = re.split(r"\n(?=\[)", "\n".join(LINES))
    section_text = "\n".join(section for section in sections if f'use = "{use}"' in section)
    options = STAGES.get(use).config.model_fields
    assert [name for name in options if not re.search(rf"\b{name} = ", section_text)] == []


def test_options_of_the_precision_graph_are_explained() -> None:
    section = "\n".join(LINES).partition("[report.views.sampled]")[2].partition("\n[")[0]
    options = VIEWS.get("evaluate.precision").options.model_fields
    assert [name for name in options if not re.search(rf"\b{name} = ", section)] == []


def _enable_option(place: int) -> str:
    """Return the experiment with one commented option enabled, in place of the one that is set."""
    match = OPTION.match(LINES[place])
    assert match is not None
    first = max(line for line in range(place) if LINES[line].startswith("["))
    after = range(place, len(LINES))
    last = next((line for line in after if LINES[line].lstrip("#").startswith("[")), len(LINES))
    set_here = [line for line in range(first + 1, last) if LINES[line].startswith(f"{match[1]} = ")]
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
