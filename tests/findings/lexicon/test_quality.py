"""What is said of one lexicon: L*, what is lost, missing lemmas, costly lemmas, how sure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.findings.base import as_table, gathered
from pipeline.findings.lexicon import cost_of_missing, lemmas_more
from schemas import Findings, KeyedLemmas, Preparation
from tests.findings.lexicon.tables import GOLD, Words, lexicon_stage
from tests.findings.stages import found, stage, table, texts
from tests.valid import valid

LEXICON: Words = {"a": "a1 a2 a3 a4", "b": "b1 bx", "c": "c1 c2", "extra": "e"}


def test_all_lemmas_that_both_have() -> None:
    assert texts("lexicon_quality", lexicon_stage(GOLD, LEXICON))[:4] == [
        "L* of lexicon: 76.7 % against gold, from all 3 lemmas that both have.",
        "Lost by lexicon: 23.3 points of L*, 18.3 by missing forms (3) and 5.0 by spurious forms (1).",
        ("Missing from lexicon: 1 of the 4 lemmas of gold (25.0 %), which L* leaves out; over all lemmas "
        "F* is 63.9 %, and 16.7 of the 36.1 points that it loses are theirs."),
        ("Lemmas that cost lexicon most, in points: c 13.3 (2 missing, 4 gold forms) and b 10.0 "
        "(1 missing and 1 spurious, 2 gold forms), 100.0 % of what is lost."),
    ]  # fmt: skip


def test_a_right_lexicon_loses_nothing() -> None:
    said = texts("lexicon_quality", lexicon_stage(GOLD, GOLD))
    assert said[:2] == [
        "L* of lexicon: 100.0 % against gold, from all 4 lemmas that both have.",
        "Missing from lexicon: none of the 4 lemmas of gold.",
    ]
    assert not [text for text in said if "Lost" in text or "cost" in text]


def test_a_lemma_without_a_right_form() -> None:
    (said,) = texts("lexicon_quality", lexicon_stage(GOLD, {**LEXICON, "b": "bx"}), "lost")
    assert said == (
        "Lost by lexicon: 33.3 points of L*, 20.0 by lemmas without a right form (1) and 13.3 by "
        "missing forms (2)."
    )


def test_the_cost_of_missing_lemmas_and_of_the_others_is_what_f_star_loses() -> None:
    made = lexicon_stage(GOLD, LEXICON)
    quality = made.table("quality").collect()
    f_star = quality.filter(statistic="F*")["value"].item()
    held = made.table("lemmas").collect()
    forms = sum(len(forms.split()) for forms in GOLD.values())
    others = (held["n_gold"] * (1 - held["L"])).sum() / forms
    assert cost_of_missing(made) + others == pytest.approx(1 - f_star)


def test_a_missing_lemma_whose_forms_stand_under_another_costs_less() -> None:
    other = {"a": "a1 a2 a3 a4", "elsewhere": "d1 d2"}
    made = lexicon_stage({"a": GOLD["a"], "d": GOLD["d"]}, other)
    assert cost_of_missing(made) == 0.0
    bare = lexicon_stage({"a": GOLD["a"], "d": GOLD["d"]}, {"a": GOLD["a"]})
    assert cost_of_missing(bare) == pytest.approx(2 / 6)


def test_a_sample_has_limits_and_says_how_many_more_it_takes() -> None:
    many = {f"l{i:02}": " ".join(f"l{i:02}{x}" for x in "abcd") for i in range(60)}
    some = {
        lemma: " ".join(forms.split()[: 2 + i % 3]) for i, (lemma, forms) in enumerate(many.items())
    }
    lemmas = sorted(many)[:20]
    made = lexicon_stage(many, some, lemmas=lemmas, population=60)
    (star,) = (each for each in found("lexicon_quality", made) if each.about == "L*")
    assert star.lower is not None
    assert star.upper is not None
    assert star.lower < (star.value or 0) < star.upper
    assert "from 20 of 60 lemmas (33.3 %)" in star.text
    (needed,) = (each for each in found("lexicon_quality", made) if each.about == "needed")
    assert needed.value == lemmas_more(20, 60) == 20
    assert needed.text.startswith("About 20 lemmas more, 40 in all, would halve the interval of ")
    assert texts("lexicon_cautions", made) == [
        "L* of lexicon rests on 20 lemmas: from fewer than 50 the limits hold less often than they say."
    ]


def test_lemmas_drawn_by_size() -> None:
    many = {f"l{i:02}": " ".join(f"l{i:02}{x}" for x in "abcdefgh"[: 2 + i % 7]) for i in range(90)}
    some = {
        lemma: " ".join(forms.split()[: 2 + i % 3]) for i, (lemma, forms) in enumerate(many.items())
    }
    lemmas = sorted(many)[:40]
    pi = [len(many[lemma].split()) / 20 for lemma in lemmas]
    made = lexicon_stage(many, some, lemmas=lemmas, population=90, pi=pi)
    said = found("lexicon_quality", made)
    (star,) = (each for each in said if each.about == "L*")
    assert "from 40 of 90 lemmas (44.4 %), drawn in proportion to their paradigms" in star.text
    assert star.lower is not None
    assert star.upper is not None
    assert star.lower < (star.value or 0) < star.upper
    (lost,) = (each for each in said if each.about == "lost")
    assert lost.value == pytest.approx(1 - (star.value or 0))
    (costliest,) = (each for each in said if each.about == "costliest")
    assert costliest.text.startswith(
        "Lemmas that cost lexicon most, with those that they stand for, in points: "
    )
    (needed,) = (each for each in said if each.about == "needed")
    assert 0 < (needed.value or 0) <= 50
    assert texts("lexicon_cautions", made) == []
    few = lexicon_stage(many, some, lemmas=lemmas[:20], population=90, pi=pi[:20])
    assert texts("lexicon_cautions", few) == [
        "L* of lexicon rests on 20 lemmas: from fewer than 30 the limits hold less often than they say."
    ]


def test_lemmas_that_somebody_chose() -> None:
    made = lexicon_stage(GOLD, LEXICON, lemmas=["a", "b"], population=3, drawn=False)
    assert "from 2 chosen of 3 lemmas" in texts("lexicon_quality", made)[0]
    assert texts("lexicon_quality", made, "needed") == []
    assert texts("lexicon_cautions", made) == [
        ("The 2 lemmas that lexicon is judged by were chosen, not drawn at random: nothing is known of "
        "the others.")
    ]  # fmt: skip


def test_with_an_n_of_its_own_nothing_is_split() -> None:
    said = {each.about for each in found("lexicon_quality", lexicon_stage(GOLD, LEXICON, n=500))}
    assert "L*" in said
    assert not said & {"lost", "costliest", "missing lemmas"}


def test_a_gold_that_is_keyed_for_the_sample_alone_has_no_missing_lemmas() -> None:
    made = lexicon_stage(GOLD, LEXICON, complete=False)
    assert not {each.about for each in found("lexicon_quality", made)} & {"missing lemmas", "whole"}


def test_no_common_lemma() -> None:
    nothing = lexicon_stage({"a": "a1"}, {"b": "b1"})
    assert found("lexicon_quality", nothing) == []
    assert texts("lexicon_cautions", nothing) == [
        "L* of lexicon rests on 0 lemmas: it shares none with gold."
    ]


def test_lemmas_without_forms_weigh_nothing() -> None:
    made = lexicon_stage({**GOLD, "z": ""}, {**LEXICON, "z": "z1"})
    assert "1 lemma without forms in gold: no weight in L*." in texts("lexicon_cautions", made)


def test_lemmas_whose_forms_stand_under_others() -> None:
    swapped = {"a": GOLD["c"], "c": GOLD["a"], "b": GOLD["b"], "d": GOLD["d"]}
    (said,) = texts("lexicon_cautions", lexicon_stage(GOLD, swapped), "matches")
    assert said == (
        "The forms of lemmas often stand under others in lexicon: by its own lemmas L* is 33.3 %, by "
        "the best matches 100.0 %."
    )


@given(st.integers(0, 500), st.integers(0, 5000))
def test_the_lemmas_more_halve_the_error(size: int, population: int) -> None:
    more = lemmas_more(size, population)
    if not 0 < size < population:
        assert more == 0
        return
    assert 0 < more <= population - size
    quarter = (1 / size - 1 / population) / 4
    assert 1 / (size + more) - 1 / population <= quarter * (1 + 1e-9)
    assert 1 / (size + more - 1) - 1 / population >= quarter * (1 - 1e-9)


FORMS = st.lists(st.sampled_from(["x", "y", "z", "שלום", "</script>"]), max_size=4, unique=True)
LEXICONS = st.dictionaries(st.sampled_from(["a", "b", "x" * 200, "ħ"]), FORMS, max_size=4)


@given(LEXICONS, LEXICONS)
def test_whatever_the_lexicons_the_table_is_valid(
    gold: dict[str, list[str]], lexicon: dict[str, list[str]]
) -> None:
    one, two = (
        {lemma: " ".join(forms) for lemma, forms in each.items()} for each in (gold, lexicon)
    )
    told = gathered({"quality": lexicon_stage(one, two)})
    for text in valid(as_table(told), Findings)["text"]:
        assert "nan" not in text
        assert "None" not in text
        assert "undefined" not in text


@pytest.mark.parametrize(("left", "many"), [(0, 1), (12, 2)])
def test_what_the_dictionary_lacks_and_what_is_not_keyed_yet(left: int, many: int) -> None:
    keyed = [
        {"lemma": "a", "found": True, "n_forms": 3},
        {"lemma": "b", "found": False, "n_forms": 0},
    ]
    steps = [{"number": 1, "step": "lemmas not looked up yet", "n": left}]
    tables = {"keyed": table(KeyedLemmas, keyed), "preparation": table(Preparation, steps)}
    said = texts("keying_cautions", stage("join.keying", tables, name="paper"))
    assert len(said) == many
    assert said[0] == (
        "Not in the dictionary of paper: 1 of 2 lemmas that were looked up (50.0 %), which L* leaves out."
    )
    later = ["12 lemmas of paper not looked up yet: left out so far."]
    assert said[1:] == later[: many - 1]
