"""The invented candidates, keywords and taggings: reproducible, and as README.md describes."""

from __future__ import annotations

import doctest
import hashlib
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType

import convert_public
import make_candidates
import make_keywords
import make_taggings
import polars as pl
import pseudo_words
import pytest
import taggers
from make_candidates import CANDIDATES, MIN_FREQUENCY, SEED, STARTER, STARTER_MIN_FREQUENCY, Row
from make_keywords import PLAIN, TIMES, PlantedTexts, corpora
from make_taggings import corpus
from simulation import KINDS, Kind, Simulation, simulate
from tagged_text import ENDINGS, Token

import pipeline as lx


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return simulate(SEED)


@pytest.fixture(scope="module")
def committed_table() -> pl.DataFrame:
    return pl.read_csv(CANDIDATES, separator="\t", quote_char=None)


def test_committed_tables_are_those_of_the_generator(simulation: Simulation) -> None:
    rows = make_candidates.candidates(*simulation, seed=SEED)
    assert make_candidates.table(rows) == CANDIDATES.read_bytes()
    frequent = [row for row in rows if row.f >= STARTER_MIN_FREQUENCY]
    assert make_candidates.table(frequent) == STARTER.read_bytes()


def test_counts_agree_with_an_independent_count(
    simulation: Simulation, committed_table: pl.DataFrame
) -> None:
    tokens = pl.DataFrame(simulation.tokens, schema=["l1", "l2"], orient="row")
    counted = tokens.select(
        "l1",
        "l2",
        f=pl.len().over("l1", "l2"),
        f1=pl.len().over("l1"),
        f2=pl.len().over("l2"),
        N=pl.len(),
    )
    frequent = (
        counted.unique()
        .filter(pl.col("f") >= 3)
        .cast(dict.fromkeys(("f", "f1", "f2", "N"), pl.Int64))
    )
    assert committed_table.select(frequent.columns).equals(frequent.sort("l1", "l2"))


def test_committed_tables_obey_the_laws(committed_table: pl.DataFrame) -> None:
    f, f1, f2, n = (pl.col(name) for name in ("f", "f1", "f2", "N"))
    broken = committed_table.filter(
        ~((f >= MIN_FREQUENCY) & (f <= pl.min_horizontal(f1, f2)) & (f1 + f2 - f <= n))
        | (pl.col("TP") != pl.col("support_verb") + pl.col("figurative"))
        | ~pl.col("TP").is_in([0, 1])
    )
    assert broken.is_empty()
    assert not committed_table.select("l1", "l2").is_duplicated().any()
    per_left = committed_table.group_by("l1").agg(pl.col("f").sum(), pl.col("f1").unique())
    assert (per_left["f1"].list.len() == 1).all()
    assert (per_left["f"] <= per_left["f1"].list.first()).all()


def test_candidates_agree_with_those_by_hand() -> None:
    # a x is a collocation, a y too rare to be a candidate, but both count in f1, f2 and N
    tokens = [("a", "x")] * 4 + [("a", "y")] * 2 + [("b", "x")] * 3
    kind = Kind("figurative", 1, (0, 1), (0, 1), 1, 9, 1.0, collocation=True)
    rows = make_candidates.candidates(tokens, {("a", "x"): kind}, seed="no errors here")
    assert rows == [
        Row("a", "x", 4, 6, 7, 9, 1, 0, 1),
        Row("b", "x", 3, 3, 7, 9, 0, 0, 0),
    ]


def test_judgements_follow_the_planted_pairs_with_few_errors(
    simulation: Simulation, committed_table: pl.DataFrame
) -> None:
    judgements: Counter[tuple[bool, int]] = Counter()
    for row in map(Row._make, committed_table.iter_rows()):
        kind = simulation.planted.get((row.l1, row.l2))
        collocation = kind is not None and kind.collocation
        judgements[collocation, row.TP] += 1
        if collocation and row.TP:
            assert kind is not None
            assert getattr(row, kind.name) == 1
    assert judgements == {(True, 1): 394, (True, 0): 9, (False, 1): 20, (False, 0): 3262}


