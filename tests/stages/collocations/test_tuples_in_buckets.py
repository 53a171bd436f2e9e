"""Tuples that are counted in buckets are those that are counted as a whole."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import pipeline as lx

N_GRAMS = 'relation = "adjacent"\nlength = 4\nunit = { label = "{form}" }'
PAIRED = """
relation = "sentence"
left = { labels = ["{form}", "{form}+"] }
right = { label = "{form}" }
"""
FEW, MANY = 'memory = "2MB"', 'memory = "1MB"\nshard = 1'


def build(folder: Path) -> None:
    draw = random.Random(4)
    for number in range(2):
        words = [f"w{int(draw.paretovariate(0.9)) % 60}" for _ in range(3_000)]
        lines = (" ".join(words[at : at + 7]) for at in range(0, len(words), 7))
        (folder / f"{number}.txt").write_text("\n".join(lines) + "\n")


def made(folder: Path, stage: str, run: str, *, least: int = 2, runs: str) -> lx.Run:
    (folder / "x.toml").write_text(
        f'name = "x"\n[run]\n{run}\n[stages.t]\nuse = "extract.tuples"\ncorpus = "*.txt"\n'
        f"examples = 1\nmin_frequency = {least}\n{stage}\n"
    )
    return lx.run(folder / "x.toml", runs=folder / runs, report=False)


def parts(run: lx.Run) -> int:
    return len(run.manifests["t"].tables["tuples"].parts)


@pytest.mark.long
@pytest.mark.parametrize("stage", [N_GRAMS, PAIRED])
def test_the_same_with_and_without_a_limit(stage: str, tmp_path: Path) -> None:
    build(tmp_path)
    whole = made(tmp_path, stage, "", runs="whole")
    few = made(tmp_path, stage, FEW, runs="few")
    many = made(tmp_path, stage, MANY, runs="many")
    assert parts(whole) == 1 < parts(few) < parts(many)
    digests = [run.manifests["t"].digests() for run in (whole, few, many)]
    assert digests[0] == digests[1] == digests[2]
    assert whole.table("t.tuples").height > 100


@pytest.mark.long
@pytest.mark.parametrize(("first", "then"), [("", MANY), (MANY, "")])
def test_another_threshold_in_other_buckets(first: str, then: str, tmp_path: Path) -> None:
    """Counts that are there are divided further, or read in the buckets that they have."""
    build(tmp_path)
    made(tmp_path, N_GRAMS, first, runs="runs")
    found = made(tmp_path, N_GRAMS, then, least=3, runs="runs")
    fresh = made(tmp_path, N_GRAMS, "", least=3, runs="fresh")
    assert found.manifests["t"].digests() == fresh.manifests["t"].digests()
    assert parts(found) > 1
