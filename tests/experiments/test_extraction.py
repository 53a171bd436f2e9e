"""Extraction from whole corpora against a reader and counter in plain Python."""

from __future__ import annotations

import csv
import gzip
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import ConfigError, DataError, LexassayError
from pipeline.formats.spreadsheets import list_sheets
from pipeline.kernels.cooccurrence.counting import OPEN
from pipeline.kernels.sampling import candidate_id
from pipeline.runner import counting
from pipeline.runner.inputs import Budget
from pipeline.stages.base import STAGES, DocumentBounds
from schemas.candidates import frequency_name, subsets
from tests.experiments.test_collocations import WAYS, corpus

Word = dict[str, Any]
Pairs = Counter[tuple[str, str]]
GSD = ("corpora/de_gsd-ud-dev.conllu.gz", "corpora/de_gsd-ud-test.conllu.gz")
EWT_EXTRACTION = "corpora/UD_English-EWT.all.conllu.gz"


def sentences_extraction(path: Path) -> Iterator[list[Word]]:
    """Read CoNLL-U line by line."""
    words: list[Word] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if cells == [""]:
                if words:
                    yield words
                words = []
            elif cells[0].isdigit():
                names = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel")
                words.append(dict(zip(names, cells, strict=False)))
    if words:
        yield words


def signatures(pairs: Pairs) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    """Count the marginals over all pair tokens."""
    left: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for (l1, l2), f in pairs.items():
        left[l1] += f
        right[l2] += f
    total = sum(pairs.values())
    return {(l1, l2): (f, left[l1], right[l2], total) for (l1, l2), f in pairs.items()}


def extract_counts(
    folder: Path, experiment: str
) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    (folder / "x.toml").write_text('name = "x"\n' + experiment)
    table = lx.run(folder / "x.toml", runs=folder / "runs", report=False).table("candidates")
    return {
        (row[0], row[1]): row[2:] for row in table.select("l1", "l2", "f", "f1", "f2", "N").rows()
    }


@pytest.mark.parametrize("threshold", [1, 2])
def test_german_pp_verb_pairs_agree_with_plain_counts(
    threshold: int, tmp_path: Path, public_data: Callable[[str], Path]
) -> None:
    slow: Pairs = Counter()
    for name in GSD:
        for sentence in sentences_extraction(public_data(name)):
            nouns = []
            for word in sentence:
                case = [w for w in sentence if w["head"] == word["id"] and w["deprel"] == "case"]
                if word["upos"] == "NOUN" and case:
                    nouns.append(f"{case[0]['lemma']}:{word['lemma']}")
            for word in sentence:
                if word["upos"] == "VERB":
                    prt = [
                        w["lemma"]
                        for w in sentence
                        if w["head"] == word["id"] and w["deprel"] == "compound:prt"
                    ]
                    slow.update((noun, "".join(prt[:1]) + word["lemma"]) for noun in nouns)
    result = extract_counts(
        tmp_path,
        f"""
        [stages.candidates]
        use = "extract.pairs"
        corpus = ["data:{GSD[0]}", "data:{GSD[1]}"]
        left = {{ where = "upos = 'NOUN'", attach = {{ prep = "deprel = 'case'" }}, label = "{{prep.lemma}}:{{lemma}}" }}
        right = {{ where = "upos = 'VERB'", attach = {{ prt = {{ where = "deprel = 'compound:prt'", optional = true }} }}, label = "{{prt.lemma}}{{lemma}}" }}
        min_frequency = {threshold}
        """,
    )
    frequent = {pair: counts for pair, counts in signatures(slow).items() if counts[0] >= threshold}
    assert len(frequent) > 40
    assert result == frequent


@pytest.mark.long
def test_english_verbs_and_objects_agree_with_plain_counts(
    tmp_path: Path, public_data: Callable[[str], Path]
) -> None:
    slow: Pairs = Counter()
    for sentence in sentences_extraction(public_data(EWT_EXTRACTION)):
        by_id = {word["id"]: word for word in sentence}
        for word in sentence:
            above = by_id.get(word["head"])
            noun = word["deprel"] == "obj" and word["upos"] == "NOUN"
            if noun and above and above["upos"] == "VERB":
                slow[above["lemma"], word["lemma"]] += 1
    counts = extract_counts(
        tmp_path,
        f"""
        [stages.candidates]
        use = "extract.pairs"
        corpus = "data:{EWT_EXTRACTION}"
        relation = "dependency"
        dependency = {{ label = "obj" }}
        left = {{ where = "upos = 'VERB'" }}
        right = {{ where = "upos = 'NOUN'" }}
        """,
    )
    assert len(slow) > 5000
    assert counts == signatures(slow)


