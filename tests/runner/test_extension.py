"""A package that adds to the project by an entry point, as another package would."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.runner.commands import Driver, Outcome, execute
from tests.runner.extensions import HERE, install
from tests.runner.laboratory import Laboratory, build, change

SOURCE = HERE / "extension" / "example_extension"
EXPERIMENT = """
name = "small"

[stages.candidates]
use = "extract.table"
path = "part*.semi"

[stages.rare]
use = "filter.rare"
candidates = "candidates"
most = 20

[stages.scores]
use = "score.association"
candidates = "rare"
measures = ["root", "t_score"]

[stages.ranks]
use = "score.rank"
scores = "scores"

[report]
stages = ["rare", "ranks"]

[report.views.rare]
rows = 2
"""


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    """An installed package; the folder that holds it."""
    names = ("measures", "stages", "formats", "views")
    modules = {f"example_extension.{name}": SOURCE / f"{name}.py" for name in names}
    target = install(tmp_path / "installed", name="example-extension", modules=modules)
    (target / "example_extension" / "__init__.py").write_bytes(
        (SOURCE / "__init__.py").read_bytes()
    )
    return target


@pytest.fixture
def extended(laboratory: Laboratory) -> Laboratory:
    """An experiment that uses all that the package adds."""
    for path in laboratory.folder.glob("part*.tsv"):
        path.with_suffix(".semi").write_text(path.read_text().replace("\t", ";"))
    laboratory.config.write_text(EXPERIMENT)
    return laboratory


def do(path: Path, *commands: list[str]) -> list[Outcome]:
    """Run commands in one new process."""
    driver = Driver(path=[path])
    driver.ready()
    found = [driver.do(words) for words in commands]
    driver.close()
    return found


def scores(done: Outcome) -> list[tuple[int, float]]:
    """Return f and root_frequency of a table printed as CSV."""
    header, *lines = [line.split(",") for line in done.out.splitlines()]
    f, root = header.index("f"), header.index("root_frequency")
    return [(int(line[f]), float(line[root])) for line in lines]


def test_adds_measure_stage_format_and_view(extended: Laboratory, extension: Path) -> None:
    run, show, listed, known = do(
        extension,
        extended.words("run", "--report"),
        extended.words("show", "scores", "--output", str(extended.folder / "scores.csv")),
        ["measures"],
        ["schema"],
    )
    assert run.code == 0, run.text
    assert show.code == 0, show.text
    found = scores(Outcome(0, (extended.folder / "scores.csv").read_text(), ""))
    assert found
    assert max(f for f, _ in found) <= 20
    for f, root in found:
        assert math.isclose(root, math.sqrt(f), rel_tol=1e-12)
    assert "root_frequency" in listed.out
    assert '"filter.rare"' in known.out
    page = (extended.root / "report" / "index.html").read_text()
    assert "These are rare indeed." in page


def test_changed_formula(extended: Laboratory, extension: Path) -> None:
    do(extension, extended.words("run"))
    before = extended.digests()
    measures = extension / "example_extension" / "measures.py"
    change(measures, "Return the square root", "Return the root")
    (same,) = do(extension, extended.words("run"))
    assert same.code == 0
    assert extended.reran() == set()

    change(measures, 'pl.col("o11").sqrt()', 'pl.col("o11").sqrt() + 1.0')
    why, run = do(extension, extended.words("why", "scores"), extended.words("run"))
    assert "scores: code example_extension.measures: " in why.out
    assert why.out.count("\n") == 1
    assert run.code == 0
    assert extended.reran() == {"scores", "ranks"}
    assert extended.digests()["scores"] != before["scores"]
    assert extended.digests()["rare"] == before["rare"]


def test_changed_modules(extended: Laboratory, extension: Path) -> None:
    """Each change reruns the stages that rest on it; the tables are equal, so nothing more."""
    modules = extension / "example_extension"
    page = extended.root / "report" / "index.html"
    do(extension, extended.words("run", "--report"))

    change(modules / "stages.py", 'pl.col("f") <= config.most', 'config.most >= pl.col("f")')
    (done,) = do(extension, extended.words("run"))
    assert done.code == 0, done.text
    assert extended.reran() == {"rare"}

    change(modules / "formats.py", '"utf-8"', '"utf-8-sig"')
    (done,) = do(extension, extended.words("run"))
    assert done.code == 0, done.text
    assert extended.reran() == {"candidates"}
    assert "These are rare indeed." in page.read_text()

    change(modules / "views.py", "These are rare indeed.", "So rare!")
    (done,) = do(extension, extended.words("run", "--report"))
    assert done.code == 0, done.text
    assert extended.reran() == set()
    assert "So rare!" in page.read_text()


def test_faults_that_its_reader_finds(extended: Laboratory, extension: Path) -> None:
    with (extended.folder / "part1.semi").open("a") as file:
        file.write("in:A;b;1\n")
    (done,) = do(extension, extended.words("run"))
    assert done.code == 1
    assert "part1.semi: line 42 has another number of fields" in done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
        ("def f(:", "SyntaxError"),
    ],
)
def test_broken(tmp_path: Path, text: str, said: str) -> None:
    broken = install(tmp_path, name="broken-extension", modules={"broken_module": text})
    done = execute(["measures"], path=[broken])
    assert done.code == 2, done.text
    assert "broken-extension" in done.err
    assert "broken_module = broken_module" in done.err
    assert "the extension cannot be imported" in done.err
    assert said in done.err
    assert "Traceback" not in done.err


def test_module_that_is_not_there(tmp_path: Path) -> None:
    broken = install(tmp_path, name="broken-extension", modules={"gone": ""})
    (tmp_path / "gone.py").unlink()
    done = execute(["measures"], path=[broken])
    assert done.code == 2
    assert "broken-extension" in done.err
    assert "No module named 'gone'" in done.err


def test_name_taken_by_another_package(extension: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    install(second, name="second", modules={"second_measures": SOURCE / "measures.py"})
    done = execute(["measures"], path=[extension, second])
    assert done.code == 2
    assert "measure 'root_frequency' is registered by" in done.err
    assert "example_extension.measures" in done.err
    assert "second_measures" in done.err
    assert "rename one of them" in done.err


@pytest.mark.parametrize(
    ("module", "old", "new", "own"),
    [
        (
            "measures",
            "def root_frequency",
            "def t_score",
            "pipeline.kernels.association.measures.asymptotic",
        ),
        ("stages", "filter.rare", "sample.random", "pipeline.stages.collocations.sample_random"),
        ("formats", '"semicolons"', '"tsv"', "pipeline.formats.tables.tables"),
    ],
)
def test_name_taken_by_the_project(
    tmp_path: Path, module: str, old: str, new: str, own: str
) -> None:
    text = (SOURCE / f"{module}.py").read_text()
    assert text.count(old) == 1
    path = install(tmp_path, name="thief", modules={"thief_module": text.replace(old, new)})
    laboratory = build(tmp_path / "laboratory")
    done = execute(laboratory.words("run"), path=[path])
    assert done.code == 2, done.text
    assert "is registered by" in done.err
    assert own in done.err
    assert "thief_module" in done.err


def test_spelling_taken(tmp_path: Path) -> None:
    """An alias that stands for two measures is a mistake, too."""
    text = (SOURCE / "measures.py").read_text().replace('"root"', '"G2"')
    path = install(tmp_path, name="thief", modules={"thief_module": text})
    laboratory = build(tmp_path / "laboratory")
    done = execute(laboratory.words("run"), path=[path])
    assert done.code == 2, done.text
    assert "G2" in done.err
    assert "stands for log_likelihood and for root_frequency" in done.err


def test_without_the_package(extended: Laboratory) -> None:
    done = extended.call("run")
    assert done.code == 2
    assert "unknown stage 'filter.rare'" in done.err
    assert "no format has the ending" in done.err
