"""A measure of clusterings of one's own, for each level."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy.typing as npt

from pipeline.kernels.clustering.measure import overlapping_measure, token_measure, type_measure
from pipeline.kernels.clustering.overlapping.measures import bcubed_f
from pipeline.kernels.clustering.token.contingency import Contingency
from pipeline.kernels.clustering.token.measures import v
from pipeline.kernels.clustering.types.measures import Patterns, Score, macro_i


@type_measure(
    "MacroHalf", mapped_by="MacroI", title="half of MacroI", family="mapping",
    formula="MacroI / 2", range="[0, 1/2]", reference="none", aliases=["half"],
)  # fmt: skip
def macro_half(patterns: Patterns, mapping: npt.ArrayLike) -> Score:
    """Return half of MacroI."""
    whole = macro_i(patterns, mapping)
    return whole._replace(value=whole.value * Fraction(1, 2))


@token_measure(
    title="V squared", family="information theory", formula="V^2", range="[0, 1]",
    reference="none", aliases=["V2"],
)  # fmt: skip
def v_squared(table: Contingency) -> float:
    """Return the square of V."""
    return v(table) ** 2


@overlapping_measure(
    title="BCubed F squared", family="overlapping", formula="F^2", range="[0, 1]", reference="none"
)
def bcubed_squared(memberships: Any) -> float:
    """Return the square of the F score of BCubed."""
    return bcubed_f(memberships) ** 2
