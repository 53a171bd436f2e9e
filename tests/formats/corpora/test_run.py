"""A corpus in a folder of many files, through the whole runner, with files that are damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pipeline as lx
from pipeline.errors import DataError
from pipeline.runner.store import artefacts
from pipeline.runner.store.backends import storage_at
from tests.formats.corpora.corpus_files import write

SENTENCE = (
    "# newdoc id = {}\n1\ta\ta\tNOUN\t_\t_\t2\tx\t_\t_\n2\tb\tb\tVERB\t_\t_\t0\troot\t_\t_\n\n"
)
EXPERIMENT = """
name = "many"
[stages.pairs]
use = "extract.pairs"
corpus = { path = "corpus/*", lenient = %s }
left = { where = "upos = 'NOUN'", label = "{lemma}" }
right = { where = "upos = 'VERB'", label = "{lemma}" }
"""


def build(folder: Path, *, files: int, lenient: bool) -> Path:
    (folder / "corpus").mkdir()
    for number in range(files):
        name = f"{number:03}.conllu" + (".gz" if number % 2 else "")
        write(folder / "corpus" / name, SENTENCE.format(number) * 2)
    write(folder / "corpus" / "damaged.conllu", SENTENCE.format("d") + SENTENCE.replace("2", "9"))
    write(folder / "corpus" / "empty.conllu.gz", "")
    config = folder / "many.toml"
    config.write_text(EXPERIMENT % str(lenient).lower())
    return config


def test_what_is_left_out_is_counted_and_shown(tmp_path: Path) -> None:
    config = build(tmp_path, files=30, lenient=True)
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    (found,) = run.table("pairs.candidates").select("f", "documents").rows()
    assert found == (30 * 2 + 1, 30 + 1)
    (folder,) = [
        each.parent for each in (tmp_path / "runs" / "many" / "pairs").glob("*/manifest.json")
    ]
    made = artefacts.read(storage_at(folder.parent), folder.name)
    assert made is not None
    assert made.skipped == 2
    assert made.skipped_examples == (
        "corpus/* (damaged.conllu), line 7: not the ID 2 that should follow: '9'",
        "corpus/* (empty.conllu.gz), line 1: the file is empty: it has no tokens",
    )
    logs = (tmp_path / "runs" / "many").rglob("*.jsonl")
    events = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    assert [event["text"] for event in events if "left out 2" in event.get("text", "")]


def test_damage_stops_a_strict_run(tmp_path: Path) -> None:
    config = build(tmp_path, files=2, lenient=False)
    with pytest.raises(DataError, match=r"damaged.conllu: \d line"):
        lx.run(config, runs=tmp_path / "runs", report=False)
