"""Frequency lists and keywords through the runner: against plain counting, from any shards."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import pipeline as lx
from tests.experiments.test_scale import WAYS, corpus

STAGES = """
[stages.target]
use = "extract.words"
corpus = "*.conllu"
examples = 2
unit = { where = "upos <> 'ADP'", fold = true, exclude = ["w5"] }
[stages.reference]
use = "extract.words"
corpus = "0.conllu"
unit = { label = "{lemma}" }
[stages.keywords]
use = "extract.keywords"
target = "target"
reference = "reference"
examples = "target.examples"
min_frequency = 2
"""


def experiment(folder: Path, way: str = "", runs: str = "runs") -> lx.Run:
    config = folder / "x.toml"
    config.write_text(f'name = "x"\n[run]\n{way}\n{STAGES}')
    return lx.run(config, runs=folder / runs, report=False)


def documents(folder: Path) -> list[Counter[str]]:
    """Count the words of each document; one begins with a file, and where its name changes."""
    counted = []
    for path in sorted(folder.glob("*.conllu")):
        name, last = "", None
        for block in path.read_text().split("\n\n"):
            lines = block.split("\n")
            for line in lines:
                name = line.partition("= ")[2] if line.startswith("# newdoc") else name
            rows = [line.split("\t") for line in lines if line and line[0].isdigit()]
            if rows and name != last:
                counted.append(Counter[str]())
                last = name
            words = (row[2] for row in rows if row[3] != "ADP")
            counted[-1].update(word for word in words if word != "w5")
    return [each for each in counted if each]


def test_against_plain_counting(tmp_path: Path) -> None:
    corpus(tmp_path)
    parts = documents(tmp_path)
    sizes = [sum(each.values()) for each in parts]
    total = sum(sizes)
    held: dict[str, list[int]] = defaultdict(lambda: [0] * len(parts))
    for place, part in enumerate(parts):
        for word, f in part.items():
            held[word][place] = f
    run = experiment(tmp_path)
    rows = {row["word"]: row for row in run.table("target").to_dicts()}
    assert rows.keys() == held.keys()
    assert len(parts) > 9
    for word, row in rows.items():
        f = sum(held[word])
        dp = sum(abs(v / f - s / total) for v, s in zip(held[word], sizes, strict=True)) / 2
        assert (row["f"], row["N"], row["parts"]) == (f, total, len(parts))
        assert row["documents"] == sum(v > 0 for v in held[word])
        assert row["dp"] == pytest.approx(dp, abs=1e-12)
        assert row["dp_norm"] == pytest.approx(dp / (1 - min(sizes) / total), abs=1e-12)
    sizes_of = dict(run.table("target.corpus").rows())
    assert sizes_of["words"] == total


def test_the_signature_of_a_keyword(tmp_path: Path) -> None:
    corpus(tmp_path)
    run = experiment(tmp_path)
    target = {row["word"]: row for row in run.table("target").to_dicts()}
    reference = {row["word"]: row for row in run.table("reference").to_dicts()}
    n1, n2 = (next(iter(each.values()))["N"] for each in (target, reference))
    keywords = run.table("keywords").to_dicts()
    assert {row["l2"] for row in keywords} == {w for w, row in target.items() if row["f"] > 1}
    assert {row["l1"] for row in keywords} == {"target"}
    for row in keywords:
        word, other = target[row["l2"]], reference.get(row["l2"], {"f": 0})["f"]
        assert (row["f"], row["f1"], row["N"]) == (word["f"], n1, n1 + n2)
        assert (row["f2"] - row["f"], row["f_reference"]) == (other, other)
        assert row["per_million"] == pytest.approx(1e6 * word["f"] / n1)
        assert row["per_million_reference"] == pytest.approx(1e6 * other / n2)
        assert row["dp"] == word["dp"]
    shown = run.table("keywords.examples")
    ids = {row["id"]: row["l2"] for row in keywords}
    assert set(shown["id"]) == set(ids)
    assert all(f"[[{ids[key]}]]" in text for key, text in shown.select("id", "text").rows())


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, marks=[] if way == "little memory, one shard" else [pytest.mark.long])
        for way in WAYS
    ],
)
def test_the_same_digests_from_any_shards(way: str, tmp_path: Path) -> None:
    corpus(tmp_path)
    digests = []
    for settings, runs in (("", "one"), (WAYS[way], "other")):
        run = experiment(tmp_path, settings, runs)
        digests.append({name: made.digests() for name, made in run.manifests.items()})
    assert digests[0] == digests[1]
    assert math.isfinite(run.table("target")["juilland_d"].sum())


def test_the_same_digests_from_other_files(tmp_path: Path) -> None:
    """Documents in one file or in several, whatever these are called."""
    texts = [f"# newdoc id = {name}\n" for name in "abcd"]
    for number in range(40):
        word = f"w{number % 7}"
        texts[number % 4] += f"1\t{word}\t{word}\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    found = []
    for folder, files in (("one", ["".join(texts)]), ("many", texts[::-1])):
        (tmp_path / folder).mkdir()
        for number, text in enumerate(files):
            (tmp_path / folder / f"{number}.conllu").write_text(text)
        found.append(experiment(tmp_path / folder).manifests["target"].digests()["words"])
    assert found[0] == found[1]


def test_examples_of_words(tmp_path: Path) -> None:
    (tmp_path / "0.conllu").write_text("1\tCats\tcat\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    run = experiment(tmp_path)
    assert run.table("target.examples")["text"].to_list() == ["[[Cats]]"]
    assert run.table("target")["dp"].to_list() == [None]
