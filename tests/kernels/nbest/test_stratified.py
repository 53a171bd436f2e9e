""""""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations, product
from math import sqrt
from typing import Any, TypeVar

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import betabinom

from pipeline.kernels.nbest.stratified import (
    REPLICATES,
    UNDEFINED,
    pair_limits,
    pool,
    predicted_estimates,
    rank_labels,
    score_labels,
    set_limits,
    strata_by_rank,
    strata_by_score,
    stratified_comparison,
    stratified_difference,
    stratified_estimate,
    stratified_interval,
    stratified_precision,
    stratified_sample,
    stratified_sets,
)
from pipeline.kernels.sampling import without_replacement
from pipeline.kernels.survey.study import study
from pipeline.kernels.survey.tables import pair_estimates
from schemas import Sample, Strata, StratifiedPrecision
from tests.kernels.nbest.rank_frames import judged_of, krenn, name, ranks_of, slow_comparison
from tests.valid import valid

SCORES = {"x": [5.0, 4.0, 3.0, 2.0, 1.0], "y": [1.0, 2.0, 3.0, 5.0, 4.0]}
IDS = pl.DataFrame({"id": [name(i) for i in range(40)], "stratum": ["a"] * 30 + ["b"] * 10})


def test_strata_of_one_list() -> None:
    strata = strata_by_rank(ranks_of(SCORES), measures=["x"], boundaries=[1, 3])
    found = valid(strata.sort("id").collect(), Strata)
    assert found["stratum"].to_list() == ["1-1", "2-3", "2-3", "4-5", "4-5"]


def test_strata_of_several_lists_go_by_the_best_rank() -> None:
    # ranks under y: 5, 4, 3, 1, 2
    strata = strata_by_rank(ranks_of(SCORES), measures=["y", "x"], boundaries=[2])
    assert strata.sort("id").collect()["stratum"].to_list() == ["1-2", "1-2", "3-5", "1-2", "1-2"]


def test_labels_sort_like_numbers_and_boundaries_beyond_the_data_are_left_out() -> None:
    ranks = ranks_of({"x": [float(-i) for i in range(12)]})
    strata = strata_by_rank(
        ranks.sample(fraction=1, shuffle=True, seed=1), measures=["x"], boundaries=[3, 12, 99]
    )
    found = strata.sort("id").collect()["stratum"]
    assert found.to_list() == ["01-03"] * 3 + ["04-12"] * 9
    whole = strata_by_rank(ranks, measures=["x"], boundaries=[]).collect()
    assert whole["stratum"].unique().to_list() == ["01-12"]


def test_strata_by_score() -> None:
    scores = pl.DataFrame({"id": list("abcde"), "f": [3, 5, 2, None, 30]})
    found = valid(strata_by_score(scores, column="f", boundaries=[3, 5]).collect(), Strata)
    assert found["stratum"].to_list() == [
        "[3, 5)",
        "[5, inf)",
        "[-inf, 3)",
        "undefined",
        "[5, inf)",
    ]


@pytest.mark.parametrize("boundaries", [[3, 2], [2, 2], [0, 2]])
def test_mistaken_boundaries(boundaries: list[int]) -> None:
    with pytest.raises(ValueError, match="must ascend"):
        strata_by_rank(ranks_of(SCORES), measures=["x"], boundaries=boundaries)
    if boundaries[0]:
        with pytest.raises(ValueError, match="must ascend"):
            strata_by_score(
                pl.DataFrame({"id": ["a"], "f": [1]}), column="f", boundaries=boundaries
            )


@given(
    st.integers(0, 30),
    st.integers(0, 10),
    st.integers(0, 35),
    st.integers(0, 12),
    st.text(max_size=3),
)
@pytest.mark.long
def test_larger_samples_hold_the_smaller_ones(
    a: int, b: int, more_a: int, more_b: int, seed: str
) -> None:
    small = stratified_sample(IDS, sizes={"a": a, "b": b}, seed=seed)
    large = stratified_sample(IDS, sizes={"a": a + more_a, "b": b + more_b}, seed=seed)
    assert set(small["id"]) <= set(large["id"])
    strata = dict(IDS.select("id", "stratum").iter_rows())
    drawn = Counter(strata[x] for x in large["id"])
    assert (drawn["a"], drawn["b"]) == (min(a + more_a, 30), min(b + more_b, 10))


