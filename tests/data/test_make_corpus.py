""""""

from __future__ import annotations

import doctest
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TypeAlias

import clauses
import dependency_trees
import make_candidates
import make_corpus
import polars as pl
import pytest
import speaker
from clauses import Clause
from dependency_trees import Node, Word, conllu, text, words
from make_corpus import MIN_FREQUENCY, SEED, Corpus, corpus, files
from simulation import Kind, Simulation, simulate

import pipeline as lx
from pipeline.kernels.cooccurrence.pairs import count, marginals, pair_tokens
from pipeline.kernels.cooccurrence.tokens import RelatedToken, Unit, number_tokens


def kind(name: str) -> Kind:
    return Kind(name, 1, (0, 1), (0, 1), 1, 9, 1.0, collocation=True)


def test_clauses_agree_with_those_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clauses, "BARE", 0.25)
    tokens = [("in:a", "x")] * 3 + [("on:b", "x")] * 2 + [("on:b", "y")]
    planted = {("in:a", "x"): kind("figurative")}
    result = clauses.clauses(Simulation(tokens, planted), lambda: 0.5)
    # y is not used with on:b, which occurs once and was not planted; no clause repeats a phrase;
    # a quarter of the four clauses is added, with the verb in the middle of the tokens
    assert result == [
        Clause("x", ("in:a",)),
        Clause("x", ("in:a",)),
        Clause("x", ("in:a", "on:b")),
        Clause("x", ("on:b",)),
        Clause("x", ()),
    ]


def test_clauses_contain_the_pairs_of_the_simulation() -> None:
    simulation = simulate(SEED)
    result = clauses.clauses(simulation, random.Random("any").random)
    pairs = Counter((unit, clause.verb) for clause in result for unit in clause.phrases)
    tokens = Counter(simulation.tokens)
    assert pairs <= tokens
    assert all(pair in simulation.planted or tokens[pair] >= clauses.REPEATED for pair in pairs)
    planted = [sum(each[pair] for pair in simulation.planted) for each in (pairs, tokens)]
    assert planted[0] / planted[1] == pytest.approx(clauses.PLANTED, abs=0.02)
    assert {len(clause.phrases) for clause in result} == {0, 1, 2, 3}
    assert all(len(set(clause.phrases)) == len(clause.phrases) for clause in result)


def test_topical_pairs_are_in_neighbouring_clauses() -> None:
    planted = {("in:a", "x"): kind(clauses.TOPICAL), ("in:b", "y"): kind("habitual")}
    simulation = Simulation([("in:a", "x"), ("in:b", "y")] * 200, planted)
    result = clauses.clauses(simulation, random.Random("any").random)
    places = [place for place, clause in enumerate(result) if "in:a" in clause.phrases]
    others = [place for place, clause in enumerate(result) if "in:b" in clause.phrases]
    assert places[-1] - places[0] < 1.1 * len(places)
    assert others[-1] - others[0] > 0.9 * len(result)


def test_a_sentence_agrees_with_that_by_hand() -> None:
    the = Node("the", "the", "DET", "det")
    inside = Node("in", "in", "ADP", "case", contracted="inth")
    place = Node("fronds", "frond", "NOUN", "obl", "Number=Plur", before=[inside, the])
    subject = Node("it", "it", "PRON", "nsubj")
    stop = Node(".", ".", "PUNCT", "punct")
    root = Node("sat", "sit", "VERB", "root", before=[place, subject], after=[stop])
    assert conllu(words(root), sent_id="d-1") == (
        "# sent_id = d-1\n"
        "# text = Inth fronds it sat.\n"
        "1-2\tInth\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tIn\tin\tADP\t_\t_\t3\tcase\t_\t_\n"
        "2\tthe\tthe\tDET\t_\t_\t3\tdet\t_\t_\n"
        "3\tfronds\tfrond\tNOUN\t_\tNumber=Plur\t5\tobl\t_\t_\n"
        "4\tit\tit\tPRON\t_\t_\t5\tnsubj\t_\t_\n"
        "5\tsat\tsit\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
        "6\t.\t.\tPUNCT\t_\t_\t5\tpunct\t_\t_\n"
        "\n"
    )


