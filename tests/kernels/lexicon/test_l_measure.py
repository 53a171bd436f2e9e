"""The L-measure: the paper's example, published figures, slow scalars, laws."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given

from pipeline.kernels.lexicon.l_measure import (
    Weights,
    f_star,
    l_star,
    lemma_scores,
    lexicon_overlaps,
    matches,
)
from pipeline.kernels.lexicon.wordlists import canonical, common
from tests.kernels.lexicon.lexicons import (
    DICTIONARY,
    MISSIER,
    Lexicon,
    best,
    frame,
    lexicons,
    star,
    value,
)


def found(gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> pl.DataFrame:
    return matches(lexicon_overlaps(gold, lexicon), gold, lexicon).collect().sort("lemma")


def scored(
    gold: pl.LazyFrame, lexicon: pl.LazyFrame, *, weights: Weights = "gold", n: int | None = None
) -> pl.DataFrame:
    held = found(gold, lexicon).lazy().join(common(gold, lexicon), on="lemma", how="semi")
    return lemma_scores(held, weights=weights, n=n).collect().sort("lemma")


def measured(scores: pl.DataFrame) -> float | None:
    return l_star(scores["size"], scores["L"], float(scores["base"].sum()))


def test_worked_example() -> None:
    """Dalli: 7 of 10 forms, L = 14/17, contribution 7/5887 L = 0.000979226."""
    row = scored(frame(DICTIONARY), frame(MISSIER), weights="published", n=5887)
    assert row.select("precision", "recall", "L").row(0) == (1.0, 0.7, 14 / 17)
    assert round(row["contribution"].item(), 9) == 0.000979226


def test_published_weights_without_n() -> None:
    row = scored(frame(DICTIONARY), frame(MISSIER), weights="published")
    assert row["contribution"].item() == pytest.approx(7 / 10 * 14 / 17)
    assert row.select("size", "base").row(0) == (7, 10)


@pytest.mark.parametrize(
    ("gold", "lexicon", "expected"),
    [
        ("camilleri_verbinfl_base.tsv", "gf_dictmlt_verbs_base.tsv",
         (51, 648, 0.8980, 0.9468, 0.9195, 0.0322, 0.9129)),
        ("gf_dictmlt_verbs_base.tsv", "unimorph_mlt.tsv",
         (84, 1288, 0.7635, 0.6978, 0.7262, 0.0640, 0.7205)),
        ("apertium_mlt_verbs_base.tsv", "unimorph_mlt.tsv",
         (85, 1571, 0.9326, 0.7024, 0.7963, 0.0190, 0.7864)),
    ],
)  # fmt: skip
def test_maltese_lexicons(
    gold: str,
    lexicon: str,
    expected: tuple[float, ...],
    public_data: Callable[[str], Path],
) -> None:
    first, second = (
        canonical(pl.scan_csv(public_data(f"lexicon/{name}"), separator="\t", quote_char=None))
        for name in (gold, lexicon)
    )
    scores = scored(first, second)
    means = [scores[name].mean() for name in ("precision", "recall", "L")]
    got: tuple[Any, ...] = (*means, scores["L"].var(ddof=0), measured(scores))
    assert (scores.height, scores["n_gold"].sum()) == expected[:2]
    assert tuple(round(float(each), 4) for each in got) == expected[2:]


def test_spanish_lexicons(public_data: Callable[[str], Path]) -> None:
    gold, lexicon = (
        canonical(
            pl.read_csv(public_data(f"lexicon/{name}"), separator="\t", quote_char=None).lazy()
        ).collect().lazy()
        for name in ("apertium_es_base.tsv.gz", "hunspell_es_ES.tsv.gz")
    )  # fmt: skip
    scores = scored(gold, lexicon)
    assert scores.height == 9343
    assert scores["L"].mean() == pytest.approx(0.9079, abs=5e-5)
    assert round(measured(scores) or 0, 4) == 0.8391


@given(lexicons, lexicons)
def test_equals_the_slow_scalars(gold: Lexicon, lexicon: Lexicon) -> None:
    rows = found(frame(gold), frame(lexicon)).to_dicts()
    assert [row["lemma"] for row in rows] == sorted(gold)
    for row in rows:
        _most, whose = best(row["lemma"], gold, lexicon)
        assert row["match"] == whose
        forms = lexicon.get(whose or "", set())
        assert (row["n_gold"], row["n_match"]) == (len(gold[row["lemma"]]), len(forms))
        assert row["n_common"] == len(gold[row["lemma"]] & forms)
        own = lexicon.get(row["lemma"])
        assert row["n_same"] == (None if own is None else len(own))
        assert row["n_same_common"] == len(gold[row["lemma"]] & (own or set()))
    shared = sorted({*gold} & {*lexicon})
    scores = scored(frame(gold), frame(lexicon))
    assert [Fraction(each).limit_denominator(100) for each in scores["L"]] == [
        best(lemma, gold, lexicon)[0] for lemma in shared
    ]
    wanted = star(shared, gold, lexicon)
    got = measured(scores)
    assert (got is None) == (wanted is None)
    assert got is None or got == pytest.approx(float(wanted or 0))
    assert scores["contribution"].sum() == pytest.approx(got or 0.0)
    assert scores["L"].is_between(0, 1).all()
    same = [float(value(gold[lemma], lexicon[lemma])) for lemma in shared]
    assert scores["same_l"].to_list() == pytest.approx(same)


@given(lexicons, lexicons)
def test_f_star_equals_the_slow_scalar(gold: Lexicon, lexicon: Lexicon) -> None:
    got = f_star(found(frame(gold), frame(lexicon)))
    wanted = star(list(gold), gold, lexicon)
    assert (got is None) == (wanted is None)
    assert got is None or got == pytest.approx(float(wanted or 0))


@given(lexicons, lexicons)
def test_f_star_is_l_star_if_y_is_the_whole_gold(gold: Lexicon, lexicon: Lexicon) -> None:
    whole: Lexicon = {**{lemma: set() for lemma in gold}, **lexicon}
    scores = scored(frame(gold), frame(whole))
    assert measured(scores) == f_star(found(frame(gold), frame(whole)))


@given(lexicons, lexicons)
def test_l_star_is_1_if_the_lexicon_equals_the_gold_on_y(gold: Lexicon, more: Lexicon) -> None:
    assume(any(gold.values()))
    others = {f"{lemma}'": forms for lemma, forms in more.items()}
    assert measured(scored(frame(gold), frame({**gold, **others}))) == 1.0


def test_swapped_lemmas_score_1_too() -> None:
    """The maximum runs over all lemmas of the lexicon, so the converse does not hold."""
    gold = {"a": {"u", "v"}, "b": {"x"}}
    scores = scored(frame(gold), frame({"a": {"x"}, "b": {"u", "v"}}))
    assert measured(scores) == 1.0
    assert scores["match"].to_list() == ["b", "a"]
    assert scores["same_l"].to_list() == [0.0, 0.0]


@given(lexicons, lexicons)
def test_row_order_changes_no_bit(gold: Lexicon, lexicon: Lexicon) -> None:
    one = scored(frame(gold), frame(lexicon))
    two = scored(frame(gold).reverse(), frame(lexicon).reverse())
    assert one.equals(two)


def test_ties_take_the_same_lemma_then_the_smallest() -> None:
    gold = {"m": {"u", "v"}}
    lexicon = {"b": {"u"}, "a": {"v"}, "m": {"u"}}
    assert found(frame(gold), frame(lexicon))["match"].item() == "m"
    del lexicon["m"]
    assert found(frame(gold), frame(lexicon))["match"].item() == "a"


def test_no_common_lemma_and_an_empty_lexicon() -> None:
    for other in ({}, {"b": {"y"}}):
        scores = scored(frame({"a": {"x"}}), frame(other))
        assert scores.height == 0
        assert measured(scores) is None
        assert found(frame({"a": {"x"}}), frame(other))["match"].to_list() == [None]
    assert f_star(found(frame({}), frame({"b": {"y"}}))) is None


def test_a_lemma_without_forms_weighs_nothing() -> None:
    scores = scored(frame({"a": set(), "b": {"x"}}), frame({"a": {"y"}, "b": {"x"}}))
    assert scores.select("lemma", "L", "weight").rows() == [("a", 0.0, 0.0), ("b", 1.0, 1.0)]


@pytest.mark.long
def test_a_form_in_a_thousand_lemmas() -> None:
    many = {f"l{number:03}": {"x", f"y{number}"} for number in range(1000)}
    scores = scored(frame(many), frame(many))
    assert measured(scores) == 1.0
    assert scores["match"].to_list() == scores["lemma"].to_list()
