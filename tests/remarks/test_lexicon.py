from __future__ import annotations

import polars as pl
import pytest

from tests.remarks.run_check import run_check


def sample(number: int, *, population: int) -> dict[str, pl.DataFrame]:
    rows = [(f"lemma{i}", population) for i in range(number)]
    schema = {"lemma": pl.String, "population": pl.Int64}
    return {"sample": pl.DataFrame(rows, schema=schema, orient="row")}


def test_fewer_lemmas_than_requested_are_reported() -> None:
    (remark,) = run_check("few_lemmas_drawn", outputs=sample(79, population=79), size=100)
    assert remark.text == "79 of the 100 requested lemmas: gold and lexicons share 79"
    assert remark.level == "note"
    assert not run_check("few_lemmas_drawn", outputs=sample(79, population=300), size=79)
    assert not run_check("few_lemmas_drawn", outputs=sample(79, population=300), size=None)


def test_no_lemma_at_all_is_a_warning() -> None:
    (remark,) = run_check("few_lemmas_drawn", outputs=sample(0, population=0), size=100)
    assert remark.level == "warning"
    assert "share 0" in remark.text


def groups(*large: float) -> pl.DataFrame:
    """Return the table of sizes: large lemmas, those drawn, forms of both; of 1,000 lemmas."""
    other = ("other", 998, 50, 900.0, 45.0)
    columns = ("group", "n_lemmas", "n_drawn", "forms", "forms_drawn")
    return pl.DataFrame([("large", *large), other], schema=columns, orient="row")


@pytest.mark.parametrize(
    ("large", "chances", "expected"),
    [
        ((2, 0, 100.0, 0.0), [0.1, 0.1],
         ("a simple sample: 2 of 1,000 lemmas have at least 5 times the mean number of forms; 2 were"
         " not drawn, with 10.0 % of all forms, and the limits of L* do not account for them")),
        ((2, 1, 100.0, 90.0), [0.1], "1 was not drawn, with 1.0 % of all forms"),
        ((2, 1, 100.0, 91.0), [0.1], ""),  # less than the threshold
        ((2, 2, 100.0, 100.0), [0.1, 0.1], ""),
        ((2, 0, 100.0, 0.0), [0.1, 0.2], ""),  # drawn by size
        ((2, 0, 100.0, 0.0), [None, None], ""),  # chosen
        ((2, 0, 100.0, 0.0), [], ""),
    ],
)  # fmt: skip
def test_large_lemmas_absent_from_a_simple_sample_are_reported(
    large: tuple[float, ...], chances: list[float | None], expected: str
) -> None:
    draws = pl.DataFrame({"pi": chances}, schema={"pi": pl.Float64})
    remarked = run_check(
        "large_lemmas_not_drawn", outputs={"sample": draws, "sizes": groups(*large)}
    )
    assert bool(remarked) == bool(expected)
    for each in remarked:
        assert expected in each.text
        assert each.level == "warning"
        assert 'design = "size"' in each.remedy


@pytest.mark.parametrize(("lemmas", "remarked"), [(4, True), (5, False)])
def test_few_lemmas_in_the_evaluation_are_reported(lemmas: int, remarked: bool) -> None:
    outputs = {"lemmas": sample(lemmas, population=9)["sample"]}
    assert bool(run_check("few_lemmas_judged", outputs=outputs)) == remarked


@pytest.mark.parametrize(
    "form", ["ging / gegangen", "ging/gegangen", "ging oder gegangen", "a | b", "went or gone"]
)
def test_forms_that_look_like_several_are_reported(form: str) -> None:
    forms = pl.DataFrame({"lemma": ["gehen", "laufen"], "form": [form, "lief"]})
    (remark,) = run_check("several_keyed", outputs={"gold": forms})
    assert remark.such_as == (f"{form!r} of 'gehen'",)


@pytest.mark.parametrize("form", ["ging", "l'or", "Sturm-und-Drang", "order", "/", "und", None])
def test_single_forms_have_no_remark(form: str | None) -> None:
    forms = pl.DataFrame({"lemma": ["gehen"], "form": [form]}, schema_overrides={"form": pl.String})
    assert not run_check("several_keyed", outputs={"gold": forms})


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        (["go, goes, went", "ox"], "set forms_separator to ','"),
        (["a;b", "c; d", "e,f", "g"], "set forms_separator to ';'"),
        (["go", "goes", "l'eau", "1,5", "x ,"] * 20, ""),
        (["go"], ""),
        ([], ""),
    ],
)
def test_fields_with_several_forms_are_reported(forms: list[str], expected: str) -> None:
    schema = {"lemma": pl.String, "form": pl.String}
    words = pl.DataFrame([(f"l{i}", form) for i, form in enumerate(forms)], schema, orient="row")
    remarks = run_check("lists_of_forms", outputs={"lexicon": words})
    assert len(remarks) == bool(expected)
    for each in remarks:
        assert each.level == "warning"
        assert expected in str(each.remedy)
