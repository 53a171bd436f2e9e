""""""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from pipeline.errors import DataError
from pipeline.kernels.annotation import agreement as kernel
from pipeline.kernels.annotation.agreement import (
    agreement,
    category_agreement,
    cohen_kappa,
    cohen_standard_error,
    fleiss_kappa,
    fleiss_standard_error,
    gwet_ac,
    gwet_standard_error,
    krippendorff_alpha,
    mean_agreement,
    observed_agreement,
    partial_agreement,
    specific_agreement,
)
from pipeline.kernels.statistics.intervals import wilson
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
    settings: dict[str, Any] = {
        "categories": CATEGORIES,
        "confidence": 0.95,
        "replicates": 400,
        "seed": "q",
        **options,
    }
    return valid(agreement(annotations, **settings), Agreement)


def pick(frame: pl.DataFrame, *key: str) -> dict[str, float]:
    names = Agreement.key()
    return frame.filter(
        [pl.col(name) == value for name, value in zip(names, key, strict=True)]
    ).row(0, named=True)


def test_each_pair_uses_the_items_that_both_judged() -> None:
    both = [(a, b) for a, b in zip(LABELS["ann"], LABELS["eve"], strict=True) if a and b]
    row = pick(table(), "*", "ann", "eve", "cohen_kappa", "analytic")
    assert row["items"] == len(both) == 8
    assert row["estimate"] == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)))


def test_a_category_is_compared_with_all_others() -> None:
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


def test_analytic_and_bootstrap_intervals_agree() -> None:
    result = table()
    row = pick(result, "*", "*", "*", "fleiss_kappa", "analytic")
    counts = [
        [units.count(label) for label in "fns"] for units in zip(*LABELS.values(), strict=True)
    ]
    error = float(fleiss_standard_error(counts))
    assert row["standard_error"] == pytest.approx(error)
    assert row["lower"] == pytest.approx(row["estimate"] - 1.959964 * error, rel=1e-6)
    assert row["upper"] == 1.0  # cut off
    agreed = pick(result, "*", "ann", "bob", "observed", "analytic")
    assert (agreed["lower"], agreed["upper"]) == pytest.approx(tuple(map(float, wilson(8, 10))))
    again = pick(result, "*", "*", "*", "fleiss_kappa", "bootstrap")
    assert again["lower"] < again["estimate"] < again["upper"] <= 1
    assert again["standard_error"] == pytest.approx(error, rel=0.25)


def test_ac1_is_computed_for_all_and_for_two_annotators() -> None:
    result = table()
    counts = [
        [units.count(label) for label in "fns"]
        for units in zip(*LABELS.values(), strict=True)
        if units.count(None) < 2  # a candidate with one label does not count here
    ]
    row = pick(result, "*", "*", "*", "gwet_ac1", "analytic")
    assert row["estimate"] == pytest.approx(float(gwet_ac(counts)))
    assert row["standard_error"] == pytest.approx(float(gwet_standard_error(counts)))
    again = pick(result, "*", "*", "*", "gwet_ac1", "bootstrap")
    assert again["standard_error"] == pytest.approx(row["standard_error"], rel=0.25)
    both = [(a, b) for a, b in zip(LABELS["ann"], LABELS["bob"], strict=True) if a and b]
    positive = [[sum(label in ("s", "f") for label in pair)] for pair in both]
    two = gwet_ac([[yes, 2 - yes] for (yes,) in positive])
    assert pick(result, "TP", "ann", "bob", "gwet_ac1", "analytic")["estimate"] == pytest.approx(
        float(two)
    )


def test_the_table_has_a_row_for_each_coefficient() -> None:
    result = table()
    assert result.equals(result.sort(*Agreement.key()))
    assert result.height == (6 + 3 * 6) + 2 * (8 + 3 * 8)


def test_only_the_seed_changes_the_intervals() -> None:
    result = table()
    assert table(LONG.sample(fraction=1, shuffle=True, seed=4)).equals(result)
    assert not table(seed="other").equals(result)
    assert table(seed="other").filter(method="analytic").equals(result.filter(method="analytic"))


