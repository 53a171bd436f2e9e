"""How far reading is: in bytes of text, told seldom, never more than all."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pipeline.api.run import run
from pipeline.runner import counting, events
from pipeline.runner.counting import followed, unpacked_size
from pipeline.runner.events import Event, log_to, tell
from pipeline.runner.store.backends import storage_at

SENTENCE = "1\tdogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_\n\n"
EXPERIMENT = """
name = "far"
[stages.candidates]
use = "extract.pairs"
corpus = ["a.conllu", "b.conllu.gz"]
relation = "adjacent"
left = { label = "{lemma}" }
right = { label = "{lemma}" }
"""


def test_nobody_need_follow() -> None:
    counting.advance(5)


def test_no_more_than_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_PAUSE", 0.0)
    told: list[tuple[int, int]] = []
    with followed(10, lambda done, total: told.append((done, total))):
        for size in (3, 4, 5):
            counting.advance(size)
    counting.advance(5)
    assert told == [(3, 10), (7, 10), (10, 10)]


def test_seldom() -> None:
    told: list[tuple[int, int]] = []
    with followed(10, lambda done, total: told.append((done, total))):
        counting.advance(3)
    assert told == []


def test_packed_files_count_as_they_unpack(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_bytes(b"x" * 1000)
    packed.write_bytes(gzip.compress(b"y" * 70_000))
    assert unpacked_size([plain, packed, tmp_path / "gone.txt"]) == 71_000


def test_a_run_tells_what_it_has_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_PAUSE", 0.0)
    monkeypatch.setattr(events, "SELDOM", 0.0)
    text = (SENTENCE * 300).encode()
    (tmp_path / "a.conllu").write_bytes(text)
    (tmp_path / "b.conllu.gz").write_bytes(gzip.compress(text))
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    heard: list[Event] = []
    run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False, listeners=[heard.append])
    far = [(each.facts["done"], each.facts["total"]) for each in heard if each.kind == "progress"]
    assert far == [(len(text), 2 * len(text)), (2 * len(text), 2 * len(text))]


def test_a_log_has_a_line_now_and_then(tmp_path: Path) -> None:
    listener = log_to(storage_at(tmp_path), "log.jsonl")
    for done in range(1, 4):
        tell([listener], "progress", "candidates", done=done, total=9)
        tell([listener], "message", "candidates", text="x")
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["progress", *["message"] * 3]
