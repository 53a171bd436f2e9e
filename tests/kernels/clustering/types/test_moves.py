"""The value after each move of a cluster, against sets, and the sets that are counted together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pipeline.kernels.clustering.types.mapping import (
    ItemState,
    Neighbours,
    UnionState,
    item_moves,
    macro_moves,
    many_to_one,
    micro_c_moves,
    reciprocals,
)
from tests.kernels.clustering.types.type_twin import MAPPED, WORKED, instances, patterns_of

MOVES: dict[str, tuple[Any, Any]] = {
    "MacroI": (UnionState, macro_moves),
    "MicroI": (ItemState, item_moves),
    "MicroC": (UnionState, micro_c_moves),
}


@pytest.mark.parametrize("name", MAPPED)
def test_the_value_of_each_move_is_that_of_the_tables(name: str) -> None:
    bits = np.random.default_rng(4)
    make, moves = MOVES[name]
    for gold, induced, n, m in instances(60, seed=5, most_clusters=3):
        state = make(Neighbours(patterns_of(gold, induced, n, m)), bits.integers(n, size=m))
        for _ in range(4):
            values = moves(state)
            for k, c in np.ndindex(m, n):
                h = [*state.mapping.tolist()]
                h[k] = c
                assert values[k, c] == pytest.approx(
                    float(MAPPED[name](gold, induced, h)), abs=1e-13
                )
            k, c = int(bits.integers(m)), int(bits.integers(n))
            if c != state.mapping[k]:
                state.move(k, c)


def test_inexact_sums_lead_to_the_same_mapping() -> None:
    # 41 clusters an item: the common denominator is too large, sums are of fractions
    bits = np.random.default_rng(8)
    gold = [{int(bits.integers(3))} for _ in range(12)]
    induced = [set(bits.choice(45, size=41, replace=False).tolist()) for _ in range(12)]
    state = ItemState(Neighbours(patterns_of(gold, induced, 3, 45)), bits.integers(3, size=45))
    assert not state.exact
    for k in range(45):
        state.move(k, (int(state.mapping[k]) + 1) % 3)
    assert item_moves(state)[0, state.mapping[0]] == pytest.approx(
        float(MAPPED["MicroI"](gold, induced, state.mapping.tolist())), abs=1e-12
    )


@pytest.mark.long
def test_clusters_that_are_not_cached_give_the_same_mappings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mappings = [
        many_to_one(Neighbours(patterns_of(*WORKED[4][:2], 2, 4)), name, seed="s").mapping
        for name in MAPPED
    ]
    monkeypatch.setattr("pipeline.kernels.clustering.types.mapping._KEPT_CELLS", 0)
    recomputed = [
        many_to_one(Neighbours(patterns_of(*WORKED[4][:2], 2, 4)), name, seed="s").mapping
        for name in MAPPED
    ]
    assert [h.tolist() for h in mappings] == [h.tolist() for h in recomputed]


def test_reciprocals_are_whole_numbers_if_sums_are_exact() -> None:
    assert reciprocals(np.array([2, 3, 4]), items=9).tolist() == [0, 0, 6, 4, 3]
    wide = np.arange(1, 60)
    assert 4 * math.lcm(*wide.tolist()) > 2**53
    assert reciprocals(wide, items=1)[2] == 0.5
