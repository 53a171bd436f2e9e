"""The gallery has a picture, a command and an experiment for each entry."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.scripts import script

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery"
TEXT = (GALLERY / "index.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^!\[[^\]]+\]\((.+)\)$", TEXT, re.M)


@pytest.fixture(scope="module")
def update() -> ModuleType:
    return script("update_gallery")


def test_pictures_are_those_that_the_script_draws(update: ModuleType) -> None:
    drawn = {f"{name}.svg" for name in [*update.PICTURES, "planning"]}
    assert set(SHOWN) == drawn
    assert {path.name for path in GALLERY.glob("*.svg")} == drawn


def test_every_picture_is_on_a_card() -> None:
    assert re.findall(r"^:img-bottom: (.+)$", TEXT, re.M) == SHOWN


def test_pictures_are_small_and_on_white() -> None:
    sizes = [path.stat().st_size for path in GALLERY.glob("*.svg")]
    assert max(sizes) < 150_000
    assert sum(sizes) < 1_500_000
    assert all('fill="#ffffff"' in path.read_text()[:400] for path in GALLERY.glob("*.svg"))


def test_every_experiment_is_run_and_shown(update: ModuleType) -> None:
    for config in update.experiments():
        assert (ROOT / config).is_file()
        assert f"lexassay run {config}" in TEXT
        shown = config.removeprefix("docs/gallery/") if "gallery" in config else f"../../{config}"
        assert f"{{literalinclude}} {shown}\n" in TEXT
    assert f"lexassay {update.PLANNING}\n" in TEXT
