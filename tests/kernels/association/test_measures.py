"""The notes of measures on empty margins, O11 = 0 and O11 = E11 are true and complete."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, cast

import mpmath
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.association import log_tails, scoring
from pipeline.kernels.association.contingency import SIGNATURE
from pipeline.kernels.association.measures.effect_sizes import conservative_log_ratio, mikolov
from pipeline.kernels.association.scoring import score
from pipeline.kernels.measure import MEASURES
from tests.kernels.association.cells import (
    Cells,
    frame,
    independent,
    rare,
    signatures,
    small,
    tables,
)
from tests.kernels.association.exact import EXACT, LIMITS, ROUNDED
from tests.kernels.association.exact_tails import TAILS, by_enumeration, decimal

TABLES = [
    Cells(f, f1, f2, n)
    for n in (1, 2, 4, 6, 9)
    for f1 in range(n + 1)
    for f2 in range(n + 1)
    for f in range(max(0, f1 + f2 - n), min(f1, f2) + 1)
]
"""All tables of so many tokens."""


def cell(i: int) -> Callable[[Cells], bool]:
    return lambda c: not c.observed[i]


def margin(i: int) -> Callable[[Cells], bool]:
    return lambda c: not c.margins[i]


def number(text: str) -> Callable[[float | None], bool]:
    return lambda score: score == pytest.approx(float(text), rel=1e-15, abs=0)


WHERE: dict[str, Callable[[Cells], bool]] = {
    **{f"{name} = 0": cell(i) for i, name in enumerate(("O11", "O12", "O21", "O22"))},
    **{f"{name} = 0": margin(i) for i, name in enumerate(("R1", "R2", "C1", "C2"))},
    "a margin is empty": lambda c: not all(c.margins),
    "two margins are empty": lambda c: c.margins.count(0) == 2,
    "R1 = C1 = 0": lambda c: c.f1 == c.f2 == 0,
    "O12 = O21 = 0": lambda c: c.f == c.f1 == c.f2,
    "O11 = N": lambda c: c.f == c.n,
    "E11 = 0": lambda c: not c.expected[0],
    "E11 = N": lambda c: c.expected[0] == c.n,
    "O11 = E11": lambda c: not c.determinant,
    "|O11 - E11| <= 1/2": lambda c: abs(c.delta) <= 0.5,
}  # fmt: skip
RELATIONS: dict[str, Callable[[float | None], bool]] = {
    "null": lambda score: score is None,
    "above 0": lambda score: score is not None and score > 0,
    "below 0": lambda score: score is not None and score < 0,
    "below log10 2": lambda score: score is not None and score < math.log10(2),
    "log10 2": lambda score: score == pytest.approx(math.log10(2), rel=1e-15),
    **{text: number(text) for text in ("0", "1", "-1", "-100", "inf", "-inf")},
}  # fmt: skip
NOTES = {name: MEASURES.get(name).note for name in MEASURES if name != "random"}


def clauses(note: str) -> list[tuple[str, list[str]]]:
    """Return the values in a note, and the conditions of each."""
    parts = (clause.partition(" where ") for clause in note.split("; "))
    return [
        (value, where.split(",")[0].split(" (")[0].split(" or "))
        for value, _, where in parts
        if where
    ]


@pytest.mark.parametrize("name", NOTES)
def test_notes_state_the_degenerate_values(name: str) -> None:
    """The first matching clause applies; null and infinity need one."""
    scores = score(frame(*TABLES), measures=[name]).collect()[name].to_list()
    unused = {place for place, _ in enumerate(clauses(NOTES[name]))}
    for cells, value in zip(TABLES, scores, strict=True):
        for place, (value_text, conditions) in enumerate(clauses(NOTES[name])):
            if any(WHERE[each](cells) for each in conditions):
                assert RELATIONS[value_text](value), (cells, value, value_text)
                unused.discard(place)
                break
        else:
            assert value is not None, cells
            assert math.isfinite(value), cells
    assert not unused


def test_only_frequency_has_no_note() -> None:
    assert {name for name, note in NOTES.items() if not note} == {"frequency"}


# Exact tests against exact values, published values, and their laws.

TESTS = [name for name in sorted(TAILS) if "likelihood" not in name]
FISHER = ("fisher_pv", "fisher_left_pv", "fisher_two_sided_pv")


def table(*cells: Cells) -> pl.DataFrame:
    counts = [(c.f, c.f1, c.f2, c.n) for c in cells]
    frame = pl.LazyFrame(counts, schema=dict.fromkeys(SIGNATURE, pl.Int64), orient="row")
    return score(frame, measures=TESTS).select(TESTS).collect()


def scores(name: str, *cells: Cells) -> list[float]:
    counts = [(c.f, c.f1, c.f2, c.n) for c in cells]
    frame = pl.LazyFrame(counts, schema=dict.fromkeys(SIGNATURE, pl.Int64), orient="row")
    return score(frame, measures=[name]).collect().get_column(name).to_list()


def size(largest: int) -> st.SearchStrategy[int]:
    return st.floats(0, math.log10(largest)).map(lambda digits: round(10**digits))


@st.composite
def near_independence(draw: st.DrawFn, most: int = 10**6, times: float = 1) -> Cells:
    """Draw O11 up to nine standard deviations from `times` its expectation."""
    n = draw(size(most))
    f1, f2 = draw(size(n)), draw(size(n))
    low, high, mean = max(0, f1 + f2 - n), min(f1, f2), times * f1 * f2 / n
    spread = draw(st.floats(-9, 9)) * math.sqrt(mean) + draw(st.floats(-2, 2))
    return Cells(min(high, max(low, round(mean + spread))), f1, f2, n)


@st.composite
def tables_exact_measures(draw: st.DrawFn, most: int = 60) -> Cells:
    n = draw(st.integers(1, most))
    f1, f2 = draw(st.integers(0, n)), draw(st.integers(0, n))
    return Cells(draw(st.integers(max(0, f1 + f2 - n), min(f1, f2))), f1, f2, n)


@pytest.mark.parametrize("name", TESTS)
@given(data=st.data())
def test_exact_tests_agree_with_sixty_digits_near_independence(
    name: str, data: st.DataObject
) -> None:
    times = float(name.partition("_mu_")[2].replace("_", ".")) if "_mu_" in name else 1
    rows = data.draw(st.lists(near_independence(times=times), min_size=4, max_size=12))
    for value, cells in zip(scores(name, *rows), rows, strict=True):
        exact = float(TAILS[name](cells))
        rel = 1e-12 if exact > 1e-100 else 5e-12  # the relative error of exp(x) grows with |x|
        assert value == pytest.approx(exact, rel=rel, abs=1e-290)


@given(cells=tables_exact_measures())
def test_fisher_agrees_with_exact_fractions(cells: Cells) -> None:
    observed = by_enumeration(cells, lambda _, k: k == cells.f)
    ways = observed * math.comb(cells.n, cells.f1)
    conditions: dict[str, Callable[[int, int], bool]] = {
        "fisher_pv": lambda _, k: k >= cells.f,
        "fisher_left_pv": lambda _, k: k <= cells.f,
        "fisher_two_sided_pv": lambda w, _: w * 10**7 <= ways * (10**7 + 1),
    }
    for name, condition in conditions.items():
        p = by_enumeration(cells, condition)
        exact = -decimal(mpmath.log(mpmath.mpf(p.numerator) / p.denominator))
        assert scores(name, cells) == [pytest.approx(float(exact), rel=1e-13, abs=0)]


GOLD = {
    Cells(100_009_000, 500_000_000, 200_000_000, 1_000_000_000): {
        "fisher_pv": 1.1113941696464025,
        "fisher_left_pv": 0.034964427846460054,
        "fisher_two_sided_pv": 0.8103641739824213,
        "binomial_pv": 0.7659792885248461,
        "poisson_pv": 0.7350108844313452,
    },
    Cells(10_000_123_456, 100_000_000_000, 100_000_000_000, 1_000_000_000_000): {
        "fisher_pv": 1.070201811975948,
        "fisher_left_pv": 0.03861333353174611,
        "fisher_two_sided_pv": 0.7691770629186806,
        "binomial_pv": 0.9692193815024733,
        "poisson_pv": 0.9645772852394128,
    },
    Cells(9_999_750_000, 100_000_000_000, 100_000_000_000, 1_000_000_000_000): {
        "fisher_pv": 0.0011900706748042644,
        "fisher_left_pv": 2.562791607165444,
        "fisher_two_sided_pv": 2.2617658231681927,
        "binomial_pv": 0.002610170965707805,
        "poisson_pv": 0.002705126071728262,
    },
    Cells(40_002_000_000, 800_000_000_000, 50_000_000_000, 1_000_000_000_000): {
        "fisher_pv": 116.05391288041189,
        "fisher_left_pv": 3.83492538488241e-117,
        "fisher_two_sided_pv": 115.7529080014149,
        "binomial_pv": 24.03115959406545,
        "poisson_pv": 23.11768064338155,
    },
    Cells(10_000_000_100, 100_000_000_000, 100_000_000_000, 1_000_000_000_000): {
        "fisher_two_sided_pv": 0.0003543617060205105,  # some neighbours count as equal
    },
    Cells(200_007_000, 500_000_000, 200_000_000, 1_000_000_000): {
        "poisson_mu_2": 0.5081925968205453,
    },
    Cells(10_000_030_000, 100_000_000_000, 10_000_000_000, 1_000_000_000_000): {
        "poisson_mu_10": 0.4178344349400863,
    },
}
"""Values at 60 digits where a plain sum has up to two million terms, from `exact_tails`."""


@pytest.mark.parametrize("cells", GOLD, ids=str)
def test_exact_tests_of_huge_counts_agree_with_sixty_digits(cells: Cells) -> None:
    for name, exact in GOLD[cells].items():
        assert scores(name, cells) == [pytest.approx(exact, rel=1e-12, abs=0)]


@pytest.mark.parametrize("cells", [
    Cells(37_650, 2 * 10**6, 2 * 10**6, 10**8),  # twelve deviations below, integrated
    Cells(10**7 + 600, 5 * 10**7, 2 * 10**7, 10**8),  # two-sided p above 1/2, integrated
    Cells(10**9 - 5, 10**9 - 3, 10**9 - 2, 10**9),  # nearly all tokens
], ids=str)  # fmt: skip
def test_exact_tests_of_wide_and_lopsided_tables_are_exact(cells: Cells) -> None:
    for name in (*FISHER, "binomial_pv", "poisson_pv"):
        exact = float(TAILS[name](cells))
        assert scores(name, cells) == [pytest.approx(exact, rel=3e-13, abs=0)]


NEAR = ("fisher_left_pv", "poisson_mu_100", "poisson_mu_1000", "poisson_mu_10000")
"""Scores of tests for which these tables are not extreme."""


@pytest.mark.parametrize("name", TESTS)
def test_p_values_below_the_smallest_number_have_exact_scores(name: str) -> None:
    cells = Cells(200_000, 200_000, 210_000, 10**8), Cells(10**10, 10**10, 10**10, 10**12)
    exact = [float(TAILS[name](c)) for c in cells]
    assert scores(name, *cells) == pytest.approx(exact, rel=1e-13, abs=0)
    assert exact[1] > 400_000 or name in NEAR


def test_tea_tasting_and_twins_have_their_published_p_values() -> None:
    """Fisher 1935; p-values in the examples of R's fisher.test."""
    tea, twins = Cells(3, 4, 4, 8), Cells(2, 12, 17, 30)
    p = {name: [10**-each for each in scores(name, tea, twins)] for name in FISHER}
    assert p["fisher_pv"][0] == pytest.approx(0.2429, abs=5e-5)
    assert p["fisher_two_sided_pv"] == pytest.approx([0.4857, 0.0005367], rel=1e-4)
    assert p["fisher_left_pv"][1] == pytest.approx(0.0004652, abs=5e-8)


