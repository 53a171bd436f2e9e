"""The L-measure of two mappings: the paper's example, slow implementations, the stage's values."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given

import pipeline as lx
from pipeline.errors import ConfigError
from tests.kernels.lexicon.lexicons import (
    DICTIONARY,
    MISSIER,
    Lexicon,
    entropy,
    frame,
    lexicons,
    most_in_common,
    star,
)
from tests.stages.run_stage import run_stage


def test_the_worked_example_has_its_published_value() -> None:
    """Dalli: the lexicon has 7 of 10 forms, L = 14/17."""
    measures = lx.l_measure(DICTIONARY, MISSIER)
    assert measures.l_star == measures.f_star == 14 / 17
    row = measures.lemmas.row(0, named=True)
    assert (row["lemma"], row["n_common"], row["precision"], row["recall"]) == (
        "missier", 7, 1.0, 0.7,
    )  # fmt: skip
    assert repr(measures) == (
        "LMeasure(l_star=0.8235, f_star=0.8235, entropy=0.0, best_match=0.8235, coverage=1.0, "
        "lemmas: 1)"
    )


@given(lexicons, lexicons)
def test_values_equal_those_of_slow_implementations(gold: Lexicon, lexicon: Lexicon) -> None:
    measures = lx.l_measure(gold, lexicon)
    both = sorted(set(gold) & set(lexicon))
    forms = sum(map(len, gold.values())) + sum(map(len, lexicon.values()))
    match = 2 * most_in_common(gold, lexicon) / forms if forms else None
    expected = [star(both, gold, lexicon), star(list(gold), gold, lexicon), entropy(gold, lexicon),
                match, len(both) / len(gold) if gold else None]  # fmt: skip
    values = [
        measures.l_star,
        measures.f_star,
        measures.entropy,
        measures.best_match,
        measures.coverage,
    ]
    for value, other in zip(values, expected, strict=True):
        assert value == (None if other is None else pytest.approx(float(other)))
    assert measures.lemmas["lemma"].to_list() == both
    assert measures.lemmas["contribution"].sum() == pytest.approx(measures.l_star or 0.0)


def test_values_are_those_of_the_stage() -> None:
    gold: Lexicon = {"a": {"u", "v"}, "b": {"x"}, "c": {"y"}}
    lexicon: Lexicon = {"a": {"u"}, "b": {"x", "v"}, "d": {"y"}}
    tables = {"gold": frame(gold).collect(), "lexicon": frame(lexicon).collect()}
    overlaps = run_stage("score.lexicon", {}, **tables)["overlaps"]
    outputs = run_stage("evaluate.lexicon", {"seed": "s"}, overlaps=overlaps, **tables)
    expected = dict(outputs["quality"].select("statistic", "value").rows())
    measures = lx.l_measure(gold, lexicon)
    names = ("L*", "F*", "E*", "best-match F1", "coverage")
    values = (
        measures.l_star,
        measures.f_star,
        measures.entropy,
        measures.best_match,
        measures.coverage,
    )
    assert dict(zip(names, values, strict=True)) == {name: expected[name] for name in names}
    assert measures.lemmas.equals(outputs["lemmas"].select(measures.lemmas.columns))


def test_forms_may_be_in_any_collection() -> None:
    expected = lx.l_measure({"a": {"u"}, "b": set()}, {"a": {"u", "v"}, "b": {"w"}})
    for gold in ({"a": "u", "b": None}, {"a": ["u", "u"], "b": []}, {"a": ("u",), "b": ()}):
        assert lx.l_measure(gold, {"a": ["v", "u"], "b": "w"}) == expected


def test_pairs_are_read_as_mappings() -> None:
    gold, lexicon = {"a": {"u", "v"}, "b": set()}, {"a": {"u"}, "c": {"v", "w"}}
    expected = lx.l_measure(gold, lexicon)
    pairs = [("a", "v"), ("b", None), ("a", "u"), ("a", "u")]
    assert lx.l_measure(pairs, [("c", ["v"]), ("a", "u"), ("c", {"w"})]) == expected
    lists: Any = [list(each) for each in lexicon.items()]
    assert lx.l_measure(gold.items(), lists) == expected
    assert expected.coverage == 0.5
    assert lx.l_measure([], []) == lx.l_measure({}, {})


def test_without_common_lemmas_values_are_undefined() -> None:
    measures = lx.l_measure({}, {})
    assert repr(measures).endswith("entropy=None, best_match=None, coverage=None, lemmas: 0)")
    assert lx.l_measure({"a": ["u"]}, {}).l_star is None
    assert lx.l_measure({"a": ["u"]}, {}).f_star == 0.0
    assert lx.l_measure({}, {"a": ["u"]}).coverage is None


@pytest.mark.parametrize(
    ("lexicon", "message"),
    [
        (
            {"a": ["u", ""], "": ["v"]},
            "lexicon: 2 of 3 lemmas or forms are empty or not text, for example",
        ),
        ({"a": [1]}, "'a': 1; map lemmas to forms as text"),
        (
            {3: ["u"], "": []},
            "2 of 2 lemmas or forms are empty or not text, for example 3: 'u'; '': ''",
        ),
        ({"a": [None]}, "'a': None"),
        ({"a": 7}, "lexicon: 1 of 1 are not a lemma with its form or forms, for example ('a', 7)"),
        (7, "lexicon: is of type int; give a mapping of lemmas to forms, or pairs of a lemma"),
        ("ab", "lexicon: is of type str"),
        (pl.DataFrame({"lemma": ["a"], "form": ["u"]}), "lexicon: is of type DataFrame"),
        (
            [("a", "u"), "ab", ("b",)],
            "2 of 3 are not a lemma with its form or forms, for example 'ab' at position 1",
        ),
        ([("a", "u"), (["b"], "u")], "1 of 2 are not a lemma"),
        ([("a", "")], "lexicon: 1 of 1 lemmas or forms are empty or not text"),
    ],
)
def test_invalid_lexicons_are_refused(lexicon: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        lx.l_measure({"a": ["u"]}, lexicon)
    assert message in str(caught.value)
