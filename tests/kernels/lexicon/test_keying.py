"""Forms keyed in from a printed dictionary: reading, checks, and agreement of two people."""

from __future__ import annotations

import itertools
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.lexicon.keying import (
    BETWEEN,
    compare_keyings,
    forms_apart,
    forms_of,
    forms_text,
    keyed_forms,
    keying_agreement,
    keying_faults,
    keyings,
)
from pipeline.kernels.sampling import candidate_id
from pipeline.kernels.statistics.intervals import wilson


def entries(*rows: tuple[str, str | None]) -> pl.LazyFrame:
    table = pl.LazyFrame(list(rows), schema={"lemma": pl.String, "forms": pl.String}, orient="row")
    line = pl.int_range(2, pl.len() + 2, dtype=pl.Int64).alias("line")
    place = [pl.lit("s.csv").alias("file"), line, pl.lit("anna").alias("annotator")]
    return table.select(*place, candidate_id("lemma"), pl.all())


def test_typed_text_becomes_forms() -> None:
    table = entries(("a", " u,v ;w\nx, ,"), ("b", "–"), ("c", None), ("d", "two words"))
    assert sorted(keyed_forms(table).select("lemma", "form").collect().rows(), key=str) == [
        ("a", "u"), ("a", "v"), ("a", "w"), ("a", "x"), ("b", None), ("d", "two words"),
    ]  # fmt: skip
    assert keying_faults(table).collect().height == 0


def test_a_hyphen_inside_a_form_is_no_sign() -> None:
    table = entries(("a", "well-known, by-"))
    assert keying_faults(table).collect().height == 0
    assert keyed_forms(table).collect().height == 2


@pytest.mark.parametrize(
    ("forms", "faulty"),
    [
        ("u\rv", True),
        ("\r", True),
        ("u\n\r", True),
        ("u\r\nv", False),
        ("u\nv", False),
        ("\n", False),
    ],
)
def test_texts_that_encode_a_carriage_return_are_faults(forms: str, faulty: bool) -> None:
    """Workbooks encode it as _x000D_; careless programs write that text itself."""
    problems = keying_faults(entries(("a", forms))).collect()["problem"].to_list()
    assert any(r"write this text as \x5Fx000D_" in each for each in problems) == faulty


def test_wrong_and_empty_ids_are_faults() -> None:
    wrong = entries(("a", "u")).with_columns(id=pl.lit("x0"))
    empty = entries(("a", "u")).with_columns(id=pl.lit(None, pl.String))
    for rows, start in ((wrong, "is not the id of 'a'"), (empty, "is empty")):
        (problem,) = keying_faults(rows).collect()["problem"]
        assert problem.startswith(start)


def test_a_sign_of_one_person_and_forms_of_another_are_no_fault() -> None:
    two = entries(("a", "u"), ("a", "-")).with_columns(annotator=pl.Series(["anna", "ben"]))
    assert keying_faults(two).collect().is_empty()
    assert keying_faults(two.with_columns(annotator=pl.lit("anna"))).collect().height == 2


# Agreement of people on forms

Keyed = dict[tuple[str, str], frozenset[str]]
FORMS = st.frozensets(st.sampled_from("uvwx"), max_size=3)
KEYED = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["anna", "ben", "carla"])), FORMS,
    max_size=12,
)  # fmt: skip


def labels(keyed: Keyed) -> pl.LazyFrame:
    rows: list[tuple[str, str, str | None]] = [
        (lemma, who, form)
        for (lemma, who), forms in keyed.items()
        for form in ([*forms, *forms] if forms else [None])
    ]
    names = ("lemma", "annotator", "form")
    return keyings(pl.LazyFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row"))


@given(KEYED)
def test_labels_are_equal_for_equal_forms(keyed: Keyed) -> None:
    table = labels(keyed).select("lemma", "annotator", "label", forms=forms_of("label")).collect()
    assert {(a, b): frozenset(forms) for a, b, _, forms in table.iter_rows()} == keyed
    by_forms = dict(zip(map(tuple, table["forms"].to_list()), table["label"], strict=True))
    assert len(set(by_forms.values())) == len(by_forms)
    texts = table.select(forms_text("label")).to_series().to_list()
    assert texts == [", ".join(forms) or "-" for forms in table["forms"].to_list()]


@given(KEYED)
def test_agreement_on_forms_agrees_with_sets(keyed: Keyed) -> None:
    """Compare with sums over Python sets."""
    compared = compare_keyings(labels(keyed))
    expected: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for (lemma, one), (other, two) in itertools.product(keyed, keyed):
        if lemma == other and one < two:
            x, y = keyed[lemma, one], keyed[lemma, two]
            dice = 2 * len(x & y) / (len(x) + len(y)) if x or y else 1.0
            sides = (", ".join(sorted(each)) for each in (x - y, y - x))
            expected[lemma, one, two] = (len(x), len(y), len(x & y), dice, *sides)
    assert {row[:3]: row[3:] for row in compared.iter_rows()} == expected
    agreement = {row[:3]: row[3:] for row in keying_agreement(compared).iter_rows()}
    pairs = {key[1:] for key in expected}
    for pair in pairs:
        of_pair = [values for key, values in expected.items() if key[1:] == pair]
        equal = sum(values[3] == 1 for values in of_pair)
        result = agreement[(*pair, "lemmas")]
        assert result[:2] == (len(of_pair), pytest.approx(equal / len(of_pair)))
        limits = [float(each) for each in wilson(equal, len(of_pair))]
        assert list(result[2:4]) == pytest.approx(limits)
        sizes = sum(values[0] + values[1] for values in of_pair)
        with_forms = sum(values[0] + values[1] > 0 for values in of_pair)
        count, estimate, lower, upper, _ = agreement[(*pair, "forms")]
        assert count == with_forms
        if sizes:
            assert estimate == pytest.approx(2 * sum(values[2] for values in of_pair) / sizes)
            assert 0 <= lower <= estimate <= upper <= 1
        else:
            assert estimate is lower is upper is None
    people = {name for pair in pairs for name in pair}
    assert (("*", "*", "lemmas") in agreement) == (len(people) > 2)


def test_equal_keyings_of_few_lemmas_have_wide_limits() -> None:
    """Without variance the limits are exact binomial ones: 0.025 ** (1 / 10) of ten lemmas."""
    keyed = {(f"l{n}", who): frozenset("uv") for n in range(10) for who in ("anna", "ben")}
    forms = keying_agreement(compare_keyings(labels(keyed))).filter(statistic="forms")
    row = forms.row(0, named=True)
    assert (row["lemmas"], row["estimate"], row["upper"]) == (10, 1.0, 1.0)
    assert row["lower"] == pytest.approx(0.025**0.1, abs=0.02)


def test_differing_forms_of_three_people_are_listed() -> None:
    labels: dict[str, dict[str, tuple[str, ...]]] = {
        "ra": {"anna": ("a", "b"), "ben": ("a", "c"), "carla": ("a",)},
        "dar": {"anna": ("d",), "ben": ("d",)},
        "xi": {"anna": ("-",), "ben": ("f", "e")},
        "wied": {"anna": ("w",)},
    }
    rows = [
        (lemma, who, BETWEEN.join(forms))
        for lemma, people in labels.items()
        for who, forms in people.items()
    ]
    table = pl.LazyFrame(rows, schema=["lemma", "annotator", "label"], orient="row")
    assert forms_apart(table) == {
        "ra": {"anna": ["b"], "ben": ["c"]},
        "xi": {"anna": ["-"], "ben": ["e", "f"]},
    }
    assert forms_apart(table.clear()) == {}
