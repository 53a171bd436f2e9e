"""Clusters and lexicons from files: the same as the experiments that are written by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import lexassay as lx
from pipeline.cli.main import main
from pipeline.errors import ConfigError
from pipeline.recipes.evaluation import clusters, lexicon

STARTERS = Path(__file__).parents[2] / "pipeline" / "cli" / "starters"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    shutil.copytree(STARTERS / "clustering", tmp_path / "clustering")
    shutil.copytree(STARTERS / "lexicon", tmp_path / "lexicon")
    return tmp_path


@pytest.mark.long
def test_a_corpus_and_two_systems(files: Path) -> None:
    here = files / "clustering"
    by_hand = lx.run(here / "experiment.toml", runs=files / "runs", report=False)
    run = clusters(
        here / "corpus.conllu", here / "tree.paths", exclude=["PUNCT"], prefix=3,
        runs=files / "cache", report=False,
    )  # fmt: skip
    columns = ["measure", "mapping", "value"]
    expected = by_hand.table("types").filter(system="tree").select(columns)
    assert run.table("types").select(columns).rows() == expected.rows()
    tokens = by_hand.table("tokens").filter(system="tree").select("measure", "value")
    assert run.table("tokens").select("measure", "value").rows() == tokens.rows()


@pytest.mark.long
def test_a_table_of_classes_and_a_tagging(files: Path) -> None:
    here = files / "clustering"
    run = clusters(here / "tags.tsv", here / "tree.paths", runs=files / "cache", report=False)
    assert set(run.table("types")["system"]) == {"tree"}
    induced = here / "induced.conllu"
    text = (here / "corpus.conllu").read_text().replace("NOUN", "N1").replace("VERB", "V2")
    induced.write_text(text)
    run = clusters(here / "corpus.conllu", induced, runs=files / "cache", report=False)
    (accuracy,) = run.table("tokens").filter(measure="one_to_one")["value"]
    assert accuracy == 1.0
    with pytest.raises(ConfigError, match="is a tagged corpus, but the gold standard"):
        clusters(here / "tags.tsv", induced, runs=files / "cache")


def test_a_word_in_two_clusters_has_no_measures_of_tokens(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "gold.csv").write_text("word,class,freq\na,N,3\nb,V,2\n")
    (files / "mine.csv").write_text("word,cluster\na,1\na,2\nb,2\n")
    words = ["clusters", str(files / "gold.csv"), str(files / "mine.csv"), "--no-report"]
    assert main([*words, "--runs", str(files / "r")]) == 0
    said = capsys.readouterr().out
    assert "MacroI 1-1" in said
    assert "no measures of tokens" in said


def test_systems_of_one_name_are_told_apart(files: Path) -> None:
    (files / "gold.csv").write_text("word,class\na,N\nb,V\n")
    for folder in ("one", "two"):
        (files / folder).mkdir()
        (files / folder / "gold.csv").write_text("word,cluster\na,1\nb,2\n")
    paths = [files / folder / "gold.csv" for folder in ("one", "two")]
    run = clusters(files / "gold.csv", *paths, runs=files / "r", report=False)
    assert set(run.table("types")["system"]) == {"gold_2", "gold_3"}


def test_a_lexicon_by_two_dictionaries(files: Path) -> None:
    (files / "gold.csv").write_text("headword,form\ngo,go\ngo,goes\ngo,went\nbe,be\n")
    (files / "more.csv").write_text("lemma,word\nbe,is\n")
    (files / "mine.csv").write_text("lemma,form\ngo,go\ngo,goed\nbe,be\nbe,is\n")
    run = lexicon(
        [files / "gold.csv", files / "more.csv"], files / "mine.csv", runs=files / "r", report=False
    )
    quality = dict(run.table("quality").select("statistic", "value").rows())
    # go: 1 of 2 and 1 of 3, L = .4, 3 forms; be: L = 1, 2 forms.
    assert quality["L*"] == pytest.approx((3 * 0.4 + 2 * 1) / 5, abs=1e-12)
    only = lexicon(files / "gold.csv", files / "mine.csv", size=1, runs=files / "r", report=False)
    assert only.table("quality.lemmas").height == 1


def test_names_of_columns_are_those_of_the_files_that_have_them(files: Path) -> None:
    (files / "gold.csv").write_text("Stichwort,Form\ngo,go\ngo,goes\n")
    (files / "mine.csv").write_text("lemma,form\ngo,go\n")
    names = {"lemma": "Stichwort", "form": "Form"}
    given = files / "gold.csv", files / "mine.csv"
    run = lexicon(*given, columns=names, runs=files / "r", report=False)
    assert run.table("quality.lemmas")["n_gold"].to_list() == [2]
    with pytest.raises(ConfigError, match="no file has a column 'Stichwrt'.*Stichwort"):
        lexicon(*given, columns={"lemma": "Stichwrt"}, runs=files / "r", report=False)


def test_the_command_shows_the_lemmas_that_cost_most(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "gold.csv").write_text("lemma,form\ngo,go\ngo,goes\nbe,be\n")
    (files / "mine.csv").write_text("lemma,form\ngo,go\nbe,be\n")
    words = ["lexicon", str(files / "gold.csv"), str(files / "mine.csv"), "--no-report"]
    assert main([*words, "--runs", str(files / "r")]) == 0
    said = capsys.readouterr().out
    assert "L*" in said
    assert said.index("go ") < said.rindex("be ")
    assert main([*words, "--rate", "0.5", "--size", "1"]) == 2
    assert "give one of the two" in capsys.readouterr().err