def test_spaces_follow_punctuation_and_do_not_precede_it() -> None:
    comma, stop = (Node(sign, sign, "PUNCT", "punct") for sign in ",.")
    second = Node("left", "leave", "VERB", "conj", before=[comma])
    root = Node("came", "come", "VERB", "root", after=[second, stop])
    assert text(words(root)) == "Came, left."
    assert [word.head for word in words(root)] == [0, 3, 1, 1]


def test_examples_in_docstrings_are_right() -> None:
    for module in (dependency_trees, speaker):
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0


Rows: TypeAlias = list[list[str]]
"""The lines of a sentence as fields, including ranges."""

SHARDS = [f"pp-verb-{number}.conllu" for number in (1, 2, 3, 4)]
LABELS = "pp-verb.labels.tsv"
SMALL = 600


@pytest.fixture(scope="module")
def small() -> Corpus:
    return corpus(SEED, n_sentences=SMALL)


@pytest.fixture(scope="module")
def whole() -> Corpus:
    return corpus(SEED)


def sentences(conllu_text: str) -> Iterator[tuple[dict[str, str], Rows]]:
    """Read CoNLL-U: comments by name, and rows."""
    assert conllu_text.endswith("\n\n")
    for block in conllu_text.removesuffix("\n\n").split("\n\n"):
        comments, rows = {}, []
        for line in block.split("\n"):
            if line.startswith("# "):
                name, value = line.removeprefix("# ").split(" = ")
                assert name not in comments
                comments[name] = value
            else:
                rows.append(line.split("\t"))
        yield comments, rows


def read(generated: Corpus) -> list[tuple[dict[str, str], Rows]]:
    files_ = files(generated)
    return [each for shard in SHARDS for each in sentences(files_[shard])]


def is_range(row: list[str]) -> bool:
    return "-" in row[0]


def as_pairs(rows: Rows) -> Iterator[tuple[str, str]]:
    """Pair each noun that has a preposition with each verb, slowly."""
    plain = [row for row in rows if not is_range(row)]
    for noun in plain:
        cases = [row[2] for row in plain if row[6] == noun[0] and row[7] == "case"]
        if noun[3] == "NOUN" and cases:
            yield from ((f"{cases[0]}:{noun[2]}", row[2]) for row in plain if row[3] == "VERB")


def test_every_tree_is_well_formed(small: Corpus) -> None:
    for _, rows in read(small):
        assert all(len(row) == 10 and all(row) for row in rows)
        plain = [row for row in rows if not is_range(row)]
        assert [row[0] for row in plain] == [str(i) for i in range(1, len(plain) + 1)]
        heads = {int(row[0]): int(row[6]) for row in plain}
        assert [row[6] for row in plain if row[7] == "root"] == ["0"]
        assert list(heads.values()).count(0) == 1
        above = set(heads)
        for _ in plain:
            above = {heads[place] for place in above if place}
        assert above <= {0}, "a cycle"


def test_ranges_are_contracted_prepositions_and_articles(small: Corpus) -> None:
    forms: Counter[str] = Counter()
    for _, rows in read(small):
        for place, row in enumerate(rows):
            if is_range(row):
                first, second = rows[place + 1], rows[place + 2]
                assert row[0] == f"{first[0]}-{second[0]}"
                assert row[2:] == ["_"] * 8
                assert speaker.CONTRACTIONS[first[1].lower()] == row[1].lower()
                assert (second[1], first[7], second[7]) == ("the", "case", "det")
                forms[row[1].lower()] += 1
    assert set(forms) == set(speaker.CONTRACTIONS.values())


def test_texts_are_those_of_the_tokens(small: Corpus) -> None:
    for comments, rows in read(small):
        within = {place for row in rows if is_range(row) for place in row[0].split("-")}
        joined = "".join(
            row[1] + ("" if row[9] == "SpaceAfter=No" else " ")
            for row in rows
            if row[0] not in within
        )
        assert joined == comments["text"] + " "
        assert comments["text"][0].isupper()
        assert " ," not in comments["text"]


def test_tags_and_relations_follow_universal_dependencies(small: Corpus) -> None:
    plain = [row for _, rows in read(small) for row in rows if not is_range(row)]
    tags: defaultdict[str, set[str]] = defaultdict(set)
    for row in plain:
        tags[row[7]].add(row[3])
    assert tags == {
        "root": {"VERB", "NOUN"}, "conj": {"VERB", "NOUN"}, "nsubj": {"NOUN", "PRON"},
        "obj": {"NOUN"}, "obl": {"NOUN", "PRON"}, "nmod": {"NOUN"}, "case": {"ADP"},
        "compound:prt": {"ADP"}, "det": {"DET"}, "amod": {"ADJ"}, "advmod": {"ADV"},
        "cc": {"CCONJ"}, "punct": {"PUNCT"},
    }  # fmt: skip