@pytest.mark.long
def test_english_nouns_and_verbs_agree_with_plain_counts(
    tmp_path: Path, public_data: Callable[[str], Path]
) -> None:
    slow: Pairs = Counter()
    for sentence in sentences_extraction(public_data(EWT_EXTRACTION)):
        nouns = [word["form"] for word in sentence if word["upos"] == "NOUN"]
        verbs = [word["lemma"] for word in sentence if word["upos"] == "VERB"]
        slow.update((noun, verb) for noun in nouns for verb in verbs)
    counts = extract_counts(
        tmp_path,
        f"""
        [stages.candidates]
        use = "extract.pairs"
        corpus = "data:{EWT_EXTRACTION}"
        left = {{ where = "upos = 'NOUN'", label = "{{form}}" }}
        right = {{ where = "upos = 'VERB'" }}
        min_frequency = 2
        """,
    )
    assert counts == {pair: n for pair, n in signatures(slow).items() if n[0] >= 2}


@pytest.mark.long
def test_pair_tokens_of_dickens_agree_with_ucs(
    tmp_path: Path, public_data: Callable[[str], Path]
) -> None:
    path = public_data("collocations/dickens_an_tokens.tsv")
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    slow: Pairs = Counter((l1, l2) for l1, l2 in (line.split("\t") for line in lines))
    counts = extract_counts(
        tmp_path,
        """
        [stages.candidates]
        use = "extract.pair_tokens"
        path = "data:collocations/dickens_an_tokens.tsv"
        columns = { l1 = "ADJ", l2 = "N" }
        """,
    )
    assert counts == signatures(slow)
    assert len(counts) == 58_883
    assert next(iter(counts.values()))[3] == 111_073


def test_the_number_of_shards_does_not_change_the_results(tmp_path: Path) -> None:
    """One file, or the same sentences in five files in another order, have equal digests."""
    rows = "1\t{n}\t{n}\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\t{v}\t{v}\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    blocks = [rows.format(n=f"n{i % 7}", v=f"v{i % 5}") for i in range(200)]
    documents = [f"# newdoc id = d{i}\n" + "".join(blocks[i * 20 : i * 20 + 20]) for i in range(10)]
    one, many = tmp_path / "one", tmp_path / "many"
    one.mkdir()
    many.mkdir()
    (one / "c.conllu").write_text("".join(documents))
    for i in range(5):
        (many / f"c{5 - i}.conllu").write_text("".join(documents[2 * i : 2 * i + 2]))
    digests = []
    for folder in (one, many):
        (folder / "x.toml").write_text(
            """
            name = "x"
            [stages.candidates]
            use = "extract.pairs"
            corpus = "*.conllu"
            left = { where = "upos = 'NOUN'" }
            right = { where = "upos = 'VERB'" }
            """
        )
        run_ = lx.run(folder / "x.toml", runs=folder / "runs", report=False)
        digests.append(run_.manifests["candidates"].digests())
        assert run_.table("candidates.corpus").rows() == [
            ("documents", 10), ("pair tokens", 200), ("sentences", 200), ("tokens", 400),
        ]  # fmt: skip
    assert digests[0]["candidates"] == digests[1]["candidates"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("where = \"pos = 'NOUN'\"", "left.where: the tokens have no attribute 'pos' (c.conllu); did you mean xpos, upos"),
        ("where = \"upos = 'NOUN'\", label = \"{lema}\"", "left.label: the tokens have no attribute 'lema' (c.conllu); did you mean lemma"),
        ("where = \"upos = \"", "not a Polars SQL condition"),
        ("where = \"upos = 'NOUN'\", label = \"{prep.lemma}\"", "'prep' is not attached"),
        ("where = \"upos = 'NOUN'\", label = \"noun\"", "contains no attribute"),
        ("where = \"upos = 'NOUN'\", attch = {}", "unknown key; did you mean attach"),
    ],
)  # fmt: skip
def test_wrong_units_are_refused(change: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "c.conllu").write_text("1\ta\ta\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    (tmp_path / "x.toml").write_text(
        f"""
        name = "x"
        [stages.candidates]
        use = "extract.pairs"
        corpus = "c.conllu"
        left = {{ {change} }}
        right = {{ where = "upos = 'VERB'" }}
        """
    )
    with pytest.raises(Exception, match="error") as error:
        lx.check(tmp_path / "x.toml")
    assert message in str(error.value)


