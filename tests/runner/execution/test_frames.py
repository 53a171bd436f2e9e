"""From `run` to a stage's function: few enough frames to read a traceback at a glance."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runner.commands import environment
from tests.runner.extensions import HERE, install

MOST = 8
EXPERIMENT = """
name = "deep"
[stages.pairs]
use = "deep.pairs"
corpus = "corpus.txt"
relation = "surface"
left = { label = "{form}" }
right = { label = "{form}" }
[stages.copy]
use = "deep.copy"
candidates = "pairs"
"""
RUN = "import sys, pipeline as lx; lx.run(sys.argv[1], runs=sys.argv[2], report=False)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where each stage has written down the frames that lead to its function."""
    folder = tmp_path_factory.mktemp("frames")
    source = HERE / "plugins" / "deep_stages.py"
    plugin = install(folder / "plugin", name="lexassay-deep", modules={"deep_stages": source})
    (folder / "corpus.txt").write_text("a b c\nb c d\n")
    (folder / "deep.toml").write_text(EXPERIMENT)
    command = [sys.executable, "-c", RUN, str(folder / "deep.toml"), str(folder / "runs")]
    known = environment([plugin], {"LEXASSAY_FRAMES": str(folder)})
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("stage", ["copy", "pairs"])
@pytest.mark.long
def test_frames_from_run_to_the_stage(folder: Path, stage: str) -> None:
    frames = json.loads((folder / stage).read_text())
    shown = "\n".join(frames)
    assert frames[0] == "/api/run.py run", shown
    assert "/runner/run.py run" in frames, shown
    assert len(frames) < MOST, shown