def test_documents_and_sentences_have_distinct_names(small: Corpus) -> None:
    shards = files(small)
    assert list(shards) == [*SHARDS, LABELS]
    assert all(shards[shard].startswith("# newdoc id = ") for shard in SHARDS)
    comments = [comment for comment, _ in read(small)]
    documents = [each["newdoc id"] for each in comments if "newdoc id" in each]
    assert len(set(documents)) == len(documents) == len(small.documents)
    names = [each["sent_id"] for each in comments]
    assert len(set(names)) == len(names) == SMALL


def test_labels_follow_the_planted_pairs(small: Corpus) -> None:
    joint = Counter(pair for _, rows in read(small) for pair in as_pairs(rows))
    names = {"support_verb": "SVC", "figurative": "figurative"}
    expected = [
        f"{l1}\t{l2}\t{names.get(small.planted[l1, l2].name if (l1, l2) in small.planted else '', 'free')}"
        for l1, l2 in sorted(pair for pair, f in joint.items() if f >= MIN_FREQUENCY)
    ]
    assert files(small)[LABELS].split("\n") == ["l1\tl2\tlabel", *expected, ""]
    assert {line.split("\t")[2] for line in expected} == {"SVC", "figurative", "free"}


def test_counts_are_those_of_the_kernel(small: Corpus) -> None:
    everything = read(small)
    columns = ["file", "sentence", "position", "head", "lemma", "upos", "deprel"]
    rows = [
        ("f", number, int(row[0]), int(row[6]), row[2], row[3], row[7])
        for number, (_, tokens) in enumerate(everything)
        for row in tokens
        if not is_range(row)
    ]
    preposition = RelatedToken(pl.col("deprel") == "case")
    left = Unit(pl.col("upos") == "NOUN", "{prep.lemma}:{lemma}", {"prep": preposition})
    right = Unit(pl.col("upos") == "VERB", "{lemma}")
    frame = pl.LazyFrame(rows, schema=columns, orient="row")
    counted = marginals(
        count(pair_tokens(number_tokens(frame), left=left, right=right, relation=None))
    ).collect()
    joint = Counter(pair for _, tokens in everything for pair in as_pairs(tokens))
    first, second = Counter[str](), Counter[str]()
    for (l1, l2), f in joint.items():
        first[l1] += f
        second[l2] += f
    expected = {(l1, l2, f, first[l1], second[l2], joint.total()) for (l1, l2), f in joint.items()}
    assert set(counted.select("l1", "l2", "f", "f1", "f2", "N").iter_rows()) == expected
    assert counted.height == len(expected)


def test_pairs_agree_with_those_by_hand() -> None:
    # two prepositions: the first counts; a noun without one is no phrase; every verb pairs
    sentence = [
        Word("from", "from", "ADP", "_", 3, "case", ""),
        Word("under", "under", "ADP", "_", 3, "case", ""),
        Word("beds", "bed", "NOUN", "_", 5, "obl", ""),
        Word("cats", "cat", "NOUN", "_", 5, "nsubj", ""),
        Word("ran", "run", "VERB", "_", 0, "root", ""),
        Word("fled", "flee", "VERB", "_", 5, "conj", ""),
        Word("with", "with", "ADP", "_", 8, "case", ""),
        Word("us", "we", "PRON", "_", 6, "obl", ""),
    ]
    pairs = list(make_corpus.pairs(sentence))
    assert pairs == [("from:bed", "run"), ("from:bed", "flee")]


def test_labels_agree_with_those_by_hand() -> None:
    phrase = [
        Word("in", "in", "ADP", "_", 2, "case", ""),
        Word("a", "a", "NOUN", "_", 3, "obl", ""),
    ]
    x, y = (Word(verb, verb, "VERB", "_", 0, "root", "") for verb in "xy")
    kind = Kind("support_verb", 1, (0, 1), (0, 1), 1, 9, 1.0, collocation=True)
    documents = [[[*phrase, x]] * 2, [[*phrase, x], *[[*phrase, y]] * 2]]
    assert make_corpus.labels(Corpus(documents, {("in:a", "x"): kind, ("in:a", "y"): kind})) == (
        "l1\tl2\tlabel\nin:a\tx\tSVC\n"
    )


