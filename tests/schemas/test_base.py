"""How tables are declared: columns in order, keys, shared columns, further columns, rules."""

from datetime import date

import polars as pl
import pytest

from pipeline.runner.code_digests import code_digests
from schemas import OpenTable, SchemaViolation, Table, column, rule
from schemas.validate import validate


class Limits(Table):
    lower: float = column("lower limit", ge=0)
    upper: float = column("upper limit", le=1)

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class Named(Table):
    name: str = column("what it is called", key=True)


class Estimates(Named, Limits):
    value: float = column("estimate", nullable=True)
    lower: float
    day: date = column("day", key=1, dtype=pl.Date())

    value_is_above = rule("lower <= value", pl.col("lower") <= pl.col("value"))


def test_columns_of_bases_come_first_unless_the_body_names_them() -> None:
    assert list(Estimates.columns()) == ["name", "upper", "value", "lower", "day"]
    assert Estimates.columns()["day"] == pl.Date
    assert Estimates.descriptions()["lower"] == "lower limit"
    assert list(Limits.columns()) == ["lower", "upper"]


def test_keys_go_by_their_columns_or_by_number() -> None:
    assert Estimates.key() == ("name", "day")

    class Turned(Table):
        first: int = column("second of the key", key=2)
        second: int = column("first of the key", key=1)

    assert Turned.key() == ("second", "first")


def test_rules_are_inherited_and_null_breaks_none() -> None:
    assert list(Estimates.rules()) == ["value_is_above", "limits_are_ordered"]
    row = {"name": "a", "upper": 0.4, "value": None, "lower": 0.3, "day": date(2026, 1, 1)}
    assert validate([pl.DataFrame([row], schema=Estimates.columns())], Estimates, name="t") == 1
    bad = pl.DataFrame([row | {"lower": 0.5, "value": 0.4}], schema=Estimates.columns())
    with pytest.raises(SchemaViolation) as error:
        validate([bad], Estimates, name="t")
    said = [each.rule for each in error.value.violations]
    assert said == ["value_is_above (lower <= value)", "limits_are_ordered (lower <= upper)"]


def test_a_table_may_be_open_and_closed_again() -> None:
    class Open(OpenTable):
        id: str = column("candidate", key=True)

    class Closed(Open, further=()):
        pass

    frame = pl.DataFrame({"id": ["a"], "more": [1]})
    assert validate([frame], Open, name="t") == 1
    with pytest.raises(SchemaViolation, match="column more: is not declared"):
        validate([frame], Closed, name="t")


@pytest.mark.parametrize(
    "body",
    [
        {"__annotations__": {"n": int}},
        {"__annotations__": {"n": int}, "n": 3},
        {"n": column("without annotation")},
        {"__annotations__": {"n": list}, "n": column("of no plain type")},
    ],
)
def test_what_is_no_declaration_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="Odd.n: "):
        type("Odd", (Table,), body)


def test_who_imports_a_table_rests_on_its_module_alone() -> None:
    found = code_digests(["pipeline.kernels.nbest.comparison"])
    assert {"schemas.comparison", "schemas.base"} <= found.keys()
    assert "schemas" not in found
    assert "schemas.lexicon" not in found