def test_exact_tests_agree_with_values_by_hand() -> None:
    """C(3,k) C(2,2-k) = 1, 6, 3 of 10 for k = 0, 1, 2; Poisson and binomial with mean 1/2."""
    cells = [Cells(k, 3, 2, 5) for k in (0, 1, 2)]
    p = {name: [10**-each for each in scores(name, *cells)] for name in FISHER}
    assert p["fisher_pv"] == pytest.approx([1, 0.9, 0.3], rel=1e-14)
    assert p["fisher_left_pv"] == pytest.approx([0.1, 0.7, 1], rel=1e-14)
    assert p["fisher_two_sided_pv"] == pytest.approx([0.1, 1, 0.4], rel=1e-14)
    half = Cells(1, 1, 1, 2)
    assert 10 ** -scores("poisson_pv", half)[0] == pytest.approx(1 - math.exp(-0.5), rel=1e-14)
    assert 10 ** -scores("poisson_mu_2", half)[0] == pytest.approx(1 - math.exp(-1), rel=1e-14)
    assert 10 ** -scores("binomial_pv", half)[0] == pytest.approx(1 - 0.75**2, rel=1e-14)


def test_exact_tests_of_the_published_table_agree_with_sixty_digits() -> None:
    """in Frage + stellen."""
    paper = Cells(146, 382, 4047, 406159)
    for name in TESTS:
        assert scores(name, paper) == [pytest.approx(float(TAILS[name](paper)), rel=1e-12, abs=0)]


