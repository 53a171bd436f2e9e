"""Shares of types and tokens, against counting by hand."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.kernels.clustering.systems import class_shares, frequent_types
from schemas import ClassShares, FrequentTypes
from schemas.validate import validate

SCHEMA = {"item": pl.String, "gold": pl.String, "f": pl.Int64}
tokens = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("NVX")), max_size=40)


def frame(counted: dict[tuple[str, str], int]) -> pl.DataFrame:
    return pl.DataFrame([(*key, f) for key, f in counted.items()], schema=SCHEMA, orient="row")


@given(tokens)
def test_counting(pairs: list[tuple[str, str]]) -> None:
    items = frame(Counter(pairs))
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
        expected = [
            (gold, k, top := sum(n for _, n in counts.most_common(k)), top / f)
            for k in range(1, types + 1)
        ]
        assert sums.filter(gold=gold).rows() == expected


def test_round_numbers_by_default() -> None:
    items = frame({(f"w{i}", "N"): 1 for i in range(60)} | {("x", "V"): 3})
    found = frequent_types(items)
    assert found.filter(gold="*")["k"].to_list() == [1, 2, 5, 10, 20, 50, 61]
    assert found.filter(gold="N")["k"].to_list() == [1, 2, 5, 10, 20, 50, 60]
    assert found.filter(gold="V").rows() == [("V", 1, 3, 1.0)]


def test_order_and_repeated_rows() -> None:
    items = frame({("a", "N"): 2, ("b", "N"): 1, ("b", "V"): 4})
    again = pl.concat([items.reverse(), items])
    assert class_shares(again)["tokens"].to_list() == [14, 6, 8]
    assert class_shares(items.reverse()).equals(class_shares(items))
    assert frequent_types(items.reverse()).equals(frequent_types(items))


def test_nothing_and_no_tokens() -> None:
    assert class_shares(frame({})).height == 0
    assert frequent_types(frame({})).height == 0
    none = frame({("a", "N"): 0})
    assert class_shares(none)["share_tokens"].to_list() == [None, None]
    assert frequent_types(none)["share_tokens"].to_list() == [None, None]


def test_impossible_labels() -> None:
    with pytest.raises(DataError, match="a class is called"):
        class_shares(frame({("a", "*"): 1}))
    with pytest.raises(DataError, match="column gold: 1 null or empty"):
        frequent_types(frame({("a", ""): 1}))
