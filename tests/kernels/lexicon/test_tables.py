"""Forms side by side, keyed-in forms, moving averages, statistics, comparison."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.lexicon.inference import Interval
from pipeline.kernels.lexicon.l_measure import (
    Entropy,
    aligned,
    lemma_scores,
    lexicon_overlaps,
    listed,
    matches,
)
from pipeline.kernels.lexicon.statistics import Whole, moving_average, quality, trends
from pipeline.kernels.lexicon.wordlists import common, keyed_forms, keying_faults
from pipeline.kernels.sampling import candidate_id
from schemas import LemmaScores
from tests.kernels.lexicon.lexicons import Lexicon, frame, lexicons

NOTHING = Interval(None, None, None, None, "linearised")


@given(lexicons, lexicons)
def test_forms_are_those_of_the_sets(gold: Lexicon, lexicon: Lexicon) -> None:
    pairs = [(i, j) for i in gold for j in list(lexicon)[:1]]
    matched = pl.LazyFrame(pairs, schema={"lemma": pl.String, "match": pl.String}, orient="row")
    forms = aligned(matched, frame(gold), frame(lexicon))
    wanted = sorted(
        (i, form, form in gold[i], form in lexicon[j])
        for i, j in pairs
        for form in gold[i] | lexicon[j]
    )
    assert sorted(forms.collect().rows()) == wanted
    for lemma, n_missing, missing, n_spurious, spurious in listed(forms).collect().rows():
        other = lexicon[dict(pairs)[lemma]]
        assert missing == ", ".join(sorted(gold[lemma] - other))
        assert spurious == ", ".join(sorted(other - gold[lemma]))
        assert (n_missing, n_spurious) == (len(gold[lemma] - other), len(other - gold[lemma]))


def entries(*rows: tuple[str, str | None]) -> pl.LazyFrame:
    made = pl.LazyFrame(list(rows), schema={"lemma": pl.String, "forms": pl.String}, orient="row")
    line = pl.int_range(2, pl.len() + 2, dtype=pl.Int64).alias("line")
    place = [pl.lit("s.csv").alias("file"), line, pl.lit("anna").alias("annotator")]
    return made.select(*place, candidate_id("lemma"), pl.all())


def test_what_was_typed_becomes_forms() -> None:
    typed = entries(("a", " u,v ;w\nx, ,"), ("b", "–"), ("c", None), ("d", "two words"))
    assert sorted(keyed_forms(typed).select("lemma", "form").collect().rows(), key=str) == [
        ("a", "u"), ("a", "v"), ("a", "w"), ("a", "x"), ("b", None), ("d", "two words"),
    ]  # fmt: skip
    assert keying_faults(typed).collect().height == 0


def test_a_hyphen_inside_a_form_is_none_of_the_signs() -> None:
    typed = entries(("a", "well-known, by-"))
    assert keying_faults(typed).collect().height == 0
    assert keyed_forms(typed).collect().height == 2


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
def test_a_carriage_return_may_have_been_text(forms: str, faulty: bool) -> None:
    """Workbooks have it as _x000D_, and the text _x000D_ of careless programs, too."""
    said = keying_faults(entries(("a", forms))).collect()["problem"].to_list()
    assert any(r"type that text \x5Fx000D_" in each for each in said) == faulty


def test_ids_are_checked() -> None:
    wrong = entries(("a", "u")).with_columns(id=pl.lit("x0"))
    empty = entries(("a", "u")).with_columns(id=pl.lit(None, pl.String))
    for rows, start in ((wrong, "is not the id of 'a'"), (empty, "is empty")):
        (said,) = keying_faults(rows).collect()["problem"]
        assert said.startswith(start)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(1, 12))
def test_moving_average(values: list[float], span: int) -> None:
    found = moving_average(values, span=span)
    for place, mean in enumerate(found):
        low, high = max(0, place - (span - 1) // 2), place + span // 2 + 1
        assert mean == pytest.approx(np.mean(values[low:high]))
        assert min(values) <= mean <= max(values)


def scores(gold: Lexicon, lexicon: Lexicon) -> pl.DataFrame:
    first, second = frame(gold), frame(lexicon)
    found = matches(lexicon_overlaps(first, second), first, second)
    made = lemma_scores(found.join(common(first, second), on="lemma", how="semi")).collect()
    whole = {"n_missing": pl.col("n_gold") - pl.col("n_common"), "drawn": pl.lit(value=True),
             "n_spurious": pl.col("n_match") - pl.col("n_common"), "missing": pl.lit(""),
             "spurious": pl.lit(""), "population": pl.len().cast(pl.Int64),
             "pi": pl.lit(1.0), "base_total": pl.col("base").sum()}  # fmt: skip
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return made.sort("lemma").with_columns(**whole, position=place).select(*LemmaScores.columns())


GOLD = {"a": {"u", "v", "w"}, "b": {"x"}, "c": {"y", "z"}}
LEXICON = {"a": {"u"}, "b": {"x"}, "c": {"y", "q"}}


def test_trends_in_order_of_size() -> None:
    made = trends(scores(GOLD, LEXICON), order="size", span=2)
    assert made["lemma"].to_list() == ["b", "c", "a"]
    assert made["L"].to_list() == [1.0, 0.5, 0.5]
    assert made["l_trend"].to_list() == [0.75, 0.5, 0.5]
    assert trends(scores(GOLD, LEXICON))["lemma"].to_list() == ["a", "b", "c"]
    assert trends(scores({}, {})).height == 0


def test_statistics_by_hand() -> None:
    """P = 1, 1, .5; R = 1/3, 1, .5; L = .5, 1, .5."""
    whole = Whole(9, 8, 3, 0.4, 0.3, Entropy(0.1, 2, 7))
    found = Interval(0.6, 0.1, 0.4, 0.8, "linearised")
    made = quality(scores(GOLD, LEXICON), found, whole, n=None)
    value = dict(made.select("statistic", "value").rows())
    L, P, R = [0.5, 1, 0.5], [1, 1, 0.5], [1 / 3, 1, 0.5]
    assert value["mean L"] == pytest.approx(2 / 3)
    assert value["mean precision"] == pytest.approx(5 / 6)
    assert value["mean recall"] == pytest.approx(11 / 18)
    assert value["variance of L"] == pytest.approx(np.var(L, ddof=1))
    assert value["population variance of L"] == pytest.approx(np.var(L))
    assert value["r(L, P)"] == pytest.approx(np.corrcoef(L, P)[0, 1])
    assert value["r(L, R)"] == pytest.approx(np.corrcoef(L, R)[0, 1])
    assert value["mean contribution"] == pytest.approx((3 * 0.5 + 1 + 2 * 0.5) / 6 / 3)
    forms = ("gold forms", "common forms", "missing forms", "spurious forms")
    assert [value[name] for name in forms] == [6, 3, 3, 1]
    assert (value["n"], value["sampled lemmas"], value["coverage"]) == (6, 3, 3 / 9)
    assert (value["F*"], value["E*"], value["lemmas outside"]) == (0.4, 0.1, 2)
    star = made.filter(statistic="L*").row(0, named=True)
    assert (star["value"], star["lower"], star["upper"]) == (0.6, 0.4, 0.8)


def test_statistics_of_one_lemma_and_of_none() -> None:
    one = quality(scores({"a": {"u"}}, {"a": {"u"}}), NOTHING, Whole(), n=None)
    value = dict(one.select("statistic", "value").rows())
    assert (value["variance of L"], value["population variance of L"]) == (None, 0.0)
    assert (value["r(L, P)"], value["coverage"], value["E*"]) == (None, None, None)
    none = dict(
        quality(scores({}, {}), NOTHING, Whole(), n=None).select("statistic", "value").rows()
    )
    assert (none["mean L"], none["mean contribution"], none["n"]) == (None, None, 0)
