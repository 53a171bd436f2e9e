"""Code that counts: the definitions reachable from a root, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.runner.fingerprint import code_digests

FILES = {
    "__init__.py": "from {name}.shapes import area as area\n",
    "stages.py": """
from {name} import area, numbers
from {name}.shapes import LIMITS, Shape

def stage(x):
    \"\"\"Use all ways to import.\"\"\"
    from {name}.late import helper
    return helper(area(x)) + numbers.double(x) + Shape().size() + LIMITS[0]

def other(x):
    return numbers.triple(x)
""",
    "shapes.py": """
from .numbers import square
LIMITS = [1]
UNUSED = 2
def area(x):
    return square(x)
def edge(x):
    return x
class Shape:
    def size(self):
        return _size()
def _size():
    return 3
LIMITS.append(4)
""",
    "numbers.py": """
def double(x):
    return 2 * x
def triple(x):
    return 3 * x
def square(x):
    return x * x
""",
    "late.py": """
def helper(x):
    return x
def further(x):
    return x
""",
    "lazy.py": """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from {name}.late import further as further
def __getattr__(name):
    return globals()[name]
""",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / f"reached_{tmp_path.name}"
    folder.mkdir()
    for file, text in FILES.items():
        (folder / file).write_text(text.replace("{name}", folder.name))
    monkeypatch.syspath_prepend(tmp_path)
    return folder


@pytest.mark.parametrize(
    ("file", "old", "new", "counts"),
    [
        ("shapes.py", "square(x)", "square(-x)", True),
        ("shapes.py", "LIMITS = [1]", "LIMITS = [2]", True),
        ("shapes.py", "LIMITS.append(4)", "LIMITS.append(5)", True),
        ("shapes.py", "return 3", "return 4", True),
        ("shapes.py", "return _size()", "return -_size()", True),
        ("shapes.py", "UNUSED = 2", "UNUSED = 3", False),
        ("shapes.py", "def edge(x):\n    return x", "def edge(x):\n    return -x", False),
        ("numbers.py", "2 * x", "2.0 * x", True),
        ("numbers.py", "x * x", "x**2", True),
        ("numbers.py", "3 * x", "3.0 * x", False),
        ("late.py", "def helper(x):\n    return x", "def helper(x):\n    return -x", True),
        ("late.py", "def further(x):\n    return x", "def further(x):\n    return -x", False),
        ("stages.py", "numbers.triple(x)", "numbers.triple(-x)", False),
        ("stages.py", "Use all ways to import.", "Another text.", False),
    ],
)
def test_only_changes_of_reachable_code_count(
    package: Path, file: str, old: str, new: str, counts: bool
) -> None:
    root = f"{package.name}.stages:stage"
    before = code_digests([root])
    text = (package / file).read_text()
    assert old in text
    (package / file).write_text(text.replace(old, new))
    assert (code_digests([root]) != before) == counts


def test_a_whole_module_reaches_all_that_it_defines(package: Path) -> None:
    name = package.name
    parts = code_digests([f"{name}.stages:stage", f"{name}.stages:other"])
    whole = code_digests([f"{name}.stages"])
    assert whole[f"{name}.stages"] == parts[f"{name}.stages"]
    assert whole[f"{name}.numbers"] == parts[f"{name}.numbers"]


def test_a_lazily_defined_name_is_followed(package: Path) -> None:
    (package / "user.py").write_text(f"from {package.name} import lazy\nX = lazy.further(1)\n")
    assert f"{package.name}.late" in code_digests([f"{package.name}.user"])


def test_an_undefined_name_means_its_module(package: Path) -> None:
    name = f"{package.name}.numbers"
    assert code_digests([f"{name}:nothing"]) == code_digests([name])


def test_libraries_are_not_followed() -> None:
    assert all(
        name.partition(".")[0] in {"pipeline", "schemas"}
        for name in code_digests(["pipeline.stages.collocations.score:score_association"])
    )
