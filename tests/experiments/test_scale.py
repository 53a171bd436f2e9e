"""The same digests from any shards, buckets, batches and workers; killed workers replaced."""

from __future__ import annotations

import os
import pickle
import random
import signal
from pathlib import Path

import pytest

import pipeline as lx
from pipeline.engine import ProcessEngine
from pipeline.errors import ConfigError, DataError, StageFailed, WaitsForPerson, WorkerLost

UPOS = ["NOUN", "VERB", "ADP", "ADJ"]
RELATIONS = {
    "sentence": 'relation = "sentence"',
    "dependency": 'relation = "dependency"\ndependency = { label = "obj", governor = "either" }',
    "adjacent": 'relation = "adjacent"\nadjacent = { gap = 2 }',
    "surface": 'relation = "surface"\nsurface = { left = 3, right = 2 }',
    "windows": 'relation = "surface"\nsurface = { left = 2, right = 2, count = "windows" }',
    "nodes": 'relation = "surface"\nsurface = { left = 2, right = 1, count = "nodes" }',
    "paragraph": 'relation = "textual"\ntextual = { within = "paragraph" }',
    "document": 'relation = "textual"\ntextual = { within = "document" }',
}
WAYS = {
    "shard of each file": "shard = 1",
    "little memory": 'memory = "1MB"\nshard = 1',
    "little memory, one shard": 'memory = "1MB"',
    "two processes": 'engine = "processes"\nworkers = 2\nmemory = "2MB"\nshard = "40KB"',
}


def corpus(folder: Path, files: int = 3, sentences: int = 250) -> None:
    """Write CoNLL-U files with documents and paragraphs of all lengths."""
    draw = random.Random("scale")
    for number in range(files):
        lines = []
        for _ in range(sentences):
            if draw.random() < 0.03:
                lines.append(f"# newdoc id = {draw.choice('abc')}")
            if draw.random() < 0.2:
                lines.append("# newpar")
            length = draw.randint(1, 9)
            for place in range(1, length + 1):
                lemma = f"w{min(int(draw.paretovariate(0.8)), 300)}"
                head = draw.choice([h for h in range(length + 1) if h != place])
                kind, label = draw.choice(UPOS), draw.choice(["obj", "case"])
                lines.append(f"{place}\t{lemma}\t{lemma}\t{kind}\t_\t_\t{head}\t{label}\t_\t_")
            lines.append("")
        (folder / f"{number}.conllu").write_text("\n".join(lines) + "\n")


def digests(folder: Path, relation: str, way: str, runs: str) -> dict[str, str]:
    (folder / "scale.toml").write_text(f"""
name = "scale"
[run]
{way}
[stages.candidates]
use = "extract.pairs"
corpus = "*.conllu"
examples = 2
min_frequency = 2
{relation}
left = {{ where = "upos = 'NOUN'" }}
right = {{ where = "upos <> 'ADP'" }}
[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["t_score", "log_likelihood"]
""")
    run = lx.run(folder / "scale.toml", runs=folder / runs, report=False)
    assert run.table("candidates").height > 30
    return {
        f"{stage}.{table}": digest
        for stage, manifest in run.manifests.items()
        for table, digest in manifest.digests().items()
    }


@pytest.mark.parametrize("relation", sorted(RELATIONS))
@pytest.mark.long
def test_the_same_however_it_is_run(relation: str, tmp_path: Path) -> None:
    corpus(tmp_path)
    plain = digests(tmp_path, RELATIONS[relation], "", "plain")
    for number, way in enumerate(WAYS.values()):
        if "processes" in way and relation not in {"sentence", "document"}:
            continue
        assert digests(tmp_path, RELATIONS[relation], way, f"runs{number}") == plain, way
    parts = list((tmp_path / "runs1" / "scale" / "candidates").glob("*/candidates/*.parquet"))
    assert len(parts) > 1
    assert {path.name for path in tmp_path.glob("*/scale/*/.*")} == {".lock"}


def test_two_corpora_add_up(tmp_path: Path) -> None:
    corpus(tmp_path, files=2)
    for name in ("scale", "0", "1"):
        source = "*.conllu" if name == "scale" else f"{name}.conllu"
        (tmp_path / f"{name}.toml").write_text(f"""
name = "x{name}"
[stages.candidates]
use = "extract.pairs"
corpus = "{source}"
left = {{ where = "upos = 'NOUN'" }}
right = {{ where = "upos = 'VERB'" }}
""")
    tables = {
        name: lx.run(tmp_path / f"{name}.toml", runs=tmp_path / "runs", report=False).table(
            "candidates"
        )
        for name in ("scale", "0", "1")
    }
    summed: dict[tuple[str, str], tuple[int, int]] = {}
    for name in ("0", "1"):
        for l1, l2, f, documents in tables[name].select("l1", "l2", "f", "documents").rows():
            before = summed.get((l1, l2), (0, 0))
            summed[l1, l2] = (before[0] + f, before[1] + documents)
    whole = tables["scale"].select("l1", "l2", "f", "documents").rows()
    assert {(l1, l2): (f, documents) for l1, l2, f, documents in whole} == summed


def test_budget_is_read_and_refused(tmp_path: Path) -> None:
    corpus(tmp_path, files=1, sentences=5)
    with pytest.raises(ConfigError, match="no amount of memory such as 500MB"):
        digests(tmp_path, RELATIONS["sentence"], 'memory = "much"', "runs")


def die_once(folder: str) -> str:
    """Die in the first worker that takes this on."""
    mark = Path(folder) / "died"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return folder


def fail(_item: int) -> int:
    raise DataError("this cannot be read")


@pytest.mark.long
def test_a_killed_workers_task_is_done_again(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    with ProcessEngine(workers=2) as engine:
        assert sorted(engine.map(die_once, [str(each) for each in folders])) == sorted(
            map(str, folders)
        )
    assert all((folder / "died").exists() for folder in folders)


@pytest.mark.uncounted("a worker that dies cannot write its counts")
@pytest.mark.long
def test_workers_that_die_every_time_are_given_up() -> None:
    with ProcessEngine(workers=2) as engine, pytest.raises(WorkerLost, match="3 workers died"):
        list(engine.map(os._exit, [7, 8]))


def test_what_a_task_raises_arrives_whole() -> None:
    with ProcessEngine(workers=2) as engine, pytest.raises(DataError, match="cannot be read"):
        list(engine.map(fail, [1, 2]))


@pytest.mark.parametrize(
    "error",
    [
        ConfigError("x", []),
        StageFailed("s", ValueError("v")),
        WaitsForPerson("f", 2),
    ],
)
def test_errors_travel(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.__dict__) == (type(error), str(error), error.__dict__)