def test_a_corpus_without_pairs_has_no_candidates(tmp_path: Path) -> None:
    (tmp_path / "c.conllu").write_text("1\ta\ta\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    counts = extract_counts(
        tmp_path,
        """
        [stages.candidates]
        use = "extract.pairs"
        corpus = "c.conllu"
        left = { where = "upos = 'NOUN'" }
        right = { where = "upos = 'VERB'" }
        """,
    )
    assert counts == {}


@pytest.mark.long
def test_extracted_counts_obey_the_laws(tmp_path: Path, public_data: Callable[[str], Path]) -> None:
    """Extracted counts obey the laws of contingency tables: f <= f1, f2 and O22 >= 0."""
    public_data(EWT_EXTRACTION)
    (tmp_path / "x.toml").write_text(
        f"""
        name = "x"
        [stages.candidates]
        use = "extract.pairs"
        corpus = "data:{EWT_EXTRACTION}"
        left = {{ where = "upos = 'ADJ'" }}
        right = {{ where = "upos = 'NOUN'" }}
        """
    )
    table = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False).table("candidates")
    o22 = pl.col("N") - pl.col("f1") - pl.col("f2") + pl.col("f")
    assert table.select((o22 >= 0).all()).item()
    assert table.get_column("f").sum() == table.get_column("N").max()


# Frequency lists and keywords through the runner: against plain counting, from any shards.