def test_fisher_agrees_with_ucs(public_data: Callable[[str], Path]) -> None:
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    result = score(table.lazy(), measures=["Fisher.pv"]).collect()
    error = (pl.col("fisher_pv") / pl.col("am.Fisher.pv") - 1).abs().max()
    assert result.select(error).item() < 5e-11  # the precision that UCS loses near p = 1


def test_scores_of_underflowing_p_values_are_finite_and_distinct(
    public_data: Callable[[str], Path],
) -> None:
    """Where p underflows, all scores are finite and only equal signatures are tied."""
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    top = score(table.lazy(), measures=["fisher_pv"]).filter(pl.col("fisher_pv") > 308).collect()
    assert top.height == 113
    assert top["fisher_pv"].is_finite().all()
    assert top["fisher_pv"].n_unique() == top.select(SIGNATURE).unique().height


@given(cells=near_independence(10**12))
def test_exact_tests_increase_strictly_with_joint_frequency(cells: Cells) -> None:
    most = min(cells.f1, cells.f2)
    more = [f for f in range(cells.f, cells.f + 40) if cells.delta + (f - cells.f) > 0]
    run = [Cells(f, cells.f1, cells.f2, cells.n) for f in more if f <= most]
    for name in ("fisher_pv", "poisson_pv", "binomial_pv"):
        result = scores(name, *run)
        assert all(low < high for low, high in pairwise(result))


