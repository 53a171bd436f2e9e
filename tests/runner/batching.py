"""Experiments that count texts in several shards and buckets, small enough to do task by task."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

from tests.runner.laboratory import Laboratory, change

COUNTS = """
name = "texts"

[run]
# options of the run

[stages.candidates]
use = "extract.pairs"
corpus = "*.txt"
relation = "sentence"
left = { label = "{form}" }
right = { label = "{form}" }
examples = 1
min_frequency = 2

[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["t_score"]
"""
"""A stage that counts, and one that reads its candidates."""
WORDS = """
[stages.words]
use = "extract.words"
corpus = "*.txt"
unit = { label = "{form}" }
"""
BUCKETS = 'memory = "1MB"'
SHARDS = "shard = 1"
EXPERIMENT = COUNTS.replace("# options of the run", f"{BUCKETS}\n{SHARDS}") + WORDS
"""Two stages that count."""
STAGES = ("candidates", "words", "scores")


def build(folder: Path, *, experiment: str = EXPERIMENT, tokens: int = 3_000) -> Laboratory:
    """Write three texts, two of the same content, and an experiment.

    Words are long: the number of buckets depends on bytes, and the time on words.
    """
    folder.mkdir()
    draw = random.Random(15)
    texts = []
    for _ in range(2):
        words = [f"{int(draw.paretovariate(0.9)) % 60:w>24}" for _ in range(tokens)]
        lines = (" ".join(words[at : at + 6]) for at in range(0, len(words), 6))
        texts.append("\n".join(lines) + "\n")
    for number, text in enumerate([*texts, texts[0]]):
        (folder / f"{number}.txt").write_text(text)
    (folder / "texts.toml").write_text(experiment)
    return Laboratory(folder, folder.parent / "runs", "texts", "texts")


def give_options(laboratory: Laboratory, options: str) -> None:
    """Write other options of the run."""
    change(laboratory.config, "# options of the run", f"{options}\n# options of the run")


def phases(laboratory: Laboratory, stage: str) -> dict[str, dict[str, Any]]:
    """Return the phases of a stage as the command lists them for programs."""
    outcome = laboratory.call("tasks", stage, "--json")
    assert outcome.code == 0, outcome.text
    return {each.pop("phase"): each for each in json.loads(outcome.out)["phases"]}


def do(laboratory: Laboratory, stage: str, *numbers: int) -> None:
    for number in numbers:
        outcome = laboratory.call("task", stage, str(number))
        assert outcome.code == 0, outcome.text


def do_all(laboratory: Laboratory, stage: str) -> list[str]:
    """Do all tasks, phase by phase and in random order within each; return the phases."""
    tasks = phases(laboratory, stage)
    for each in tasks.values():
        do(laboratory, stage, *random.Random(3).sample(each["todo"], len(each["todo"])))
    return list(tasks)


def counts(laboratory: Laboratory) -> list[Path]:
    """Return the folders of counts."""
    result = laboratory.root.glob("candidates/counts/[0-9a-f]*/manifest.json")
    return sorted(path.parent for path in result)


_KNOWN: dict[tuple[object, ...], dict[str, dict[str, str]]] = {}


def elsewhere(laboratory: Laboratory, *more: str) -> dict[str, dict[str, str]]:
    """Return the digests of a run without limits and without earlier results.

    They are cached for other tests with the same texts and options.
    """
    text = re.sub(r"(?<=\[run\]\n)[^\[]*", "", laboratory.config.read_text())
    corpus = (path.read_bytes() for path in sorted(laboratory.folder.glob("*.txt")))
    key = (text, *more, *corpus)
    if key not in _KNOWN:
        other = Laboratory(laboratory.folder, laboratory.folder / "elsewhere", "plain", "texts")
        other.config.write_text(text)
        other.run(*more)
        _KNOWN[key] = other.digests()
    return _KNOWN[key]
