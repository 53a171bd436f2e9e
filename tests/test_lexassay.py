"""``import lexassay``: it exports the names of `pipeline`, whatever is beside the caller."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import lexassay
import pipeline

ROOT = Path(__file__).parents[1]
FOREIGN = "raise SystemExit('somebody else wrote this')\n"
USE = """\
import lexassay as lx
table = {"l1": ["kick"], "l2": ["bucket"], "f": [8], "f1": [20], "f2": [15], "N": [1000]}
import polars as pl
print(round(lx.score(pl.DataFrame(table), measures=["t_score"])["t_score"].item(), 3))
"""
WORKERS = """\
from pathlib import Path
import lexassay as lx
for name in "ab":
    Path(f"{name}.txt").write_text("a small house . a small world .\\n" * 3)
Path("experiment.toml").write_text('''
name = "e"
seed = "e"
[run]
engine = "processes"
workers = 2
shard = "1B"
[stages.pairs]
use = "extract.pairs"
relation = "adjacent"
corpus = ["a.txt", "b.txt"]
left = { label = "{form}" }
right = { label = "{form}" }
''')
if __name__ == "__main__":
    run = lx.run("experiment.toml", report=False)
    print(run.table("pairs").filter(l1="small")["f"].sum())
"""


def run_command(
    *words: str, folder: Path, path: str | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
    environment["PYTHONPATH"] = os.pathsep.join([*([path] if path else []), str(ROOT)])
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(params=["modules", "packages"])
def beside(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a folder with modules or packages of the same names, and one of another name."""
    for name in ("pipeline", "schemas"):
        if request.param == "modules":
            (tmp_path / f"{name}.py").write_text(FOREIGN)
        else:
            (tmp_path / name).mkdir()
            (tmp_path / name / "__init__.py").write_text(FOREIGN)
    return tmp_path


def test_lexassay_exports_the_names_of_pipeline() -> None:
    assert lexassay.__all__ == pipeline.__all__
    assert [name for name in lexassay.__all__ if name not in dir(lexassay)] == []
    assert lexassay.score is pipeline.score
    assert lexassay.__version__ == pipeline.__version__


def test_the_folder_contains_no_other_files() -> None:
    files = {path.name for path in (ROOT / "lexassay").iterdir()} - {"__pycache__"}
    assert files == {"__init__.py", "__main__.py", "py.typed"}


def test_an_unknown_name_is_attributed_to_lexassay() -> None:
    with pytest.raises(AttributeError, match="module 'lexassay' has no attribute 'scores'"):
        _ = lexassay.scores  # type: ignore[attr-defined]  # this is the purpose of the test


@pytest.mark.parametrize("way", ["script", "notebook", "module"])
@pytest.mark.long
def test_lexassay_finds_its_modules_beside_others(beside: Path, way: str) -> None:
    (beside / "mine.py").write_text(USE)
    words = {"script": ["mine.py"], "notebook": ["-c", USE], "module": ["-m", "mine"]}[way]
    process = run_command(sys.executable, *words, folder=beside)
    assert (process.stdout, process.stderr) == ("2.722\n", "")


@pytest.mark.long
def test_workers_find_its_modules_beside_others(
    beside: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    for folder, path in ((other, str(beside)), (beside, None)):
        (folder / "mine.py").write_text(WORKERS)
        process = run_command(sys.executable, "mine.py", folder=folder, path=path)
        assert (process.stdout, process.stderr) == ("12\n", "")


def test_the_command_finds_its_modules_beside_others(beside: Path) -> None:
    command = "import lexassay; lexassay.script()"
    process = run_command(sys.executable, "-c", command, folder=beside, path=str(beside))
    assert process.returncode == 2
    assert "somebody" not in process.stdout + process.stderr
    version = command.replace("import", "import sys; sys.argv[1:] = ['--version']; import", 1)
    process = run_command(sys.executable, "-c", version, folder=beside, path=str(beside))
    assert process.stdout == f"lexassay {lexassay.__version__}\n"


def test_running_the_module_is_the_command(beside: Path) -> None:
    process = run_command(sys.executable, "-m", "lexassay", "--version", folder=beside)
    assert (process.stdout, process.stderr) == (f"lexassay {lexassay.__version__}\n", "")


@pytest.mark.parametrize("name", ["pipeline", "schemas"])
def test_a_foreign_module_already_loaded_is_reported(tmp_path: Path, name: str) -> None:
    other = tmp_path / f"{name}.py"
    other.write_text("")
    process = run_command(sys.executable, "-c", f"import {name}\nimport lexassay", folder=tmp_path)
    assert process.returncode == 1
    text = process.stderr.strip().splitlines()[-1]
    assert text.startswith(f"ImportError: lexassay needs its own module {name!r}, but another one")
    assert str(other) in text


def test_a_foreign_folder_without_an_init_is_reported(tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    code = f"""
import os, sys
sys.path[:] = [path for path in sys.path if not os.path.isfile(f"{{path}}/schemas/__init__.py")]
import schemas
sys.path.append({str(ROOT)!r})
import lexassay
"""
    process = run_command(sys.executable, "-c", code, folder=tmp_path)
    assert "a folder without __init__.py" in process.stderr
