"""Declarations of tables: order of columns, keys, shared columns, further columns, rules."""

from __future__ import annotations

import difflib
from datetime import date
from typing import Any

import polars as pl
import pytest

import schemas
from pipeline.runner.fingerprint import code_digests
from schemas import OpenTable, SchemaViolation, Table, Tuples, column, rule
from schemas.validate import validate
from tests.schemas.write_checks import CHECKS, lines, tables


class Limits(Table):
    lower: float = column("lower limit", ge=0)
    upper: float = column("upper limit", le=1)

    limits_are_ordered = rule("lower <= upper", pl.col("lower") <= pl.col("upper"))


class NameTable(Table):
    name: str = column("what it is called", key=True)


class Estimates(NameTable, Limits):
    value: float = column("estimate", nullable=True)
    lower: float
    day: date = column("day", key=1, dtype=pl.Date())

    value_is_above = rule("lower <= value", pl.col("lower") <= pl.col("value"))


def test_columns_of_bases_come_first_unless_the_body_names_them() -> None:
    assert list(Estimates.columns()) == ["name", "upper", "value", "lower", "day"]
    assert Estimates.columns()["day"] == pl.Date
    assert Estimates.descriptions()["lower"] == "lower limit"
    assert list(Limits.columns()) == ["lower", "upper"]


def test_keys_are_in_the_order_of_columns_or_numbers() -> None:
    assert Estimates.key() == ("name", "day")

    class TurnedKey(Table):
        first: int = column("second of the key", key=2)
        second: int = column("first of the key", key=1)

    assert TurnedKey.key() == ("second", "first")


def test_rules_are_inherited_and_null_breaks_no_rule() -> None:
    assert list(Estimates.rules()) == ["value_is_above", "limits_are_ordered"]
    row = {"name": "a", "upper": 0.4, "value": None, "lower": 0.3, "day": date(2026, 1, 1)}
    assert validate([pl.DataFrame([row], schema=Estimates.columns())], Estimates, name="t") == 1
    bad = pl.DataFrame([row | {"lower": 0.5, "value": 0.4}], schema=Estimates.columns())
    with pytest.raises(SchemaViolation) as error:
        validate([bad], Estimates, name="t")
    messages = [each.rule for each in error.value.violations]
    assert messages == ["value_is_above (lower <= value)", "limits_are_ordered (lower <= upper)"]


def test_an_open_table_may_be_closed_by_inheritance() -> None:
    class OpenRows(OpenTable):
        id: str = column("candidate", key=True)

    class ClosedTable(OpenRows, further=()):
        pass

    frame = pl.DataFrame({"id": ["a"], "more": [1]})
    assert validate([frame], OpenRows, name="t") == 1
    with pytest.raises(SchemaViolation, match="column more: is not part of the schema"):
        validate([frame], ClosedTable, name="t")


@pytest.mark.parametrize(
    "body",
    [
        {"__annotations__": {"n": int}},
        {"__annotations__": {"n": int}, "n": 3},
        {"n": column("without annotation")},
        {"__annotations__": {"n": list}, "n": column("of no plain type")},
    ],
)
def test_invalid_declarations_are_refused(body: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="Odd.n: "):
        type("Odd", (Table,), body)


def test_the_digest_of_an_import_includes_only_its_module() -> None:
    result = code_digests(["pipeline.kernels.nbest.comparison"])
    assert {"schemas.comparison", "schemas.base"} <= result.keys()
    assert "schemas" not in result
    assert "schemas.lexicon" not in result


# Every rule of every table refuses a row that breaks it, and no other rule does

