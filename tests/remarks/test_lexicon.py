from __future__ import annotations

import polars as pl
import pytest

from tests.remarks.listening import hear


def sample(number: int, *, population: int) -> dict[str, pl.DataFrame]:
    rows = [(f"lemma{i}", population) for i in range(number)]
    schema = {"lemma": pl.String, "population": pl.Int64}
    return {"sample": pl.DataFrame(rows, schema=schema, orient="row")}


def test_fewer_lemmas_than_asked() -> None:
    (told,) = hear("few_lemmas_drawn", outputs=sample(79, population=79), size=100)
    assert told.text == "79 of the 100 requested lemmas: gold and lexicons share 79"
    assert told.level == "note"
    assert not hear("few_lemmas_drawn", outputs=sample(79, population=300), size=79)
    assert not hear("few_lemmas_drawn", outputs=sample(79, population=300), size=None)


def test_no_lemma_at_all_is_a_warning() -> None:
    (told,) = hear("few_lemmas_drawn", outputs=sample(0, population=0), size=100)
    assert told.level == "warning"
    assert "share 0" in told.text


@pytest.mark.parametrize(("lemmas", "heard"), [(4, True), (5, False)])
def test_few_lemmas_behind_the_measure(lemmas: int, heard: bool) -> None:
    outputs = {"lemmas": sample(lemmas, population=9)["sample"]}
    assert bool(hear("few_lemmas_judged", outputs=outputs)) == heard


@pytest.mark.parametrize(
    "form", ["ging / gegangen", "ging/gegangen", "ging oder gegangen", "a | b", "went or gone"]
)
def test_forms_that_look_like_several(form: str) -> None:
    forms = pl.DataFrame({"lemma": ["gehen", "laufen"], "form": [form, "lief"]})
    (told,) = hear("several_keyed", outputs={"gold": forms})
    assert told.such_as == (f"{form!r} of 'gehen'",)


@pytest.mark.parametrize("form", ["ging", "l'or", "Sturm-und-Drang", "order", "/", "und", None])
def test_forms_that_are_one(form: str | None) -> None:
    forms = pl.DataFrame({"lemma": ["gehen"], "form": [form]}, schema_overrides={"form": pl.String})
    assert not hear("several_keyed", outputs={"gold": forms})
