"""Books whose lines were broken at a width are told from texts whose lines mean something."""

from __future__ import annotations

import gzip
import random
import textwrap
from pathlib import Path

import pytest

from pipeline.recipes.collocations import collocates
from pipeline.recipes.inputs import corpus_files, is_wrapped

WORDS = [
    "the",
    "old",
    "house",
    "by",
    "a",
    "river",
    "where",
    "nobody",
    "of",
    "them",
    "had",
    "lived",
    "since",
    "another",
    "winter",
]


def paragraphs(count: int, *, seed: int, words: int = 60) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, words))) for _ in range(count)]


@pytest.mark.parametrize("width", [40, 65, 72, 100])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_wrapped(width: int, ending: str, packed: bool, tmp_path: Path) -> None:
    parts = [textwrap.fill(each, width) for each in paragraphs(60, seed=width)]
    content = "\n\n".join(["A heading", *parts]).replace("\n", ending).encode()
    path = tmp_path / ("b.txt.gz" if packed else "b.txt")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert is_wrapped(path)
    assert corpus_files([path]).source["sentences"] == "wrapped"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("words", [3, 8, 14, 20, 60])
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_lines_that_are_sentences_verses_or_paragraphs(
    seed: int, words: int, gap: str, tmp_path: Path
) -> None:
    path = tmp_path / "b.txt"
    path.write_text(gap.join(paragraphs(200, seed=seed, words=words)))
    assert not is_wrapped(path)


@pytest.mark.parametrize("content", ["", "\n\n", "one line", "word\n" * 200, "a b\n" * 10])
def test_what_tells_nothing(content: str, tmp_path: Path) -> None:
    path = tmp_path / "b.txt"
    path.write_text(content)
    assert not is_wrapped(path)


def test_pairs_that_a_line_end_parts_are_counted(tmp_path: Path) -> None:
    filling = " ".join(["house of river nobody lived", *["in another winter"] * 3])
    for name, gap in (("lines", " "), ("wrapped", "\n")):
        parts = [textwrap.fill(filling, 30).replace("\n", gap)] * 40
        (tmp_path / f"{name}.txt").write_text("\n\n".join(parts))
    tables = [
        collocates("winter", tmp_path / f"{name}.txt", relation="adjacent", runs=tmp_path / "r")
        for name in ("lines", "wrapped")
    ]
    assert tables[0].select("collocate", "f").equals(tables[1].select("collocate", "f"))
    assert tables[0].height > 0
