"""Only stages that depend on a change run again."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest
from filelock import FileLock

import pipeline
from pipeline.runner import fingerprint
from pipeline.runner.fingerprint import code_digests
from pipeline.runner.store import digest
from pipeline.runner.store.digest import FILES, file_digest
from tests.runner.commands import Driver
from tests.runner.laboratory import STAGES, Laboratory, age, build, change, wait_until

_NUMBERS = itertools.count()
AFTER_SCORES = {"scores", "ranks", "precision", "comparison"}


def rename_first_unit(path: Path) -> None:
    change(path, "in:N1_0\t", "in:M1_0\t")


def test_nothing_is_rerun_if_nothing_has_changed(finished_laboratory: Laboratory) -> None:
    finished_laboratory.run()
    assert finished_laboratory.reran() == set()
    assert "would run" not in finished_laboratory.call("plan").out
    assert "nothing has changed" in finished_laboratory.call("why", "ranks").out


@pytest.mark.long
def test_changed_content_of_an_input_file_reruns_all_stages(
    finished_laboratory: Laboratory,
) -> None:
    path = finished_laboratory.folder / "part1.tsv"
    before = file_digest(path)
    rename_first_unit(path)
    output = finished_laboratory.call("why", "candidates").out
    assert output.startswith("candidates: inputs path files: ")
    first, arrow, last = output.partition(" -> ")
    assert arrow
    assert before[:10] in first
    assert before[:10] not in last
    assert file_digest(path)[:10] in last
    finished_laboratory.run()
    assert finished_laboratory.reran() == set(STAGES)


@pytest.mark.long
def test_a_file_changed_with_equal_size_and_time_is_detected(
    finished_laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file replaced by one of equal size and modification time is detected."""
    monkeypatch.setattr(digest, "_FRESH", -1.0)
    finished_laboratory.run()
    assert "part1.tsv" in (finished_laboratory.root / FILES).read_text()
    rename_first_unit(finished_laboratory.folder / "part1.tsv")
    age(finished_laboratory.folder / "part1.tsv")
    finished_laboratory.run()
    assert "candidates" in finished_laboratory.reran()


def test_changed_judgements_rerun_only_their_stages(finished_laboratory: Laboratory) -> None:
    rename_first_unit(finished_laboratory.folder / "gold.tsv")
    finished_laboratory.run()
    assert finished_laboratory.reran() == {"gold", "precision", "comparison"}


def test_a_touched_file_reruns_nothing(finished_laboratory: Laboratory) -> None:
    (finished_laboratory.folder / "part1.tsv").touch()
    finished_laboratory.run()
    assert finished_laboratory.reran() == set()


def test_a_renamed_file_reruns_nothing(finished_laboratory: Laboratory) -> None:
    (finished_laboratory.folder / "gold.tsv").rename(finished_laboratory.folder / "annotated.tsv")
    change(finished_laboratory.config, '"gold.tsv"', '"annotated.tsv"')
    (finished_laboratory.folder / "part2.tsv").rename(finished_laboratory.folder / "part2b.tsv")
    finished_laboratory.run()
    assert finished_laboratory.reran() == set()


def test_a_moved_folder_reruns_nothing(finished_laboratory: Laboratory) -> None:
    moved = Laboratory(
        finished_laboratory.folder.with_name("moved"),
        finished_laboratory.folder.with_name("moved") / "runs",
    )
    finished_laboratory.folder.rename(moved.folder)
    moved.run()
    assert moved.reran() == set()


@pytest.mark.long
def test_a_removed_input_file_is_detected(finished_laboratory: Laboratory) -> None:
    digest = file_digest(finished_laboratory.folder / "part2.tsv")[:10]
    (finished_laboratory.folder / "part2.tsv").unlink()
    first, _, last = (
        finished_laboratory.call("why", "candidates").out.splitlines()[0].partition(" -> ")
    )
    assert digest in first
    assert digest not in last
    finished_laboratory.run()
    assert {"candidates", "scores", "gold"} <= finished_laboratory.reran()


@pytest.mark.long
def test_an_input_that_changes_while_the_run_waits_is_detected(laboratory: Laboratory) -> None:
    """Changed content is not stored under the digest of the former content."""
    with FileLock(_make_folder(laboratory.root / "candidates") / ".lock"):
        process = laboratory.start("run")
        wait_until(lambda: laboratory.has_message("candidates", "waiting"), laboratory)
        shutil.copyfile(laboratory.folder / "part1.tsv", laboratory.folder / "saved")
        rename_first_unit(laboratory.folder / "part1.tsv")
    _, output = process.communicate()
    assert process.returncode == 1
    assert "part1.tsv) changed while it was read" in output
    assert "run again" in output
    laboratory.run()
    changed = laboratory.digests()
    (laboratory.folder / "saved").rename(laboratory.folder / "part1.tsv")
    laboratory.run()
    other = build(laboratory.folder.with_name("other"))
    other.run()
    assert laboratory.digests() == other.digests() != changed