STAGES_KEYWORDS = """
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
    config.write_text(f'name = "x"\n[run]\n{way}\n{STAGES_KEYWORDS}')
    return lx.run(config, runs=folder / runs, report=False)


def documents(folder: Path) -> list[Counter[str]]:
    """Count the words of each document; it begins with a file, or where its name changes."""
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


def test_frequencies_agree_with_plain_counts(tmp_path: Path) -> None:
    corpus(tmp_path)
    parts = documents(tmp_path)
    sizes = [sum(each.values()) for each in parts]
    total = sum(sizes)
    frequencies: dict[str, list[int]] = defaultdict(lambda: [0] * len(parts))
    for place, part in enumerate(parts):
        for word, f in part.items():
            frequencies[word][place] = f
    run = experiment(tmp_path)
    rows = {row["word"]: row for row in run.table("target").to_dicts()}
    assert rows.keys() == frequencies.keys()
    assert len(parts) > 9
    for word, row in rows.items():
        f = sum(frequencies[word])
        dp = sum(abs(v / f - s / total) for v, s in zip(frequencies[word], sizes, strict=True)) / 2
        assert (row["f"], row["N"], row["parts"]) == (f, total, len(parts))
        assert row["documents"] == sum(v > 0 for v in frequencies[word])
        assert row["dp"] == pytest.approx(dp, abs=1e-12)
        assert row["dp_norm"] == pytest.approx(dp / (1 - min(sizes) / total), abs=1e-12)
    sizes_of = dict(run.table("target.corpus").rows())
    assert sizes_of["words"] == total


def test_keywords_have_signature_and_examples(tmp_path: Path) -> None:
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
    examples = run.table("keywords.examples")
    ids = {row["id"]: row["l2"] for row in keywords}
    assert set(examples["id"]) == set(ids)
    assert all(f"[[{ids[key]}]]" in text for key, text in examples.select("id", "text").rows())


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, marks=[] if way == "little memory, one shard" else [pytest.mark.long])
        for way in WAYS
    ],
)
def test_shards_do_not_change_the_digests(way: str, tmp_path: Path) -> None:
    corpus(tmp_path)
    digests = []
    for settings, runs in (("", "one"), (WAYS[way], "other")):
        run = experiment(tmp_path, settings, runs)
        digests.append({name: manifest.digests() for name, manifest in run.manifests.items()})
    assert digests[0] == digests[1]
    assert math.isfinite(run.table("target")["juilland_d"].sum())


@pytest.mark.long
def test_names_of_files_do_not_change_the_digests(tmp_path: Path) -> None:
    """Documents in one file or in several, with any names."""
    texts = [f"# newdoc id = {name}\n" for name in "abcd"]
    for number in range(40):
        word = f"w{number % 7}"
        texts[number % 4] += f"1\t{word}\t{word}\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    digests = []
    for folder, files in (("one", ["".join(texts)]), ("many", texts[::-1])):
        (tmp_path / folder).mkdir()
        for number, text in enumerate(files):
            (tmp_path / folder / f"{number}.conllu").write_text(text)
        digests.append(experiment(tmp_path / folder).manifests["target"].digests()["words"])
    assert digests[0] == digests[1]


def test_words_have_examples(tmp_path: Path) -> None:
    (tmp_path / "0.conllu").write_text("1\tCats\tcat\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    run = experiment(tmp_path)
    assert run.table("target.examples")["text"].to_list() == ["[[Cats]]"]
    assert run.table("target")["dp"].to_list() == [None]


# Tuples from whole corpora against a counter in plain Python; any parts give the same.

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


def check(table: pl.DataFrame, slow: Counts, *, threshold: int) -> None:
    """Compare every frequency with a sum over all tuple tokens."""
    size = len(next(iter(slow)))
    sums: dict[tuple[int, ...], Counts] = {each: Counter() for each in subsets(size)}
    for words, f in slow.items():
        for each, counts in sums.items():
            counts[tuple(words[i - 1] for i in each)] += f
    frequent = {words for words, f in slow.items() if f >= threshold}
    names = [f"l{i}" for i in range(1, size + 1)]
    assert set(table.select(names).rows()) == frequent
    assert table.height == len(frequent)
    for row in table.iter_rows(named=True):
        for each, counts in sums.items():
            mine = tuple(row[f"l{i}"] for i in each)
            assert row[frequency_name(each, size)] == counts[mine]
    assert table.select((candidate_id(*names) == pl.col("id")).all()).item()


@pytest.mark.long
def test_english_trigrams_agree_with_plain_counts(
    tmp_path: Path, public_data: Callable[[str], Path]
) -> None:
    slow: Counts = Counter()
    for sentence in sentences_extraction(public_data(EWT_EXTRACTION)):
        for place in range(len(sentence) - 2):
            three = sentence[place : place + 3]
            if all(word["upos"] != "PUNCT" for word in three):
                words = (word["form" if word["lemma"] == "_" else "lemma"] for word in three)
                slow[tuple(name.lower() for name in words)] += 1
    outcome = run(
        tmp_path,
        f"""
        [stages.tuples]
        use = "extract.tuples"
        corpus = {{ path = "data:{EWT_EXTRACTION}", normalise = "none" }}
        relation = "adjacent"
        length = 3
        unit = {{ where = "upos != 'PUNCT'", fold = true }}
        min_frequency = 3
        """,
    )
    check(outcome.table("tuples"), slow, threshold=3)


@pytest.mark.long
def test_english_patterns_with_a_gap_agree_with_plain_counts(
    tmp_path: Path, public_data: Callable[[str], Path]
) -> None:
    slow: Counts = Counter()
    for sentence in sentences_extraction(public_data(EWT_EXTRACTION)):
        for a, b in product(range(len(sentence)), repeat=2):
            words = sentence[a], sentence[b]
            if 0 < b - a <= 2 and [w["upos"] for w in words] == ["ADJ", "NOUN"]:
                slow[tuple(w["lemma"] for w in words)] += 1
    outcome = run(
        tmp_path,
        f"""
        [stages.tuples]
        use = "extract.tuples"
        corpus = "data:{EWT_EXTRACTION}"
        relation = "adjacent"
        adjacent = {{ gap = 1 }}
        positions = [{{ where = "upos = 'ADJ'" }}, {{ where = "upos = 'NOUN'" }}]
        """,
    )
    check(outcome.table("tuples"), slow, threshold=1)


@pytest.mark.long
def test_english_prepositions_nouns_verbs_agree_with_plain_counts(
    tmp_path: Path, public_data: Callable[[str], Path]
) -> None:
    slow: Counts = Counter()
    for sentence in sentences_extraction(public_data(EWT_EXTRACTION)):
        verbs = [word["lemma"] for word in sentence if word["upos"] == "VERB"]
        for word in sentence:
            case = [w for w in sentence if w["head"] == word["id"] and w["deprel"] == "case"]
            if word["upos"] == "NOUN" and case:
                slow.update((case[0]["lemma"], word["lemma"], verb) for verb in verbs)
    experiment = PNV.replace("*.conllu", f"data:{EWT_EXTRACTION}").replace(
        "examples = 2", "min_frequency = 2"
    )
    check(run(tmp_path, experiment).table("tuples"), slow, threshold=2)


def random_documents(seed: int) -> list[str]:
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
def test_files_and_batches_do_not_change_the_results(
    experiment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file, several files in another order, and small batches have equal digests."""
    documents = random_documents(7)
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
        outcome = run(folder, experiment)
        digests.append(outcome.manifests["tuples"].digests())
        sizes.append(outcome.table("tuples").height)
    one, many, batches = digests
    assert sizes[0] > 20
    assert one == batches
    # Examples are drawn by the places of sentences, so they change with the files.
    assert {**one, "examples": ""} == {**many, "examples": ""}


