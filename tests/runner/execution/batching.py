"""An experiment with two stages that count and one on top, small enough to do task by task."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.runner.laboratory import Laboratory

EXPERIMENT = """
name = "texts"

[run]
memory = "1MB"
shard = 1

[stages.candidates]
use = "extract.pairs"
corpus = "*.txt"
relation = "sentence"
left = { label = "{form}" }
right = { label = "{form}" }
examples = 1
min_frequency = 2

[stages.words]
use = "extract.words"
corpus = "*.txt"
unit = { label = "{form}" }

[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["t_score"]
"""
STAGES = ("candidates", "words", "scores")


def build(folder: Path, *, experiment: str = EXPERIMENT) -> Laboratory:
    """Write three texts, two of the same content, that are counted in several shards and buckets.

    Words are long: how many buckets there are depends on bytes, and how long it takes on words.
    """
    folder.mkdir()
    draw = random.Random(15)
    texts = []
    for _ in range(2):
        words = [f"{int(draw.paretovariate(0.9)) % 60:w>24}" for _ in range(3_000)]
        lines = (" ".join(words[at : at + 6]) for at in range(0, len(words), 6))
        texts.append("\n".join(lines) + "\n")
    for number, text in enumerate([*texts, texts[0]]):
        (folder / f"{number}.txt").write_text(text)
    (folder / "texts.toml").write_text(experiment)
    return Laboratory(folder, folder.parent / "runs", "texts", "texts")


def phases(laboratory: Laboratory, stage: str) -> dict[str, dict[str, Any]]:
    """Return the phases of a stage as the command lists them for programs."""
    done = laboratory.call("tasks", stage, "--json")
    assert done.code == 0, done.text
    return {each.pop("phase"): each for each in json.loads(done.out)["phases"]}


def plain_digests(laboratory: Laboratory) -> dict[str, dict[str, str]]:
    """Return the digests of a plain run that has nothing to build upon."""
    other = Laboratory(laboratory.folder, laboratory.folder / "elsewhere", "texts", "texts")
    other.run()
    return other.digests()