def test_planted_pairs_have_the_properties_of_their_kind(simulation: Simulation) -> None:
    joint = Counter(simulation.tokens)
    assert Counter(simulation.planted.values()) == {kind: kind.size for kind in KINDS}
    frequent = Counter(
        kind.name for pair, kind in simulation.planted.items() if joint[pair] >= MIN_FREQUENCY
    )
    assert frequent == {"support_verb": 280, "figurative": 123, "habitual": 240, "exclusive": 269}
    assert all(joint[pair] >= kind.least for pair, kind in simulation.planted.items())


def test_precisions_are_those_of_the_readme(committed_table: pl.DataFrame) -> None:
    names = ["t_score", "log_likelihood", "chi_squared", "mi", "dice"]
    scored = lx.score(committed_table.drop("TP", "support_verb", "figurative"), measures=names)
    judged = scored.join(committed_table.select("l1", "l2", "TP"), on=["l1", "l2"])
    best = {name: judged.sort(name, "l1", "l2", descending=True)["TP"] for name in names}
    assert {name: _per_cent(best[name]) for name in names} == {
        "log_likelihood": [49.0, 32.6, 27.2, 18.05],
        "t_score": [44.0, 34.8, 26.1, 17.7],
        "chi_squared": [31.0, 26.2, 26.7, 18.05],
        "dice": [27.0, 21.6, 17.2, 12.7],
        "mi": [16.0, 18.6, 25.6, 18.1],
    }
    assert round(100 * committed_table["TP"].sum() / committed_table.height, 2) == 11.23


def _per_cent(judgements: pl.Series) -> list[float]:
    return [round(float(100 * judgements.head(n).sum() / n), 2) for n in (100, 500, 1000, 2000)]


def test_draws_never_exceed_the_last_weight() -> None:
    highest = 1.0 - 2.0**-53
    assert pseudo_words.draw([0.1, 0.3], lambda: highest) == 1
    assert pseudo_words.draw([0.1, 0.3], lambda: 0.0) == 0


