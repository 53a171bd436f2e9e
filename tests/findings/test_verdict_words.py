"""Words that judge stand in one file alone, whose functions look at the test first."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pipeline.findings

FOLDER = Path(pipeline.findings.__file__).parent
JUDGING = "phrases.py"
WORDS = re.compile(
    r"\b(better|worse|above|below|best|worst|highest|superior|inferior|equivalent)\b", re.I
)
ALLOWED = {
    "collocations/comparison.py": {
        "best", "worse", "best for ", ": the best measure, or not told apart from it, at all ",
        "no measure is the best, or not told apart from it, at all ", "equivalent",
        "which are equivalent for ",
    },
    "collocations/designed.py": {"best", "worse", "highest estimate", "highest"},
    "collocations/precision.py": {"highest estimate for ", "highest", "best", " best by "},
    "lexicon.py": {
        "highest", "best-match F1", "F of the best one-to-one match",
        " by its own lemmas L* is ", ", by the best matches ",
    },
    "across_runs.py": {"best", "the best measure, or not told apart from it,"},
}  # fmt: skip
"""Texts that say what is no verdict: names of columns and measures, an order that a test gave."""


def texts(tree: ast.Module) -> Iterator[str]:
    """Yield the strings of a module that are not docstrings."""
    docstrings = {
        id(node.value) for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield str(node.value)


def test_verdicts_are_in_their_files_alone() -> None:
    found = {}
    for path in FOLDER.glob("**/*.py"):
        name = path.relative_to(FOLDER).as_posix()
        mine = {text for text in texts(ast.parse(path.read_text())) if WORDS.search(text)}
        if name != JUDGING and mine - ALLOWED.get(name, set()):
            found[name] = mine - ALLOWED.get(name, set())
    assert found == {}, "let phrases.py say it, or list it here if it is no verdict"


def test_the_list_of_what_is_allowed_is_used() -> None:
    for name, allowed in ALLOWED.items():
        there = set(texts(ast.parse((FOLDER / name).read_text())))
        assert {text for text in allowed if WORDS.search(text)} <= there, name


def test_the_scan_sees_a_verdict() -> None:
    tree = ast.parse('"""Best."""\ntext = f"{name} is better"\n')
    assert [text for text in texts(tree) if WORDS.search(text)] == [" is better"]
