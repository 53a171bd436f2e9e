"""What the type level says: floor, missed classes, words of clusters, what is left out."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.findings.base import as_table, gathered
from pipeline.findings.clustering import Run, clusters_with_words, first_run, memberships
from schemas import Findings
from tests.findings.clustering.tables import COARSE, RIGHT, systems_stage, type_stage
from tests.findings.stages import found, stage, texts
from tests.valid import valid

TWO = {"right": RIGHT, "coarse": COARSE}


def test_the_first_system_with_its_floor() -> None:
    said = texts("type_level", type_stage(TWO))
    assert said[0] == (
        "Highest by types: right, MacroI M-1 100.0 %; next of 2 systems is coarse (54.5 %)."
    )
    assert "Floor 54.5 % MacroI M-1: every cluster mapped to the largest class." in said
    assert "Missed by right: none of 3 classes (mapping of MacroI M-1)." in said


def test_where_a_stage_compares_the_systems_it_says_which_is_first() -> None:
    comparing = systems_stage({})
    reader = stage("evaluate.systems", {}, name="systems", inputs={"type_level": "types.scores"})
    assert comparing.name == reader.name
    said = texts("type_level", type_stage(TWO, among=[reader]))
    assert said[0].startswith("Floor")


def test_classes_that_are_missed_have_their_types() -> None:
    (missed,) = (
        f for f in found("type_level", type_stage({"coarse": COARSE})) if f.about == "missed"
    )
    assert missed.text == (
        "Missed by coarse: V (2 types) and P (1 type), 2 of 3 classes with 60.0 % of all types "
        "(mapping of MacroI M-1)."
    )
    assert (missed.value, missed.n, missed.figure) == (2.0, 3, "classes-coarse")


def test_classes_that_all_systems_miss() -> None:
    both = type_stage({"coarse": COARSE, "other, too": COARSE})
    assert texts("type_level", both, "missed by all") == [
        "Missed by all 2 systems: P and V, 2 of 3 classes."
    ]
    assert texts("type_level", type_stage(TWO), "missed by all") == []


def test_clusters_have_their_most_frequent_words() -> None:
    (said,) = texts("type_level", type_stage({"right": RIGHT}), "clusters")
    assert said == (
        "The 3 clusters of right: 1 (N in 100 % of 3 types) dog, run, cat; "
        "2 (V in 100 % of 2 types) run, eat; 3 (P in 100 % of 1 type) in."
    )


def test_many_clusters_are_counted() -> None:
    alone = {item: str(place) for place, item in enumerate(RIGHT)}
    many = {item: chr(0x4E00 + i) for i, item in enumerate(["dog", "cat", "run", "eat", "in"])}
    (said,) = texts("type_level", type_stage({"alone": alone}), "clusters")
    assert said.startswith("The 5 clusters of alone: ")
    assert said.count(";") == 4
    rows = {
        "cluster": [f"c{i}" for i in range(9)],
        "gold": ["N"] * 9,
        "n_ij": [1] * 9,
        "n_j": [1] * 9,
    }
    made = type_stage({"many": many})
    shown = clusters_with_words(made, Run("many", "1", True), pl.DataFrame(rows), most=3)
    assert shown.height == 9
    assert shown["words"].to_list() == [[]] * 9


def test_a_cluster_without_a_class_is_unmapped() -> None:
    mapping = pl.DataFrame(
        {"cluster": ["1"], "gold": [None], "n_ij": [0], "n_j": [3]},
        schema_overrides={"gold": pl.String},
    )
    made = type_stage({"right": RIGHT})
    shown = clusters_with_words(made, Run("right", "1", True), mapping, most=2)
    assert shown["words"].to_list() == [["dog", "run"]]


def test_of_several_runs_the_first_is_looked_at() -> None:
    made = type_stage({"right": RIGHT}, runs=["1", "2"])
    (said,) = texts("type_level", made, "types")
    assert "MacroI M-1 100.0 % (mean of 2 runs, standard deviation 0.0); there is no" in said
    (missed,) = texts("type_level", made, "missed")
    assert missed.startswith("Missed by right, run 1: none")


def test_words_without_a_count_of_their_own_are_counted_by_the_gold() -> None:
    made = type_stage({"right": RIGHT})
    rows = memberships(made, first_run(made.table("scores").collect(), "right")).collect()
    assert rows.height == 6
    assert rows["f"].null_count() == 6


def test_numbers_of_clusters_that_differ() -> None:
    said = texts("type_level_cautions", type_stage(TWO), "numbers of clusters")
    assert said == [
        "M-1 values grow with the number of clusters, and the systems have 1 (coarse) to 3 (right)."
    ]
    assert (
        texts("type_level_cautions", type_stage({"a": RIGHT, "b": RIGHT}), "numbers of clusters")
        == []
    )


def test_what_is_left_out_and_what_is_not_found() -> None:
    odd = {"dog": "1", "unknown": "1", "never seen": "2"}
    said = texts("type_level_cautions", type_stage({"odd": odd, "right": RIGHT}))
    assert "Types without a cluster, which count as not found: 4 of 5 in odd." in said
    assert (
        "Types with a cluster and no gold class, which are left out: 2 in odd, besides the 5 that count."
    ) in said


@pytest.mark.parametrize("gap", [None, 0.25])
def test_mappings_that_are_not_proven(gap: float | None) -> None:
    made = type_stage({"right": RIGHT})
    scores = made.table("scores").collect().with_columns(
        certificate=pl.when(mapping="M-1", measure="MicroC").then(pl.lit("not proven")),
        gap=pl.lit(gap, pl.Float64),
    )  # fmt: skip
    open_one = stage("evaluate.type_level", {"scores": scores})
    (said,) = texts("type_level_cautions", open_one, "not proven")
    assert said.startswith(
        "For 1 of 6 values no proof says that their mapping is optimal (MicroC M-1)"
    )
    assert ("by at most 25.0 points" in said) == (gap is not None)


def test_no_system_says_nothing() -> None:
    nothing = type_stage({})
    assert found("type_level", nothing) == found("type_level_cautions", nothing) == []


def test_names_of_any_kind_make_a_valid_table() -> None:
    hostile = "</script><img onerror=alert(1)>"
    made = type_stage({hostile: RIGHT, "שלום": COARSE, "x" * 300: COARSE})
    table = valid(as_table(gathered({"types": made})), Findings)
    assert table.filter(about="types")["name"].to_list() == [hostile]
    assert all("\n" not in text for text in table["text"])