def text_triples(documents: list[str]) -> Iterator[tuple[tuple[str, ...], int]]:
    for number, document in enumerate(documents):
        for sentence in document.split("\n\n"):
            words = [line.split("\t")[2] for line in sentence.splitlines() if "\t" in line]
            for place in range(len(words) - 2):
                yield tuple(words[place : place + 3]), number


def test_tuples_have_documents_and_examples(tmp_path: Path) -> None:
    documents = random_documents(3)
    (tmp_path / "c.conllu").write_text("".join(documents))
    outcome = run(tmp_path, WORDS)
    slow = Counter(words for words, _ in set(text_triples(documents)))
    tuples = outcome.table("tuples")
    assert {
        (a, b, c): n for a, b, c, n in tuples.select("l1", "l2", "l3", "documents").rows()
    } == slow
    examples = outcome.table("tuples.examples").join(tuples, on="id")
    assert examples.height == sum(min(2, f) for f in tuples.get_column("f"))
    for row in examples.iter_rows(named=True):
        marked = " ".join(f"[[{row[name].upper()}]]" for name in ("l1", "l2", "l3"))
        assert marked in row["text"]
        assert row["text"].count("[[") == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("length = 3", 'require relation = "adjacent"'),
        ('relation = "adjacent"', "give either length, positions, or left and right"),
        ('relation = "adjacent"\nlength = 3\nleft = {}\nright = {}', "give either length"),
        ("left = {}", "left and right must be given together"),
        ('left = { labels = ["{lemma}"], label = "{form}" }\nright = {}', "either label or labels"),
        ('relation = "textual"\nleft = {}\nright = {}', "marginals that tuples lack"),
        ('relation = "surface"\nleft = {}\nright = {}', 'count = "windows"'),
        ('left = { labels = ["{a.lemma}"] }\nright = {}', "'a' is not attached"),
        ('relation = "adjacent"\nlength = 7', "should be 6 or less"),
        ('relation = "adjacent"\nlength = 3\nunit = { where = "pos = 1" }', "no attribute 'pos'"),
        ('relation = "adjacent"\npositions = [{}, { label = "{lema}" }]', "positions.1.label"),
        (f"left = {{ labels = {['{lemma}'] * 4} }}\nright = {{ labels = {['{lemma}'] * 3} }}",
         "7 elements, but at most 6"),
    ],
)  # fmt: skip
def test_wrong_options_are_refused(options: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "c.conllu").write_text("1\ta\ta\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    (tmp_path / "x.toml").write_text(
        f'name = "x"\n[stages.t]\nuse = "extract.tuples"\ncorpus = "c.conllu"\n{options}\n'
    )
    with pytest.raises(Exception, match="error") as error:
        lx.check(tmp_path / "x.toml")
    assert message in str(error.value)