VALUES: dict[Any, Any] = {pl.String: "x", pl.Int64: 1, pl.Float64: 0.5, pl.Boolean: True}
TYPES = {"measure": "MacroI", "mapping": "1-1"}
GOOD: dict[str, dict[str, Any]] = {
    "FrequencyBands": {"words": "all", "classes_per_type": 1.0},
    "Coefficients": {"kind": "word"},
    "AveragePrecision": {"base": "gold"},
    "GoldCoverage": {"n_candidates": 3, "n_entries": 2},
    "TupleSums": {"f1": 1},
    "ClassScores": TYPES,
    "ClusterMapping": TYPES,
    "DesignedSample": {"certain": False},
    "Inclusion": {"certain": False},
    "Phases": {"drawn": False},
    "Questions": {"kind": "baseline"},
    "Findings": {"kind": "answer", "text": "Baseline 11.1 %."},
    "MachineConfusion": {"n_judged": 4},
    "MeasureDifferences": {"population": "super", "verdict": "better"},
    "ClusteredDifferences": {"verdict": "better"},
    "CutComparison": {"verdict": "better"},
    "FamilyLimits": {"verdict": "better"},
    "DesignedDifferences": {"verdict": "better"},
    "ListParts": {"part": "list"},
    "Keywords": {"f_reference": 0, "size_reference": 0},
    "LemmaScores": {"n_missing": 0, "n_spurious": 0},
    "Baseline": {"n_drawn": 3},
    "BandThresholds": {"below_from": 2, "last_n": 3},
    "Precision": {"n": 100},
    "WorstCase": {"n_drawn": 2},
    "TypeLevel": TYPES | {"certificate": None, "interval": None, "n_in_several": 0},
}
"""Values of tables for which a row of equal values would break a rule."""
BREAKING_VALUES: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("Agreement", "limits_are_ordered"): [{"lower": 0.6}],
    ("ClassScores", "overlap_lies_in_both"): [{"n_ij": 2, "n_i": 2}, {"n_ij": 2, "n_j": 2}],
    ("ClusterMapping", "overlap_lies_in_both"): [
        {"n_ij": 2, "n_i": 2}, {"n_ij": 2, "n_j": 2}, {"n_i": None},
    ],
    ("ClusterOverlaps", "overlap_lies_in_both"): [{"n_ij": 2, "n_i": 2}, {"n_ij": 2, "n_j": 2}],
    ("AveragePrecision", "positives_within_judged"): [{"k_sampled": 2}, {"n_sampled": 2}],
    ("AveragePrecision", "limits_hold_estimate"): [
        {"average_precision": 0.4}, {"average_precision": 0.6},
    ],
    ("FrequencyBands", "band_holds_types"): [{"types": 2}, {"f_min": 2}],
    ("GoldCoverage", "candidates_add_up"): [{"n_false": 2}, {"n_unjudged": 0}],
    ("GoldCoverage", "entries_add_up"): [{"n_matched": 2}, {"n_unmatched": 0}],
    ("BandThresholds", "at_least_before_below"): [
        {"first_n": 2}, {"below_from": 1}, {"last_n": 1},
    ],
    ("Candidates", "units_are_not_blank"): [{"l1": " "}, {"l2": ""}, {"l2": "\u00a0\t"}],
    ("ClusteredDifferences", "limits_are_ordered"): [{"lower": 0.6}],
    ("ClusteredPrecision", "limits_are_ordered"): [{"lower": 0.6}],
    ("ClusteredPrecision", "positives_within_draws"): [{"k_sampled": 2}],
    ("Coefficients", "range_is_ordered"): [{"lowest": 0.6}],
    ("Comparison", "positives_within_draws"): [{"k_1": 2}, {"k_2": 2}],
    ("CorrectedPrecision", "limits_hold_estimate"): [{"corrected": 0.4}, {"corrected": 0.6}],
    ("DesignedSample", "certain_is_a_chance_of_1"): [{"certain": True}, {"pi": 1.0}],
    ("Inclusion", "certain_is_a_chance_of_1"): [{"certain": True}, {"pi": 1.0}],
    ("OverlappingScores", "limits_are_ordered"): [{"lower": 0.6}],
    ("SenseScores", "limits_are_ordered"): [{"lower": 0.6}],
    ("Refit", "sampled_are_judged"): [{"sampled": True, "tp": None}],
    ("Questions", "raised_only"): [{"weight": 0.6}],
    ("DesignedDifferences", "limits_are_ordered"): [{"lower": 0.6}],
    ("DifferenceBands", "limits_are_ordered"): [{"lower_band": 0.6}],
    ("DesignedEstimates", "counts_are_ordered"): [{"k_sampled": 2}],
    ("DesignedEstimates", "limits_hold_the_estimate"): [
        {"precision": 0.4}, {"precision": 0.6}, {"precision": None, "lower": 0.6},
    ],
    ("ListParts", "limits_hold_estimate"): [
        {"precision": 0.4}, {"precision": 0.6}, {"lower_simultaneous": 0.6},
        {"upper_simultaneous": 0.4},
    ],
    ("MeasureDifferences", "equivalence_is_tested"): [{"p_equivalent_adjusted": None}],
    ("MeasureDifferences", "limits_are_ordered"): [{"lower": 0.6}],
    ("MeasureDifferences", "positives_within_draws"): [{"k_1": 2}, {"k_2": 2}],
    ("Dispersion", "within_the_parts"): [{"documents": 2}],
    ("FamilyLimits", "limits_agree_with_the_verdict"): [
        {"lower_family": -0.5}, {"verdict": "open"},
    ],
    ("Findings", "sentences_have_a_number"): [{"text": "MI is first."}],
    ("ExpressionCounts", "some_are_inside"): [{"f": 1, "inside": 2}],
    ("Findings", "limits_are_ordered"): [{"lower": 0.6}],
    ("Guarantees", "only_what_is_tested_passes"): [
        {"tested": False}, {"testable": False, "passed": False},
    ],
    ("Keywords", "frequencies_add_up"): [{"f_reference": 1}],
    ("Keywords", "sizes_add_up"): [{"size_reference": 1}],
    ("LemmaForms", "form_is_somewhere"): [{"gold": False, "lexicon": False}],
    ("LemmaSample", "drawn_by_a_chance"): [{"drawn": False}, {"pi": None}],
    ("LemmaScores", "forms_add_up"): [{"n_gold": 2}, {"n_match": 2}],
    ("LemmaScores", "the_match_is_the_best"): [{"L": 0.4}],
    ("LexiconOverlaps", "sizes_bound_overlap"): [{"n_ij": 2, "n_i": 2}, {"n_ij": 2, "n_j": 2}],
    ("Calibration", "limits_are_ordered"): [{"lower": 0.6}],
    ("Judges", "limits_are_ordered"): [
        {"kappa_lower": 0.6}, {"ac1_lower": 0.6}, {"rho2_lower": 0.6},
    ],
    ("MachineConfusion", "draws_add_up"): [{"n_judged": 3}, {"true_negatives": 2}],
    ("PairSavings", "limits_are_ordered"): [{"rho2_lower": 0.6}],
    ("Savings", "limits_are_ordered"): [{"rho2_lower": 0.6}],
    ("Phases", "drawn_by_chance"): [{"drawn": True, "pi": 0.0}],
    ("Looks", "quantile_of_a_level"): [{"z": None}, {"level": None}],
    ("LocalPrecision", "positives_within_draws"): [{"k_sampled": 2}],
    ("Baseline", "draws_add_up"): [{"n_drawn": 2}, {"n_undecided": 0}, {"n_unjudged": 2}],
    ("Precision", "counts_are_ordered"): [{"tp_min": 2}, {"tp_max": 0}, {"n_sampled": 0}],
    ("Precision", "interval_holds_estimate"): [
        {"precision": 0.48}, {"precision": 0.52}, {"precision": None, "lower": 0.6},
    ],
    ("Recall", "part_of_the_positives"): [{"k_sampled": 2}],
    ("Sample", "drawn_again_without_pi"): [{"multiplicity": 2}],
    ("SimultaneousBands", "limits_are_ordered"): [{"lower_band": 0.6}],
    ("ScoredPairs", "scores_are_numbers_or_null"): [{"mi": float("nan")}],
    ("ScoredPairs", "units_are_not_blank"): [{"l1": " "}, {"l2": ""}],
    ("Scores", "scores_are_numbers_or_null"): [{"mi": float("nan")}],
    ("Signatures", "marginals_bound_joint"): [
        {"f": 2, "f1": 1, "f2": 2, "N": 9}, {"f": 2, "f1": 2, "f2": 1, "N": 9},
    ],
    ("Signatures", "table_fits_sample_size"): [{"f": 0}],
    ("SubsetPrecision", "positives_within_draws"): [{"k_sampled": 2}],
    ("TokenLevel", "limits_are_ordered"): [{"lower": 0.6}],
    ("Tokens", "head_is_a_position"): [{"head": -1}],
    ("TupleScores", "scores_are_numbers_or_null"): [{"mi": float("nan")}],
    ("TupleSums", "frequencies_are_counts"): [{"f1": 0}],
    ("Tuples", "every_subset_is_counted"): [{"l3": "z"}],
    ("Tuples", "units_are_not_blank"): [{"l1": " "}, {"l2": ""}],
    ("Tuples", "parts_bound_wholes"): [{"f": 2, "f2": 2, "N": 9}, {"f1": 2}],
    ("Tuples", "table_fits_sample_size"): [{"f": 0}],
    ("TypeLevel", "bound_holds"): [{"bound": 0.4}],
    ("WorstCase", "draws_add_up"): [{"n_drawn": 1}, {"n_sampled": 2}],
    ("WorstCase", "estimate_lies_between"): [
        {"precision": 0.4}, {"precision": 0.6}, {"precision_if_false": 0.6},
    ],
    ("WordFrequencies", "words_within_size"): [{"f": 2}],
    ("TypeLevel", "counts_are_ordered"): [
        {"n_without_cluster": 2}, {"n_in_several": 1}, {"n_open_clusters": 2}, {"n_uncovered": 2},
        {"starts_reaching_best": 2},
    ],
}  # fmt: skip
ALSO = {"parts_bound_wholes": ["table_fits_sample_size"]}
"""A pair that is more frequent than its part makes a cell negative."""
CASES = [(*place, change) for place, changes in BREAKING_VALUES.items() for change in changes]


