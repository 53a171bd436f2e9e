"""The registry of association measures that are defined for tuples of any number of units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import polars as pl

from pipeline.kernels.measure import Family, Measure, Sidedness
from pipeline.registry import Registry

TUPLE_MEASURES: Registry[Measure] = Registry("tuple measure", "pipeline.kernels.tuple_measures")

_Score: TypeAlias = Callable[[int], pl.Expr]


def tuple_measure(
    *,
    family: Family,
    formula: str,
    range: str,  # noqa: A002  the word of the field
    reference: str,
    sided: Sidedness = "none",
    ucs: str = "",
    aliases: Sequence[str] = (),
) -> Callable[[_Score], _Score]:
    """Register a function of the number of units as a measure of tuples named after it.

    It bears the name of the measure of pairs that it equals for two units.

    Parameters
    ----------
    family, formula, range, reference, sided, ucs, aliases
        As in `pipeline.kernels.measure.Measure`. In the formula O and E are those of the
        whole tuple, E = N (f1/N) (f2/N) ... (fk/N).

    Returns
    -------
    decorator
        Gives the function back unchanged.

    Examples
    --------
    >>> TUPLE_MEASURES.get("t_score").formula
    '(O - E) / sqrt(O)'
    """

    def register(function: _Score) -> _Score:
        made = Measure(
            function.__name__, function, family, formula, range, reference,
            sided, ucs, tuple(aliases),
        )  # fmt: skip
        TUPLE_MEASURES.add(made.name, made, function.__module__)
        return function

    return register
