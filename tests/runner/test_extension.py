"""A package that extends the project by an entry point, as another package would."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from tests.runner.commands import Driver, Outcome, execute
from tests.runner.extensions import HERE, install
from tests.runner.laboratory import Laboratory, build, change

pytestmark = pytest.mark.long

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
    """Return the folder of an installed package."""
    paths = sorted(SOURCE.glob("[a-z]*.py"))
    modules: dict[str, Path | str] = {f"example_extension.{path.stem}": path for path in paths}
    target = install(tmp_path / "installed", name="example-extension", modules=modules)
    (target / "example_extension" / "__init__.py").write_bytes(
        (SOURCE / "__init__.py").read_bytes()
    )
    return target


@pytest.fixture
def extended_laboratory(laboratory: Laboratory) -> Laboratory:
    """An experiment that uses everything that the package adds."""
    for path in laboratory.folder.glob("part*.tsv"):
        path.with_suffix(".semi").write_text(path.read_text().replace("\t", ";"))
    laboratory.config.write_text(EXPERIMENT)
    return laboratory


@contextmanager
def process(path: Path) -> Iterator[Callable[[list[str]], Outcome]]:
    """Yield a new process, which runs commands with the code present at its start."""
    driver = Driver(path=[path])
    driver.ready()
    try:
        yield driver.do
    finally:
        driver.close()


def do(path: Path, *commands: list[str]) -> list[Outcome]:
    """Run commands in one new process."""
    with process(path) as run:
        return [run(words) for words in commands]


def scores(outcome: Outcome) -> list[tuple[int, float]]:
    """Return f and root_frequency of a table printed as CSV."""
    header, *lines = [line.split(",") for line in outcome.out.splitlines()]
    f, root = header.index("f"), header.index("root_frequency")
    return [(int(line[f]), float(line[root])) for line in lines]


def test_an_extension_adds_measure_stage_format_and_view(
    extended_laboratory: Laboratory, extension: Path
) -> None:
    run, show, listed, known = do(
        extension,
        extended_laboratory.words("run", "--report"),
        extended_laboratory.words(
            "show", "scores", "--output", str(extended_laboratory.folder / "scores.csv")
        ),
        ["measures"],
        ["schema"],
    )
    assert run.code == 0, run.text
    assert show.code == 0, show.text
    result = scores(Outcome(0, (extended_laboratory.folder / "scores.csv").read_text(), ""))
    assert result
    assert max(f for f, _ in result) <= 20
    for f, root in result:
        assert math.isclose(root, math.sqrt(f), rel_tol=1e-12)
    assert "root_frequency" in listed.out
    assert '"filter.rare"' in known.out
    page = (extended_laboratory.root / "report" / "index.html").read_text()
    assert "These are rare indeed." in page
    chart = extended_laboratory.root / "report" / "figures" / "rare-rare-dots.svg"
    assert "a rare frequency" in chart.read_text()


def test_an_extension_adds_a_family_of_measures(
    extended_laboratory: Laboratory, extension: Path
) -> None:
    """Worker processes also find its members, and its code is part of the stage."""
    setting = 'stages.scores.measures=["Root.3", "root_of_frequency(4)", "mi_conf(50)"]'
    words = extended_laboratory.words("run", "--set", setting)
    (run,) = do(extension, [*words, "--set", "run.engine=processes", "--set", "run.workers=1"])
    assert run.code == 0, run.text
    rows = table(extended_laboratory, "scores", "scores")
    for n in (3, 4):
        exact = (rows["f"] ** (1 / n)).to_list()
        assert rows[f"root_of_frequency_{n}"].to_list() == pytest.approx(exact)
    assert rows["mi_conf_50"].null_count() == 0
    change(extension / "example_extension" / "measures.py", "1.0 / n", "0.5 / n")
    (again,) = do(extension, words)
    assert again.code == 0, again.text
    assert extended_laboratory.reran() >= {"scores"}
    halved = table(extended_laboratory, "scores", "scores")["root_of_frequency_4"].to_list()
    assert halved == pytest.approx((rows["f"] ** 0.125).to_list())


ESTIMATES = {
    "precision.interval": "textbook",
    "comparison.test": "twice_fisher",
    "comparison.correction": "times_twice",
}


def setting(options: dict[str, str]) -> list[str]:
    """Return the words that set options of stages."""
    pairs = (("--set", f"stages.{path}={value}") for path, value in options.items())
    return [word for pair in pairs for word in pair]


def table(laboratory: Laboratory, stage: str, name: str) -> pl.DataFrame:
    """Return a table of the newest run."""
    return pl.read_parquet(laboratory.artefact(stage) / name / "*.parquet")


def test_an_extension_adds_interval_test_and_correction(
    laboratory: Laboratory, extension: Path
) -> None:
    words = laboratory.words("run", "--report", *setting(ESTIMATES))
    with process(extension) as do_one:
        assert do_one(laboratory.words("run")).code == 0
        fisher = table(laboratory, "comparison", "comparison")["p_value"]
        run = do_one(words)
    assert run.code == 0, run.text
    assert laboratory.reran() == {"precision", "comparison"}

    row = table(laboratory, "precision", "precision").filter(n=20).row(0, named=True)
    k, n = row["k_sampled"], row["n_sampled"]
    assert 0 < k < n
    half = 1.959964 * math.sqrt(k / n * (1 - k / n) / n)
    assert row["upper"] == pytest.approx(min(k / n + half, 1.0))
    twice = table(laboratory, "comparison", "comparison")["p_value"]
    assert twice.to_list() == (2.0 * fisher).clip(upper_bound=1.0).to_list()
    cuts = table(laboratory, "comparison", "cuts").drop_nulls("p_value")
    for family in cuts.partition_by("category"):
        expected = (2.0 * family["p_value"] * family.height).clip(upper_bound=1.0)
        assert family["p_adjusted"].to_list() == expected.to_list()
    page = (laboratory.root / "report" / "index.html").read_text()
    for text in ("limits (textbook)", "twice Fisher&#39;s test", "(the doubled method)"):
        assert text in page


def test_a_changed_interval_reruns_only_its_stages(laboratory: Laboratory, extension: Path) -> None:
    """It reruns the stages with this interval, and no others."""
    words = laboratory.words("run", *setting(ESTIMATES))
    module = extension / "example_extension" / "intervals.py"
    with process(extension) as do_one:
        assert do_one(words).code == 0
        change(module, "Return the normal interval", "Return an interval")
        assert do_one(words).code == 0
    assert laboratory.reran() == set()
    change(module, "np.sqrt(share * (1.0 - share) / trials)", "0.5 / np.sqrt(trials)")
    why, run = do(extension, laboratory.words("why", "precision", *setting(ESTIMATES)), words)
    assert "precision: code example_extension.intervals: " in why.out
    assert run.code == 0, run.text
    assert laboratory.reran() == {"precision"}


def test_unknown_names_are_refused_with_suggestions(
    laboratory: Laboratory, extension: Path
) -> None:
    wrong = {"precision.interval": "textbok", "comparison.correction": "times_twise"}
    (outcome,) = do(extension, laboratory.words("run", *setting(wrong), "--set", "run.engine=back"))
    assert outcome.code == 2
    assert "unknown interval 'textbok'; did you mean textbook?" in outcome.err
    assert "unknown correction 'times_twise'; did you mean times_twice?" in outcome.err
    assert "run.engine: unknown engine 'back'; did you mean backwards?" in outcome.err


def test_an_extension_adds_a_check(extended_laboratory: Laboratory, extension: Path) -> None:
    """Its remark is reported, can be disabled, and changes with its code."""
    outcome, silent = do(
        extension,
        extended_laboratory.words("run"),
        extended_laboratory.words("run", "--set", "remarks.some_are_rare=false"),
    )
    assert outcome.code == 0, outcome.text
    assert "rare candidates [some_are_rare]" in outcome.text
    assert silent.code == 0, silent.text
    assert "some_are_rare" not in silent.text
    change(extension / "example_extension" / "checks.py", "rare candidates", "seldom ones")
    again, strict = do(
        extension, extended_laboratory.words("run"), extended_laboratory.words("run", "--strict")
    )
    assert "seldom ones [some_are_rare]" in again.text
    assert not extended_laboratory.reran()
    assert strict.code == 1
    assert "stage rare: 1 warning in a strict run" in strict.text


def test_an_extension_adds_an_engine(laboratory: Laboratory, extension: Path) -> None:
    words = laboratory.words("run", "--set", "run.engine=backwards")
    plain, run = do(extension, laboratory.words("run"), [*words, "--force", "candidates"])
    assert (plain.code, run.code) == (0, 0), plain.text + run.text
    assert "going backwards" not in plain.text
    assert "going backwards" in run.err
    first, second = laboratory.records()
    assert first.stages["candidates"].digests == second.stages["candidates"].digests


def test_an_extension_adds_a_cluster_measure_of_each_level(tmp_path: Path, extension: Path) -> None:
    options = {
        "types.replicates": "10",
        "types.restarts": "5",
        "types.measures": '["MacroI", "half"]',
        "tokens.replicates": "10",
        "tokens.measures": '["v", "V2"]',
        "overlapping.measures": '["bcubed_f", "bcubed_squared"]',
    }
    laboratory = Laboratory(tmp_path / "clusters", tmp_path / "runs", "experiment", "clustering")
    new, run = do(
        extension,
        ["new", "clustering", str(laboratory.folder)],
        laboratory.words("run", "--report", *setting(options)),
    )
    assert (new.code, run.code) == (0, 0), run.text
    types = table(laboratory, "types", "scores")
    rows = types.filter(measure="MacroHalf").sort("system", "run", "mapping")
    whole = types.filter(measure="MacroI").sort("system", "run", "mapping")
    assert rows["value"].to_list() == pytest.approx((whole["value"] / 2).to_list())
    assert rows.filter(pl.col("mapping") != "floor")["lower"].null_count() == 0
    assert set(rows["certificate"].drop_nulls()) == {"not proven"}
    for stage, squared, plain in (
        ("tokens", "v_squared", "v"),
        ("overlapping", "bcubed_squared", "bcubed_f"),
    ):
        scores = table(laboratory, stage, "scores").sort("system", "run")
        values = scores.filter(measure=plain)["value"] ** 2
        assert scores.filter(measure=squared)["value"].to_list() == pytest.approx(values.to_list())
    page = (laboratory.root / "report" / "index.html").read_text()
    assert "half of MacroI uses the mappings of MacroI instead." in page
    for head in ("half of MacroI M-1", "V squared", "BCubed F squared"):
        assert f">{head} (%)</th>" in page
    assert "v_squared" not in page.partition('<section id="provenance">')[0]


def test_a_changed_measure_reruns_its_stages(
    extended_laboratory: Laboratory, extension: Path
) -> None:
    measures = extension / "example_extension" / "measures.py"
    with process(extension) as do_one:
        do_one(extended_laboratory.words("run"))
        before = extended_laboratory.digests()
        change(measures, "Return the square root", "Return the root")
        assert do_one(extended_laboratory.words("run")).code == 0
    assert extended_laboratory.reran() == set()

    change(measures, 'pl.col("o11").sqrt()', 'pl.col("o11").sqrt() + 1.0')
    why, run = do(
        extension, extended_laboratory.words("why", "scores"), extended_laboratory.words("run")
    )
    assert "scores: code example_extension.measures: " in why.out
    assert why.out.count("\n") == 1
    assert run.code == 0
    assert extended_laboratory.reran() == {"scores", "ranks"}
    assert extended_laboratory.digests()["scores"] != before["scores"]
    assert extended_laboratory.digests()["rare"] == before["rare"]


def test_changed_modules_rerun_only_their_stages(
    extended_laboratory: Laboratory, extension: Path
) -> None:
    """Each change reruns the stages that depend on it; the tables are equal, so no others."""
    modules = extension / "example_extension"
    page = extended_laboratory.root / "report" / "index.html"
    do(extension, extended_laboratory.words("run"))

    change(modules / "stages.py", 'pl.col("f") <= config.most', 'config.most >= pl.col("f")')
    change(modules / "formats.py", '"utf-8"', '"utf-8-sig"')
    why, outcome = do(
        extension,
        extended_laboratory.words("why", "candidates"),
        extended_laboratory.words("run", "--report"),
    )
    assert "candidates: code example_extension.formats: " in why.out
    assert why.out.count("\n") == 1
    assert outcome.code == 0, outcome.text
    assert extended_laboratory.reran() == {"candidates", "rare"}
    assert "These are rare indeed." in page.read_text()

    change(modules / "views.py", "These are rare indeed.", "So rare!")
    (outcome,) = do(extension, extended_laboratory.words("run", "--report"))
    assert outcome.code == 0, outcome.text
    assert extended_laboratory.reran() == set()
    assert "So rare!" in page.read_text()


def test_faults_found_by_its_reader_are_reported(
    extended_laboratory: Laboratory, extension: Path
) -> None:
    with (extended_laboratory.folder / "part1.semi").open("a") as file:
        file.write("in:A;b;1\n")
    (outcome,) = do(extension, extended_laboratory.words("run"))
    assert outcome.code == 1
    assert "part1.semi: line 42 has another number of fields" in outcome.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
        ("def f(:", "SyntaxError"),
        ("raise SystemExit(0)", "SystemExit: 0"),
    ],
)
def test_an_extension_that_cannot_be_imported_is_reported(
    tmp_path: Path, text: str, message: str
) -> None:
    broken = install(tmp_path, name="broken-extension", modules={"broken_module": text})
    outcome = execute(["measures"], path=[broken])
    assert outcome.code == 2, outcome.text
    assert "broken-extension" in outcome.err
    assert "broken_module = broken_module" in outcome.err
    assert "the extension cannot be imported" in outcome.err
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_a_missing_module_of_an_extension_is_reported(tmp_path: Path) -> None:
    broken = install(tmp_path, name="broken-extension", modules={"gone": ""})
    (tmp_path / "gone.py").unlink()
    outcome = execute(["measures"], path=[broken])
    assert outcome.code == 2
    assert "broken-extension" in outcome.err
    assert "No module named 'gone'" in outcome.err


def test_a_name_used_by_another_package_is_refused(extension: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    install(second, name="second", modules={"second_measures": SOURCE / "measures.py"})
    outcome = execute(["measures"], path=[extension, second])
    assert outcome.code == 2
    assert "measure 'root_frequency' is registered by" in outcome.err
    assert "example_extension.measures" in outcome.err
    assert "second_measures" in outcome.err
    assert "rename one of them" in outcome.err


@pytest.mark.parametrize(
    ("module", "old", "new", "own"),
    [
        (
            "measures",
            "def root_frequency",
            "def t_score",
            "pipeline.kernels.association.measures.tests",
        ),
        ("stages", "filter.rare", "sample.random", "pipeline.stages.collocations.sample"),
        ("formats", '"semicolons"', '"tsv"', "pipeline.formats.tables"),
    ],
)
def test_a_name_used_by_the_project_is_refused(
    tmp_path: Path, module: str, old: str, new: str, own: str
) -> None:
    text = (SOURCE / f"{module}.py").read_text()
    assert text.count(old) == 1
    path = install(tmp_path, name="thief", modules={"thief_module": text.replace(old, new)})
    laboratory = build(tmp_path / "laboratory")
    outcome = execute(laboratory.words("run"), path=[path])
    assert outcome.code == 2, outcome.text
    assert "is registered by" in outcome.err
    assert own in outcome.err
    assert "thief_module" in outcome.err


def test_a_spelling_used_by_another_measure_is_refused(tmp_path: Path) -> None:
    """An alias of two measures is also an error."""
    text = (SOURCE / "measures.py").read_text().replace('"root"', '"G2"')
    path = install(tmp_path, name="thief", modules={"thief_module": text})
    laboratory = build(tmp_path / "laboratory")
    outcome = execute(laboratory.words("run"), path=[path])
    assert outcome.code == 2, outcome.text
    assert "G2" in outcome.err
    assert "is a spelling of both log_likelihood and root_frequency" in outcome.err


def test_without_the_package_its_names_are_unknown(extended_laboratory: Laboratory) -> None:
    outcome = extended_laboratory.call("run")
    assert outcome.code == 2
    assert "unknown stage 'filter.rare'" in outcome.err
    assert "no format has the extension" in outcome.err
