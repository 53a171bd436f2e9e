"""A small experiment in a folder of its own, and the files that its runs wrote."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.runner.store import artefacts, history
from pipeline.runner.store.artefacts import Manifest
from pipeline.runner.store.backends import storage_at
from tests.runner.commands import Outcome, call, execute, start

EXPERIMENT = """
name = "small"
seed = "s"
{run}

[stages.candidates]
use = "extract.table"
path = "part*.tsv"

[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["t_score", "log_likelihood"]

[stages.sample]
use = "sample.random"
candidates = "candidates"
rate = 0.5

[stages.ranks]
use = "score.rank"
scores = "scores"

[stages.gold]
use = "join.table"
path = "gold.tsv"
candidates = "candidates"

[stages.precision]
use = "evaluate.precision"
ranks = "ranks"
judgements = "gold"
sample = "sample"

[stages.comparison]
use = "evaluate.comparison"
ranks = "ranks"
judgements = "gold"
sample = "sample"
cuts = [10]
every = 0
population = "super"
"""
STAGES = ("candidates", "scores", "sample", "ranks", "gold", "precision", "comparison")
HEADER = "l1\tl2\tf\tf1\tf2\tN"
_PATIENCE = 240.0
"""Seconds: long enough for a busy machine, since only failing tests wait so long."""


@dataclass(frozen=True)
class Laboratory:
    """A folder with an experiment, its data and its results."""

    folder: Path
    runs: Path
    file: str = "small"
    name: str = "small"

    @property
    def config(self) -> Path:
        return self.folder / f"{self.file}.toml"

    @property
    def root(self) -> Path:
        return self.runs / self.name

    def words(self, command: str, *more: str) -> list[str]:
        """Return the arguments of ``lexassay``; without a report unless it is requested."""
        plain = ["--no-report"] if command == "run" and "--report" not in more else []
        return [command, str(self.config), *plain, *more, "--runs", str(self.runs)]

    def call(self, command: str, *more: str) -> Outcome:
        """Run a command in this process."""
        return call(self.words(command, *more))

    def run(self, *more: str) -> Outcome:
        """Run the experiment in this process; it must succeed."""
        outcome = self.call("run", *more)
        assert outcome.code == 0, outcome.text
        return outcome

    def execute(self, command: str, *more: str, **options: Any) -> Outcome:
        """Run a command in a process of its own."""
        return execute(self.words(command, *more), **options)

    def start(self, command: str, *more: str, **options: Any) -> subprocess.Popen[str]:
        """Start a command in a process of its own."""
        return start(self.words(command, *more), **options)

    def records(self) -> list[history.RunRecord]:
        """Return the records of all runs, the newest first."""
        return history.records(storage_at(self.root))

    def record(self) -> history.RunRecord:
        """Return the record of the newest run."""
        return self.records()[0]

    def outcomes(self) -> dict[str, str]:
        """Return the outcome of each stage in the newest run."""
        return {name: stage.outcome for name, stage in self.record().stages.items()}

    def reran(self) -> set[str]:
        """Return the stages that the newest run computed."""
        return {name for name, outcome in self.outcomes().items() if outcome == "done"}

    def digests(self) -> dict[str, dict[str, str]]:
        """Return the digests of all tables of the newest run."""
        return {name: stage.digests for name, stage in self.record().stages.items()}

    def artefact(self, stage: str) -> Path:
        """Return the folder of a stage's artefact in the newest run."""
        return self.root / stage / self.record().stages[stage].fingerprint[:24]

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        """Return the events logged by all runs, including killed ones."""
        logs = (self.root / history.FOLDER).glob("*.jsonl")
        results = [event for log in logs for event in read_log(log)]
        ordered = sorted(results, key=lambda event: event["time"])
        return [event for event in ordered if kind in {"", event["event"]}]

    def start_count(self, stage: str) -> int:
        """Return how often a stage was started, by any process."""
        return sum(each["stage"] == stage for each in self.events("stage_started"))

    def shards_done(self, stage: str) -> int:
        """Return how many shards of a stage were computed, by any process."""
        return sum(each["stage"] == stage for each in self.events("shard_done"))

    def has_message(self, stage: str, text: str) -> bool:
        """Return whether a run has logged this message about a stage."""
        messages = self.events("message")
        return any(each["stage"] == stage and text in each["text"] for each in messages)

    def insert_gate(self) -> Gate:
        """Put a stage between candidates and scores whose shards wait for permission."""
        gate = Gate(self.folder / "gate")
        gate.folder.mkdir()
        self.insert_slow(gate=str(gate.folder))
        return gate

    def insert_slow(self, **options: Any) -> None:
        """Put a slow stage between candidates and scores."""
        lines = [f"{name} = {json.dumps(value)}" for name, value in options.items()]
        stage = ["[stages.slow]", 'use = "slow.copy"', 'candidates = "candidates"', *lines, ""]
        change(self.config, "[stages.scores]", "\n".join([*stage, "[stages.scores]"]))
        old = 'use = "score.association"\ncandidates = "candidates"'
        change(self.config, old, old.replace('"candidates"', '"slow"'))


@dataclass(frozen=True)
class Gate:
    """Holds up the shards of the slow stage until they are permitted."""

    folder: Path

    def permit(self) -> None:
        """Let one shard pass."""
        (self.folder / f"permit-{time.monotonic_ns()}").touch()

    def open(self) -> None:
        """Let all shards pass."""
        (self.folder / "open").touch()


def wait_until(happened: Callable[[], bool], laboratory: Laboratory) -> None:
    """Wait for an act of a process in the background."""
    deadline = time.monotonic() + _PATIENCE
    while not happened():
        assert time.monotonic() < deadline, laboratory.events()
        time.sleep(0.01)


def read_log(log: Path) -> list[dict[str, Any]]:
    """Return the events of a log; a kill may have cut its last line short."""
    lines = log.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.endswith("}")]


