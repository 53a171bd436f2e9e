"""Fuzzy B-Cubed and fuzzy NMI against slow twins, by hand, and on the data of SemEval-2013."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.kernels.clustering.overlapping import memberships as degrees_module
from pipeline.kernels.clustering.overlapping.measures import overlapping_scores
from pipeline.kernels.clustering.overlapping.memberships import degrees
from tests.kernels.clustering.overlapping.slow_overlapping import Items, clustered, frames

Weights = dict[str, dict[str, float]]
"""Item to label to weight."""
NAMES = ("fuzzy_bcubed_precision", "fuzzy_bcubed_recall", "fuzzy_bcubed_f", "fuzzy_nmi")

labels = st.dictionaries(st.sampled_from("abc"), st.sampled_from([0.1, 0.3, 1.0, 2.0, 7.0]))
some = st.dictionaries(st.sampled_from("uvwxyz"), labels.filter(bool), max_size=6)


def table(weights: Weights, label: str) -> pl.DataFrame:
    rows = [(i, k, w) for i, labels_of_item in weights.items() for k, w in labels_of_item.items()]
    schema = {"item": pl.String, label: pl.String, "weight": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def scores(gold: Weights, induced: Weights) -> dict[str, float]:
    tables = table(gold, "gold"), table(induced, "cluster")
    result = overlapping_scores(*tables, measures=NAMES, seed="")
    return dict(result.select("measure", pl.col("value").fill_null(math.nan)).iter_rows())


def agreement(one: dict[str, float], two: dict[str, float]) -> float:
    return sum(1 - abs(one[k] - two[k]) for k in one.keys() & two.keys())


def slow_side(own: Weights, other: Weights, gold: Weights) -> float:
    """Return the mean over gold items: precision if own is induced, recall if own is gold."""
    if not gold:
        return math.nan
    total = 0.0
    for i in gold:
        shares = []
        for j in own.keys() - {i}:
            near = agreement(own.get(i, {}), own[j])
            if near > 0:
                shares.append(min(near, agreement(other.get(i, {}), other.get(j, {}))) / near)
        total += sum(shares) / len(shares) if shares else 0.0
    return total / len(gold)


def entropy(values: Sequence[object]) -> float:
    counts = np.array(list(Counter(values).values())) / len(values)
    return float(-(counts * np.log(counts)).sum())


def h(p: float) -> float:
    return -p * math.log(p) if p else 0.0


def slow_nmi(gold: Weights, induced: Weights) -> float:
    items = sorted({*gold, *induced})
    one, two = (
        [[labels_of_item.get(i, {}).get(k, 0.0) for i in items]
         for k in sorted({k for each in labels_of_item.values() for k in each})]
        for labels_of_item in (gold, induced)
    )  # fmt: skip
    if not gold or not induced:
        return 0.0 if gold else math.nan

    def bins(values: list[float]) -> list[object]:
        return [next(b for b in range(10) if v <= (b + 1) / 10) for v in values]

    def conditional_entropy(own: list[list[float]], others: list[list[float]]) -> float:
        total = 0.0
        for x in own:
            entropies = [entropy(bins(x))]
            for y in others:
                n = Counter((a > 0, b > 0) for a, b in zip(x, y, strict=True))
                alike = h(n[True, True] / len(x)) + h(n[False, False] / len(x))
                if alike >= h(n[True, False] / len(x)) + h(n[False, True] / len(x)) - 1e-12:
                    both = list(zip(bins(x), bins(y), strict=True))
                    entropies.append(entropy(both) - entropy(bins(y)))
            total += min(entropies)
        return total

    whole = [sum(entropy(bins(x)) for x in side) for side in (one, two)]
    if not max(whole):
        return 1.0
    return (whole[0] - conditional_entropy(one, two) + whole[1] - conditional_entropy(two, one)) / (
        2 * max(whole)
    )


def relative(weights: Weights) -> Weights:
    return {
        i: {k: w / max(labels_of_item.values()) for k, w in labels_of_item.items()}
        for i, labels_of_item in weights.items()
    }


@given(some, some)
def test_fuzzy_measures_agree_with_slow_twins(gold: Weights, induced: Weights) -> None:
    values, one, two = scores(gold, induced), relative(gold), relative(induced)
    precision, recall = slow_side(two, one, one), slow_side(one, two, one)
    assert values["fuzzy_bcubed_precision"] == pytest.approx(precision, nan_ok=True)
    assert values["fuzzy_bcubed_recall"] == pytest.approx(recall, nan_ok=True)
    both = precision + recall
    f = 2 * precision * recall / both if both else 0.0
    assert values["fuzzy_bcubed_f"] == pytest.approx(f, nan_ok=True)
    assert values["fuzzy_nmi"] == pytest.approx(slow_nmi(one, two), abs=1e-9, nan_ok=True)


@given(some, some, st.floats(0.01, 100))
def test_only_relative_weights_of_an_item_count(
    gold: Weights, induced: Weights, factor: float
) -> None:
    larger = {
        i: {k: 8 * w for k, w in labels_of_item.items()} for i, labels_of_item in induced.items()
    }
    assert scores(gold, larger) == pytest.approx(scores(gold, induced), nan_ok=True)
    wholly = {i: dict.fromkeys(labels_of_item, factor) for i, labels_of_item in induced.items()}
    alike = {i: dict.fromkeys(labels_of_item, 1.0) for i, labels_of_item in induced.items()}
    assert scores(gold, wholly) == pytest.approx(scores(gold, alike), nan_ok=True)


def test_fuzzy_bcubed_agrees_with_values_by_hand() -> None:
    gold = {"i": {"s": 4.0}, "j": {"s": 4.0}, "k": {"t": 1.0}}
    induced = {"i": {"a": 4.0, "b": 1.0}, "j": {"a": 1.0}, "k": {"b": 1.0}}
    # Degrees of i: a 1, b 1/4. C(i, j) = 1 by clusters and by classes; C(i, k) = 1/4 and 0.
    result = scores(gold, induced)
    assert result["fuzzy_bcubed_precision"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert result["fuzzy_bcubed_recall"] == pytest.approx((1 + 1 + 0) / 3)
    # An item without a class is one of the others: the mean of i is over j, k and n.
    further = induced | {"n": {"a": 1.0}}
    assert scores(gold, further)["fuzzy_bcubed_precision"] == pytest.approx((1 / 3 + 1 / 2) / 3)


@given(clustered)
def test_without_weights_fuzzy_nmi_is_nmi_max(items: Items) -> None:
    result = overlapping_scores(*frames(items), measures=["fuzzy_nmi", "nmi_max"], seed="")
    assert result["value"][0] == pytest.approx(result["value"][1], abs=1e-9, nan_ok=True)


@given(clustered)
def test_degrees_are_1_without_weights(items: Items) -> None:
    gold, induced = frames(items)
    plain = overlapping_scores(gold, induced, measures=NAMES, seed="")
    ones = [each.with_columns(weight=pl.lit(1.0)) for each in (gold, induced)]
    nulls = [each.with_columns(weight=pl.lit(None, pl.Float64)) for each in (gold, induced)]
    for tables in (ones, nulls, [pl.concat([each, each]) for each in ones]):
        assert overlapping_scores(*tables, measures=NAMES, seed="").equals(plain)


def test_items_without_clusters_have_fuzzy_measures_of_zero() -> None:
    gold: Weights = {"i": {"s": 1.0}, "j": {"s": 1.0}}
    nothing = {"fuzzy_bcubed_precision": 0.0, "fuzzy_bcubed_f": 0.0}
    assert scores(gold, {}) == nothing | {"fuzzy_bcubed_recall": 0.0, "fuzzy_nmi": 0.0}
    # Without pairs nothing is shared, but all groups contain all items.
    one = scores({"i": {"s": 1.0}}, {"i": {"a": 1.0}})
    assert one == nothing | {"fuzzy_bcubed_recall": 0.0, "fuzzy_nmi": 1.0}


def test_blocks_do_not_change_fuzzy_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    bits = np.random.default_rng(5)
    sides = [
        {f"i{n:02}": {str(k): float(bits.integers(1, 9)) for k in bits.integers(4, size=2)}
         for n in range(40)}
        for _ in range(2)
    ]  # fmt: skip
    before = scores(*sides)
    monkeypatch.setattr(degrees_module, "_BLOCK", 100)
    assert scores(*sides) == pytest.approx(before, rel=1e-12)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.0, 1.0], "1 membership with a weight that is not a number above 0, for example 0 of"),
        ([-1.0, math.nan], "2 memberships with a weight .* for example -1 of 'i' in 'a'"),
        ([math.inf, 1.0], "for example inf of 'i' in 'a'"),
        ([0.5, None], "2 memberships with a weight in only some of the groups"),
    ],
)
def test_invalid_weights_are_refused(weights: list[float | None], message: str) -> None:
    induced = pl.DataFrame({"item": ["i", "i"], "cluster": ["a", "b"], "weight": weights})
    with pytest.raises(DataError, match=message):
        degrees(pl.DataFrame({"item": ["i"], "gold": ["s"]}), induced)


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(degrees_module, "MOST_PAIRS", 3)
    with pytest.raises(DataError, match="all pairs of 2 items, which are too many"):
        scores({"i": {"s": 1.0}, "j": {"s": 1.0}}, {})
