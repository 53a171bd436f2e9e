"""Limits of the type-level measures against samples of items drawn one by one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types import evaluation as type_bootstrap
from pipeline.kernels.clustering.types.evaluation import (
    TypeLevelTables,
    evaluate_type_level,
    type_level_limits,
)
from pipeline.kernels.clustering.types.measures import (
    Patterns,
    Score,
    macro_i,
    micro_c,
    micro_i,
)
from schemas import ClassScores, ClusterMapping, ItemScores, Table, TypeLevel
from schemas.validate import validate
from tests.kernels.clustering.types.type_twin import (
    MAPPED,
    TWINS,
    WORKED,
    Sets,
    frames,
    instances,
    matrix,
    patterns_of,
    random_set,
)

BITS = np.random.default_rng(1)
GOLD = [random_set(BITS, 3, least=1, most=2) for _ in range(40)]
INDUCED = [random_set(BITS, 4, least=0, most=2) for _ in range(40)]
ITEMS = patterns_of(GOLD, INDUCED, 3, 4)
OPTIONS: dict[str, Any] = {"replicates": 2000, "confidence": 0.9, "seed": "s"}


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("mapping", [[0, 1, 2, 0], [0, 1, 2, -1]])
def test_limits_agree_with_items_drawn_one_by_one(name: str, mapping: list[int]) -> None:
    bits = np.random.default_rng(2)
    values = []
    for _ in range(600):
        drawn = bits.integers(40, size=40)
        sample = ([GOLD[i] for i in drawn], [INDUCED[i] for i in drawn])
        values.append(float(TWINS[name](*sample, mapping)))
    limits = type_level_limits(ITEMS, name, "M-1", np.array(mapping), **OPTIONS)
    # the limits of 600 samples are off by a tenth of the width
    expected = np.quantile(values, [0.05, 0.95])
    assert limits == pytest.approx(expected, abs=0.15 * float(np.ptp(expected)))


@pytest.mark.parametrize("name", TWINS)
def test_measures_of_extensions_have_limits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A measure of an extension is scored for each sample, under the same mapping."""
    measure = TYPE_MEASURES.get(name)
    added = {**TYPE_MEASURES._entries, "Added": replace(measure, name="Added")}
    monkeypatch.setattr(TYPE_MEASURES, "_entries", added)
    options, mapping = {**OPTIONS, "replicates": 600}, np.array([0, 1, 2, -1])
    expected = type_level_limits(ITEMS, name, "M-1", mapping, **OPTIONS)
    limits = type_level_limits(ITEMS, "Added", "M-1", mapping, **options)
    assert limits == pytest.approx(expected, abs=0.15 * float(np.ptp(expected)))


@pytest.mark.parametrize("kind", ["1-1", "M-1"])
@pytest.mark.parametrize("name", MAPPED)
def test_refitted_limits_lie_higher(name: str, kind: str) -> None:
    mapping = np.array([0, 1, 2, -1] if kind == "1-1" else [0, 1, 2, 0])
    options = {**OPTIONS, "replicates": 150}
    fixed = type_level_limits(ITEMS, name, kind, mapping, **options)
    refitted = type_level_limits(ITEMS, name, kind, mapping, **options, interval="refitted")
    assert refitted[0] > fixed[0]
    assert refitted[1] > fixed[1]


@pytest.mark.parametrize("name", TWINS)
def test_limits_of_equal_items_have_no_width(name: str) -> None:
    items = Patterns(np.array([7]), ITEMS.gold[:1], ITEMS.induced[:1])
    value = float(TYPE_MEASURES.get(name).score(items, [0, 1, 2, 0]).value)
    limits = type_level_limits(items, name, "M-1", np.array([0, 1, 2, 0]), **OPTIONS)
    assert limits == pytest.approx((value, value))


def test_the_seed_fixes_the_samples() -> None:
    h = np.array([0, 1, 2, 0])
    tables = [
        type_level_limits(ITEMS, "MacroI", "M-1", h, **{**OPTIONS, "seed": s})
        for s in ("s", "s", "t")
    ]
    assert tables[0] == tables[1] != tables[2]


@pytest.mark.parametrize("interval", ["fixed", "refitted"])
def test_batches_do_not_change_the_limits(interval: str, monkeypatch: pytest.MonkeyPatch) -> None:
    h, options = np.array([0, 1, 2, 0]), {**OPTIONS, "replicates": 50, "interval": interval}
    whole = type_level_limits(ITEMS, "MicroC", "M-1", h, **options)
    monkeypatch.setattr(type_bootstrap, "_CELLS", 280)
    assert type_level_limits(ITEMS, "MicroC", "M-1", h, **options) == whole


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("interval", ["fixed", "refitted"])
def test_limits_without_clusters_are_zero(name: str, interval: str) -> None:
    items = patterns_of([{0}, {1}], [set(), set()], 2, 0)
    options = {**OPTIONS, "replicates": 20}
    h = np.zeros(0, dtype=np.int64)
    assert type_level_limits(items, name, "M-1", h, **options, interval=interval) == (0.0, 0.0)


