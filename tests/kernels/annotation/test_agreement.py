from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from pipeline.errors import DataError
from pipeline.kernels.annotation import agreement as kernel
from pipeline.kernels.annotation.agreement import (
    agreement,
    fleiss_standard_error,
    gwet_ac,
    gwet_standard_error,
)
from pipeline.kernels.statistics.binomial_intervals import wilson
from schemas import Agreement
from tests.valid import valid

LABELS = {
    "ann": ["s", "s", "f", "n", "n", "n", None, "s", "n", "n", "f", "n"],
    "bob": ["s", "f", "f", "n", "n", "s", "n", "s", "n", "n", None, "n"],
    "eve": [None, "s", "f", "n", "n", "n", "n", "s", "n", None, None, "n"],
}
LONG = pl.DataFrame([
    {"id": f"x{i:02}", "annotator": who, "label": label}
    for who, given in LABELS.items() for i, label in enumerate(given)
])  # fmt: skip
CATEGORIES = {"SVC": ["s"], "TP": ["s", "f"]}


def table(annotations: pl.DataFrame = LONG, **options: Any) -> pl.DataFrame:
    given: dict[str, Any] = {
        "categories": CATEGORIES,
        "confidence": 0.95,
        "replicates": 400,
        "seed": "q",
        **options,
    }
    return valid(agreement(annotations, **given), Agreement)


def pick(frame: pl.DataFrame, *key: str) -> dict[str, float]:
    names = Agreement.key()
    return frame.filter(
        [pl.col(name) == value for name, value in zip(names, key, strict=True)]
    ).row(0, named=True)


def test_each_pair_uses_what_both_judged() -> None:
    both = [(a, b) for a, b in zip(LABELS["ann"], LABELS["eve"], strict=True) if a and b]
    row = pick(table(), "*", "ann", "eve", "cohen_kappa", "analytic")
    assert row["items"] == len(both) == 8
    assert row["estimate"] == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)))


def test_categories_are_in_or_out() -> None:
    both = [(a, b) for a, b in zip(LABELS["ann"], LABELS["bob"], strict=True) if a and b]
    first, second = ([label in ("s", "f") for label in side] for side in zip(*both, strict=True))
    key = ("TP", "ann", "bob")
    row = pick(table(), *key, "cohen_kappa", "bootstrap")
    assert row["estimate"] == pytest.approx(cohen_kappa_score(first, second))
    yes = sum(a and b for a, b in zip(first, second, strict=True))
    positive = pick(table(), *key, "positive", "bootstrap")["estimate"]
    assert positive == pytest.approx(2 * yes / (sum(first) + sum(second)))
    no = sum(not a and not b for a, b in zip(first, second, strict=True))
    negative = pick(table(), *key, "negative", "bootstrap")["estimate"]
    assert negative == pytest.approx(2 * no / (20 - sum(first) - sum(second)))


def test_intervals() -> None:
    found = table()
    row = pick(found, "*", "*", "*", "fleiss_kappa", "analytic")
    counts = [
        [units.count(label) for label in "fns"] for units in zip(*LABELS.values(), strict=True)
    ]
    error = float(fleiss_standard_error(counts))
    assert row["standard_error"] == pytest.approx(error)
    assert row["lower"] == pytest.approx(row["estimate"] - 1.959964 * error, rel=1e-6)
    assert row["upper"] == 1.0  # cut off
    agreed = pick(found, "*", "ann", "bob", "observed", "analytic")
    assert (agreed["lower"], agreed["upper"]) == pytest.approx(tuple(map(float, wilson(8, 10))))
    again = pick(found, "*", "*", "*", "fleiss_kappa", "bootstrap")
    assert again["lower"] < again["estimate"] < again["upper"] <= 1
    assert again["standard_error"] == pytest.approx(error, rel=0.25)