def test_merging_is_associative() -> None:
    """Partial tables merged in pairs, in any order, give the same tuples."""
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
        tables = {name: each.lazy() for name, each in run.items()}
        after = tables.pop("open").collect().lazy()
        raw = {name: tables.pop(name).collect() for name in counting.raw}
        tallied = tally(raw, DocumentBounds(starts_before=True, continues_after=True))
        return tables | {name: each.lazy() for name, each in tallied.items()}, after

    def merge_parts(*parts: Partial) -> Partial:
        joined = {name: pl.concat([part[name] for part in parts]) for name in parts[0]}
        return {name: each.lazy() for name, each in counting.merge(config, joined).items()}

    def tuples(partial: Partial) -> pl.DataFrame:
        closed = {name: each.lazy() for name, each in close(partial).items()}
        return counting.combine(config, closed)["tuples"].lazy().sort("id").collect()

    nothing = pl.LazyFrame(schema=OPEN)
    whole = tuples(merge_parts(work(1, 12, nothing)[0]))
    first, open_1 = work(1, 3, nothing)
    second, open_2 = work(4, 5, open_1)
    third, _ = work(6, 12, open_2)
    assert whole.equals(tuples(merge_parts(merge_parts(third, first), second)))
    assert whole.equals(tuples(merge_parts(first, merge_parts(second, third))))
    assert whole.height == 4


# Sheets of tuples: they contain all units, and every id belongs to its units.

EXPERIMENT = """
name = "x"
seed = "s"

[stages.triples]
use = "extract.tuples"
corpus = "c.conllu"
relation = "adjacent"
length = 3
unit = { label = "{lemma}" }
examples = 1

[stages.sample]
use = "sample.random"
candidates = "triples"
size = 6

[stages.sheet]
use = "sheet.annotation"
candidates = "triples"
sample = "sample"
examples = "triples.examples"
folder = "triples"
labels = ["fixed", "free"]
kind = "KIND"

[stages.judgements]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "triples"
categories = { TP = ["fixed"] }
"""
CORPUS = "".join(
    f"1\t{first}\t{first}\tVERB\t_\t_\t0\troot\t_\t_\n2\t007\t007\tNUM\t_\t_\t1\tobj\t_\t_\n"
    f"3\t{last}\t{last}\tADV\t_\t_\t1\tadvmod\t_\t_\n\n"
    for first in ("give", "take", "=A1")
    for last in ("now", "2-3")
)
Change = Callable[[dict[str, str | None]], dict[str, str | None]]


def run_tuple_sheets(folder: Path, kind: str) -> lx.Run:
    (folder / "c.conllu").write_text(CORPUS, encoding="utf-8")
    (folder / "x.toml").write_text(EXPERIMENT.replace("KIND", kind))
    return lx.run(folder / "x.toml", runs=folder / "runs", report=False)


def sheet(folder: Path) -> Path:
    (path,) = list_sheets(folder / "sheets" / "x" / "triples")
    return path