@pytest.mark.parametrize(
    "wrong", [{"confidence": 1.0}, {"replicates": 0}, {"interval": "fix"}], ids=str
)
def test_limit_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="out of range|valid: fixed, refitted"):
        type_level_limits(ITEMS, "MacroI", "M-1", np.zeros(4, dtype=int), **{**OPTIONS, **wrong})


# The tables of a type-level evaluation: worked examples, laws, degenerate input.

TABLES: tuple[type[Table], ...] = (TypeLevel, ClusterMapping, ClassScores, ItemScores)
DOG = frames(*WORKED[1][:2])


def value(tables: TypeLevelTables, measure: str, mapping: str) -> float:
    return float(tables.summary.filter(measure=measure, mapping=mapping)["value"].item())


def check(tables: TypeLevelTables) -> None:
    """Check the tables against their schemas, with the columns that a stage adds."""
    for table, schema in zip(tables, TABLES, strict=True):
        with_names = table.with_columns(system=pl.lit("s"), run=pl.lit("1"))
        validate([with_names.select(list(schema.columns()))], schema, name=schema.__name__)
        key = [name for name in schema.key() if name not in {"system", "run"}]
        assert table.equals(table.sort(key)), schema


@pytest.mark.parametrize("place", range(len(WORKED)))
def test_worked_examples_have_their_values(place: int) -> None:
    gold, induced, *values = WORKED[place]
    tables = evaluate_type_level(*frames(gold, induced))
    check(tables)
    for mapping, expected in zip(("1-1", "M-1"), values, strict=True):
        for measure, fraction in zip(("MacroI", "MicroI", "MicroC"), expected, strict=True):
            assert value(tables, measure, mapping) == float(Fraction(fraction))


def test_tables_agree_with_those_by_hand() -> None:
    tables = evaluate_type_level(*DOG, measures=["MacroI"])
    one_to_one = {"measure": "MacroI", "mapping": "1-1"}
    assert tables.mapping.filter(**one_to_one).select("cluster", "gold", "n_ij", "n_i", "n_j").rows() == [
        ("k0", "c0", 2, 3, 2), ("k1", "c1", 2, 3, 2), ("k2", None, 0, None, 1),
    ]  # fmt: skip
    classes = tables.classes.filter(measure="MacroI", mapping="M-1").drop("measure", "mapping")
    assert classes.select("gold", "clusters", "n_ij", "n_i", "n_j", "recall").rows() == [
        ("c0", 2, 3, 3, 3, 1.0), ("c1", 1, 2, 3, 2, 2 / 3),
    ]  # fmt: skip
    assert classes.select("precision", "f", "uncovered").rows() == [
        (1.0, 1.0, False), (1.0, 0.8, False),
    ]  # fmt: skip
    items = tables.items.filter(**one_to_one).drop("measure", "mapping")
    assert items.rows() == [
        (1, "w3", "c0 c1", "", 0, 0.0), (2, "w0", "c0", "c0", 1, 1.0),
        (3, "w1", "c0 c1", "c0 c1", 2, 1.0), (4, "w2", "c1", "c1", 1, 1.0),
    ]  # fmt: skip


def test_floors_map_all_clusters_to_the_largest_class() -> None:
    # c1 is the largest: 2 of 4 items; with c1 everywhere IM = 2, S_A = 4, S_h = 4
    gold = [{0}, {1}, {1}, {2}]
    tables = evaluate_type_level(*frames(gold, [{0}, {1}, {0}, {2}]))
    assert value(tables, "MacroI", "floor") == 0.5
    assert value(tables, "MicroI", "floor") == 0.5
    assert value(tables, "MicroC", "floor") == float(Fraction(2, 3))
    floor = tables.summary.filter(mapping="floor")
    assert floor["certificate"].null_count() == floor["bound"].null_count() == 3
    assert floor["n_uncovered"].to_list() == [2, 2, 2]


@pytest.mark.long
def test_only_the_worst_items_are_listed() -> None:
    whole, part = (evaluate_type_level(*DOG, worst=worst).items for worst in (None, 2))
    assert part.equals(whole.filter(pl.col("rank") <= 2))


