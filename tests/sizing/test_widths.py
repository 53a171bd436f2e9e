"""Planning from a notebook: what is expected of intervals, and which rate a width needs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import ConfigError
from pipeline.kernels.nbest.sample_size import expected_width
from pipeline.kernels.statistics.intervals import INTERVALS


def test_by_hand() -> None:
    # 1 of 2 in a list of 2 from 4, two draws: n^ = 0, 1, 2 with 1/6, 4/6, 1/6
    row = lx.plan_width(candidates=4, n=[2], precisions=[0.5], rates=[0.5]).row(0, named=True)
    assert (row["size"], row["rate"], row["wanted"]) == (2, 0.5, None)
    assert row["n_sampled"] == pytest.approx(1)
    assert row["empty"] == pytest.approx(1 / 6)
    assert row["coverage"] == pytest.approx(1)
    # Clopper-Pearson at 0 of 1 ends at 0.975, at 1 of 2 it is [0.0126, 0.9874]
    limit = 1 - (1 - 0.025) ** 0.5  # P(X >= 1 | 2 draws) = 0.025
    width = 1 / 6 + 4 / 6 * 0.975 + 1 / 6 * (1 - 2 * limit)
    assert row["width"] == pytest.approx(width)


@pytest.mark.parametrize("interval", sorted(INTERVALS))
def test_every_method_and_the_order_of_rows(interval: str) -> None:
    table = lx.plan_width(
        candidates=300, n=[30, 60], precisions=[0.2, 0.5], rates=[0.1, 0.3], interval=interval,
        confidence=0.9,
    )  # fmt: skip
    assert table.select("rate", "n", "precision").rows() == [
        (r, n, p) for r in (0.1, 0.3) for n in (30, 60) for p in (0.2, 0.5)
    ]
    expected = expected_width(
        n=60, candidates=300, size=90, precision=0.2, method=interval, confidence=0.9
    )
    found = table.filter(rate=0.3, n=60, precision=0.2).select(list(expected)).row(0, named=True)
    assert found == expected


def test_rate_for_a_width_is_the_smallest() -> None:
    how: dict[str, Any] = {"candidates": 400, "n": [100], "precisions": [0.3]}
    found = lx.plan_width(**how, widths=[0.25]).row(0, named=True)
    assert (found["wanted"], found["rate"]) == (0.25, found["size"] / 400)
    less = lx.plan_width(**how, rates=[(found["size"] - 1) / 400])
    assert found["width"] <= 0.25 < less["width"].item()
    again = lx.plan_width(**how, rates=[found["rate"]])
    assert again.drop("wanted").equals(pl.DataFrame([found], schema=again.schema).drop("wanted"))


def test_unreachable_width_is_a_row_of_nulls() -> None:
    table = lx.plan_width(candidates=400, n=[100, 400], precisions=[0.3], widths=[0.12])
    assert table["rate"].is_null().to_list() == [True, False]
    row = table.row(0, named=True)
    assert {name for name, value in row.items() if value is not None} == {
        "wanted",
        "n",
        "precision",
    }
    finite = lx.plan_width(
        candidates=400, n=[100], precisions=[0.3], widths=[0.12], interval="hypergeometric"
    )
    assert finite["rate"].item() < 1


def test_replacement() -> None:
    how: dict[str, Any] = {"candidates": 100, "n": [50], "precisions": [0.3], "rates": [0.5]}
    without, again = (lx.plan_width(**how, replacement=again) for again in (False, True))
    assert without["n_sampled"].item() == pytest.approx(again["n_sampled"].item())
    assert without["width"].item() != again["width"].item()


def test_progress_sees_every_piece() -> None:
    seen: list[object] = []

    def track(items: Any) -> Any:
        for item in items:
            seen.append(item)
            yield item

    table = lx.plan_width(candidates=50, n=[5, 9], precisions=[0.3], track=track)
    assert len(seen) == table.height == 8


def test_all_mistakes_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        lx.plan_width(
            candidates=100, n=[0, 101], precisions=[30.0], rates=[0.0, 15, 200],
            interval="wilsn", confidence=95,
        )  # fmt: skip
    lines = str(error.value).splitlines()
    assert lines[0] == "size: 8 mistakes"
    for said in (
        "n: no list of 101 among 100 candidates; give 1 to 100",
        "rate: 0 is no sampling rate above 0 and up to 1; give a proportion",
        "rate: 15 is no sampling rate above 0 and up to 1; 15 % is 0.15",
        "precision: 30 is not in 0 to 1; 30 % is 0.3",
        "interval: unknown interval 'wilsn'; did you mean wilson?",
        "confidence: 95 is not between 0 and 1; 95 % is 0.95",
    ):
        assert f"  - {said}" in lines


@pytest.mark.parametrize(("change", "said"), [
    ({"candidates": 0}, "candidates: 0 candidates"), ({"n": []}, "no list size"),
    ({"precisions": []}, "precision: none is given"), ({"rates": []}, "no sampling rate"),
    ({"widths": [1.0]}, "width: 1 is not between"), ({"precisions": [-0.1]}, "-0.1 is not in"),
    ({"interval": "hypergeometric", "replacement": True}, "take clopper_pearson"),
])  # fmt: skip
def test_mistakes(change: dict[str, object], said: str) -> None:
    given: dict[str, Any] = {
        "candidates": 100,
        "n": [10],
        "precisions": [0.5],
        "rates": [0.1],
        **change,
    }
    with pytest.raises(ConfigError, match=said):
        lx.plan_width(**given)