def frame(table: type[Table], **changes: Any) -> pl.DataFrame:
    row = {name: VALUES[dtype] for name, dtype in table.columns().items()}
    row |= GOOD.get(table.__name__, {}) | changes
    return pl.DataFrame([row], schema_overrides=table.columns())


def test_every_rule_is_tested() -> None:
    defined = {
        (table.__name__, name)
        for table in tables()
        for name in table.rules()
        if name in vars(table)
    }
    assert defined == BREAKING_VALUES.keys()


@pytest.mark.parametrize(("table", "rule", "change"), CASES)
def test_a_row_that_breaks_a_rule_is_refused(table: str, rule: str, change: dict[str, Any]) -> None:
    model = getattr(schemas, table)
    assert validate([frame(model)], model, name="good") == 1
    with pytest.raises(SchemaViolation) as error:
        validate([frame(model, **change)], model, name="bad")
    counts = {str(each).split(" ")[0]: each.count for each in error.value.violations}
    assert counts == dict.fromkeys((rule, *ALSO.get(rule, ())), 1)


ROW = {
    "id": "a", "l1": "x", "l2": "y", "l3": "z", "f": 1, "f1": 3, "f2": 3, "f3": 3,
    "f_12": 2, "f_13": 2, "f_23": 2, "N": 9,
}  # fmt: skip