@given(cells=tables_exact_measures(10**5))
def test_both_tails_of_fisher_share_one_table(cells: Cells) -> None:
    names = ["fisher_pv", "fisher_left_pv", "hypergeometric_likelihood_pv"]
    right_tail, left_tail, observed = (10 ** -scores(name, cells)[0] for name in names)
    assert right_tail + left_tail == pytest.approx(1 + observed, rel=1e-12)


@given(cells=near_independence(10**9))
def test_two_sided_p_values_are_between_one_tail_and_two(cells: Cells) -> None:
    right_tail, left_tail, both = (scores(name, cells)[0] for name in FISHER)
    assert both <= max(right_tail, left_tail) * (1 + 1e-12)
    mirrored = Cells(cells.f1 - cells.f, cells.f1, cells.n - cells.f2, cells.n)
    assert scores("fisher_two_sided_pv", mirrored) == [pytest.approx(both, rel=1e-12, abs=1e-290)]


@pytest.mark.parametrize("name", FISHER)
def test_exact_tests_of_the_only_possible_table_are_zero(name: str) -> None:
    only = [Cells(5, 5, 5, 5), Cells(2, 5, 2, 5), Cells(0, 0, 4, 20), Cells(4, 4, 20, 20)]
    result = scores(name, *only, Cells(0, 0, 0, 1), Cells(10**12, 10**12, 10**12, 10**12))
    assert [math.copysign(1, each) for each in result] == [1] * 6  # 0, never -0
    assert result == [0] * 6


@pytest.mark.parametrize("name", ["poisson_pv", "binomial_pv", "fisher_pv", "poisson_mu_5"])
def test_right_tails_without_joint_tokens_have_a_score_of_zero(name: str) -> None:
    assert scores(name, Cells(0, 3, 4, 20), Cells(0, 10**6, 10**6, 10**9)) == [0, 0]


