"""Checks of collocation stages: what each reports, and when it is silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from pipeline.errors import ConfigError
from pipeline.stages.collocations.units import UnitOptions
from tests.remarks.listening import hear


def labelled(**labels: str) -> dict[str, pl.DataFrame]:
    """Return annotations: of each annotator a letter for each candidate, "." where none."""
    rows = [
        (f"x{number:03}", annotator, label)
        for annotator, given in labels.items()
        for number, label in enumerate(given)
        if label != "."
    ]
    return {"annotations": pl.DataFrame(rows, schema=["id", "annotator", "label"], orient="row")}


def adjudicated(labels: str, annotators: int = 2) -> dict[str, pl.DataFrame]:
    rows = [(None if each == "?" else each, annotators) for each in labels]
    return {"adjudicated": pl.DataFrame(rows, schema=["label", "annotators"], orient="row")}


def test_annotators_who_agree_on_everything() -> None:
    (told,) = hear("all_agree", outputs=labelled(anna="ab" * 10, ben="ab" * 10))
    assert "all 20 candidates" in told.text


def test_one_difference_is_enough_to_trust_them() -> None:
    assert not hear("all_agree", outputs=labelled(anna="ab" * 10, ben="ab" * 9 + "aa"))


def test_agreement_on_few_is_chance_and_on_their_own_is_none() -> None:
    assert not hear("all_agree", outputs=labelled(anna="ab" * 9, ben="ab" * 9))
    assert not hear("all_agree", outputs=labelled(anna="ab" * 20))
    apart = labelled(anna="ab" * 20 + "." * 40, ben="." * 40 + "ab" * 20)
    assert not hear("all_agree", outputs=apart)


def test_an_annotator_who_uses_one_label_only() -> None:
    (told,) = hear("one_label", outputs=labelled(anna="ab" * 20, ben="b" * 40))
    assert told.level == "warning"
    assert "ben 'b', 40 times" in told.text
    assert not hear("one_label", outputs=labelled(anna="b" * 19))


def test_many_candidates_without_a_label_that_stands() -> None:
    (told,) = hear("undecided", outputs=adjudicated("aab?"))
    assert told.numbers == {"undecided": 1, "labelled": 4}
    assert not hear("undecided", outputs=adjudicated("a" * 19 + "?"))


def test_what_one_person_left_open_is_no_disagreement() -> None:
    assert not hear("undecided", outputs=adjudicated("?" * 9, annotators=1))


def test_one_person_with_several_names() -> None:
    (told,) = hear("several_names", inputs=labelled(**{"a1": "ab", " A1": "ab", "b": "ab"}))
    assert told.such_as == ("' A1' = 'a1'",)
    assert told.numbers == {"people": 1}
    assert not hear("several_names", inputs=labelled(a1="ab", a11="ab"))


def test_names_that_no_sheet_asks() -> None:
    sheet = {"sheet": pl.DataFrame({"annotator": ["anna", "ben"]})}
    given = labelled(anna="ab", benn="ab", carla="a")
    (told,) = hear("unasked_annotator", inputs=sheet, outputs=given, former=("carla",))
    assert told.numbers == {"labels": 2}
    assert "did you mean ben?" in told.remedy
    assert not hear("unasked_annotator", inputs=sheet, outputs=labelled(anna="a"), former=())


# Judgements from tables and lists.


def coverage(*rows: tuple[str, int, int, int]) -> dict[str, pl.DataFrame]:
    names = ["category", "n_candidates", "n_judged", "n_true"]
    return {"coverage": pl.DataFrame(rows, schema=names, orient="row")}


def test_a_list_of_true_positives_alone() -> None:
    (told,) = hear("positives_only", outputs=coverage(("SVC", 9, 6, 6), ("TP", 9, 6, 5)))
    assert told.level == "warning"
    assert "in SVC (6), so that every precision is 100 %" in told.text
    assert "join.gold" in told.remedy
    assert not hear("positives_only", outputs=coverage(("TP", 9, 4, 4)))
    assert not hear("positives_only", outputs=coverage(("TP", 6, 6, 6)))


JOINED = {
    "pairs.tsv": "l1\tl2\tf\tf1\tf2\tN\ntake\tplace\t3\t5\t4\t99\nad\thoc\t2\t9\t4\t99\n",
    "a.tsv": "l1\tl2\tTP\ntake\tplace\t1\nAd\thoc\t1\ntake \tplace\t\n",
    "b.tsv": "l1\tl2\tTP\npay\theed\t0\n",
}
JOIN = """
[stages.pairs]
use = "extract.table"
path = "pairs.tsv"
[stages.labels]
use = "{use}"
path = ["a.tsv", "b.tsv"]
candidates = "pairs"
"""


def joined(folder: Path, use: str, options: str = "") -> dict[str, Any]:
    for name, content in JOINED.items():
        (folder / name).write_text(content)
    config = folder / "own.toml"
    config.write_text('name = "own"\n' + JOIN.format(use=use) + options)
    run = lx.run(config, runs=folder / "runs", report=False)
    return {each.check: each for each in run.remarks.get("labels", ())}


def test_judged_pairs_that_are_spelt_otherwise(tmp_path: Path) -> None:
    told = joined(tmp_path, "join.table")
    assert told["spelt_otherwise"].numbers == {"pairs": 1}  # the pair with a blank is not judged
    assert told["spelt_otherwise"].such_as == ("'Ad' 'hoc' (candidate 'ad' 'hoc')",)
    assert told["files_without_candidates"].such_as == ("b.tsv (1 row)",)


def test_files_without_rows() -> None:
    (told,) = hear("files_without_candidates", inputs={"path": pl.DataFrame({"file": []})})
    assert "the files have no rows" in told.text


def test_entries_that_are_spelt_otherwise(tmp_path: Path) -> None:
    own = 'covered = "all"\n'
    told = joined(tmp_path, "join.gold", own)
    assert told["spelt_otherwise"].such_as == ("'Ad' 'hoc' (candidate 'ad' 'hoc')",)
    assert told["files_without_candidates"].numbers == {"files": 1}
    lower = joined(tmp_path, "join.gold", own + 'case = "lower"\n')
    assert "spelt_otherwise" not in lower


def test_reversed_entries_judge_candidates(tmp_path: Path) -> None:
    own = 'covered = "all"\ncolumns = { l1 = "l2", l2 = "l1" }\neither_order = true\n'
    assert "a.tsv" not in str(joined(tmp_path, "join.gold", own)["files_without_candidates"])


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
    assert told.startswith("warning: there are no candidates: no token has deprel 'dobj' (values: ")
    assert "root, obj" in told or "obj, root" in told
    assert "dependency.label: did you mean obj?" in told


def test_a_tag_that_the_corpus_has_not(tmp_path: Path) -> None:
    (told,) = warned(tmp_path, noun="NN")
    assert "no token has upos 'NN' (values: NOUN, VERB)" in told or "(values: VERB, NOUN)" in told
    assert "right.where" in told


def test_one_of_two_relations_is_misspelt(tmp_path: Path) -> None:
    (tmp_path / "own.conllu").write_text(SENTENCE * 3)
    for labels, expected in (('["obj", "obbj"]', 1), ('["obj", "vocative"]', 0), ('["obj"]', 0)):
        text = PAIRS.format(relation="obj", noun="NOUN", least=1).replace('"obj"', labels, 1)
        (tmp_path / "own.toml").write_text(text)
        run = lx.run(tmp_path / "own.toml", runs=tmp_path / "runs", report=False)
        found = [each for each in run.remarks.get("pairs", ()) if each.check == "misspelt_values"]
        assert len(found) == expected
        assert all("no token has deprel 'obbj'" in str(each) for each in found)


def test_a_threshold_that_is_too_high(tmp_path: Path) -> None:
    (told,) = warned(tmp_path, least=4)
    assert "lower min_frequency (4)" in told


def test_candidates_are_no_reason_to_warn(tmp_path: Path) -> None:
    assert not warned(tmp_path, least=3)


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
def test_conditions_on_attributes_without_values(
    where: str, label: str, problems: list[str]
) -> None:
    left = UnitOptions(where=where, label=label)
    tokens = HALF.with_columns(d=pl.lit(None, pl.String()))
    options: dict[str, Any] = {"tokens": tokens, "left": left, "units": (left,)}
    known: dict[str, Any] = {"filled": frozenset("ac")}
    name = "attributes_without_values"
    if not problems:
        assert not hear(name, **options, **known)
        return
    with pytest.raises(ConfigError) as error:
        hear(name, **options, **known)
    ends = "; attributes with values: a, c"
    two = [each.replace("left", "units.0") for each in problems]
    assert [str(each) for each in error.value.problems] == [each + ends for each in problems + two]
    assert not hear(name, **options)
    assert not hear(name, **{**options, "tokens": tokens.clear()}, **known)


@pytest.mark.parametrize("shard", ["1KB", "1GB"])
def test_an_attribute_without_values_in_all_files(shard: str, tmp_path: Path) -> None:
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


def test_a_table_that_is_read_as_text() -> None:
    after = ["\t"] * 3 + [" "] * 7
    tokens = pl.DataFrame({"form": ["a"] * 10, "space_after": after})
    (told,) = hear("tabs_in_text", tokens=tokens)
    assert told.text.startswith("a tab follows 3 of the first 10 tokens of the text")
    assert not hear("tabs_in_text", tokens=tokens.tail(9))
    assert not hear("tabs_in_text", tokens=tokens.drop("space_after"))
    assert not hear("tabs_in_text", tokens=tokens.clear())


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
    assert "3,000 tokens in 3 sentences, on average 1,000 per sentence" in told.text
    assert not hear("long_sentences", outputs=sizes(tokens=3000, sentences=100))
    assert not hear("long_sentences", outputs=sizes(tokens=0, sentences=0))


@pytest.mark.parametrize(("relation", "window"), [
    ("sentence", True), ("textual", True), ("surface", False), ("adjacent", False),
    ("dependency", False),
])  # fmt: skip
@pytest.mark.parametrize("name", ["long_sentences", "endless_sentences"])
def test_no_window_is_advised_where_one_is_counted_by(
    name: str, relation: str, window: bool
) -> None:
    outputs = sizes(tokens=3000, sentences=3, **{"sentences of 1,000 tokens or more": 3})
    (told,) = hear(name, outputs=outputs, relation=relation)
    assert ("relation" in told.remedy) == window
    assert ("split" in told.remedy) or ("mark" in told.remedy)
    assert ("pages apart" in told.text or "square" in told.text) == window


@pytest.mark.parametrize("name", ["long_sentences", "endless_sentences"])
def test_sentences_that_are_not_looked_at_may_be_long(name: str) -> None:
    outputs = sizes(tokens=3000, sentences=3, **{"sentences of 1,000 tokens or more": 3})
    assert not hear(name, outputs=outputs, relation="textual", text_unit="document")


# Lists that cannot be compared, and a target that is in its own reference.


def words(counts: dict[str, int]) -> pl.DataFrame:
    table = pl.DataFrame(list(counts.items()), schema=["word", "f"], orient="row")
    return table.with_columns(N=pl.col("f").sum())


def lists(target: dict[str, int], reference: dict[str, int]) -> dict[str, pl.DataFrame]:
    return {"target": words(target), "reference": words(reference)}


def test_no_shared_word() -> None:
    (told,) = hear("other_words", inputs=lists({"The": 9, "Cat": 2}, {"the": 90, "cat": 3, "a": 8}))
    assert str(told).startswith(
        "warning: target and reference share 0 of 2 and 3 words; the most frequent are 'The', 'Cat'"
        " and 'the', 'a', 'cat'; count the same units"
    )


@pytest.mark.parametrize("shared", [1, 0])
def test_where_sharing_begins(shared: int) -> None:
    target = {f"t{i}": 1 for i in range(20 - shared)} | {"x": 1}
    reference = {f"r{i}": 1 for i in range(30)} | ({"x": 1} if shared else {})
    assert bool(hear("other_words", inputs=lists(target, reference))) == (not shared)


def test_an_empty_list_is_another_matter() -> None:
    empty = words({"a": 1}).head(0)
    assert not hear("other_words", inputs={"target": empty, "reference": words({"a": 1})})


MANY = {f"w{i}": 1 + i % 7 for i in range(60)}


def test_the_target_is_the_reference() -> None:
    (told,) = hear("within_reference", inputs=lists(MANY, MANY))
    assert told.level == "warning"
    assert "have the same 60 words with equal frequencies" in told.text


def test_the_target_is_in_the_reference() -> None:
    (told,) = hear("within_reference", inputs=lists(MANY, MANY | {"more": 3, "w1": 40}))
    assert told.level == "note"
    assert told.text.startswith("each of the 60 words of the target is at least as frequent")


@pytest.mark.parametrize("change", [{"w3": 99}, {"of its own": 1}])
def test_one_word_of_its_own_is_enough(change: dict[str, int]) -> None:
    assert not hear("within_reference", inputs=lists(MANY | change, MANY | {"more": 3}))


def test_few_words_say_nothing() -> None:
    assert not hear("within_reference", inputs=lists({"a": 1}, {"a": 1}))


def test_one_document_has_no_dispersion(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b c\n")
    stage = '[stages.w]\nuse = "extract.words"\ncorpus = "a.txt"\nunit = { label = "{form}" }\n'
    (tmp_path / "x.toml").write_text(f'name = "x"\n{stage}')
    run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    (told,) = run.remarks["w"]
    assert "1 document: dispersion is undefined" in told.text


def test_no_words(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b c\n")
    stage = (
        '[stages.w]\nuse = "extract.words"\ncorpus = "a.txt"\n'
        'unit = { label = "{form}", where = "form = \'A\'" }\n'
    )
    (tmp_path / "x.toml").write_text(f'name = "x"\n{stage}')
    run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    told = [each for each in run.remarks["w"] if each.check == "no_candidates"]
    assert told[0].text.startswith("there are no words: no token has form 'A' (values: ")


SCHEMA = ["l1", "l2", "f", "f1", "f2"]


def told(*rows: tuple[str, str, int, int, int]) -> list[str]:
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return [str(each) for each in hear("one_partner", outputs={"candidates": frame})]


def test_a_table_of_words_and_their_senses_is_none_of_pairs() -> None:
    (text,) = told(*((f"word{i}", f"sense{i % 3}", 4, 4, 40) for i in range(30)))
    assert "30 of 30 units of l1 that occur at least twice have a single l2: f = f1" in text
    assert "word0 sense0" in text


def test_words_with_several_partners_are_pairs() -> None:
    pairs = [(f"word{i}", f"verb{j}", 2, 6, 60) for i in range(30) for j in range(3)]
    assert not told(*pairs)


def test_units_that_occur_once_have_one_partner_by_nature() -> None:
    assert not told(*((f"word{i}", "verb", 1, 1, 30) for i in range(30)))


def test_partners_that_were_too_rare_show_in_the_marginals() -> None:
    assert not told(*((f"word{i}", f"verb{i}", 4, 5, 6) for i in range(30)))


def ranks(scores: dict[str, list[int]]) -> pl.DataFrame:
    """Return the ranks of candidates with these scores, each list in descending order."""
    rows = [
        {"measure": measure, "rank": place, "id": f"x{place}", "tie": values.index(score) + 1}
        for measure, values in scores.items()
        for place, score in enumerate(values, 1)
    ]
    schema = {"measure": pl.String, "rank": pl.Int64, "id": pl.String, "tie": pl.Int64}
    return pl.DataFrame(rows, schema=schema)


def precision(*rows: tuple[str, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["measure", "n", "n_sampled"], orient="row")


def cuts_beyond(cuts: tuple[int, ...], *, candidates: int) -> list[str]:
    given_ranks = ranks({"mi": list(range(candidates, 0, -1))})
    found = hear("cuts_beyond", inputs={"ranks": given_ranks}, cuts=cuts, measures=())
    return [str(each) for each in found]


def test_a_cut_beyond_the_list_is_told_with_its_size() -> None:
    (told,) = cuts_beyond((5, 10, 50), candidates=10)
    assert "1 of 3 list sizes exceed the 10 ranked candidates" in told
    assert "n = 50" in told


def test_the_last_candidate_is_no_cut_beyond() -> None:
    assert not cuts_beyond((10,), candidates=10)


def test_without_candidates_it_is_for_others_to_say() -> None:
    assert not cuts_beyond((1,), candidates=0)


def test_the_sizes_of_a_choice_are_its_cuts() -> None:
    options: dict[str, Any] = {"size": None, "sizes": (2, 9), "measures": ()}
    inputs = {"ranks": ranks({"mi": [3, 2, 1]})}
    (told,) = hear("cuts_beyond", use="evaluate.choice", inputs=inputs, **options)
    assert told.such_as == ("n = 9",)
    assert not hear("cuts_beyond", use="evaluate.choice", inputs=inputs, **(options | {"size": 2}))


def test_ties_at_a_cut_are_told_with_the_worst_list() -> None:
    inputs = {"ranks": ranks({"f": [9, 5, 5, 5, 5, 1], "mi": [6, 5, 4, 3, 2, 1]})}
    (told,) = hear("ties_at_cut", inputs=inputs, cuts=(1, 3), measures=())
    assert told.numbers == {"lists": 1, "by_lot": 2, "tied": 4}
    assert "of the 3 best by f, 2 are drawn at random from 4 of equal score" in told.text


def test_a_tie_that_ends_with_the_list_is_none() -> None:
    inputs = {"ranks": ranks({"f": [9, 5, 5, 1]})}
    assert not hear("ties_at_cut", inputs=inputs, cuts=(3,), measures=())
    assert hear("ties_at_cut", inputs=inputs, cuts=(2,), measures=())


def test_rankings_that_are_not_evaluated_do_not_count() -> None:
    inputs = {"ranks": ranks({"f": [5, 5, 5], "mi": [3, 2, 1]})}
    assert not hear("ties_at_cut", inputs=inputs, cuts=(1,), measures=("mi",))


@given(
    scores=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    cut=st.integers(1, 12),
    threshold=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
)
def test_ties_are_those_that_one_counts_by_hand(
    scores: list[int], cut: int, threshold: float
) -> None:
    ordered = sorted(scores, reverse=True)
    told = hear(
        "ties_at_cut", inputs={"ranks": ranks({"f": ordered})}, cuts=(cut,), measures=(),
        threshold=threshold,
    )  # fmt: skip
    split = cut < len(ordered) and ordered[cut - 1] == ordered[cut]
    by_lot = sum(score == ordered[cut - 1] for score in ordered[:cut]) if split else 0
    assert bool(told) == (split and by_lot / cut >= threshold)
    if told:
        assert told[0].numbers["by_lot"] == by_lot


@pytest.mark.parametrize(("judged", "heard"), [(0, False), (1, True), (4, True), (5, False)])
def test_few_judged_draws_behind_an_estimate(judged: int, heard: bool) -> None:
    cuts = precision(("mi", 100, judged), ("f", 100, 40))
    found = hear("few_judged", outputs={"cuts": cuts})
    assert bool(found) == heard
    if found:
        plural = "s" * (judged != 1)
        assert f"MI at n = 100 ({judged} draw{plural})" in found[0].such_as[0]


def test_a_short_list_of_which_all_is_judged_is_no_sample() -> None:
    assert not hear("few_judged", outputs={"cuts": precision(("mi", 3, 3))})


def ids(number: int) -> pl.DataFrame:
    return pl.DataFrame({"id": [f"x{i}" for i in range(number)]}, schema={"id": pl.String})


def sample(number: int) -> pl.DataFrame:
    return ids(number).with_columns(multiplicity=pl.lit(1, pl.Int64))


def test_fewer_drawn_than_asked() -> None:
    inputs, outputs = {"candidates": ids(79)}, {"sample": sample(79)}
    (told,) = hear("few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=100)
    assert told.level == "note"
    assert told.text == "79 of the 100 requested draws: there are 79 candidates"


def test_as_many_as_asked_or_by_rate_is_nothing_to_tell() -> None:
    inputs, outputs = {"candidates": ids(79)}, {"sample": sample(79)}
    for size in (79, None):
        assert not hear("few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=size)


def test_draws_count_as_often_as_they_were_drawn() -> None:
    outputs = {"sample": sample(50).with_columns(multiplicity=pl.lit(2, pl.Int64))}
    inputs = {"candidates": ids(50)}
    assert not hear("few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=100)


def test_without_candidates_it_is_for_others_to_say_samples() -> None:
    inputs, outputs = {"candidates": ids(0)}, {"sample": sample(0)}
    assert not hear("few_drawn", use="sample.random", inputs=inputs, outputs=outputs, size=9)


def test_strata_that_are_smaller_than_their_samples() -> None:
    outputs = {"sample": sample(30), "strata": ids(60)}
    (told,) = hear("few_drawn", use="sample.stratified", outputs=outputs, sizes=(20, 20))
    assert "30 of the 40 requested draws" in told.text
    assert "60 candidates, in strata that are smaller" in told.text


def test_a_designed_sample_of_more_than_there_is() -> None:
    outputs = {"sample": sample(60), "inclusion": ids(60)}
    (told,) = hear("few_drawn", use="sample.design", inputs={}, outputs=outputs, size=100)
    assert told.text == "60 of the 100 requested draws: there are 60 candidates"
    inputs = {"pilot": ids(10)}  # what was judged before is in the sample, too
    outputs = {"sample": sample(50), "inclusion": ids(60)}
    assert not hear("few_drawn", use="sample.design", inputs=inputs, outputs=outputs, size=40)


def test_a_pool_says_how_much_it_leaves_out() -> None:
    ranks = ids(200).with_columns(measure=pl.lit("mi"))
    inputs, outputs = {"ranks": ranks}, {"candidates": ids(150)}
    (told,) = hear("pool_leaves_out", inputs=inputs, outputs=outputs, depth=100)
    assert "150 of 200 candidates and excludes 25%" in told.text
    assert "conditional" not in told.text
    assert not hear("pool_leaves_out", inputs=inputs, outputs={"candidates": ids(195)}, depth=190)


def questions(*widths: float) -> pl.DataFrame:
    """Return questions q0, q1, ... of these widths; from a simple sample all have .1."""
    return pl.DataFrame(
        {"question": [f"q{i}" for i in range(len(widths))], "half_width": widths}
    ).with_columns(simple_half_width=0.1, worse=pl.col("half_width") > 0.1001)


def test_questions_that_do_worse_are_named_the_worst_first() -> None:
    outputs = {"questions": questions(0.11, 0.05, 0.13)}
    (told,) = hear("does_worse", use="sample.design", outputs=outputs)
    assert told.text == (
        "2 of 3 questions will have wider intervals than with a simple sample of equal size:"
        " q2 (1.30 times as wide), q0 (1.10 times as wide)"
    )
    assert told.level == "note"


def test_no_question_does_worse() -> None:
    for widths in ((0.1, 0.0), ()):
        assert not hear(
            "does_worse", use="sample.design", outputs={"questions": questions(*widths)}
        )


def test_short_words_that_always_end_sentences_may_be_abbreviations(tmp_path: Path) -> None:
    lines = [
        "He saw Ihm. Nine Ihm of them in Bd. Two and it was so. The Bd. Three was not it."
    ] * 12
    (tmp_path / "a.txt").write_text("\n".join(lines))
    stage = '[stages.w]\nuse = "extract.words"\nunit = { label = "{form}" }\n'
    for own, found in (("", True), (', abbreviations = ["Bd"]', False)):
        corpus = f'corpus = {{ path = "a.txt", sentences = "auto", language = "en"{own} }}\n'
        (tmp_path / "x.toml").write_text(f'name = "x"\n{stage}{corpus}')
        run = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
        told = [each.text for each in run.remarks["w"] if each.check == "unknown_abbreviations"]
        assert bool(told) == found
        assert not found or ("24 in 'Bd.'" in told[0] and "Ihm" not in told[0])