@pytest.mark.long
def test_order_and_repetition_of_rows_do_not_matter() -> None:
    gold, induced, _, _ = next(instances(1, seed=9, most_clusters=3))
    first = evaluate_type_level(*frames(gold, induced), replicates=20)
    shuffled = [
        pl.concat([table, table]).sample(fraction=1, shuffle=True, seed=3)
        for table in frames(gold, induced)
    ]
    again = evaluate_type_level(*shuffled, replicates=20)
    assert all(a.equals(b) for a, b in zip(first, again, strict=True))


@pytest.mark.long
def test_values_of_small_instances_obey_the_laws() -> None:
    for gold, induced, *_ in instances(12, seed=10):
        tables = evaluate_type_level(*frames(gold, induced), restarts=1)
        check(tables)
        for measure in ("MacroI", "MicroI", "MicroC"):
            best = value(tables, measure, "M-1")
            assert best >= value(tables, measure, "1-1")
            assert best >= value(tables, measure, "floor") or measure == "MicroC"
        for mapping in ("1-1", "M-1"):
            mean = tables.items.filter(measure="MicroI", mapping=mapping)["f"].mean()
            assert mean == pytest.approx(value(tables, "MicroI", mapping))


@pytest.mark.long
def test_certificates_give_bounds() -> None:
    gold, induced, *_ = WORKED[4]
    plain = evaluate_type_level(*frames(gold, induced))
    proven = evaluate_type_level(*frames(gold, induced), certificate_seconds=30)
    columns = ["measure", "certificate", "bound", "gap"]
    assert plain.summary.filter(mapping="M-1").select(columns).rows() == [
        (measure, "not proven", None, None) for measure in ("MacroI", "MicroC", "MicroI")
    ]
    assert proven.summary.filter(mapping="M-1").select(columns).rows() == [
        ("MacroI", "proven", 0.875, 0.0),
        ("MicroC", "proven", 1.0, 0.0),
        ("MicroI", "proven", 13 / 15, 0.0),
    ]
    assert set(proven.summary.filter(mapping="M-1")["n_open_clusters"]) == {0}
    assert set(proven.summary["n_in_several"]) == {4}
    assert set(plain.summary.filter(mapping="1-1")["certificate"]) == {"exact"}
    check(proven)


@pytest.mark.long
def test_refitted_limits_are_in_the_summary() -> None:
    tables = evaluate_type_level(*DOG, replicates=50, interval="refitted")
    check(tables)
    rows = tables.summary.filter(pl.col("mapping") != "floor")
    assert rows["interval"].to_list() == ["refitted"] * 6
    assert (rows["lower"] <= rows["upper"]).all()
    assert tables.summary.filter(mapping="floor")["lower"].null_count() == 3


def test_evaluations_without_clusters_have_values_of_zero() -> None:
    gold, induced = DOG
    tables = evaluate_type_level(gold, induced.clear(), replicates=10, certificate_seconds=1)
    check(tables)
    assert tables.summary["value"].to_list() == [0.0] * 9
    assert tables.summary["precision"].null_count() == 9
    assert tables.mapping.height == 0
    assert tables.classes["uncovered"].all()
    assert tables.items.height == 6 * 4
    assert tables.summary["n_without_cluster"].to_list() == [4] * 9
    only_strangers = evaluate_type_level(gold, pl.DataFrame({"item": ["x"], "cluster": ["k"]}))
    assert only_strangers.summary["n_dropped"].to_list() == [1] * 9
    assert only_strangers.summary["n_clusters_dropped"].to_list() == [1] * 9


@pytest.mark.parametrize(
    ("gold", "induced", "expected"),
    [
        ([{0}], [{0}], {"1-1": 1.0, "M-1": 1.0}),
        ([{0}, {0}], [{0}, {1}], {"1-1": 0.5, "M-1": 1.0}),
        ([{0}, {1}], [{0}, {0}], {"1-1": 0.5, "M-1": 0.5}),
        ([{0}, {1}], [{0}, set()], {"1-1": 2 / 3, "M-1": 2 / 3}),
    ],
    ids=["one of each", "one class", "one cluster", "an item without cluster"],
)
def test_degenerate_instances_have_defined_values(
    gold: list[set[int]], induced: list[set[int]], expected: dict[str, float]
) -> None:
    tables = evaluate_type_level(*frames(gold, induced))
    check(tables)
    assert {mapping: value(tables, "MacroI", mapping) for mapping in expected} == expected


def test_a_class_without_a_cluster_is_uncovered() -> None:
    tables = evaluate_type_level(*frames([{0}, {1}], [{0}, set()]))
    uncovered = tables.classes.filter(measure="MicroC", mapping="M-1", uncovered=True)
    assert uncovered.select("gold", "recall", "precision", "f").rows() == [("c1", 0.0, None, 0.0)]
    assert value(tables, "MicroC", "M-1") == 1.0
    assert tables.summary["n_uncovered"].to_list() == [1] * 9


