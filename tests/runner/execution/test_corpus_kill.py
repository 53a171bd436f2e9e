"""A run that counts a corpus by a pool of workers, killed: no worker stays, and it goes on."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

import pipeline as lx
from tests.runner import commands

pytestmark = pytest.mark.long

EXPERIMENT = """
name = "corpus"
[run]
{run}
[stages.candidates]
use = "extract.pairs"
corpus = "*.txt"
relation = "surface"
left = {{ label = "{{form}}" }}
right = {{ label = "{{form}}" }}
"""
POOL = 'engine = "processes"\nworkers = 2\nmemory = "20MB"\nshard = 1'


def digests(folder: Path, runs: str) -> dict[str, str]:
    return lx.run(folder / "x.toml", runs=folder / runs).manifests["candidates"].digests()


@pytest.mark.parametrize("shards", [0, 2])
def test_killed_and_resumed(shards: int, tmp_path: Path) -> None:
    draw = random.Random(7)
    for number in range(6):
        lines = [
            " ".join(f"w{int(draw.paretovariate(0.7)) % 5000}" for _ in range(12))
            for _ in range(1500)
        ]
        (tmp_path / f"{number}.txt").write_text("\n".join(lines))
    (tmp_path / "x.toml").write_text(EXPERIMENT.format(run=""))
    plain = digests(tmp_path, "plain")
    (tmp_path / "x.toml").write_text(EXPERIMENT.format(run=POOL))
    config, runs = str(tmp_path / "x.toml"), tmp_path / "runs"
    process = commands.start(["run", config, "--no-report", "--runs", str(runs)])
    until = time.monotonic() + 300
    partial = "corpus/candidates/counts/.partial-*/"
    while process.poll() is None and time.monotonic() < until:
        pattern = f"{partial}shard-*/manifest.json" if shards else partial
        if len(list(runs.glob(pattern))) >= max(shards, 1):
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    commands.finish(process)
    assert list(runs.glob(partial)), "it was done before it could be killed"
    assert not list(runs.glob("corpus/candidates/*/manifest.json"))
    assert digests(tmp_path, "runs") == plain
    assert {path.name for path in runs.glob("corpus/candidates/.*")} == {".lock"}
    assert not list(runs.glob("corpus/candidates/counts/.*"))