@given(st.integers(0, 40), st.integers(0, 40), st.text(max_size=3))
def test_simple_samples_are_nested_too(size: int, more: int, seed: str) -> None:
    small = without_replacement(IDS, size=size, seed=seed)["id"]
    large = without_replacement(IDS, size=size + more, seed=seed)["id"]
    assert large.head(len(small)).equals(small)
    # and a data set that grows keeps what was drawn, as far as its keys allow
    part = without_replacement(IDS.head(25), size=size, seed=seed)["id"]
    whole = without_replacement(IDS, size=size, seed=seed)["id"]
    assert set(whole) & set(IDS["id"].head(25)) <= set(part)


def test_sample_is_a_valid_table_whatever_the_order_of_rows() -> None:
    found = valid(stratified_sample(IDS, sizes={"b": 3}, seed="s"), Sample)
    assert found["position"].to_list() == [1, 2, 3]
    assert stratified_sample(IDS.reverse(), sizes={"b": 3}, seed="s").equals(found)
    assert not stratified_sample(IDS, sizes={"b": 3}, seed="t").equals(found)
    assert valid(stratified_sample(IDS.clear(), sizes={}, seed="s"), Sample).is_empty()


@pytest.mark.parametrize("sizes", [{"c": 1}, {"a": -1}])
def test_mistaken_sizes(sizes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=f"no size for {next(iter(sizes))}; the strata are a, b"):
        stratified_sample(IDS, sizes=sizes, seed="s")


def test_pool() -> None:
    found = pool(ranks_of(SCORES), measures=["x", "y"], depth=2)
    assert found.rows() == [(name(0), 1), (name(1), 2), (name(3), 1), (name(4), 2)]
    assert pool(ranks_of(SCORES), measures=["x"], depth=99).height == 5
    with pytest.raises(ValueError, match="no ranks for z"):
        pool(ranks_of(SCORES), measures=["x", "z"], depth=2)


# Strata and samples are those of slow twins.


@given(
    st.lists(st.permutations(range(25)), min_size=1, max_size=3),
    st.sets(st.integers(1, 40), max_size=4),
)
def test_by_rank(orders: list[list[int]], boundaries: set[int]) -> None:
    names, bounds = [f"m{n}" for n in range(len(orders))], sorted(boundaries)
    ranks = pl.LazyFrame(
        {
            "measure": [name for name in names for _ in range(25)],
            "id": [f"x{each:02}" for order in orders for each in order],
            "rank": list(range(1, 26)) * len(orders),
        }
    )
    labels = rank_labels(bounds, last=25)
    best = [min(order.index(n) + 1 for order in orders) for n in range(25)]
    expected = [
        (f"x{n:02}", labels[sum(bound < rank for bound in bounds)]) for n, rank in enumerate(best)
    ]
    found = strata_by_rank(ranks, measures=names, boundaries=bounds)
    assert found.sort("id").collect().rows() == expected


@given(st.lists(st.none() | st.integers(0, 9), max_size=40), st.sets(st.integers(0, 9)))
def test_by_score(values: list[int | None], boundaries: set[int]) -> None:
    ids, bounds = [f"x{n:03}" for n in range(len(values))], sorted(boundaries)
    scores = pl.LazyFrame({"id": ids, "f": values}, schema={"id": pl.String, "f": pl.Int64})
    labels = score_labels(bounds)
    expected = [
        UNDEFINED if each is None else labels[sum(bound <= each for bound in bounds)]
        for each in values
    ]
    found = strata_by_score(scores, column="f", boundaries=bounds).collect()
    assert found.rows() == list(zip(ids, expected, strict=True))


@given(
    st.lists(st.sampled_from("abc"), max_size=60),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 30)),
)
def test_draws(names: list[str], wanted: dict[str, int]) -> None:
    schema = {"id": pl.String, "stratum": pl.String}
    strata = pl.DataFrame([(f"x{n}", name) for n, name in enumerate(names)], schema, orient="row")
    sizes = {name: size for name, size in wanted.items() if name in names}
    drawn = [
        without_replacement(strata.filter(pl.col("stratum") == name), size=sizes[name], seed="s")
        .with_columns(stratum=pl.lit(name))
        for name in sorted(sizes)
    ]  # fmt: skip
    expected = [row for each in drawn for row in each.select("id", "pi", "stratum").rows()]
    found = stratified_sample(strata.lazy(), sizes=sizes, seed="s")
    assert found.select("id", "pi", "stratum").rows() == expected
    assert found["position"].to_list() == list(range(1, len(expected) + 1))


