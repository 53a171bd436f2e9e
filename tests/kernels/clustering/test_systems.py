"""Systems by measures, ranks and rank correlations, against SciPy."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pipeline.errors import DataError
from pipeline.kernels.clustering.systems import (
    class_shares,
    frequency_bands,
    frequent_types,
    measure_correlations,
    system_table,
)
from schemas import ClassShares, FrequencyBands, FrequentTypes, MeasureCorrelations, SystemTable
from schemas.validate import validate

# Shares of types and tokens, against counting by hand.

SCHEMA_SHARES = {"item": pl.String, "gold": pl.String, "f": pl.Int64}
tokens = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("NVX")), max_size=40)


def frame_shares(counted: dict[tuple[str, str], int]) -> pl.DataFrame:
    return pl.DataFrame(
        [(*key, f) for key, f in counted.items()], schema=SCHEMA_SHARES, orient="row"
    )


@given(tokens)
def test_shares_of_classes_agree_with_plain_counts(pairs: list[tuple[str, str]]) -> None:
    items = frame_shares(Counter(pairs))
    shares, sums = class_shares(items), frequent_types(items, most=range(1, 9))
    assert validate([shares], ClassShares, name="shares") == len({g for _, g in pairs}) + bool(
        pairs
    )
    validate([sums], FrequentTypes, name="types")
    for gold, types, f, share_types, share_tokens in shares.iter_rows():
        counts = Counter(item for item, g in pairs if gold in ("*", g))
        assert (types, f) == (len(counts), sum(counts.values()))
        assert share_types == types / len({item for item, _ in pairs})
        assert share_tokens == f / len(pairs)
        ordered = sorted(counts, key=lambda item: (-counts[item], item))
        expected = []
        for k in range(1, types + 1):
            top = sum(counts[item] for item in ordered[:k])
            classes = len({g for item, g in pairs if item in ordered[:k]}) if gold == "*" else None
            expected.append((gold, k, top, top / f, classes))
        assert sums.filter(gold=gold).rows() == expected


@given(tokens, st.sets(st.integers(1, 9)))
def test_frequency_bands_agree_with_plain_counts(
    pairs: list[tuple[str, str]], last: set[int]
) -> None:
    bands = frequency_bands(frame_shares(Counter(pairs)), last=sorted(last))
    validate([bands], FrequencyBands, name="bands")
    counts = Counter(item for item, _ in pairs)
    ordered = sorted(counts, key=lambda item: (-counts[item], item))
    classes = {item: {g for other, g in pairs if other == item} for item in ordered}
    ends = [0, *sorted(rank for rank in last if rank < len(ordered)), len(ordered)]
    spans = list(itertools.pairwise(ends)) if ordered else []
    expected = []
    for before, end in [*spans, (0, len(ordered))] if len(spans) > 1 else spans:
        for words in ("all", "one class", "several classes"):
            types = [
                item for item in ordered[before:end]
                if words == "all" or (len(classes[item]) > 1) == (words == "several classes")
            ]  # fmt: skip
            f = [counts[item] for item in types]
            sizes = [len(classes[item]) for item in types]
            expected.append((
                before + 1, end, words, len(types), sum(f), sum(f) / len(pairs),
                len(set().union(*(classes[item] for item in types))),
                sum(sizes) / len(sizes) if sizes else None, max(f, default=None),
                min(f, default=None),
            ))  # fmt: skip
    assert bands.rows() == expected


def test_frequency_bands_agree_with_those_by_hand() -> None:
    """Of 5 types, the 2 most frequent have 3 of 4 classes; ties are ordered by name."""
    items = frame_shares({
        ("to", "P"): 5, ("to", "T"): 3, ("run", "N"): 2, ("run", "V"): 2,
        ("dog", "N"): 4, ("eat", "V"): 1, ("cat", "N"): 1,
    })  # fmt: skip
    bands = frequency_bands(items, last=[2, 50])
    columns = ["first_rank", "last_rank", "words", "types", "tokens", "classes", "classes_per_type",
               "f_max", "f_min"]  # fmt: skip
    assert bands.select(columns).rows() == [
        (1, 2, "all", 2, 12, 3, 1.5, 8, 4),
        (1, 2, "one class", 1, 4, 1, 1.0, 4, 4),
        (1, 2, "several classes", 1, 8, 2, 2.0, 8, 8),
        (3, 5, "all", 3, 6, 2, 4 / 3, 4, 1),
        (3, 5, "one class", 2, 2, 2, 1.0, 1, 1),
        (3, 5, "several classes", 1, 4, 2, 2.0, 4, 4),
        (1, 5, "all", 5, 18, 4, 1.4, 8, 1),
        (1, 5, "one class", 3, 6, 2, 1.0, 4, 1),
        (1, 5, "several classes", 2, 12, 4, 2.0, 8, 4),
    ]
    assert frequent_types(items, most=[2, 3]).filter(gold="*")["classes"].to_list() == [3, 4]
    assert frequency_bands(items, last=[]).equals(bands.tail(3))
    assert frequency_bands(items, last=[5]).equals(bands.tail(3))


def test_frequency_bands_end_at_round_numbers_by_default() -> None:
    items = frame_shares({(f"w{i}", "N"): 1 for i in range(60)} | {("x", "V"): 3})
    sums = frequent_types(items)
    assert sums.filter(gold="*")["k"].to_list() == [1, 2, 5, 10, 20, 50, 61]
    assert sums.filter(gold="N")["k"].to_list() == [1, 2, 5, 10, 20, 50, 60]
    assert sums.filter(gold="V").rows() == [("V", 1, 3, 1.0, None)]
    assert set(sums.filter(gold="*")["classes"][1:]) == {2}


def test_order_and_repeated_rows_do_not_matter() -> None:
    items = frame_shares({("a", "N"): 2, ("b", "N"): 1, ("b", "V"): 4})
    again = pl.concat([items.reverse(), items])
    assert class_shares(again)["tokens"].to_list() == [14, 6, 8]
    assert class_shares(items.reverse()).equals(class_shares(items))
    assert frequent_types(items.reverse()).equals(frequent_types(items))
    assert frequency_bands(items.reverse()).equals(frequency_bands(items))


def test_tables_without_types_or_tokens_have_no_shares() -> None:
    assert class_shares(frame_shares({})).height == 0
    assert frequent_types(frame_shares({})).height == 0
    assert frequency_bands(frame_shares({})).height == 0
    none = frame_shares({("a", "N"): 0})
    assert class_shares(none)["share_tokens"].to_list() == [None, None]
    assert frequent_types(none)["share_tokens"].to_list() == [None, None]
    bands = frequency_bands(none)
    assert bands["share_tokens"].to_list() == [None] * 3
    assert bands["classes_per_type"].to_list() == [1.0, 1.0, None]


def test_impossible_labels_are_refused() -> None:
    with pytest.raises(DataError, match="the class name"):
        class_shares(frame_shares({("a", "*"): 1}))
    with pytest.raises(DataError, match="column gold: 1 null or empty"):
        frequent_types(frame_shares({("a", ""): 1}))


SCHEMA = {"system": pl.String, "run": pl.String, "measure": pl.String, "value": pl.Float64}
Rows = list[tuple[str, str, str, float | None]]


def frame(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


ROWS: Rows = [
    ("a", "1", "v", 0.5), ("a", "2", "v", 0.7), ("b", "1", "v", 0.6), ("c", "1", "v", 0.9),
    ("d", "1", "v", None),
    ("a", "1", "vi", 3.0), ("a", "2", "vi", None), ("b", "1", "vi", 2.0), ("c", "1", "vi", 2.0),
]  # fmt: skip


def test_the_table_of_systems_agrees_with_ranks_by_hand() -> None:
    table = system_table(frame(ROWS), lower_is_better=["vi"])
    assert [(*row[:2], row[4], row[5]) for row in table.iter_rows()] == [
        ("v", "a", 2, 2.5), ("v", "b", 1, 2.5), ("v", "c", 1, 1.0), ("v", "d", 0, None),
        ("vi", "a", 1, 3.0), ("vi", "b", 1, 1.5), ("vi", "c", 1, 1.5),
    ]  # fmt: skip
    assert table["mean"].to_list() == pytest.approx([0.6, 0.6, 0.9, None, 3.0, 2.0, 2.0])
    sd = statistics.stdev([0.5, 0.7])
    assert table["sd"].to_list() == pytest.approx([sd, None, None, None, None, None, None])
    assert validate([table], SystemTable, name="systems") == 7


def test_higher_is_better_by_default() -> None:
    table = system_table(frame(ROWS)).filter(measure="vi")
    assert table["rank"].to_list() == [1.0, 2.5, 2.5]


def test_the_order_of_rows_does_not_matter() -> None:
    assert system_table(frame(ROWS[::-1])).equals(system_table(frame(ROWS)))
    assert measure_correlations(frame(ROWS[::-1])).equals(measure_correlations(frame(ROWS)))


values = st.lists(
    st.tuples(*[st.one_of(st.none(), st.integers(-3, 3).map(float))] * 3), min_size=0, max_size=8
)


@given(values)
def test_rank_correlations_agree_with_scipy(rows: list[tuple[float | None, ...]]) -> None:
    names = "xyz"
    scores = frame(
        [
            (f"s{i}", "1", names[j], value)
            for i, row in enumerate(rows)
            for j, value in enumerate(row)
        ]
    )
    table = measure_correlations(scores, lower_is_better=["z"])
    assert validate([table], MeasureCorrelations, name="correlations") == table.height
    assert table.height == (18 if rows else 0)
    signs = {"x": 1.0, "y": 1.0, "z": -1.0}
    for one, two, method, correlation, n in table.iter_rows():
        a, b = names.index(one), names.index(two)
        both = [
            (signs[one] * row[a], signs[two] * row[b])
            for row in rows
            if row[a] is not None and row[b] is not None
        ]
        assert n == len(both)
        if len({x for x, _ in both}) < 2 or len({y for _, y in both}) < 2:
            assert correlation is None
            continue
        oracle = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
        assert correlation == pytest.approx(oracle(*zip(*both, strict=True)).statistic, abs=1e-12)


def test_measures_of_opposite_direction_agree() -> None:
    rows: Rows = [
        (system, "1", measure, sign * value)
        for system, value in (("a", 1.0), ("b", 2.0), ("c", 4.0))
        for measure, sign in (("v", 1.0), ("vi", -1.0))
    ]
    correlations = measure_correlations(frame(rows), lower_is_better=["vi"])
    assert correlations["correlation"].to_list() == [1.0] * 8
    assert measure_correlations(frame(rows)).filter(measure_1="v", measure_2="vi")[
        "correlation"
    ].to_list() == [-1.0, -1.0]


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 0.7]), min_size=2, max_size=12))
def test_perfect_agreement_is_exactly_one(column: list[float]) -> None:
    rows: Rows = [
        (f"s{i}", "1", measure, times * value)
        for i, value in enumerate(column)
        for measure, times in (("v", 1.0), ("w", 3.0), ("vi", -2.0))
    ]
    expected = [None] if len(set(column)) == 1 else [1.0]
    table = measure_correlations(frame(rows), lower_is_better=["vi"])
    assert table["correlation"].to_list() == expected * 18
    turned = measure_correlations(frame(rows)).filter(measure_1="v", measure_2="vi")
    assert turned["correlation"].to_list() == [one and -one for one in expected * 2]


def test_tables_without_systems_are_empty() -> None:
    assert system_table(frame([])).height == 0
    assert measure_correlations(frame([])).height == 0


def test_nan_is_a_missing_value() -> None:
    table = system_table(frame([("a", "1", "v", math.nan), ("a", "2", "v", 2.0)]))
    assert (table["mean"].item(), table["n_runs"].item()) == (2.0, 1)


def test_duplicate_values_of_a_run_are_refused() -> None:
    with pytest.raises(DataError, match="1 runs have two values of a measure, e.g. a, 1, v"):
        system_table(frame([("a", "1", "v", 1.0), ("a", "1", "v", 2.0)]))