def _make_folder(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


@pytest.mark.long
def test_a_changed_option_reruns_its_stages(finished_laboratory: Laboratory) -> None:
    change(finished_laboratory.config, '"log_likelihood"', '"log_likelihood", "dice"')
    output = finished_laboratory.call("why", "scores").out
    two = '"t_score", "log_likelihood"'
    assert f'scores: config measures: {two} -> {two}, "dice"' in output
    finished_laboratory.run()
    assert finished_laboratory.reran() == AFTER_SCORES


def test_a_changed_seed_reruns_its_stages(finished_laboratory: Laboratory) -> None:
    change(finished_laboratory.config, 'seed = "s"', 'seed = "t"')
    assert 'config seed: "s" -> "t"' in finished_laboratory.call("why", "sample").out
    finished_laboratory.run()
    assert finished_laboratory.reran() == {"sample", "ranks", "precision", "comparison"}


def test_titles_and_comments_rerun_nothing(finished_laboratory: Laboratory) -> None:
    text = finished_laboratory.config.read_text()
    finished_laboratory.config.write_text(f'title = "Another title"\n# A comment.\n{text}')
    finished_laboratory.run()
    assert finished_laboratory.reran() == set()


def test_a_setting_can_be_reverted_without_a_rerun(finished_laboratory: Laboratory) -> None:
    before = finished_laboratory.digests()
    finished_laboratory.run("--set", "stages.sample.rate=0.9")
    assert finished_laboratory.reran() == {"sample", "precision", "comparison"}
    assert finished_laboratory.digests() != before
    assert finished_laboratory.record().settings == {"stages.sample.rate": 0.9}
    finished_laboratory.run()
    assert finished_laboratory.reran() == set()
    assert finished_laboratory.digests() == before


def test_equal_output_ends_the_rerun(finished_laboratory: Laboratory) -> None:
    """No candidate is that rare: the option changes no candidate."""
    before = finished_laboratory.digests()
    finished_laboratory.run("--set", "stages.candidates.min_frequency=0")
    assert finished_laboratory.reran() == {"candidates"}
    assert finished_laboratory.digests() == before


def test_the_order_of_input_lines_changes_no_digest(finished_laboratory: Laboratory) -> None:
    """The digest is of the rows, not of their order in the file."""
    path = finished_laboratory.folder / "part1.tsv"
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, *reversed(lines)]) + "\n")
    finished_laboratory.run()
    assert finished_laboratory.reran() == {"candidates"}


def test_the_division_into_files_changes_no_digest(finished_laboratory: Laboratory) -> None:
    """The same rows have the same digest in one file and in three."""
    paths = sorted(finished_laboratory.folder.glob("part*.tsv"))
    lines = [line for path in paths for line in path.read_text().splitlines()[1:]]
    header = paths[0].read_text().splitlines()[0]
    for path in paths:
        path.unlink()
    (finished_laboratory.folder / "part.tsv").write_text("\n".join([header, *lines]) + "\n")
    finished_laboratory.run()
    assert finished_laboratory.reran() == {"candidates"}


def test_a_forced_stage_runs_again(finished_laboratory: Laboratory) -> None:
    before = finished_laboratory.digests()
    outcome = finished_laboratory.run("--force", "scores")
    assert "scores: forced" in outcome.err
    assert finished_laboratory.reran() == {"scores"}
    assert finished_laboratory.digests() == before
    asides = list((finished_laboratory.root / "scores").glob(".aside-*"))
    assert len(asides) == 1


def test_forcing_an_unknown_stage_is_refused(finished_laboratory: Laboratory) -> None:
    outcome = finished_laboratory.call("run", "--force", "score")
    assert outcome.code == 2
    assert "did you mean scores" in outcome.err


