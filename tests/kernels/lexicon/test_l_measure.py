"""The L-measure: the paper's example, published figures, slow scalars, laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from pipeline.kernels.lexicon.inference import Interval
from pipeline.kernels.lexicon.l_measure import (
    Entropy,
    Weights,
    align,
    align_in_parts,
    assign_pairs,
    best_match_f,
    best_match_in_parts,
    entropy,
    entropy_in_parts,
    f_star,
    l_star,
    lemma_scores,
    lexicon_overlaps,
    list_differences,
    match_lemmas,
    matches,
    overlaps_in_parts,
)
from pipeline.kernels.lexicon.statistics import Whole, moving_average, quality, trends
from pipeline.kernels.lexicon.wordlists import (
    canonical,
    common,
    common_in_parts,
)
from pipeline.kernels.partitions import ranges_of
from schemas import LemmaScores
from tests.kernels.lexicon.lexicons import (
    DICTIONARY,
    MISSIER,
    Lexicon,
    best,
    frame,
    lexicons,
    most_in_common,
    star,
    value,
)
from tests.kernels.lexicon.lexicons import entropy as slow_entropy
from tests.kernels.room_for import room_for

# Entropy and the one-to-one assignment, against slow scalars and every permutation.


def table(gold: Lexicon, lexicon: Lexicon) -> pl.DataFrame:
    return lexicon_overlaps(frame(gold), frame(lexicon)).collect()


@given(lexicons, lexicons)
def test_entropy_equals_the_slow_scalar(gold: Lexicon, lexicon: Lexicon) -> None:
    result = entropy(table(gold, lexicon), frame(gold), frame(lexicon))
    expected = slow_entropy(gold, lexicon)
    assert (result.value is None) == (expected is None)
    assert result.value is None or result.value == pytest.approx(expected, abs=1e-12)
    gold_forms = set().union(*gold.values())
    assert result.outside == sum(not forms & gold_forms for forms in lexicon.values())
    assert result.unknown == len(set().union(*lexicon.values()) - gold_forms)


def test_pure_clusters_have_zero_entropy() -> None:
    gold = {"a": {"u", "v"}, "b": {"x"}}
    result = entropy(table(gold, gold), frame(gold), frame(gold))
    assert str(result.value) == "0.0"


def test_shared_forms_count_for_each_lemma() -> None:
    """One form of four lemmas: two bits, though n_ij / n_j would sum to 4."""
    gold = {lemma: {"x"} for lemma in "abcd"}
    assert entropy(table(gold, {"j": {"x"}}), frame(gold), frame({"j": {"x"}})).value == 2.0


def best_assignment(pairs: pl.DataFrame) -> pl.DataFrame:
    i, j = (pairs[name].rank("dense").to_numpy().astype(np.int64) for name in ("gold", "lemma"))
    return pairs[assign_pairs(i, j, pairs["n_ij"].to_numpy().astype(np.int64))]


@given(lexicons, lexicons)
def test_assignment_is_as_good_as_any_permutation(gold: Lexicon, lexicon: Lexicon) -> None:
    assignment = best_assignment(table(gold, lexicon))
    assert assignment["gold"].is_unique().all()
    assert assignment["lemma"].is_unique().all()
    assert assignment["n_ij"].sum() == most_in_common(gold, lexicon)


@given(st.integers(0, 10_000))
def test_assignments_of_dense_tables_are_optimal(seed: int) -> None:
    """Many lemmas compete for many others: the sure pairs do not suffice."""
    generator = np.random.default_rng(seed)
    weights = generator.integers(0, 6, size=tuple(generator.integers(1, 9, size=2)))
    i, j = np.nonzero(weights)
    overlaps = pl.DataFrame(
        {"gold": [f"g{x}" for x in i], "lemma": [f"l{x}" for x in j], "n_ij": weights[i, j]},
        schema={"gold": pl.String, "lemma": pl.String, "n_ij": pl.Int64},
    )
    best = weights[linear_sum_assignment(weights, maximize=True)].sum()
    assert best_assignment(overlaps)["n_ij"].sum() == best


@pytest.mark.parametrize(
    "weights",
    [
        [[1, 2, 3, 3], [2, 0, 2, 2], [1, 1, 1, 0], [2, 3, 0, 2]],
        [[3, 3, 0, 1], [3, 1, 0, 1], [1, 3, 1, 0], [3, 0, 2, 0]],
    ],
)
def test_assignments_without_a_sure_pair_are_optimal(weights: list[list[int]]) -> None:
    table = np.array(weights)
    i, j = np.nonzero(table)
    overlaps = pl.DataFrame({"gold": i, "lemma": j, "n_ij": table[i, j]})
    overlaps = overlaps.with_columns(pl.col("gold", "lemma").cast(pl.String))
    best = table[linear_sum_assignment(table, maximize=True)].sum()
    assert best_assignment(overlaps)["n_ij"].sum() == best
    assert best_match_f(overlaps, gold_forms=best, lexicon_forms=best) == 1.0


def test_redundant_clusters_lower_the_best_match() -> None:
    gold = {"a": {"u", "v"}}
    twice = {"a": {"u", "v"}, "b": {"u", "v"}}
    assert best_match_f(table(gold, gold), gold_forms=2, lexicon_forms=2) == 1.0
    assert best_match_f(table(gold, twice), gold_forms=2, lexicon_forms=4) == pytest.approx(2 / 3)


def test_empty_tables_have_no_assignment() -> None:
    assert best_assignment(table({}, {})).height == 0
    assert best_match_f(table({}, {}), gold_forms=0, lexicon_forms=0) is None
    assert best_match_f(table({}, {}), gold_forms=1, lexicon_forms=0) == 0.0


# Measures of lexicons in any parts equal those of the whole and of the slow twins.

rooms = st.integers(1, 6)


def form_count(lexicon: Lexicon) -> int:
    return sum(map(len, lexicon.values()))


@given(lexicons, lexicons, rooms)
def test_overlaps_in_parts_equal_those_of_the_whole(
    gold: Lexicon, lexicon: Lexicon, rows: int
) -> None:
    with room_for(rows):
        parts = list(overlaps_in_parts(frame(gold), frame(lexicon)))
    expected = lexicon_overlaps(frame(gold), frame(lexicon)).collect().sort("gold", "lemma")
    assert pl.concat(parts).equals(expected)  # in the same order, too


@given(lexicons, lexicons, rooms)
def test_entropy_in_parts_equals_that_of_the_whole(
    gold: Lexicon, lexicon: Lexicon, rows: int
) -> None:
    table = lexicon_overlaps(frame(gold), frame(lexicon))
    with room_for(rows):
        result = entropy_in_parts(table, frame(gold), frame(lexicon), lemmas=len(lexicon))
    assert result == entropy(table.collect(), frame(gold), frame(lexicon))
    slow = slow_entropy(gold, lexicon)
    assert result.value is slow is None or math.isclose(result.value or 0, slow or 0, abs_tol=1e-12)


@given(lexicons, lexicons, rooms)
def test_the_best_match_in_parts_equals_that_of_the_whole(
    gold: Lexicon, lexicon: Lexicon, rows: int
) -> None:
    table = lexicon_overlaps(frame(gold), frame(lexicon))
    sizes = {"gold_forms": form_count(gold), "lexicon_forms": form_count(lexicon)}
    with room_for(rows):
        result = best_match_in_parts(table, **sizes)
    assert result == best_match_f(table.collect(), **sizes)
    both = sum(sizes.values())
    assert result == (2.0 * most_in_common(gold, lexicon) / both if both else None)


@given(lexicons, lexicons, rooms)
def test_matches_and_forms_in_parts_equal_those_of_the_whole(
    gold: Lexicon, lexicon: Lexicon, rows: int
) -> None:
    one, two = frame(gold), frame(lexicon)
    table = lexicon_overlaps(one, two)
    every = matches(table, one, two).collect().sort("lemma")
    both = every.drop_nulls("n_same")
    with room_for(rows):
        ranges = ranges_of("lemma", one, two, table.select(lemma="gold"))
        result = match_lemmas(table, one, two, ranges=ranges, sample=None, weights="gold")
        forms = [each.collect() for each in align_in_parts(both.lazy(), one, two, ranges)]
    assert result.both.matches.equals(both)
    assert (result.common, result.bases) == (both.height, both["n_gold"].sum())
    assert (result.gold_lemmas, result.lexicon_lemmas) == (len(gold), len(lexicon))
    assert (result.gold_forms, result.lexicon_forms) == (form_count(gold), form_count(lexicon))
    assert result.f_star == f_star(every)
    expected = align(both.lazy(), one, two).collect().sort("lemma", "form")
    assert pl.concat(forms).sort("lemma", "form").equals(expected)


@given(lexicons, lexicons, rooms)
def test_common_lemmas_in_parts_equal_those_of_the_whole(
    first: Lexicon, second: Lexicon, rows: int
) -> None:
    with room_for(rows):
        result = common_in_parts(frame(first), frame(second))
    assert sorted(result["lemma"]) == sorted(common(frame(first), frame(second)).collect()["lemma"])


@pytest.mark.long
def test_forms_of_very_many_lemmas_are_counted_in_parts() -> None:
    """A form that all lemmas have makes more pairs than there are forms."""
    gold = {f"g{i}": {"of all", f"w{i}"} for i in range(30)}
    lexicon = {f"l{i}": {"of all", f"w{i}"} for i in range(30)}
    with room_for(7):
        parts = list(overlaps_in_parts(frame(gold), frame(lexicon)))
        match = best_match_in_parts(
            pl.concat(parts).lazy(), gold_forms=60, lexicon_forms=60
        )  # fmt: skip
    assert pl.concat(parts).height == 900
    assert max(each.height for each in parts) <= 60
    assert match == 1.0


def matches_of(gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> pl.DataFrame:
    return matches(lexicon_overlaps(gold, lexicon), gold, lexicon).collect().sort("lemma")


def score_lemmas(
    gold: pl.LazyFrame, lexicon: pl.LazyFrame, *, weights: Weights = "gold", n: int | None = None
) -> pl.DataFrame:
    common_matches = (
        matches_of(gold, lexicon).lazy().join(common(gold, lexicon), on="lemma", how="semi")
    )
    return lemma_scores(common_matches, weights=weights, n=n).collect().sort("lemma")


def value_of(scores: pl.DataFrame) -> float | None:
    return l_star(scores["size"], scores["L"], float(scores["base"].sum()))


def test_the_published_example_has_its_scores() -> None:
    """Dalli: 7 of 10 forms, L = 14/17, contribution 7/5887 L = 0.000979226."""
    row = score_lemmas(frame(DICTIONARY), frame(MISSIER), weights="published", n=5887)
    assert row.select("precision", "recall", "L").row(0) == (1.0, 0.7, 14 / 17)
    assert round(row["contribution"].item(), 9) == 0.000979226


def test_published_weights_use_the_base_without_n() -> None:
    row = score_lemmas(frame(DICTIONARY), frame(MISSIER), weights="published")
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
def test_maltese_lexicons_have_their_published_scores(
    gold: str,
    lexicon: str,
    expected: tuple[float, ...],
    public_data: Callable[[str], Path],
) -> None:
    first, second = (
        canonical(pl.scan_csv(public_data(f"lexicon/{name}"), separator="\t", quote_char=None))
        for name in (gold, lexicon)
    )
    scores = score_lemmas(first, second)
    means = [scores[name].mean() for name in ("precision", "recall", "L")]
    computed: tuple[Any, ...] = (*means, scores["L"].var(ddof=0), value_of(scores))
    assert (scores.height, scores["n_gold"].sum()) == expected[:2]
    assert tuple(round(float(each), 4) for each in computed) == expected[2:]


@pytest.mark.long
def test_spanish_lexicons_have_these_scores(public_data: Callable[[str], Path]) -> None:
    gold, lexicon = (
        canonical(
            pl.read_csv(public_data(f"lexicon/{name}"), separator="\t", quote_char=None).lazy()
        ).collect().lazy()
        for name in ("apertium_es_base.tsv.gz", "hunspell_es_ES.tsv.gz")
    )  # fmt: skip
    scores = score_lemmas(gold, lexicon)
    assert scores.height == 9343
    assert scores["L"].mean() == pytest.approx(0.9079, abs=5e-5)
    assert round(value_of(scores) or 0, 4) == 0.8391


@given(lexicons, lexicons)
def test_scores_of_lemmas_equal_the_slow_scalars(gold: Lexicon, lexicon: Lexicon) -> None:
    rows = matches_of(frame(gold), frame(lexicon)).to_dicts()
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
    scores = score_lemmas(frame(gold), frame(lexicon))
    assert [Fraction(each).limit_denominator(100) for each in scores["L"]] == [
        best(lemma, gold, lexicon)[0] for lemma in shared
    ]
    expected = star(shared, gold, lexicon)
    computed = value_of(scores)
    assert (computed is None) == (expected is None)
    assert computed is None or computed == pytest.approx(float(expected or 0))
    assert scores["contribution"].sum() == pytest.approx(computed or 0.0)
    assert scores["L"].is_between(0, 1).all()
    same = [float(value(gold[lemma], lexicon[lemma])) for lemma in shared]
    assert scores["same_l"].to_list() == pytest.approx(same)


@given(lexicons, lexicons)
def test_f_star_equals_the_slow_scalar(gold: Lexicon, lexicon: Lexicon) -> None:
    computed = f_star(matches_of(frame(gold), frame(lexicon)))
    expected = star(list(gold), gold, lexicon)
    assert (computed is None) == (expected is None)
    assert computed is None or computed == pytest.approx(float(expected or 0))


@given(lexicons, lexicons)
def test_f_star_is_l_star_if_y_is_the_whole_gold(gold: Lexicon, lexicon: Lexicon) -> None:
    whole: Lexicon = {**{lemma: set() for lemma in gold}, **lexicon}
    scores = score_lemmas(frame(gold), frame(whole))
    assert value_of(scores) == f_star(matches_of(frame(gold), frame(whole)))


@given(lexicons, lexicons)
def test_l_star_is_1_if_the_lexicon_equals_the_gold_on_y(gold: Lexicon, more: Lexicon) -> None:
    assume(any(gold.values()))
    others = {f"{lemma}'": forms for lemma, forms in more.items()}
    assert value_of(score_lemmas(frame(gold), frame({**gold, **others}))) == 1.0


def test_swapped_lemmas_score_1_too() -> None:
    """The maximum is over all lemmas of the lexicon, so the converse does not hold."""
    gold = {"a": {"u", "v"}, "b": {"x"}}
    scores = score_lemmas(frame(gold), frame({"a": {"x"}, "b": {"u", "v"}}))
    assert value_of(scores) == 1.0
    assert scores["match"].to_list() == ["b", "a"]
    assert scores["same_l"].to_list() == [0.0, 0.0]


@given(lexicons, lexicons)
def test_row_order_changes_no_bit(gold: Lexicon, lexicon: Lexicon) -> None:
    one = score_lemmas(frame(gold), frame(lexicon))
    two = score_lemmas(frame(gold).reverse(), frame(lexicon).reverse())
    assert one.equals(two)


def test_ties_take_the_same_lemma_then_the_smallest() -> None:
    gold = {"m": {"u", "v"}}
    lexicon = {"b": {"u"}, "a": {"v"}, "m": {"u"}}
    assert matches_of(frame(gold), frame(lexicon))["match"].item() == "m"
    del lexicon["m"]
    assert matches_of(frame(gold), frame(lexicon))["match"].item() == "a"


def test_lexicons_without_a_common_lemma_have_no_value() -> None:
    for other in ({}, {"b": {"y"}}):
        scores = score_lemmas(frame({"a": {"x"}}), frame(other))
        assert scores.height == 0
        assert value_of(scores) is None
        assert matches_of(frame({"a": {"x"}}), frame(other))["match"].to_list() == [None]
    assert f_star(matches_of(frame({}), frame({"b": {"y"}}))) is None


def test_a_lemma_without_forms_weighs_nothing() -> None:
    scores = score_lemmas(frame({"a": set(), "b": {"x"}}), frame({"a": {"y"}, "b": {"x"}}))
    assert scores.select("lemma", "L", "weight").rows() == [("a", 0.0, 0.0), ("b", 1.0, 1.0)]


@pytest.mark.long
def test_a_form_in_a_thousand_lemmas_is_matched() -> None:
    many = {f"l{number:03}": {"x", f"y{number}"} for number in range(1000)}
    scores = score_lemmas(frame(many), frame(many))
    assert value_of(scores) == 1.0
    assert scores["match"].to_list() == scores["lemma"].to_list()


# Aligned forms, keyed-in forms, moving averages, statistics, comparison.

NOTHING = Interval(None, None, None, None, "linearised")


@given(lexicons, lexicons)
def test_aligned_forms_are_those_of_the_sets(gold: Lexicon, lexicon: Lexicon) -> None:
    pairs = [(i, j) for i in gold for j in list(lexicon)[:1]]
    matched = pl.LazyFrame(pairs, schema={"lemma": pl.String, "match": pl.String}, orient="row")
    forms = align(matched, frame(gold), frame(lexicon))
    expected = sorted(
        (i, form, form in gold[i], form in lexicon[j])
        for i, j in pairs
        for form in gold[i] | lexicon[j]
    )
    assert sorted(forms.collect().rows()) == expected
    for lemma, n_missing, missing, n_spurious, spurious in list_differences(forms).collect().rows():
        other = lexicon[dict(pairs)[lemma]]
        assert missing == ", ".join(sorted(gold[lemma] - other))
        assert spurious == ", ".join(sorted(other - gold[lemma]))
        assert (n_missing, n_spurious) == (len(gold[lemma] - other), len(other - gold[lemma]))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(1, 12))
def test_moving_averages_agree_with_plain_means(values: list[float], span: int) -> None:
    averages = moving_average(values, span=span)
    for place, mean in enumerate(averages):
        low, high = max(0, place - (span - 1) // 2), place + span // 2 + 1
        assert mean == pytest.approx(np.mean(values[low:high]))
        assert min(values) <= mean <= max(values)


def scores(gold: Lexicon, lexicon: Lexicon) -> pl.DataFrame:
    first, second = frame(gold), frame(lexicon)
    all_matches = matches(lexicon_overlaps(first, second), first, second)
    scored = lemma_scores(all_matches.join(common(first, second), on="lemma", how="semi")).collect()
    whole = {"n_missing": pl.col("n_gold") - pl.col("n_common"), "drawn": pl.lit(value=True),
             "n_spurious": pl.col("n_match") - pl.col("n_common"), "missing": pl.lit(""),
             "spurious": pl.lit(""), "population": pl.len().cast(pl.Int64),
             "pi": pl.lit(1.0), "base_total": pl.col("base").sum()}  # fmt: skip
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return scored.sort("lemma").with_columns(**whole, position=place).select(*LemmaScores.columns())


GOLD = {"a": {"u", "v", "w"}, "b": {"x"}, "c": {"y", "z"}}
LEXICON = {"a": {"u"}, "b": {"x"}, "c": {"y", "q"}}


def test_trends_are_in_the_order_of_size() -> None:
    result = trends(scores(GOLD, LEXICON), order="size", span=2)
    assert result["lemma"].to_list() == ["b", "c", "a"]
    assert result["L"].to_list() == [1.0, 0.5, 0.5]
    assert result["l_trend"].to_list() == [0.75, 0.5, 0.5]
    assert trends(scores(GOLD, LEXICON))["lemma"].to_list() == ["a", "b", "c"]
    assert trends(scores({}, {})).height == 0


def test_statistics_agree_with_those_by_hand() -> None:
    """P = 1, 1, .5; R = 1/3, 1, .5; L = .5, 1, .5."""
    whole = Whole(9, 8, 3, 0.4, 0.3, Entropy(0.1, 2, 7))
    limits = Interval(0.6, 0.1, 0.4, 0.8, "linearised")
    statistics = quality(scores(GOLD, LEXICON), limits, whole, n=None)
    value = dict(statistics.select("statistic", "value").rows())
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
    star = statistics.filter(statistic="L*").row(0, named=True)
    assert (star["value"], star["lower"], star["upper"]) == (0.6, 0.4, 0.8)


@pytest.mark.parametrize("chances", [[1.0] * 3, [0.9, 0.3, 0.7]])
@pytest.mark.parametrize("constant", [1 / 3, 1.0, 0.1])
@pytest.mark.parametrize("column", ["precision", "recall", "L"])
def test_a_constant_has_no_correlation(column: str, constant: float, chances: list[float]) -> None:
    table = scores(GOLD, LEXICON).with_columns(
        pl.Series("pi", chances), pl.lit(constant).alias(column), population=pl.lit(9)
    )
    value = dict(quality(table, NOTHING, Whole(), n=None).select("statistic", "value").rows())
    names = {"precision": ["r(L, P)"], "recall": ["r(L, R)"], "L": ["r(L, P)", "r(L, R)"]}
    assert [value[name] for name in names[column]] == [None] * len(names[column])


def test_one_or_no_lemma_leaves_statistics_undefined() -> None:
    one = quality(scores({"a": {"u"}}, {"a": {"u"}}), NOTHING, Whole(), n=None)
    value = dict(one.select("statistic", "value").rows())
    assert (value["variance of L"], value["population variance of L"]) == (None, 0.0)
    assert (value["r(L, P)"], value["coverage"], value["E*"]) == (None, None, None)
    none = dict(
        quality(scores({}, {}), NOTHING, Whole(), n=None).select("statistic", "value").rows()
    )
    assert (none["mean L"], none["mean contribution"], none["n"]) == (None, None, 0)
