"""Keywords from two files."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cli.main import main
from pipeline.errors import ConfigError, DataError
from pipeline.recipes.collocations import keywords
from tests.recipes.corpora import SENTENCES, TEXT, conllu

OTHER = "The river was wide. The old man crossed the river and saw a barn.\n" * 3


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "b.txt").write_text(OTHER)
    return tmp_path


def test_words_are_counted_in_both(texts: Path) -> None:
    found = keywords(texts / "a.txt", texts / "b.txt", min_frequency=1, top=None, runs=texts / "r")
    counts = {
        word: (f, other) for word, f, other in found.select("keyword", "f", "f_reference").rows()
    }
    assert counts["house"] == (5, 0)
    assert counts["river"] == (1, 6)
    assert counts["the"] == (7, 9)
    assert "." not in counts
    assert found["keyness_ll"].is_sorted(descending=True)
    (million,) = found.filter(keyword="house")["per_million"]
    assert million == pytest.approx(5e6 / sum(len(each.split()) for each in SENTENCES))


def test_a_frequency_list_is_a_reference(texts: Path) -> None:
    (texts / "list.csv").write_text("Word,Freq\nthe,9\nriver,6\nHouse,1\n")
    whole = keywords(
        texts / "a.txt", texts / "list.csv", min_frequency=1, top=None, runs=texts / "r"
    )
    counts = dict(whole.select("keyword", "f_reference").rows())
    assert counts["house"] == 1
    assert counts["the"] == 9


def test_lemmas_count_where_both_have_them(texts: Path) -> None:
    (texts / "c.conllu").write_text(conllu())
    found = keywords(
        texts / "c.conllu", texts / "a.txt", min_frequency=1, top=None, runs=texts / "r"
    )
    assert "houses" in found["keyword"].to_list()
    (texts / "d.conllu").write_text(conllu(2))
    found = keywords(texts / "c.conllu", texts / "d.conllu", min_frequency=1, runs=texts / "r")
    assert "house" in found["keyword"].to_list()
    with pytest.raises(ConfigError, match="no token of .*a.txt has 'lemma'"):
        keywords(texts / "c.conllu", texts / "a.txt", attribute="lemma", runs=texts / "r")


def test_the_command_prints_a_table(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["keywords", str(texts / "a.txt"), str(texts / "b.txt"), "--runs", str(texts / "r")]
    assert main([*words, "--top", "2", "--format", "tsv"]) == 0
    head, *lines = capsys.readouterr().out.lstrip("\ufeff").splitlines()
    assert head.split("\t")[:3] == ["keyword", "f", "f_reference"]
    assert len(lines) == 2
    with pytest.raises(DataError, match="no word of .* occurs 99 times"):
        keywords(texts / "a.txt", texts / "b.txt", min_frequency=99, runs=texts / "r")