def test_two_labels_of_one_annotator_do_not_count() -> None:
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
def test_tables_without_common_items_have_no_estimates(few: pl.DataFrame) -> None:
    result = table(few)
    assert result["items"].unique().to_list() == [0]
    assert (
        result.select("estimate", "lower", "upper", "standard_error").null_count().row(0)
        == (22,) * 4
    )


def test_a_single_label_has_full_ac1_and_no_kappa() -> None:
    same = LONG.with_columns(label=pl.lit("s"))
    for pair in (("*", "*"), ("ann", "bob")):
        for method in ("analytic", "bootstrap"):
            row = pick(table(same), "*", *pair, "gwet_ac1", method)
            assert [row[name] for name in ("estimate", "lower", "upper")] == [1.0, 1.0, 1.0]
            assert row["undefined"] == 0
    assert pick(table(same), "*", "ann", "bob", "cohen_kappa", "analytic")["estimate"] is None


def ratings_of(*labels: str) -> pl.DataFrame:
    """One string per item, one letter per annotator, a dot for a missing label."""
    rows = [
        {"id": f"x{i:02}", "annotator": f"p{who}", "label": label}
        for i, item in enumerate(labels) for who, label in enumerate(item) if label != "."
    ]  # fmt: skip
    return pl.DataFrame(rows, {"id": pl.String, "annotator": pl.String, "label": pl.String})


@pytest.mark.parametrize(
    ("labels", "offered", "expected"),
    [
        # P = 3/4, shares 5/8 and 3/8: P_e = 2 * (15/64) / (q - 1)
        (("ss", "ss", "ff", "sf"), "", (3 / 4 - 15 / 32) / (17 / 32)),
        (("ss", "ss", "ff", "sf"), "fs", (3 / 4 - 15 / 32) / (17 / 32)),
        (("ss", "ss", "ff", "sf"), "fsn", (3 / 4 - 15 / 64) / (49 / 64)),
        (("ss", "ss", "ff", "sf"), "fsnm", (3 / 4 - 5 / 32) / (27 / 32)),
        (("ss", "ss", "ff", "sf"), "fnm", (3 / 4 - 5 / 32) / (27 / 32)),  # s occurs: it counts
        (("ss", "ss", "ss"), "sf", 1.0),  # full agreement on one of two labels
        (("ss", "ss", "ss"), "s", 1.0),
        (("ss", "ss", "ss"), "", 1.0),
    ],
)
def test_labels_that_were_offered_count_in_ac1(
    labels: tuple[str, ...], offered: str, expected: float
) -> None:
    """For two annotators, for all, and in no other coefficient."""
    result, plain = table(ratings_of(*labels), labels=list(offered)), table(ratings_of(*labels))
    for pair in (("*", "*"), ("p0", "p1")):
        for method in ("analytic", "bootstrap"):
            row = pick(result, "*", *pair, "gwet_ac1", method)
            assert row["estimate"] == pytest.approx(expected)
            assert row["undefined"] == 0
    of_labels = (pl.col("coefficient") == "gwet_ac1") & (pl.col("category") == "*")
    assert result.filter(~of_labels).equals(plain.filter(~of_labels))


@given(
    st.lists(st.text("abc.", min_size=3, max_size=3), min_size=1, max_size=8),
    st.sets(st.sampled_from("abcde")),
)
def test_ac1_agrees_with_all_pairs_of_offered_labels(items: list[str], offered: set[str]) -> None:
    """By all pairs of annotators, with fractions, and the number of labels as q."""
    several = [unit for item in items if len(unit := item.replace(".", "")) > 1]
    q = len(offered | set("".join(items)) - {"."})
    row = pick(
        table(ratings_of(*items), categories={}, labels=offered, replicates=1),
        "*", "*", "*", "gwet_ac1", "analytic",
    )  # fmt: skip
    close = [[Fraction(a == b) for b in range(5)] for a in range(5)]
    ratings = [["abcde".index(label) for label in unit] for unit in several]
    expected = slow_ac(ratings, close, q=q) if q > 1 else (1.0 if several else float("nan"))
    estimate = float("nan") if row["estimate"] is None else row["estimate"]
    assert estimate == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_two_annotators_without_common_items_have_no_estimates() -> None:
    apart = pl.DataFrame({"id": ["x", "y"], "annotator": ["a", "b"], "label": ["s", "s"]})
    result = table(apart).filter(annotator_1="a", annotator_2="b")
    assert "observed" in result.filter(method="analytic")["coefficient"]
    assert result["items"].unique().to_list() == [0]
    numbers = result.select("estimate", "standard_error", "lower", "upper")
    assert numbers.null_count().row(0) == (result.height,) * 4


