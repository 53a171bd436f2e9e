"""Columns come after those that they rest on."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.kernels.association import scoring as module
from pipeline.kernels.association.measures.p_values import z_score_pv, z_score_tt_pv
from pipeline.kernels.association.measures.tests import z_score
from pipeline.kernels.association.scoring import needed, places, steps
from pipeline.kernels.measure import MEASURES
from pipeline.registry import place_of


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


def test_the_places_of_a_p_value_are_those_of_its_statistic_too() -> None:
    assert places(["z_score_pv"]) == {
        place_of(each) for each in (z_score_pv, z_score_tt_pv, z_score)
    }


def test_a_measure_that_rests_on_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    circle = {"x": pl.col("y") + 1, "y": pl.col("x") + 1}
    monkeypatch.setattr(module, "definition", circle.__getitem__)
    with pytest.raises(ValueError, match="x is defined by itself: x -> y -> x"):
        needed([pl.col("x")])


def test_an_unknown_column() -> None:
    with pytest.raises(KeyError, match="unknown measure 'foo'"):
        needed([pl.col("foo")])
