"""Measures of tuples against exact values, those of pairs, and the laws of measures."""

from __future__ import annotations

import math

import mpmath
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.association.contingency import columns
from pipeline.kernels.association.scoring import parse_tuple_formula, score, score_tuples
from pipeline.kernels.measure import MEASURES, TUPLE_MEASURES
from tests.kernels.association.exact_tuples import EXACT, Table, frame, sign, tables


def scores(table: Table) -> dict[str, float | None]:
    """Return every score of a table."""
    scored = score_tuples(frame(table), measures=["all"]).select(list(TUPLE_MEASURES)).collect()
    return scored.row(0, named=True)


def surprise(o: float, e: float) -> float:
    row = pl.DataFrame({"o": [o], "e": [e], "delta": [o - e]})
    return float(row.select(TUPLE_MEASURES.get("poisson_pv").score(3)).item())


def one(name: str, table: Table) -> float | None:
    return scores(table)[name]


def independent(size: int, n: int, part: int) -> Table:
    """Return a table with O = E in all cells; each element has n / part tokens."""
    cells = {}
    for number in range(2**size):
        cell = tuple(bool(number >> i & 1) for i in range(size))
        cells[cell] = n * (part - 1) ** cell.count(False) // part**size
    return Table(cells)


def test_every_measure_has_an_exact_twin() -> None:
    assert set(EXACT) == set(TUPLE_MEASURES)


@given(table=tables())
def test_exact_values(table: Table) -> None:
    scored = scores(table)
    for name in set(EXACT) - {"poisson_pv"}:
        exact, found = EXACT[name](table), scored[name]
        assert found is not None
        assert abs(found - exact) <= 1e-11 * abs(exact), (name, found, mpmath.nstr(exact, 20))


@given(table=tables(3, 3, most=100))
def test_exact_poisson_test(table: Table) -> None:
    exact = EXACT["poisson_pv"](table)
    found = one("poisson_pv", table)
    assert found is not None
    assert abs(found - exact) <= max(1e-11 * abs(exact), 1e-300)


@pytest.mark.parametrize(
    ("o", "e"),
    [
        (1000, 0.001), (1000, 999.0), (3, 2.5), (10**5, 10**5 + 0.5), (10**5, 9.9e4), (5, 400.0),
        (5962371, 5944706.75), (90_000, 95_000.25), (1, 1e-9),
    ],
)  # fmt: skip
def test_poisson_tails(o: int, e: float) -> None:
    """Far above the mean, near it and far below, against sums of exact terms."""
    found = surprise(float(o), e)
    first = mpmath.mpf(o) if o > e else mpmath.mpf(o - 1)
    term = mpmath.exp(first * mpmath.log(e) - e - mpmath.loggamma(first + 1))
    total = mpmath.mpf(0)
    while term > total * mpmath.mpf(10) ** -25 and first >= 0:
        total += term
        term *= e / (first + 1) if o > e else first / e
        first += 1 if o > e else -1
    exact = -(mpmath.log(total) if o > e else mpmath.log1p(-total)) / mpmath.log(10)
    assert abs(found - exact) <= 1e-11 * abs(exact)


@given(table=tables(2, 2))
def test_two_units_score_as_pairs(table: Table) -> None:
    both = sorted(set(TUPLE_MEASURES) & set(MEASURES))
    assert len(both) >= 5
    tuples = score_tuples(frame(table), measures=both).select(both).collect().row(0)
    pairs = score(frame(table), measures=both).select(both).collect().row(0)
    assert tuples == pytest.approx(pairs, rel=1e-12, nan_ok=True)


def test_near_independence_at_large_counts() -> None:
    """One more tuple token than expected among 10^12: textbook forms lose all their digits."""
    base = independent(3, 10**12, 10)
    joint, other = (True, True, True), (False, True, True)
    cells = base.cells | {joint: base.o + 1, other: base.cells[other] - 1}
    table = Table(cells)
    scored = scores(table)
    for name in set(EXACT) - {"poisson_pv"}:
        exact, found = EXACT[name](table), scored[name]
        assert found is not None
        assert abs(found - exact) <= 1e-11 * abs(exact), name


@pytest.mark.parametrize("size", [2, 3, 6])
def test_independence(size: int) -> None:
    table = independent(size, 3**size * 7, 3)
    assert table.o == 7
    scored = scores(table)
    assert [scored[name] for name in ("mi", "t_score", "simple_ll", "log_likelihood")] == [0] * 4


