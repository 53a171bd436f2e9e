"""Tuples from whole corpora against a counter in plain Python; any parts give the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pipeline as lx
from pipeline.kernels.cooccurrence.counting import OPEN
from pipeline.kernels.sampling import candidate_id
from pipeline.runner import counting
from pipeline.runner.inputs import Budget
from pipeline.stages.base import STAGES, Bounds
from schemas.candidates import frequency_name, subsets
from tests.experiments.test_extraction import EWT, sentences

Counts = Counter[tuple[str, ...]]
WORDS = """
[stages.tuples]
use = "extract.tuples"
corpus = "*.conllu"
relation = "adjacent"
length = 3
examples = 2
"""
PNV = """
[stages.tuples]
use = "extract.tuples"
corpus = "*.conllu"
left = { where = "upos = 'NOUN'", attach = { p = "deprel = 'case'" }, labels = ["{p.lemma}", "{lemma}"] }
right = { where = "upos = 'VERB'" }
examples = 2
"""


def run(folder: Path, experiment: str) -> lx.Run:
    (folder / "x.toml").write_text(f'name = "x"\nseed = "s"\n{experiment}')
    return lx.run(folder / "x.toml", runs=folder / "runs", report=False)


def check(found: pl.DataFrame, slow: Counts, *, threshold: int) -> None:
    """Compare every frequency with a sum over all tuple tokens."""
    size = len(next(iter(slow)))
    sums: dict[tuple[int, ...], Counts] = {each: Counter() for each in subsets(size)}
    for words, f in slow.items():
        for each, counts in sums.items():
            counts[tuple(words[i - 1] for i in each)] += f
    kept = {words for words, f in slow.items() if f >= threshold}
    names = [f"l{i}" for i in range(1, size + 1)]
    assert set(found.select(names).rows()) == kept
    assert found.height == len(kept)
    for row in found.iter_rows(named=True):
        for each, counts in sums.items():
            mine = tuple(row[f"l{i}"] for i in each)
            assert row[frequency_name(each, size)] == counts[mine]
    assert found.select((candidate_id(*names) == pl.col("id")).all()).item()


@pytest.mark.long
def test_english_trigrams(tmp_path: Path, public_data: Callable[[str], Path]) -> None:
    slow: Counts = Counter()
    for sentence in sentences(public_data(EWT)):
        for place in range(len(sentence) - 2):
            three = sentence[place : place + 3]
            if all(word["upos"] != "PUNCT" and word["lemma"] != "_" for word in three):
                slow[tuple(word["lemma"].lower() for word in three)] += 1
    done = run(
        tmp_path,
        f"""
        [stages.tuples]
        use = "extract.tuples"
        corpus = "data:{EWT}"
        relation = "adjacent"
        length = 3
        unit = {{ where = "upos != 'PUNCT'", fold = true }}
        min_frequency = 3
        """,
    )
    check(done.table("tuples"), slow, threshold=3)


def test_english_patterns_with_a_gap(tmp_path: Path, public_data: Callable[[str], Path]) -> None:
    slow: Counts = Counter()
    for sentence in sentences(public_data(EWT)):
        for a, b in product(range(len(sentence)), repeat=2):
            words = sentence[a], sentence[b]
            if 0 < b - a <= 2 and [w["upos"] for w in words] == ["ADJ", "NOUN"]:
                slow[tuple(w["lemma"] for w in words)] += 1
    done = run(
        tmp_path,
        f"""
        [stages.tuples]
        use = "extract.tuples"
        corpus = "data:{EWT}"
        relation = "adjacent"
        adjacent = {{ gap = 1 }}
        positions = [{{ where = "upos = 'ADJ'" }}, {{ where = "upos = 'NOUN'" }}]
        """,
    )
    check(done.table("tuples"), slow, threshold=1)


@pytest.mark.long
def test_english_prepositions_nouns_verbs(
    tmp_path: Path, public_data: Callable[[str], Path]
) -> None:
    slow: Counts = Counter()
    for sentence in sentences(public_data(EWT)):
        verbs = [word["lemma"] for word in sentence if word["upos"] == "VERB"]
        for word in sentence:
            case = [w for w in sentence if w["head"] == word["id"] and w["deprel"] == "case"]
            if word["upos"] == "NOUN" and case:
                slow.update((case[0]["lemma"], word["lemma"], verb) for verb in verbs)
    experiment = PNV.replace("*.conllu", f"data:{EWT}").replace("examples = 2", "min_frequency = 2")
    check(run(tmp_path, experiment).table("tuples"), slow, threshold=2)


def made_up(seed: int) -> list[str]:
    """Return a few documents in CoNLL-U."""
    draw = random.Random(seed)
    documents = []
    for number in range(15):
        lines = [f"# newdoc id = d{number}"]
        for _ in range(draw.randint(1, 5)):
            length = draw.randint(1, 8)
            for position in range(1, length + 1):
                word, upos = draw.choice("abcd"), draw.choice(["NOUN", "VERB", "ADP"])
                head = (position + 1) % (length + 1)
                row = [position, word.upper(), word, upos, "_", "_", head, "case", "_", "_"]
                lines.append("\t".join(map(str, row)))
            lines.append("")
        documents.append("\n".join([*lines, ""]))
    return documents


@pytest.mark.long
@pytest.mark.parametrize("experiment", [WORDS, PNV])
def test_any_files_and_batches_give_the_same(
    experiment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file, or several in another order, or batches of a sentence or two: equal digests."""
    documents = made_up(7)
    digests, sizes = [], []
    for name, files in (("one", 1), ("many", 3), ("batches", 1)):
        folder = tmp_path / name
        folder.mkdir()
        for i in range(files):
            part = documents[i * 15 // files : (i + 1) * 15 // files]
            (folder / f"c{9 - i}.conllu").write_text("".join(part))
        if name == "batches":
            monkeypatch.setattr(Budget, "block", property(lambda _: 100))
            monkeypatch.setattr(Budget, "tokens", property(lambda _: 1))
            monkeypatch.setattr(counting, "_FEW", 3)
        done = run(folder, experiment)
        digests.append(done.manifests["tuples"].digests())
        sizes.append(done.table("tuples").height)
    one, many, batches = digests
    assert sizes[0] > 20
    assert one == batches
    # Where a sentence stands is part of what draws it, so examples change with the files.
    assert {**one, "examples": ""} == {**many, "examples": ""}


def held(documents: list[str]) -> Iterator[tuple[tuple[str, ...], int]]:
    for number, document in enumerate(documents):
        for sentence in document.split("\n\n"):
            words = [line.split("\t")[2] for line in sentence.splitlines() if "\t" in line]
            for place in range(len(words) - 2):
                yield tuple(words[place : place + 3]), number


def test_documents_and_examples(tmp_path: Path) -> None:
    documents = made_up(3)
    (tmp_path / "c.conllu").write_text("".join(documents))
    done = run(tmp_path, WORDS)
    slow = Counter(words for words, _ in set(held(documents)))
    found = done.table("tuples")
    assert {
        (a, b, c): n for a, b, c, n in found.select("l1", "l2", "l3", "documents").rows()
    } == slow
    shown = done.table("tuples.examples").join(found, on="id")
    assert shown.height == sum(min(2, f) for f in found.get_column("f"))
    for row in shown.iter_rows(named=True):
        marked = " ".join(f"[[{row[name].upper()}]]" for name in ("l1", "l2", "l3"))
        assert marked in row["text"]
        assert row["text"].count("[[") == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("length = 3", 'go with relation = "adjacent"'),
        ('relation = "adjacent"', "give one of length, positions, or left and right"),
        ('relation = "adjacent"\nlength = 3\nleft = {}\nright = {}', "give one of length"),
        ("left = {}", "left and right go together"),
        ('left = { labels = ["{lemma}"], label = "{form}" }\nright = {}', "either label or labels"),
        ('relation = "textual"\nleft = {}\nright = {}', "marginals of its own"),
        ('relation = "surface"\nleft = {}\nright = {}', 'count = "windows"'),
        ('left = { labels = ["{a.lemma}"] }\nright = {}', "'a' is not attached"),
        ('relation = "adjacent"\nlength = 7', "should be 6 or less"),
        ('relation = "adjacent"\nlength = 3\nunit = { where = "pos = 1" }', "no attribute 'pos'"),
        ('relation = "adjacent"\npositions = [{}, { label = "{lema}" }]', "positions.1.label"),
        (f"left = {{ labels = {['{lemma}'] * 4} }}\nright = {{ labels = {['{lemma}'] * 3} }}",
         "7 elements; at most 6"),
    ],
)  # fmt: skip
def test_wrong_options(options: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "c.conllu").write_text("1\ta\ta\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    (tmp_path / "x.toml").write_text(
        f'name = "x"\n[stages.t]\nuse = "extract.tuples"\ncorpus = "c.conllu"\n{options}\n'
    )
    with pytest.raises(Exception, match="mistake") as error:
        lx.check(tmp_path / "x.toml")
    assert said in str(error.value)


