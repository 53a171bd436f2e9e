"""The guide for contributors is correct: its map, paths, commands and examples."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_layers import ROOT

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAP = [
    line.split()[0] for line in GUIDE.partition("\n## How")[0].splitlines() if line[:4] == "    "
]
"""The folders on the map."""

RUFF = Path(sys.executable).with_name("ruff")
HEADER = '"""What every file begins with."""\n\nfrom __future__ import annotations\n\n'
CHANGES = GUIDE.partition("## How do I add ...")[2].partition("\n## ")[0]
TOP = {path.name for path in ROOT.iterdir()} - {".venv", "dist"}
"""Files and folders at the top of the repository, without those that commands create."""
WORDS = {
    word.rstrip(",.:")
    for span in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", GUIDE, flags=re.DOTALL))
    for word in span.split()
}
PATHS = sorted(
    word for word in WORDS if word in TOP or ("/" in word and word.partition("/")[0] in TOP)
)


EXAMPLES = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "extending.md").read_text(encoding="utf-8"), re.DOTALL
)


def test_every_folder_is_on_the_map() -> None:
    packages = {path.parent for path in ROOT.glob("pipeline/*/*.py")}
    assert {path.relative_to(ROOT).as_posix() for path in packages} - set(MAP) == set()


@pytest.mark.parametrize("place", MAP)
def test_folders_on_the_map_exist(place: str) -> None:
    assert (ROOT / place).is_dir()


@pytest.mark.parametrize("path", PATHS)
def test_paths_in_the_guide_exist(path: str) -> None:
    assert list(ROOT.glob(path)), path


def test_the_guide_names_paths() -> None:
    assert len(PATHS) > 30


def test_only_folders_of_the_project_are_in_the_repository() -> None:
    """The folders of the project, and no other, are in the repository."""
    listing = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listing.returncode:
        pytest.skip("this is no checkout")
    folders = {path.partition("/")[0] for path in listing.stdout.splitlines() if "/" in path}
    own = {place.partition("/")[0] for place in MAP} | {".ci", ".github"}
    assert folders <= own


def test_make_has_the_targets_of_the_guide() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"`make ([\w-]+)`", GUIDE))
    assert targets
    assert {name for name in targets if f"\n{name}:" not in makefile} == set()


def test_the_guide_explains_common_changes() -> None:
    assert len(re.findall(r"^\*\*(?:An?|The) .+?\.\*\*", CHANGES, re.MULTILINE)) >= 12


@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.split("def ")[1][:20])
def test_examples_of_extensions_run(code: str) -> None:
    command = [sys.executable, "-W", "error", "-c", code]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(not RUFF.exists(), reason="ruff is installed by `make lint`")
@pytest.mark.parametrize("rule", ["check", "format --check"])
@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.split("def ")[1][:20])
def test_examples_of_extensions_follow_the_code_style(code: str, rule: str) -> None:
    command = [str(RUFF), *rule.split(), "--stdin-filename", "pipeline/example.py", "-"]
    result = subprocess.run(
        command, cwd=ROOT, input=HEADER + code, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