def build(folder: Path, *, shards: int = 3, rows: int = 40, run: str = "") -> Laboratory:
    """Write an experiment with its data; `run` is the section with options of the run."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(2005)
    pairs: list[tuple[str, str]] = []
    for shard in range(shards):
        lines = [signature(f"in:N{shard}_{row}", f"v{row % 7}", draw) for row in range(rows)]
        write(folder / f"part{shard}.tsv", [HEADER, *lines])
        pairs += [(f"in:N{shard}_{row}", f"v{row % 7}") for row in range(rows)]
    judgements = [f"{l1}\t{l2}\t{draw.randint(0, 1)}" for l1, l2 in pairs]
    write(folder / "gold.tsv", ["l1\tl2\tTP", *judgements])
    laboratory = Laboratory(folder, folder / "runs")
    laboratory.config.write_text(EXPERIMENT.format(run=run), encoding="utf-8")
    return laboratory


def signature(l1: str, l2: str, draw: random.Random) -> str:
    """Return a line with a frequency signature that obeys the laws."""
    f = draw.randint(1, 60)
    return f"{l1}\t{l2}\t{f}\t{f + draw.randint(0, 400)}\t{f + draw.randint(0, 400)}\t100000"


def write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def change(path: Path, old: str, new: str) -> None:
    """Replace a text that must occur exactly once."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
    path.write_text(text.replace(old, new), encoding="utf-8")


def age(path: Path) -> None:
    """Give a file an old modification time."""
    os.utime(path, (1_000_000_000, 1_000_000_000))


def manifests(root: Path) -> dict[Path, Manifest]:
    """Return every folder of the store with a manifest, including those set aside."""
    folders = [path.parent for path in root.glob(f"*/*/{artefacts.NAME}")]
    manifests_by_folder = {
        folder: artefacts.read(storage_at(folder.parent), folder.name) for folder in folders
    }
    return {folder: by_stage for folder, by_stage in manifests_by_folder.items() if by_stage}


def assert_whole(root: Path) -> None:
    """Check that each artefact is complete, with the digest that its manifest states."""
    for folder in root.glob("*/*"):
        if folder.is_dir() and not folder.name.startswith(".") and folder.parent.name in STAGES:
            result = artefacts.read(storage_at(folder.parent), folder.name)
            assert result is not None, f"{folder} has no manifest"
            assert (
                artefacts.damage(
                    storage_at(root), str(folder.relative_to(root)), result, thorough=True
                )
                == []
            )
