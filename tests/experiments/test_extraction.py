"""Extraction from whole corpora against a reader and counter in plain Python."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pipeline as lx

Word = dict[str, Any]
Pairs = Counter[tuple[str, str]]
GSD = ("corpora/de_gsd-ud-dev.conllu.gz", "corpora/de_gsd-ud-test.conllu.gz")
EWT = "corpora/UD_English-EWT.all.conllu.gz"


def sentences(path: Path) -> Iterator[list[Word]]:
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


def extracted(folder: Path, experiment: str) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    (folder / "x.toml").write_text('name = "x"\n' + experiment)
    found = lx.run(folder / "x.toml", runs=folder / "runs", report=False).table("candidates")
    return {
        (row[0], row[1]): row[2:] for row in found.select("l1", "l2", "f", "f1", "f2", "N").rows()
    }


@pytest.mark.parametrize("threshold", [1, 2])
def test_german_pp_verb_pairs(
    threshold: int, tmp_path: Path, public_data: Callable[[str], Path]
) -> None:
    slow: Pairs = Counter()
    for name in GSD:
        for sentence in sentences(public_data(name)):
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
    found = extracted(
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
    kept = {pair: counts for pair, counts in signatures(slow).items() if counts[0] >= threshold}
    assert len(kept) > 40
    assert found == kept


def test_english_verbs_and_objects(tmp_path: Path, public_data: Callable[[str], Path]) -> None:
    slow: Pairs = Counter()
    for sentence in sentences(public_data(EWT)):
        by_id = {word["id"]: word for word in sentence}
        for word in sentence:
            above = by_id.get(word["head"])
            noun = word["deprel"] == "obj" and word["upos"] == "NOUN"
            if noun and above and above["upos"] == "VERB":
                slow[above["lemma"], word["lemma"]] += 1
    found = extracted(
        tmp_path,
        f"""
        [stages.candidates]
        use = "extract.pairs"
        corpus = "data:{EWT}"
        relation = "dependency"
        dependency = {{ label = "obj" }}
        left = {{ where = "upos = 'VERB'" }}
        right = {{ where = "upos = 'NOUN'" }}
        """,
    )
    assert len(slow) > 5000
    assert found == signatures(slow)


def test_english_nouns_and_verbs_of_a_sentence(
    tmp_path: Path, public_data: Callable[[str], Path]
) -> None:
    slow: Pairs = Counter()
    for sentence in sentences(public_data(EWT)):
        nouns = [word["form"] for word in sentence if word["upos"] == "NOUN"]
        verbs = [word["lemma"] for word in sentence if word["upos"] == "VERB"]
        slow.update((noun, verb) for noun in nouns for verb in verbs)
    found = extracted(
        tmp_path,
        f"""
        [stages.candidates]
        use = "extract.pairs"
        corpus = "data:{EWT}"
        left = {{ where = "upos = 'NOUN'", label = "{{form}}" }}
        right = {{ where = "upos = 'VERB'" }}
        min_frequency = 2
        """,
    )
    assert found == {pair: n for pair, n in signatures(slow).items() if n[0] >= 2}


def test_pair_tokens_of_dickens(tmp_path: Path, public_data: Callable[[str], Path]) -> None:
    path = public_data("collocations/dickens_an_tokens.tsv")
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    slow: Pairs = Counter((l1, l2) for l1, l2 in (line.split("\t") for line in lines))
    found = extracted(
        tmp_path,
        """
        [stages.candidates]
        use = "extract.pair_tokens"
        path = "data:collocations/dickens_an_tokens.tsv"
        columns = { l1 = "ADJ", l2 = "N" }
        """,
    )
    assert found == signatures(slow)
    assert len(found) == 58_883
    assert next(iter(found.values()))[3] == 111_073


def test_any_number_of_shards_gives_the_same(tmp_path: Path) -> None:
    """One file or the same sentences in five, in another order: equal digests."""
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
        done = lx.run(folder / "x.toml", runs=folder / "runs", report=False)
        digests.append(done.manifests["candidates"].digests())
        assert done.table("candidates.corpus").rows() == [
            ("documents", 10), ("pair tokens", 200), ("sentences", 200), ("tokens", 400),
        ]  # fmt: skip
    assert digests[0]["candidates"] == digests[1]["candidates"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("where = \"pos = 'NOUN'\"", "left.where: the tokens have no attribute 'pos' (c.conllu); did you mean xpos, upos"),
        ("where = \"upos = 'NOUN'\", label = \"{lema}\"", "left.label: the tokens have no attribute 'lema' (c.conllu); did you mean lemma"),
        ("where = \"upos = \"", "not a Polars SQL condition"),
        ("where = \"upos = 'NOUN'\", label = \"{prep.lemma}\"", "'prep' is not attached"),
        ("where = \"upos = 'NOUN'\", label = \"noun\"", "names no attribute"),
        ("where = \"upos = 'NOUN'\", attch = {}", "unknown key; did you mean attach"),
    ],
)  # fmt: skip
def test_wrong_units(change: str, said: str, tmp_path: Path) -> None:
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
    with pytest.raises(Exception, match="mistake") as error:
        lx.check(tmp_path / "x.toml")
    assert said in str(error.value)


def test_no_pairs(tmp_path: Path) -> None:
    (tmp_path / "c.conllu").write_text("1\ta\ta\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    found = extracted(
        tmp_path,
        """
        [stages.candidates]
        use = "extract.pairs"
        corpus = "c.conllu"
        left = { where = "upos = 'NOUN'" }
        right = { where = "upos = 'VERB'" }
        """,
    )
    assert found == {}


def test_laws_are_checked(tmp_path: Path, public_data: Callable[[str], Path]) -> None:
    """Whatever is extracted obeys the laws of contingency tables: f <= f1, f2 and O22 >= 0."""
    public_data(EWT)
    (tmp_path / "x.toml").write_text(
        f"""
        name = "x"
        [stages.candidates]
        use = "extract.pairs"
        corpus = "data:{EWT}"
        left = {{ where = "upos = 'ADJ'" }}
        right = {{ where = "upos = 'NOUN'" }}
        """
    )
    found = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False).table("candidates")
    o22 = pl.col("N") - pl.col("f1") - pl.col("f2") + pl.col("f")
    assert found.select((o22 >= 0).all()).item()
    assert found.get_column("f").sum() == found.get_column("N").max()