def test_tables_without_items_are_refused() -> None:
    with pytest.raises(DataError, match="no item has a gold class"):
        evaluate_type_level(DOG[0].clear(), DOG[1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"measures": ["macroi"]},
        {"mappings": ["1-M"]},
        {"worst": -1},
        {"restarts": -1},
        {"certificate_seconds": 0.0},
        {"replicates": -1},
        {"replicates": 5, "interval": "fix"},
        {"replicates": 5, "confidence": 0.0},
    ],
    ids=str,
)
def test_options_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="MacroI|1-1|worst|restarts|seconds|range|fixed"):
        evaluate_type_level(*DOG, **wrong)


def test_measures_and_mappings_can_be_selected() -> None:
    tables = evaluate_type_level(*DOG, measures=["MicroI"], mappings=["M-1"])
    assert tables.summary.select("measure", "mapping").rows() == [
        ("MicroI", "M-1"),
        ("MicroI", "floor"),
    ]
    assert tables.mapping["measure"].unique().to_list() == ["MicroI"]


DOG_SETS: tuple[Sets, Sets] = ([{0}, {0, 1}, {1}, {0, 1}], [{0}, {0, 1}, {1}, {2}])


@st.composite
def mapped_items(draw: st.DrawFn) -> tuple[Sets, Sets, list[int]]:
    items = draw(st.integers(1, 7))
    gold = [draw(st.sets(st.integers(0, 3), min_size=1)) for _ in range(items)]
    induced = [draw(st.sets(st.integers(0, 4))) for _ in range(items)]
    return gold, induced, draw(st.lists(st.integers(-1, 3), min_size=5, max_size=5))


def test_every_measure_has_a_twin() -> None:
    assert set(TYPE_MEASURES) == set(TWINS), "add its twin to TWINS in type_twin.py"


@given(mapped_items())
def test_measures_equal_the_sums_over_sets(case: tuple[Sets, Sets, list[int]]) -> None:
    gold, induced, h = case
    patterns = patterns_of(gold, induced, 4, 5)
    for name, twin in TWINS.items():
        assert TYPE_MEASURES.get(name).score(patterns, h).value == twin(gold, induced, h), name


def test_recall_and_precision_agree_with_those_by_hand() -> None:
    # dog N, run NV, eat V, walk NV; {0}, {0, 1}, {1}, {2}; cluster 2 without a class
    patterns, h = patterns_of(*DOG_SETS, 2, 3), [0, 1, -1]
    third = Fraction(1, 3)
    assert macro_i(patterns, h) == Score(Fraction(8, 11), 2 * third, Fraction(4, 5))
    # items: 1, 1, 1, 0 for both
    assert micro_i(patterns, h) == Score(Fraction(3, 4), Fraction(3, 4), Fraction(3, 4))
    # unions: 2 of the 3 N, 2 of the 3 V, and cluster 2 with weight 1 of 5
    assert micro_c(patterns, h) == Score(Fraction(16, 25), Fraction(8, 15), Fraction(4, 5))


def test_precision_ignores_items_without_clusters() -> None:
    patterns = patterns_of([{0}, {0, 1}, {1}], [{0}, {0}, set()], 2, 1)
    assert micro_i(patterns, [0]) == Score(Fraction(5, 9), Fraction(1, 2), Fraction(1))
    assert macro_i(patterns, [0]) == Score(Fraction(2, 3), Fraction(1, 2), Fraction(1))


def test_equal_items_count_by_their_number() -> None:
    gold, induced = DOG_SETS
    counts = np.array([3, 1, 2, 5])
    many = Patterns(counts, matrix(gold, 2), matrix(induced, 3))
    spread = [place for place, count in enumerate(counts) for _ in range(count)]
    each_gold, each_induced = ([part[place] for place in spread] for part in DOG_SETS)
    for name, twin in TWINS.items():
        score_value = TYPE_MEASURES.get(name).score(many, [1, 0, 0]).value
        assert score_value == twin(each_gold, each_induced, [1, 0, 0])


@pytest.mark.parametrize("name", TYPE_MEASURES)
def test_measures_without_clusters_are_zero(name: str) -> None:
    nothing: list[set[int]] = [set(), set()]
    for clusters in (0, 2):
        patterns = patterns_of([{0}, {1}], nothing, 2, clusters)
        assert TYPE_MEASURES.get(name).score(patterns, [0] * clusters) == Score(
            Fraction(0), Fraction(0), None
        )


def test_micro_c_ignores_a_class_without_clusters() -> None:
    patterns = patterns_of([{0}, {1}], [{0}, set()], 2, 1)
    assert micro_c(patterns, [0]).value == 1
    assert macro_i(patterns, [0]).value == Fraction(2, 3)
