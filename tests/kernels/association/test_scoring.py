"""Scores against published values, degenerate tables, user formulas, and names."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import mpmath
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.association import contingency, log_tails
from pipeline.kernels.association import scoring as module
from pipeline.kernels.association.contingency import columns
from pipeline.kernels.association.measures.tests import z_score, z_score_pv, z_score_tt_pv
from pipeline.kernels.association.scoring import (
    all_distinct,
    measure_expressions,
    parse,
    parse_tuple_formula,
    places,
    required_columns,
    score,
    score_now,
    score_signatures,
    score_tuples,
    steps,
)
from pipeline.kernels.measure import MEASURES, TUPLE_MEASURES
from pipeline.kernels.numeric import FloatArray
from pipeline.registry import place_of
from tests.kernels.association.cells import SCHEMA, Cells, frame, signatures
from tests.kernels.association.exact_tails import EXACT, Table, sign, tables
from tests.kernels.association.exact_tails import frame as frame_of_tuples

# Distinct signatures are scored once, and the scores are put in their places.

rows = st.lists(st.tuples(*[st.integers(1, 3)] * 2, st.just(5), st.integers(9, 10)), max_size=20)


@given(rows=rows)
def test_all_distinct_agrees_with_a_set(rows: list[tuple[int, ...]]) -> None:
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    assert all_distinct(table) == (len(set(rows)) == len(rows))


@given(rows=rows)
def test_signatures_are_scored_once_and_in_their_places(rows: list[tuple[int, ...]]) -> None:
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    calls: list[int] = []

    def count_calls(column: pl.Series) -> pl.Series:
        calls.append(len(column))
        return column

    counted = pl.col("o11").map_batches(count_calls, return_dtype=pl.Float64, is_elementwise=True)
    result = score_signatures(table, {"joint": counted, "sum": pl.col("r1") + pl.col("N")})
    assert result.get_column("joint").to_list() == [row[0] for row in rows]
    assert result.get_column("sum").to_list() == [row[1] + row[3] for row in rows]
    if len(set(rows)) > 1:
        assert sum(calls) == len(set(rows))


def test_a_measure_used_by_others_is_computed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []

    def count_calls(square: FloatArray) -> FloatArray:
        calls.append(len(square))
        return square

    monkeypatch.setattr(log_tails, "log10_two_sided", count_calls)
    table = pl.DataFrame({"f": [3, 9], "f1": [40, 11], "f2": [8, 60], "N": [500, 400]})
    score_now(table, expressions=measure_expressions(["t_score_tt_pv", "t_score_pv"], {}))
    assert calls == [2]


# Columns come after those that they depend on.


def test_columns_are_computed_after_their_roots() -> None:
    expressions = [MEASURES.get(name).score() for name in MEASURES if name != "random"]
    available = {"f", "f1", "f2"}
    for step in steps(required_columns(expressions)):
        roots = {root for column in step.values() for root in column.meta.root_names()}
        assert roots <= available | {"N"}
        available |= set(step)
    assert {root for each in expressions for root in each.meta.root_names()} <= available


def test_only_required_columns_are_computed() -> None:
    assert set(required_columns([z_score()])) == {"delta", "e11", "determinant", "N", "r1", "c1"}


def test_the_places_of_a_p_value_include_its_statistic() -> None:
    assert places(["z_score_pv"]) == {
        place_of(each) for each in (z_score_pv, z_score_tt_pv, z_score)
    }


def test_a_measure_that_depends_on_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    circle = {"x": pl.col("y") + 1, "y": pl.col("x") + 1}
    monkeypatch.setattr(module, "definition", circle.__getitem__)
    with pytest.raises(ValueError, match="x is defined by itself: x -> y -> x"):
        required_columns([pl.col("x")])


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(KeyError, match="unknown measure 'foo'"):
        required_columns([pl.col("foo")])


UCS = {
    "mi": "am.MI", "dice": "am.Dice", "z_score": "am.z.score", "t_score": "am.t.score",
    "chi_squared": "am.chi.squared", "chi_squared_corr": "am.chi.squared.corr",
}  # fmt: skip


def one(name: str, cells: Cells) -> float | None:
    return score(frame(cells), measures=[name]).select(name).collect().item()


def test_the_published_table_has_its_scores() -> None:
    """in Frage + stellen: O11 = 146, R1 = 382, C1 = 4047, N = 406159."""
    paper = Cells(146, 382, 4047, 406159)
    assert one("t_score", paper) == pytest.approx((146 - 3.806278) / math.sqrt(146), rel=1e-7)
    assert one("mi", paper) == pytest.approx(math.log10(146 / 3.806278), rel=1e-7)


@pytest.mark.parametrize("name", sorted(UCS))
def test_scores_agree_with_ucs(name: str, public_data: Callable[[str], Path]) -> None:
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    result = score(table.lazy(), measures=[name]).select(name, ucs=UCS[name]).collect()
    error = result.select(((pl.col(name) - pl.col("ucs")) / pl.col("ucs")).abs().max()).item()
    assert error < 1e-11


def test_log_likelihood_agrees_with_ucs_except_near_zero(
    public_data: Callable[[str], Path],
) -> None:
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    result = score(table.lazy(), measures=["G2"]).collect()
    large = result.filter(pl.col("log_likelihood").abs() > 1)
    ratio = pl.col("am.log.likelihood") / pl.col("log_likelihood")
    assert large.select((ratio - 1).abs().max()).item() < 6e-9


def test_degenerate_tables_have_defined_scores() -> None:
    """All tokens in one cell, an empty margin, O11 = 0, O11 = E11 exactly, nothing at all."""
    rows = {
        "whole": Cells(5, 5, 5, 5), "row": Cells(2, 5, 2, 5), "never": Cells(0, 3, 4, 20),
        "independent": Cells(2, 4, 5, 10), "absent": Cells(0, 0, 4, 20), "void": Cells(0, 0, 0, 1),
    }  # fmt: skip
    result = (
        score(frame(*rows.values()), measures=["all"])
        .collect()
        .with_columns(case=pl.Series(list(rows)))
    )
    value = {row["case"]: row for row in result.iter_rows(named=True)}
    for case in ("whole", "row", "independent"):
        for name in ("log_likelihood", "chi_squared", "t_score", "mi", "simple_ll"):
            assert value[case][name] == 0
    assert value["never"]["mi"] == -math.inf
    assert value["never"]["t_score"] == -math.inf
    assert value["never"]["log_likelihood"] < 0
    assert value["absent"]["mi"] is None
    assert value["absent"]["t_score"] is None
    assert value["void"]["dice"] is None
    assert result.select(
        pl.all_horizontal(pl.col(pl.Float64).is_not_nan().fill_null(True).all())
    ).item()


def test_a_plan_and_a_table_in_memory_have_equal_scores() -> None:
    rows = frame(Cells(3, 5, 6, 100), Cells(3, 5, 6, 100), Cells(0, 5, 6, 100)).collect()
    expressions = measure_expressions(list(MEASURES), {"mine": "o11 / e11"})
    plan = score(rows.lazy(), measures=list(MEASURES), formulas={"mine": "o11 / e11"}, seed="s")
    assert plan.collect().equals(score_now(rows, expressions=expressions, seed="s"))
    assert plan.collect_schema() == plan.collect().schema


def test_a_table_without_rows_is_scored() -> None:
    assert score(frame(), measures=list(MEASURES)).collect().height == 0


def test_a_user_formula_equals_the_measure() -> None:
    plan = score(
        frame(Cells(3, 5, 6, 100)), measures=["dice"], formulas={"mine": "2 * o11 / (r1 + c1)"}
    )
    assert plan.select(pl.col("mine") == pl.col("dice")).collect().item()


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("SUM(o11)", "of a single row"), ("MAX(o11) + o12", "of a single row"), ("1", "is a constant"),
        ("o11 > 3", "not a number"), ("foo + 1", "uses foo"), ("o11 +", "not a Polars SQL"),
        ("f1 / o11", "uses f1"), ("ROW_NUMBER() OVER (ORDER BY o11)", "not an expression of a single row|not a Polars SQL"),
    ],
)  # fmt: skip
def test_invalid_formulas_are_refused(formula: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse(formula)


def test_names_and_aliases_are_resolved() -> None:
    assert MEASURES.resolve(["LL", "G2", "log.likelihood"]) == ["log_likelihood"]
    assert MEASURES.resolve(["MI", "all"])[0] == "mi"
    assert set(MEASURES.spellings().values()) == set(MEASURES)
    with pytest.raises(KeyError, match="did you mean t_score"):
        MEASURES.resolve(["t_scor"])


# Measures of tuples against exact values, those of pairs, and the laws of measures.


def scores(table: Table) -> dict[str, float | None]:
    """Return every score of a table."""
    scored = (
        score_tuples(frame_of_tuples(table), measures=["all"])
        .select(list(TUPLE_MEASURES))
        .collect()
    )
    return scored.row(0, named=True)


def surprise(o: float, e: float) -> float:
    row = pl.DataFrame({"o": [o], "e": [e], "delta": [o - e]})
    return float(row.select(TUPLE_MEASURES.get("poisson_pv").score(3)).item())


def one_of_tuples(name: str, table: Table) -> float | None:
    return scores(table)[name]


def independent(size: int, n: int, part: int) -> Table:
    """Return a table with O = E in all cells; each element has n / part tokens."""
    cells = {}
    for number in range(2**size):
        cell = tuple(bool(number >> i & 1) for i in range(size))
        cells[cell] = n * (part - 1) ** cell.count(False) // part**size
    return Table(cells)


def test_every_tuple_measure_has_an_exact_twin() -> None:
    assert set(EXACT) == set(TUPLE_MEASURES)


@given(table=tables())
def test_tuple_measures_agree_with_exact_values(table: Table) -> None:
    scored = scores(table)
    for name in set(EXACT) - {"poisson_pv"}:
        exact, value = EXACT[name](table), scored[name]
        assert value is not None
        assert abs(value - exact) <= 1e-11 * abs(exact), (name, value, mpmath.nstr(exact, 20))


@given(table=tables(3, 3, most=100))
def test_the_poisson_test_of_tuples_agrees_with_exact_values(table: Table) -> None:
    exact = EXACT["poisson_pv"](table)
    value = one_of_tuples("poisson_pv", table)
    assert value is not None
    assert abs(value - exact) <= max(1e-11 * abs(exact), 1e-300)


@pytest.mark.parametrize(
    ("o", "e"),
    [
        (1000, 0.001), (1000, 999.0), (3, 2.5), (10**5, 10**5 + 0.5), (10**5, 9.9e4), (5, 400.0),
        (5962371, 5944706.75), (90_000, 95_000.25), (1, 1e-9),
    ],
)  # fmt: skip
def test_poisson_tails_agree_with_sums_of_terms(o: int, e: float) -> None:
    """Far above the mean, near it and far below, against sums of exact terms."""
    value = surprise(float(o), e)
    first = mpmath.mpf(o) if o > e else mpmath.mpf(o - 1)
    term = mpmath.exp(first * mpmath.log(e) - e - mpmath.loggamma(first + 1))
    total = mpmath.mpf(0)
    while term > total * mpmath.mpf(10) ** -25 and first >= 0:
        total += term
        term *= e / (first + 1) if o > e else first / e
        first += 1 if o > e else -1
    exact = -(mpmath.log(total) if o > e else mpmath.log1p(-total)) / mpmath.log(10)
    assert abs(value - exact) <= 1e-11 * abs(exact)


@given(table=tables(2, 2))
def test_tuples_of_two_units_score_as_pairs(table: Table) -> None:
    both = sorted(set(TUPLE_MEASURES) & set(MEASURES))
    assert len(both) >= 5
    tuples = score_tuples(frame_of_tuples(table), measures=both).select(both).collect().row(0)
    pairs = score(frame_of_tuples(table), measures=both).select(both).collect().row(0)
    assert tuples == pytest.approx(pairs, rel=1e-12, nan_ok=True)


def test_tuple_measures_are_exact_near_independence() -> None:
    """One more tuple token than expected among 10^12: textbook forms lose all their digits."""
    base = independent(3, 10**12, 10)
    joint, other = (True, True, True), (False, True, True)
    cells = base.cells | {joint: base.o + 1, other: base.cells[other] - 1}
    table = Table(cells)
    scored = scores(table)
    for name in set(EXACT) - {"poisson_pv"}:
        exact, value = EXACT[name](table), scored[name]
        assert value is not None
        assert abs(value - exact) <= 1e-11 * abs(exact), name


@pytest.mark.parametrize("size", [2, 3, 6])
def test_tuple_measures_are_zero_at_independence(size: int) -> None:
    table = independent(size, 3**size * 7, 3)
    assert table.o == 7
    scored = scores(table)
    assert [scored[name] for name in ("mi", "t_score", "simple_ll", "log_likelihood")] == [0] * 4


def test_tuple_measures_agree_with_values_by_hand() -> None:
    """8 tuple tokens, 2 with all of a b c, the others with none: E = 8 / 64."""
    table = Table(independent(3, 0, 2).cells | {(True,) * 3: 2, (False,) * 3: 6})
    assert table.e == 0.125
    g2 = 2 * (2 * math.log(2 / 0.125) + 6 * math.log(6 / 3.375))
    assert one_of_tuples("mi", table) == pytest.approx(math.log10(16))
    assert one_of_tuples("t_score", table) == pytest.approx(1.875 / math.sqrt(2))
    assert one_of_tuples("log_likelihood", table) == pytest.approx(g2)
    poisson = -math.log10(1 - math.exp(-0.125) * 1.125)
    assert one_of_tuples("poisson_pv", table) == pytest.approx(poisson)


@pytest.mark.long
@given(table=tables(), data=st.data())
def test_the_order_of_units_does_not_change_tuple_scores(table: Table, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(table.size)))
    turned = Table({tuple(cell[i] for i in order): o for cell, o in table.cells.items()})
    assert scores(table) == pytest.approx(scores(turned), rel=1e-10)


@pytest.mark.long
@given(table=tables())
def test_signed_tuple_scores_have_the_sign_of_the_difference(table: Table) -> None:
    for name, value in scores(table).items():
        if TUPLE_MEASURES.get(name).sided == "signed":
            assert value is not None
            assert (value > 0) - (value < 0) == sign(table), name


@pytest.mark.long
@given(rows=st.lists(tables(3, 3, 10**5), min_size=1, max_size=20), seed=st.integers(0, 9))
def test_row_order_and_batches_do_not_change_tuple_scores(rows: list[Table], seed: int) -> None:
    table = frame_of_tuples(*rows, *rows).with_row_index("row").collect()
    whole = score_tuples(table.lazy(), measures=["all"]).collect()
    mixed = score_tuples(table.sample(fraction=1, shuffle=True, seed=seed).lazy(), measures=["all"])
    parts = [score_tuples(part.lazy(), measures=["all"]).collect() for part in table.iter_slices(7)]
    assert whole.equals(mixed.collect().sort("row"))
    assert whole.equals(pl.concat(parts))


def test_degenerate_tuple_tables_have_defined_scores() -> None:
    """O = 0 with E above it and with E = 0; all tokens in one cell."""
    empty = dict.fromkeys(independent(3, 0, 2).cells, 0)
    rare = Table(empty | {(True, False, False): 1, (False, True, True): 2, (False,) * 3: 5})
    absent = Table(empty | {(False, True, True): 2, (False,) * 3: 5})
    whole = Table(empty | {(True,) * 3: 5})
    result = score_tuples(frame_of_tuples(rare, absent, whole), measures=["all"]).collect()
    value = [{**row} for row in result.iter_rows(named=True)]
    assert value[0]["mi"] == -math.inf
    assert value[0]["t_score"] == -math.inf
    assert value[0]["simple_ll"] < 0
    assert value[0]["poisson_pv"] == 0
    assert value[1]["mi"] is None
    assert value[1]["t_score"] is None
    assert value[1]["simple_ll"] == 0
    assert value[1]["poisson_pv"] == 0
    assert [value[2][name] for name in ("mi", "t_score", "simple_ll", "log_likelihood")] == [0] * 4
    floats = result.select(pl.col(pl.Float64).is_not_nan().fill_null(True).all())
    assert floats.select(pl.all_horizontal(pl.all())).item()


def test_a_tuple_table_without_rows_is_scored() -> None:
    assert (
        score_tuples(frame_of_tuples(independent(3, 8, 2)).head(0), measures=["all"])
        .collect()
        .height
        == 0
    )


def test_user_formulas_of_tuples_are_computed() -> None:
    formulas = {"mine": "o / f_12", "dice": "3 * o / (f1 + f2 + f3)", "rest": "o222 / N"}
    table = Table(
        independent(3, 0, 2).cells | {(True,) * 3: 2, (True, True, False): 3, (False,) * 3: 5}
    )
    plan = score_tuples(frame_of_tuples(table), measures=["frequency"], formulas=formulas)
    assert plan.select("mine", "dice", "rest").collect().row(0) == (2 / 5, 6 / 12, 5 / 10)


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("SUM(o)", "of a single row"),
        ("o > 3", "not a number"),
        ("o11 + 1", "uses o11"),
        ("o +", "SQL"),
    ],
)
def test_invalid_formulas_of_tuples_are_refused(formula: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_tuple_formula(formula, size=3)


def test_triples_have_these_columns() -> None:
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


def test_tuple_measures_have_the_names_of_pair_measures() -> None:
    """A measure of tuples has the spellings of the measure of pairs with the same values."""
    for name in set(TUPLE_MEASURES) & set(MEASURES):
        assert TUPLE_MEASURES.get(name).spellings == MEASURES.get(name).spellings
    assert TUPLE_MEASURES.resolve(["G2", "MI"]) == ["log_likelihood", "mi"]
    with pytest.raises(KeyError, match="unknown tuple measure 'dice'"):
        TUPLE_MEASURES.resolve(["dice"])


def test_the_surprise_of_nan_is_nan() -> None:
    assert math.isnan(surprise(1.0, math.nan))


@given(cells=signatures())
def test_cells_agree_with_exact_ones(cells: Cells) -> None:
    frame = pl.LazyFrame({"f": [cells.f], "f1": [cells.f1], "f2": [cells.f2], "N": [cells.n]})
    row = contingency.tables(frame).select(contingency.COLUMNS).collect().row(0, named=True)
    assert tuple(row[f"o{ij}"] for ij in ("11", "12", "21", "22")) == cells.observed
    for ij, exact in zip(("11", "12", "21", "22"), cells.expected, strict=True):
        assert abs(row[f"e{ij}"] - exact) <= abs(exact) * 4e-16
    assert abs(row["delta"] - cells.delta) <= abs(cells.delta) * 4e-16
    assert row["r1"] + row["r2"] == row["c1"] + row["c2"] == row["N"] == cells.n
