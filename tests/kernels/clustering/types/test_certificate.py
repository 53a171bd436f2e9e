"""The certificate of an M-1 mapping against all mappings of small instances."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize

from pipeline.kernels.clustering.types import certificate
from pipeline.kernels.clustering.types.certificate import certify
from tests.kernels.clustering.types.type_twin import WORKED, every, instances, macro_i, patterns_of


def test_proves_the_best_of_all_mappings() -> None:
    improved = 0
    for gold, induced, n, m in instances(100, seed=1, most_clusters=3):
        start = np.zeros(m, dtype=np.int64)
        made = certify(patterns_of(gold, induced, n, m), start, seconds=30)
        best = max(macro_i(gold, induced, h) for h in every(m, n))
        assert made.proven
        assert made.value == best == macro_i(gold, induced, made.mapping.tolist())
        assert made.bound == float(best)
        improved += best > macro_i(gold, induced, start.tolist())
    assert improved > 20


def test_improves_on_a_climb_that_stuck() -> None:
    gold, induced, *_ = WORKED[4]
    patterns = patterns_of(gold, induced, 2, 4)
    stuck = next(h for h in every(4, 2) if macro_i(gold, induced, h) == Fraction(6, 7))
    made = certify(patterns, np.array(stuck), seconds=30)
    assert (made.value, made.proven) == (Fraction(7, 8), True)


def test_keeps_a_mapping_that_is_best() -> None:
    gold, induced, *_ = WORKED[0]
    made = certify(patterns_of(gold, induced, 3, 3), np.array([2, 0, 1]), seconds=30)
    assert (made.mapping.tolist(), made.value, made.proven) == ([2, 0, 1], Fraction(4, 5), True)


def test_a_bound_where_nothing_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    gold, induced, *_ = WORKED[4]
    patterns = patterns_of(gold, induced, 2, 4)
    # as if time had run out when 2 IM - r (S_A + S_h) was known to be 1 at most: 7 + 5 or more
    monkeypatch.setattr(certificate, "_solve", lambda *_: (None, 1.0))
    made = certify(patterns, np.zeros(4, dtype=np.int64), seconds=30)
    value = macro_i(gold, induced, [0] * 4)
    assert (made.mapping.tolist(), made.value, made.proven) == ([0] * 4, value, False)
    assert made.bound == pytest.approx(float(value) + 1 / 12)


@pytest.mark.parametrize("bounded", [True, False])
def test_a_solver_that_met_no_mapping_in_time(
    bounded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mapping stays; a bound of what the solver minimises, r S_h - 2 IM, counts."""
    gold, induced, *_ = WORKED[4]
    value = macro_i(gold, induced, [0] * 4)
    dual = -float(1 + 7 * value) if bounded else None
    result = SimpleNamespace(x=None, mip_dual_bound=dual)
    monkeypatch.setattr(optimize, "milp", lambda *_, **__: result)
    made = certify(patterns_of(gold, induced, 2, 4), np.zeros(4, dtype=np.int64), seconds=30)
    assert (made.mapping.tolist(), made.value, made.proven) == ([0] * 4, value, False)
    assert made.bound == pytest.approx(float(value) + 1 / 12 if bounded else 1.0)


@pytest.mark.parametrize("small", [True, False])
def test_the_first_bound_needs_no_solver(small: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # {0} may keep class 0, {0, 1} choose both classes, {1} class 0: all but the last are right
    patterns = patterns_of([{0}, {0, 1}, {0}, {1}], [{0}, {0, 1}, {1}, {1}], 2, 2)
    monkeypatch.setattr(certificate, "_solve", lambda *_: (None, None))
    monkeypatch.setattr(certificate, "MOST_PAIRS", 100 if small else 0)
    made = certify(patterns, np.array([0, 0]), seconds=30)
    assert (made.bound, made.proven) == (2 * 4 / (5 + 5), False)


def test_no_mapping_is_above_the_first_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "MOST_PAIRS", 0)
    for gold, induced, n, m in instances(200, seed=2, most_clusters=3):
        made = certify(patterns_of(gold, induced, n, m), np.zeros(m, dtype=np.int64), seconds=30)
        best = float(max(macro_i(gold, induced, h) for h in every(m, n)))
        assert best <= made.bound + 1e-15
        assert made.bound <= 1


def test_time_is_above_nought() -> None:
    with pytest.raises(ValueError, match="0 seconds"):
        certify(patterns_of([{0}], [{0}], 1, 1), np.array([0]), seconds=0)