@pytest.mark.long
def test_another_version_of_a_library_reruns_all_stages(
    finished_laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = fingerprint.versions()
    monkeypatch.setattr(fingerprint, "versions", lambda: {**now, "polars": "9.9.9"})
    output = finished_laboratory.call("why", "candidates").out
    assert f'versions polars: "{now["polars"]}" -> "9.9.9"' in output
    finished_laboratory.run()
    assert finished_laboratory.reran() == set(STAGES)
    monkeypatch.undo()
    finished_laboratory.run()
    assert finished_laboratory.reran() == set()


def test_removed_results_are_computed_again(finished_laboratory: Laboratory) -> None:
    shutil.rmtree(finished_laboratory.artefact("ranks"))
    assert "ranks: it has never run" in finished_laboratory.call("why", "ranks").out
    finished_laboratory.run()
    assert finished_laboratory.reran() == {"ranks"}


@pytest.fixture
def chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Modules that import one another: start, first, second, third."""
    # The place of a module is remembered by its name, so that each test needs its own names.
    package = tmp_path / f"chain_{next(_NUMBERS)}"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "start.py").write_text(f"from {package.name} import first\n")
    (package / "first.py").write_text(f"from {package.name}.second import x\n")
    (package / "second.py").write_text("from .third import x\n")
    (package / "third.py").write_text(
        '"""Text."""\n# A comment.\nx = 1\n\n\ndef f():\n    return x\n'
    )
    (package / "other.py").write_text("y = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    return package


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("x = 1", "x = 2", True),
        ("return x", "return -x", False),
        ("def f():", "def g():", False),
        ('"""Text."""', '"""Another text."""', False),
        ("# A comment.", "# Another comment.", False),
        ("    return x", '    """Say so."""\n    return x', False),
        ("x = 1\n\n\n", "x = (\n    1\n)\n", False),
    ],
)
def test_changes_three_imports_away_are_detected(
    chain: Path, old: str, new: str, counts: bool
) -> None:
    name = chain.name
    before = code_digests([f"{name}.start"])
    assert f"{name}.third" in before
    change(chain / "third.py", old, new)
    after = code_digests([f"{name}.start"])
    changed = {each for each in after if after[each] != before[each]}
    assert set(after) == set(before)
    assert changed == ({f"{name}.third"} if counts else set())


def test_changes_in_the_init_of_a_package_are_detected(chain: Path) -> None:
    name = chain.name
    (chain / "__init__.py").write_text(f"from {name}.other import y\nz = 1\n")
    (chain / "start.py").write_text(f"from {name} import z\n")
    before = code_digests([f"{name}.start"])
    assert f"{name}.first" not in before
    change(chain / "__init__.py", "z = 1", "z = 2")
    after = code_digests([f"{name}.start"])
    assert {each for each in after if after[each] != before.get(each)} == {name}


@pytest.fixture
def code_copy(tmp_path: Path) -> Path:
    """A copy of the project's code that may be changed."""
    root = Path(pipeline.__file__).parents[1]
    for package in ("pipeline", "schemas"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(root / package, tmp_path / "code" / package, ignore=ignored)
    return tmp_path / "code"


class ChangedCode:
    """Runs commands in a process that imports the present code."""

    def __init__(self, laboratory: Laboratory, code: Path) -> None:
        self._laboratory, self._code = laboratory, code

    def __call__(self, *commands: list[str]) -> list[str]:
        driver = Driver(path=[self._code])
        driver.ready()
        outcomes = [driver.do(self._laboratory.words(*words)) for words in commands]
        driver.close()
        assert [each.code for each in outcomes] == [0] * len(outcomes), outcomes
        return [each.out for each in outcomes]


@pytest.mark.long
def test_changed_code_of_the_project_reruns_its_stages(
    laboratory: Laboratory, code_copy: Path
) -> None:
    do = ChangedCode(laboratory, code_copy)
    do(["run"])
    before = laboratory.digests()

    kernel = code_copy / "pipeline" / "kernels" / "numeric.py"
    kernel.write_text("# A comment.\n" + kernel.read_text().replace('"""', '"""Anew: ', 1))
    (planned,) = do(["plan"])
    assert "would run" not in planned
    assert planned.count("done ") == len(STAGES)

    kernel.write_text(kernel.read_text() + "\n\nUNUSED = 1\n")
    (planned,) = do(["plan"])
    assert "would run" not in planned

    change(kernel, "    v = d / (x + m)\n", "    v = d / (x + m)\n    _unused = 1\n")
    why, _, unchanged = do(["why", "scores"], ["run"], ["why", "candidates"])
    assert "scores: code pipeline.kernels.numeric: " in why
    assert "candidates is done" in unchanged
    # Some stages have run again; their tables are equal, so that no others have.
    assert "scores" in laboratory.reran()
    assert "candidates" not in laboratory.reran()
    assert laboratory.digests() == before

    schema = code_copy / "schemas" / "annotation.py"
    change(schema, '"no pi where multiplicity > 1"', '"no pi where multiplicity > 1 "')
    why, _ = do(["why", "sample"], ["run"])
    assert "sample: schema schemas.annotation: " in why
    assert "sample" in laboratory.reran()
    assert "scores" not in laboratory.reran()
    assert laboratory.digests() == before
