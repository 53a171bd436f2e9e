"""Measures on discrete distributions and their limits against 60-digit values, over all magnitudes."""

from __future__ import annotations

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.association.scoring import score
from tests.kernels.association.cells import Cells, frame, signatures
from tests.kernels.association.exact_limits import LIMITS
from tests.kernels.association.exact_tails import TAILS

TWINS = {**TAILS, **LIMITS}


def values(name: str, *cells: Cells) -> list[float | None]:
    return score(frame(*cells), measures=[name]).collect().get_column(name).to_list()


@given(data=st.data())
@pytest.mark.parametrize("name", sorted(TWINS))
def test_exact_value(name: str, data: st.DataObject) -> None:
    drawn = signatures(10**8 if name in TAILS else 10**12)  # exact tails are slow
    rows = data.draw(st.lists(drawn, min_size=4, max_size=8))
    slack = 1e-14 if name in LIMITS else 1e-290  # a logarithm near 0; near 1 - 1e-290
    for cells, found in zip(rows, values(name, *rows), strict=True):
        exact = TWINS[name](cells)
        assert (found is None) == (exact is None), cells
        if found is not None and exact is not None:
            close = abs(found - exact) <= 1e-11 * abs(exact) + slack
            assert close, (cells, found, mpmath.nstr(exact, 20))