def violation_text(**changed: int) -> str:
    with pytest.raises(SchemaViolation) as error:
        validate([pl.DataFrame([ROW | changed])], Tuples, name="tuples")
    return str(error.value)


def test_a_table_that_keeps_the_rules_is_valid() -> None:
    assert validate([pl.DataFrame([ROW])], Tuples, name="tuples") == 1


@pytest.mark.parametrize("changed", [{"f": 3}, {"f_12": 4}, {"f_23": 4}, {"f3": 10}, {"f_13": 0}])
def test_no_set_is_more_frequent_than_its_parts(changed: dict[str, int]) -> None:
    assert "parts_bound_wholes" in violation_text(**changed)


@pytest.mark.parametrize("changed", [{"f_12": 3, "f_13": 3}, {"N": 3}])
def test_negative_cells_are_refused(changed: dict[str, int]) -> None:
    """The bounds hold here, but 3 - 3 - 3 + 1 tuples would have x without y and z."""
    message = violation_text(**changed)
    assert "table_fits_sample_size" in message
    assert "parts_bound_wholes" not in message


@pytest.mark.parametrize("name", ["f3", "f_12", "f_23"])
def test_a_subset_without_a_column_is_refused(name: str) -> None:
    with pytest.raises(SchemaViolation, match="every_subset_is_counted"):
        validate([pl.DataFrame([ROW]).drop(name)], Tuples, name="tuples")


def test_overflow_does_not_hide_negative_cells() -> None:
    """f1 + f2 + f3 exceeds Int64: the remainder of N must not wrap around to a positive number."""
    large = 2**63 - 1  # N - f1 - f2 - f3 is 2 if numbers wrap around
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


def test_every_table_is_exported() -> None:
    missing = [
        f"from {table.__module__} import {table.__name__} as {table.__name__}"
        for table in tables()
        if getattr(schemas, table.__name__, None) is not table
    ]
    assert missing == [], "add it to schemas/__init__.py"


def test_the_list_of_checks_is_complete() -> None:
    """New tables and checks add lines to the list; a removed line is a removed check."""
    listed = CHECKS.read_text(encoding="utf-8").splitlines()
    changed = list(difflib.unified_diff(listed, lines(), "checks.txt", "schemas", n=0, lineterm=""))
    assert not changed, "\n".join(["run: python -m tests.schemas.write_checks", *changed])