def test_hand_computed() -> None:
    """8 tuple tokens, 2 with all of a b c, the others with none: E = 8 / 64."""
    table = Table(independent(3, 0, 2).cells | {(True,) * 3: 2, (False,) * 3: 6})
    assert table.e == 0.125
    g2 = 2 * (2 * math.log(2 / 0.125) + 6 * math.log(6 / 3.375))
    assert one("mi", table) == pytest.approx(math.log10(16))
    assert one("t_score", table) == pytest.approx(1.875 / math.sqrt(2))
    assert one("log_likelihood", table) == pytest.approx(g2)
    poisson = -math.log10(1 - math.exp(-0.125) * 1.125)
    assert one("poisson_pv", table) == pytest.approx(poisson)


@given(table=tables(), data=st.data())
def test_order_of_the_units_does_not_matter(table: Table, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(table.size)))
    turned = Table({tuple(cell[i] for i in order): o for cell, o in table.cells.items()})
    assert scores(table) == pytest.approx(scores(turned), rel=1e-10)


@given(table=tables())
def test_signed_measures_follow_the_sign_of_the_difference(table: Table) -> None:
    for name, found in scores(table).items():
        if TUPLE_MEASURES.get(name).sided == "signed":
            assert found is not None
            assert (found > 0) - (found < 0) == sign(table), name


@pytest.mark.long
@given(rows=st.lists(tables(3, 3, 10**5), min_size=1, max_size=20), seed=st.integers(0, 9))
def test_row_order_and_batches_do_not_matter(rows: list[Table], seed: int) -> None:
    table = frame(*rows, *rows).with_row_index("row").collect()
    whole = score_tuples(table.lazy(), measures=["all"]).collect()
    mixed = score_tuples(table.sample(fraction=1, shuffle=True, seed=seed).lazy(), measures=["all"])
    parts = [score_tuples(part.lazy(), measures=["all"]).collect() for part in table.iter_slices(7)]
    assert whole.equals(mixed.collect().sort("row"))
    assert whole.equals(pl.concat(parts))


def test_degenerate_tables() -> None:
    """O = 0 with E above it and with E = 0; all tokens in one cell."""
    empty = dict.fromkeys(independent(3, 0, 2).cells, 0)
    rare = Table(empty | {(True, False, False): 1, (False, True, True): 2, (False,) * 3: 5})
    absent = Table(empty | {(False, True, True): 2, (False,) * 3: 5})
    whole = Table(empty | {(True,) * 3: 5})
    found = score_tuples(frame(rare, absent, whole), measures=["all"]).collect()
    value = [{**row} for row in found.iter_rows(named=True)]
    assert value[0]["mi"] == -math.inf
    assert value[0]["t_score"] == -math.inf
    assert value[0]["simple_ll"] < 0
    assert value[0]["poisson_pv"] == 0
    assert value[1]["mi"] is None
    assert value[1]["t_score"] is None
    assert value[1]["simple_ll"] == 0
    assert value[1]["poisson_pv"] == 0
    assert [value[2][name] for name in ("mi", "t_score", "simple_ll", "log_likelihood")] == [0] * 4
    floats = found.select(pl.col(pl.Float64).is_not_nan().fill_null(True).all())
    assert floats.select(pl.all_horizontal(pl.all())).item()


def test_no_rows() -> None:
    assert score_tuples(frame(independent(3, 8, 2)).head(0), measures=["all"]).collect().height == 0


def test_user_formula() -> None:
    formulas = {"mine": "o / f_12", "dice": "3 * o / (f1 + f2 + f3)", "rest": "o222 / N"}
    table = Table(
        independent(3, 0, 2).cells | {(True,) * 3: 2, (True, True, False): 3, (False,) * 3: 5}
    )
    found = score_tuples(frame(table), measures=["frequency"], formulas=formulas)
    assert found.select("mine", "dice", "rest").collect().row(0) == (2 / 5, 6 / 12, 5 / 10)


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [("SUM(o)", "row by row"), ("o > 3", "not a number"), ("o11 + 1", "uses o11"), ("o +", "SQL")],
)
def test_formula_refused(formula: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_tuple_formula(formula, size=3)


def test_columns_of_three() -> None:
    assert columns(3)[:11] == [
        "o",
        "e",
        "delta",
        "f1",
        "f2",
        "f3",
        "f_12",
        "f_13",
        "f_23",
        "N",
        "o111",
    ]
    assert len(columns(3)) == 10 + 3 * 8


def test_names_are_those_of_pairs() -> None:
    """A measure of tuples is spelt as the measure of pairs that it equals for two units."""
    for name in set(TUPLE_MEASURES) & set(MEASURES):
        assert TUPLE_MEASURES.get(name).spellings == MEASURES.get(name).spellings
    assert TUPLE_MEASURES.resolve(["G2", "MI"]) == ["log_likelihood", "mi"]
    with pytest.raises(KeyError, match="unknown tuple measure 'dice'"):
        TUPLE_MEASURES.resolve(["dice"])


def test_surprise_of_nan_is_nan() -> None:
    assert math.isnan(surprise(1.0, math.nan))
