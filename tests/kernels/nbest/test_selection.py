"""The choice of a measure and a list size, and limits that allow for it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.precision import (
    choose,
    eligible_lists,
    guaranteed_lists,
    simultaneous_limits,
)

LISTS = pl.DataFrame(
    {
        "measure": ["dice", "dice", "mi", "mi", "t", "t"],
        "n": [100, 200] * 3,
        "precision": [0.5, 0.3, 0.4, 0.35, 0.5, 0.3],
        "recall": [0.5, 0.6, 0.4, 0.7, None, 0.7],
    }
)


def test_the_most_precise_list_of_a_size_is_chosen() -> None:
    assert choose(LISTS, size=100)["measure"].item() == "dice"
    assert choose(LISTS, size=200)["measure"].item() == "mi"


def test_the_longest_precise_enough_list_is_chosen() -> None:
    assert choose(LISTS, min_precision=0.5).select("measure", "n").row(0) == ("dice", 100)
    assert choose(LISTS, min_precision=0.3).select("measure", "n").row(0) == ("mi", 200)


def test_the_shortest_list_with_enough_recall_is_chosen() -> None:
    assert choose(LISTS, min_recall=0.45).select("measure", "n").row(0) == ("dice", 100)
    assert choose(LISTS, min_recall=0.65).select("measure", "n").row(0) == ("mi", 200)


def test_no_list_may_satisfy_the_criterion() -> None:
    assert choose(LISTS, min_precision=0.6).height == 0
    assert choose(LISTS, size=300).height == 0
    assert choose(LISTS.clear(), size=100).height == 0


@pytest.mark.parametrize("criteria", [{}, {"size": 1, "min_recall": 0.5}])
def test_exactly_one_criterion_is_required(criteria: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="exactly one of size, min_precision, min_recall"):
        choose(LISTS, **criteria)


def test_lists_without_an_estimate_are_not_chosen() -> None:
    some = LISTS.with_columns(precision=pl.when(pl.col("n") < 200).then("precision"))
    assert eligible_lists(some, sizes=[100, 200, 300]).height == 3


@given(st.permutations(list(range(6))))
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    mixed = LISTS[order]
    for one in ({"size": 100}, {"min_precision": 0.3}, {"min_recall": 0.6}):
        assert choose(mixed, **one).equals(choose(LISTS, **one))


def test_limits_that_allow_for_the_choice_keep_their_level() -> None:
    """The best of 20 equally good lists is chosen: how often does its interval contain the true value?"""
    rng, truth, covered = np.random.default_rng(1), 0.3, np.zeros(2)
    for _ in range(300):
        k = rng.binomial(40, truth, size=20)
        lists = pl.DataFrame(
            {
                "measure": [f"m{i:02}" for i in range(20)],
                "n": 400,
                "n_sampled": 40,
                "k_sampled": k,
                "precision": k / 40,
                "recall": 0.5,
            }
        )
        best = choose(lists, size=400)
        both = simultaneous_limits(best, tests=20, method="clopper_pearson", confidence=0.95)
        alone = simultaneous_limits(best, tests=1, method="clopper_pearson", confidence=0.95)
        covered += [
            row["lower_simultaneous"].item() <= truth <= row["upper_simultaneous"].item()
            for row in (both, alone)
        ]
    assert covered[0] >= 0.95 * 300
    assert covered[1] < 0.9 * 300


# Lists with guaranteed precision: the sequence, its level, and its coverage.

HOW: dict[str, Any] = {"method": "clopper_pearson", "confidence": 0.95}


def lists(*rows: tuple[str, int, int, int], category: str = "TP") -> pl.DataFrame:
    """Return lists of (measure, n, judged draws, true positives)."""
    names = ["measure", "n", "n_sampled", "k_sampled"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.with_columns(category=pl.lit(category), precision=pl.lit(0.5))


def slow_guarantee(
    frame: pl.DataFrame, sizes: Sequence[int], min_precision: float
) -> set[tuple[str, int]]:
    """Return the lists that pass, one at a time, by the binomial test itself."""
    passed = set()
    measures = frame["measure"].unique().to_list()
    alpha = 0.05 / max(1, len(measures))
    for measure in measures:
        for n in dict.fromkeys(sizes):
            for m, k in frame.filter(measure=measure, n=n).select("n_sampled", "k_sampled").rows():
                if min_precision**m > alpha:
                    continue
                if scipy.stats.binom.sf(k - 1, m, min_precision) > alpha:
                    break
                passed.add((measure, n))
            else:
                continue
            break
    return passed


def test_lists_are_tested_in_the_declared_order() -> None:
    frame = lists(("mi", 100, 20, 2), ("mi", 500, 100, 90))
    forth = guaranteed_lists(frame, sizes=[100, 500], min_precision=0.5, **HOW)
    assert forth.select("n", "place", "tested", "passed").rows() == [
        (100, 1, True, False), (500, 2, False, False),
    ]  # fmt: skip
    back = guaranteed_lists(frame, sizes=[500, 100], min_precision=0.5, **HOW)
    assert back.select("n", "tested", "passed").rows() == [(500, True, True), (100, True, False)]


def test_each_measure_has_its_own_sequence_and_share_of_alpha() -> None:
    frame = lists(("a", 100, 40, 5), ("a", 200, 80, 79), ("b", 100, 40, 39), ("b", 200, 80, 79))
    result = guaranteed_lists(frame, sizes=[100, 200], min_precision=0.5, **HOW)
    assert result.filter("passed").select("measure", "n").rows() == [("b", 100), ("b", 200)]
    assert result["level"].to_list() == pytest.approx([0.025] * 4)
    limit = scipy.special.betaincinv(79, 2, 0.025)
    assert result.filter(measure="b", n=200)["lower_one_sided"].item() == pytest.approx(limit)


def test_lists_that_cannot_pass_are_skipped() -> None:
    """Of 3 draws not even 3 true positives show a precision of 0.4 at 5 %: 0.05^(1/3) = .368."""
    for k in (0, 3):
        frame = lists(("mi", 10, 3, k), ("mi", 100, 30, 28))
        result = guaranteed_lists(frame, sizes=[10, 100], min_precision=0.4, **HOW)
        assert result.select("testable", "tested", "passed").rows() == [
            (False, False, False), (True, True, True),
        ]  # fmt: skip


def test_fully_judged_lists_pass_by_their_precision() -> None:
    frame = lists(("mi", 10, 10, 3), ("mi", 20, 20, 5))
    how = HOW | {"method": "hypergeometric"}
    result = guaranteed_lists(frame, sizes=[10, 20], min_precision=0.3, **how)
    assert result.select("lower_one_sided", "passed").rows() == [(0.3, True), (0.25, False)]


def test_tables_without_lists_have_no_guarantees() -> None:
    assert guaranteed_lists(lists().cast({"n": pl.Int64, "n_sampled": pl.Int64, "k_sampled": pl.Int64}),
                      sizes=[10], min_precision=0.5, **HOW).is_empty()  # fmt: skip
    assert guaranteed_lists(
        lists(("mi", 10, 5, 5)), sizes=[20], min_precision=0.5, **HOW
    ).is_empty()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"method": "wilson"}, "'wilson' cannot guarantee precision: use clopper_pearson or hyper"),
        ({"method": "hypergeometric_shortest"}, "cannot guarantee"),
        ({"confidence": 0.5}, "confidence in .0.5, 1., not 0.5"),
        ({"confidence": 1.0}, "confidence in"),
    ],
)
def test_settings_without_a_guarantee_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        guaranteed_lists(lists(("mi", 10, 5, 5)), sizes=[10], min_precision=0.5, **(HOW | changed))


counts = st.integers(1, 60).flatmap(lambda m: st.tuples(st.just(m), st.integers(0, m)))


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abc"), st.sampled_from([10, 20, 30])), counts, min_size=1
    ),
    st.permutations([10, 20, 30]),
    st.sampled_from([0.1, 0.3, 0.6]),
)
def test_guaranteed_lists_agree_with_a_slow_twin(
    draws: dict[tuple[str, int], tuple[int, int]], sizes: list[int], min_precision: float
) -> None:
    frame = lists(*((measure, n, m, k) for (measure, n), (m, k) in draws.items()))
    table = guaranteed_lists(frame, sizes=sizes, min_precision=min_precision, **HOW).filter(
        "passed"
    )
    assert set(table.select("measure", "n").rows()) == slow_guarantee(frame, sizes, min_precision)


def nested_samples(
    rates: Sequence[float], sizes: Sequence[int], *, measures: int, runs: int, rate: float
) -> tuple[pl.DataFrame, dict[int, float]]:
    """Return simple samples from lists, each inside the next, and the precision of each list.

    A run is a category; `rates` are those of true positives in what each list adds.
    """
    random = np.random.default_rng(len(rates) * measures + runs)
    parts = np.diff([0, *sizes])
    true = [round(share * part) for share, part in zip(rates, parts, strict=True)]
    draws = random.binomial(parts, rate, (runs, measures, len(sizes)))
    hits = random.hypergeometric(true, parts - np.array(true), draws)
    m, k = draws.cumsum(axis=2), hits.cumsum(axis=2)
    run, measure, size = np.indices(m.shape).reshape(3, -1)
    frame = pl.DataFrame({
        "category": run, "measure": measure, "n": np.array(sizes)[size], "n_sampled": m.ravel(),
        "k_sampled": k.ravel(),
    }).filter(pl.col("n_sampled") > 0)  # fmt: skip
    precise = np.cumsum(true) / np.array(sizes)
    return frame, dict(zip(sizes, precise.tolist(), strict=True))


SHAPES = {
    "never": [0.29] * 5,
    "falls": [0.5, 0.35, 0.25, 0.15, 0.1],
    "just under": [0.9, 0.28, 0.148, 0.148, 0.148],
    "rises": [0.1, 0.2, 0.3, 0.45, 0.45],
}


@pytest.mark.parametrize(
    ("shape", "measures", "method"),
    list(itertools.product(SHAPES, (1, 4), ("clopper_pearson", "hypergeometric"))),
)
def test_the_guarantee_keeps_its_level(shape: str, measures: int, method: str) -> None:
    """If each list is tested in turn, one below 30 % passes in at most 5 % of samples."""
    sizes, runs = [50, 100, 200, 300, 400], 1000
    frame, precise = nested_samples(SHAPES[shape], sizes, measures=measures, runs=runs, rate=0.3)
    result = guaranteed_lists(frame, sizes=sizes, min_precision=0.3, method=method, confidence=0.95)
    bad = [n for n, precision in precise.items() if precision < 0.3]
    assert bad, "a cell without a list that is too bad shows nothing"
    wrong = result.filter("passed", pl.col("n").is_in(bad))["category"].n_unique()
    assert wrong / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_an_estimate_guarantees_nothing() -> None:
    """Of lists just below 30 %, the longest one estimated at 30 % is usually less precise."""
    sizes, runs = [50, 100, 200, 300, 400], 200
    frame, _ = nested_samples(SHAPES["never"], sizes, measures=4, runs=runs, rate=0.3)
    enough = frame.filter(pl.col("k_sampled") >= 0.3 * pl.col("n_sampled"))
    assert enough["category"].n_unique() / runs > 0.5