# Korn and Graubard's limits from strata: known answers, laws, coverage over a grid of designs.

Counts = tuple[list[int], list[int], list[int]]
OPTIONS: dict[str, Any] = {"confidence": 0.95, "replicates": 200, "seed": "s"}


@st.composite
def counts(draw: st.DrawFn) -> Counts:
    size = draw(st.lists(st.integers(1, 30), min_size=1, max_size=5))
    n = [draw(st.integers(0, each)) for each in size]
    return size, n, [draw(st.integers(0, each)) for each in n]


def test_twenty_strata_do_not_pull_the_limits_to_one_half() -> None:
    table = [[100] * 20], [[5] * 20], [[1] * 10 + [0] * 10]
    lower, upper = stratified_interval(*table, **OPTIONS)
    assert (lower[0].round(3), upper[0].round(3)) == (0.048, 0.179)
    pulled, _ = stratified_interval(*table, **OPTIONS, method="predictive")
    assert pulled[0] == pytest.approx(0.1)  # the estimate itself


@given(counts())
def test_the_estimate_and_its_variance_are_cochrans(table: Counts) -> None:
    size, n, _ = table
    found = stratified_sets(*table)
    p, variance = stratified_estimate(*table)
    assert float(found.estimate) == pytest.approx(float(p), nan_ok=True)
    if all(each != 1 for each, members in zip(n, size, strict=True) if members > 1):
        assert float(found.variance) == pytest.approx(float(variance), abs=1e-12, nan_ok=True)


@given(counts())
def test_limits_hold_the_estimate_and_are_it_where_all_is_known(table: Counts) -> None:
    size, n, k = table
    lower, upper = (float(each) for each in set_limits(*table, confidence=0.95))
    estimate = float(stratified_sets(*table).estimate)
    if any(each == 0 for each in n):
        assert np.isnan([lower, upper, estimate]).all()
        return
    assert 0 <= lower <= estimate + 1e-12
    assert estimate - 1e-12 <= upper <= 1
    if n == size:
        assert lower == upper == pytest.approx(sum(k) / sum(size))


@given(counts())
def test_to_call_false_what_was_true_turns_the_limits_round(table: Counts) -> None:
    size, n, k = table
    turned = (size, n, [draws - hits for draws, hits in zip(n, k, strict=True)])
    (lower, upper), (other_lower, other_upper) = (
        [float(each) for each in set_limits(*each, confidence=0.9)] for each in (table, turned)
    )
    assert [other_lower, other_upper] == pytest.approx([1 - upper, 1 - lower], nan_ok=True)


def test_strata_of_one_chance_are_one_simple_sample() -> None:
    parts = set_limits([50, 50], [10, 10], [3, 3], confidence=0.95)
    whole = set_limits([100], [20], [6], confidence=0.95)
    assert np.allclose(parts, whole, atol=0.01)


@pytest.mark.parametrize("strata", [2, 5, 10, 20])
@pytest.mark.parametrize("draws", [3, 10, 50])
@pytest.mark.parametrize("precision", [0.02, 0.1, 0.3, 0.5])
def test_the_level_is_held(strata: int, draws: int, precision: float) -> None:
    true, samples = round(100 * precision), 2000
    k = np.random.default_rng(strata).hypergeometric(true, 100 - true, draws, (samples, strata))
    lower, upper = set_limits(np.full_like(k, 100), np.full_like(k, draws), k, confidence=0.95)
    held = int(((lower <= precision) & (precision <= upper)).sum())
    assert held >= 0.92 * samples  # 4 standard errors below .94


