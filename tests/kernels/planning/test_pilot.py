"""What a pilot says: precisions of sets by hand, correlations against NumPy, pilots too small."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.survey.allocation import question_sets
from pipeline.kernels.survey.planning import explained, set_precisions
from pipeline.kernels.survey.study import study

COUNT = 120
IDS = pl.Series([f"c{i:03}" for i in range(COUNT)])
VECTORS = {"x": np.arange(1, COUNT + 1), "y": np.arange(COUNT, 0, -1)}
PAIRS = [("x", "y")]
SETS = question_sets(IDS, VECTORS, pairs=PAIRS, n=np.array([20, 80]))
Y = np.random.default_rng(3).random(COUNT) < 0.4
MEMBERS = [
    VECTORS["x"] <= 20, VECTORS["x"] <= 80, VECTORS["y"] <= 20, VECTORS["y"] <= 80,
    VECTORS["x"] <= 20, (VECTORS["x"] <= 80) & (VECTORS["y"] > 80),
    VECTORS["y"] <= 20, (VECTORS["y"] <= 80) & (VECTORS["x"] > 80), np.ones(COUNT, dtype=bool),
]  # fmt: skip


def ranks() -> pl.DataFrame:
    rows = [(m, name, int(r)) for m, v in VECTORS.items() for name, r in zip(IDS, v, strict=True)]
    return pl.DataFrame(rows, schema=["measure", "id", "rank"], orient="row")


def precisions(places: np.ndarray, pi: float) -> np.ndarray:
    draws = pl.DataFrame({"id": IDS.gather(places), "tp": Y[places], "pi": pi})
    return set_precisions(study(ranks(), draws), SETS, measures=["x", "y"], pairs=PAIRS)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_precisions_by_hand(share: float) -> None:
    places = np.arange(0, COUNT, round(1 / share))
    found = precisions(places, share)
    drawn = np.isin(np.arange(COUNT), places)
    base = (Y[drawn].sum() + 0.5) / (drawn.sum() + 1)
    for value, members in zip(found[:-1], MEMBERS[:-1], strict=True):
        here = members & drawn
        assert value == pytest.approx((Y[here].sum() + base) / (here.sum() + 1))
    assert found[-1] == pytest.approx(base)


def test_a_set_without_draws_is_like_all() -> None:
    found = precisions(np.arange(30, 90, 2), 0.25)
    assert found[0] == found[-1]
    assert found[2] == found[-1]
    assert ((found > 0) & (found < 1)).all()


def test_explained_is_the_squared_correlation() -> None:
    bits = np.random.default_rng(4)
    y = Y.astype(float)
    guess = np.clip(0.4 + 0.5 * (y - 0.4) + bits.normal(0, 0.2, COUNT), 0, 1)
    weight = bits.integers(1, 4, COUNT).astype(float)
    found = explained(SETS, y, guess, weight)
    own, counts = [], []
    for members in MEMBERS:
        w, n = weight[members], members.sum()
        cov = np.cov(y[members], guess[members], aweights=w, ddof=0)
        r2 = cov[0, 1] ** 2 / cov[0, 0] / cov[1, 1]
        own.append(max(0.0, 1 - (1 - r2) * (n - 1) / (n - 2)) if n >= 30 else 0.0)
        counts.append(n if n >= 30 else 0)
    shared = np.average(own, weights=counts)
    twin = (np.array(counts) * own + 100 * shared) / (np.array(counts) + 100)
    np.testing.assert_allclose(found, twin, rtol=1e-9)
    assert found[0] == pytest.approx(shared)
    assert 0.3 < shared < 0.9


def test_what_says_nothing_explains_nothing() -> None:
    y = Y.astype(float)
    assert not explained(SETS, y, np.full(COUNT, 0.3), np.ones(COUNT)).any()
    assert not explained(SETS, y, 1 - y, np.ones(COUNT)).any()  # no weight for what misleads
    few = np.where(np.arange(COUNT) < 29, 1.0, 0.0)
    assert not explained(SETS, y, y, few).any()
