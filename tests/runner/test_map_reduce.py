"""Temporary files of cutting are beside the results, and are removed afterwards."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pipeline as lx
from pipeline.api.results import run_stages
from pipeline.api.run import check
from pipeline.errors import DataError, StoreError
from pipeline.formats.base import format_of
from pipeline.formats.corpora.blocks import Hashes
from pipeline.runner import inputs, task
from pipeline.runner.events import Event
from pipeline.runner.store.digest import file_digest
from tests.runner.batching import BUCKETS, COUNTS, SHARDS, counts, do, do_all, elsewhere, phases
from tests.runner.batching import give_options as given_counts
from tests.runner.batching import give_options as given_sums
from tests.runner.commands import Driver, environment, finish
from tests.runner.extensions import HERE, install, slow
from tests.runner.killing import Kill, kill
from tests.runner.laboratory import Laboratory, assert_whole, change, wait_until
from tests.runner.test_kills import before

EXPERIMENT = """
name = "aside"
[run]
shard = "10KB"
[stages.candidates]
use = "extract.pairs"
corpus = { path = "0.conllu", unique_sent_id = true }
relation = "adjacent"
left = { label = "{lemma}" }
right = { label = "{lemma}" }
"""


def test_temporary_files_are_beside_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"# sent_id = {n}\n1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n\n" for n in range(3000)]
    (tmp_path / "0.conllu").write_text("".join(lines))
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    monkeypatch.setattr(Hashes.__init__, "__defaults__", (100,))
    results: list[Path] = []
    mkdtemp = tempfile.mkdtemp

    def note_folder(**options: str) -> str:
        results.append(Path(mkdtemp(**options)))
        return str(results[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", note_folder)
    run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    aside = tmp_path / "runs" / "aside" / "candidates"
    assert results
    assert all(each.is_relative_to(aside) for each in results)
    assert [*tmp_path.rglob(".spill*")] == []
    assert run.table("candidates").height == 0


# Counts are artefacts of their own: with another threshold nothing is counted again.

OTHER = ("--set", "stages.candidates.min_frequency=4")
THERE = "its counts are done"


def flip(folder: Path) -> None:
    part = next(folder.glob("counts/part-*.parquet"))
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 0x01
    part.write_bytes(content)


def refuse(_task: Any, *_: Any) -> Any:
    raise AssertionError("it counts again")


@pytest.mark.parametrize(
    "options",
    [
        "",
        pytest.param(SHARDS, marks=pytest.mark.long),
        pytest.param(BUCKETS, marks=pytest.mark.long),
        f"{BUCKETS}\n{SHARDS}",
    ],
)
def test_another_threshold_reuses_the_counts(
    texts: Laboratory, options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_counts(texts, options)
    texts.run()
    before, folder = texts.digests(), counts(texts)
    monkeypatch.setattr(task, "stream_corpus", refuse)
    ended = texts.run(*OTHER)
    assert f"candidates: {THERE}" in ended.err
    assert texts.reran() == {"candidates", "scores"}
    assert counts(texts) == folder
    result = texts.digests()
    monkeypatch.undo()
    assert result == elsewhere(texts, *OTHER) != before
    started = [each for each in texts.events("stage_started") if each["stage"] == "candidates"]
    assert (started[-1]["shards"] > 1) == (BUCKETS in options)


@pytest.mark.long
@pytest.mark.parametrize(("first", "then"), [("", BUCKETS), (BUCKETS, "")])
def test_counts_can_be_combined_in_other_buckets(texts: Laboratory, first: str, then: str) -> None:
    """They are computed from the counts; the limit of memory also applies to combining."""
    texts.config.write_text(COUNTS.replace("# options of the run", first))
    texts.run()
    texts.config.write_text(COUNTS.replace("# options of the run", then))
    assert f"candidates: {THERE}" in texts.run(*OTHER).err
    assert len(counts(texts)) == 1
    started = [each for each in texts.events("stage_started") if each["stage"] == "candidates"]
    assert started[-1]["shards"] > 1
    assert texts.digests() == elsewhere(texts, *OTHER)


def test_commands_state_that_counts_are_reused(texts: Laboratory) -> None:
    texts.run()
    reason = "config min_frequency: 2 -> 4"
    assert texts.call("why", "candidates", *OTHER).out.splitlines() == [
        f"candidates: {reason}",
        f"candidates: {THERE}",
    ]
    assert f"{reason}; {THERE}" in texts.call("status", *OTHER).out
    assert f"{reason}\n             {THERE}\n" in texts.call("plan", *OTHER).out
    other = texts.call("why", "candidates", "--set", "stages.candidates.examples=2").out
    assert THERE not in other


def test_another_relation_is_counted_separately(texts: Laboratory) -> None:
    texts.run()
    texts.run("--set", "stages.candidates.relation=adjacent")
    assert len(counts(texts)) == 2


@pytest.mark.long
def test_damaged_counts_are_reported_and_counted_again(texts: Laboratory) -> None:
    texts.run()
    (folder,) = counts(texts)
    flip(folder)
    texts.run()
    assert texts.reran() == set()
    for command in (["plan"], ["status"], ["why", "candidates"]):
        output = texts.call(*command, *OTHER).out
        assert (
            "its counts are damaged: the content of counts/part-00000.parquet has changed" in output
        )
    ended = texts.run(*OTHER)
    assert f".aside-{folder.name}-1" in ended.err
    assert texts.digests() == elsewhere(texts, *OTHER)
    assert THERE in texts.run("--set", "stages.candidates.min_frequency=3").err


def test_forced_stages_are_counted_again(texts: Laboratory) -> None:
    texts.run()
    before, (folder,) = texts.digests(), counts(texts)
    texts.run("--force", "candidates")
    assert texts.digests() == before
    assert counts(texts) == [folder]
    assert folder.with_name(f".aside-{folder.name}-1").is_dir()


@pytest.mark.long
def test_gc_keeps_the_counts_of_the_experiment(texts: Laboratory) -> None:
    """Counts of the present experiment are kept, even if another threshold made them."""
    texts.run("--set", "stages.candidates.relation=adjacent")
    (old,) = counts(texts)
    texts.run(*OTHER)
    texts.run()
    (used,) = {*counts(texts)} - {old}
    dry = texts.call("gc", "--dry").out
    assert str(old) in dry
    assert str(used) not in dry
    assert texts.call("gc").code == 0
    assert counts(texts) == [used]
    assert THERE in texts.run(*OTHER).err


def test_gc_removes_counts_of_interrupted_runs(texts: Laboratory) -> None:
    texts.run()
    leftover = texts.root / "candidates" / "counts" / f".staging-{'0' * 24}"
    leftover.mkdir()
    assert str(leftover) in texts.call("gc").out
    assert not leftover.exists()


@pytest.mark.parametrize(
    ("place", "number", "partial", "shards"),
    [
        ("os.rename .*/counts/.partial-.*/shard-", 3, False, (3, 2)),
        ("os.link .*/counts/.staging-", 1, False, (3, 3)),
        ("os.rename .*/candidates/counts/[0-9a-f]+$", 1, False, (3, 3)),
        ("os.mkdir .*/candidates/.partial-", 1, False, (1, 0)),
        ("os.rename .*/candidates/.partial-.*/combine-", 1, True, (1, 0)),
        ("os.rename .*/candidates/[0-9a-f]+$", 1, True, (1, 1)),
    ],
)
@pytest.mark.long
def test_a_run_killed_while_counting_is_resumed(
    texts: Laboratory, place: str, number: int, partial: bool, shards: tuple[int, int]
) -> None:
    """It continues with the shards, then with the counts, then with existing buckets."""
    given_counts(texts, SHARDS)
    assert kill(texts, Driver(), before(place, number)) == Kill("candidates", "shard_done", partial)
    assert len(counts(texts)) == (shards[0] == 1)
    texts.run()
    started = [each for each in texts.events("stage_started") if each["stage"] == "candidates"]
    assert (started[-1]["shards"], started[-1]["resumed"]) == shards
    assert texts.has_message("candidates", THERE) == (shards[0] == 1)
    assert texts.digests() == elsewhere(texts)
    hidden = {path.name for path in texts.root.glob("candidates/**/.*")}
    assert hidden == {".lock"}


@pytest.mark.long
def test_two_runs_with_different_thresholds_share_counts(texts: Laboratory) -> None:
    """One counts, the other waits for it; each has its own candidates."""
    given_counts(texts, SHARDS)
    both = [texts.start("run", *more) for more in ((), OTHER)]
    assert [finish(process).code for process in both] == [0, 0]
    assert len(counts(texts)) == 1
    started = [each for each in texts.events("stage_started") if each["stage"] == "candidates"]
    assert sorted(each["shards"] for each in started) == [1, 3]
    digests = [{name: s.digests for name, s in each.stages.items()} for each in texts.records()]
    expected = [elsewhere(texts), elsewhere(texts, *OTHER)]
    assert sorted(map(str, digests)) == sorted(map(str, expected))


@pytest.mark.long
def test_a_sweep_counts_only_once(texts: Laboratory) -> None:
    given_counts(texts, SHARDS)
    change(
        texts.config,
        "[stages.candidates]",
        '[sweep]\ncollect = ["candidates"]\n[sweep.over]\n'
        '"stages.candidates.min_frequency" = [2, 3, 4]\n[stages.candidates]',
    )
    texts.run()
    assert len(counts(texts)) == 1
    started = [each for each in texts.events("stage_started") if each["stage"] == "candidates"]
    assert [each["shards"] for each in started] == [3, 1, 1]


def test_skipped_lines_are_reported_when_counts_are_reused(texts: Laboratory) -> None:
    """Lenient readers skip lines; combining reads none, but has their number."""
    line = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n"
    (texts.folder / "c.conllu").write_text(f"{line}broken\n\n{line}2{line[1:]}\n")
    change(texts.config, '"*.txt"', '{ path = "c.conllu", lenient = true }')
    texts.run()
    first = texts.record().stages["candidates"].remarks
    texts.run("--set", "stages.candidates.min_frequency=1")
    assert texts.has_message("candidates", THERE)
    second = texts.record().stages["candidates"].remarks
    remarks_on_skipped = [
        [each.text for each in some if "skipped" in each.text] for some in (first, second)
    ]
    assert remarks_on_skipped[0] == remarks_on_skipped[1] != []


@pytest.mark.torture
def test_runs_killed_at_every_tenth_act_of_counting_are_resumed(texts: Laboratory) -> None:
    """The tables are the same wherever it is killed, even with partial counts or candidates."""
    given_counts(texts, SHARDS)
    digests, place = elsewhere(texts), ".*/candidates/"
    folder, driver = texts.folder, Driver()
    for number in itertools.count(1, 10):
        killed = Laboratory(folder, folder / f"killed-{number}", "texts", "texts")
        driver.ready()
        driver.send(killed.words("run"), kill_at=number, place=place)
        ended = driver.outcome()
        driver.close()
        if ended:
            break
        driver = Driver()  # starts while the other continues
        killed.run()
        assert killed.digests() == digests, number
        assert len(counts(killed)) == 1
    assert number > 50


# Shards are combined only if they have not changed since they were finished.


@pytest.mark.long
def test_a_shard_damaged_before_the_stage_ends_is_detected(laboratory: Laboratory) -> None:
    def damage(event: Event) -> None:
        if (event.kind, event.stage) == ("shard_done", "scores"):
            for part in laboratory.root.glob("scores/.partial-*/shard-*/scores.parquet"):
                part.write_bytes(part.read_bytes()[:-1])

    project = check(laboratory.config, runs=laboratory.runs)
    with pytest.raises(StoreError, match=r"stage scores: .*/shard-\w+ is missing or damaged"):
        run_stages(project, listeners=[damage])
    assert laboratory.outcomes()["scores"] == "failed"
    laboratory.run()
    assert_whole(laboratory.root)


# From `run` to a stage's function: few enough frames to read a traceback at a glance.

MOST = 8
EXPERIMENT_FRAMES = """
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
def folder_frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where each stage has recorded the frames that lead to its function."""
    folder = tmp_path_factory.mktemp("frames")
    source = HERE / "plugins" / "deep_stages.py"
    plugin = install(folder / "plugin", name="lexassay-deep", modules={"deep_stages": source})
    (folder / "corpus.txt").write_text("a b c\nb c d\n")
    (folder / "deep.toml").write_text(EXPERIMENT_FRAMES)
    command = [sys.executable, "-c", RUN, str(folder / "deep.toml"), str(folder / "runs")]
    known = environment([plugin], {"LEXASSAY_FRAMES": str(folder)})
    process = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return folder


@pytest.mark.parametrize("stage", ["copy", "pairs"])
@pytest.mark.long
def test_few_frames_lead_from_run_to_a_stage(folder_frames: Path, stage: str) -> None:
    frames = json.loads((folder_frames / stage).read_text())
    text = "\n".join(frames)
    assert frames[0] == "/api/run.py run", text
    assert "/runner/run.py run" in frames, text
    assert len(frames) < MOST, text


# A file of a corpus cut into parts: tables, numbers and errors are those of the whole file.

COLUMNS = ["line", "sentence", "doc", "paragraph", "position", "form"]
TEXT = {
    "plain": {},
    "named": {"document": "^### (.*)$"},
    "split": {"sentences": "split", "document": "^### (.*)$"},
    "wrapped": {"sentences": "wrapped", "document": "^### (.*)$"},
}
LINES = ["", " ", "a b", "A b. C a b", "c", "### x", "### y", "### ", "b. A", "\ufeff"]
STRUCTURES = ["<doc id='x'>", "<doc>", "</doc>", "<p>", "</p>"]


def tokens_of(path: Path, options: dict[str, object], size: int) -> tuple[pl.DataFrame, int]:
    format_ = format_of(path.name)
    format_options = format_.options.model_validate(options)
    assert format_.divide
    assert format_.read_part
    division = format_.divide(path, format_options, size)
    parts = division.parts
    assert not parts or division.digest == file_digest(path)
    table = [
        batch.tokens
        for part in parts
        for batch in format_.read_part(path, format_options, COLUMNS, 7, part)
    ]
    for part in parts:
        assert part.content(path) == part.digest
    return (pl.concat(table) if table else pl.DataFrame()), len(parts)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=40),
    end=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
    size=st.integers(1, 60),
    options=st.sampled_from(sorted(TEXT)),
)
def test_parts_of_a_text_have_all_its_tokens(
    lines: list[str], end: str, *, bom: bool, size: int, options: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + end.join(lines).encode())
    whole = format_of("a.txt")
    table, number = tokens_of(path, dict(TEXT[options]), size)
    if number:
        plan = whole.scan(path, whole.options.model_validate(TEXT[options]))
        assert table.equals(plan.select(COLUMNS).collect())


def vertical(draw: random.Random, sentences: int) -> str:
    """Write sentences in documents and paragraphs of all lengths."""
    lines, open_ = [], [""]
    for _ in range(sentences):
        if draw.random() < 0.1:
            lines += [f"</{open_[0]}>"] if open_[0] else []
            open_[0] = draw.choice(["", "doc", "doc"])
            lines += [draw.choice(["<doc id='x'>", "<doc id='y'>", "<doc>"])] if open_[0] else []
        words = [f"w{min(int(draw.paretovariate(0.8)), 30)}" for _ in range(draw.randint(1, 6))]
        lines += ["<s>", *(f"{word}\tN\t{word}" for word in words), "</s>"]
    lines += [f"</{open_[0]}>"] if open_[0] else []
    return "\n".join(lines) + "\n"


@pytest.mark.long
@pytest.mark.parametrize("size", [20, 150, 400])
def test_parts_of_a_vertical_file_have_all_its_tokens(size: int, tmp_path: Path) -> None:
    path = tmp_path / "a.vrt"
    path.write_text(vertical(random.Random(size), 30))
    table, number = tokens_of(path, {"attributes": ["form", "pos", "lemma"]}, size)
    assert number > 2
    format_ = format_of("a.vrt")
    options = format_.options.model_validate({"attributes": ["form", "pos", "lemma"]})
    assert table.equals(format_.scan(path, options).select(COLUMNS).collect())


EXPERIMENT_PARTS = """
name = "parts"
[run]
{way}
[stages.pairs]
use = "extract.pairs"
corpus = {{ path = "*.txt*"{options} }}
examples = 2
relation = "{relation}"
left = {{ label = "{{form}}" }}
right = {{ label = "{{form}}" }}
[stages.tuples]
use = "extract.tuples"
corpus = {{ path = "*.txt*"{options} }}
relation = "adjacent"
length = 3
examples = 1
unit = {{ label = "{{form}}" }}
[stages.words]
use = "extract.words"
corpus = {{ path = "*.txt*"{options} }}
unit = {{ label = "{{form}}" }}
"""
DOCUMENTS = ', document = "^### (.*)$"'
LAYOUTS = {
    "small parts": "shard = 300",
    "little memory": 'memory = "1MB"\nshard = 200',
    "larger parts": "shard = 2000",
}


def text(draw: random.Random, lines: int, documents: float) -> str:
    """Write lines in documents of all lengths, whose names are repeated."""
    calls = []
    for _ in range(lines):
        if draw.random() < documents:
            calls.append(f"### {draw.choice(['a', 'b', ''])}")
        words = [f"w{min(int(draw.paretovariate(0.8)), 30)}" for _ in range(draw.randint(0, 6))]
        calls.append(" ".join(words))
    return "\n".join(calls) + "\n"


def put(folder: Path, name: str, path: str, packing: str, draw: random.Random) -> None:
    """Write a text, packed or not, in members that end anywhere."""
    content = path.encode()
    number = {"": 1, "one member": 1}.get(packing, 40)
    places = sorted([0, len(content), *(draw.randrange(len(content)) for _ in range(number - 1))])
    pieces = [content[start:end] for start, end in pairwise(places)]
    if packing == "zstd":
        pieces = [pa.Codec("zstd").compress(each, asbytes=True) for each in pieces]
    elif packing:
        pieces = [gzip.compress(each) for each in pieces]
    ending = {"": "", "zstd": ".zst"}.get(packing, ".gz")
    (folder / f"{name}.txt{ending}").write_bytes(b"".join(pieces))


def digests(
    folder: Path, way: str, runs: str, options: str, relation: str = "sentence"
) -> dict[str, str]:
    content = EXPERIMENT_PARTS.format(way=way, options=options, relation=relation)
    (folder / "x.toml").write_text(content)
    run = lx.run(folder / "x.toml", runs=folder / runs)
    assert run.table("pairs").height > 30
    return {
        f"{stage}.{table}": digest
        for stage, manifest in run.manifests.items()
        for table, digest in manifest.digests().items()
    }


@pytest.mark.long
@pytest.mark.parametrize("documents", [0.0, 0.02, 0.4])
@pytest.mark.parametrize("relation", ["sentence", "adjacent"])
def test_results_do_not_depend_on_how_files_are_cut(
    documents: float, relation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "LEAST", 1)
    draw = random.Random(f"{documents}")
    for name, lines in (("a", 65), ("b", 5), ("c", 40)):
        (tmp_path / f"{name}.txt").write_text(text(draw, lines, documents))
    options = DOCUMENTS if documents else ""
    plain = digests(tmp_path, "", "plain", options, relation)
    for number, way in enumerate(LAYOUTS.values()):
        assert digests(tmp_path, way, f"runs{number}", options, relation) == plain, way
    runs, settings = tmp_path / "other", {"run.shard": "200B"}
    phases = lx.tasks(tmp_path / "x.toml", "pairs", runs=runs, settings=settings)
    assert phases[0].last > 5


@pytest.mark.long
@pytest.mark.parametrize("packing", ["one member", "members", "zstd"])
def test_parts_of_packed_files_give_the_result_of_the_whole(
    packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "LEAST", 1)
    draw = random.Random(packing)
    for name, lines in (("a", 700), ("b", 5)):
        put(tmp_path, name, text(draw, lines, 0.02), packing, draw)
    plain = digests(tmp_path, "", "plain", DOCUMENTS)
    for number, way in enumerate(('memory = "1MB"\nshard = 2000', "workers = 2\nshard = 2000")):
        assert digests(tmp_path, way, f"runs{number}", DOCUMENTS) == plain, way
        assert not list((tmp_path / f"runs{number}").rglob("text-*"))
        settings = {"run.shard": "2000B", "run.memory": "1MB"}
        phases = lx.tasks(tmp_path / "x.toml", "pairs", runs=tmp_path / "o", settings=settings)
        assert phases[0].last > 2


@pytest.mark.long
@pytest.mark.parametrize("packing", ["one member", "members", "zstd"])
def test_an_error_in_a_packed_file_equals_that_of_the_whole(
    packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "LEAST", 1)
    draw = random.Random(packing)
    content = text(draw, 400, 0.02).split("\n")
    content[300] = "a\0b"
    put(tmp_path, "a", "\n".join(content), packing, draw)
    with pytest.raises(
        DataError, match=r"a\.txt\.(gz|zst): 1 line.*\n.*line 301: contains a NUL"
    ) as one:
        digests(tmp_path, 'memory = "1MB"\nshard = 2000', "runs", DOCUMENTS)
    with pytest.raises(DataError) as other:
        digests(tmp_path, "", "whole", DOCUMENTS)
    assert str(one.value) == str(other.value)


@pytest.mark.long
def test_an_error_states_the_line_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "LEAST", 1)
    lines = text(random.Random(3), 200, 0.05).encode().split(b"\n")
    lines[150] = b"\xff"
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    with pytest.raises(DataError, match="line 151"):
        digests(tmp_path, "shard = 200", "runs", "")
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines[:150]))
    experiment = tmp_path / "x.toml"
    runs = tmp_path / "runs"
    assert lx.tasks(experiment, "pairs", runs=runs)[0].last > 2


def test_small_files_are_not_cut(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text(random.Random(3), 200, 0.05))
    digests(tmp_path, "shard = 200", "runs", "")
    assert lx.tasks(tmp_path / "x.toml", "words", runs=tmp_path / "runs")[0].last == 0


@pytest.mark.long
def test_row_groups_give_the_result_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "LEAST", 1)
    draw = random.Random(7)
    sentences = sorted(draw.randrange(900) for _ in range(3000))
    forms = [f"w{draw.randrange(30)}" for _ in sentences]
    docs = [f"d{each // 200}" for each in sentences]
    frame = pl.DataFrame({"doc": docs, "sentence": sentences, "form": forms})
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=400)
    (tmp_path / "x.toml").write_text(
        'name = "x"\n[stages.words]\nuse = "extract.words"\ncorpus = "a.parquet"\n'
        'unit = { label = "{form}" }\n'
    )
    settings = {"run.shard": "2000B"}
    results = [
        lx.run(tmp_path / "x.toml", runs=tmp_path / name, report=False, settings=each)
        for name, each in (("whole", {}), ("parts", settings))
    ]
    whole, parts = (run.manifests["words"].digests() for run in results)
    assert whole == parts
    phases = lx.tasks(tmp_path / "x.toml", "words", runs=tmp_path / "o", settings=settings)
    assert phases[0].last > 2


# Sums over all buckets of counts: separate tasks, whose columns are beside the counts.

PAIRS = 'relation = "sentence"\nleft = { label = "{form}" }\nright = { label = "{form}" }'
TUPLES = 'relation = "adjacent"\nlength = 3\nunit = { label = "{form}" }'
ALL = ["count", "merge", "counts", "sum", "combine", "result"]


@pytest.fixture
def tuples(texts: Laboratory, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    """An experiment that counts tuples of three, alone, in few buckets."""
    monkeypatch.setattr(inputs, "_SPREAD", 70)
    change(texts.config, "extract.pairs", "extract.tuples")
    change(texts.config, PAIRS, TUPLES)
    text = texts.config.read_text()
    texts.config.write_text(text[: text.index("[stages.scores]")])
    return texts


def sums(laboratory: Laboratory) -> list[Path]:
    return sorted(laboratory.root.glob("candidates/.partial-*/sum-*/sums*.parquet"))


@pytest.mark.parametrize(
    "options", [BUCKETS, pytest.param(f"{BUCKETS}\n{SHARDS}", marks=pytest.mark.long)]
)
def test_tasks_of_sums_equal_the_run(tuples: Laboratory, options: str) -> None:
    whole = elsewhere(tuples)
    given_sums(tuples, options)
    tasks = phases(tuples, "candidates")
    assert [len(tasks["sum"]["todo"]), len(tasks["combine"]["todo"]) > 2] == [2, True]
    assert do_all(tuples, "candidates") == ALL
    tuples.run()
    assert tuples.outcomes() == {"candidates": "reused"}
    assert tuples.digests() == whole


@pytest.mark.long
def test_sums_are_stored_beside_the_counts(tuples: Laboratory) -> None:
    """Each part of the counts has a part of sums, with the rows in the same order."""
    given_sums(tuples, BUCKETS)
    tasks = phases(tuples, "candidates")
    for name in ALL[:4]:
        do(tuples, "candidates", *tasks[name]["todo"])
    [folder] = counts(tuples)
    parts = [pl.read_parquet(path) for path in sorted(folder.glob("counts/part-*.parquet"))]
    everything = pl.concat(parts)
    first = pl.col("units").cast(pl.String).str.split("\x1f").list.first()
    expected = everything.select(
        f1=pl.col("f").sum().over(first), N=pl.col("f").sum(), enough=pl.col("f") >= 2
    )
    of_one = sorted(
        (path for path in sums(tuples) if path.parent.name.endswith("-0")),
        key=lambda path: int(path.stem.rpartition("-")[2]) if "-" in path.stem else 0,
    )
    beside = [pl.read_parquet(path) for path in of_one]
    assert [each.height for each in beside] == [each.height for each in parts]
    there = pl.concat(beside)
    assert there["N"].to_list() == expected["N"].to_list()
    target = expected.select(pl.when("enough").then("f1")).to_series()
    assert there["f1"].to_list() == target.to_list()


@pytest.mark.long
def test_a_run_continues_from_the_sums_of_tasks(tuples: Laboratory) -> None:
    given_sums(tuples, BUCKETS)
    tasks = phases(tuples, "candidates")
    for name in ALL[:3]:
        do(tuples, "candidates", *tasks[name]["todo"])
    do(tuples, "candidates", tasks["sum"]["first"])
    [of_one] = {path.parent for path in sums(tuples)}
    times = [path.stat().st_mtime_ns for path in sorted(of_one.iterdir())]
    assert phases(tuples, "candidates")["sum"]["todo"] == [tasks["sum"]["last"]]
    do(tuples, "candidates", tasks["sum"]["last"])
    assert times == [path.stat().st_mtime_ns for path in sorted(of_one.iterdir())]
    tuples.run()
    assert tuples.digests() == elsewhere(tuples)


@pytest.mark.long
def test_sums_of_counts_in_other_parts_are_not_used(
    tuples: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_sums(tuples, BUCKETS)
    tasks = phases(tuples, "candidates")
    for name in ALL[:4]:
        do(tuples, "candidates", *tasks[name]["todo"])
    [folder] = counts(tuples)
    (folder / "manifest.json").unlink()
    change(tuples.config, BUCKETS, 'memory = "2MB"')
    others = phases(tuples, "candidates")
    assert len(others["combine"]["todo"]) not in {1, len(tasks["combine"]["todo"])}
    assert do_all(tuples, "candidates") == ALL
    tuples.run()
    assert tuples.digests() == elsewhere(tuples)


@pytest.mark.long
def test_damaged_sums_are_named_and_computed_again(tuples: Laboratory) -> None:
    given_sums(tuples, BUCKETS)
    tasks = phases(tuples, "candidates")
    for name in ALL[:4]:
        do(tuples, "candidates", *tasks[name]["todo"])
    part = sums(tuples)[0]
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 0x01
    part.write_bytes(content)
    outputs = [tuples.call("task", "candidates", str(n)) for n in tasks["combine"]["todo"]]
    [wrong] = [each for each in outputs if each.code]
    assert f"{part} is missing or damaged; run the earlier tasks again" in wrong.err
    again = [tuples.call("task", "candidates", str(n)).out for n in tasks["sum"]["todo"]]
    assert sum("already done" in each for each in again) == len(again) - 1
    tuples.run()
    assert tuples.digests() == elsewhere(tuples)


@pytest.mark.long
def test_counts_in_few_buckets_are_summed_in_many(tuples: Laboratory) -> None:
    """Counts made without a limit are divided, and so are their sums."""
    tuples.run()
    given_sums(tuples, BUCKETS)
    more = ("--set", "stages.candidates.min_frequency=3")
    assert "counted; computing sums, 2 tasks" in tuples.run(*more).err
    assert len(list(tuples.artefact("candidates").glob("tuples/part-*.parquet"))) > 2
    assert tuples.digests() == elsewhere(tuples, *more)


# Two processes on one experiment at once: each stage is computed once, and both succeed.

WAITS = "another run is working on it; waiting"


@pytest.fixture
def plugin_two_processes(tmp_path: Path) -> Path:
    return slow(tmp_path / "plugin")


@pytest.mark.long
def test_two_runs_at_once_compute_each_stage_once(
    laboratory: Laboratory, plugin_two_processes: Path
) -> None:
    gate = laboratory.insert_gate()
    both = [laboratory.start("run", path=[plugin_two_processes]) for _ in range(2)]
    wait_until(lambda: laboratory.has_message("slow", WAITS), laboratory)
    gate.open()
    ends = [finish(process) for process in both]
    assert [each.code for each in ends] == [0, 0], ends[0].text + ends[1].text
    assert sum(f"slow: {WAITS}" in each.err for each in ends) == 1
    computed = Counter(each["stage"] for each in laboratory.events("stage_started"))
    assert set(computed.values()) == {1}
    records = laboratory.records()
    digests = [{name: s.digests for name, s in each.stages.items()} for each in records]
    assert len(digests) == 2
    assert digests[0] == digests[1]
    outcomes = Counter(stage.outcome for each in records for stage in each.stages.values())
    assert outcomes == {"done": 8, "reused": 8}
    assert_whole(laboratory.root)
    assert {path.name for path in laboratory.root.glob("*/.*")} == {".lock"}


@pytest.mark.long
def test_a_second_run_continues_where_the_first_was_killed(
    laboratory: Laboratory, plugin_two_processes: Path
) -> None:
    gate = laboratory.insert_gate()
    gate.permit()
    first = laboratory.start("run", path=[plugin_two_processes])
    wait_until(lambda: laboratory.shards_done("slow") == 1, laboratory)
    second = laboratory.start("run", path=[plugin_two_processes])
    wait_until(lambda: laboratory.has_message("slow", WAITS), laboratory)
    first.send_signal(signal.SIGKILL)
    assert finish(first).code == -signal.SIGKILL
    gate.open()
    outcome = finish(second)
    assert outcome.code == 0, outcome.text
    assert "slow: 1 of 3 shards already done" in outcome.err
    assert laboratory.shards_done("slow") == 3
    assert_whole(laboratory.root)


@pytest.mark.long
def test_runs_with_different_settings_at_once_are_independent(laboratory: Laboratory) -> None:
    """Two processes that need different results of the same stages do not mix them up."""
    rates = ("0.25", "0.75")
    both = [laboratory.start("run", "--set", f"stages.sample.rate={rate}") for rate in rates]
    assert [finish(process).code for process in both] == [0, 0]
    together = {each.settings["stages.sample.rate"]: each for each in laboratory.records()}
    alone = Laboratory(laboratory.folder, laboratory.folder / "alone")
    for rate in rates:
        alone.run("--set", f"stages.sample.rate={rate}")
        result = together[float(rate)].stages
        assert {name: stage.digests for name, stage in result.items()} == alone.digests()
    assert_whole(laboratory.root)


WRITE = """
import sys
from pathlib import Path
from pipeline.runner.store.history import write_folder
from pipeline.runner.store.backends import storage_at
folder = Path(sys.argv[1])
for number in range(100):
    write_folder(storage_at(folder.parent), folder.name, {"a": sys.argv[2].encode(), "b/c": sys.argv[2].encode()})
"""


@pytest.mark.long
def test_two_processes_may_write_the_same_report(tmp_path: Path) -> None:
    """Both replace the same folder repeatedly; it is always a complete one of either."""
    folder = tmp_path / "report"
    command = [sys.executable, "-c", WRITE, str(folder)]
    both = [
        subprocess.Popen([*command, word], env=environment(), stderr=subprocess.PIPE, text=True)
        for word in ("one", "two")
    ]
    messages = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], messages
    assert (folder / "a").read_text() == (folder / "b" / "c").read_text()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["report"]
