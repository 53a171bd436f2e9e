"""The invented taggings: repeatable, aligned, and with what README.md says is planted."""

from __future__ import annotations

import hashlib
from collections import defaultdict

import pytest
import taggers
from make_taggings import SEED, corpus, files
from tagged_text import ENDINGS, Token

TAGGINGS = ("context", "memory", "sampler-1", "sampler-2", "sampler-3")


@pytest.fixture(scope="module")
def text() -> list[list[Token]]:
    return corpus(SEED)


@pytest.fixture(scope="module")
def made(text: list[list[Token]]) -> dict[str, str]:
    return files(text, SEED)


def test_the_bytes_are_always_the_same(made: dict[str, str]) -> None:
    whole = "".join(f"{name}\n{made[name]}" for name in sorted(made))
    digest = hashlib.sha256(whole.encode()).hexdigest()
    assert (len(made), digest[:16]) == (8, "0c9ce354c3109d86")


def test_all_files_have_the_same_tokens(text: list[list[Token]], made: dict[str, str]) -> None:
    forms = [[token.form for token in sentence] for sentence in text]
    blocks = made["corpus.conllu"].removesuffix("\n\n").split("\n\n")
    gold = [[line.split("\t") for line in block.split("\n")[1:]] for block in blocks]
    assert [[row[1] for row in sentence] for sentence in gold] == forms
    assert [[row[3] for row in sentence] for sentence in gold] == [
        [token.tag for token in sentence] for sentence in text
    ]
    for name in TAGGINGS:
        content = made[f"{name}.tsv"].removeprefix("form\ttag\n").removesuffix("\n")
        held = [[line.split("\t") for line in part.split("\n")] for part in content.split("\n\n")]
        assert [[row[0] for row in sentence] for sentence in held] == forms
        assert all(row[1] for sentence in held for row in sentence)


def test_dictionaries_have_every_type_once(text: list[list[Token]], made: dict[str, str]) -> None:
    counts = taggers.frequencies(text)
    rows = [line.split("\t") for line in made["tree.paths"].splitlines()]
    assert {row[1]: int(row[2]) for row in rows} == counts
    assert len(rows) == len(counts)
    words = [line for line in made["endings.blocks"].split("\n") if line]
    assert sorted(words) == sorted(counts)
    blocks = made["endings.blocks"].strip("\n").split("\n\n")
    assert len(blocks) == 1 + sum(len(endings) for endings in ENDINGS.values())


def test_words_are_polysemous(text: list[list[Token]]) -> None:
    classes: dict[str, set[str]] = defaultdict(set)
    for sentence in text:
        for token in sentence:
            classes[token.form].add(token.tag)
    share = sum(len(held) > 1 for held in classes.values()) / len(classes)
    assert 0.1 < share < 0.3
    assert {len(held) for held in classes.values()} >= {1, 2, 3}


def test_memory_gives_a_type_one_tag(text: list[list[Token]]) -> None:
    found: dict[str, set[str]] = defaultdict(set)
    tagged = taggers.consistent("memory", text, taggers.seeded(SEED, "memory"))
    for sentence, tags in zip(text, tagged, strict=True):
        for token, tag in zip(sentence, tags, strict=True):
            found[token.form].add(tag)
    assert {len(held) for held in found.values()} == {1}