@pytest.mark.long
@given(cells=st.lists(near_independence(10**9), min_size=2, max_size=12), random=st.randoms())
def test_equal_rows_have_identical_scores_in_any_blocks(cells: list[Cells], random: Random) -> None:
    alone = {c: table(c).row(0) for c in cells}
    random.shuffle(cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_tails, "_BLOCK", 3)  # several blocks, so several threads
        assert table(*cells).rows() == [alone[c] for c in cells]


def test_exact_tests_of_no_rows_are_empty() -> None:
    assert all(scores(name) == [] for name in TESTS)


# Every closed form against rational or 60-digit values, everywhere.

WITHOUT_TWIN = {"random"}
ELSEWHERE = {*TAILS, *LIMITS}
"""Measures on discrete distributions: `exact_tails.py` has the twins."""


def test_every_measure_has_an_exact_twin() -> None:
    missing = set(MEASURES) - set(EXACT) - WITHOUT_TWIN - ELSEWHERE
    assert not missing, "add it to its table in exact.py, or to the list of its kind beside it"
    registered = {name for name in {*EXACT, *ELSEWHERE} if name in MEASURES}
    assert registered == {*EXACT, *ELSEWHERE}, "a twin of no measure: remove it"


def check(rows: list[Cells]) -> None:
    result = score(frame(*rows), measures=sorted(EXACT)).collect()
    wrong = [
        f"{name}{cells}: {value!r}, exactly {mpmath.nstr(exact, 20)}"
        for cells, scores in zip(rows, result.iter_rows(named=True), strict=True)
        for name, twin in EXACT.items()
        if not agree(value := scores[name], exact := twin(cells), size_measures_exact(name, cells))
    ]
    assert not wrong, "\n".join(wrong)


def size_measures_exact(name: str, cells: Cells) -> float:
    return ROUNDED[name](cells) if name in ROUNDED else 0.0


def agree(value: float | None, exact: mpmath.mpf | None, cancelled: float) -> bool:
    if value is None or exact is None:
        return value is exact
    if mpmath.isinf(exact) or math.isinf(value):
        return value == exact
    # 1e-300: the limit of floating point for p-values near 1.
    return bool(abs(value - exact) <= 1e-11 * abs(exact) + 1e-14 * cancelled + 1e-300)


@given(rows=st.lists(tables, min_size=1, max_size=12))
def test_closed_forms_agree_with_exact_values(rows: list[Cells]) -> None:
    check(rows)


@given(rows=st.lists(signatures(most=100, least=0), min_size=1, max_size=12))
def test_closed_forms_are_exact_in_small_tables(rows: list[Cells]) -> None:
    """Zero cells and full margins, O11 = 0 among them."""
    check(rows)


@given(rows=st.lists(st.one_of(small(), independent()), min_size=1, max_size=30))
def test_closed_forms_are_exact_at_independence(rows: list[Cells]) -> None:
    """Small tables, O11 = E11 in half of them, where a signed statistic has no sign."""
    check(rows)


def test_yates_correction_is_clipped_for_one_variant_alone() -> None:
    result = (
        score(frame(Cells(2, 80, 40, 1600)), measures=list(MEASURES)).collect().row(0, named=True)
    )
    assert result["chi_squared_corr_tt"] == pytest.approx(0.13495277, rel=1e-7)
    assert result["chi_squared_corr_tt_pv"] == pytest.approx(0.14669665, rel=1e-7)
    assert result["chi_squared_corr"] == 0
    assert result["chi_squared_corr_pv"] == pytest.approx(math.log10(2))


def test_closed_forms_are_exact_in_degenerate_tables() -> None:
    check(
        [
            Cells(5, 5, 5, 5), Cells(2, 5, 2, 5), Cells(2, 2, 5, 5), Cells(0, 3, 4, 20),
            Cells(2, 4, 5, 10), Cells(0, 0, 4, 20), Cells(0, 4, 0, 20), Cells(0, 0, 0, 1),
            Cells(0, 0, 5, 5), Cells(0, 5, 0, 5), Cells(3, 3, 3, 10), Cells(3, 3, 7, 10),
            Cells(3, 7, 3, 10), Cells(1, 1, 1, 1), Cells(0, 1, 1, 2), Cells(1, 2, 1, 2),
        ]
    )  # fmt: skip