def test_merging_is_associative() -> None:
    """Partial tables merged by twos, in any order, make the same tuples."""
    stage = STAGES.get("extract.tuples")
    counting = stage.counting
    assert counting is not None
    tally, close = counting.tally, counting.close
    assert tally
    assert close
    rows: list[dict[str, Any]] = [
        {"file": "f", "doc": f"d{i // 4}", "sentence": i, "position": j, "lemma": word}
        for i, text in enumerate(["abcab", "bcab", "abc", "aaaa", "cabcab", "ab"] * 2, start=1)
        for j, word in enumerate(text, start=1)
    ]
    tokens = pl.DataFrame(rows)
    config = stage.config.model_validate({"corpus": "c", "relation": "adjacent", "length": 4})

    Partial = dict[str, pl.LazyFrame]

    def work(low: int, high: int, before: pl.LazyFrame) -> tuple[Partial, pl.LazyFrame]:
        part = tokens.filter(pl.col("sentence").is_between(low, high)).lazy()
        run = stage.run(config, {"corpus": part, "open": before})
        made = {name: each.lazy() for name, each in run.items()}
        after = made.pop("open").collect().lazy()
        raw = {name: made.pop(name).collect() for name in counting.raw}
        tallied = tally(raw, Bounds(begun=True, goes_on=True))
        return made | {name: each.lazy() for name, each in tallied.items()}, after

    def merged(*parts: Partial) -> Partial:
        joined = {name: pl.concat([part[name] for part in parts]) for name in parts[0]}
        return {name: each.lazy() for name, each in counting.merge(config, joined).items()}

    def tuples(partial: Partial) -> pl.DataFrame:
        closed = {name: each.lazy() for name, each in close(partial).items()}
        return counting.combine(config, closed)["tuples"].lazy().sort("id").collect()

    nothing = pl.LazyFrame(schema=OPEN)
    whole = tuples(merged(work(1, 12, nothing)[0]))
    first, open_1 = work(1, 3, nothing)
    second, open_2 = work(4, 5, open_1)
    third, _ = work(6, 12, open_2)
    assert whole.equals(tuples(merged(merged(third, first), second)))
    assert whole.equals(tuples(merged(first, merged(second, third))))
    assert whole.height == 4
