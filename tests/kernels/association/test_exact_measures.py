"""Exact tests against exact values, published values, and their laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random

import mpmath
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.association import log_tails
from pipeline.kernels.association.contingency import SIGNATURE
from pipeline.kernels.association.scoring import score
from tests.kernels.association.cells import Cells
from tests.kernels.association.exact_tails import TAILS, by_enumeration, decimal

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
def tables(draw: st.DrawFn, most: int = 60) -> Cells:
    n = draw(st.integers(1, most))
    f1, f2 = draw(st.integers(0, n)), draw(st.integers(0, n))
    return Cells(draw(st.integers(max(0, f1 + f2 - n), min(f1, f2))), f1, f2, n)


@pytest.mark.parametrize("name", TESTS)
@given(data=st.data())
def test_agrees_with_sixty_digits_near_independence(name: str, data: st.DataObject) -> None:
    times = float(name.partition("_mu_")[2].replace("_", ".")) if "_mu_" in name else 1
    rows = data.draw(st.lists(near_independence(times=times), min_size=4, max_size=12))
    exact = [float(TAILS[name](cells)) for cells in rows]
    assert scores(name, *rows) == pytest.approx(exact, rel=1e-12, abs=1e-290)


@given(cells=tables())
def test_fisher_agrees_with_exact_fractions(cells: Cells) -> None:
    observed = by_enumeration(cells, lambda _, k: k == cells.f)
    ways = observed * math.comb(cells.n, cells.f1)
    chosen: dict[str, Callable[[int, int], bool]] = {
        "fisher_pv": lambda _, k: k >= cells.f,
        "fisher_left_pv": lambda _, k: k <= cells.f,
        "fisher_two_sided_pv": lambda w, _: w * 10**7 <= ways * (10**7 + 1),
    }
    for name, condition in chosen.items():
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
def test_huge_counts_near_independence(cells: Cells) -> None:
    for name, exact in GOLD[cells].items():
        assert scores(name, cells) == [pytest.approx(exact, rel=1e-12, abs=0)]


@pytest.mark.parametrize("cells", [
    Cells(37_650, 2 * 10**6, 2 * 10**6, 10**8),  # twelve deviations below, integrated
    Cells(10**7 + 600, 5 * 10**7, 2 * 10**7, 10**8),  # two-sided p above 1/2, integrated
    Cells(10**9 - 5, 10**9 - 3, 10**9 - 2, 10**9),  # nearly all tokens
], ids=str)  # fmt: skip
def test_wide_and_lopsided_tables(cells: Cells) -> None:
    for name in (*FISHER, "binomial_pv", "poisson_pv"):
        exact = float(TAILS[name](cells))
        assert scores(name, cells) == [pytest.approx(exact, rel=3e-13, abs=0)]


NEAR = ("fisher_left_pv", "poisson_mu_100", "poisson_mu_1000", "poisson_mu_10000")
"""Of tests that find nothing strange in these tables."""


@pytest.mark.parametrize("name", TESTS)
def test_p_values_far_below_the_smallest_number(name: str) -> None:
    cells = Cells(200_000, 200_000, 210_000, 10**8), Cells(10**10, 10**10, 10**10, 10**12)
    exact = [float(TAILS[name](c)) for c in cells]
    assert scores(name, *cells) == pytest.approx(exact, rel=1e-13, abs=0)
    assert exact[1] > 400_000 or name in NEAR


def test_tea_tasting_and_twins() -> None:
    """Fisher 1935; p-values in the examples of R's fisher.test."""
    tea, twins = Cells(3, 4, 4, 8), Cells(2, 12, 17, 30)
    p = {name: [10**-each for each in scores(name, tea, twins)] for name in FISHER}
    assert p["fisher_pv"][0] == pytest.approx(0.2429, abs=5e-5)
    assert p["fisher_two_sided_pv"] == pytest.approx([0.4857, 0.0005367], rel=1e-4)
    assert p["fisher_left_pv"][1] == pytest.approx(0.0004652, abs=5e-8)