@pytest.mark.parametrize("options", [{"confidence": 95}, {"replicates": 0}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="out of range"):
        table(**options)


def test_bootstrap_samples_in_parts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = table()
    monkeypatch.setattr(kernel, "_MOST_NUMBERS", 50)
    assert table().equals(whole)


def test_as_many_labels_as_candidates_are_refused() -> None:
    many = [str(number) for number in range(30_000)] * 2
    annotations = pl.DataFrame({"id": many, "annotator": ["a", "b"] * 30_000, "label": many})
    with pytest.raises(DataError, match=r"(?s)30,000 distinct labels of 30,000 .*memory ="):
        table(annotations)


# fmt: off
DIAGNOSES = np.array([  # Fleiss 1971, table 1: 30 patients, 6 psychiatrists, 5 diagnoses
    [0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0], [0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0], [1, 1, 0, 4, 0], [0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1],
    [0, 0, 5, 0, 1], [3, 0, 0, 1, 2], [5, 1, 0, 0, 0], [0, 2, 0, 4, 0], [1, 0, 2, 0, 3],
    [0, 0, 0, 0, 6], [0, 1, 0, 5, 0], [0, 2, 0, 1, 3], [2, 0, 0, 4, 0], [1, 0, 0, 4, 1],
    [0, 5, 0, 1, 0], [4, 0, 0, 0, 2], [0, 2, 0, 4, 0], [1, 0, 5, 0, 0], [0, 0, 0, 0, 6],
])
OBSERVERS = [  # Krippendorff 2011, section C: four observers, twelve units, values missing
    "1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .",
]
# fmt: on
RATINGS = st.lists(
    st.lists(st.sampled_from([0, 1, 2]), min_size=0, max_size=5), min_size=1, max_size=12
)


def counts_of(ratings: list[list[int]], labels: int = 3) -> np.ndarray:
    return np.array([[unit.count(label) for label in range(labels)] for unit in ratings])


def one_against_rest(counts: np.ndarray, label: int) -> np.ndarray:
    return np.stack([counts[:, label], counts.sum(axis=1) - counts[:, label]], axis=1)


def slow_alpha(ratings: list[list[int]]) -> float:
    """Fill the matrix of coincidences pair by pair."""
    pairs: Counter[tuple[int, int]] = Counter()
    for unit in ratings:
        for a, b in permutations(unit, 2):
            pairs[a, b] += Fraction(1, len(unit) - 1)  # type: ignore[assignment]  # a fraction
    labels = Counter[int]()
    for (a, _), weight in pairs.items():
        labels[a] += weight
    total = sum(labels.values())
    expected = sum(labels[a] * labels[b] for a in labels for b in labels if a != b)
    if not expected:
        return float("nan")
    observed = sum(weight for (a, b), weight in pairs.items() if a != b)
    return float(1 - (total - 1) * Fraction(observed) / expected)


def slow_fleiss(ratings: list[list[int]]) -> float:
    units = [unit for unit in ratings if len(unit) > 1]
    if not units:
        return float("nan")
    agreed = [
        Fraction(sum(a == b for a, b in permutations(u, 2)), len(u) * (len(u) - 1)) for u in units
    ]
    shares = [sum(Fraction(u.count(j), len(u)) for u in units) / len(units) for j in range(3)]
    chance = sum(share**2 for share in shares)
    return (
        float("nan") if chance == 1 else float((sum(agreed) / len(units) - chance) / (1 - chance))
    )


def test_fleiss_kappa_has_its_published_values() -> None:
    """Fleiss 1971: 0.430 overall; per category as R's irr::kappam.fleiss gives them."""
    assert float(mean_agreement(DIAGNOSES)) == pytest.approx(0.5556, abs=5e-5)
    assert float(fleiss_kappa(DIAGNOSES)) == pytest.approx(0.430, abs=5e-4)
    each = [float(fleiss_kappa(one_against_rest(DIAGNOSES, j))) for j in range(5)]
    assert [round(kappa, 3) for kappa in each] == [0.245, 0.245, 0.520, 0.471, 0.566]


def test_krippendorffs_alpha_has_its_published_value() -> None:
    rows = [observer.split() for observer in OBSERVERS]
    counts = [[sum(row[i] == str(j) for row in rows) for j in range(1, 6)] for i in range(12)]
    assert float(krippendorff_alpha(counts)) == pytest.approx(0.743, abs=5e-4)


def test_fleiss_kappa_agrees_with_statsmodels() -> None:
    assert float(fleiss_kappa(DIAGNOSES)) == pytest.approx(statsmodels_fleiss(DIAGNOSES), rel=1e-12)


def test_fleiss_kappa_and_alpha_agree_with_values_by_hand() -> None:
    # P = (1 + 1/3) / 2; labels 5 and 1 of 6: P_e = 26/36
    assert float(mean_agreement([[3, 0], [2, 1]])) == pytest.approx(2 / 3)
    assert float(fleiss_kappa([[3, 0], [2, 1]])) == pytest.approx((2 / 3 - 26 / 36) / (10 / 36))
    # o_11 = 3 + 1 of 6 labels, D_o = 2/6; D_e = 2 * 5 / 30
    assert float(krippendorff_alpha([[3, 0], [2, 1]])) == pytest.approx(0.0, abs=1e-15)
    assert category_agreement([[3, 0], [2, 1]]) == pytest.approx([8 / 10, 0.0])


@given(RATINGS)
def test_fleiss_kappa_and_alpha_agree_with_all_pairs(ratings: list[list[int]]) -> None:
    counts = counts_of(ratings)
    values = float(fleiss_kappa(counts)), float(krippendorff_alpha(counts))
    expected = slow_fleiss(ratings), slow_alpha(ratings)
    assert values == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(RATINGS)
def test_fleiss_standard_error_sums_the_influence_of_each_item(ratings: list[list[int]]) -> None:
    counts = counts_of([unit for unit in ratings if len(unit) > 1])
    kappa = float(fleiss_kappa(counts)) if len(counts) else float("nan")
    if len(counts) < 2 or np.isnan(kappa):
        return
    n, step = len(counts), 1e-6
    heavier = fleiss_kappa(counts, weights=np.ones((n, n)) + step * np.eye(n))
    lighter = fleiss_kappa(counts, weights=np.ones((n, n)) - step * np.eye(n))
    influence = n * (heavier - lighter) / (2 * step)
    expected = np.sqrt((influence**2).sum() / (n * (n - 1)))
    assert float(fleiss_standard_error(counts)) == pytest.approx(expected, rel=1e-4, abs=1e-5)


@given(RATINGS, st.randoms())
def test_weights_repeat_items_for_fleiss_kappa_and_alpha(
    ratings: list[list[int]], random: Random
) -> None:
    counts = counts_of(ratings)
    weights = np.array([random.randint(0, 3) for _ in ratings])
    repeated = np.repeat(counts, weights, axis=0)
    for f in (
        mean_agreement,
        fleiss_kappa,
        fleiss_standard_error,
        krippendorff_alpha,
        category_agreement,
    ):
        both = f(counts, weights=np.stack([weights, np.ones_like(weights)]))
        assert both[0] == pytest.approx(f(repeated), abs=1e-9, nan_ok=True)
        assert both[1] == pytest.approx(f(counts), abs=1e-9, nan_ok=True)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=20))
