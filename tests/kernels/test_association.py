"""Scores against exact values, published values, and the laws of measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import mpmath
import polars as pl
import pytest
from exact import EXACT, Cells, signatures
from exact_limits import LIMITS
from exact_tails import TAILS
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.kernels.association import parse, score
from pipeline.kernels.measure import MEASURES, resolve, spellings

UCS = {
    "mi": "am.MI", "dice": "am.Dice", "z_score": "am.z.score", "t_score": "am.t.score",
    "chi_squared": "am.chi.squared", "chi_squared_corr": "am.chi.squared.corr",
}  # fmt: skip


def frame(*cells: Cells) -> pl.LazyFrame:
    rows = [(c.f, c.f1, c.f2, c.n) for c in cells]
    return pl.LazyFrame(rows, schema=dict.fromkeys(("f", "f1", "f2", "N"), pl.Int64), orient="row")


def one(name: str, cells: Cells) -> float | None:
    return score(frame(cells), measures=[name]).select(name).collect().item()


def test_every_measure_has_an_exact_twin() -> None:
    assert set(EXACT) == set(MEASURES)


@given(data=st.data())
@pytest.mark.parametrize("name", sorted(EXACT))
def test_exact_value(name: str, data: st.DataObject) -> None:
    cells = data.draw(signatures(10**8 if name in TAILS else 10**12))  # exact tails are slow
    exact, found = EXACT[name](cells), one(name, cells)
    if exact is None:
        assert found is None
    else:
        assert found is not None
        slack = 1e-14 if name in LIMITS else 1e-290  # a logarithm near 0; near 1 - 1e-290
        assert abs(found - exact) <= 1e-11 * abs(exact) + slack, (found, mpmath.nstr(exact, 20))


@pytest.mark.parametrize("name", ["log_likelihood", "simple_ll", "mi", "t_score", "chi_squared"])
def test_near_independence_at_large_counts(name: str) -> None:
    """Here textbook forms lose all their digits."""
    cells = Cells(10**10 + 1, 10**11, 10**11, 10**12)
    exact = EXACT[name](cells)
    found = one(name, cells)
    assert found is not None
    assert abs(found - exact) <= 1e-11 * abs(exact)


def test_table_of_the_paper() -> None:
    """in Frage + stellen: O11 = 146, R1 = 382, C1 = 4047, N = 406159."""
    paper = Cells(146, 382, 4047, 406159)
    assert one("t_score", paper) == pytest.approx((146 - 3.806278) / math.sqrt(146), rel=1e-7)
    assert one("mi", paper) == pytest.approx(math.log10(146 / 3.806278), rel=1e-7)


@pytest.mark.parametrize("name", sorted(UCS))
def test_scores_of_ucs(name: str, public_data: Callable[[str], Path]) -> None:
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    found = score(table.lazy(), measures=[name]).select(name, ucs=UCS[name]).collect()
    error = found.select(((pl.col(name) - pl.col("ucs")) / pl.col("ucs")).abs().max()).item()
    assert error < 1e-11


def test_log_likelihood_of_ucs_except_where_ucs_cancels(
    public_data: Callable[[str], Path],
) -> None:
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    found = score(table.lazy(), measures=["G2"]).collect()
    large = found.filter(pl.col("log_likelihood").abs() > 1)
    ratio = pl.col("am.log.likelihood") / pl.col("log_likelihood")
    assert large.select((ratio - 1).abs().max()).item() < 6e-9


@given(cells=signatures(10**6))
def test_swapping_the_units(cells: Cells) -> None:
    both = frame(cells, Cells(cells.f, cells.f2, cells.f1, cells.n))
    names = [name for name in MEASURES if MEASURES.get(name).symmetric]
    for column in score(both, measures=names).select(names).collect():
        first, second = column
        assert first == pytest.approx(second, rel=1e-12), column.name


@given(cells=signatures(10**9))
def test_signed_measures_follow_the_sign_of_the_difference(cells: Cells) -> None:
    for name in MEASURES:
        if MEASURES.get(name).sided == "signed":
            found = one(name, cells)
            assert found is not None
            sign = (cells.delta > 0) - (cells.delta < 0)
            # Yates' statistic is 0 where |O11 - E11| is exactly 1/2.
            assert (found > 0) - (found < 0) in (
                {sign, 0} if name == "chi_squared_corr" else {sign}
            )


@given(cells=signatures(10**6), step=st.integers(1, 50))
def test_more_joint_tokens_score_higher(cells: Cells, step: int) -> None:
    """Fixed margins: the more pair tokens, the stronger; but Yates dips around O = E.

    The likelihoods, the left and the two-sided test are no rankings of attraction.
    """
    most = min(cells.f1, cells.f2)
    more = Cells(min(most, cells.f + step), cells.f1, cells.f2, cells.n)
    others = {"chi_squared_corr", "fisher_left_pv", "fisher_two_sided_pv"}
    rankings = {name for name in MEASURES if MEASURES.get(name).family != "likelihood"}
    names = sorted(rankings - others)
    for column in score(frame(cells, more), measures=names).select(names).collect():
        low, high = column
        if low is None or high is None:
            assert low is high
        else:
            assert low <= high or low == pytest.approx(high, rel=1e-12), column.name


@settings(max_examples=30)
@given(rows=st.lists(signatures(10**5), min_size=1, max_size=30), seed=st.integers(0, 99))
def test_row_order_and_batches_do_not_matter(rows: list[Cells], seed: int) -> None:
    table = frame(*rows, *rows).with_row_index("row").collect()
    whole = score(table.lazy(), measures=["all"]).collect()
    shuffled = score(table.sample(fraction=1, shuffle=True, seed=seed).lazy(), measures=["all"])
    parts = [score(part.lazy(), measures=["all"]).collect() for part in table.iter_slices(7)]
    assert whole.equals(shuffled.collect().sort("row"))
    assert whole.equals(pl.concat(parts))
    assert whole.get_column("row").is_sorted()


def test_degenerate_tables() -> None:
    """All tokens in one cell, an empty margin, O11 = 0, O11 = E11 exactly, nothing at all."""
    rows = {
        "whole": Cells(5, 5, 5, 5), "row": Cells(2, 5, 2, 5), "never": Cells(0, 3, 4, 20),
        "independent": Cells(2, 4, 5, 10), "absent": Cells(0, 0, 4, 20), "void": Cells(0, 0, 0, 1),
    }  # fmt: skip
    found = (
        score(frame(*rows.values()), measures=["all"])
        .collect()
        .with_columns(case=pl.Series(list(rows)))
    )
    value = {row["case"]: row for row in found.iter_rows(named=True)}
    for case in ("whole", "row", "independent"):
        for name in ("log_likelihood", "chi_squared", "t_score", "mi", "simple_ll"):
            assert value[case][name] == 0
    assert value["never"]["mi"] == -math.inf
    assert value["never"]["t_score"] == -math.inf
    assert value["never"]["log_likelihood"] < 0
    assert value["absent"]["mi"] is None
    assert value["absent"]["t_score"] is None
    assert value["void"]["dice"] is None
    assert found.select(
        pl.all_horizontal(pl.col(pl.Float64).is_not_nan().fill_null(True).all())
    ).item()


def test_no_rows() -> None:
    assert score(frame(), measures=["all"]).collect().height == 0


def test_user_formula() -> None:
    plan = score(
        frame(Cells(3, 5, 6, 100)), measures=["dice"], formulas={"mine": "2 * o11 / (r1 + c1)"}
    )
    assert plan.select(pl.col("mine") == pl.col("dice")).collect().item()


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("SUM(o11)", "row by row"), ("MAX(o11) + o12", "row by row"), ("1", "row by row"),
        ("o11 > 3", "not a number"), ("foo + 1", "uses foo"), ("o11 +", "not a Polars SQL"),
        ("f1 / o11", "uses f1"), ("ROW_NUMBER() OVER (ORDER BY o11)", "refused|not a Polars SQL"),
    ],
)  # fmt: skip
def test_formula_refused(formula: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse(formula)


def test_names_and_aliases() -> None:
    assert resolve(["LL", "G2", "log.likelihood"]) == ["log_likelihood"]
    assert resolve(["MI", "all"])[0] == "mi"
    assert set(spellings().values()) == set(MEASURES)
    with pytest.raises(KeyError, match="did you mean t_score"):
        resolve(["t_scor"])