def test_by_hand() -> None:
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


def test_the_table_of_the_paper() -> None:
    """in Frage + stellen."""
    paper = Cells(146, 382, 4047, 406159)
    for name in TESTS:
        assert scores(name, paper) == [pytest.approx(float(TAILS[name](paper)), rel=1e-12, abs=0)]


def test_scores_of_ucs(public_data: Callable[[str], Path]) -> None:
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    found = score(table.lazy(), measures=["Fisher.pv"]).collect()
    error = (pl.col("fisher_pv") / pl.col("am.Fisher.pv") - 1).abs().max()
    assert found.select(error).item() < 5e-11  # what UCS loses where p is near 1


def test_top_candidates_keep_their_order(public_data: Callable[[str], Path]) -> None:
    """Where p underflows, all scores are finite and only equal signatures are tied."""
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    top = score(table.lazy(), measures=["fisher_pv"]).filter(pl.col("fisher_pv") > 308).collect()
    assert top.height == 113
    assert top["fisher_pv"].is_finite().all()
    assert top["fisher_pv"].n_unique() == top.select(SIGNATURE).unique().height


@given(cells=near_independence(10**12))
def test_strictly_monotone_in_the_joint_frequency(cells: Cells) -> None:
    most = min(cells.f1, cells.f2)
    more = [f for f in range(cells.f, cells.f + 40) if cells.delta + (f - cells.f) > 0]
    run = [Cells(f, cells.f1, cells.f2, cells.n) for f in more if f <= most]
    for name in ("fisher_pv", "poisson_pv", "binomial_pv"):
        found = scores(name, *run)
        assert all(low < high for low, high in pairwise(found))


@given(cells=tables(10**5))
def test_both_tails_of_fisher_share_one_table(cells: Cells) -> None:
    names = ["fisher_pv", "fisher_left_pv", "hypergeometric_likelihood_pv"]
    right, left, observed = (10 ** -scores(name, cells)[0] for name in names)
    assert right + left == pytest.approx(1 + observed, rel=1e-12)


@given(cells=near_independence(10**9))
def test_two_sided_is_between_one_tail_and_two(cells: Cells) -> None:
    right, left, both = (scores(name, cells)[0] for name in FISHER)
    assert both <= max(right, left) * (1 + 1e-12)
    mirrored = Cells(cells.f1 - cells.f, cells.f1, cells.n - cells.f2, cells.n)
    assert scores("fisher_two_sided_pv", mirrored) == [pytest.approx(both, rel=1e-12, abs=1e-290)]


@pytest.mark.parametrize("name", FISHER)
def test_one_possible_table_gives_zero(name: str) -> None:
    only = [Cells(5, 5, 5, 5), Cells(2, 5, 2, 5), Cells(0, 0, 4, 20), Cells(4, 4, 20, 20)]
    found = scores(name, *only, Cells(0, 0, 0, 1), Cells(10**12, 10**12, 10**12, 10**12))
    assert [math.copysign(1, each) for each in found] == [1] * 6  # 0, never -0
    assert found == [0] * 6


@pytest.mark.parametrize("name", ["poisson_pv", "binomial_pv", "fisher_pv", "poisson_mu_5"])
def test_without_joint_tokens_every_value_is_at_least_as_large(name: str) -> None:
    assert scores(name, Cells(0, 3, 4, 20), Cells(0, 10**6, 10**6, 10**9)) == [0, 0]


@pytest.mark.long
@given(cells=st.lists(near_independence(10**9), min_size=2, max_size=12), random=st.randoms())
def test_equal_rows_get_equal_bits_whatever_the_blocks(cells: list[Cells], random: Random) -> None:
    alone = {c: table(c).row(0) for c in cells}
    random.shuffle(cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_tails, "_BLOCK", 3)  # several blocks, so several threads
        assert table(*cells).rows() == [alone[c] for c in cells]


def test_no_rows() -> None:
    assert all(scores(name) == [] for name in TESTS)
