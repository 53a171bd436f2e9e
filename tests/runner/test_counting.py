"""Progress of reading: in bytes of text, reported seldom, never more than the total."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from pipeline.api.run import run
from pipeline.formats.base import format_of
from pipeline.runner import counting, events
from pipeline.runner.counting import bytes_to_read, follow_progress
from pipeline.runner.events import Event, emit, log_to
from pipeline.runner.inputs import Budget, SourceFile
from pipeline.runner.store.backends import storage_at
from tests.runner.batching import BUCKETS, COUNTS, SHARDS, counts, do_all, elsewhere, give_options
from tests.runner.laboratory import Laboratory, change
from tests.runner.test_map_reduce import OTHER, THERE

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


def test_progress_needs_no_listener() -> None:
    counting.advance(5)


def test_progress_never_exceeds_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_PAUSE", 0.0)
    events: list[tuple[int, int]] = []
    with follow_progress(10, lambda count, total: events.append((count, total))):
        for size in (3, 4, 5):
            counting.advance(size)
    counting.advance(5)
    assert events == [(3, 10), (7, 10), (10, 10)]


def test_progress_is_reported_seldom() -> None:
    events: list[tuple[int, int]] = []
    with follow_progress(10, lambda count, total: events.append((count, total))):
        counting.advance(3)
    assert events == []


def test_packed_files_are_counted_by_their_unpacked_size(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_bytes(b"x" * 1000)
    packed.write_bytes(gzip.compress(b"y" * 70_000))
    form = format_of("x.txt")
    paths = (plain, packed, tmp_path / "gone.txt")
    files = [SourceFile(each.name, each, form, form.options()) for each in paths]
    assert bytes_to_read(files) == 71_000


def test_a_run_reports_the_bytes_it_has_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_log_has_occasional_lines_of_progress(tmp_path: Path) -> None:
    listener = log_to(storage_at(tmp_path), "log.jsonl")
    for count in range(1, 4):
        emit([listener], "progress", "candidates", done=count, total=9)
        emit([listener], "message", "candidates", text="x")
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["progress", *["message"] * 3]


# Buckets larger than the memory: their task divides them.

ROWS = 20


@pytest.fixture
def _little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "merged", property(lambda own: own.memory and ROWS))


def parts(folder: Path, table: str) -> int:
    return len(list(folder.glob(f"{table}/part-*.parquet")))


@pytest.mark.usefixtures("_little_room")
@pytest.mark.parametrize(
    "options", [BUCKETS, pytest.param(f"{BUCKETS}\n{SHARDS}", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("relation", ["sentence", pytest.param("textual", marks=pytest.mark.long)])
def test_divided_buckets_give_the_same_result(
    texts: Laboratory, options: str, relation: str
) -> None:
    change(texts.config, 'relation = "sentence"', f'relation = "{relation}"')
    whole = elsewhere(texts)
    give_options(texts, options)
    texts.run()
    assert texts.digests() == whole
    [folder] = counts(texts)
    [started] = [e for e in texts.events("stage_started") if e["stage"] == "candidates"][-1:]
    assert parts(folder, "counts") == parts(folder, "examples") > started["shards"]
    assert parts(folder, "corpus") == parts(folder, "marginals") == 1


@pytest.mark.usefixtures("_little_room")
@pytest.mark.long
def test_counts_can_be_combined_again_with_or_without_a_limit(
    texts: Laboratory,
) -> None:
    give_options(texts, BUCKETS)
    texts.run()
    assert f"candidates: {THERE}" in texts.run(*OTHER).err
    result = texts.digests()
    texts.config.write_text(COUNTS)
    assert f"candidates: {THERE}" in texts.run("--set", "stages.candidates.min_frequency=3").err
    texts.run(*OTHER)
    assert texts.digests() == result == elsewhere(texts, *OTHER)


@pytest.mark.usefixtures("_little_room")
@pytest.mark.long
def test_tasks_divide_buckets_as_listed(texts: Laboratory) -> None:
    give_options(texts, BUCKETS)
    assert do_all(texts, "candidates") == ["count", "merge", "counts", "combine", "result"]
    [folder] = counts(texts)
    assert parts(folder, "counts") > texts.start_count("candidates")
    texts.run()
    whole = texts.digests()
    texts.config.write_text(COUNTS)
    assert whole == elsewhere(texts)


@pytest.mark.long
@pytest.mark.usefixtures("_little_room")
def test_buckets_that_fit_are_not_divided(
    texts: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that occur in all shards are one row each."""
    monkeypatch.setattr(Budget, "merged", property(lambda own: own.memory and 10**6))
    give_options(texts, BUCKETS)
    texts.run()
    [folder] = counts(texts)
    assert parts(folder, "counts") == 3  # the buckets of the limit


# Sums over all buckets are stored once, for any number of buckets.


@pytest.mark.long
def test_all_buckets_share_one_part_of_sums(texts: Laboratory) -> None:
    give_options(texts, BUCKETS)
    texts.run()
    (counts,) = texts.root.glob("candidates/counts/[0-9a-f]*/counts")
    pairs = pl.concat(pl.read_parquet(part) for part in counts.glob("*.parquet"))
    (part,) = (counts.parent / "totals").glob("*.parquet")
    sums = pl.read_parquet(part)
    assert len(list(counts.glob("*.parquet"))) > 1
    for side in (1, 2):
        expected = pairs.group_by(unit=f"l{side}").agg(pl.sum("f")).sort("unit")
        table = sums.filter(pl.col("side") == side).select("unit", "f").sort("unit")
        assert table.rows() == expected.rows()
