"""Scores against published values, degenerate tables, user formulas, and names."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from pipeline.kernels.association.scoring import measure_expressions, parse, score, score_now
from pipeline.kernels.measure import MEASURES
from tests.kernels.association.cells import Cells, frame

UCS = {
    "mi": "am.MI", "dice": "am.Dice", "z_score": "am.z.score", "t_score": "am.t.score",
    "chi_squared": "am.chi.squared", "chi_squared_corr": "am.chi.squared.corr",
}  # fmt: skip


def one(name: str, cells: Cells) -> float | None:
    return score(frame(cells), measures=[name]).select(name).collect().item()


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


def test_a_plan_and_a_table_in_memory_score_alike() -> None:
    rows = frame(Cells(3, 5, 6, 100), Cells(3, 5, 6, 100), Cells(0, 5, 6, 100)).collect()
    wanted = measure_expressions(["all"], {"mine": "o11 / e11"})
    plan = score(rows.lazy(), measures=["all"], formulas={"mine": "o11 / e11"}, seed="s")
    assert plan.collect().equals(score_now(rows, wanted=wanted, seed="s"))
    assert plan.collect_schema() == plan.collect().schema


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
    assert MEASURES.resolve(["LL", "G2", "log.likelihood"]) == ["log_likelihood"]
    assert MEASURES.resolve(["MI", "all"])[0] == "mi"
    assert set(MEASURES.spellings().values()) == set(MEASURES)
    with pytest.raises(KeyError, match="did you mean t_score"):
        MEASURES.resolve(["t_scor"])
