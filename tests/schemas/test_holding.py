"""The fast verdict on a table is pandera's, whatever stands in it."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import Table, column
from schemas.checks import violations
from schemas.validate import holds
from tests.schemas.write_checks import tables

EDGES: dict[Any, list[Any]] = {
    pl.String: ["", " ", "x", "l1", "1-1", "\u00a0", None],
    pl.Int64: [-1, 0, 1, 2, 100, None],
    pl.Float64: [-math.inf, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, math.inf, math.nan, None],
    pl.Boolean: [True, False, None],
}


class Bounded(Table):
    """Every limit that a column may have."""

    above: float = column("a value", gt=0, nullable=True)
    below: float = column("a value", lt=1, nullable=True)
    least: float = column("a value", ge=0)
    most: float = column("a value", le=1)
    name: str = column("a name", isin=["x", "y"], nullable=True)
    text: str = column("a text", min_length=2)


def _rows(model: type[Table], draw: Any, most: int = 3) -> pl.DataFrame:
    declared = model.declared()
    row = {
        name: st.sampled_from([*each.limits.get("isin", ()), *EDGES[type(each.dtype)]])
        for name, each in declared.items()
        if type(each.dtype) in EDGES
    }
    made = [
        {name: draw(values) for name, values in row.items()}
        for _ in range(draw(st.integers(0, most)))
    ]
    return pl.DataFrame(made, schema=model.columns())


@given(st.data())
def test_every_limit(data: st.DataObject) -> None:
    batch = _rows(Bounded, data.draw)
    assert holds(batch, Bounded) == (not violations(batch, Bounded, offset=0))


@pytest.mark.parametrize("column_name", Bounded.columns())
@pytest.mark.parametrize("value", [None, math.nan, -1.0, 0.0, 1.0, "", "x", "xy"])
def test_one_value(column_name: str, value: Any) -> None:
    good = {"above": 0.5, "below": 0.5, "least": 0.5, "most": 0.5, "name": "x", "text": "xy"}
    if isinstance(good[column_name], str) is not isinstance(value, str) and value is not None:
        pytest.skip("of another type")
    batch = pl.DataFrame([good | {column_name: value}], schema=Bounded.columns())
    assert holds(batch, Bounded) == (not violations(batch, Bounded, offset=0))


@given(st.data())
def test_any_table(data: st.DataObject) -> None:
    model = data.draw(st.sampled_from(tables()))
    batch = _rows(model, data.draw, most=1)
    assert holds(batch, model) == (not violations(batch, model, offset=0)), model
