"""The rules of tuples: every subset counted, bounded, and no cell negative."""

from __future__ import annotations

import polars as pl
import pytest

from schemas import SchemaViolation, Tuples
from schemas.validate import validate

ROW = {
    "id": "a", "l1": "x", "l2": "y", "l3": "z", "f": 1, "f1": 3, "f2": 3, "f3": 3,
    "f_12": 2, "f_13": 2, "f_23": 2, "N": 9,
}  # fmt: skip


def broken(**changed: int) -> str:
    with pytest.raises(SchemaViolation) as error:
        validate([pl.DataFrame([ROW | changed])], Tuples, name="tuples")
    return str(error.value)


def test_a_table_that_keeps_the_rules() -> None:
    assert validate([pl.DataFrame([ROW])], Tuples, name="tuples") == 1


@pytest.mark.parametrize("changed", [{"f": 3}, {"f_12": 4}, {"f_23": 4}, {"f3": 10}, {"f_13": 0}])
def test_no_set_is_more_frequent_than_its_parts(changed: dict[str, int]) -> None:
    assert "parts_bound_wholes" in broken(**changed)


@pytest.mark.parametrize("changed", [{"f_12": 3, "f_13": 3}, {"N": 3}])
def test_no_cell_is_negative(changed: dict[str, int]) -> None:
    """The bounds hold here, but 3 - 3 - 3 + 1 tuples would have x without y and z."""
    said = broken(**changed)
    assert "table_fits_sample_size" in said
    assert "parts_bound_wholes" not in said


@pytest.mark.parametrize("name", ["f3", "f_12", "f_23"])
def test_every_subset_has_a_column(name: str) -> None:
    with pytest.raises(SchemaViolation, match="every_subset_is_counted"):
        validate([pl.DataFrame([ROW]).drop(name)], Tuples, name="tuples")


def test_cells_beyond_all_counts_are_negative_all_the_same() -> None:
    """f1 + f2 + f3 is more than Int64 holds: what is left of N must not go round to be positive."""
    large = 2**63 - 1  # N - f1 - f2 - f3 is 2 where numbers go round
    row = {
        "id": "a",
        "l1": "x",
        "l2": "y",
        "l3": "z",
        "f": 0,
        "f1": large,
        "f2": large,
        "f3": large,
    }
    row |= {"f_12": 0, "f_13": 0, "f_23": 0, "N": large}
    with pytest.raises(SchemaViolation, match="table_fits_sample_size"):
        validate([pl.DataFrame([row])], Tuples, name="t")