def test_a_difference_is_that_of_a_design_with_these_chances() -> None:
    """The same draws, one candidate after the other, through the general estimator."""
    ids = [f"c{each:02}" for each in range(40)]
    ranks = pl.DataFrame({
        "measure": ["a"] * 40 + ["b"] * 40, "id": [*ids, *reversed(ids)],
        "rank": [*range(1, 41)] * 2,
    })  # fmt: skip
    # D1 is c00..c19, D2 c20..c39; strata: even and odd numbers, drawn 4 of 10 and 5 of 10
    drawn = [*ids[0:8:2], *ids[1:11:2], *ids[20:28:2], *ids[21:31:2]]
    tp = [True, True, True, False, True, True, False, False, False] + [True] + [False] * 8
    stratum = {each: str(number % 2) for number, each in enumerate(ids)}
    draws = pl.DataFrame({"id": drawn, "tp": tp}).with_columns(
        pi=pl.when(pl.col("id").replace_strict(stratum) == "0").then(0.4).otherwise(0.5),
        stratum=pl.col("id").replace_strict(stratum),
    )
    every = pl.DataFrame({"id": ids, "stratum": list(stratum.values())})
    one = pair_estimates(study(ranks, draws, candidates=every), pairs=[("a", "b")], at=[20])
    sets = [stratified_sets([10, 10], [4, 5], hits) for hits in ([3, 2], [1, 0])]
    limits = [float(each) for each in pair_limits(*sets, confidence=0.95)]
    assert one.select("lower", "upper").row(0) == pytest.approx(limits)


# Differences from stratified samples: by hand, against simulation, and their laws.

T = TypeVar("T")
OPTIONS_STRATIFIED_DIFFERENCES: dict[str, Any] = {
    "confidence": 0.95,
    "replicates": 400,
    "seed": "s",
    "method": "bootstrap",
}
IDS_STRATIFIED_DIFFERENCES = list("abcdefgh")
RANKS = pl.DataFrame(
    {
        "measure": ["m"] * 8 + ["w"] * 8,
        "id": IDS_STRATIFIED_DIFFERENCES * 2,
        "rank": [*range(1, 9), *range(8, 0, -1)],
    }
)
STRATA = pl.DataFrame({"id": IDS_STRATIFIED_DIFFERENCES, "stratum": ["1-4"] * 4 + ["5-8"] * 4})


def compare(judged: pl.DataFrame, **changes: object) -> pl.DataFrame:
    options: dict[str, Any] = {
        "pairs": [("m", "w")],
        "at": [3],
        "margin": 0.0,
        **OPTIONS_STRATIFIED_DIFFERENCES,
        **changes,
    }
    return stratified_comparison(RANKS, judged, STRATA, **options)


def judged_as(ids: str, true: str) -> pl.DataFrame:
    return pl.DataFrame(
        {"category": "TP", "id": list(ids), "tp": [each in true for each in ids]},
        schema={"category": pl.String, "id": pl.String, "tp": pl.Boolean},
    )


