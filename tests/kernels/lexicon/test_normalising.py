"""One spelling: what each step does, in which order, and what is counted."""

from __future__ import annotations

import unicodedata

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.lexicon.wordlists import Spelling, generated, normalised


def forms(texts: list[str | None], spelling: Spelling) -> tuple[list[str | None], list[int]]:
    rows = pl.DataFrame({"form": texts}, schema={"form": pl.String})
    found, counts = normalised(rows, spelling, columns=["form"])
    return found["form"].to_list(), counts["n"].to_list()


def test_each_step_is_counted() -> None:
    spelling = Spelling(unicode="NFC", case="lower", replace={"ё": "е"})
    assert forms([" е\u0308ж", "Ёлка ", None, " "], spelling) == (
        ["еж", "елка", None, None], [3, 1, 1, 2],
    )  # fmt: skip


def test_as_it_is_but_for_blanks() -> None:
    spelling = Spelling(unicode="as_it_is")
    assert forms(["e\u0301 ", "É"], spelling) == (["e\u0301", "É"], [1])


def test_the_longest_is_replaced_first() -> None:
    assert forms(["għada"], Spelling(replace={"g": "q", "għ": "ʕ"}))[0] == ["ʕada"]


def test_an_example_is_given() -> None:
    rows = pl.DataFrame({"lemma": ["Ra", "A"], "form": ["Ra", "b"]})
    counts = normalised(rows, Spelling(case="lower"), columns=["lemma", "form"])[1]
    assert counts.row(by_predicate=pl.col("step") == "lower case") == (
        "lower case", 3, "'A' → 'a'",
    )  # fmt: skip


@given(st.lists(st.text("aÄñ e\u0301\ufb01", max_size=4)))
def test_equals_the_standard_library(texts: list[str]) -> None:
    made, _ = forms(list(texts), Spelling(unicode="NFKC"))
    assert made == [unicodedata.normalize("NFKC", text.strip()) or None for text in texts]


def test_paradigms_generate_forms() -> None:
    rows = [("kiteb", "ktib", "I"), ("ra", "ra", "II"), ("ħa", "ħa", "none")]
    entries = pl.LazyFrame(rows, schema=["lemma", "stem", "paradigm"], orient="row")
    endings = pl.LazyFrame(
        [("I", "t"), ("I", "ni~"), ("I", "t~u"), ("II", None), ("III", "x")],
        schema=["paradigm", "ending"], orient="row",
    )  # fmt: skip
    assert sorted(generated(entries, endings).collect().rows()) == [
        ("kiteb", "ktibt"), ("kiteb", "niktib"), ("kiteb", "tktibu"), ("ra", "ra"),
    ]  # fmt: skip