def test_only_collocations_have_a_fixed_form(whole: Corpus) -> None:
    forms: dict[bool, set[tuple[str, ...]]] = {True: set(), False: set()}
    for document in whole.documents:
        for sentence in document:
            for number, noun in enumerate(sentence, start=1):
                if noun.deprel == "obl" and noun.upos == "NOUN":
                    dependents = [each for each in sentence if each.head == number]
                    unit = f"{dependents[0].lemma}:{noun.lemma}"
                    kind = whole.planted.get((unit, sentence[noun.head - 1].lemma))
                    fixed = kind is not None and kind.collocation
                    forms[fixed].add((noun.feats, *(each.deprel for each in dependents)))
    assert forms[True] == {("Number=Sing", "case")}
    assert forms[False] >= {("Number=Plur", "case", "det"), ("Number=Sing", "case", "det", "amod")}


def test_topical_pairs_occur_in_few_documents(whole: Corpus) -> None:
    frequency, places = Counter[tuple[str, str]](), defaultdict(set)
    for number, document in enumerate(whole.documents):
        for pair in (pair for sentence in document for pair in make_corpus.pairs(sentence)):
            frequency[pair] += 1
            places[pair].add(number)
    spread: defaultdict[str, list[float]] = defaultdict(list)
    for pair, kind in whole.planted.items():
        if frequency[pair] >= 5:
            spread[kind.name].append(len(places[pair]) / frequency[pair])
    mean = {name: sum(values) / len(values) for name, values in spread.items()}
    assert mean.pop("exclusive") < 0.5
    assert min(mean.values()) > 0.8


def test_the_corpus_has_the_numbers_of_the_readme(whole: Corpus) -> None:
    everything = [sentence for document in whole.documents for sentence in document]
    assert make_candidates.SEED == SEED
    assert len(whole.documents) == 333
    assert len(everything) == 12_439
    words = [word for sentence in everything for word in sentence]
    assert len(words) == 175_005
    assert sum(bool(word.contracted) for word in words) == 2_045
    assert Counter((word.upos, word.deprel) for word in words)["NOUN", "obl"] == 26_092
    clauses = Counter(sum(word.upos == "VERB" for word in sentence) for sentence in everything)
    assert clauses == {0: 373, 1: 6_645, 2: 5_421}


def test_precisions_are_those_of_the_readme(whole: Corpus) -> None:
    tokens = [
        pair
        for document in whole.documents
        for sentence in document
        for pair in make_corpus.pairs(sentence)
    ]
    pairs = pl.LazyFrame(tokens, schema=["l1", "l2"], orient="row")
    candidates = marginals(count(pairs)).filter(pl.col("f") >= MIN_FREQUENCY).collect()
    labels = pl.read_csv(files(whole)[LABELS].encode(), separator="\t", quote_char=None)
    counts = dict(labels["label"].value_counts().iter_rows())
    assert counts == {"SVC": 256, "figurative": 109, "free": 3_669}
    names = ["frequency", "t_score", "log_likelihood", "chi_squared", "mi", "dice"]
    scored = lx.score(candidates, measures=names).join(labels, on=["l1", "l2"], validate="1:1")
    assert scored.height == candidates.height == labels.height
    assert (len(tokens), scored.height) == (49_109, 4_034)
    assert {name: _per_cent(scored, name) for name in names} == {
        "t_score": [51.0, 34.8, 26.0, 16.55],
        "log_likelihood": [45.0, 33.2, 26.4, 16.55],
        "frequency": [39.0, 21.2, 18.0, 13.5],
        "chi_squared": [17.0, 26.0, 25.6, 16.5],
        "dice": [16.0, 21.2, 15.5, 11.35],
        "mi": [11.0, 19.0, 23.7, 16.6],
    }


def _per_cent(scored: pl.DataFrame, name: str) -> list[float]:
    best = scored.sort(name, "l1", "l2", descending=[True, False, False])["label"] != "free"
    return [round(float(100 * best.head(n).sum() / n), 2) for n in (100, 500, 1000, 2000)]
