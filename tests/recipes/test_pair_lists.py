"""Candidates from files alone."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from pipeline.cli.main import main
from pipeline.errors import DataError
from pipeline.recipes.collocations import candidates
from tests.recipes.corpora import SENTENCES, TEXT, conllu


def test_neighbours_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    found = candidates(tmp_path / "a.txt", min_frequency=1, runs=tmp_path / "r")
    # A comma or semicolon stands between the words of which only one sentence is made here.
    apart = {("house", "and"), ("old", "the"), ("house", "the")}
    slow = Counter(pair for sentence in SENTENCES for pair in pairwise(sentence.split()))
    slow = Counter({pair: count for pair, count in slow.items() if pair not in apart})
    assert {(l1, l2): f for l1, l2, f in found.select("l1", "l2", "f").rows()} == slow


def test_a_dependency_has_its_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.conllu").write_text(conllu())
    words = ["candidates", str(tmp_path / "a.conllu"), "--dependency", "obj", "--measure", "mi"]
    assert main([*words, "--format", "tsv", "--runs", str(tmp_path / "r")]) == 0
    head, *rows = capsys.readouterr().out.lstrip("\ufeff").splitlines()
    assert head.split("\t")[:6] == ["l1", "l2", "f", "f1", "f2", "N"]
    assert [row.split("\t")[:6] for row in rows] == [["build", "house", "3", "3", "3", "3"]]


def test_conditions_choose_the_words(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(conllu())
    found = candidates(
        tmp_path / "a.conllu", relation="sentence", left="upos = 'ADJ'", right="upos = 'NOUN'",
        runs=tmp_path / "r",
    )  # fmt: skip
    assert found.select("l1", "l2", "f").rows() == [("new", "house", 3)]
    with pytest.raises(DataError, match="no pair occurs at least 9 times"):
        candidates(tmp_path / "a.conllu", min_frequency=9, runs=tmp_path / "r")
