"""Templates of labels: what they ask for, what they make, and those that make no sense."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.kernels.cooccurrence.tokens import fields, label

TOKENS = pl.DataFrame(
    {"lemma": ["Frage", "Tat", None], "prep.lemma": ["in", None, "zu"], "n": [1, 2, 3]}
)


def labels(template: str, *optional: str) -> list[str | None]:
    return TOKENS.select(label(template, optional=frozenset(optional))).to_series().to_list()


def test_an_absent_attribute_leaves_no_label_unless_it_is_optional() -> None:
    assert labels("{prep.lemma}:{lemma}") == ["in:Frage", None, None]
    assert labels("{prep.lemma}:{lemma}", "prep") == ["in:Frage", ":Tat", None]


def test_numbers_and_braces() -> None:
    assert labels("{{{n}}}") == ["{1}", "{2}", "{3}"]
    assert fields("{{{n}}} {lemma}") == ["n", "lemma"]


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{}", "write {attribute} or {name.attribute}"),
        ("{lemma!r}", "write {attribute} or {name.attribute}"),
        ("{lemma:>9}", "write {attribute} or {name.attribute}"),
        ("lemma", "names no attribute"),
        ("{lemma", "has a brace without its like: write {attribute}"),
        ("lemma}", "has a brace without its like: write {attribute}"),
    ],
)
def test_templates_that_make_no_sense(template: str, said: str) -> None:
    for make in (fields, label):
        with pytest.raises(ValueError, match=said):
            make(template)


@pytest.mark.parametrize("blank", ["", " ", "\u00a0\t"])
def test_nothing_but_blanks_is_no_label(blank: str) -> None:
    frame = pl.DataFrame({"lemma": [blank, "a"]})
    assert frame.select(label("{lemma}")).to_series().to_list() == [None, "a"]
