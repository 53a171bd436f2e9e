"""A file of a corpus cut into parts: tables, numbers and errors are those of the whole file."""

from __future__ import annotations

import gzip
import random
from itertools import pairwise
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pipeline as lx
from pipeline.errors import DataError
from pipeline.formats.base import format_of
from pipeline.runner import inputs
from pipeline.runner.store.digest import file_digest

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
    given_ = format_.options.model_validate(options)
    assert format_.divide
    assert format_.read_part
    division = format_.divide(path, given_, size)
    parts = division.parts
    assert not parts or division.digest == file_digest(path)
    read = [
        batch.tokens
        for part in parts
        for batch in format_.read_part(path, given_, COLUMNS, 7, part)
    ]
    for part in parts:
        assert part.content(path) == part.digest
    return (pl.concat(read) if read else pl.DataFrame()), len(parts)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=40),
    end=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
    size=st.integers(1, 60),
    options=st.sampled_from(sorted(TEXT)),
)
def test_the_parts_of_a_text_have_its_tokens(
    lines: list[str], end: str, *, bom: bool, size: int, options: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + end.join(lines).encode())
    whole = format_of("a.txt")
    read, number = tokens_of(path, dict(TEXT[options]), size)
    if number:
        plan = whole.scan(path, whole.options.model_validate(TEXT[options]))
        assert read.equals(plan.select(COLUMNS).collect())


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


@pytest.mark.parametrize("size", [20, 150, 400])
def test_the_parts_of_a_vertical_file_have_its_tokens(size: int, tmp_path: Path) -> None:
    path = tmp_path / "a.vrt"
    path.write_text(vertical(random.Random(size), 30))
    read, number = tokens_of(path, {"attributes": ["form", "pos", "lemma"]}, size)
    assert number > 2
    format_ = format_of("a.vrt")
    options = format_.options.model_validate({"attributes": ["form", "pos", "lemma"]})
    assert read.equals(format_.scan(path, options).select(COLUMNS).collect())


EXPERIMENT = """
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
WAYS = {
    "small parts": "shard = 300",
    "little memory": 'memory = "1MB"\nshard = 200',
    "larger parts": "shard = 2000",
}


def text(draw: random.Random, lines: int, documents: float) -> str:
    """Write lines in documents of all lengths, whose names come again."""
    written = []
    for _ in range(lines):
        if draw.random() < documents:
            written.append(f"### {draw.choice(['a', 'b', ''])}")
        words = [f"w{min(int(draw.paretovariate(0.8)), 30)}" for _ in range(draw.randint(0, 6))]
        written.append(" ".join(words))
    return "\n".join(written) + "\n"


def put(folder: Path, name: str, written: str, packing: str, draw: random.Random) -> None:
    """Write a text, packed or not, in members that end anywhere."""
    content = written.encode()
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
    written = EXPERIMENT.format(way=way, options=options, relation=relation)
    (folder / "x.toml").write_text(written)
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
def test_the_same_however_it_is_cut(
    documents: float, relation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "LEAST", 1)
    draw = random.Random(f"{documents}")
    for name, lines in (("a", 65), ("b", 5), ("c", 40)):
        (tmp_path / f"{name}.txt").write_text(text(draw, lines, documents))
    options = DOCUMENTS if documents else ""
    plain = digests(tmp_path, "", "plain", options, relation)
    for number, way in enumerate(WAYS.values()):
        assert digests(tmp_path, way, f"runs{number}", options, relation) == plain, way
    runs, settings = tmp_path / "other", {"run.shard": "200B"}
    phases = lx.tasks(tmp_path / "x.toml", "pairs", runs=runs, settings=settings)
    assert phases[0].last > 5


@pytest.mark.long
@pytest.mark.parametrize("packing", ["one member", "members", "zstd"])
def test_packed_files_give_what_they_give_as_a_whole(
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


@pytest.mark.parametrize("packing", ["one member", "members", "zstd"])
def test_an_error_in_a_packed_file_is_that_of_the_whole(
    packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "LEAST", 1)
    draw = random.Random(packing)
    written = text(draw, 400, 0.02).split("\n")
    written[300] = "a\0b"
    put(tmp_path, "a", "\n".join(written), packing, draw)
    with pytest.raises(
        DataError, match=r"a\.txt\.(gz|zst): 1 line.*\n.*line 301: holds a NUL"
    ) as one:
        digests(tmp_path, 'memory = "1MB"\nshard = 2000', "runs", DOCUMENTS)
    with pytest.raises(DataError) as other:
        digests(tmp_path, "", "whole", DOCUMENTS)
    assert str(one.value) == str(other.value)


def test_an_error_says_the_line_of_the_file(
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


def test_row_groups_give_what_the_file_gives(
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
    found = [
        lx.run(tmp_path / "x.toml", runs=tmp_path / name, report=False, settings=each)
        for name, each in (("whole", {}), ("parts", settings))
    ]
    whole, parts = (run.manifests["words"].digests() for run in found)
    assert whole == parts
    phases = lx.tasks(tmp_path / "x.toml", "words", runs=tmp_path / "o", settings=settings)
    assert phases[0].last > 2
