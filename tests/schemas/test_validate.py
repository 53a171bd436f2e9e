"""The report of violations of a schema: rules, counts and rows."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import schemas
from schemas import Candidates, Precision, Sample, SchemaViolation, Scores, Table, column
from schemas.checks import violations
from schemas.validate import check_columns, holds, validate
from tests.schemas.write_checks import tables

# The fast check of a table agrees with pandera for any content

EDGES: dict[Any, list[Any]] = {
    pl.String: ["", " ", "x", "l1", "1-1", "\u00a0", None],
    pl.Int64: [-1, 0, 1, 2, 100, None],
    pl.Float64: [-math.inf, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, math.inf, math.nan, None],
    pl.Boolean: [True, False, None],
}


class LimitedColumns(Table):
    """Every limit that a column may have."""

    above: float = column("a value", gt=0, nullable=True)
    below: float = column("a value", lt=1, nullable=True)
    least: float = column("a value", ge=0)
    most: float = column("a value", le=1)
    name: str = column("a name", isin=["x", "y"], nullable=True)
    text: str = column("a text", min_length=2)


def _rows(model: type[Table], draw: Any, most: int = 3) -> pl.DataFrame:
    declared = model.declared_columns()
    row = {
        name: st.sampled_from([*each.limits.get("isin", ()), *EDGES[type(each.dtype)]])
        for name, each in declared.items()
        if type(each.dtype) in EDGES
    }
    result = [
        {name: draw(values) for name, values in row.items()}
        for _ in range(draw(st.integers(0, most)))
    ]
    return pl.DataFrame(result, schema=model.columns())


@given(st.data())
def test_limits_of_columns_are_those_of_pandera(data: st.DataObject) -> None:
    batch = _rows(LimitedColumns, data.draw)
    assert holds(batch, LimitedColumns) == (not violations(batch, LimitedColumns, offset=0))


@pytest.mark.parametrize("column_name", LimitedColumns.columns())
@pytest.mark.parametrize("value", [None, math.nan, -1.0, 0.0, 1.0, "", "x", "xy"])
def test_single_values_are_judged_like_pandera(column_name: str, value: Any) -> None:
    good = {"above": 0.5, "below": 0.5, "least": 0.5, "most": 0.5, "name": "x", "text": "xy"}
    if isinstance(good[column_name], str) is not isinstance(value, str) and value is not None:
        pytest.skip("of another type")
    batch = pl.DataFrame([good | {column_name: value}], schema=LimitedColumns.columns())
    assert holds(batch, LimitedColumns) == (not violations(batch, LimitedColumns, offset=0))


@given(st.data())
def test_any_table_is_judged_like_pandera(data: st.DataObject) -> None:
    model = data.draw(st.sampled_from(tables()))
    batch = _rows(model, data.draw, most=1)
    assert holds(batch, model) == (not violations(batch, model, offset=0)), model


GOOD = {"id": "a", "l1": "x", "l2": "y", "f": 2, "f1": 3, "f2": 4, "N": 10}
TABLES = [
    each for each in vars(schemas).values() if isinstance(each, type) and issubclass(each, Table)
]


def rows(*changes: Mapping[str, object]) -> pl.DataFrame:
    return pl.DataFrame([{**GOOD, **change} for change in changes], schema=Candidates.columns())


def violations_validate(
    frame: pl.DataFrame, model: type[Table] = Candidates
) -> dict[str, tuple[int, str]]:
    with pytest.raises(SchemaViolation) as error:
        validate(frame.iter_slices(2), model, name="table")
    return {
        f"{each.column}:{each.rule.split(' ')[0]}": (each.count, " ".join(each.examples))
        for each in error.value.violations
    }


def test_valid_rows_are_counted() -> None:
    assert validate(rows({}, {"id": "b"}, {"id": "c"}).iter_slices(2), Candidates, name="t") == 3


def test_every_broken_rule_and_row_is_reported() -> None:
    wrong: list[dict[str, Any]] = [{"f": 9}, {"f": -1, "f1": -1}, {"l1": None}, {"N": 4, "f": 3}]
    rows_with_ids = [row | {"id": f"x{number}"} for number, row in enumerate(wrong, 1)]
    violations = violations_validate(rows({}, *rows_with_ids))
    assert violations["None:marginals_bound_joint"][0] == 1
    assert "id='x1'" in violations["None:marginals_bound_joint"][1]
    assert "f=9" in violations["None:marginals_bound_joint"][1]
    assert violations["l1:not_nullable"] == (1, violations["l1:not_nullable"][1])
    assert "id='x3'" in violations["l1:not_nullable"][1]
    assert violations["f:greater_than_or_equal_to"][0] == 1
    assert "id='x2'" in violations["f1:greater_than_or_equal_to"][1]


def test_violations_are_added_up_and_three_are_shown() -> None:
    violations = violations_validate(rows(*({"f": 9} for _ in range(7))))
    count, examples = violations["None:marginals_bound_joint"]
    assert count == 7
    assert examples.count("id=") == 3


def test_open_table_fits_sample_size() -> None:
    violations = violations_validate(rows({"f": 0, "f1": 6, "f2": 6}))
    assert "None:table_fits_sample_size" in violations


def test_nan_is_not_a_score() -> None:
    frame = rows({}, {"id": "b"}).with_columns(mi=pl.Series([float("nan"), None]))
    assert violations_validate(frame, Scores)["None:scores_are_numbers_or_null"][0] == 1
    fine = rows({}, {"id": "b"}).with_columns(mi=pl.Series([float("-inf"), None]))
    assert validate([fine], Scores, name="scores") == 2


def test_wrong_columns_and_types_are_reported() -> None:
    frame = rows({}).with_columns(pl.col("f").cast(pl.Int32), extra=pl.lit([1])).drop("l2")
    with pytest.raises(SchemaViolation) as error:
        check_columns(frame.lazy(), Candidates, name="t")
    assert {each.column for each in error.value.violations} == {"f", "l2", "extra"}
    with pytest.raises(SchemaViolation, match="not part of the schema"):
        check_columns(Sample.zero_rows(extra=pl.Int64), Sample, name="t")


def test_precision_lies_in_its_interval() -> None:
    row = {
        "category": "TP", "measure": "mi", "n": 10, "precision": 0.5, "lower": 0.6, "upper": 0.9,
        "recall": None, "n_sampled": 2, "k_sampled": 1, "tp_min": 2, "tp_max": 1,
    }  # fmt: skip
    violations = violations_validate(pl.DataFrame([row], schema=Precision.columns()), Precision)
    assert set(violations) == {"None:counts_are_ordered", "None:interval_holds_estimate"}


def test_precision_may_leave_its_interval_by_under_a_candidate() -> None:
    row = {
        "category": "TP", "measure": "mi", "n": 100, "precision": 98 / 99, "lower": 0.99,
        "upper": 0.99, "recall": None, "n_sampled": 99, "k_sampled": 98, "tp_min": 98,
        "tp_max": 98,
    }  # fmt: skip
    good = pl.DataFrame([row], schema=Precision.columns())
    assert validate([good], Precision, name="t") == 1
    for change in ({"precision": 0.98}, {"precision": 1.0}, {"upper": 0.985}):
        wrong = pl.DataFrame([row | change], schema=Precision.columns())
        assert set(violations_validate(wrong, Precision)) == {"None:interval_holds_estimate"}
    unknown = row | {"precision": None, "lower": 0.4, "upper": 0.3}
    violations = violations_validate(pl.DataFrame([unknown], schema=Precision.columns()), Precision)
    assert set(violations) == {"None:interval_holds_estimate"}


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_every_schema_describes_itself(model: type[Table]) -> None:
    assert all(model.descriptions().values())
    assert model.arrow_schema().names == list(model.columns())
    assert validate([model.zero_rows().collect()], model, name="empty") == 0
    assert set(model.key()) <= set(model.columns())


def test_pandera_is_loaded_when_a_table_breaks_its_schema() -> None:
    script = """
import sys
import polars as pl
from schemas import CorpusSize, SchemaViolation
from schemas.validate import check_columns, validate
good = pl.DataFrame({"what": ["tokens"], "count": [1]})
check_columns(good.lazy(), CorpusSize, name="size")
validate([good], CorpusSize, name="size")
assert "pandera" not in sys.modules
try:
    validate([good.with_columns(count=pl.col("count") - 2)], CorpusSize, name="size")
except SchemaViolation:
    assert "pandera" in sys.modules
    sys.exit(3)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 3
