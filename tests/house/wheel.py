"""Build the wheel, install it into an empty environment, and use it from another folder.

python tests/house/wheel.py [FOLDER]

Only the sources of the wheel are copied and built, so that no file of an earlier build is included.
The wheel is written to FOLDER, by default `dist`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("lexassay", "pipeline", "schemas")
SOURCES = (*PACKAGES, "pyproject.toml", "README.md", "LICENSE", "LICENCES.md")
FAMILIES = ("collocations", "clustering", "lexicon")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def call(command: Sequence[str | Path], folder: Path) -> str:
    """Run a command in a folder, without access to the sources, and return its output."""
    environment = {key: text for key, text in os.environ.items() if not key.startswith("PYTHON")}
    print("+", *command, file=sys.stderr, flush=True)
    result = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return result.stdout


def build(folder: Path, output: Path) -> Path:
    """Build the wheel from a copy of its sources in a separate environment, and return it."""
    sources = folder / "sources"
    sources.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("*.pyc"))
        else:
            shutil.copy(ROOT / name, sources)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    call([*pip, "--wheel-dir", output, sources], folder)
    return output / f"lexassay-{VERSION}-py3-none-any.whl"


def complete(wheel: Path) -> None:
    """Fail if a file of the packages is not in the wheel, or the wheel has others."""
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    paths = (path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file())
    sources = {
        path.relative_to(ROOT).as_posix() for path in paths if path.parent.name != "__pycache__"
    }
    if inside != sources:
        raise SystemExit(f"the wheel and the sources differ by {sorted(inside ^ sources)}")


def install(wheel: Path, folder: Path) -> Path:
    """Return the command, installed into an empty environment with the versions we test."""
    venv.create(folder / "empty", with_pip=True)
    binaries = folder / "empty" / "bin"
    pip: list[str | Path] = [
        binaries / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    versions: list[str | Path] = [
        "--only-binary",
        ":all:",
        "--constraint",
        ROOT / "constraints.txt",
    ]
    call([*pip, *versions, wheel], folder)
    return binaries / "lexassay"


def use(command: Path, folder: Path) -> None:
    """Print the version, list the measures, run an experiment of each family, export labels."""
    folder.mkdir()
    output = call([command, "--version"], folder)
    if output != f"lexassay {VERSION}\n":
        raise SystemExit(f"--version says {output!r}")
    if "log_likelihood" not in call([command, "measures"], folder):
        raise SystemExit("log_likelihood is not among the measures")
    for family in FAMILIES:
        call([command, "new", family, family], folder)
        call([command, "run", "experiment.toml"], folder / family)
        if not (folder / family / "runs" / family / "report" / "index.html").is_file():
            raise SystemExit(f"{family} has no report")
    # Decisions can be exported without the libraries for the pages.
    call([command, "new", "corpus", "corpus"], folder)
    call([command, "annotate", "experiment.toml", "--export", "labels.csv"], folder / "corpus")
    if not (folder / "corpus" / "labels.csv").is_file():
        raise SystemExit("annotate has written no labels.csv")


def main(arguments: Sequence[str]) -> None:
    """Build, install and use the wheel."""
    output = Path(arguments[0] if arguments else ROOT / "dist").resolve()
    with tempfile.TemporaryDirectory() as name:
        wheel = build(Path(name), output)
        complete(wheel)
        use(install(wheel, Path(name)), Path(name) / "elsewhere")
    print(f"{wheel}: built, installed and used")


if __name__ == "__main__":
    main(sys.argv[1:])
