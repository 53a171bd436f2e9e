"""Case folding, stop lists and regular expressions, from an experiment to the candidates."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import pipeline as lx
from pipeline.errors import ConfigError

TEXT = "The Cat saw a dog .\nthe cat saw 2 dogs .\nA dog saw the cat !\n"


def run(folder: Path, options: str, unit: str) -> lx.Run:
    (folder / "t.txt").write_text(TEXT)
    (folder / "stop.tsv").write_text("word\tkind\nthe\tarticle\na\tarticle\n")
    (folder / "x.toml").write_text(f"""
name = "x"
[stages.candidates]
use = "extract.pairs"
corpus = "t.txt"
relation = "adjacent"
{options}
left = {unit}
right = {unit}
""")
    return lx.run(folder / "x.toml", runs=folder / "runs", report=False)


def test_folded_filtered_and_without_stop_words(tmp_path: Path) -> None:
    unit = '{ label = "{form}", fold = true, matches = "^\\\\p{L}+$", exclude = ["dogs"] }'
    found = run(tmp_path, 'adjacent = { gap = 1 }\nstop_words = "stop.tsv"', unit).table(
        "candidates"
    )
    slow: Counter[tuple[str, str]] = Counter()
    for line in TEXT.lower().splitlines():
        words = [w if w.isalpha() and w not in {"the", "a", "dogs"} else "" for w in line.split()]
        for place, one in enumerate(words):
            slow.update((one, two) for two in words[place + 1 : place + 3] if one and two)
    assert {(a, b): f for a, b, f in found.select("l1", "l2", "f").rows()} == slow
    assert slow["cat", "saw"] == 2


def test_stop_words_that_change_make_the_candidates_anew(tmp_path: Path) -> None:
    unit = '{ label = "{form}" }'
    before = run(tmp_path, 'stop_words = "stop.tsv"', unit).manifests["candidates"].digests()
    (tmp_path / "x.toml").write_text(
        (tmp_path / "x.toml").read_text().replace("stop.tsv", "more.tsv")
    )
    (tmp_path / "more.tsv").write_text("word\nsaw\n")
    after = (
        lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
        .manifests["candidates"]
        .digests()
    )
    assert before["candidates"] != after["candidates"]


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        ('{ label = "{form}", matches = "(" }', "no regular expression"),
        ('{ label = "{lemma}" }', "the tokens have no attribute 'lemma'"),
    ],
)
def test_mistakes(unit: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        run(tmp_path, "", unit)


def test_a_stop_list_needs_words(tmp_path: Path) -> None:
    (tmp_path / "bad.tsv").write_text("term\nthe\n")
    with pytest.raises(ConfigError, match="the file has no column 'word'"):
        run(tmp_path, 'stop_words = "bad.tsv"', '{ label = "{form}" }')


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("surface = { left = 1 }", 'goes with relation = "surface"'),
        ('relation = "surface"\nsurface = { left = 0, right = 0 }', "left and right are both 0"),
        ('relation = "dependency"', "needs dependency"),
        ('relation = "textual"\ntextual = { within = "page" }', "sentence"),
    ],
)
def test_relations_that_are_described_wrongly(options: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(TEXT)
    (tmp_path / "x.toml").write_text(f"""
name = "x"
[stages.candidates]
use = "extract.pairs"
corpus = "t.txt"
{options}
left = {{ label = "{{form}}" }}
right = {{ label = "{{form}}" }}
""")
    with pytest.raises(ConfigError, match=said):
        lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