def test_category_agreement_of_two_annotators_is_specific_agreement(
    pairs: list[tuple[int, int]],
) -> None:
    table = np.zeros((2, 2))
    for a, b in pairs:
        table[a, b] += 1
    counts = counts_of([list(pair) for pair in pairs], labels=2)
    expected = specific_agreement(table)
    assert category_agreement(counts) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    "f", [mean_agreement, fleiss_kappa, fleiss_standard_error, krippendorff_alpha]
)
def test_coefficients_of_many_annotators_may_be_undefined(f: Callable[..., float]) -> None:
    assert np.isnan(f([[1, 0], [0, 1]]))  # nobody judged the same item
    assert np.isnan(f(np.zeros((0, 2))))
    if f is not mean_agreement:
        assert np.isnan(f([[3, 0], [2, 0]]))  # one label only
    assert not np.isnan(f([[3, 0], [1, 2]]))


def test_perfect_agreement_is_one_without_error() -> None:
    counts = [[3, 0], [0, 2], [4, 0]]
    assert float(fleiss_kappa(counts)) == 1.0
    assert float(krippendorff_alpha(counts)) == 1.0
    assert float(fleiss_standard_error(counts)) == 0.0


FLEISS_COHEN_EVERITT = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]  # 200 subjects, table 1 of 1969


