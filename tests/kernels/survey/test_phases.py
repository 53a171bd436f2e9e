"""Several phases of a sample: combined estimates, against sums by hand and all possible samples."""

import itertools

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.survey.ratio_estimator import CertainCounts, draw_moments, hajek
from pipeline.kernels.survey.study import combine_phases, phased_study
from pipeline.kernels.survey.tables import list_estimates, pair_estimates, window_estimates

TRUE = [True, False, True, True, False, True, False, False]
IDS = [f"c{place}" for place in range(8)]
RANKS = pl.concat(
    pl.DataFrame({"measure": name, "id": IDS, "rank": order})
    for name, order in (("a", [1, 2, 3, 4, 5, 6, 7, 8]), ("b", [8, 7, 6, 5, 4, 3, 2, 1]))
)


def phases_table(
    first: list[int], second: list[int], *, pi: list[float], expected: float = 0.5
) -> pl.DataFrame:
    """Return the phases of a simple first sample and a second one with the chances `pi`."""
    later = [1.0 if place in first else pi[place] for place in range(8)]
    is_drawn = [place in first for place in range(8)] + [place in second for place in range(8)]
    return pl.DataFrame({
        "phase": [1] * 8 + [2] * 8, "id": IDS * 2, "pi": [len(first) / 8] * 8 + later,
        "stratum": "all", "drawn": is_drawn, "expected": expected,
    })  # fmt: skip


def draws_of(*places: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"id": [IDS[each] for each in places], "tp": [TRUE[each] for each in places]}
    )


def estimate(first: list[int], second: list[int], pi: list[float], n: int) -> float:
    phases = phases_table(first, second, pi=pi)
    study = phased_study(RANKS, draws_of(*first, *second), phases=phases)
    return float(list_estimates(study, at=[n]).filter(measure="a")["estimate"][0])


def by_hand(first: list[int], second: list[int], pi: list[float], n: int) -> float:
    """Estimate the list of the n first by its definition, candidate by candidate."""
    rest = [place for place in range(n) if place not in first]
    if set(rest) <= set(second):
        return float(np.mean(TRUE[:n]))
    one = [TRUE[place] for place in first if place < n]
    two = [(TRUE[place], 1 / pi[place]) for place in second if place < n]
    certain = sum(one)
    estimates = [sum(one) / len(one) if one else np.nan]
    spreads = [n * (8 / len(first) - 1) / 4]
    weight = sum(w for _, w in two)
    estimates.append(
        (certain + len(rest) * sum(y * w for y, w in two) / weight) / n if two else np.nan
    )
    spreads.append(sum(1 / pi[place] - 1 for place in rest) / 4)
    draws = [len(one), len(two)]
    enough = [count >= 2 for count in draws] if max(draws) >= 2 else [count == 1 for count in draws]
    if not any(enough):
        return np.nan
    if max(draws) < 2:  # the last phase with a draw
        return estimates[1] if draws[1] else estimates[0]
    weights = [1 / spread if fine else 0.0 for spread, fine in zip(spreads, enough, strict=True)]
    terms = [w * e for w, e in zip(weights, estimates, strict=True) if w]
    return sum(terms) / sum(weights)


@pytest.mark.parametrize("n", [4, 6, 8])
def test_estimates_agree_with_the_definition(n: int) -> None:
    pi = [0.8, 0.5, 0.5, 0.4, 0.3, 0.5, 0.2, 0.4]
    for first in itertools.combinations(range(8), 3):
        rest = [place for place in range(8) if place not in first]
        for second in itertools.islice(itertools.combinations(rest, 2), 4):
            result = estimate(list(first), list(second), pi, n)
            expected = by_hand(list(first), list(second), pi, n)
            assert result == pytest.approx(expected, abs=1e-12, nan_ok=True), (first, second)


def test_estimates_are_unbiased_over_all_samples() -> None:
    # all pairs of simple samples: 3 of 8, then 3 of the 5 others, so that every weight is fixed
    estimates = [
        estimate(list(first), list(second), [0.6] * 8, 8)
        for first in itertools.combinations(range(8), 3)
        for second in itertools.combinations([each for each in range(8) if each not in first], 3)
    ]
    assert np.mean(estimates) == pytest.approx(np.mean(TRUE), abs=1e-12)


def test_tables_count_all_phases() -> None:
    study = phased_study(
        RANKS, draws_of(0, 1, 4, 2, 6), phases=phases_table([0, 1, 4], [2, 6], pi=[0.4] * 8)
    )
    row = list_estimates(study, at=[8]).filter(measure="a").row(0, named=True)
    assert (row["n_sampled"], row["k_sampled"], row["draws"]) == (5, 2, 5)
    assert (row["certain"], row["unjudged"]) == (0, 0)
    assert row["lower"] < row["estimate"] < row["upper"]
    pair = pair_estimates(study, pairs=[("a", "b")], at=[4]).row(0, named=True)
    assert (pair["n_sampled_1"], pair["size"]) == (3, 4)
    assert pair["difference"] == pytest.approx(pair["estimate_1"] - pair["estimate_2"])
    windows = window_estimates(study, window=8)
    assert windows["estimate"].to_list() == [row["estimate"]] * 2


def test_unjudged_draws_are_estimated_by_the_others() -> None:
    draws = draws_of(0, 1, 4, 2, 6).with_columns(
        tp=pl.when(pl.col("id") == "c4").then(None).otherwise("tp")
    )
    study = phased_study(RANKS, draws, phases=phases_table([0, 1, 4], [2, 6], pi=[0.4] * 8))
    row = list_estimates(study, at=[8]).filter(measure="a").row(0, named=True)
    assert (row["n_sampled"], row["unjudged"]) == (4, 1)
    assert row["estimate"] is not None


def test_candidates_of_a_single_phase_depend_on_that_phase() -> None:
    pi = [0.0 if place < 4 else 0.5 for place in range(8)]
    study = phased_study(
        RANKS, draws_of(0, 1, 4, 5, 6), phases=phases_table([0, 1, 4], [5, 6], pi=pi)
    )
    row = list_estimates(study, at=[4]).filter(measure="a").row(0, named=True)
    assert row["estimate"] == 0.5
    with pytest.raises(ValueError, match="1 draw in no phase, for example c7"):
        phased_study(RANKS, draws_of(0, 7), phases=phases_table([0, 1, 4], [5, 6], pi=pi))


def test_fully_judged_lists_are_exact() -> None:
    study = phased_study(
        RANKS, draws_of(*range(8)), phases=phases_table([0, 1, 4], [2, 3, 5, 6, 7], pi=[1.0] * 8)
    )
    row = list_estimates(study, at=[4]).filter(measure="a").row(0, named=True)
    assert (row["lower"], row["estimate"], row["upper"]) == (0.75, 0.75, 0.75)


def test_a_single_phase_gives_its_own_estimates() -> None:
    sums = draw_moments([1, 1, 0, 1], 0.2).sum(axis=1)[:, None, None]
    one = hajek(sums, np.array([20.0]), certain=CertainCounts(*np.zeros(3)))
    both = combine_phases([one, one._replace(estimate=np.array(np.nan))], np.array([80.0, 1.0]))
    for name in ("estimate", "variance", "p", "p_variance", "share", "most", "alike", "gain"):
        assert float(getattr(both, name)) == pytest.approx(float(getattr(one, name)))
