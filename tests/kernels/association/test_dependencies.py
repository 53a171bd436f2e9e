"""Columns come after those that they rest on."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.kernels.association import dependencies as module
from pipeline.kernels.association.dependencies import modules, needed, steps
from pipeline.kernels.association.measures.asymptotic import z_score
from pipeline.kernels.association.measures.p_values import z_score_pv
from pipeline.kernels.measure import MEASURES


def test_each_column_after_its_roots() -> None:
    wanted = [MEASURES.get(name).score() for name in MEASURES if name != "random"]
    seen = {"f", "f1", "f2"}
    for step in steps(needed(wanted)):
        roots = {root for column in step.values() for root in column.meta.root_names()}
        assert roots <= seen | {"N"}
        seen |= set(step)
    assert {root for each in wanted for root in each.meta.root_names()} <= seen


def test_nothing_that_is_not_needed() -> None:
    assert set(needed([z_score()])) == {"delta", "e11", "determinant", "N", "r1", "c1"}


def test_the_modules_of_a_p_value_are_those_of_its_statistic_too() -> None:
    assert modules(["z_score_pv"]) == {z_score_pv.__module__, z_score.__module__}


def test_a_measure_that_rests_on_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    circle = {"x": pl.col("y") + 1, "y": pl.col("x") + 1}
    monkeypatch.setattr(module, "definition", circle.__getitem__)
    with pytest.raises(ValueError, match="x is defined by itself: x -> y -> x"):
        needed([pl.col("x")])


def test_an_unknown_column() -> None:
    with pytest.raises(KeyError, match="unknown measure 'foo'"):
        needed([pl.col("foo")])
