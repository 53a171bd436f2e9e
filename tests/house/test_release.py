"""What a release says in several places agrees: versions, Pythons, dependencies."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.house.lowest import lowest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = PROJECT["version"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIRED = [*PROJECT["dependencies"], *EXTRAS["test"], *EXTRAS["browser"]]


def plain(name: str) -> str:
    return re.split(r"[<>=]", name)[0].lower().replace("_", "-")


def test_the_changelog_begins_with_this_version() -> None:
    sections = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert next(name for name in sections if name != "Unreleased") == VERSION


def test_the_citation_is_of_this_version() -> None:
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()


def test_hosted_checks_run_on_the_pythons_that_are_promised() -> None:
    workflow = (ROOT / ".github" / "workflows" / "nightly.yml").read_text()
    promised = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if " :: 3." in text]
    assert f"python: {promised}".replace("'", '"') in workflow
    assert PROJECT["requires-python"] == f">={promised[0]}"


@pytest.mark.parametrize("requirement", REQUIRED)
def test_each_dependency_has_a_lowest_and_a_tested_version(requirement: str) -> None:
    tested = (ROOT / "constraints.txt").read_text().splitlines()
    assert plain(requirement) in map(plain, tested)
    assert [each for each in lowest([requirement]) if "==" not in each] == []


def test_tests_have_what_the_pages_need() -> None:
    extras = PROJECT["optional-dependencies"]
    assert set(extras["web"]) <= set(extras["test"])
