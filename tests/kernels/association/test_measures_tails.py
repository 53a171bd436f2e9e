"""Measures on discrete distributions and their limits against 60-digit values, over all magnitudes."""

from __future__ import annotations

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.kernels.association.scoring import score
from tests.kernels.association.cells import Cells, frame, signatures
from tests.kernels.association.exact_limits import LIMITS
from tests.kernels.association.exact_tails import TAILS

TWINS = {**TAILS, **LIMITS}


def one(name: str, cells: Cells) -> float | None:
    return score(frame(cells), measures=[name]).select(name).collect().item()


@settings(max_examples=60)
@given(data=st.data())
@pytest.mark.parametrize("name", sorted(TWINS))
def test_exact_value(name: str, data: st.DataObject) -> None:
    cells = data.draw(signatures(10**8 if name in TAILS else 10**12))  # exact tails are slow
    exact, found = TWINS[name](cells), one(name, cells)
    if exact is None:
        assert found is None
    else:
        assert found is not None
        slack = 1e-14 if name in LIMITS else 1e-290  # a logarithm near 0; near 1 - 1e-290
        assert abs(found - exact) <= 1e-11 * abs(exact) + slack, (found, mpmath.nstr(exact, 20))
