"""Which system comes first, and whether types and tokens agree: known answers, ties, one system."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.findings.base import as_table, gathered
from schemas import Findings
from tests.findings.clustering.tables import systems_stage
from tests.findings.stages import found, texts
from tests.valid import valid

THREE = {
    "MacroI M-1": {"a": [0.9], "b": [0.8], "c": [0.7]},
    "MicroI M-1": {"a": [0.6], "b": [0.9], "c": [0.7]},
    "many_to_one": {"a": [0.5], "b": [0.6], "c": [0.7]},
    "vi": {"a": [1.0], "b": [2.0], "c": [3.0]},
}


def test_each_level_has_its_first() -> None:
    said = texts("systems", systems_stage(THREE))
    assert said[0] == "Highest by types: a, MacroI M-1 90.0 %; next of 3 systems is b (80.0 %)."
    assert said[1] == "Highest by tokens: c, M-1 accuracy 70.0 %; next of 3 systems is b (60.0 %)."
    assert said[3:] == [
        "Of 1 other measure of types: b is first by MicroI M-1.",
        "Of 1 other measure of tokens: a is first by VI.",
    ]


def test_orders_that_are_the_other_way_round() -> None:
    (agreement,) = (
        each for each in found("systems", systems_stage(THREE)) if each.about == "agreement"
    )
    assert agreement.text == (
        "Types and tokens order the 3 systems the other way round: rank correlation −1.00 "
        "(Spearman's rho of MacroI M-1 with M-1 accuracy)."
    )
    assert (agreement.value, agreement.n, agreement.figure) == (-1.0, 3, "scatter")


def test_orders_that_are_alike_and_orders_that_are_not() -> None:
    both = {"MacroI M-1": THREE["MacroI M-1"], "many_to_one": THREE["MacroI M-1"]}
    assert (
        "order the 3 systems alike: rank correlation 1.00"
        in texts("systems", systems_stage(both))[2]
    )
    other = {"a": [0.1], "b": [0.3], "c": [0.2]}
    said = texts("systems", systems_stage({**both, "many_to_one": other}), "agreement")
    assert "differently: rank correlation −.50" in said[0]


def test_a_tie_of_all_has_no_correlation() -> None:
    tied = {"MacroI M-1": {"a": [0.5], "b": [0.5]}, "v": {"a": [0.1], "b": [0.2]}}
    said = texts("systems", systems_stage(tied))
    assert said[0] == "All 2 systems are tied by types: MacroI M-1 50.0 %."
    assert said[2] == (
        "Types and tokens give no rank correlation over 2 systems: one ties them all."
    )


def test_a_tie_of_two() -> None:
    tied = {"v": {"b": [0.5], "a": [0.5], "c": [0.2]}}
    assert texts("systems", systems_stage(tied)) == [
        "Highest by tokens: a and b (tied), V 50.0 %; next of 3 systems is c (20.0 %)."
    ]


def test_one_system_is_held_against_none() -> None:
    said = texts("systems", systems_stage({"MacroI M-1": {"a": [0.5]}, "v": {"a": [0.4]}}))
    assert said == [
        "By types: a, MacroI M-1 50.0 %; there is no other system.",
        "By tokens: a, V 40.0 %; there is no other system.",
    ]
    assert texts("untested_order", systems_stage({"v": {"a": [0.4]}})) == []


def test_several_runs_have_mean_and_spread() -> None:
    said = texts("systems", systems_stage({"v": {"a": [0.4, 0.6], "b": [0.3, 0.3]}}))[0]
    assert "V 50.0 % (mean of 2 runs, standard deviation 14.1)" in said


def test_low_values_come_first_where_they_are_good() -> None:
    said = texts("systems", systems_stage({"vi": {"a": [2.0], "b": [1.0]}}))
    assert said == ["Lowest by tokens: b, VI 1.00; next of 2 systems is a (2.00)."]


def test_systems_without_a_value_do_not_count() -> None:
    some: dict[str, dict[str, list[float | None]]] = {"v": {"a": [None], "b": [0.2]}}
    assert texts("systems", systems_stage(some)) == [
        "By tokens: b, V 20.0 %; there is no other system."
    ]
    assert texts("systems", systems_stage({"v": {"a": [None]}})) == []
    assert texts("systems", systems_stage({})) == []
    assert texts("untested_order", systems_stage({})) == []


def test_few_systems_are_said_to_be_few() -> None:
    said = texts("untested_order", systems_stage(THREE))
    assert said == [
        "No test holds the 3 systems against each other: their order is one of estimates.",
        "3 systems say little of a rank correlation: by chance alone each order comes once in 6.",
    ]
    five = {
        name: {letter: [i / 10] for i, letter in enumerate("abcde")} for name in ("v", "MacroI M-1")
    }
    assert len(texts("untested_order", systems_stage(five))) == 1


HOSTILE = ["</script><img onerror=alert(1)>", "שלום", "a\nb", "x" * 500]
VALUES = st.lists(
    st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=1, max_size=2
)
TABLES = st.dictionaries(
    st.sampled_from(["MacroI M-1", "MicroC 1-1", "many_to_one", "v", "vi", "bcubed_f", "omega"]),
    st.dictionaries(st.sampled_from(["a", "b", "c", *HOSTILE]), VALUES, max_size=4),
)


@given(TABLES)
def test_whatever_the_tables_no_system_is_better(
    values: dict[str, dict[str, list[float | None]]],
) -> None:
    one = systems_stage(values)
    table = valid(as_table(gathered({"systems": one})), Findings)
    for text in table["text"]:
        assert not re.search(r"\b(better|worse|best|worst|above|below|nan|None)\b", text)
        assert "\n" not in text
        assert len(text) < 700


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_rows_makes_no_difference(order: int) -> None:
    turned = {name: dict(list(systems.items())[::order]) for name, systems in THREE.items()}
    assert texts("systems", systems_stage(turned)) == texts("systems", systems_stage(THREE))
