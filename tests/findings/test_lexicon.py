"""Findings on lexicons: quality, loss, comparison; a verdict requires an interval."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.findings.base import as_table, collect_findings
from pipeline.findings.lexicon import cost_of_missing, lemmas_more, loss, losses
from pipeline.kernels.lexicon.inference import by_chance
from pipeline.kernels.lexicon.l_measure import Weights, lemma_scores
from schemas import (
    Findings,
    KeyedLemmas,
    KeyingDisagreements,
    KeyingResolutions,
    Preparation,
)
from tests.findings.stages import (
    GOLD,
    Words,
    comparison_stage,
    findings_of,
    lexicon_stage,
    stage,
    table,
    texts,
)
from tests.valid import valid

TWO = {"one": 0.9, "two": 0.8}


def test_an_interval_without_0_gives_a_verdict() -> None:
    sentences = texts(
        "compared_lexicons", comparison_stage(TWO, {("one", "two"): (0.1, 0.04, 0.17)})
    )
    assert sentences == [
        "Highest L*: one, 90.0 %; two 80.0 % (40 lemmas).",
        ("By L*, two is worse than one (−10.0 points [−17.0, −4.0]); of 40 lemmas, 10 have a "
        "higher L in one, 25 in two, and 5 the same in both."),
    ]  # fmt: skip


def test_an_interval_with_0_gives_no_verdict() -> None:
    (_, sentences) = texts(
        "compared_lexicons", comparison_stage(TWO, {("one", "two"): (0.1, -0.01, 0.17)})
    )
    assert sentences.startswith(
        "By L*, two does not differ significantly from one (−10.0 points [−17.0, +1.0]);"
    )


def test_the_order_of_the_pair_makes_no_difference() -> None:
    turned = comparison_stage(TWO, {("two", "one"): (-0.1, -0.17, -0.04)})
    (_, sentences) = texts("compared_lexicons", turned)
    assert sentences.startswith("By L*, two is worse than one (−10.0 points [−17.0, −4.0]);")
    assert "25 have a higher L in one, 10 in two" in sentences


def test_chosen_lemmas_give_no_verdict() -> None:
    (_, sentences) = texts(
        "compared_lexicons", comparison_stage(TWO, {("one", "two"): (0.1, None, None)})
    )
    assert "two differs from one by −10.0 points, but no interval can be estimated" in sentences


def test_verdicts_on_several_lexicons_use_simultaneous_limits() -> None:
    three = {"one": 0.9, "two": 0.8, "three": 0.7}
    pairs = {
        ("one", "two"): (0.1, -0.001, 0.2),
        ("one", "three"): (0.2, 0.1, 0.3),
        ("two", "three"): (0.1, 0.05, 0.15),
    }
    view = comparison_stage(three, pairs)
    sentences = texts("compared_lexicons", view)
    assert "two does not differ significantly from one (−10.0 points [−20.0, +0.1])" in sentences[1]
    assert "three is worse than one (−20.0 points [−30.0, −10.0])" in sentences[2]
    assert len(sentences) == 3


def test_tied_and_undefined_lexicons_have_no_verdict() -> None:
    tied = comparison_stage({"a": 0.5, "b": 0.5}, {("a", "b"): (0.0, -0.1, 0.1)})
    sentences = texts("compared_lexicons", tied)
    assert sentences[0] == "Highest L*: a and b (tied), 50.0 % (40 lemmas)."
    assert "does not differ" in sentences[1]
    assert findings_of("compared_lexicons", comparison_stage({"a": None, "b": None}, {})) == []


def test_lexicons_have_the_names_of_their_sources() -> None:
    among = [
        lexicon_stage(GOLD, GOLD, name="one"), lexicon_stage(GOLD, GOLD, name="two"),
    ]  # fmt: skip
    gaps = {("one", "two"): (0.1, 0.04, 0.17)}
    both_of_one = texts("compared_lexicons", comparison_stage(TWO, gaps, among=among))
    assert both_of_one[0].startswith("Highest L*: one, 90.0 %; two")
    other = among[1]
    stages = [
        among[0],
        type(other)(**{**vars(other), "config": {**other.config, "lexicon": "web.list"}}),
    ]
    assert texts("compared_lexicons", comparison_stage(TWO, gaps, among=stages))[0].startswith(
        "Highest L*: lexicon, 90.0 %; web 80.0 %"
    )


LIMITS = st.one_of(st.just((None, None)), st.tuples(st.floats(-1, 1), st.floats(-1, 1)))


@given(st.floats(0, 1), st.floats(0, 1), LIMITS)
def test_every_verdict_has_an_interval_without_0(
    one: float, two: float, limits: tuple[float, float] | tuple[None, None]
) -> None:
    low, high = limits
    view = comparison_stage({"one": one, "two": two}, {("one", "two"): (one - two, low, high)})
    for text in texts("compared_lexicons", view):
        verdict = re.search(r"\b(better|worse)\b", text)
        if verdict:
            assert low is not None
            assert high is not None
            assert low > 0 or high < 0
            assert one != two


# The parts of the loss of L* add up; a form costs as much as its correction would gain.

COUNTS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=20
)


def score_lemmas(counts: list[tuple[int, int, int]], weights: Weights) -> pl.DataFrame:
    """Return the scores of lemmas with so many common, missing and spurious forms."""
    rows = pl.DataFrame({
        "lemma": [f"l{place}" for place in range(len(counts))],
        "n_common": [common for common, _, _ in counts],
        "n_missing": [missing for _, missing, _ in counts],
        "n_spurious": [spurious for _, _, spurious in counts],
    })  # fmt: skip
    sizes = rows.with_columns(
        n_gold=pl.col("n_common") + pl.col("n_missing"),
        n_match=pl.col("n_common") + pl.col("n_spurious"),
    ).with_columns(n_same="n_match", n_same_common="n_common")
    scores = lemma_scores(sizes.lazy(), weights=weights).collect()
    return scores.with_columns(pi=pl.lit(1.0), base_total=pl.lit(None, pl.Int64))


@pytest.mark.parametrize("weights", ["gold", "published"])
@given(counts=COUNTS)
def test_the_parts_add_up_to_the_loss(counts: list[tuple[int, int, int]], weights: Weights) -> None:
    scores = score_lemmas(counts, weights)
    costs = losses(scores)
    if scores["base"].sum() == 0:
        assert costs.is_empty()
        return
    loss_parts, star = loss(costs), scores["contribution"].sum()
    assert loss_parts.whole == pytest.approx(1 - star, abs=1e-12)
    assert loss_parts.missing + loss_parts.spurious + loss_parts.without_right == pytest.approx(
        loss_parts.whole, abs=1e-12
    )
    assert min(loss_parts.missing, loss_parts.spurious, loss_parts.without_right) >= -1e-12
    assert costs["cost"].is_sorted(descending=True)


@pytest.mark.parametrize("weights", ["gold", "published"])
@given(counts=COUNTS)
def test_the_parts_add_up_with_any_chances_of_selection(
    counts: list[tuple[int, int, int]], weights: Weights
) -> None:
    even = score_lemmas(counts, weights).sort("lemma")
    scores = by_chance(even.with_columns(pi=1.0 / (2 + pl.int_range(pl.len()))))
    if scores["base"].sum() == 0:
        return
    loss_parts, star = loss(losses(scores)), scores["contribution"].sum()
    assert loss_parts.whole == pytest.approx(1 - star, abs=1e-12)
    assert loss_parts.missing + loss_parts.spurious + loss_parts.without_right == pytest.approx(
        loss_parts.whole
    )


@pytest.mark.parametrize("weights", ["gold", "published"])
@given(counts=COUNTS)
def test_only_missing_and_spurious_forms_cost(
    counts: list[tuple[int, int, int]], weights: Weights
) -> None:
    costs = losses(score_lemmas(counts, weights))
    for row in costs.iter_rows(named=True):
        if not row["n_missing"]:
            assert row["missing_cost"] == pytest.approx(0, abs=1e-12)
        if not row["n_spurious"]:
            assert row["spurious_cost"] == pytest.approx(0, abs=1e-12)
        if not row["n_missing"] and not row["n_spurious"]:
            assert row["cost"] == pytest.approx(0, abs=1e-12)


@given(st.integers(1, 30), st.integers(0, 30))
def test_missing_and_spurious_forms_cost_alike_within_a_lemma(common: int, faults: int) -> None:
    (row,) = losses(score_lemmas([(common, faults, faults)], "gold")).to_dicts()
    assert row["missing_cost"] == pytest.approx(row["spurious_cost"], abs=1e-12)


def test_lemmas_without_a_correct_form_are_a_separate_part() -> None:
    loss_parts = loss(losses(score_lemmas([(0, 4, 3), (4, 0, 0), (2, 2, 0)], "gold")))
    assert (loss_parts.n_without_right, loss_parts.n_missing, loss_parts.n_spurious) == (1, 2, 0)
    assert loss_parts.without_right == pytest.approx(4 / 12)
    assert loss_parts.missing == pytest.approx(4 / 12 * (1 - 4 / 6))
    assert loss_parts.spurious == 0


def test_the_worked_example_has_its_loss() -> None:
    loss_parts = loss(losses(score_lemmas([(7, 3, 0)], "gold")))
    assert loss_parts.whole == pytest.approx(3 / 17)
    assert loss_parts.missing == pytest.approx(3 / 17)


# Findings on one lexicon: L*, loss, missing lemmas, costly lemmas, limits.

LEXICON: Words = {"a": "a1 a2 a3 a4", "b": "b1 bx", "c": "c1 c2", "extra": "e"}


def test_findings_on_all_common_lemmas() -> None:
    assert texts("lexicon_quality", lexicon_stage(GOLD, LEXICON))[:4] == [
        "L* of lexicon against gold: 76.7 %, from all 3 lemmas in common.",
        ("Of the 23.3 points of L* that lexicon loses, 18.3 are due to missing forms (3) and 5.0 to "
        "spurious forms (1)."),
        ("Missing from lexicon: 1 of the 4 lemmas of gold (25.0 %), which L* ignores; over all lemmas, "
        "F* is 63.9 %, and the missing lemmas account for 16.7 of the 36.1 points lost."),
        ("Costliest lemmas of lexicon, in points of L*: c 13.3 (2 missing, 4 gold forms) and b 10.0 "
        "(1 missing and 1 spurious, 2 gold forms), in total 100.0 % of the loss."),
    ]  # fmt: skip


def test_a_correct_lexicon_loses_nothing() -> None:
    sentences = texts("lexicon_quality", lexicon_stage(GOLD, GOLD))
    assert sentences[:2] == [
        "L* of lexicon against gold: 100.0 %, from all 4 lemmas in common.",
        "Missing from lexicon: none of the 4 lemmas of gold.",
    ]
    assert not [text for text in sentences if "due to" in text or "ostliest" in text]


def test_the_loss_names_lemmas_without_a_correct_form() -> None:
    (sentence,) = texts("lexicon_quality", lexicon_stage(GOLD, {**LEXICON, "b": "bx"}), "lost")
    assert sentence == (
        "Of the 33.3 points of L* that lexicon loses, 20.0 are due to lemmas without a correct form "
        "(1) and 13.3 to missing forms (2)."
    )


def test_costs_of_missing_and_other_lemmas_add_up_to_the_loss_of_f_star() -> None:
    view = lexicon_stage(GOLD, LEXICON)
    quality = view.table("quality").collect()
    f_star = quality.filter(statistic="F*")["value"].item()
    lemmas = view.table("lemmas").collect()
    forms = sum(len(forms.split()) for forms in GOLD.values())
    others = (lemmas["n_gold"] * (1 - lemmas["L"])).sum() / forms
    assert cost_of_missing(view) + others == pytest.approx(1 - f_star)


def test_a_missing_lemma_with_forms_under_another_costs_less() -> None:
    other = {"a": "a1 a2 a3 a4", "elsewhere": "d1 d2"}
    view = lexicon_stage({"a": GOLD["a"], "d": GOLD["d"]}, other)
    assert cost_of_missing(view) == 0.0
    bare = lexicon_stage({"a": GOLD["a"], "d": GOLD["d"]}, {"a": GOLD["a"]})
    assert cost_of_missing(bare) == pytest.approx(2 / 6)


def test_a_sample_has_limits_and_the_number_of_lemmas_needed() -> None:
    many = {f"l{i:02}": " ".join(f"l{i:02}{x}" for x in "abcd") for i in range(60)}
    some = {
        lemma: " ".join(forms.split()[: 2 + i % 3]) for i, (lemma, forms) in enumerate(many.items())
    }
    lemmas = sorted(many)[:20]
    view = lexicon_stage(many, some, lemmas=lemmas, population=60)
    (star,) = (each for each in findings_of("lexicon_quality", view) if each.about == "L*")
    assert star.lower is not None
    assert star.upper is not None
    assert star.lower < (star.value or 0) < star.upper
    assert "from 20 of 60 lemmas (33.3 %)" in star.text
    (needed,) = (each for each in findings_of("lexicon_quality", view) if each.about == "needed")
    assert needed.value == lemmas_more(20, 60) == 20
    assert needed.text.startswith(
        "About 20 more lemmas (40 in total) would halve the width of the interval, now "
    )
    assert texts("lexicon_cautions", view) == [
        (
            "L* of lexicon is based on 20 lemmas: with fewer than 50, the limits cover L* less often "
            "than the nominal level."
        )
    ]


def test_findings_on_lemmas_drawn_by_size() -> None:
    many = {f"l{i:02}": " ".join(f"l{i:02}{x}" for x in "abcdefgh"[: 2 + i % 7]) for i in range(90)}
    some = {
        lemma: " ".join(forms.split()[: 2 + i % 3]) for i, (lemma, forms) in enumerate(many.items())
    }
    lemmas = sorted(many)[:40]
    pi = [len(many[lemma].split()) / 20 for lemma in lemmas]
    view = lexicon_stage(many, some, lemmas=lemmas, population=90, pi=pi)
    findings = findings_of("lexicon_quality", view)
    (star,) = (each for each in findings if each.about == "L*")
    assert "from 40 of 90 lemmas (44.4 %), drawn in proportion to paradigm size" in star.text
    assert star.lower is not None
    assert star.upper is not None
    assert star.lower < (star.value or 0) < star.upper
    (lost,) = (each for each in findings if each.about == "lost")
    assert lost.value == pytest.approx(1 - (star.value or 0))
    (costliest,) = (each for each in findings if each.about == "costliest")
    assert costliest.text.startswith(
        "Costliest lemmas of lexicon, in points of L*, weighted by the lemmas that they represent: "
    )
    (needed,) = (each for each in findings if each.about == "needed")
    assert 0 < (needed.value or 0) <= 50
    assert texts("lexicon_cautions", view) == []
    few = lexicon_stage(many, some, lemmas=lemmas[:20], population=90, pi=pi[:20])
    assert texts("lexicon_cautions", few) == [
        (
            "L* of lexicon is based on 20 lemmas: with fewer than 30, the limits cover L* less often "
            "than the nominal level."
        )
    ]


def test_chosen_lemmas_cause_a_caution() -> None:
    view = lexicon_stage(GOLD, LEXICON, lemmas=["a", "b"], population=3, drawn=False)
    assert "from 2 chosen of 3 lemmas" in texts("lexicon_quality", view)[0]
    assert texts("lexicon_quality", view, "needed") == []
    assert texts("lexicon_cautions", view) == [
        ("The 2 lemmas used to evaluate lexicon were chosen, not drawn at random: the result does not "
        "generalise to other lemmas.")
    ]  # fmt: skip


def test_with_its_own_n_the_loss_is_not_split() -> None:
    subjects = {
        each.about for each in findings_of("lexicon_quality", lexicon_stage(GOLD, LEXICON, n=500))
    }
    assert "L*" in subjects
    assert not subjects & {"lost", "costliest", "missing lemmas"}


def test_a_gold_keyed_for_the_sample_only_has_no_missing_lemmas() -> None:
    view = lexicon_stage(GOLD, LEXICON, complete=False)
    assert not {each.about for each in findings_of("lexicon_quality", view)} & {
        "missing lemmas",
        "whole",
    }


def test_without_common_lemmas_there_is_no_l_star() -> None:
    nothing = lexicon_stage({"a": "a1"}, {"b": "b1"})
    assert findings_of("lexicon_quality", nothing) == []
    assert texts("lexicon_cautions", nothing) == [
        "No L* for lexicon: it has 0 lemmas in common with gold."
    ]


def test_lemmas_without_forms_have_no_weight() -> None:
    view = lexicon_stage({**GOLD, "z": ""}, {**LEXICON, "z": "z1"})
    assert "1 lemma without forms in gold has no weight in L*." in texts("lexicon_cautions", view)


def test_forms_under_other_lemmas_cause_a_caution() -> None:
    swapped = {"a": GOLD["c"], "c": GOLD["a"], "b": GOLD["b"], "d": GOLD["d"]}
    (sentence,) = texts("lexicon_cautions", lexicon_stage(GOLD, swapped), "matches")
    assert sentence == (
        "Forms are often listed under other lemmas in lexicon: L* is 33.3 % if each lemma is compared "
        "with the same lemma, and 100.0 % if it is compared with its best match."
    )


@given(st.integers(0, 500), st.integers(0, 5000))
def test_the_additional_lemmas_halve_the_error(size: int, population: int) -> None:
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
def test_any_two_lexicons_give_a_valid_table(
    gold: dict[str, list[str]], lexicon: dict[str, list[str]]
) -> None:
    one, two = (
        {lemma: " ".join(forms) for lemma, forms in each.items()} for each in (gold, lexicon)
    )
    findings = collect_findings({"quality": lexicon_stage(one, two)})
    for text in valid(as_table(findings), Findings)["text"]:
        assert "nan" not in text
        assert "None" not in text
        assert "undefined" not in text


@pytest.mark.parametrize(("left", "many"), [(0, 1), (12, 2)])
def test_absent_and_unkeyed_lemmas_are_reported(left: int, many: int) -> None:
    keyed = [
        {"lemma": "a", "found": True, "n_forms": 3},
        {"lemma": "b", "found": False, "n_forms": 0},
    ]
    steps = [{"number": 1, "step": "lemmas not looked up yet", "n": left}]
    tables = {
        "keyed": table(KeyedLemmas, keyed),
        "preparation": table(Preparation, steps),
        "disagreements": table(KeyingDisagreements, []),
    }
    sentences = texts("keying_cautions", stage("join.keying", tables, name="paper"))
    assert len(sentences) == many
    assert sentences[0] == (
        "Not found in the dictionary of paper: 1 of 2 lemmas looked up (50.0 %), which L* ignores."
    )
    later = ["12 lemmas of paper have not been looked up yet and are excluded."]
    assert sentences[1:] == later[: many - 1]


@pytest.mark.parametrize(
    ("rule", "by_rule"), [("union", "all their forms count"), ("majority", "a rule decided")]
)
def test_findings_count_how_different_keyings_were_decided(rule: str, by_rule: str) -> None:
    differ = [
        {"lemma": lemma, "annotator": who, "forms": who}
        for lemma in "abc" for who in ("anna", "ben")
    ]  # fmt: skip
    tables = {
        "keyed": table(KeyedLemmas, [{"lemma": x, "found": True, "n_forms": 1} for x in "abd"]),
        "preparation": table(Preparation, []),
        "disagreements": table(KeyingDisagreements, differ),
        "resolutions": table(
            KeyingResolutions, [{"lemma": "a", "forms": "u", "annotator": "carla", "first": ""}]
        ),
    }
    view = stage("join.keying", tables, name="paper", rule=rule)
    (sentence,) = texts("keying_cautions", view)
    assert sentence == (
        "People keyed in different forms for 3 lemmas of paper: 1 decided by adjudicators, 1 where"
        f" {by_rule}, 1 undecided and excluded."
    )
