"""Planning from a notebook: the power of the comparison of two lists."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline as lx
from pipeline.errors import ConfigError
from pipeline.kernels.nbest.sample_size import Design, comparison_power

HOW: dict[str, Any] = {"candidates": 200, "n": [60], "precisions": (0.6, 0.4), "overlap": 0.5}


def test_power_is_that_of_the_difference_sets() -> None:
    row = lx.plan_comparison(**HOW, rates=[0.3]).row(0, named=True)
    power = comparison_power(
        Design(n=60, apart=30, candidates=200), size=60, precision_1=0.7, precision_2=0.3
    )
    assert (row["apart"], row["only_1"], row["only_2"], row["size"]) == (30, 0.7, 0.3, 60)
    assert (row["power_1"], row["power_2"], row["untested"]) == power[:3]
    assert row["difference"] == pytest.approx(0.2)


def test_shared_candidates_take_part_of_the_true_positives() -> None:
    # 36 and 24 of 60; the shared 30 hold 6 of them: 30 and 18 of 30 are left
    row = lx.plan_comparison(**HOW, shared=0.2, rates=[0.3]).row(0, named=True)
    assert (row["only_1"], row["only_2"]) == (1.0, 0.6)


@given(
    st.floats(0.4, 0.6), st.floats(0.4, 0.6), st.floats(0, 0.4), st.one_of(st.none(), st.just(0.5))
)
def test_the_difference_of_the_lists_is_kept(
    first: float, second: float, overlap: float, shared: float | None
) -> None:
    row = lx.plan_comparison(
        candidates=4000, n=[1000], precisions=(first, second), overlap=overlap, shared=shared,
        rates=[0.001],
    ).row(0, named=True)  # fmt: skip
    # `apart` is a whole number, so that the overlap is rounded to one in a thousand
    assert row["difference"] == pytest.approx(first - second, abs=0.002)
    centre = (first + second) / 2 if shared is None else shared
    assert overlap * centre + (1 - overlap) * row["only_1"] == pytest.approx(first)


@pytest.mark.long
def test_rate_for_a_power_is_the_smallest() -> None:
    found = lx.plan_comparison(**HOW, powers=[0.7]).row(0, named=True)
    rates = [(found["size"] - 1) / 200, found["rate"]]
    power = lx.plan_comparison(**HOW, rates=rates)["power_1"].to_list()
    assert power[0] < 0.7 <= power[1] == found["power_1"]
    never = lx.plan_comparison(
        candidates=200, n=[60], precisions=(0.6, 0.55), overlap=0.5, powers=[0.7]
    )
    assert never["rate"].item() is None


def test_options_of_the_test_count() -> None:
    def power(**how: Any) -> float:
        return float(lx.plan_comparison(**HOW, rates=[0.3], **how)["power_1"].item())

    plain = power()
    assert power(alpha=0.2) > plain
    assert power(margin=0.25) < plain
    assert power(alternative="greater") > plain
    assert power(alternative="less") == 0
    assert power(test="boschloo") > plain


@pytest.mark.parametrize(("change", "said"), [
    ({"overlap": 350}, "350 of 500 is 0.7"), ({"overlap": 1.0}, "1 is no share"),
    ({"n": [150]}, "need 225 candidates"), ({"shared": 1.5}, "shared: 1.5 is not in 0 to 1"),
    ({"shared": 0.0, "overlap": 0.9, "n": [20]}, "would have a precision of 6"),
    ({"n": [1], "overlap": 0.6}, "the lists of 1 are the same"),
    ({"powers": [80]}, "80 % is 0.8"), ({"alpha": 5}, "alpha: 5 is not between"),
    ({"test": "fischer"}, "did you mean fisher"), ({"alternative": "grater"}, "mean greater"),
    ({"replicates": 0}, "0 replicates"), ({"margin": 2}, "margin: 2"),
    ({"precisions": (38, 30)}, "compare: 38 is not in 0 to 1; 38 % is 0.38"),
])  # fmt: skip
def test_mistakes(change: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        lx.plan_comparison(**{**HOW, **change})
