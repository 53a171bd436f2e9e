"""The chapter on annotation shows what its script draws, and says what page and command do."""

from __future__ import annotations

import re
import struct
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.scripts import DOCS, script

ASSETS = Path(__file__).parents[2] / "pipeline" / "annotate" / "web" / "assets"
TEXT = (DOCS / "annotation.md").read_text(encoding="utf-8")
BROWSER = TEXT[TEXT.index("## In the browser") : TEXT.index("## On sheets")]
COMMANDS = (DOCS / "commands.md").read_text(encoding="utf-8")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
EVERYWHERE = {"--runs", "--data"}
OF_RUN = {"--no-report", "--quiet"}


@pytest.fixture(scope="module")
def update() -> ModuleType:
    return script("update_annotation")


def test_pictures_are_those_that_the_script_draws(update: ModuleType) -> None:
    drawn = {f"annotate-{name}.png" for name in update.PICTURES}
    assert set(re.findall(r"^!\[[^\]]+\]\((.+)\)$", TEXT, re.M)) == drawn
    assert {path.name for path in DOCS.glob("*.png")} == drawn


def test_pictures_are_small_and_as_wide_as_the_script_says(update: ModuleType) -> None:
    for name in update.PICTURES:
        content = (DOCS / f"annotate-{name}.png").read_bytes()
        assert len(content) < 150_000, name
        assert content.startswith(b"\x89PNG\r\n\x1a\n"), name
        wide = (update.WIDE, update.HEIGHTS.get(name))
        expected = wide if name in update.HEIGHTS else tuple(update.PHONE.values())
        assert struct.unpack(">II", content[16:24]) == expected, name


def test_experiments_of_the_pictures_are_those_of_the_pages(update: ModuleType) -> None:
    kinds = [
        {stage["use"] for stage in tomllib.loads(update.experiment(name))["stages"].values()}
        for name in update.SHOWN
    ]
    assert ["sheet.annotation" in kinds[0], "sheet.keying" in kinds[1]] == [True, True]


def test_keys_are_those_of_the_page() -> None:
    code = (ASSETS / "keys.js").read_text(encoding="utf-8")
    wishes = re.findall(r"^  \{ name: .*wishes: \[(.*)\] \},$", code, re.M)
    page = [tuple(re.findall(r'\["([^"]+)"', each)) for each in wishes]
    rows = re.findall(r"^\| (`.+`) \| .+ \|$", BROWSER, re.M)
    told = [tuple(key.lower() for key in re.findall(r"`(.)`", each)) for each in rows]
    assert len(page) == 9
    assert told == page


def test_options_are_those_of_the_command() -> None:
    section = COMMANDS[COMMANDS.index("### lexassay annotate") :].split("\n### ")[0]
    options = set(re.findall(r"^\| `(--[a-z-]+)`", section, re.M))
    assert set(OPTION.findall(BROWSER)) - OF_RUN == options - EVERYWHERE
