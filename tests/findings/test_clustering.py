"""Findings on clusterings: known answers, ties, one system, levels, cautions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.findings.base import StageView, as_table, collect_findings
from pipeline.findings.clustering import Run, clusters_with_words, first_run, memberships
from pipeline.kernels.clustering.systems import class_shares, frequency_bands, frequent_types
from schemas import (
    ClassShares,
    ClusterOverlaps,
    Findings,
    FrequencyBands,
    FrequentTypes,
    OverlappingScores,
    SenseScores,
    SystemSize,
    TaggedTypes,
    TokenLevel,
    TokenMapping,
)
from tests.findings.stages import (
    COARSE,
    GOLD_ENTRIES,
    RIGHT,
    findings_of,
    stage,
    systems_stage,
    table,
    texts,
    type_stage,
)
from tests.valid import valid

THREE = {
    "MacroI M-1": {"a": [0.6], "b": [0.9], "c": [0.7]},
    "MicroI 1-1": {"a": [0.9], "b": [0.8], "c": [0.7]},
    "many_to_one": {"a": [0.5], "b": [0.6], "c": [0.7]},
    "vi": {"a": [1.0], "b": [2.0], "c": [3.0]},
}


def test_each_level_has_a_leading_system() -> None:
    sentences = texts("systems", systems_stage(THREE))
    assert (
        sentences[0]
        == "Highest MicroI 1-1 at type level: a, 90.0 %, followed by b (80.0 %); 3 systems."
    )
    assert (
        sentences[1]
        == "Highest M-1 accuracy at token level: c, 70.0 %, followed by b (60.0 %); 3 systems."
    )
    assert sentences[2] == (
        "Types and tokens disagree on the system that ranks first: by MicroI 1-1 it is a (rank 3 of 3 "
        "by M-1 accuracy); by M-1 accuracy it is c (rank 3 of 3 by MicroI 1-1). They disagree in all 2 "
        "pairs of a type-level and a token-level measure."
    )
    assert sentences[4:] == [
        "1 other type-level measure (MacroI M-1) ranks b first.",
        "1 other token-level measure (VI) ranks a first.",
    ]


def test_levels_may_rank_systems_in_reverse_order() -> None:
    (agreement,) = (
        each for each in findings_of("systems", systems_stage(THREE)) if each.about == "agreement"
    )
    assert agreement.text == (
        "Type-level and token-level scores rank the 3 systems in reverse order: Spearman's rho −1.00 "
        "between MicroI 1-1 and M-1 accuracy."
    )
    assert (agreement.value, agreement.n, agreement.figure) == (-1.0, 3, "scatter")


def test_levels_may_rank_systems_identically_or_differently() -> None:
    both = {"MicroI 1-1": THREE["MicroI 1-1"], "many_to_one": THREE["MicroI 1-1"]}
    assert (
        "rank the 3 systems identically: Spearman's rho 1.00"
        in texts("systems", systems_stage(both))[3]
    )
    other = {"a": [0.1], "b": [0.3], "c": [0.2]}
    sentences = texts("systems", systems_stage({**both, "many_to_one": other}), "agreement")
    assert "differently: Spearman's rho −.50" in sentences[0]


def test_levels_may_agree_on_the_first_system() -> None:
    same = {"MicroI 1-1": THREE["MicroI 1-1"], "v": THREE["MicroI 1-1"]}
    (one,) = texts("systems", systems_stage(same), "first by level")
    assert one == "Types and tokens agree on the system that ranks first, a, by MicroI 1-1 and V."
    (agree,) = texts(
        "systems", systems_stage({**same, "one_to_one": same["v"]}), "first by level"
    )  # fmt: skip
    assert agree.endswith("They agree in all 2 pairs of a type-level and a token-level measure.")
    other = {**same, "many_to_one": THREE["many_to_one"], "vi": THREE["vi"]}
    (some,) = findings_of("systems", systems_stage(other))[2:3]
    assert some.text.endswith(
        "They disagree in 1 of 2 pairs of a type-level and a token-level measure."
    )
    assert (some.about, some.value, some.n) == ("first by level", 0.5, 3)
    tied = {**same, "v": {"a": [0.5], "b": [0.5], "c": [0.4]}}
    assert "first, a, by" in texts("systems", systems_stage(tied), "first by level")[0]


def test_if_all_systems_are_tied_there_is_no_correlation() -> None:
    tied = {"MacroI M-1": {"a": [0.5], "b": [0.5]}, "v": {"a": [0.1], "b": [0.2]}}
    sentences = texts("systems", systems_stage(tied))
    assert sentences[0] == "All 2 systems are tied at type level: MacroI M-1 50.0 %."
    assert sentences[2] == (
        "No rank correlation of types and tokens can be computed: at one of the two levels, all 2 "
        "systems are tied."
    )


def test_two_tied_systems_are_both_named() -> None:
    tied = {"v": {"b": [0.5], "a": [0.5], "c": [0.2]}}
    assert texts("systems", systems_stage(tied)) == [
        "Highest V at token level: a and b (tied), 50.0 %, followed by c (20.0 %); 3 systems."
    ]


def test_a_single_system_is_compared_with_none() -> None:
    sentences = texts("systems", systems_stage({"MacroI M-1": {"a": [0.5]}, "v": {"a": [0.4]}}))
    assert sentences == [
        "At type level: a, MacroI M-1 50.0 % (the only system).",
        "At token level: a, V 40.0 % (the only system).",
    ]
    assert texts("untested_order", systems_stage({"v": {"a": [0.4]}})) == []


def test_several_runs_have_a_mean_and_a_standard_deviation() -> None:
    sentences = texts("systems", systems_stage({"v": {"a": [0.4, 0.6], "b": [0.3, 0.3]}}))[0]
    assert "50.0 % (mean of 2 runs, standard deviation 14.1)" in sentences


def test_the_lowest_value_is_first_if_low_values_are_good() -> None:
    sentences = texts("systems", systems_stage({"vi": {"a": [2.0], "b": [1.0]}}))
    assert sentences == ["Lowest VI at token level: b, 1.00, followed by a (2.00); 2 systems."]


def test_systems_without_a_value_do_not_count() -> None:
    some: dict[str, dict[str, list[float | None]]] = {"v": {"a": [None], "b": [0.2]}}
    assert texts("systems", systems_stage(some)) == [
        "At token level: b, V 20.0 % (the only system)."
    ]
    assert texts("systems", systems_stage({"v": {"a": [None]}})) == []
    assert texts("systems", systems_stage({})) == []
    assert texts("untested_order", systems_stage({})) == []


def test_few_systems_cause_a_caution() -> None:
    sentences = texts("untested_order", systems_stage(THREE))
    assert sentences == [
        "The 3 systems were not tested against each other: they are ordered by estimates.",
        (
            "Rank correlations over 3 systems mean nothing: by chance alone, two measures order 3 "
            "systems identically with probability 1 in 6."
        ),
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


# the paper's measure has no value, so that no system is first by it
@example({
    "MicroC 1-1": {"a": [0.0], "b": [0.25]}, "vi": {"a": [0.0], "b": [0.25]}, "v": {"a": [None]},
})  # fmt: skip
@given(TABLES)
def test_no_system_is_ever_called_better(
    values: dict[str, dict[str, list[float | None]]],
) -> None:
    one = systems_stage(values)
    table = valid(as_table(collect_findings({"systems": one})), Findings)
    for text in table["text"]:
        assert not re.search(r"\b(better|worse|best|worst|above|below|nan|None)\b", text)
        assert "\n" not in text
        assert len(text) < 700


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_rows_makes_no_difference(order: int) -> None:
    turned = {name: dict(list(systems.items())[::order]) for name, systems in THREE.items()}
    assert texts("systems", systems_stage(turned)) == texts("systems", systems_stage(THREE))


# Findings on the token level, on overlapping measures and on shares.

TOKENS = [("the", "D", "1", 60), ("dog", "N", "2", 25), ("ah", "I", "2", 5), ("run", "V", "2", 10)]
SAME = {"system": "a", "run": "1"}


def token_stage(
    values: dict[str, float], *, alone: int = 0, among: Sequence[StageView] = (), fate: str = "drop"
) -> StageView:
    """Return the stage that evaluates one tagging: one cluster of D, and one of all others."""
    overlaps = [
        {"gold": gold, "cluster": cluster, "n_ij": n, "n_i": n, "n_j": 60 if cluster == "1" else 40}
        for _, gold, cluster, n in TOKENS
    ]
    mapping = [
        {
            "mapping": "many_to_one",
            "cluster": cluster,
            "gold": gold,
            "n_ij": n,
            "n_i": n,
            "n_j": size,
        }
        for cluster, gold, n, size in (("1", "D", 60, 60), ("2", "N", 25, 40))
    ]
    tables = {
        "scores": table(
            TokenLevel,
            [
                {"measure": name, "value": value, "lower": value - 0.01, "upper": value + 0.01}
                for name, value in values.items()
            ],
            **SAME, undefined=0,
        ),
        "overlaps": table(ClusterOverlaps, overlaps if values else [], **SAME),
        "mapping": table(TokenMapping, mapping if values else [], **SAME),
        "sizes": table(
            SystemSize,
            [{"what": "tokens", "count": 100}, {"what": "tokens without a cluster", "count": alone}],
            **SAME,
        ),
        "tagging.tagged": table(
            TaggedTypes,
            [{"item": w, "gold": g, "cluster": c, "f": n} for w, g, c, n in TOKENS],
            **SAME,
        ),
    }  # fmt: skip
    return stage(
        "evaluate.token_level", tables, name="tokens", among=among, without_cluster=fate,
        inputs={"taggings.0": "tagging.tagged"},
    )  # fmt: skip


def test_a_single_system_has_limits_floor_and_missed_classes() -> None:
    assert texts("token_level", token_stage({"many_to_one": 0.85})) == [
        "At token level: a, M-1 accuracy 85.0 % [84.0, 86.0] (the only system).",
        "Floor: M-1 accuracy is 60.0 % with all tokens in one cluster, mapped to D.",
        ("Classes without a cluster in a (M-1 accuracy mapping): V (10 tokens) and I (5 tokens), in "
        "total 2 of 4 classes and 15.0 % of all tokens."),
        ("The 2 clusters of a: 1 (60 tokens, 100 % D): the; "
        "2 (40 tokens, 62 % N): dog, run, ah."),
    ]  # fmt: skip


def test_without_m_1_accuracy_there_is_no_floor() -> None:
    assert texts("token_level", token_stage({"v": 0.5}), "floor") == []


def test_if_a_stage_compares_systems_only_it_names_the_first() -> None:
    reader = stage("evaluate.systems", {}, name="all", inputs={"token_level": "tokens.scores"})
    sentences = texts("token_level", token_stage({"many_to_one": 0.85}, among=[reader]))
    assert sentences[0].startswith("Floor")


def test_an_empty_stage_has_no_findings() -> None:
    nothing = token_stage({})
    assert findings_of("token_level", nothing) == findings_of("token_level_cautions", nothing) == []


def test_tokens_without_a_cluster_are_reported() -> None:
    (sentence,) = texts("token_level_cautions", token_stage({"v": 0.5}, alone=7))
    assert sentence == "In a, 7 of 100 tokens have no cluster and are excluded."
    (sentence,) = texts("token_level_cautions", token_stage({"v": 0.5}, alone=7, fate="cluster"))
    assert sentence == "In a, 7 of 100 tokens have no cluster and are in one additional cluster."


def test_overlapping_measures_name_the_first_system() -> None:
    rows = [
        {"system": name, "run": "1", "measure": measure, "value": value}
        for name, measure, value in (
            ("a", "bcubed_f", 0.4), ("b", "bcubed_f", 0.5), ("a", "omega", -0.1), ("b", "omega", -0.2),
        )
    ]  # fmt: skip
    scores = {"scores": table(OverlappingScores, rows)}
    assert texts("overlapping", stage("evaluate.overlapping", scores, name="o")) == [
        "Highest BCubed F for overlapping classes: b, 50.0 %, followed by a (40.0 %); 2 systems.",
        "1 other measure for overlapping classes (Omega) ranks a first.",
    ]
    empty = {"scores": pl.DataFrame(schema=OverlappingScores.columns())}
    assert texts("overlapping", stage("evaluate.overlapping", empty, name="o")) == []


def test_findings_state_the_distribution_of_types_and_tokens() -> None:
    items = GOLD_ENTRIES.select("item", "gold", "f")
    tables = {
        "shares": class_shares(items),
        "frequent": frequent_types(items),
        "bands": frequency_bands(items, last=[3]),
    }
    sentences = texts("shares", stage("evaluate.shares", tables))
    assert sentences == [
        "The 5 most frequent types have 100.0 % of the tokens and 3 of 3 classes.",
        (
            "Types with several classes are 20.0 % of the types and 17.8 % of the tokens, and 1 of the "
            "3 most frequent types."
        ),
        "Largest class by types: N, with 60.0 % of the types and 33.3 % of the tokens.",
    ]
    empty = {
        "shares": pl.DataFrame(schema=ClassShares.columns()),
        "frequent": pl.DataFrame(schema=FrequentTypes.columns()),
        "bands": pl.DataFrame(schema=FrequencyBands.columns()),
    }
    assert texts("shares", stage("evaluate.shares", empty)) == []


# Findings on the type level: floor, missed classes, words of clusters, omitted types.

TWO = {"right": RIGHT, "coarse": COARSE}


def test_the_first_system_is_named_with_the_floor() -> None:
    sentences = texts("type_level", type_stage(TWO))
    assert sentences[0] == (
        "Highest MicroI 1-1 at type level: right, 100.0 %, followed by coarse (53.3 %); 2 systems."
    )
    assert (
        "Floor: MicroI M-1 is 53.3 % with every cluster mapped to the largest class." in sentences
    )
    assert "In right, every one of the 3 classes has a cluster (MicroI M-1 mapping)." in sentences


def test_if_a_stage_compares_systems_types_name_no_first() -> None:
    comparing = systems_stage({})
    reader = stage("evaluate.systems", {}, name="systems", inputs={"type_level": "types.scores"})
    assert comparing.name == reader.name
    sentences = texts("type_level", type_stage(TWO, among=[reader]))
    assert sentences[0].startswith("Floor")


def test_missed_classes_have_their_number_of_types() -> None:
    (missed,) = (
        f for f in findings_of("type_level", type_stage({"coarse": COARSE})) if f.about == "missed"
    )
    assert missed.text == (
        "Classes without a cluster in coarse (MicroI M-1 mapping): V (2 types) and P (1 type), in "
        "total 2 of 3 classes and 60.0 % of all types."
    )
    assert (missed.value, missed.n, missed.figure) == (2.0, 3, "classes-coarse")


def test_classes_missed_by_all_systems_are_named() -> None:
    both = type_stage({"coarse": COARSE, "other, too": COARSE})
    assert texts("type_level", both, "missed by all") == [
        "Classes without a cluster in any of 2 systems: P and V, in total 2 of 3 classes."
    ]
    assert texts("type_level", type_stage(TWO), "missed by all") == []


def test_clusters_are_listed_with_their_most_frequent_words() -> None:
    (sentence,) = texts("type_level", type_stage({"right": RIGHT}), "clusters")
    assert sentence == (
        "The 3 clusters of right: 1 (3 types, 100 % N): dog, run, cat; "
        "2 (2 types, 100 % V): run, eat; 3 (1 type, 100 % P): in."
    )


def test_of_many_clusters_the_smaller_are_counted() -> None:
    alone = {item: str(place) for place, item in enumerate(RIGHT)}
    many = {item: chr(0x4E00 + i) for i, item in enumerate(["dog", "cat", "run", "eat", "in"])}
    (sentence,) = texts("type_level", type_stage({"alone": alone}), "clusters")
    assert sentence.startswith("The 5 clusters of alone: ")
    assert sentence.count(";") == 4
    rows = {
        "cluster": [f"c{i}" for i in range(9)],
        "gold": ["N"] * 9,
        "n_ij": [1] * 9,
        "n_j": [1] * 9,
    }
    view = type_stage({"many": many})
    table = clusters_with_words(view, Run("many", "1", True), pl.DataFrame(rows), most=3)
    assert table.height == 9
    assert table["words"].to_list() == [[]] * 9


def test_a_cluster_without_a_class_is_unmapped() -> None:
    mapping = pl.DataFrame(
        {"cluster": ["1"], "gold": [None], "n_ij": [0], "n_j": [3]},
        schema_overrides={"gold": pl.String},
    )
    view = type_stage({"right": RIGHT})
    rows = clusters_with_words(view, Run("right", "1", True), mapping, most=2)
    assert rows["words"].to_list() == [["dog", "run"]]


def test_of_several_runs_the_first_is_examined() -> None:
    view = type_stage({"right": RIGHT}, runs=["1", "2"])
    (sentence,) = texts("type_level", view, "types")
    assert "MicroI 1-1 100.0 % (mean of 2 runs, standard deviation 0.0) (the only" in sentence
    (missed,) = texts("type_level", view, "missed")
    assert missed.startswith("In right, run 1, every one of the 3 classes has a cluster (")


def test_words_without_a_count_are_kept() -> None:
    view = type_stage({"right": RIGHT})
    rows = memberships(view, first_run(view.table("scores").collect(), "right")).collect()
    assert rows.height == 6
    assert rows["f"].null_count() == 6


def test_different_numbers_of_clusters_cause_a_caution() -> None:
    sentences = texts("type_level_cautions", type_stage(TWO), "numbers of clusters")
    assert sentences == [
        "M-1 values increase with the number of clusters, which ranges from 1 (coarse) to 3 (right)."
    ]
    assert (
        texts("type_level_cautions", type_stage({"a": RIGHT, "b": RIGHT}), "numbers of clusters")
        == []
    )


def test_types_without_cluster_or_class_are_counted() -> None:
    odd = {"dog": "1", "unknown": "1", "never seen": "2"}
    sentences = texts("type_level_cautions", type_stage({"odd": odd, "right": RIGHT}))
    assert "In odd, 4 of 5 types have no cluster and count as not found." in sentences
    assert (
        "In odd, 2 types have a cluster but no gold class and are excluded; 5 types count."
    ) in sentences


@pytest.mark.parametrize("gap", [None, 0.25])
def test_mappings_not_proven_optimal_cause_a_caution(gap: float | None) -> None:
    view = type_stage({"right": RIGHT})
    scores = view.table("scores").collect().with_columns(
        certificate=pl.when(mapping="M-1", measure="MicroC").then(pl.lit("not proven")),
        gap=pl.lit(gap, pl.Float64),
    )  # fmt: skip
    open_one = stage("evaluate.type_level", {"scores": scores})
    (sentence,) = texts("type_level_cautions", open_one, "not proven")
    assert sentence.startswith("For 1 of 6 values, the mapping is not proven optimal (MicroC M-1)")
    assert ("by at most 25.0 points" in sentence) == (gap is not None)


def test_without_systems_there_is_no_finding() -> None:
    nothing = type_stage({})
    assert findings_of("type_level", nothing) == findings_of("type_level_cautions", nothing) == []


def test_names_with_any_characters_make_a_valid_table() -> None:
    hostile = "</script><img onerror=alert(1)>"
    view = type_stage({hostile: RIGHT, "שלום": COARSE, "x" * 300: COARSE})
    table = valid(as_table(collect_findings({"types": view})), Findings)
    assert table.filter(about="types")["name"].to_list() == [hostile]
    assert all("\n" not in text for text in table["text"])


def test_findings_cover_graded_and_single_senses() -> None:
    rows = [
        {"system": name, "run": "1", "measure": measure, "value": value, "lower": 0.3, "upper": 0.6}
        for name, measure, value in (
            ("a", "fuzzy_bcubed_f", 0.4), ("b", "fuzzy_bcubed_f", 0.5), ("a", "v", 0.5), ("b", "v", 0.4),
        )
    ]  # fmt: skip
    scores = {"scores": table(SenseScores, rows)}
    mixed = stage("evaluate.senses", scores, name="o", token_measures=("v",))
    assert texts("senses", mixed) == [
        (
            "Highest fuzzy B-Cubed F for word senses: b, 50.0 % [30.0, 60.0], followed by a (40.0 %); "
            "2 systems."
        ),
        "Highest V for word senses: a, 50.0 % [30.0, 60.0], followed by b (40.0 %); 2 systems.",
    ]


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({}, "graded senses"),
        ({"senses": "heaviest", "measures": ("bcubed_f",)}, "the heaviest senses"),
        ({"measures": ("bcubed_f",)}, "word senses"),
    ],
)
def test_findings_name_the_kind_of_senses(config: dict[str, Any], kind: str) -> None:
    values = {"bcubed_f": (0.4, 0.5), "bcubed_precision": (0.6, 0.5), "bcubed_recall": (0.2, 0.3)}
    rows = [
        {"system": name, "run": "1", "measure": measure, "value": value}
        for measure, both in values.items()
        for name, value in zip("ab", both, strict=True)
    ]
    scores = {"scores": table(SenseScores, rows)}
    assert texts("senses", stage("evaluate.senses", scores, name="o", **config)) == [
        f"Highest BCubed F for {kind}: b, 50.0 %, followed by a (40.0 %); 2 systems.",
        (
            f"Of 2 other measures for {kind}, 1 ranks a first (BCubed P) and 1 ranks b first "
            "(BCubed R)."
        ),
    ]


def test_of_several_systems_the_one_omitting_most_is_named() -> None:
    """The run that omits most types is named, and the others are counted."""
    one = type_stage({"odd": {"dog": "1"}, "more": {"unknown": "1", "dog": "1"}})
    sentences = texts("type_level_cautions", one)
    assert (
        "In more, 4 of 5 types have no cluster and count as not found (1 other run: as many or fewer)."
    ) in sentences
    assert (
        "In more, 1 type has a cluster but no gold class and is excluded; 5 types count."
        in sentences
    )