@pytest.mark.parametrize("module", [pseudo_words, convert_public])
def test_examples_in_docstrings_are_right(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.fixture(scope="module")
def keywords() -> PlantedTexts:
    return corpora(make_keywords.SEED)


def counts(keywords: PlantedTexts, name: str) -> Counter[str]:
    return Counter(word for document in keywords.documents[name] for word in document)


def test_keywords_are_reproducible(keywords: PlantedTexts, tmp_path: Path) -> None:
    whole = make_keywords.files(keywords)
    digest = hashlib.sha256("".join(f"{name}\n{whole[name]}" for name in sorted(whole)).encode())
    assert digest.hexdigest()[:16] == "8573053ffe4cf6ce"
    script = [sys.executable, str(make_keywords.__file__), str(tmp_path / "new")]
    subprocess.run(script, check=True, capture_output=True)
    content = {path.name: path.read_bytes().decode() for path in (tmp_path / "new").iterdir()}
    assert content == whole


def test_themes_and_avoided_words_have_their_frequency_ratios(keywords: PlantedTexts) -> None:
    """For all themes together, and for the words that the target avoids."""
    target, reference = counts(keywords, "target"), counts(keywords, "reference")
    sizes = target.total(), reference.total()
    for kind, (least, most) in TIMES.items():
        words = [word for word, its in keywords.kinds.items() if its == kind]
        share = [
            sum(each[word] for word in words) / n
            for each, n in zip((target, reference), sizes, strict=True)
        ]
        assert 0.8 * least < share[0] / share[1] < most


def test_names_occur_in_one_document(keywords: PlantedTexts) -> None:
    for name in ("target", "reference"):
        names = [word for word, kind in keywords.kinds.items() if kind == f"{name} name"]
        documents = Counter(
            word
            for document in keywords.documents[name]
            for word in {*document}
            if word in {*names}
        )
        assert len(names) == 80
        assert set(documents.values()) == {1}
        other = counts(keywords, "reference" if name == "target" else "target")
        assert not [word for word in names if word in other]


def test_most_words_have_no_special_kind(keywords: PlantedTexts) -> None:
    kinds = Counter(keywords.kinds.values())
    assert kinds["theme"] == 60
    assert kinds[PLAIN] > 4_000


TAGGINGS = ("context", "memory", "sampler-1", "sampler-2", "sampler-3")


@pytest.fixture(scope="module")
def text() -> list[list[Token]]:
    return corpus(make_taggings.SEED)


@pytest.fixture(scope="module")
def taggings(text: list[list[Token]]) -> dict[str, str]:
    return make_taggings.files(text, make_taggings.SEED)


def test_taggings_are_reproducible(taggings: dict[str, str]) -> None:
    whole = "".join(f"{name}\n{taggings[name]}" for name in sorted(taggings))
    digest = hashlib.sha256(whole.encode()).hexdigest()
    assert (len(taggings), digest[:16]) == (8, "0c9ce354c3109d86")


def test_all_files_have_the_same_tokens(text: list[list[Token]], taggings: dict[str, str]) -> None:
    forms = [[token.form for token in sentence] for sentence in text]
    blocks = taggings["corpus.conllu"].removesuffix("\n\n").split("\n\n")
    gold = [[line.split("\t") for line in block.split("\n")[1:]] for block in blocks]
    assert [[row[1] for row in sentence] for sentence in gold] == forms
    assert [[row[3] for row in sentence] for sentence in gold] == [
        [token.tag for token in sentence] for sentence in text
    ]
    for name in TAGGINGS:
        content = taggings[f"{name}.tsv"].removeprefix("form\ttag\n").removesuffix("\n")
        sentences = [
            [line.split("\t") for line in part.split("\n")] for part in content.split("\n\n")
        ]
        assert [[row[0] for row in sentence] for sentence in sentences] == forms
        assert all(row[1] for sentence in sentences for row in sentence)


def test_dictionaries_contain_every_type_once(
    text: list[list[Token]], taggings: dict[str, str]
) -> None:
    counts = taggers.frequencies(text)
    rows = [line.split("\t") for line in taggings["tree.paths"].splitlines()]
    assert {row[1]: int(row[2]) for row in rows} == counts
    assert len(rows) == len(counts)
    words = [line for line in taggings["endings.blocks"].split("\n") if line]
    assert sorted(words) == sorted(counts)
    blocks = taggings["endings.blocks"].strip("\n").split("\n\n")
    assert len(blocks) == 1 + sum(len(endings) for endings in ENDINGS.values())


def test_words_are_polysemous(text: list[list[Token]]) -> None:
    classes: dict[str, set[str]] = defaultdict(set)
    for sentence in text:
        for token in sentence:
            classes[token.form].add(token.tag)
    share = sum(len(tags) > 1 for tags in classes.values()) / len(classes)
    assert 0.1 < share < 0.3
    assert {len(tags) for tags in classes.values()} >= {1, 2, 3}


def test_the_memory_tagger_gives_a_type_one_tag(text: list[list[Token]]) -> None:
    tags_of_types: dict[str, set[str]] = defaultdict(set)
    tagged = taggers.consistent("memory", text, taggers.random_source(make_taggings.SEED, "memory"))
    for sentence, tags in zip(text, tagged, strict=True):
        for token, tag in zip(sentence, tags, strict=True):
            tags_of_types[token.form].add(tag)
    assert {len(known_tags) for known_tags in tags_of_types.values()} == {1}


# Tables of public files

COMPOUNDS = "academy award,1,1,1,1\nair force,0,1,1,0\n"


def test_public_files_are_converted(tmp_path: Path) -> None:
    (tmp_path / "noun-compounds").mkdir()
    (tmp_path / "noun-compounds" / "nonComp-judgments.csv").write_text(COMPOUNDS)
    paths = convert_public.convert(tmp_path, tmp_path / "made")
    lines = {path.name: path.read_text().splitlines() for path in paths}
    assert lines == {
        "noncompositional.tsv": [
            "l1\tl2\tjudge_1\tjudge_2\tjudge_3\tjudge_4",
            "academy\taward\t1\t1\t1\t1",
            "air\tforce\t0\t1\t1\t0",
        ],
    }


def test_a_folder_without_files_to_convert_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["convert_public.py", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"has no file to convert, of noun-compounds/.*README"):
        convert_public.main()
