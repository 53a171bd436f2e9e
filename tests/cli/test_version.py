"""The version is said in one place, `pyproject.toml`, and by the package and the command."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import pipeline as lx
from pipeline.cli.main import main

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_the_package_says_its_version() -> None:
    assert lx.__version__ == PROJECT["version"]


def test_the_command_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"lexassay {PROJECT['version']}\n"


@pytest.mark.parametrize("name", ["__author__", "nothing"])
def test_no_other_name_is_made_up(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(lx, name)