@st.composite
def studies(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Make ranks (ties as below the depth of a pool), judged_as with gaps, strata."""
    ids = IDS_STRATIFIED_DIFFERENCES[: draw(st.integers(1, 8))]

    def several(values: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
        return st.lists(values, min_size=len(ids), max_size=len(ids))

    rank = several(st.integers(1, len(ids)))
    ranks = [
        pl.DataFrame(
            {
                "measure": name,
                "id": ids,
                "rank": draw(st.permutations(range(1, 1 + len(ids))) | rank),
            }
        )
        for name in "xyz"
    ]
    judged = [
        pl.DataFrame(
            {
                "category": name,
                "id": ids,
                "tp": draw(several(st.none() | st.booleans())),
            },
            schema_overrides={"tp": pl.Boolean},
        )
        for name in "AB"
    ]
    sampled = pl.concat(judged).filter(
        draw(st.lists(st.booleans(), min_size=2 * len(ids), max_size=2 * len(ids)))
    )
    strata = draw(several(st.sampled_from("pqr")))
    return pl.concat(ranks), sampled, pl.DataFrame({"id": ids, "stratum": strata})


@given(
    studies(),
    st.lists(st.integers(0, 10), max_size=4),
    st.sampled_from(["korn_graubard", "bootstrap", "predictive"]),
)
def test_agrees_with_the_slow_twin(
    study: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame], at: list[int], method: str
) -> None:
    options: dict[str, Any] = {
        "pairs": list(permutations("xyz", 2)), "at": at, "confidence": 0.9, "replicates": 5,
        "seed": "s", "method": method,
    }  # fmt: skip
    found = stratified_comparison(*study, margin=0.0, **options)
    assert found.drop("excludes_zero").rows() == slow_comparison(*study, **options)


def test_by_hand() -> None:
    row = compare(judged_as("abgh", "abh")).row(0, named=True)
    assert (row["size"], row["n_1"], row["k_1"], row["n_2"], row["k_2"]) == (3, 2, 2, 2, 1)
    assert row["difference"] == pytest.approx(1.0 - 0.5)
    assert -1 <= row["lower"] <= 0.5 <= row["upper"] <= 1


def test_full_annotation_has_no_width() -> None:
    found = compare(judged_as("abcdefgh", "abf"), at=[3, 8])
    rows = found.select("n", "difference", "lower", "upper", "excludes_zero").rows()
    third = pytest.approx(1 / 3)
    assert rows == [(3, third, third, third, True), (8, 0.0, 0.0, 0.0, False)]


def test_strata_without_a_draw_leave_it_unknown() -> None:
    found = compare(judged_as("ab", "a"))
    assert found.select("difference", "lower", "excludes_zero").row(0) == (None, None, False)


def test_margin() -> None:
    every = judged_as("abcdefgh", "abf")
    assert compare(every, margin=1 / 3)["excludes_zero"].item()
    assert not compare(every, margin=0.34)["excludes_zero"].item()


def test_interval_has_the_width_of_the_two_variances() -> None:
    first, second = np.array([[60], [30], [12]]), np.array([[60], [40], [10]])
    _, lower, upper = stratified_difference(
        first, second, share=0.5, confidence=0.6827, replicates=20_000, seed="s", method="bootstrap"
    )
    variance = 0.25 * (0.5 * 0.4 * 0.6 / 29 + (1 / 3) * 0.25 * 0.75 / 39)
    assert upper - lower == pytest.approx(2 * sqrt(variance), rel=0.05)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=3))
def test_turned_round_it_is_the_negative(sizes: list[tuple[int, int]]) -> None:
    first = np.array([[a, a, a // 2] for a, _ in sizes]).T
    second = np.array([[b, b, b // 3] for _, b in sizes]).T
    forth = stratified_difference(first, second, share=0.5, **OPTIONS_STRATIFIED_DIFFERENCES)
    back = stratified_difference(second, first, share=0.5, **OPTIONS_STRATIFIED_DIFFERENCES)
    assert forth[0] == pytest.approx(-back[0], nan_ok=True)


def test_equal_counts_do_not_cancel_in_the_bootstrap() -> None:
    side = np.array([[60], [30], [15]])
    _, lower, upper = stratified_difference(side, side, share=1.0, **OPTIONS_STRATIFIED_DIFFERENCES)
    assert lower < -0.1
    assert upper > 0.1


def test_nothing_at_all() -> None:
    assert compare(judged_as("", "")).height == 0


def test_candidates_without_a_stratum() -> None:
    with pytest.raises(ValueError, match="ranks 8 candidates, of which 7 are among the 7"):
        stratified_comparison(
            RANKS, judged_as("a", "a"), STRATA.head(7), pairs=[("m", "w")], at=[3],
            margin=0.0, **OPTIONS_STRATIFIED_DIFFERENCES,
        )  # fmt: skip


OPTIONS_STRATIFIED_ESTIMATES: dict[str, Any] = {
    "confidence": 0.95,
    "replicates": 400,
    "seed": "s",
    "method": "bootstrap",
}


@st.composite
def lists(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(0, 30))
        n = draw(st.integers(0, size))
        rows.append((size, n, draw(st.integers(0, n))))
    return rows


def slow_estimate(rows: list[tuple[int, int, int]]) -> tuple[float, float]:
    """The formulas of the specification, one stratum after the other."""
    total = sum(size for size, _, _ in rows)
    p = variance = 0.0
    for size, n, k in rows:
        if size == 0:
            continue
        if n == 0:
            return float("nan"), float("nan")
        weight, share, rate = size / total, n / size, k / n
        p += weight * rate
        if n == size:
            continue
        variance += weight**2 * (1 - share) * rate * (1 - rate) / (n - 1) if n > 1 else float("nan")
    return (p, variance) if total else (float("nan"), float("nan"))


def columns(rows: list[tuple[int, int, int]]) -> list[list[int]]:
    return [list(column) for column in zip(*rows, strict=True)]


def test_by_hand_stratified_estimates() -> None:
    # 1/4 of the list in a stratum with 2 of 4 draws true, 3/4 with 1 of 6
    p, variance = stratified_estimate([10, 30], [4, 6], [2, 1])
    assert float(p) == pytest.approx(0.25 * 0.5 + 0.75 / 6)
    first = 0.25**2 * 0.6 * 0.25 / 3
    assert float(variance) == pytest.approx(first + 0.75**2 * 0.8 * (5 / 36) / 5)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=6))
@example([(23, 9), (27, 1), (40, 30), (56, 0), (13, 13), (10, 2)])
def test_shares_of_strata_add_up_to_one(rows: list[tuple[int, int]]) -> None:
    """All known: the true positives by the members. One draw of each, all true: 1, and no more."""
    size, k = [max(1, *row) for row in rows], [min(row) for row in rows]
    one = [1] * len(size)
    p, variance = stratified_estimate([size, size], [size, one], [k, one])
    assert p.tolist() == [sum(k) / sum(size), 1.0]
    assert variance[0] == 0.0
    for method in ("korn_graubard", *REPLICATES):
        lower, upper = stratified_interval(
            [size], [size], [k], confidence=0.9, replicates=5, seed="s", method=method
        )
        assert lower == upper == p[0], method


@given(lists())
def test_agrees_with_the_formulas(rows: list[tuple[int, int, int]]) -> None:
    found = tuple(map(float, stratified_estimate(*columns(rows))))
    assert found == pytest.approx(slow_estimate(rows), rel=1e-12, abs=1e-15, nan_ok=True)


def test_estimate_and_variance_are_unbiased() -> None:
    # every stratified sample of 2 of 4 and 3 of 5, with 1 and 3 true positives
    strata = [[True, False, False, False], [True, True, True, False, False]]
    samples = product(combinations(strata[0], 2), combinations(strata[1], 3))
    counts = np.array([[sum(first), sum(second)] for first, second in samples])
    p, variance = stratified_estimate([[4, 5]] * len(counts), [[2, 3]] * len(counts), counts)
    assert p.mean() == pytest.approx(4 / 9)
    assert variance.mean() == pytest.approx(p.var())


def test_unsampled_strata_of_the_list_leave_it_unknown() -> None:
    p, variance = stratified_estimate(
        [[5, 5], [5, 0], [0, 0]], [[2, 0], [2, 0], [0, 0]], [[1, 0]] * 2 + [[0, 0]]
    )
    assert np.isnan(p).tolist() == np.isnan(variance).tolist() == [True, False, True]
    p, variance = stratified_estimate([5, 5], [1, 5], [1, 2])  # one draw has no variance
    assert float(p) == pytest.approx(0.7)
    assert np.isnan(variance)
    assert float(stratified_estimate([1, 5], [1, 5], [1, 2])[1]) == 0.0  # all known


def test_impossible_counts() -> None:
    for counts in (([5], [6], [1]), ([5], [2], [3]), ([5], [2], [-1])):
        with pytest.raises(ValueError, match="k <= n <= size"):
            stratified_estimate(*counts)


def test_bootstrap_has_the_variance_of_the_estimate() -> None:
    row = ([[40, 160, 100]], [[20, 40, 30]], [[12, 10, 3]])
    p, variance = (float(x[0]) for x in stratified_estimate(*row))
    lower, upper = stratified_interval(
        *row, confidence=0.6827, replicates=20_000, seed="s", method="bootstrap"
    )
    assert lower[0] == pytest.approx(p - sqrt(variance), abs=0.05 * sqrt(variance) + 0.005)
    assert upper[0] == pytest.approx(p + sqrt(variance), abs=0.05 * sqrt(variance) + 0.005)


def test_limits_belong_to_their_row() -> None:
    rows = ([[10, 30], [8, 8], [9, 0]], [[5, 10], [8, 8], [4, 0]], [[4, 2], [3, 3], [2, 0]])
    together = stratified_interval(*rows, **OPTIONS_STRATIFIED_ESTIMATES)
    for i in range(3):
        alone = stratified_interval(*([side[i]] for side in rows), **OPTIONS_STRATIFIED_ESTIMATES)
        assert [x[0] for x in alone] == [x[i] for x in together]
    assert together[0][1] == together[1][1] == 6 / 16  # all known
    other = stratified_interval(*rows, **OPTIONS_STRATIFIED_ESTIMATES | {"seed": "t"})
    assert other[0][0] != together[0][0]


def test_unknown_and_no_rows() -> None:
    lower, upper = stratified_interval([[5, 5]], [[2, 0]], [[1, 0]], **OPTIONS_STRATIFIED_ESTIMATES)
    assert np.isnan(lower).all()
    assert np.isnan(upper).all()
    empty = np.zeros((0, 2), dtype=np.int64)
    assert stratified_interval(empty, empty, empty, **OPTIONS_STRATIFIED_ESTIMATES)[0].shape == (0,)
    with pytest.raises(ValueError, match="out of range"):
        stratified_interval(empty, empty, empty, confidence=1, replicates=9, seed="s")


def table(
    ranks: pl.DataFrame, judged: pl.DataFrame, strata: pl.DataFrame, at: list[int]
) -> pl.DataFrame:
    found = stratified_precision(ranks, judged, strata, at=at, **OPTIONS_STRATIFIED_ESTIMATES)
    return valid(found, StratifiedPrecision)


def test_lists_of_every_measure() -> None:
    ranks = ranks_of({"x": [4.0, 3.0, 2.0, 1.0], "y": [1.0, 2.0, 3.0, 4.0]})
    judged = judged_of({"TP": [(True, 1), (False, 1), None, (True, 1)], "no": [(None, 1)] * 4})
    strata = pl.DataFrame({"id": [name(i) for i in range(4)], "stratum": ["a", "b", "b", "b"]})
    found = table(ranks, judged, strata, [3, 4, 9])
    assert found.select("category", "measure", "n", "precision", "n_sampled", "k_sampled").rows() == [
        ("TP", "x", 3, 1 / 3, 2, 1), ("TP", "x", 4, 0.25 + 0.75 / 2, 3, 2),
        ("TP", "y", 3, 0.5, 2, 1), ("TP", "y", 4, 0.25 + 0.75 / 2, 3, 2),
        ("no", "x", 3, None, 0, 0), ("no", "x", 4, None, 0, 0),
        ("no", "y", 3, None, 0, 0), ("no", "y", 4, None, 0, 0),
    ]  # fmt: skip
    assert found["strata"].to_list() == [2, 2, 1, 2] * 2
    assert found["strata_unsampled"].to_list() == [0, 0, 0, 0, 2, 2, 1, 2]
    shuffled = table(
        ranks.sample(fraction=1, shuffle=True, seed=1), judged.reverse(), strata.reverse(), [4, 3]
    )
    assert shuffled.equals(found)


def test_candidates_without_a_stratum_are_refused() -> None:
    ranks = ranks_of({"x": [4.0, 3.0]})
    strata = pl.DataFrame({"id": [name(0)], "stratum": ["a"]})
    with pytest.raises(ValueError, match="no stratum for 1 candidate, for example c00001"):
        table(ranks, judged_of({"TP": [(True, 1)]}), strata, [1])


def test_nothing() -> None:
    ranks = ranks_of({"x": [4.0, 3.0]})
    strata = strata_by_rank(ranks, measures=["x"], boundaries=[1]).sort("id").collect()
    assert table(ranks, judged_of({}), strata, [1]).is_empty()


def test_krenn_estimate_is_near_the_truth_and_narrower() -> None:
    ranks, judged = krenn()
    divided = strata_by_rank(ranks, measures=["t_score"], boundaries=[100, 500, 2000])
    strata = divided.sort("id").collect()
    names = strata["stratum"].unique().sort().to_list()
    sample = stratified_sample(
        strata, sizes=dict(zip(names, [60, 100, 150, 150], strict=True)), seed="s"
    )
    draws = judged.join(sample.select("id"), on="id", how="semi")
    found = table(
        ranks.filter(pl.col("measure") == "t_score"), draws, strata, [100, 500, 2000, 5102]
    )
    truth = [0.38, 0.302, 0.2195, 566 / 5102]
    held = [a <= t <= b for a, t, b in zip(found["lower"], truth, found["upper"], strict=True)]
    assert sum(held) >= 3
    assert (found["upper"] - found["lower"])[0] < 0.17


# Intervals from predictions of what was not drawn, beside those of the bootstrap.

OPTIONS_STRATIFIED_PREDICTION: dict[str, Any] = {
    "confidence": 0.95,
    "seed": "s",
    "method": "predictive",
}


@pytest.mark.parametrize(("size", "n", "k"), [(60, 20, 7), (60, 4, 0), (9, 1, 1)])
def test_one_stratum_is_a_beta_binomial(size: int, n: int, k: int) -> None:
    row = np.array([[size], [n], [k]])
    values = predicted_estimates(row, replicates=20_000, seed="s", purpose="p")
    others = betabinom(size - n, k + 0.5, n - k + 0.5)
    assert values.mean() == pytest.approx((k + others.mean()) / size, abs=0.01)
    assert values.std() == pytest.approx(others.std() / size, rel=0.05)
    assert set(np.round(values * size - k, 6)) <= set(range(size - n + 1))


def test_strata_are_weighted() -> None:
    # all of 10 known and true, 20 of 30 drawn and 10 true: 20 to 30 of 40
    row = np.array([[10, 30, 0], [10, 20, 0], [10, 10, 0]])
    values = predicted_estimates(row, replicates=5_000, seed="s", purpose="p")
    assert 0.5 <= values.min() < values.max() <= 0.75
    assert values.mean() == pytest.approx(25 / 40, abs=0.005)


def test_draws_that_are_all_alike_leave_a_doubt() -> None:
    row = ([[100]], [[5]], [[0]])
    lower, upper = stratified_interval(*row, replicates=2000, **OPTIONS_STRATIFIED_PREDICTION)
    assert lower[0] == 0.0
    assert 0.2 < upper[0] < 0.5
    side = np.array([[100], [5], [0]])
    other = np.array([[100], [5], [1]])
    found = stratified_difference(
        other, side, share=0.5, replicates=2000, **OPTIONS_STRATIFIED_PREDICTION
    )
    assert found[1] < 0 < found[0] < found[2]


def test_one_draw_is_enough_and_none_is_not() -> None:
    lower, upper = stratified_interval(
        [[9], [9]], [[1], [0]], [[1], [0]], replicates=99, **OPTIONS_STRATIFIED_PREDICTION
    )
    assert lower[0] < 0.5
    assert upper[0] == 1.0
    assert np.isnan([lower[1], upper[1]]).all()


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1, max_size=3))
def test_the_estimate_lies_within(parts: list[tuple[int, int, int]]) -> None:
    size = [a + b + c for a, b, c in parts]
    n, k = [b + c for _, b, c in parts], [c for _, _, c in parts]
    lower, upper = stratified_interval(
        [size], [n], [k], replicates=50, **OPTIONS_STRATIFIED_PREDICTION
    )
    if any(s and not d for s, d in zip(size, n, strict=True)) or not sum(size):
        assert np.isnan(lower[0])
        return
    p = sum(s * x / d for s, d, x in zip(size, n, k, strict=True) if s) / sum(size)
    assert lower[0] - 1e-12 <= p <= upper[0] + 1e-12
    if size == n:
        assert upper[0] - lower[0] < 1e-12


def test_coverage_in_a_thin_stratum() -> None:
    """4 to 8 draws of 100 members of each difference set: the bootstrap is far too short."""
    bits = np.random.default_rng(1)
    sets = [np.array([80, 20]), np.array([80, 20])]
    true = [np.array([8, 10]), np.array([12, 6])]
    truth = 0.5 * (18 - 18) / 100
    held = {"bootstrap": 0, "predictive": 0}
    for seed in range(200):
        rows = [
            np.array([size, draws, bits.hypergeometric(t, size - t, draws)])
            for size, t in zip(sets, true, strict=True)
            for draws in [np.array([5, 10])]
        ]
        for method in held:
            _, lower, upper = stratified_difference(
                rows[0], rows[1], share=0.5, confidence=0.95, replicates=200, seed=str(seed),
                method=method,
            )  # fmt: skip
            held[method] += lower <= truth <= upper
    assert held["bootstrap"] < 180  # of 200
    assert held["predictive"] >= 186


def test_unknown_method() -> None:
    with pytest.raises(
        ValueError, match="unknown method 'jackknife'; valid: korn_graubard, bootstrap, predictive"
    ):
        stratified_interval(
            [[9]],
            [[3]],
            [[1]],
            **OPTIONS_STRATIFIED_PREDICTION | {"method": "jackknife"},
            replicates=9,
        )
