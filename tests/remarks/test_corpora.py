"""Checks of corpora and extraction: what each reports, and when it reports nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import ConfigError
from pipeline.stages.collocations.units import UnitOptions
from tests.remarks.run_check import run_check

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


def warnings_of(
    folder: Path, *, relation: str = "obj", noun: str = "NOUN", least: int = 1
) -> list[str]:
    (folder / "own.conllu").write_text(SENTENCE * 3)
    config = folder / "own.toml"
    config.write_text(PAIRS.format(relation=relation, noun=noun, least=least))
    run = lx.run(config, runs=folder / "runs", report=False)
    return [str(each) for each in run.remarks.get("pairs", ()) if each.check == "no_candidates"]


def test_a_relation_absent_from_the_corpus_is_reported(tmp_path: Path) -> None:
    (remark,) = warnings_of(tmp_path, relation="dobj")
    assert remark.startswith(
        "warning: there are no candidates: no token has deprel 'dobj' (values: "
    )
    assert "root, obj" in remark or "obj, root" in remark
    assert "dependency.label: did you mean obj?" in remark


def test_a_tag_absent_from_the_corpus_is_reported(tmp_path: Path) -> None:
    (remark,) = warnings_of(tmp_path, noun="NN")
    assert (
        "no token has upos 'NN' (values: NOUN, VERB)" in remark or "(values: VERB, NOUN)" in remark
    )
    assert "right.where" in remark


def test_a_misspelt_relation_of_several_is_reported(tmp_path: Path) -> None:
    (tmp_path / "own.conllu").write_text(SENTENCE * 3)
    for labels, expected in (('["obj", "obbj"]', 1), ('["obj", "vocative"]', 0), ('["obj"]', 0)):
        text = PAIRS.format(relation="obj", noun="NOUN", least=1).replace('"obj"', labels, 1)
        (tmp_path / "own.toml").write_text(text)
        run = lx.run(tmp_path / "own.toml", runs=tmp_path / "runs", report=False)
        remarks = [each for each in run.remarks.get("pairs", ()) if each.check == "misspelt_values"]
        assert len(remarks) == expected
        assert all("no token has deprel 'obbj'" in str(each) for each in remarks)


def test_a_threshold_that_is_too_high_is_reported(tmp_path: Path) -> None:
    (remark,) = warnings_of(tmp_path, least=4)
    assert "lower min_frequency (4)" in remark


def test_with_candidates_there_is_no_warning(tmp_path: Path) -> None:
    assert not warnings_of(tmp_path, least=3)


HALF = pl.DataFrame({"a": ["x", None], "b": [None, None], "c": ["y", "z"]}, strict=False)


@pytest.mark.parametrize(
    ("where", "label", "problems"),
    [
        ("b = 'x'", "{a}", ["left.where: no token has a value for b"]),
        ("b = 'x' OR d = 'y'", "{a}", ["left.where: no token has a value for b or d"]),
        ("true", "{b}", ["left.label: no token has a value for b"]),
        ("b IS NULL", "{a}", []),
        ("b = 'x' OR c = 'y'", "{a}", []),
        ("a = 'never'", "{a}", []),
    ],
)
def test_conditions_on_attributes_without_values_are_reported(
    where: str, label: str, problems: list[str]
) -> None:
    left = UnitOptions(where=where, label=label)
    tokens = HALF.with_columns(d=pl.lit(None, pl.String()))
    options: dict[str, Any] = {"tokens": tokens, "left": left, "units": (left,)}
    known: dict[str, Any] = {"filled": frozenset("ac")}
    name = "attributes_without_values"
    if not problems:
        assert not run_check(name, **options, **known)
        return
    with pytest.raises(ConfigError) as error:
        run_check(name, **options, **known)
    ends = "; attributes with values: a, c"
    two = [each.replace("left", "units.0") for each in problems]
    assert [str(each) for each in error.value.problems] == [each + ends for each in problems + two]
    assert not run_check(name, **options)
    assert not run_check(name, **{**options, "tokens": tokens.clear()}, **known)


@pytest.mark.parametrize("shard", ["1KB", "1GB"])
def test_an_attribute_may_have_values_in_one_file_only(shard: str, tmp_path: Path) -> None:
    """One value in the last file is enough."""
    config = tmp_path / "own.toml"
    content = PAIRS.format(relation="obj", noun="NOUN", least=1).replace("own.conllu", "*.conllu")
    content = content.replace("upos = 'VERB'", "newdoc = 'd'")
    config.write_text(f'{content}[run]\nshard = "{shard}"\n')
    for name in "abc":
        (tmp_path / f"{name}.conllu").write_text(SENTENCE * 20)
    with pytest.raises(ConfigError) as error:
        lx.run(config, runs=tmp_path / "runs", report=False)
    (problem,) = error.value.problems
    assert problem.where == "stages.pairs.left.where"
    assert problem.remedy == "attributes with values: form, lemma, upos, head, deprel"
    (tmp_path / "d.conllu").write_text(f"# newdoc id = d\n{SENTENCE}")
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    assert run.table("pairs").select("l1", "l2", "f").rows() == [("give", "way", 1)]


def test_a_table_read_as_text_is_reported() -> None:
    after = ["\t"] * 3 + [" "] * 7
    tokens = pl.DataFrame({"form": ["a"] * 10, "space_after": after})
    (remark,) = run_check("tabs_in_text", tokens=tokens)
    assert remark.text.startswith("a tab follows 3 of the first 10 tokens of the text")
    assert not run_check("tabs_in_text", tokens=tokens.tail(9))
    assert not run_check("tabs_in_text", tokens=tokens.drop("space_after"))
    assert not run_check("tabs_in_text", tokens=tokens.clear())


@pytest.mark.parametrize(("unit", "level"), [("sentence", "info"), ("document", "warning")])
def test_a_single_document_is_a_warning_if_documents_are_counted(unit: str, level: str) -> None:
    (remark,) = run_check(
        "one_document", outputs=sizes(tokens=900, documents=1, sentences=50), text_unit=unit
    )
    assert remark.level == level
    several = sizes(tokens=900, documents=2, sentences=50)
    assert not run_check("one_document", outputs=several, text_unit=unit)


@pytest.mark.parametrize(("length", "remarked"), [(999, False), (1000, True), (2500, True)])
def test_sentences_of_a_thousand_tokens_are_reported(
    tmp_path: Path, length: int, remarked: bool
) -> None:
    rows = [f"{i}\tx\tx\tNOUN\t_\t_\t{i - 1}\tdep\t_\t_" for i in range(3, length + 1)]
    (tmp_path / "own.conllu").write_text(SENTENCE * 40 + SENTENCE[:-1] + "\n".join(rows) + "\n\n")
    config = tmp_path / "own.toml"
    config.write_text(PAIRS.format(relation="obj", noun="NOUN", least=1))
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    remarks = [each for each in run.remarks["pairs"] if each.check == "endless_sentences"]
    assert bool(remarks) == remarked
    if remarks:
        assert remarks[0].numbers == {"sentences": 1}


def test_a_text_not_split_into_sentences_is_reported() -> None:
    (remark,) = run_check("long_sentences", outputs=sizes(tokens=3000, sentences=3))
    assert "3,000 tokens in 3 sentences, on average 1,000 per sentence" in remark.text
    assert not run_check("long_sentences", outputs=sizes(tokens=3000, sentences=100))
    assert not run_check("long_sentences", outputs=sizes(tokens=0, sentences=0))


@pytest.mark.parametrize(("relation", "window"), [
    ("sentence", True), ("textual", True), ("surface", False), ("adjacent", False),
    ("dependency", False),
])  # fmt: skip
@pytest.mark.parametrize("name", ["long_sentences", "endless_sentences"])
def test_a_window_is_recommended_only_without_one(name: str, relation: str, window: bool) -> None:
    outputs = sizes(tokens=3000, sentences=3, **{"sentences of 1,000 tokens or more": 3})
    (remark,) = run_check(name, outputs=outputs, relation=relation)
    assert ("relation" in remark.remedy) == window
    assert ("split" in remark.remedy) or ("mark" in remark.remedy)
    assert ("pages apart" in remark.text or "square" in remark.text) == window


@pytest.mark.parametrize("name", ["long_sentences", "endless_sentences"])
def test_unused_sentences_may_be_long(name: str) -> None:
    outputs = sizes(tokens=3000, sentences=3, **{"sentences of 1,000 tokens or more": 3})
    assert not run_check(name, outputs=outputs, relation="textual", text_unit="document")


# Word lists that cannot be compared, and a target contained in its reference.


def words(counts: dict[str, int]) -> pl.DataFrame:
    table = pl.DataFrame(list(counts.items()), schema=["word", "f"], orient="row")
    return table.with_columns(N=pl.col("f").sum())


def lists(target: dict[str, int], reference: dict[str, int]) -> dict[str, pl.DataFrame]:
    return {"target": words(target), "reference": words(reference)}


def test_word_lists_without_a_shared_word_have_a_warning() -> None:
    (remark,) = run_check(
        "other_words", inputs=lists({"The": 9, "Cat": 2}, {"the": 90, "cat": 3, "a": 8})
    )
    assert str(remark).startswith(
        "warning: target and reference share 0 of 2 and 3 words; the most frequent are 'The', 'Cat'"
        " and 'the', 'a', 'cat'; count the same units"
    )


@pytest.mark.parametrize("shared", [1, 0])
def test_a_single_shared_word_rules_out_the_warning(shared: int) -> None:
    target = {f"t{i}": 1 for i in range(20 - shared)} | {"x": 1}
    reference = {f"r{i}": 1 for i in range(30)} | ({"x": 1} if shared else {})
    assert bool(run_check("other_words", inputs=lists(target, reference))) == (not shared)


def test_an_empty_word_list_has_no_remark() -> None:
    empty = words({"a": 1}).head(0)
    assert not run_check("other_words", inputs={"target": empty, "reference": words({"a": 1})})


MANY = {f"w{i}": 1 + i % 7 for i in range(60)}


def test_a_target_equal_to_the_reference_has_a_warning() -> None:
    (remark,) = run_check("within_reference", inputs=lists(MANY, MANY))
    assert remark.level == "warning"
    assert "have the same 60 words with equal frequencies" in remark.text


def test_a_target_within_the_reference_is_reported() -> None:
    (remark,) = run_check("within_reference", inputs=lists(MANY, MANY | {"more": 3, "w1": 40}))
    assert remark.level == "note"
    assert remark.text.startswith("each of the 60 words of the target is at least as frequent")


@pytest.mark.parametrize("change", [{"w3": 99}, {"of its own": 1}])
def test_a_single_word_of_its_own_rules_out_the_remark(change: dict[str, int]) -> None:
    assert not run_check("within_reference", inputs=lists(MANY | change, MANY | {"more": 3}))


def test_few_words_have_no_remark() -> None:
    assert not run_check("within_reference", inputs=lists({"a": 1}, {"a": 1}))


def test_a_single_document_has_no_dispersion(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b c\n")
    stage = '[stages.w]\nuse = "extract.words"\ncorpus = "a.txt"\nunit = { label = "{form}" }\n'
    (tmp_path / "x.toml").write_text(f'name = "x"\n{stage}')
    run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    (remark,) = run.remarks["w"]
    assert "1 document: dispersion is undefined" in remark.text


def test_an_extraction_without_words_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b c\n")
    stage = (
        '[stages.w]\nuse = "extract.words"\ncorpus = "a.txt"\n'
        'unit = { label = "{form}", where = "form = \'A\'" }\n'
    )
    (tmp_path / "x.toml").write_text(f'name = "x"\n{stage}')
    run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    remarks = [each for each in run.remarks["w"] if each.check == "no_candidates"]
    assert remarks[0].text.startswith("there are no words: no token has form 'A' (values: ")


SCHEMA = ["l1", "l2", "f", "f1", "f2"]


def partner_remarks(*rows: tuple[str, str, int, int, int]) -> list[str]:
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return [str(each) for each in run_check("one_partner", outputs={"candidates": frame})]


def test_a_table_of_words_and_senses_is_reported() -> None:
    (text,) = partner_remarks(*((f"word{i}", f"sense{i % 3}", 4, 4, 40) for i in range(30)))
    assert "30 of 30 units of l1 that occur at least twice have a single l2: f = f1" in text
    assert "word0 sense0" in text


def test_words_with_several_partners_have_no_remark() -> None:
    pairs = [(f"word{i}", f"verb{j}", 2, 6, 60) for i in range(30) for j in range(3)]
    assert not partner_remarks(*pairs)


def test_units_that_occur_once_have_no_remark() -> None:
    assert not partner_remarks(*((f"word{i}", "verb", 1, 1, 30) for i in range(30)))


def test_partners_below_the_threshold_have_no_remark() -> None:
    assert not partner_remarks(*((f"word{i}", f"verb{i}", 4, 5, 6) for i in range(30)))


def test_possible_abbreviations_are_reported(tmp_path: Path) -> None:
    lines = [
        "He saw Ihm. Nine Ihm of them in Bd. Two and it was so. The Bd. Three was not it."
    ] * 12
    (tmp_path / "a.txt").write_text("\n".join(lines))
    stage = '[stages.w]\nuse = "extract.words"\nunit = { label = "{form}" }\n'
    for own, expected in (("", True), (', abbreviations = ["Bd"]', False)):
        corpus = f'corpus = {{ path = "a.txt", sentences = "auto", language = "en"{own} }}\n'
        (tmp_path / "x.toml").write_text(f'name = "x"\n{stage}{corpus}')
        run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
        remarks = [each.text for each in run.remarks["w"] if each.check == "unknown_abbreviations"]
        assert bool(remarks) == expected
        assert not expected or ("24 in 'Bd.'" in remarks[0] and "Ihm" not in remarks[0])


ORDERS = """
name = "own"
[stages.pairs]
use = "extract.pairs"
corpus = "own.txt"
relation = "{relation}"
{options}
min_frequency = 1
left = {{ label = "{{form}}", matches = '\\pL' }}
right = {{ label = "{{form}}", matches = '\\pL{right}' }}
"""


@pytest.mark.parametrize(
    ("relation", "options", "right", "remedy"),
    [
        ("surface", "", "", "surface = { left = 0, right = 5 } gives one order"),
        ("surface", "surface = { left = 0, right = 5 }", "", None),
        ("surface", "", "+", None),
        ("textual", "", "", "conditions that differ"),
        ("adjacent", "", "", None),
    ],
)
def test_pairs_in_both_orders_are_reported(
    relation: str, options: str, right: str, remedy: str | None, tmp_path: Path
) -> None:
    (tmp_path / "own.txt").write_text("mille francs\nfrancs mille\n")
    config = tmp_path / "own.toml"
    config.write_text(ORDERS.format(relation=relation, options=options, right=right))
    run = lx.run(config, runs=tmp_path / "runs", report=False)
    remarks = [each for each in run.remarks.get("pairs", ()) if each.check == "both_orders"]
    assert len(remarks) == (remedy is not None)
    for each in remarks:
        assert each.text == "2 of the 2 candidates also occur in the other order"
        assert each.such_as == ("francs mille and mille francs",)
        assert str(remedy) in each.remedy