def test_closed_forms_are_exact_for_large_counts() -> None:
    """Near independence, where textbook forms lose all digits, and far from it."""
    n = 10**12
    check(
        [
            Cells(10**10 + 1, 10**11, 10**11, n), Cells(10**10 - 1, 10**11, 10**11, n),
            Cells(1, 10**6, 10**6, n), Cells(1, 10**6 + 1, 10**6, n),
            Cells(10**11, 10**11, 10**11, n), Cells(5 * 10**11, 5 * 10**11, 5 * 10**11, n),
            Cells(0, 10**11, 10**11, n), Cells(1, n - 1, 1, n), Cells(n - 2, n - 1, n - 1, n),
            Cells(250_000_000_001, 5 * 10**11, 5 * 10**11 + 1, n),
        ]
    )  # fmt: skip


@pytest.mark.long
def test_corrections_that_nearly_cancel_are_exact() -> None:
    """|D| within 1 of N/2 for Yates; numerator within 1 of the denominator with 1/2 added."""
    product = 700_001 * 700_003
    yates = [Cells(1, 700_001, 700_003, 2 * product + more) for more in range(-2, 4)]
    first, second = 10**6 + 3, 3 * (5 * 10**5 + 1)
    n = (first * second - 3) * 2 // 3
    halves = [Cells(1, first - 1, second - 1, n + more) for more in range(-30, 31)]
    check([*yates, *halves, *(cells.swapped for cells in halves)])


def test_measures_accept_parameters() -> None:
    cells = Cells(9, 40, 60, 5000)
    strict = cast(Any, conservative_log_ratio)(alpha=0.05, family_size=100)
    row = {"o11": 9.0, "o12": 31.0, "o21": 51.0, "o22": 4909.0, "r1": 40.0, "r2": 4960.0,
           "c1": 60.0, "N": 5000.0, "log_ratio": float(cast(Any, EXACT["log_ratio"](cells)))}  # fmt: skip
    result = pl.DataFrame([row]).select(clr=strict, mikolov=cast(Any, mikolov)(discount=2.0)).row(0)
    deviation = math.sqrt(1 / 9 + 1 / 51 - 1 / 40 - 1 / 4960)
    assert result[0] == pytest.approx(row["log_ratio"] - 3.4807564 * deviation / math.log(2))
    assert result[1] == pytest.approx(7 * 5000 / 2400)


# Laws of measures: symmetry, sign, monotony, range, and independence of the other rows.

MONOTONE = {
    "t_score", "z_score", "z_score_corr", "log_likelihood", "simple_ll", "chi_squared",
    "chi_squared_corr", "chi_squared_clipped", "chi_squared_corr_pv", "t_score_pv", "z_score_pv", "z_score_corr_pv", "log_likelihood_pv",
    "simple_ll_pv", "chi_squared_pv", "chi_squared_clipped_pv", "mi", "mi2", "mi3", "npmi", "ppmi",
    "relative_risk", "odds_ratio", "odds_ratio_disc", "log_ratio", "delta_p_21", "delta_p_12",
    "liddell", "percent_diff", "yule_q", "yule_y", "phi", "dice", "log_dice", "jaccard", "simpson",
    "geometric_mean", "minimum_sensitivity", "kulczynski", "kulczynski_1", "frequency", "mi_like",
    "mikolov", "fisher_pv", "binomial_pv", "poisson_pv", "poisson_mu_2", "poisson_mu_3",
    "poisson_mu_5", "poisson_mu_10", "mi_conf_1", "mi_conf_2", "mi_conf_3", "mi_conf_5",
    "mi_conf_10", "positive_lrc", "lrc", "mi_log2", "keyness_ll",
}  # fmt: skip
"""More joint tokens under the same margins score as high or higher.

Not: two-sided ones; local_mi and poisson_stirling, which fall until O = E / e and O = E;
conservative_log_ratio, whose interval widens as O21 gets small.
"""
FOLLOW_THE_SIGN = {
    "t_score", "z_score", "log_likelihood", "simple_ll", "chi_squared", "mi", "local_mi", "npmi",
    "relative_risk", "odds_ratio", "liddell", "delta_p_21", "delta_p_12", "percent_diff", "yule_q",
    "yule_y", "phi", "mi_log2", "keyness_ll",
}  # fmt: skip
NEVER_THE_OTHER_SIGN = {"chi_squared_corr", "chi_squared_clipped", "ppmi"}
SIGNED_BUT_FOR_YATES = {"z_score_corr"}
PER_CANDIDATE = {"random"}
KNOWN = sorted(set(MEASURES) - PER_CANDIDATE)