def tables(labels: int = 3) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(st.integers(0, 12), min_size=labels, max_size=labels)
    return st.lists(row, min_size=labels, max_size=labels)


def slow_kappa(table: list[list[int]]) -> float:
    """Go through all items and all pairs of labels with exact fractions."""
    pairs = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    if not pairs:
        return float("nan")
    agreed = Fraction(sum(a == b for a, b in pairs), len(pairs))
    chance = Fraction(sum(a == b for a, _ in pairs for _, b in pairs), len(pairs) ** 2)
    return float("nan") if chance == 1 else float((agreed - chance) / (1 - chance))


def test_cohens_kappa_has_its_published_value() -> None:
    assert float(cohen_kappa(FLEISS_COHEN_EVERITT)) == pytest.approx(0.429, abs=5e-4)


def test_cohens_kappa_agrees_with_values_by_hand() -> None:
    # both say yes 4 times of 10, and 3 of these together: p_o = 0.8, p_e = 0.16 + 0.36
    table = [[3, 1], [1, 5]]
    assert float(observed_agreement(table)) == pytest.approx(0.8)
    assert float(cohen_kappa(table)) == pytest.approx(0.28 / 0.48)
    assert specific_agreement(table) == pytest.approx([6 / 8, 10 / 12])


@given(tables())
def test_cohens_kappa_agrees_with_all_pairs(table: list[list[int]]) -> None:
    assert float(cohen_kappa(table)) == pytest.approx(slow_kappa(table), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("table", [FLEISS_COHEN_EVERITT, [[40, 9], [6, 45]], [[1, 2], [3, 0]]])
def test_cohens_kappa_agrees_with_scikit_learn_and_statsmodels(table: list[list[int]]) -> None:
    cells = np.array(table)
    first, second = (np.repeat(axis.ravel(), cells.ravel()) for axis in np.indices(cells.shape))
    assert float(cohen_kappa(table)) == pytest.approx(cohen_kappa_score(first, second), rel=1e-12)
    oracle = cohens_kappa(cells)
    assert float(cohen_standard_error(table)) == pytest.approx(oracle.std_kappa, rel=1e-12)


@given(tables())
def test_the_order_of_two_annotators_does_not_matter(table: list[list[int]]) -> None:
    turned = np.transpose(table)
    for coefficient in (cohen_kappa, cohen_standard_error, observed_agreement, specific_agreement):
        assert coefficient(turned) == pytest.approx(coefficient(table), abs=1e-12, nan_ok=True)


def test_many_tables_are_computed_at_once() -> None:
    several = np.array([FLEISS_COHEN_EVERITT, np.diag([3, 4, 5]), np.ones((3, 3))])
    for coefficient in (cohen_kappa, cohen_standard_error, observed_agreement, specific_agreement):
        alone = [coefficient(table) for table in several]
        assert np.allclose(coefficient(several), alone, rtol=1e-13, atol=0)


def test_cohens_kappa_is_1_for_perfect_and_0_for_chance_agreement() -> None:
    assert float(cohen_kappa(np.diag([3, 4]))) == 1.0
    assert float(cohen_standard_error(np.diag([3, 4]))) == 0.0
    assert float(cohen_kappa([[4, 4], [4, 4]])) == 0.0
    assert float(cohen_kappa([[0, 3], [3, 0]])) == -1.0


def test_coefficients_of_two_annotators_may_be_undefined() -> None:
    one_label = [[7, 0], [0, 0]]
    assert np.isnan(cohen_kappa(one_label))
    assert np.isnan(cohen_standard_error(one_label))
    assert specific_agreement(one_label) == pytest.approx([1.0, np.nan], nan_ok=True)
    empty = np.zeros((2, 2))
    assert all(np.isnan(f(empty)).all() for f in (cohen_kappa, observed_agreement))


# fmt: off
# fmt: on
RAW = np.array(
    [[sum(row.split()[i] == str(j) for row in OBSERVERS) for j in range(1, 6)] for i in range(12)]
)  # fmt: skip


def counts_of_gwet(ratings: list[list[int]]) -> np.ndarray:
    return np.array([[unit.count(label) for label in range(3)] for unit in ratings])


def slow_ac(ratings: list[list[int]], close: list[list[Fraction]], *, q: int = 0) -> float:
    """Take every two annotators of an item, with fractions; q of AC1 (default: as in close)."""
    judged, several = [unit for unit in ratings if unit], [u for u in ratings if len(u) > 1]
    if not several:
        return float("nan")
    agreed = sum(
        sum((close[a][b] for a, b in permutations(u, 2)), Fraction(0)) / (len(u) * (len(u) - 1))
        for u in several
    ) / len(several)
    shares = [
        sum(Fraction(u.count(j), len(u)) for u in judged) / len(judged) for j in range(len(close))
    ]
    many = len(close)
    scale = Fraction(1, q - 1) if q else sum(map(sum, close)) / Fraction(many * (many - 1))
    chance = scale * sum(share * (1 - share) for share in shares)
    return float((agreed - chance) / (1 - chance)) if chance != 1 else float("nan")


def test_ac1_has_its_published_values() -> None:
    # R's irrCAC for its data set cac.raw4raters: agreement, AC1 and its standard error
    assert float(mean_agreement(RAW)) == pytest.approx(0.8181818, abs=5e-8)
    assert float(gwet_ac(RAW)) == pytest.approx(0.7754441, abs=5e-8)
    assert float(gwet_standard_error(RAW)) == pytest.approx(0.14295, abs=5e-6)


def test_rare_labels_lower_kappa_and_not_ac1() -> None:
    """At 11 % positives of both, an agreement of .92 has a kappa of .59 and an AC1 of .90."""
    table = np.array([[7, 4], [4, 85]])
    counts = [[2, 0]] * 7 + [[1, 1]] * 8 + [[0, 2]] * 85
    assert round(float(cohen_kappa(table)), 2) == 0.59
    assert round(float(fleiss_kappa(counts)), 2) == 0.59
    assert round(float(gwet_ac(counts)), 2) == 0.90


def test_ac1_agrees_with_values_by_hand() -> None:
    # P = (1 + 1/3) / 2; shares (1 + 2/3) / 2 and 1/6: P_e = 2/2 * 2 * 5/36
    assert float(gwet_ac([[3, 0], [2, 1]])) == pytest.approx((2 / 3 - 10 / 36) / (26 / 36))
    # linear: the middle label is half of each. P = 1/2, P_e = 5/6 * 1/2
    linear = partial_agreement(3, closeness="linear")
    # the third label was offered and never given; without it 1/2 would be the agreement by chance
    assert float(gwet_ac([[1, 1, 0]], partial=linear)) == pytest.approx((1 / 2 - 5 / 12) / (7 / 12))


def test_closeness_gives_partial_agreement() -> None:
    assert partial_agreement(3, closeness="quadratic")[0].tolist() == [1.0, 0.75, 0.0]
    assert partial_agreement(2, closeness="linear").tolist() == np.eye(2).tolist()
    assert partial_agreement(1, closeness="linear").tolist() == [[1.0]]
    assert partial_agreement(4).tolist() == np.eye(4).tolist()


@given(RATINGS, st.sampled_from(["identity", "linear", "quadratic"]))
def test_ac1_agrees_with_all_pairs(ratings: list[list[int]], closeness: str) -> None:
    partial = partial_agreement(3, closeness=closeness)  # type: ignore[arg-type]
    close = [[Fraction(value) for value in row] for row in partial.tolist()]
    coefficient = float(gwet_ac(counts_of_gwet(ratings), partial=partial))
    assert coefficient == pytest.approx(slow_ac(ratings, close), abs=1e-12, nan_ok=True)


@given(RATINGS)
def test_ac1_standard_error_sums_the_influence_of_each_item(
    ratings: list[list[int]],
) -> None:
    counts = counts_of_gwet([unit for unit in ratings if len(unit) > 1])
    if len(counts) < 2 or np.isnan(gwet_ac(counts)):
        return
    n, step = len(counts), 1e-6
    heavier = gwet_ac(counts, weights=np.ones((n, n)) + step * np.eye(n))
    lighter = gwet_ac(counts, weights=np.ones((n, n)) - step * np.eye(n))
    influence = n * (heavier - lighter) / (2 * step)
    expected = np.sqrt((influence**2).sum() / (n * (n - 1)))
    assert float(gwet_standard_error(counts)) == pytest.approx(expected, rel=1e-4, abs=1e-5)


@given(RATINGS, st.randoms())
def test_weights_repeat_items_for_ac1(ratings: list[list[int]], random: Random) -> None:
    counts = counts_of_gwet(ratings)
    weights = np.array([random.randint(0, 3) for _ in ratings])
    for f in (gwet_ac, gwet_standard_error):
        both = f(counts, weights=np.stack([weights, np.ones_like(weights)]))
        assert both[0] == pytest.approx(
            f(np.repeat(counts, weights, axis=0)), abs=1e-9, nan_ok=True
        )
        assert both[1] == pytest.approx(f(counts), abs=1e-9, nan_ok=True)


@given(RATINGS, st.permutations([0, 1, 2]))
def test_names_of_labels_do_not_change_ac1(ratings: list[list[int]], order: list[int]) -> None:
    counts = counts_of_gwet(ratings)
    for f in (gwet_ac, gwet_standard_error):
        assert float(f(counts)) == pytest.approx(float(f(counts[:, order])), abs=1e-12, nan_ok=True)


def test_the_normal_interval_of_ac1_covers_the_truth() -> None:
    """Two annotators of 120 items, 11 % positive, who err in 4 %: 3,000 samples."""
    bits = np.random.default_rng(4)
    cells = np.array([0.07, 0.08, 0.85])  # both, one of them, none
    patterns = np.array([[2, 0], [1, 1], [0, 2]])
    samples = bits.multinomial(120, cells, size=3000)
    estimates, error = (f(patterns, weights=samples) for f in (gwet_ac, gwet_standard_error))
    true = float(gwet_ac(patterns, weights=1e6 * cells))
    coverage = (np.abs(estimates - true) <= 1.96 * error).mean()
    assert 0.92 <= coverage <= 0.97


def test_ac1_may_be_undefined_or_perfect() -> None:
    for f in (gwet_ac, gwet_standard_error):
        assert np.isnan(f([[1, 0], [0, 1]]))  # nobody judged the same item
        assert np.isnan(f(np.zeros((0, 2))))
    assert float(gwet_ac([[3, 0], [0, 2], [4, 0]])) == 1.0
    for alike in ([[3, 0], [2, 0]], [[3, 0, 0], [2, 0, 0]], [[3], [2]]):  # unlike kappa
        assert (float(gwet_ac(alike)), float(gwet_standard_error(alike))) == (1.0, 0.0)
    assert float(gwet_standard_error([[3, 0], [0, 2], [4, 0]])) == 0.0
    assert np.isnan(gwet_standard_error([[2, 1]]))


def test_wrong_input_of_ac1_is_refused() -> None:
    with pytest.raises(ValueError, match="valid: identity, linear, quadratic"):
        partial_agreement(3, closeness="cubic")  # type: ignore[arg-type]
    for partial in ([[1.0, 0.2], [0.3, 1.0]], [[1.0]], [[1.0, 2.0], [2.0, 1.0]]):
        with pytest.raises(ValueError, match="partial agreement of 2 labels"):
            gwet_ac([[2, 1]], partial=partial)