def rewrite(path: Path, change: Change) -> None:
    """Change every row of a sheet, and save it like a program."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as opened:
            rows = [change(dict(row)) for row in csv.DictReader(opened)]
        with path.open("w", encoding="utf-8-sig", newline="") as opened:
            writer = csv.DictWriter(opened, list(rows[0]), quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows(rows)
        return
    book = openpyxl.load_workbook(path)
    page = book["Sheet"]
    names = [str(cell.value) for cell in page[1]]
    for number in range(2, page.max_row + 1):
        cells = dict(zip(names, page[number], strict=True))
        for name, value in change({name: cell.value for name, cell in cells.items()}).items():
            if value != cells[name].value:  # =A1, typed again, would be a formula
                cells[name].value = value
    book.save(path)


def add_label(row: dict[str, str | None]) -> dict[str, str | None]:
    return row | {"label": "fixed" if row["l1"] == "give" else "free"}


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_a_filled_sheet_of_triples_is_joined(kind: str, tmp_path: Path) -> None:
    first = run_tuple_sheets(tmp_path, kind)
    (waits,) = first.waits
    assert waits.missing == 6
    assert all(text.endswith((" 007 now", " 007 2-3")) for text in waits.such_as)
    rewrite(sheet(tmp_path), add_label)
    outcome = run_tuple_sheets(tmp_path, kind)
    triples = outcome.table("triples").select("id", "l1", "l2", "l3")
    judged = outcome.table("judgements").join(triples, on="id")
    assert judged.height == 6
    assert judged.filter("tp").select("l1", "l2", "l3").sort("l3").rows() == [
        ("give", "007", "2-3"), ("give", "007", "now"),
    ]  # fmt: skip
    assert triples.select(candidate_id("l1", "l2", "l3")).equals(triples.select("id"))


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
@pytest.mark.parametrize("text", ["then", None])
def test_a_changed_third_unit_is_a_fault(kind: str, text: str | None, tmp_path: Path) -> None:
    def spoilt(row: dict[str, str | None]) -> dict[str, str | None]:
        changed = row["l1"] == "give" and row["l3"] == "now"
        return add_label(row) | ({"l3": text} if changed else {})

    run_tuple_sheets(tmp_path, kind)
    rewrite(sheet(tmp_path), spoilt)
    with pytest.raises(DataError, match="id and tuple do not belong together") as error:
        run_tuple_sheets(tmp_path, kind)
    assert "1 " in str(error.value)
    assert sheet(tmp_path).name in str(error.value)


def test_the_sheet_shows_all_units_beside_the_label(tmp_path: Path) -> None:
    run_tuple_sheets(tmp_path, "xlsx")
    book = openpyxl.load_workbook(sheet(tmp_path))
    names = [cell.value for cell in book["Sheet"][1]]
    assert names[:6] == ["l1", "l2", "l3", "label", "note", "example 1"]
    assert names[-2:] == ["annotator", "id"]
    lines = [str(cell.value) for cell in book["Instructions"]["A"]]
    assert "l3: Third unit." in lines
    assert any(line.startswith("example 1: The tuple is marked by [[ ]]") for line in lines)


def test_pairs_with_their_own_column_l3_stay_pairs(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text("l1\tl2\tf\tf1\tf2\tN\na\tb\t1\t2\t2\t9\n")
    text = EXPERIMENT.partition("[stages.sample]")
    pairs = '[stages.triples]\nuse = "extract.table"\npath = "c.tsv"\nkeep = { l3 = "f1" }\n'
    rest = text[2].replace("size = 6", "size = 1").replace('examples = "triples.examples"\n', "")
    (tmp_path / "x.toml").write_text(f'name = "x"\n{pairs}{text[1]}{rest}'.replace("KIND", "csv"))
    outcome = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    assert outcome.table("triples").schema["l3"] == pl.Float64
    assert outcome.table("sheet").columns == ["annotator", "order", "id", "l1", "l2"]


# Case folding, stop lists and regular expressions, from an experiment to the candidates.

TEXT = "The Cat saw a dog .\nthe cat saw 2 dogs .\nA dog saw the cat !\n"


def run_unit_filters(folder: Path, options: str, unit: str) -> lx.Run:
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


def test_units_are_folded_filtered_and_without_stop_words(tmp_path: Path) -> None:
    unit = '{ label = "{form}", fold = true, matches = "^\\\\p{L}+$", exclude = ["dogs"] }'
    counts = run_unit_filters(
        tmp_path, 'adjacent = { gap = 1 }\nstop_words = "stop.tsv"', unit
    ).table("candidates")
    slow: Counter[tuple[str, str]] = Counter()
    for line in TEXT.lower().splitlines():
        words = [w if w.isalpha() and w not in {"the", "a", "dogs"} else "" for w in line.split()]
        for place, one in enumerate(words):
            slow.update((one, two) for two in words[place + 1 : place + 3] if one and two)
    assert {(a, b): f for a, b, f in counts.select("l1", "l2", "f").rows()} == slow
    assert slow["cat", "saw"] == 2


def test_a_stop_list_may_have_one_word_per_line(tmp_path: Path) -> None:
    unit = '{ label = "{form}", fold = true }'
    (tmp_path / "stop.txt").write_text("# function words\nThe\n\na\n")
    lines, table = (
        run_unit_filters(tmp_path, f'stop_words = "stop.{ending}"', unit).table("candidates")
        for ending in ("txt", "tsv")
    )
    assert lines.height
    assert lines.equals(table)


def test_changed_stop_words_recompute_the_candidates(tmp_path: Path) -> None:
    unit = '{ label = "{form}" }'
    before = (
        run_unit_filters(tmp_path, 'stop_words = "stop.tsv"', unit)
        .manifests["candidates"]
        .digests()
    )
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


UNIT = '{ label = "{form}", fold = true }'


@pytest.mark.parametrize("relation", [
    'relation = "adjacent"', 'relation = "sentence"', 'relation = "surface"',
    'relation = "textual"',
])  # fmt: skip
@pytest.mark.parametrize(("left", "right"), [("cat\ndog\n", ""), ("", "saw\n"), ("cat", "saw")])
def test_units_can_be_restricted_to_those_of_a_file(
    relation: str, left: str, right: str, tmp_path: Path
) -> None:
    """The candidates are rows of those without the option: no frequency changes."""
    listed = {"left": left, "right": right}
    options = ""
    for side, words in listed.items():
        (tmp_path / f"{side}.txt").write_text(f"# nodes\n\n{words.upper()}")
        options += f'{side}_words = "{side}.txt"\n' if words else ""
    every = run_relation(tmp_path, relation).table("candidates")
    table = run_relation(tmp_path, f"{relation}\n{options}").table("candidates")
    for side, words in zip(("l1", "l2"), listed.values(), strict=True):
        every = every.filter(pl.col(side).is_in(words.split())) if words else every
    assert every.height
    assert table.equals(every)


def run_relation(folder: Path, options: str) -> lx.Run:
    (folder / "t.txt").write_text(TEXT)
    (folder / "x.toml").write_text(
        f'name = "x"\n[stages.candidates]\nuse = "extract.pairs"\ncorpus = "t.txt"\n{options}\n'
        f"left = {UNIT}\nright = {UNIT}\n"
    )
    return lx.run(folder / "x.toml", runs=folder / "runs", report=False)


def test_units_of_a_table_or_changed_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("word,kind\ncat,noun\n")
    options = 'relation = "sentence"\nleft_words = "nodes.csv"'
    assert set(run_relation(tmp_path, options).table("candidates")["l1"]) == {"cat"}
    (tmp_path / "nodes.csv").write_text("word,kind\ndog,noun\n")
    assert set(run_relation(tmp_path, options).table("candidates")["l1"]) == {"dog"}


@pytest.mark.parametrize(("name", "content", "message"), [
    ("nodes.txt", b"# only a comment\n", "nodes.txt: the file has no words"),
    ("nodes.txt", b"cat\nd\xf6g\n", "nodes.txt: 1 line cannot be decoded as UTF-8.*\n.*line 2"),
    ("nodes.tsv", b"lemma\ncat\n", "left_words: the file has no column 'word'"),
    ("nodes.tsv", b"word\tn\ncat\t1\n#NAME?\t2\n", "nodes.tsv: line 3: column word"),
])  # fmt: skip
def test_unreadable_files_of_units_are_refused(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LexassayError, match=message):
        run_relation(tmp_path, f'relation = "sentence"\nleft_words = "{name}"')


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ('{ label = "{form}", matches = "(" }', "not a valid regular expression"),
        ('{ label = "{lemma}" }', "the tokens have no attribute 'lemma'"),
    ],
)
def test_wrong_options_of_units_are_refused(unit: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        run_unit_filters(tmp_path, "", unit)


def test_a_stop_list_without_words_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.tsv").write_text("term\nthe\n")
    with pytest.raises(ConfigError, match="the file has no column 'word'"):
        run_unit_filters(tmp_path, 'stop_words = "bad.tsv"', '{ label = "{form}" }')


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("surface = { left = 1 }", 'requires relation = "surface"'),
        ('relation = "surface"\nsurface = { left = 0, right = 0 }', "left and right are both 0"),
        ('relation = "dependency"', "requires dependency"),
        ('relation = "textual"\ntextual = { within = "page" }', "sentence"),
    ],
)
def test_wrong_relations_are_refused(options: str, message: str, tmp_path: Path) -> None:
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
    with pytest.raises(ConfigError, match=message):
        lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