def scores_measures_laws(*cells: Cells) -> list[dict[str, float | None]]:
    return score(frame(*cells), measures=list(MEASURES)).collect().to_dicts()


def close(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return first == second or math.isclose(first, second, rel_tol=1e-12, abs_tol=1e-13)


@pytest.mark.long
@given(rows=st.lists(tables, min_size=1, max_size=60))
def test_symmetric_measures_do_not_depend_on_the_order_of_units(rows: list[Cells]) -> None:
    symmetric = [name for name in KNOWN if MEASURES.get(name).symmetric]
    swapped = scores_measures_laws(*(cells.swapped for cells in rows))
    for here, there in zip(scores_measures_laws(*rows), swapped, strict=True):
        assert not [name for name in symmetric if not close(here[name], there[name])]


def test_asymmetric_measures_depend_on_the_order_of_units() -> None:
    here, there = scores_measures_laws(Cells(3, 10, 40, 1000), Cells(3, 40, 10, 1000))
    differ = {name for name in KNOWN if not close(here[name], there[name])}
    assert differ == {name for name in KNOWN if not MEASURES.get(name).symmetric}


@given(rows=st.lists(signatures(10**9), min_size=1, max_size=60))
def test_scores_have_the_sign_of_the_difference(rows: list[Cells]) -> None:
    for cells, result in zip(rows, scores_measures_laws(*rows), strict=True):
        expected = (cells.delta > 0) - (cells.delta < 0)
        for name in FOLLOW_THE_SIGN | NEVER_THE_OTHER_SIGN:
            if (value := result[name]) is not None:
                allowed = {expected} if name in FOLLOW_THE_SIGN else {expected, 0}
                assert (value > 0) - (value < 0) in allowed, (name, value)


def test_every_signed_test_is_in_a_table() -> None:
    signed = {name for name in MEASURES if MEASURES.get(name).sided == "signed"}
    listed = FOLLOW_THE_SIGN | NEVER_THE_OTHER_SIGN | SIGNED_BUT_FOR_YATES
    assert signed <= listed, "add it to FOLLOW_THE_SIGN, or to the set after it"


@given(
    cells=st.one_of(signatures(10**6, least=0), rare()),
    steps=st.lists(st.integers(1, 50), max_size=15),
)
def test_more_joint_tokens_never_lower_monotone_scores(cells: Cells, steps: list[int]) -> None:
    most = min(cells.f1, cells.f2)
    joint = sorted({min(most, f) for f in itertools.accumulate(steps, initial=cells.f)})
    result = scores_measures_laws(*(Cells(f, cells.f1, cells.f2, cells.n) for f in joint))
    for low, high in itertools.pairwise(result):
        for name in MONOTONE:
            before, after = low[name], high[name]
            if before is not None and after is not None:
                assert before <= after or close(before, after), (name, before, after)


def test_every_other_measure_falls_somewhere() -> None:
    """An example for each measure that is not in the table of monotone measures."""
    margins = [(f, 40, 50, 100) for f in range(41)] + [(f, 60, 60, 10**4) for f in range(61)]
    result = scores_measures_laws(
        *(Cells(*each) for each in margins if each[1] + each[2] - each[0] <= each[3])
    )
    falls = {
        name
        for name in KNOWN
        for low, high in itertools.pairwise(result)
        if high["frequency"] > low["frequency"]
        and low[name] is not None and high[name] is not None
        and low[name] > high[name] and not close(low[name], high[name])
    }  # fmt: skip
    assert set(KNOWN) - falls <= MONOTONE, "never falls: add it to MONOTONE"
    assert not falls & MONOTONE, "falls: remove it from MONOTONE"


def bounds(name: str) -> tuple[float, float, str]:
    interval = MEASURES.get(name).range
    low, high = interval[1:-1].replace("N", "inf").split(",")
    return float(low), float(high), interval


@pytest.mark.long
@given(rows=st.lists(st.one_of(tables, signatures(50, least=0)), min_size=1, max_size=60))
@pytest.mark.filterwarnings("error")
def test_scores_are_in_their_range(rows: list[Cells]) -> None:
    for result in scores_measures_laws(*rows):
        for name in MEASURES:
            low, high, interval = bounds(name)
            value = result[name]
            if value is not None:
                assert low <= value <= high, (name, value, interval)
                assert not (value == -math.inf and interval[0] == "("), (name, value, interval)
                assert not (value == math.inf and interval[-1] == ")" and "N" not in interval), name


def test_perfect_association_has_the_maximum_score() -> None:
    together = [Cells(k, k, k, n) for n in (1000, 99_991) for k in range(1, 400)]
    result = score(frame(*together), measures=list(MEASURES)).collect()
    for name in ("npmi", "phi", "yule_y", "yule_q", "geometric_mean", "dice", "kulczynski"):
        assert 1 - 1e-15 <= result.get_column(name).min() <= result.get_column(name).max() <= 1


@pytest.mark.long
def test_the_storage_of_a_table_does_not_change_scores() -> None:
    """One row, chunks of one row, columns of a single value: Polars divides these differently."""
    rows = [Cells(f, 60, 70, 1000) for f in range(1, 40)]
    formulas = {"third": "o11 / 3", "tenth": "e11 / 10"}
    among = score(frame(*rows), measures=list(MEASURES), formulas=formulas).collect()
    alone = [
        score(frame(row), measures=list(MEASURES), formulas=formulas).collect() for row in rows
    ]
    assert pl.concat(alone).equals(among)
    chunked = pl.concat(frame(row).collect() for row in rows).lazy()
    constant = frame(*rows).with_columns(f1=pl.lit(60), f2=pl.lit(70), N=pl.lit(1000))
    for table in (chunked, constant):
        result = score(table, measures=list(MEASURES), formulas=formulas).collect()
        assert result.select(among.columns[4:]).equals(among.select(among.columns[4:]))


@pytest.mark.long
@given(rows=st.lists(signatures(10**5), min_size=1, max_size=30), seed=st.integers(0, 99))
def test_row_order_and_batches_do_not_change_scores(rows: list[Cells], seed: int) -> None:
    table = frame(*rows, *rows).with_row_index("row").collect()
    whole = score(table.lazy(), measures=list(MEASURES)).collect()
    shuffled = score(
        table.sample(fraction=1, shuffle=True, seed=seed).lazy(), measures=list(MEASURES)
    )
    parts = [score(part.lazy(), measures=list(MEASURES)).collect() for part in table.iter_slices(7)]
    assert whole.equals(shuffled.collect().sort("row"))
    assert whole.equals(pl.concat(parts))
    assert whole.get_column("row").is_sorted()


@pytest.mark.long
@given(
    rows=st.lists(st.one_of(tables, signatures(50, least=0)), min_size=1, max_size=40),
    size=st.integers(1, 9),
)
def test_the_batch_size_does_not_change_scores(rows: list[Cells], size: int) -> None:
    whole = score(frame(*rows), measures=list(MEASURES)).collect()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "BATCH", size)
        assert score(frame(*rows), measures=list(MEASURES)).collect().equals(whole)


THREADS = """
import hashlib, sys
from tests.kernels.association.cells import Cells, frame
from pipeline.kernels.association.scoring import score
from pipeline.kernels.measure import MEASURES
rows = [Cells(1 + i % 7, 10 + i, 20 + i * i % 997, 10**6 + i) for i in range(3000)]
found = score(frame(*rows), measures=list(MEASURES)).collect().rechunk()
print(hashlib.sha256(b"".join(column.to_numpy().tobytes() for column in found)).hexdigest())
"""


@pytest.mark.long
def test_the_number_of_threads_does_not_change_scores() -> None:
    path = os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])
    digests = {
        subprocess.run(
            [sys.executable, "-c", THREADS],
            env={**os.environ, "PYTHONPATH": path, "POLARS_MAX_THREADS": threads},
            check=True, capture_output=True, text=True,
        ).stdout
        for threads in ("1", "3")
    }  # fmt: skip
    assert len(digests) == 1