def test_gwets_coefficient_for_all_and_for_two() -> None:
    found = table()
    counts = [
        [units.count(label) for label in "fns"]
        for units in zip(*LABELS.values(), strict=True)
        if units.count(None) < 2  # a candidate with one label does not count here
    ]
    row = pick(found, "*", "*", "*", "gwet_ac1", "analytic")
    assert row["estimate"] == pytest.approx(float(gwet_ac(counts)))
    assert row["standard_error"] == pytest.approx(float(gwet_standard_error(counts)))
    again = pick(found, "*", "*", "*", "gwet_ac1", "bootstrap")
    assert again["standard_error"] == pytest.approx(row["standard_error"], rel=0.25)
    both = [(a, b) for a, b in zip(LABELS["ann"], LABELS["bob"], strict=True) if a and b]
    positive = [[sum(label in ("s", "f") for label in pair)] for pair in both]
    two = gwet_ac([[yes, 2 - yes] for (yes,) in positive])
    assert pick(found, "TP", "ann", "bob", "gwet_ac1", "analytic")["estimate"] == pytest.approx(
        float(two)
    )


def test_rows_of_the_table() -> None:
    found = table()
    assert found.equals(found.sort(*Agreement.key()))
    assert found.height == (6 + 3 * 6) + 2 * (8 + 3 * 8)


def test_seed_and_order_of_rows() -> None:
    found = table()
    assert table(LONG.sample(fraction=1, shuffle=True, seed=4)).equals(found)
    assert not table(seed="other").equals(found)
    assert table(seed="other").filter(method="analytic").equals(found.filter(method="analytic"))


def test_two_labels_of_one_annotator_are_no_vote() -> None:
    double = pl.concat([LONG, pl.DataFrame({"id": ["x00"], "annotator": ["bob"], "label": ["n"]})])
    without = LONG.filter((pl.col("id") != "x00") | (pl.col("annotator") != "bob"))
    assert table(double).equals(table(without))


def test_bootstrap_samples_without_a_value_are_counted() -> None:
    # of two items one is positive: half of the samples hold one label only
    small = pl.DataFrame({"id": ["x", "y"] * 2, "annotator": list("aabb"), "label": ["s", "n"] * 2})
    row = pick(table(small), "*", "a", "b", "cohen_kappa", "bootstrap")
    assert row["undefined"] == pytest.approx(200, abs=50)
    assert (row["lower"], row["upper"]) == (1.0, 1.0)


@pytest.mark.parametrize("few", [LONG.clear(), LONG.filter(annotator="ann"), LONG.head(1)])
def test_nothing_to_compare(few: pl.DataFrame) -> None:
    found = table(few)
    assert found["items"].unique().to_list() == [0]
    assert (
        found.select("estimate", "lower", "upper", "standard_error").null_count().row(0)
        == (22,) * 4
    )


def test_two_who_judged_nothing_in_common() -> None:
    apart = pl.DataFrame({"id": ["x", "y"], "annotator": ["a", "b"], "label": ["s", "s"]})
    found = table(apart).filter(annotator_1="a", annotator_2="b")
    assert "observed" in found.filter(method="analytic")["coefficient"]
    assert found["items"].unique().to_list() == [0]
    numbers = found.select("estimate", "standard_error", "lower", "upper")
    assert numbers.null_count().row(0) == (found.height,) * 4


@pytest.mark.parametrize("options", [{"confidence": 95}, {"replicates": 0}])
def test_mistakes_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="out of range"):
        table(**options)


def test_samples_in_parts_are_the_same_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = table()
    monkeypatch.setattr(kernel, "_AT_A_TIME", 50)
    assert table().equals(whole)


def test_as_many_labels_as_candidates_are_no_labels() -> None:
    many = [str(number) for number in range(30_000)] * 2
    given = pl.DataFrame({"id": many, "annotator": ["a", "b"] * 30_000, "label": many})
    with pytest.raises(DataError, match=r"(?s)30,000 different labels of 30,000 .*memory ="):
        table(given)
