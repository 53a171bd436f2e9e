from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from tests.remarks.listening import hear

PAIRS = """
name = "own"
[stages.pairs]
use = "extract.pairs"
corpus = "own.conllu"
left = {{ where = "upos = 'VERB'" }}
right = {{ where = "upos = '{noun}'" }}
relation = "dependency"
dependency = {{ label = "{relation}" }}
min_frequency = {least}
[stages.scores]
use = "score.association"
candidates = "pairs.candidates"
"""
SENTENCE = "1\tgive\tgive\tVERB\t_\t_\t0\troot\t_\t_\n2\tway\tway\tNOUN\t_\t_\t1\tobj\t_\t_\n\n"


def sizes(**counts: int) -> dict[str, pl.DataFrame]:
    return {"corpus": pl.DataFrame(list(counts.items()), schema=["what", "count"], orient="row")}


def warned(folder: Path, *, relation: str = "obj", noun: str = "NOUN", least: int = 1) -> list[str]:
    (folder / "own.conllu").write_text(SENTENCE * 3)
    config = folder / "own.toml"
    config.write_text(PAIRS.format(relation=relation, noun=noun, least=least))
    run = lx.run(config, runs=folder / "runs", report=False)
    return [str(each) for each in run.remarks.get("pairs", ()) if each.check == "no_candidates"]


def test_a_relation_that_the_corpus_has_not(tmp_path: Path) -> None:
    (told,) = warned(tmp_path, relation="dobj")
    assert told.startswith("warning: there are no candidates: no token has deprel 'dobj', but ")
    assert "root, obj" in told or "obj, root" in told
    assert "dependency.label: did you mean obj?" in told


def test_a_tag_that_the_corpus_has_not(tmp_path: Path) -> None:
    (told,) = warned(tmp_path, noun="NN")
    assert "no token has upos 'NN', but NOUN, VERB" in told or "but VERB, NOUN" in told
    assert "right.where" in told


def test_a_threshold_that_is_too_high(tmp_path: Path) -> None:
    (told,) = warned(tmp_path, least=4)
    assert "lower min_frequency, which is 4" in told


def test_candidates_are_no_reason_to_warn(tmp_path: Path) -> None:
    assert not warned(tmp_path, least=3)


@pytest.mark.parametrize(("unit", "level"), [("sentence", "info"), ("document", "warning")])
def test_one_document_matters_most_where_documents_are_counted(unit: str, level: str) -> None:
    (told,) = hear(
        "one_document", outputs=sizes(tokens=900, documents=1, sentences=50), text_unit=unit
    )
    assert told.level == level
    several = sizes(tokens=900, documents=2, sentences=50)
    assert not hear("one_document", outputs=several, text_unit=unit)


@pytest.mark.parametrize(("length", "heard"), [(999, False), (1000, True), (2500, True)])
def test_a_sentence_of_a_thousand_tokens(tmp_path: Path, length: int, heard: bool) -> None:
    rows = [f"{i}\tx\tx\tNOUN\t_\t_\t{i - 1}\tdep\t_\t_" for i in range(3, length + 1)]
    (tmp_path / "own.conllu").write_text(SENTENCE * 40 + SENTENCE[:-1] + "\n".join(rows) + "\n\n")
    config = tmp_path / "own.toml"
    config.write_text(PAIRS.format(relation="obj", noun="NOUN", least=1))
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    told = [each for each in run.remarks["pairs"] if each.check == "endless_sentences"]
    assert bool(told) == heard
    if told:
        assert told[0].numbers == {"sentences": 1}


def test_a_text_that_is_not_cut_into_sentences() -> None:
    (told,) = hear("long_sentences", outputs=sizes(tokens=3000, sentences=3))
    assert "3,000 tokens in 3 sentence(s), 1,000 in one on average" in told.text
    assert not hear("long_sentences", outputs=sizes(tokens=3000, sentences=100))
    assert not hear("long_sentences", outputs=sizes(tokens=0, sentences=0))
