"""What the token level, overlapping measures and shares say."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.findings.base import StageView
from pipeline.kernels.clustering.systems import class_shares, frequent_types
from schemas import (
    ClassShares,
    ClusterOverlaps,
    FrequentTypes,
    OverlappingScores,
    SystemSize,
    TaggedTypes,
    TokenLevel,
    TokenMapping,
)
from tests.findings.clustering.tables import GOLD
from tests.findings.stages import found, stage, table, texts

TOKENS = [("the", "D", "1", 60), ("dog", "N", "2", 25), ("ah", "I", "2", 5), ("run", "V", "2", 10)]
SAME = {"system": "a", "run": "1"}


def token_stage(
    values: dict[str, float], *, alone: int = 0, among: Sequence[StageView] = (), fate: str = "drop"
) -> StageView:
    """Return the stage that evaluates one tagging: a cluster of D, and one of all else."""
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


def test_the_only_system_with_its_limits_floor_and_missed_classes() -> None:
    assert texts("token_level", token_stage({"many_to_one": 0.85})) == [
        "By tokens: a, M-1 accuracy 85.0 % [84.0, 86.0]; there is no other system.",
        "Floor 60.0 % M-1 accuracy: all tokens in one cluster (D).",
        ("Missed by a: V (10 tokens) and I (5 tokens), 2 of 4 classes with 15.0 % of all tokens "
        "(mapping of M-1 accuracy)."),
        ("The 2 clusters of a: 1 (D in 100 % of 60 tokens) the; "
        "2 (N in 62 % of 40 tokens) dog, run, ah."),
    ]  # fmt: skip


def test_without_m_1_accuracy_there_is_no_floor() -> None:
    assert texts("token_level", token_stage({"v": 0.5}), "floor") == []


def test_a_comparing_stage_says_which_is_first() -> None:
    reader = stage("evaluate.systems", {}, name="all", inputs={"token_level": "tokens.scores"})
    said = texts("token_level", token_stage({"many_to_one": 0.85}, among=[reader]))
    assert said[0].startswith("Floor")


def test_nothing_is_said_of_nothing() -> None:
    nothing = token_stage({})
    assert found("token_level", nothing) == found("token_level_cautions", nothing) == []


def test_tokens_without_a_cluster() -> None:
    (said,) = texts("token_level_cautions", token_stage({"v": 0.5}, alone=7))
    assert said == "Tokens without a cluster, which are left out: 7 of 100 in a."
    (said,) = texts("token_level_cautions", token_stage({"v": 0.5}, alone=7, fate="cluster"))
    assert "which are taken as one cluster more: 7 of 100" in said


def test_overlapping_measures_where_nothing_compares_the_systems() -> None:
    rows = [
        {"system": name, "run": "1", "measure": measure, "value": value}
        for name, measure, value in (
            ("a", "bcubed_f", 0.4), ("b", "bcubed_f", 0.5), ("a", "omega", -0.1), ("b", "omega", -0.2),
        )
    ]  # fmt: skip
    scores = {"scores": table(OverlappingScores, rows)}
    assert texts("overlapping", stage("evaluate.overlapping", scores, name="o")) == [
        "Highest by overlapping classes: b, BCubed F 50.0 %; next of 2 systems is a (40.0 %).",
        "Of 1 other measure of overlapping classes: a is first by Omega.",
    ]
    empty = {"scores": pl.DataFrame(schema=OverlappingScores.columns())}
    assert texts("overlapping", stage("evaluate.overlapping", empty, name="o")) == []


def test_how_types_and_tokens_are_spread() -> None:
    items = GOLD.select("item", "gold", "f")
    tables = {"shares": class_shares(items), "frequent": frequent_types(items)}
    said = texts("shares", stage("evaluate.shares", tables))
    assert said == [
        "The 5 most frequent types have 100.0 % of the tokens.",
        "Class with most types: N, 60.0 % of them and 33.3 % of the tokens.",
    ]
    empty = {
        "shares": pl.DataFrame(schema=ClassShares.columns()),
        "frequent": pl.DataFrame(schema=FrequentTypes.columns()),
    }
    assert texts("shares", stage("evaluate.shares", empty)) == []
